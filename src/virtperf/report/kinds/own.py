"""A reader's custom figure, with the numbers that it draws."""

from __future__ import annotations

import pandas as pd

from virtperf.report.kinds import Context, ExhibitKind, Figure, analysis
from virtperf.report.kinds import note as remark
from virtperf.report.kinds._figure import drawing
from virtperf.report.origins import frame_origin
from virtperf.report.records import Record


def record(
    context: Context, figure: Figure, frame: pd.DataFrame, *, title: str, note: str = ""
) -> Record:
    """Make an exhibit of a Matplotlib figure; `note` is a remark below it.

    The frame holds the drawn numbers, for the download; its column `provenance` states their origin
    (`ProvenanceError` if it is missing or does not match the study).
    """
    from virtperf.report.plot.axis import set_plain_log_formatters  # takes seconds to import

    set_plain_log_formatters(figure)
    blocks = [remark(note)] if note else []
    built = analysis(
        context, "own", title, frame_origin(context.data, frame, title), frame, *blocks
    )
    return built.model_copy(update=drawing(figure, built.id, title, note or title))


KIND = ExhibitKind("own", record)
