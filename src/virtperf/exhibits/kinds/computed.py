"""A small table that a notebook has computed, shown with its provenance and a note on how."""

from __future__ import annotations

import pandas as pd

from virtperf.exhibits.kinds import Context, Kind
from virtperf.exhibits.origins import frame_origin, lineage, provenances
from virtperf.exhibits.records import Grid, Numbers, Paragraph, Record
from virtperf.exhibits.text import table_text
from virtperf.exhibits.wording import number, pretty, slug

ORIGIN = ["provenance", "run_id", "exhibit", "study", "file"]
"""Columns that say what the numbers rest on, and are not shown as columns."""


def record(context: Context, frame: pd.DataFrame, *, title: str, note: str) -> Record:
    """The frame's columns as they stand; truth values in words, numbers flush right.

    Parameters
    ----------
    frame : DataFrame
        Its column names are the headings; its columns `ORIGIN` say what the numbers rest on.
    note : str
        How the numbers follow.

    Raises
    ------
    ProvenanceError
        The frame has no column `provenance`, or says what is not true of this study.
    """
    origin = frame_origin(context.data, frame, title)
    shown = frame.drop(columns=frame.columns.intersection(ORIGIN))
    numbers = shown.select_dtypes("number").columns
    numeric = tuple(k for k, column in enumerate(shown.columns) if column in numbers)
    columns = tuple(map(str, shown.columns))
    rows = tuple(tuple(_words(v) for v in row) for row in shown.itertuples(index=False))
    text = [[_plain(v) for v in row] for row in shown.itertuples(index=False)]
    study, anchor = context.study.id, slug(title)
    return Record(
        kind="computed", id=anchor, study=study, title=title, provenance=provenances(origin), lineage=lineage(origin),
        numbers=(Numbers.of(shown, f"{study}-{anchor}"),),
        blocks=(Grid(label=title, columns=columns, rows=rows, numeric=numeric), Paragraph(words=note, style="note")),
        text=f"{title}\n{table_text(list(columns), text)}",
    )  # fmt: skip


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return pretty(float(value)) if isinstance(value, int | float) else str(value)


def _plain(value: object) -> str:
    return number(float(value)) if isinstance(value, int | float) and not isinstance(value, bool) else _words(value)


KIND = Kind("computed", record)
