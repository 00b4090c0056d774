"""Histogram buckets from table rows: their bounds, and their counts without those below."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from rawperf.core.buckets import Bucket
from rawperf.core.declaration import FieldRule, TableDeclaration
from rawperf.core.errors import FileReader, FormatError
from rawperf.declared.chunks import UNIT, Chunk
from rawperf.declared.values import NumberParser

NO_BOUND = frozenset({"+Inf", "Inf", "inf", "+inf", "..."})
"""Texts of an infinite upper bound."""
NO_LOWER_BOUND = frozenset({"-Inf", "-inf", "..."})

ANY_UNIT = "*"
"""Key of `units` for all texts of a line above that are not declared."""


class BucketConverter(FileReader):
    """Convert the rows of a table into buckets, each an entity of its own, chunk by chunk."""

    def __init__(self, part: TableDeclaration, numbers: NumberParser, file: str) -> None:
        assert part.histogram is not None
        self._part, self._histogram = part, part.histogram
        self._number_parser, self.file = numbers, file
        self._count = part.value or part.fields[0].field
        printed: dict[str, str | float] = {**self._histogram.printed, "": 1.0}
        self._printed = printed if self._histogram.printed else None
        # previous row: key of its histogram, upper bound, cumulative count, end of its bucket,
        # beginning of the histogram
        self._previous: tuple[tuple[Any, ...], float, float, float, float] | None = None

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
        has_explicit_bounds = (
            self._histogram.lower is not None or self._histogram.middle_bits is not None
        )
        bucket_names, interval_counts = [], counts.copy()
        units = self._units(chunk)
        for row, (owner, name) in enumerate(zip(owners, names, strict=True)):
            key = (owner, name, None if math.isnan(t[row]) else t[row])
            upper_bound, count = float(upper[row]), float(counts[row])
            lower_bound = float(lower[row])
            previous = (
                self._previous if self._previous is not None and self._previous[0] == key else None
            )
            line = int(chunk.lines[row])
            if not has_explicit_bounds:
                lower_bound = (
                    previous[1] if previous else min(0.0, -math.inf if upper_bound <= 0 else 0.0)
                )
            if previous is not None and not has_explicit_bounds and upper_bound < lower_bound:
                raise self._order_error(
                    "the bucket bounds are not in ascending order", line, lower_bound, upper_bound
                )
            if previous is not None and self._histogram.cumulative:
                if count < previous[2]:
                    raise self._order_error(
                        f"the cumulative count {self._count} decreases",
                        line,
                        previous[2],
                        count,
                    )
                # the excess count of a duplicate bound belongs to the next bucket
                if upper_bound == lower_bound:
                    interval_counts[row] = math.nan
                    bucket_names.append(owner)
                    continue
                interval_counts[row] = count - previous[2]
            if self._histogram.whole:
                upper_bound += 1.0
            if upper_bound < lower_bound:
                raise self._order_error(
                    "the lower bound of a bucket exceeds its upper bound",
                    line,
                    lower_bound,
                    upper_bound,
                )
            first = (
                previous[4] if previous is not None and lower_bound > previous[4] else lower_bound
            )
            if (
                previous is not None
                and self._histogram.lower is not None
                and not self._histogram.gaps
                and first < lower_bound != previous[3]  # else another histogram begins
            ):
                raise self.error(
                    "a bucket of the histogram is missing, or two overlap",
                    line,
                    expected=f"a bucket from {previous[3]:g}",
                    found=f"from {lower_bound:g}",
                    remedy="the file is damaged; if the tool leaves out buckets, set gaps: true.",
                )
            self._previous = (key, float(upper[row]), count, upper_bound, first)
            bucket_names.append(Bucket(lower_bound, upper_bound, units[row], owner).name)
        cells = [None if math.isnan(count) else count for count in interval_counts.tolist()]
        return replace(chunk, cells={**chunk.cells, self._count: cells}), bucket_names

    def _order_error(self, problem: str, line: int, previous: float, bound: float) -> FormatError:
        return self.error(
            problem,
            line,
            expected=f"{previous:g} or more",
            found=f"{bound:g}",
            remedy="two histograms may need a time or a name each, or the line is damaged.",
        )

    def _bounds(
        self,
        chunk: Chunk,
        name: str,
        infinite_texts: frozenset[str],
        infinity: float,
        default: np.ndarray | None = None,
    ) -> np.ndarray:
        """Bounds by row: `infinity` for texts in `infinite_texts`, `default` for rows without a cell.

        `default` is the upper bound of a bucket of a single integer.
        """
        cells = _to_list(chunk.column(name))
        lines = chunk.column_lines(name)
        is_infinite = np.array([str(cell).strip() in infinite_texts for cell in cells], dtype=bool)
        rule = FieldRule(field=name, printed=self._printed)
        finite_cells = [
            None if infinite else cell for cell, infinite in zip(cells, is_infinite, strict=True)
        ]
        bounds = self._number_parser.parse(finite_cells, lines, name, rule)
        if default is not None:
            is_missing = np.array([cell is None for cell in cells], dtype=bool)
            bounds = np.where(is_missing, default, bounds)
        missing = np.flatnonzero(np.isnan(bounds) & ~is_infinite)
        if len(missing):
            raise self.error(
                f"{name} is not a bucket bound",
                lines[missing[0]],
                expected="a number, or +Inf",
                found=str(cells[missing[0]] or "nothing"),
            )
        return np.where(is_infinite, infinity, bounds)

    def _units(self, chunk: Chunk) -> list[str]:
        """Unit of each row's bounds."""
        if self._histogram.above is None:
            return [self._histogram.unit] * len(chunk.lines)
        printed = chunk.texts_above(UNIT)
        unit_by_text = self._histogram.units
        units = [unit_by_text.get(text or "", unit_by_text.get(ANY_UNIT, "")) for text in printed]
        if not all(units):
            row = units.index("")
            raise self.error(
                "the unit of the bounds is not declared",
                chunk.lines[row],
                expected=f"one of {', '.join(self._histogram.units)} in a line above",
                found=repr(printed[row]) if printed[row] else "no line above",
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
