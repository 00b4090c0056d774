"""A figure of a reader's own, with the numbers that it draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from virtperf.exhibits.kinds import Context, Kind
from virtperf.exhibits.kinds._figure import drawing
from virtperf.exhibits.origins import frame_origin, lineage, provenances
from virtperf.exhibits.records import Numbers, Paragraph, Record
from virtperf.exhibits.text import table_text
from virtperf.exhibits.wording import slug

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def record(context: Context, figure: Figure, frame: pd.DataFrame, *, title: str, note: str = "") -> Record:
    """A Matplotlib figure as an exhibit of its own.

    Parameters
    ----------
    frame : DataFrame
        What the figure draws, for the download; its column `provenance` says what it rests on.
    note : str
        What a reader should know, below the figure.

    Raises
    ------
    ProvenanceError
        The frame has no column `provenance`, or says what is not true of this study.
    """
    origin = frame_origin(context.data, frame, title)
    study, anchor = context.study.id, slug(title)
    numbers = (Numbers.of(frame, f"{study}-{anchor}"),)
    text = [[str(cell) for cell in row] for row in numbers[0].rows]
    return Record(
        kind="own", id=anchor, study=study, title=title, provenance=provenances(origin), lineage=lineage(origin),
        numbers=numbers, blocks=(Paragraph(words=note, style="note"),) if note else (),
        drawing=drawing(figure, anchor, title, note or title, numbers),
        text=f"{title}\n{table_text(list(numbers[0].columns), text)}",
    )  # fmt: skip


KIND = Kind("own", record)
