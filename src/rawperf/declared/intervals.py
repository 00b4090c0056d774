"""Aggregation of rows, such as one per request, over intervals of equal length (resampling)."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from tempfile import SpooledTemporaryFile

import numpy as np

from rawperf.core.declaration import Aggregation
from rawperf.core.errors import FormatError

MAX_INTERVALS = 1_000_000
"""Largest number of intervals of a file, over all entities."""
MAX_INTERVALS_PER_ROW = 100
"""Largest number of intervals per row; more of them indicate a damaged time."""
MAX_BUFFERED_BYTES = 32 * 1024**2
"""Bytes of rows that are buffered in memory."""
ROWS = 1 << 18
"""Rows that are aggregated at a time."""


class IntervalAggregator:
    """Aggregate the rows of a table over intervals of `length_s` from the earliest row on.

    `each` is the aggregation by field. The earliest row is known only at the end of the file. Until
    then rows are buffered, beyond `MAX_BUFFERED_BYTES` in an anonymous temporary file. Only
    complete intervals count; `messages` reports that rows after the last one were left out.
    """

    def __init__(
        self, length_s: float, aggregations: Mapping[str, Aggregation], file: str, report: str
    ) -> None:
        self._length, self._aggregations = length_s, aggregations
        self._file, self._report = file, report or "the table"
        self.messages: list[str] = []
        self._row = np.dtype(
            [("entity", "i4"), ("t", "f8"), ("line", "i8"), ("values", "f8", (len(aggregations),))]
        )
        self._rows = SpooledTemporaryFile(MAX_BUFFERED_BYTES)  # noqa: SIM115 - it lives as long as its owner
        weakref.finalize(self, self._rows.close)
        self._first: dict[int, int] = {}  # line of each entity's first row
        self._count, self._begin, self._end = 0, np.inf, -np.inf
        self._lines_of_ends = [0, 0]  # of the earliest and the latest row

    def add(
        self, entity: np.ndarray, t: np.ndarray, lines: np.ndarray, values: Sequence[np.ndarray]
    ) -> None:
        """Add at least one row: entity codes, seconds, lines, and values by field (NaN: none)."""
        rows = np.empty(len(t), self._row)
        rows["entity"], rows["t"], rows["line"], rows["values"] = (
            entity,
            t,
            lines,
            np.column_stack(values),
        )
        self._rows.write(rows.tobytes())
        entities, first_rows = np.unique(entity, return_index=True)
        for code, line in zip(entities.tolist(), lines[first_rows].tolist(), strict=True):
            self._first.setdefault(code, line)
        self._count += len(t)
        first, last = int(t.argmin()), int(t.argmax())
        if t[first] < self._begin:
            self._begin, self._lines_of_ends[0] = float(t[first]), int(lines[first])
        if t[last] > self._end:
            self._end, self._lines_of_ends[1] = float(t[last]), int(lines[last])

    def aggregates(self) -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the aggregates of each field, as arrays over entities and intervals.

        The arrays are entity code, end of the interval, number (NaN without values), and line: that
        of a row in the interval, or of the entity's first row if the interval is empty.

        Raises `FormatError`: no complete interval, or too many.
        """
        if not self._count:
            return
        count, entities = self._interval_count(), np.array(sorted(self._first))
        size = len(entities) * count
        if size > MAX_INTERVALS:
            raise FormatError(
                "too many intervals over all entities",
                file=self._file,
                expected=f"at most {MAX_INTERVALS}",
            )
        lines = np.repeat([self._first[code] for code in entities.tolist()], count)
        has_row = np.zeros(size, dtype=bool)
        rows = [np.zeros(size, dtype=np.int64) for _ in self._aggregations]
        totals = [
            np.full(size, -np.inf if aggregation == "max" else 0.0)
            for aggregation in self._aggregations.values()
        ]
        for part in self._read_parts():
            interval = np.floor((part["t"] - self._begin) / self._length).astype(np.int64)
            is_complete = interval < count
            if not self.messages and not is_complete.all():
                message = (
                    f"rows after the last complete interval of {self._length:g} s were left out"
                )
                self.messages = [f"{self._file}: {message}"]
            part = part[is_complete]
            cell = np.searchsorted(entities, part["entity"]) * count + interval[is_complete]
            is_new = ~has_row[cell]
            lines[cell[is_new][::-1]] = part["line"][is_new][::-1]  # the first row wins
            has_row[cell] = True
            for number, aggregation in enumerate(self._aggregations.values()):
                values = part["values"][:, number]
                has_value = ~np.isnan(values)
                np.add.at(rows[number], cell[has_value], 1)
                # row by row: sums must not depend on block boundaries
                with np.errstate(over="ignore"):
                    (np.maximum if aggregation == "max" else np.add).at(
                        totals[number], cell[has_value], values[has_value]
                    )
        ends = np.tile(self._begin + (np.arange(count) + 1) * self._length, len(entities))
        for (name, aggregation), row, total in zip(
            self._aggregations.items(), rows, totals, strict=True
        ):
            numbers = self._aggregate_values(aggregation, row, total)
            if np.isinf(numbers).any():
                line = int(lines[np.isinf(numbers)][0])
                raise FormatError(f"the sum of {name} is too large", file=self._file, line=line)
            yield name, np.repeat(entities, count), ends, numbers, lines

    def _interval_count(self) -> int:
        """Number of complete intervals."""
        span = self._end - self._begin
        count = int(span // self._length) if span > 0 else 0
        if not 1 <= count <= min(MAX_INTERVALS, MAX_INTERVALS_PER_ROW * self._count):
            first, last = self._lines_of_ends
            problem = "cover less than one interval" if count < 1 else "are too far apart in time"
            raise FormatError(
                f"the rows of {self._report} {problem}",
                file=self._file,
                line=max(first, last),
                expected=f"1 to {MAX_INTERVALS} intervals of {self._length:g} s",
                found=f"{span:.3g} s from line {first} to line {last}",
                remedy=None
                if count < 1
                else "check that all time stamps are in one unit and from one clock",
            )
        return count

    def _read_parts(self) -> Iterator[np.ndarray]:
        self._rows.seek(0)
        while part := self._rows.read(ROWS * self._row.itemsize):
            yield np.frombuffer(part, self._row)

    def _aggregate_values(
        self, aggregation: Aggregation, rows: np.ndarray, total: np.ndarray
    ) -> np.ndarray:
        if aggregation == "count":
            return rows.astype(float)
        if aggregation in ("mean", "max"):
            return np.where(
                rows > 0, total / np.maximum(rows, 1) if aggregation == "mean" else total, np.nan
            )
        return total / self._length if aggregation == "rate" else total
