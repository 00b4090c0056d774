"""A small table computed in a notebook, shown with its provenance and a note on the method."""

from __future__ import annotations

import pandas as pd

from virtperf.core.numbers import pretty
from virtperf.core.provenance import Provenance
from virtperf.report.kinds import Context, ExhibitKind, analysis
from virtperf.report.kinds import note as remark
from virtperf.report.origins import frame_origin
from virtperf.report.records import Grid, Record

ORIGIN = ["provenance", "run_id", "exhibit", "study", "file"]
"""Columns of provenance, which are not displayed."""


def record(context: Context, frame: pd.DataFrame, *, title: str, note: str) -> Record:
    """Build a table of the frame's columns, booleans as yes or no, with a `note` on the method
    below.

    The columns `ORIGIN` hold the provenance; raises `ProvenanceError` if it is missing or does not
    match the study.
    """
    origin = frame_origin(context.data, frame, title)
    shown = frame.drop(columns=frame.columns.intersection(ORIGIN))
    numbers = shown.select_dtypes("number").columns
    numeric = tuple(k for k, column in enumerate(shown.columns) if column in numbers)
    columns = tuple(map(str, shown.columns))
    rows = tuple(tuple(_words(v) for v in row) for row in shown.itertuples(index=False))
    table = Grid(label=title, columns=columns, rows=rows, numeric=numeric)
    built = analysis(context, "computed", title, origin, shown, table, remark(note))
    ours = {Provenance.PUBLISHED: Provenance.COMPUTED}
    return built.model_copy(
        update={"provenance": tuple(ours.get(word, word) for word in built.provenance)}
    )


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return pretty(float(value)) if isinstance(value, int | float) else str(value)


KIND = ExhibitKind("computed", record)
