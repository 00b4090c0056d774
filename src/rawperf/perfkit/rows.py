"""Rows of a table as records: the numbers of all rows of a part of a file are converted at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rawperf.core.errors import FormatError
from rawperf.perfkit.layout import LayoutCell
from rawperf.perfkit.page import LONGEST_LINE, FilePart, log_times
from rawperf.perfkit.table import CLOCK_PATTERN, LayoutRows
from rawperf.perfkit.values import BLANK, distinct, letters_of, number, numbers, plain_numbers
from rawperf.rows import record_table
from rawperf.text import strings
from rawperf.words import Places

_SURE = 10  # characters of which any plain number is one for `number` too


@dataclass(frozen=True)
class FoundRows:
    """Rows of a file, in the order of their lines, each with some records."""

    texts: tuple[
        tuple[list[str], Places], ...
    ]  # of report, entity kind, entity: texts, and which one each row has
    t: NDArray[np.float64]
    line: Places  # of the file
    count: Places  # records of each row
    fields: list[str]
    field: Places  # which of `fields` each record has
    value: NDArray[np.float64]  # of each record


def concatenate(parts: list[FoundRows]) -> tuple[pd.DataFrame, Places]:
    """`Reading.records` and `Reading.lines`, by line."""
    t, line, count, value = (
        np.concatenate([getattr(p, name) for p in parts])
        for name in ("t", "line", "count", "value")
    )
    coded = [_one([part.texts[place] for part in parts]) for place in range(3)]
    fields, field = _one([(part.fields, part.field) for part in parts])
    if len(parts) > 1:
        order = np.argsort(line, kind="stable")
        begin = (np.cumsum(count) - count)[order]
        t, line, count = t[order], line[order], count[order]
        coded = [(texts, code[order]) for texts, code in coded]
        place = np.arange(len(value)) + np.repeat(begin - np.cumsum(count) + count, count)
        field, value = field[place], value[place]
    columns = [
        texts[code[0]] if (code == code[0]).all() else strings(texts, np.repeat(code, count))
        for texts, code in coded
    ]
    return record_table(*columns, strings(fields, field), np.repeat(t, count), value), np.repeat(
        line, count
    )


def _one(parts: list[tuple[list[str], Places]]) -> tuple[list[str], Places]:
    """The texts of several parts, and which of them each place has."""
    texts: list[str] = []
    codes = []
    for own, code in parts:
        codes.append(code + len(texts))
        texts += own
    return texts, np.concatenate(codes)


def page_records(
    table: LayoutRows, part: FilePart, spans: tuple[np.ndarray, np.ndarray], file: str
) -> FoundRows:
    """One record per printed number of the rows that a table gathered from a part of a file, and
    forgets.

    `spans` are begin and end of every page's interval.

    Raises `FormatError`: a known column holds something else than a number, or a number stands
    beside its heading.
    """
    line, page, entity, kind = np.array(table.rows, dtype=np.int64).reshape(-1, 4).T
    line = line - part.above - 1
    texts = dict(enumerate(table.texts))
    rows = _Rows(table, part, line, texts, file)
    values = rows.values()
    average = np.array([kind != table.layout.entity_kind for kind in table.kinds])[kind]
    t = rows.times(spans[0][page], spans[1][page], average)
    there = ~np.isnan(values)
    field = np.broadcast_to(np.arange(len(rows.cells)), there.shape)[there]
    names = (
        ([table.layout.report], np.zeros_like(line)),
        (table.kinds, kind),
        (list(table.entities), entity),
    )
    table.forget()
    fields = [cell.column.field for cell in rows.cells]
    return FoundRows(
        names, t, line + part.above + 1, there.sum(axis=1), fields, field, values[there]
    )


class _Rows:
    """The rows of a table as letters; `texts` holds those, by place, that are not to be read from
    the file.
    """

    def __init__(
        self, table: LayoutRows, part: FilePart, lines: Places, texts: dict[int, str], file: str
    ) -> None:
        self._table, self._part, self._lines, self._texts, self._file = (
            table,
            part,
            lines,
            texts,
            file,
        )
        self.cells = [cell for cell in table.cells if not cell.column.text]
        width = max(cell.end for cell in (*self.cells, *([table.time] if table.time else ())))
        self._letters = part.letters(lines, width)
        for place, text in texts.items():
            self._letters[place] = letters_of(text, width)

    def _text(self, place: int) -> str:
        return (
            self._texts[place] if place in self._texts else self._part.line(int(self._lines[place]))
        )

    def _longer(self) -> list[int]:
        """Places of rows that may have something behind the last cell."""
        length = self._part.end[self._lines] - self._part.begin[self._lines]
        length[list(self._texts)] = [len(text) for text in self._texts.values()]
        longer = np.flatnonzero(length > self._table.wide)
        if len(longer):
            width = int(min(length.max(), self._table.wide + LONGEST_LINE))
            ends = self._part.letters(self._lines[longer], width)[:, self._table.wide :]
            own = np.isin(longer, list(self._texts))
            longer = longer[(ends != BLANK).any(axis=1) | (length[longer] > width) | own]
        return longer.tolist()

    def values(self) -> NDArray[np.float64]:
        """Numbers, shape (rows, cells); NaN where there is none."""
        for place in self._longer():
            beyond = self._text(place)[self._table.wide :].split()
            if beyond and number(beyond[0], "1") is not None:
                raise self._beside("a number stands beyond the last heading", place)
        values, others = plain_numbers(
            self._letters, [(cell.start, cell.end) for cell in self.cells]
        )
        for k, cell in enumerate(self.cells):
            other = others[:, k]
            if other.any() or not cell.column.known:
                other = other | (
                    self._letters[:, cell.start : max(cell.end - _SURE, cell.start)] != BLANK
                ).any(axis=1)
                places = np.flatnonzero(other)
                values[places, k] = self._numbers(cell, places)
        return values

    def _numbers(self, cell: LayoutCell, places: Places) -> NDArray[np.float64]:
        """Numbers of the rows at some places that are not, or perhaps not, plain ones."""
        code, texts = self._texts_of(cell, places)
        if not cell.column.known:  # perhaps a text; what is no number is no record
            return np.array([number(text, "1") for text in texts], dtype=float)[code]
        found = numbers(texts, cell.column.unit)
        values = np.array(found, dtype=float)[code]
        bad = np.array([value is None for value in found], dtype=bool)[code]
        wrong = (
            bad if bad.any() else ~np.isnan(values) & (self._letters[places, cell.end - 1] == BLANK)
        )
        if wrong.any():
            problem = "not a number" if bad.any() else "not below its heading"
            raise self._beside(
                f"column {cell.column.name!r} is {problem}", int(places[np.argmax(wrong)])
            )
        return values

    def _texts_of(self, cell: LayoutCell, places: Places) -> tuple[Places, list[str]]:
        """Which text the rows at some places have in a cell, and the texts, without the zero bytes
        of a crash.
        """
        code, texts = distinct(self._letters[places, cell.start : cell.end])
        return code, [text.strip().rstrip("\0") for text in texts]

    def _beside(self, problem: str, place: int) -> FormatError:
        expected = f"numbers that end below the heading {self._table.heading.strip()!r}"
        remedy = (
            "give the column's `shift` in a layout of your own where the tool prints it elsewhere."
        )
        return self._error(
            f"{self._table.layout.report}: {problem}",
            place,
            expected,
            self._text(place),
            remedy=remedy,
        )

    def _error(
        self, problem: str, place: int, expected: str, found: str, **more: str
    ) -> FormatError:
        line = int(self._lines[place]) + self._part.above + 1
        return FormatError(
            problem, file=self._file, line=line, expected=expected, found=found, **more
        )

    def times(
        self, begins: NDArray[np.float64], ends: NDArray[np.float64], average: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """When the interval of each row ends; `begins` and `ends` are those of its page."""
        cell = self._table.time
        if cell is None:
            return ends
        own = np.flatnonzero(~average)
        code, texts = self._texts_of(cell, own)
        clocks = np.array([_seconds(text) for text in texts], dtype=float)[code]
        if np.isnan(clocks).any():
            place = int(own[np.argmax(np.isnan(clocks))])
            found = self._text(place)[cell.start : cell.end].strip().rstrip("\0")
            raise self._error("not a time", place, "HH:MM", found)
        t = ends.copy()
        t[own], self._table.ended = log_times(begins[own], ends[own], clocks, self._table.ended)
        return t


def _seconds(text: str) -> float:
    clock = CLOCK_PATTERN.fullmatch(text)
    return int(clock[1]) * 3600.0 + int(clock[2]) * 60 + int(clock[3] or 0) if clock else np.nan
