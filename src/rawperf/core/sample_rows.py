"""Samples as structured arrays, in parts of any length; counter rates; removal of duplicates."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

HOST = "host"
"""Entity kind of numbers that describe a whole system; their entity is empty."""
ROW = np.dtype(
    [
        ("series", "i4"),
        ("file", "u2"),
        ("counter", "?"),
        ("event", "?"),
        ("t", "f8"),
        ("value", "f8"),
        ("line", "i8"),
        ("order", "i8"),
    ],
    align=True,
)
"""A sample: indices of its series and its file; `order` is the order of reading. Events of one
series may have equal times."""

SampleRows = NDArray[np.void]


def build_samples(length: int, **columns: object) -> SampleRows:
    """Build samples from columns of `ROW`; the others are zero."""
    rows = np.zeros(length, ROW)
    for name, column in columns.items():
        rows[name] = column
    return rows


def select_rows(rows: SampleRows, mask: NDArray[np.bool_]) -> SampleRows:
    """Select samples by a mask, ten times as fast as indexing, which copies field by field."""
    return rows.take(np.flatnonzero(mask))


def concat_rows(parts: Sequence[SampleRows]) -> SampleRows:
    """Concatenate samples as int64, for the same reason; always a copy."""
    return np.concatenate([np.zeros(0, np.int64), *(part.view(np.int64) for part in parts)]).view(
        ROW
    )


def sort_samples(rows: SampleRows, *names: str) -> SampleRows:
    """Sort samples by integer columns, then by time and order.

    Most samples arrive in the order of their times: then only the columns need sorting.
    """
    for name in reversed(names):
        column = rows[name]
        if (column[1:] < column[:-1]).any():
            # numpy uses a radix sort for 16-bit integers
            fits_uint16 = column.min() >= 0 and column.max() < 1 << 16
            rows = rows.take(
                np.argsort(column.astype("u2") if fits_uint16 else column, kind="stable")
            )
    t = rows["t"]
    unordered = np.flatnonzero(~(t[1:] > t[:-1]))
    before, after = rows.take(unordered), rows.take(unordered + 1)
    is_ordered = (after["t"] == before["t"]) & (after["order"] >= before["order"])
    for name in names:
        is_ordered |= after[name] != before[name]
    if is_ordered.all():
        return rows
    return rows.take(np.lexsort((rows["order"], t, *(rows[name] for name in reversed(names)))))


SeriesKey = tuple[str, str, str, str]
"""A series: source, entity kind, entity, metric."""
_EARLIER_PART = -1  # order of a sample from an earlier part


SAME_NUMBER = 0.01
"""Relative tolerance for a number printed twice on a line: sadf's ``rkB`` and ``rd_sec``."""


class DuplicateFilter:
    """Drop duplicate samples of one series and time, keeping the first.

    Events of one file are no duplicates. `key_of` returns the key of a series number. Duplicates on
    one line in other units are not reported.
    """

    def __init__(self, key_of: Callable[[int], SeriesKey]) -> None:
        self._key_of = key_of
        self._count = 0
        self._first: np.void | None = None

    def drop_duplicates(self, rows: SampleRows) -> SampleRows:
        """Drop the duplicates of samples that are sorted by series, time and order."""
        is_duplicate = np.zeros(len(rows), dtype=bool)
        t, series = rows["t"], rows["series"]
        is_duplicate[1:] = (series[1:] == series[:-1]) & (
            (t[1:] == t[:-1]) | (np.isnan(t[1:]) & np.isnan(t[:-1]))
        )
        is_duplicate[1:] &= ~rows["event"][1:] | (rows["file"][1:] != rows["file"][:-1])
        if not is_duplicate.any():
            return rows
        reported = select_rows(rows, is_duplicate & ~_same_value_other_unit(rows))
        if not len(reported):
            return select_rows(rows, ~is_duplicate)
        first = reported[np.argmin(reported["order"])]
        if self._first is None or first["order"] < self._first["order"]:
            self._first = first
        self._count += len(reported)
        return select_rows(rows, ~is_duplicate)

    def messages(self) -> list[str]:
        """Warning on duplicates, if there were any."""
        if self._first is None:
            return []
        source, _, entity, metric = self._key_of(int(self._first["series"]))
        return [
            f"{self._count} duplicate value(s) were dropped, the first being {metric} of "
            f"{entity or HOST} from {source} at {self._first['t']:g} s"
        ]


def _same_value_other_unit(rows: SampleRows) -> NDArray[np.bool_]:
    """Mask of the samples with the same line and number as the previous one."""
    is_duplicate = np.zeros(len(rows), dtype=bool)
    value, line, file = rows["value"], rows["line"], rows["file"]
    close = np.abs(np.diff(value)) <= SAME_NUMBER * np.maximum(
        np.abs(value[1:]), np.abs(value[:-1])
    )
    is_duplicate[1:] = (file[1:] == file[:-1]) & (line[1:] == line[:-1]) & (line[1:] > 0) & close
    return is_duplicate


class CounterRates:
    """Rates of counters per second since the previous sample, which may be in an earlier part."""

    def __init__(self, key_of: Callable[[int], SeriesKey]) -> None:
        self._key_of = key_of
        self._duplicates = DuplicateFilter(key_of)
        self._last = np.zeros(0, ROW)
        self._resets: dict[str, dict[SeriesKey, float]] = {}

    def compute(self, counters: SampleRows) -> SampleRows:
        """Rates at the later sample's time, sorted by series and time; none across a counter reset.

        Counters come in any order, with times after those of earlier parts; others have no rate.
        """
        rows = self._duplicates.drop_duplicates(
            sort_samples(concat_rows([self._last, counters]), "series")
        )
        if not len(rows):
            return rows
        is_same_series = rows["series"][1:] == rows["series"][:-1]
        increase, time = np.diff(rows["value"]), np.diff(rows["t"])
        is_reset = is_same_series & (increase < 0)
        self._record_resets(select_rows(rows[1:], is_reset))
        has_rate = is_same_series & ~is_reset & (rows["order"][1:] != _EARLIER_PART)
        rates = select_rows(rows[1:], has_rate)
        rates["value"] = increase[has_rate] / time[has_rate]
        self._last = select_rows(rows, np.append(~is_same_series, True))
        self._last["order"] = _EARLIER_PART
        return rates

    def _record_resets(self, resets: SampleRows) -> None:
        """Record the first reset of each series."""
        series, indices = np.unique(resets["series"], return_index=True)
        for number, t in zip(series.tolist(), resets["t"][indices].tolist(), strict=True):
            key = self._key_of(number)
            self._resets.setdefault(key[2], {}).setdefault(key, t)

    def messages(self) -> list[str]:
        """Warnings: one on duplicates, and one for each entity with counter resets."""
        sentences = self._duplicates.messages()
        for entity, series in sorted(self._resets.items()):
            earliest = min(series)
            sentences.append(
                f"{entity}: {', '.join(sorted({metric for *_, metric in series}))} decreased at {series[earliest]:g} s "
                "(counter reset); no rate is computed across it"
            )
        return sentences
