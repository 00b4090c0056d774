"""Samples as rows of a structured array: build, select, join, sort."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

ROW = np.dtype(
    [
        ("series", "i4"),
        ("file", "u2"),
        ("counter", "?"),
        ("t", "f8"),
        ("value", "f8"),
        ("line", "i8"),
        ("order", "i8"),
    ],
    align=True,
)
"""A sample: the numbers of its series and its file; `order` says which of two comes first in what
was read.
"""

SampleRows = NDArray[np.void]


def rows_of(length: int, **columns: object) -> SampleRows:
    """Samples with these columns of `ROW`; the others are zero."""
    rows = np.zeros(length, ROW)
    for name, column in columns.items():
        rows[name] = column
    return rows


def select_rows(rows: SampleRows, mask: NDArray[np.bool_]) -> SampleRows:
    """The samples where a mask is true: a tenth of the time that indexing takes, which copies field
    by field.
    """
    return rows.take(np.flatnonzero(mask))


def concat_rows(parts: Sequence[SampleRows]) -> SampleRows:
    """Samples one after the other, by numpy's copy of whole numbers for the same reason; always a
    copy.
    """
    return np.concatenate([np.zeros(0, np.int64), *(part.view(np.int64) for part in parts)]).view(
        ROW
    )


def in_order(rows: SampleRows, *names: str) -> SampleRows:
    """Samples sorted by these columns, which are whole numbers, then by time and order.

    Most samples come in the order of their times: then only the columns are sorted by.
    """
    for name in reversed(names):
        column = rows[name]
        if (column[1:] < column[:-1]).any():
            two_bytes = (
                column.min() >= 0 and column.max() < 1 << 16
            )  # which numpy sorts without comparing
            rows = rows.take(
                np.argsort(column.astype("u2") if two_bytes else column, kind="stable")
            )
    t = rows["t"]
    doubtful = np.flatnonzero(~(t[1:] > t[:-1]))
    before, after = rows.take(doubtful), rows.take(doubtful + 1)
    placed = (after["t"] == before["t"]) & (after["order"] >= before["order"])
    for name in names:
        placed |= after[name] != before[name]
    if placed.all():
        return rows
    return rows.take(np.lexsort((rows["order"], t, *(rows[name] for name in reversed(names)))))
