"""Numbers as files print them: with a unit behind, a decimal comma, thousands apart, as a
duration.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rawperf.core.declaration import DURATION, FieldRule
from rawperf.core.errors import FormatError
from rawperf.text import MAX_PYTHON_NUMBERS, numbers

_AND_UNIT = re.compile(r"([-+]?(?:\d[\d.,' ]*|[.,]\d+)(?:[eE][-+]?\d+)?)(.*)", re.ASCII | re.DOTALL)
_DURATION = re.compile(r"(?:(?:(\d{1,6})-)?(\d{1,6}):)?(\d{1,9}):(\d{1,2}(?:\.\d{1,9})?)", re.ASCII)
_GROUPED = {
    mark: re.compile(rf"[-+]?\d{{1,3}}(?:{re.escape(mark)}\d{{3}})+(?:[.,]\d*)?") for mark in ",.' "
}


class NumberReader:
    """Reads the cells of a declared file; empty ones, and the texts `missing`, stand for no
    value.
    """

    def __init__(self, missing: Sequence[str], decimal: str, thousands: str, file: str) -> None:
        self._missing = frozenset(("", *missing))
        self._words = pa.array([None, *sorted(self._missing)], pa.string())
        self._decimal, self._thousands, self._file = decimal, thousands, file

    def of(
        self,
        cells: Any,
        lines: Sequence[int] | np.ndarray,
        name: str,
        rule: FieldRule | None = None,
    ) -> np.ndarray:
        """Cells as float64, NaN where there is no value; an array of numbers as it is.

        Raises `FormatError` at a cell that is no number, or one that float64 can't hold, with its
        line.
        """
        if isinstance(cells, np.ndarray):
            return cells
        printed = rule.printed if rule is not None else None
        plainly = printed is None and not self._thousands and self._decimal == "."
        is_arrow = isinstance(cells, pa.Array)
        if plainly and len(cells) > MAX_PYTHON_NUMBERS and (is_arrow or type(cells[0]) is str):
            plain = self._at_once(cells, lines, name)
            if plain is not None:
                return plain
        if is_arrow:
            cells = cells.to_pylist()
        values = np.full(len(cells), np.nan)
        texts: list[str] = []
        places: list[int] = []
        for place, cell in enumerate(cells):
            if isinstance(cell, str):
                stripped = cell.strip()
                if stripped not in self._missing:
                    texts.append(stripped)
                    places.append(place)
            elif cell is not None:
                values[place] = self._plain(cell, name, lines[place])
        if not texts:
            return values
        factors: np.ndarray | float = 1.0
        if printed == DURATION:
            found = np.array(
                [self._duration(t, name, lines[p]) for t, p in zip(texts, places, strict=True)]
            )
        else:
            if rule is not None and printed is not None:
                texts, factors = self._without_units(texts, rule, name, lines, places)
            found, bad = numbers([self._in_c(text) for text in texts])
            if bad >= 0:
                raise self._error(name, lines[places[bad]], texts[bad])
        with np.errstate(over="ignore"):
            found = found * factors
        large = np.flatnonzero(np.isinf(found))
        if len(large):
            raise self._error(
                name, lines[places[large[0]]], texts[large[0]], "a number that float64 can hold"
            )
        values[places] = found
        return values

    def _at_once(
        self, cells: Any, lines: Sequence[int] | np.ndarray, name: str
    ) -> np.ndarray | None:
        """The numbers of cells that are all text, or None where some are not."""
        try:
            array = cells if isinstance(cells, pa.Array) else pa.array(cells, pa.string())
            texts = pc.utf8_trim_whitespace(array)
        except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):
            return None
        there = ~pc.is_in(texts, self._words).to_numpy(zero_copy_only=False)
        if there.all():
            found, bad = numbers(texts)
            if bad >= 0:
                raise self._error(name, lines[bad], str(cells[bad]))
            return found
        places = np.flatnonzero(there)
        found, bad = numbers(texts.filter(pa.array(there)))
        if bad >= 0:
            raise self._error(name, lines[places[bad]], str(cells[places[bad]]))
        values = np.full(len(cells), np.nan)
        values[places] = found
        return values

    def _plain(self, cell: Any, name: str, line: int) -> float:
        """A value of JSON or YAML."""
        if isinstance(cell, bool) or not isinstance(cell, int | float):
            raise self._error(name, line, str(cell)[:60])
        try:
            value = float(cell)
        except OverflowError:
            value = np.inf
        if not np.isfinite(value):
            raise self._error(name, line, str(cell)[:60], "a number that float64 can hold")
        return value

    def _in_c(self, text: str) -> str:
        """A number as C prints it; text that is none stays none."""
        if self._thousands and self._thousands in text:
            text = (
                text.replace(self._thousands, "")
                if _GROUPED[self._thousands].fullmatch(text)
                else "?"
            )
        if self._decimal == ",":
            text = "?" if "." in text else text.replace(",", ".")
        return text

    def _without_units(
        self,
        texts: list[str],
        rule: FieldRule,
        name: str,
        lines: Sequence[int] | np.ndarray,
        places: list[int],
    ) -> tuple[list[str], np.ndarray]:
        known = rule.printed_factors()
        bare, factors = [], []
        for text, place in zip(texts, places, strict=True):
            match = _AND_UNIT.fullmatch(text)
            unit = match[2].strip() if match else None
            if match is None or unit not in known:
                raise self._error(
                    name, lines[place], text, f"a number and one of {', '.join(map(repr, known))}"
                )
            bare.append(match[1].rstrip())
            factors.append(known[unit])
        return bare, np.array(factors)

    def _duration(self, text: str, name: str, line: int) -> float:
        match = _DURATION.fullmatch(text)
        if match is None:
            raise self._error(name, line, text, "[[days-]hours:]minutes:seconds")
        days, hours, minutes, seconds = match.groups()
        return (
            float(days or 0) * 86400
            + float(hours or 0) * 3600
            + float(minutes) * 60
            + float(seconds)
        )

    def _error(
        self, name: str, line: int, found: str, expected: str = "a number, or nothing"
    ) -> FormatError:
        return FormatError(
            f"{name} is not a number",
            file=self._file,
            line=int(line),
            expected=expected,
            found=found or "nothing",
            remedy="the file is damaged, or the declaration says too little: missing, decimal, thousands or printed.",
        )
