"""A figure of a reader's own, with the numbers that it draws."""

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
    """A Matplotlib figure as an exhibit of its own; `note` is what a reader should know, below the
    figure.

    The frame is what it draws, for the download; its column `provenance` says what it rests on
    (`ProvenanceError` where that is missing or not true of the study).
    """
    from virtperf.report.plot.axis import plain_logarithmic_numbers  # takes seconds to import

    plain_logarithmic_numbers(figure)
    blocks = [remark(note)] if note else []
    made = analysis(context, "own", title, frame_origin(context.data, frame, title), frame, *blocks)
    return made.model_copy(
        update={"drawing": drawing(figure, made.id, title, note or title, made.numbers)}
    )


KIND = ExhibitKind("own", record)
