"""Many rows, such as one a request, summed up over intervals of equal length."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from virtperf.core.declaration_parts import Each
from virtperf.core.errors import FormatError

MOST = 1_000_000
"""Intervals that a file may have, those of all entities together."""
SPARSEST = 100
"""Intervals to a row: with more of them, a time is damaged."""


class Intervals:
    """The rows of a table, in intervals that begin with the earliest row.

    Only whole intervals count: what is behind the last one is left out.

    Attributes
    ----------
    said : list of str
        What was left out.
    """

    def __init__(self, length_s: float, file: str) -> None:
        self.length, self._file = length_s, file
        self.said: list[str] = []
        self._rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._values: dict[str, list[np.ndarray]] = {}
        self._fits: dict[str, list[np.ndarray]] = {}

    def add(
        self, entity: np.ndarray, t: np.ndarray, lines: np.ndarray, values: Mapping[str, np.ndarray],
        fits: Mapping[str, np.ndarray],
    ) -> None:  # fmt: skip
        """Add rows: codes of entities, times in seconds, lines, and by field its numbers and whether the row counts."""
        self._rows.append((entity, t, lines))
        for name, fit in fits.items():
            self._fits.setdefault(name, []).append(fit)
            self._values.setdefault(name, []).append(values.get(name, np.where(fit, 1.0, np.nan)))

    def of(self, name: str, each: Each) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """What the rows of each interval give of a field.

        Returns
        -------
        entity, t, values, lines : ndarray
            Of each entity and interval: its code, the interval's end, the number (NaN where no row has one), and the
            line of a row of it, or of the entity's first where it has none.

        Raises
        ------
        FormatError
            No whole interval, or too many.
        """
        if not self._rows:
            return (np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64))
        entity, t, lines = (np.concatenate(parts) for parts in zip(*self._rows, strict=True))
        begin, end = float(t.min()), float(t.max())
        count = int((end - begin) // self.length)
        if not 1 <= count <= min(MOST, SPARSEST * len(t)):
            raise FormatError(
                "the rows fill no whole interval" if count < 1 else "the rows are too far apart in time",
                file=self._file, expected=f"1 to {MOST} intervals of {self.length:g} s", found=f"{end - begin:g} s",
            )  # fmt: skip
        place = np.floor((t - begin) / self.length).astype(np.int64)
        inside = place < count
        if not self.said and not inside.all():
            self.said = [f"{self._file}: rows behind the last whole interval of {self.length:g} s were left out"]
        who, own = np.unique(entity, return_inverse=True)
        if len(who) * count > MOST:
            raise FormatError("too many entities and intervals", file=self._file, expected=f"at most {MOST}")
        values = np.concatenate(self._values[name])
        used = inside & np.concatenate(self._fits[name]) & ~np.isnan(values)
        cell = own * count + np.minimum(place, count - 1)
        size = len(who) * count
        rows = np.bincount(cell[used], minlength=size)
        at = np.repeat(lines[np.unique(own, return_index=True)[1]], count)
        at[cell[inside][::-1]] = lines[inside][::-1]  # the first of several
        numbers = self._number(each, values[used], cell[used], rows)
        if np.isinf(numbers).any():
            raise FormatError(f"the sum of {name} is too large", file=self._file, line=int(at[np.isinf(numbers)][0]))
        ends = np.tile(begin + (np.arange(count) + 1) * self.length, len(who))
        return np.repeat(who, count), ends, numbers, at

    def _number(self, each: Each, values: np.ndarray, cell: np.ndarray, rows: np.ndarray) -> np.ndarray:
        if each == "count":
            return rows.astype(float)
        if each == "max":
            largest = np.full(len(rows), -np.inf)
            np.maximum.at(largest, cell, values)
            return np.where(rows > 0, largest, np.nan)
        total = np.bincount(cell, values, minlength=len(rows))
        if each == "mean":
            return np.where(rows > 0, total / np.maximum(rows, 1), np.nan)
        return total / self.length if each == "rate" else total
