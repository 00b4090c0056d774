"""Histogram buckets from table rows: their bounds, and their counts without those below."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from rawperf.core.buckets import Bucket
from rawperf.core.declaration import FieldRule, TableDeclaration
from rawperf.core.errors import FormatError
from rawperf.declared.chunks import Chunk
from rawperf.declared.values import NumberParser

NO_BOUND = frozenset({"+Inf", "Inf", "inf", "+inf", "..."})
"""Texts of an infinite upper bound."""
NO_LOWER_BOUND = frozenset({"-Inf", "-inf", "..."})

ANY_UNIT = "*"
"""Key of `units` for all texts of a line above that are not declared."""


class BucketConverter:
    """Convert the rows of a table into buckets, each an entity of its own, chunk by chunk."""

    def __init__(self, part: TableDeclaration, numbers: NumberParser, file: str) -> None:
        assert part.histogram is not None
        self._part, self._histogram = part, part.histogram
        self._number_parser, self._file = numbers, file
        self._count = part.value or part.fields[0].field
        printed: dict[str, str | float] = {**self._histogram.printed, "": 1.0}
        self._printed = printed if self._histogram.printed else None
        # previous row: key of its histogram, upper bound, cumulative count
        self._previous: tuple[tuple[Any, ...], float, float] | None = None

    def convert(self, chunk: Chunk, owners: list[str], t: np.ndarray) -> tuple[Chunk, list[str]]:
        """Rows with non-cumulative counts, and the bucket name of each.

        Raises `FormatError`, with the line: an invalid bound, a unit that the declaration lacks,
        bounds that do not ascend, a cumulative count that falls.
        """
        lower = np.full(len(owners), np.nan)
        if self._histogram.lower is not None:
            lower = self._bounds(chunk, self._histogram.lower, NO_LOWER_BOUND, -math.inf)
        upper = self._bounds(chunk, self._histogram.upper, NO_BOUND, math.inf, lower + 1)
        if self._histogram.middle_bits is not None:
            lower, upper = _bounds_from_middle(upper, self._histogram.middle_bits)
        counts = self._number_parser.parse(
            _to_list(chunk.column(self._count)), chunk.column_lines(self._count), self._count
        )
        names = _to_list(chunk.column(self._part.names)) if self._part.names else [""] * len(owners)
        explicit_bounds = (
            self._histogram.lower is not None or self._histogram.middle_bits is not None
        )
        names_of_rows, interval_counts = [], counts.copy()
        units = self._units(chunk)
        for place, (owner, name) in enumerate(zip(owners, names, strict=True)):
            key = (owner, name, None if math.isnan(t[place]) else t[place])
            ends, count = float(upper[place]), float(counts[place])
            begins = float(lower[place])
            before = (
                self._previous if self._previous is not None and self._previous[0] == key else None
            )
            line = int(chunk.lines[place])
            if not explicit_bounds:
                begins = before[1] if before else min(0.0, -math.inf if ends <= 0 else 0.0)
            if before is not None and not explicit_bounds and ends < begins:
                raise self._order_error(
                    "the bucket bounds are not in ascending order", line, begins, ends
                )
            if before is not None and self._histogram.cumulative:
                if count < before[2]:
                    raise self._order_error(
                        f"the cumulative count {self._count} decreases",
                        line,
                        before[2],
                        count,
                    )
                if ends == begins:  # duplicate bound: its excess count belongs to the next bucket
                    interval_counts[place] = math.nan
                    names_of_rows.append(owner)
                    continue
                interval_counts[place] = count - before[2]
            self._previous = (key, ends, count)
            if self._histogram.whole:
                ends += 1.0
            if ends < begins:
                raise self._order_error(
                    "the lower bound of a bucket exceeds its upper bound", line, begins, ends
                )
            names_of_rows.append(Bucket(begins, ends, units[place], owner).name)
        cells = [None if math.isnan(count) else count for count in interval_counts.tolist()]
        return replace(chunk, cells={**chunk.cells, self._count: cells}), names_of_rows

    def _order_error(self, problem: str, line: int, before: float, bound: float) -> FormatError:
        return FormatError(
            problem,
            file=self._file,
            line=line,
            expected=f"{before:g} or more",
            found=f"{bound:g}",
            remedy="the line is damaged, or two histograms need a time or a name each.",
        )

    def _bounds(
        self,
        chunk: Chunk,
        name: str,
        without: frozenset[str],
        infinite: float,
        else_: np.ndarray | None = None,
    ) -> np.ndarray:
        """Bounds by row: `infinite` for texts in `without`, `else_` for rows without a cell.

        `else_` is the upper bound of a bucket of a single integer.
        """
        cells = _to_list(chunk.column(name))
        lines = chunk.column_lines(name)
        none = np.array([str(cell).strip() in without for cell in cells], dtype=bool)
        rule = FieldRule(field=name, printed=self._printed)
        known = [None if open_ else cell for cell, open_ in zip(cells, none, strict=True)]
        bounds = self._number_parser.parse(known, lines, name, rule)
        if else_ is not None:
            alone = np.array([cell is None for cell in cells], dtype=bool)
            bounds = np.where(alone, else_, bounds)
        missing = np.flatnonzero(np.isnan(bounds) & ~none)
        if len(missing):
            raise FormatError(
                f"{name} is not a bucket bound",
                file=self._file,
                line=int(lines[missing[0]]),
                expected="a number, or +Inf",
                found=str(cells[missing[0]] or "nothing"),
            )
        return np.where(none, infinite, bounds)

    def _units(self, chunk: Chunk) -> list[str]:
        """Unit of each row's bounds."""
        if self._histogram.above is None:
            return [self._histogram.unit] * len(chunk.lines)
        printed = chunk.units_above or [None] * len(chunk.lines)
        known = self._histogram.units
        units = [known.get(text or "", known.get(ANY_UNIT, "")) for text in printed]
        if not all(units):
            place = units.index("")
            raise FormatError(
                "the unit of the bounds is not declared",
                file=self._file,
                line=int(chunk.lines[place]),
                expected=f"one of {', '.join(self._histogram.units)} in a line above",
                found=repr(printed[place]) if printed[place] else "no line above",
                remedy="declare it under histogram: units.",
            )
        return units


def _to_list(cells: Any) -> list[Any]:
    return cells.to_pylist() if isinstance(cells, pa.Array) else list(cells)


def _bounds_from_middle(middle: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of buckets from their middle.

    There are ``2**bits`` buckets in each power of two, and one per integer below ``2**(bits + 1)``.
    """
    power = np.floor(np.log2(np.maximum(middle, 1.0)))
    width = np.exp2(np.maximum(power - bits, 0.0))
    lower = np.where(width > 1, middle - width / 2, middle)
    return lower, lower + width
