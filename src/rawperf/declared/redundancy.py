"""Checks of what a file states twice: integers, limits, sums, sets of texts; and of missing cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rawperf.core.declaration import TableDeclaration, is_number
from rawperf.core.errors import FileReader
from rawperf.core.number_text import format_number

_INTEGER = re.compile(r"[-+]?\d+", re.ASCII)
ROUNDING = 1e-9
"""Relative difference that float64 leaves in a sum."""

Numbers = Callable[[str], tuple[np.ndarray, Sequence[int] | np.ndarray]]
"""Numbers of a field or column of some rows, and their lines."""


class RedundancyChecker(FileReader):
    """Checks of a table's rows: `integer`, `at_most` and `sum_of` of its declaration."""

    def __init__(self, part: TableDeclaration, missing: frozenset[str], file: str) -> None:
        self._part, self._missing, self.file = part, missing, file
        self.is_needed = bool(part.integer or part.at_most or part.sum_of)

    def check(self, cells: Callable[[str], Any], numbers: Numbers) -> None:
        """Check some rows; `cells` and `numbers` give the cells and the numbers of a column.

        Raises `FormatError`, with the line, at the first row of a check that fails.
        """
        for name in self._part.integer:
            values, lines = cells(name)
            is_integer = _integer_mask(values, self._missing)
            self._raise_first(~is_integer, lines, f"{name} is not an integer", "an integer", values)
        for name, limit in self._part.at_most.items():
            values, lines = numbers(name)
            limits = numbers(limit)[0] if isinstance(limit, str) else np.full(len(values), limit)
            with np.errstate(invalid="ignore"):
                exceeds = values > limits * (1 + ROUNDING)
            shown = [f"at most {format_number(most)}" for most in limits[exceeds][:1]]
            of = f", which is {limit}" if isinstance(limit, str) else ""
            problem = f"{name} exceeds its limit"
            self._raise_first(exceeds, lines, problem, f"{''.join(shown)}{of}", values)
        for name, terms in self._part.sum_of.items():
            parts = [numbers(term)[0] for term in terms.fields]
            _, lines = numbers(terms.fields[0])
            total = np.full(len(lines), float(name)) if is_number(name) else numbers(name)[0]
            # a row without one of them, such as in an older version, has no sum to check
            added = np.sum(parts, axis=0)
            with np.errstate(invalid="ignore"):
                differs = np.abs(added - total) > terms.within + ROUNDING * np.abs(total)
            shown = [format_number(value) for value in total[differs][:1]]
            problem = f"{', '.join(terms.fields)} do not add up to {name}"
            expected = f"{''.join(shown)}, within {format_number(terms.within)}"
            self._raise_first(differs, lines, problem, expected, added)

    def _raise_first(
        self,
        is_wrong: np.ndarray,
        lines: Sequence[int] | np.ndarray,
        problem: str,
        expected: str,
        found: Any,
    ) -> None:
        wrong = np.flatnonzero(is_wrong)
        if len(wrong):
            value = found[int(wrong[0])]
            raise self.error(
                problem,
                lines[int(wrong[0])],
                expected=expected,
                found=format_number(float(value), 8) if not isinstance(value, str) else value,
                remedy="the line is damaged, or its columns are not those of the heading.",
            )


def _integer_mask(cells: Any, missing: frozenset[str]) -> np.ndarray:
    """Mask of the cells that are integers or have no value."""
    if isinstance(cells, np.ndarray):
        return np.isnan(cells) | (cells == np.floor(cells))
    return np.array(
        [
            cell is None
            or (
                not cell.strip()
                or _INTEGER.fullmatch(cell.strip()) is not None
                or cell.strip() in missing
                if isinstance(cell, str)
                else float(cell).is_integer()
            )
            for cell in cells
        ],
        dtype=bool,
    )


@dataclass
class _Missing:
    line: int
    count: int
    rows: int


class MissingCells:
    """Cells without a value in columns that have values in other rows.

    With `always`, a column without any value counts too.
    """

    def __init__(self, report: str, file: str, always: bool = False) -> None:
        self._always = always
        self._of = f" of {report}" if report else ""
        self._file = file
        self._by_name: dict[str, _Missing] = {}

    def add(self, name: str, is_missing: np.ndarray, lines: Sequence[int] | np.ndarray) -> None:
        """Count the missing cells of some rows."""
        seen = self._by_name.setdefault(name, _Missing(0, 0, 0))
        seen.rows += len(is_missing)
        count = int(np.count_nonzero(is_missing))
        if count:
            seen.line = seen.line or int(lines[int(np.argmax(is_missing))])
            seen.count += count

    def messages(self) -> list[str]:
        """One sentence for each column in which only some rows have a value."""
        return [
            f"{self._file} line {seen.line}: {name}{self._of} has no value; this is so in "
            f"{seen.count} of {seen.rows} rows"
            for name, seen in self._by_name.items()
            if seen.count and (self._always or seen.count < seen.rows)
        ]
