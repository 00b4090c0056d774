"""Tables of the Performance Toolkit: rows cut at the character positions of their heading."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from virtperf.errors import FormatError
from virtperf.formats.perfkit_layout import Cell, Layout, choose
from virtperf.formats.perfkit_page import LONGEST_LINE
from virtperf.formats.perfkit_values import number, numbers
from virtperf.formats.text import strings

HEADING_LINES = 4  # captions in up to three lines, names in the last
HEADING_WITHIN = 40  # lines below a page's header
_RULE = re.compile(r"[ .:_=-]*")


@dataclass
class Table:
    """Rows of one layout under one spacing, gathered over the pages so that each column is converted at once."""

    layout: Layout
    cells: tuple[Cell, ...]
    heading: str
    rows: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)

    @property
    def entity(self) -> Cell:
        """The column that names a row's entity."""
        return next(cell for cell in self.cells if cell.column.name == self.layout.entity)

    @property
    def edge(self) -> int:
        """Where the last column of numbers ends."""
        return max(cell.end for cell in self.cells if not cell.column.text)

    def take(self, body: list[tuple[int, str]], page: int, repeated: bool, cut: int) -> tuple[list[int], bool]:
        """Take the rows below a heading.

        Parameters
        ----------
        body : list of (int, str)
            Line number and text below the heading.
        page : int
        repeated : bool
            The page goes on with the interval of the one before, so averages were read already.
        cut : int
            Line that may have lost its end; 0 for none.

        Returns
        -------
        unread : list of int
            Lines below the table.
        dropped : bool
            The line `cut` was a row and had lost its end.
        """
        entity, edge, name_of = self.entity, self.edge, re.compile(self.layout.pattern)
        unread: list[int] = []
        for line, text in body:
            if _RULE.fullmatch(text):
                continue
            name = text[entity.start : entity.end].strip()
            if line == cut and len(text.rstrip()) < edge:
                return unread, True
            if unread or not name_of.fullmatch(name) or (self.entity is self.cells[0] and text[: entity.start].strip()):
                unread.append(line)
            elif not (repeated and name in self.layout.averages):
                self.rows.append(text)
                self.lines.append(line)
                self.pages.append(page)
        return unread, False

    def records(self, times: np.ndarray, file: str) -> pd.DataFrame:
        """One row per printed number, with its place in the file in column ``line``.

        Raises
        ------
        FormatError
            A known column holds something else than a number, or a number stands beside its heading.
        """
        wide = max(cell.end for cell in self.cells)
        for line, text in zip(self.lines, self.rows, strict=True):
            beyond = text[wide:].split()
            if beyond and number(beyond[0], "1") is not None:
                raise self._beside("a number stands beyond the last heading", line, text, file)
        block = np.array([row.ljust(wide)[:wide] for row in self.rows], dtype=f"<U{wide}")
        letters = block.view("<U1").reshape(len(block), wide)
        found = []
        for cell in self.cells:
            if not cell.column.text:
                part = np.ascontiguousarray(letters[:, cell.start : cell.end])
                texts = part.view(f"<U{cell.end - cell.start}").ravel()
                found.append((cell.column.field, self._values(cell, texts, part[:, -1], file)))
        names = np.char.strip(self._texts(letters, self.entity))
        t = self._row_times(letters, file) if self.layout.time else times[np.array(self.pages)]
        values = np.column_stack([column for _, column in found])
        row, column = np.nonzero(~np.isnan(values))
        entities, code = np.unique(names, return_inverse=True)
        kinds = [self.layout.averages.get(name, self.layout.entity_kind) for name in entities.tolist()]
        return pd.DataFrame(
            {
                "line": np.array(self.lines)[row],
                "report": strings((self.layout.report,), np.zeros(len(row), dtype=int)),
                "entity_kind": strings(kinds, code[row]),
                "entity": strings(entities.tolist(), code[row]),
                "field": strings([name for name, _ in found], column),
                "t": t[row],
                "value": values[row, column],
            }
        )

    def _values(self, cell: Cell, texts: np.ndarray, last: np.ndarray, file: str) -> np.ndarray:
        if not cell.column.known:  # perhaps a text; what is no number is no record
            return np.array([number(text, "1") for text in texts.tolist()], dtype=float)
        values, bad = numbers(texts, cell.column.unit)
        beside = np.flatnonzero(~np.isnan(values) & (last == " "))
        if bad < 0 and not len(beside):
            return values
        place = bad if bad >= 0 else int(beside[0])
        problem = "not a number" if bad >= 0 else "not below its heading"
        raise self._beside(f"column {cell.column.name!r} is {problem}", self.lines[place], self.rows[place], file)

    def _beside(self, problem: str, line: int, row: str, file: str) -> FormatError:
        return FormatError(
            f"{self.layout.report}: {problem}",
            file=file,
            line=line,
            expected=f"numbers that end below the heading {self.heading.strip()!r}",
            found=row,
            remedy="give the column's `shift` in a layout of your own where the tool prints it elsewhere.",
        )

    def _row_times(self, letters: np.ndarray, file: str) -> np.ndarray:
        cell = next(cell for cell in self.cells if cell.column.name == self.layout.time)
        t = []
        for place, text in enumerate(np.char.strip(self._texts(letters, cell)).tolist()):
            clock = re.fullmatch(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?", text)
            if clock is None:
                raise FormatError("not a time", file=file, line=self.lines[place], expected="HH:MM", found=text)
            t.append(int(clock[1]) * 3600.0 + int(clock[2]) * 60 + int(clock[3] or 0))
        return np.array(t)

    @staticmethod
    def _texts(letters: np.ndarray, cell: Cell) -> np.ndarray:
        return np.ascontiguousarray(letters[:, cell.start : cell.end]).view(f"<U{cell.end - cell.start}").ravel()


def find_heading(
    body: list[tuple[int, str]], layouts: tuple[Layout, ...], release: str
) -> tuple[int, Layout, tuple[Cell, ...]] | None:
    """Place in `body` of the line that names the columns, the layout that it agrees with, and its cells."""
    above: list[str] = []
    for place, (_, line) in enumerate(body[:HEADING_WITHIN]):
        if _RULE.fullmatch(line) or len(line) > LONGEST_LINE:
            continue
        chosen = choose(layouts, (*above, line), release)
        if chosen is not None:
            return place, *chosen
        above = [*above, line][1 - HEADING_LINES :]
    return None


def unknown_heading(
    report: str, body: list[tuple[int, str]], layouts: tuple[Layout, ...], file: str, line: int
) -> FormatError:
    """The error for a page of which `find_heading` knows no line."""
    texts = [(number, text) for number, text in body if not _RULE.fullmatch(text)][:HEADING_LINES]
    number, heading = max(texts, key=lambda part: len(part[1].split()), default=(line, "nothing"))
    return FormatError(
        f"no registered layout of {report} has this heading",
        file=file,
        line=number,
        expected="; or ".join(layout.heading[-1] for layout in layouts if layout.heading),
        found=heading,
        remedy="add a layout of your own; docs/formats/perfkit.md says how.",
    )
