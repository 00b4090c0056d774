"""Tables of the Performance Toolkit: rows cut at the character positions of their heading."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from virtperf.core.errors import FormatError
from virtperf.formats.perfkit.layout import Cell, Layout, choose
from virtperf.formats.perfkit.page import LONGEST_LINE, LogEnd, log_times
from virtperf.formats.perfkit.values import number, numbers
from virtperf.formats.rows import record_table
from virtperf.formats.text import strings

HEADING_LINES = 4  # captions in up to three lines, names in the last
HEADING_WITHIN = 40  # lines below a page's header
_RULE = re.compile(r"[ .:_=-]*")
_NAMELESS = re.compile(r"-*|\.{2,}")
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")
_WORD = re.compile(r"[A-Za-z<][A-Za-z.,:/()<>-]*")


@dataclass(frozen=True)
class Taken:
    """What became of the lines below a heading.

    Attributes
    ----------
    odd : list of (int, str)
        Lines among the rows that are none, such as a row with a damaged name: left out.
    below : list of int
        Lines below the table.
    dropped : bool
        The file ends within the last row.
    """

    odd: list[tuple[int, str]]
    below: list[int]
    dropped: bool


@dataclass
class Table:
    """Rows of one layout under one spacing, gathered over the pages so that each column is converted at once."""

    layout: Layout
    cells: tuple[Cell, ...]
    heading: str
    rows: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)
    labels: list[tuple[str, str]] = field(default_factory=list)  # entity kind and entity
    ended: LogEnd | None = None  # where its log ends

    def __post_init__(self) -> None:
        own = {cell.column.name: cell for cell in reversed(self.cells) if cell.column.text}
        self._key = own[self.layout.entity or self.layout.time]
        self._owner = own.get(self.layout.owner)
        self._time = own.get(self.layout.time)
        self._repeats = [cell for cell in self.cells if cell.column.repeats]
        self._name = re.compile(self.layout.pattern)
        self._wide = max(cell.end for cell in self.cells)
        self._edge = max(cell.end for cell in self.cells if not cell.column.text)
        self._numbers = [cell for cell in self.cells if cell.column.known and not cell.column.text]

    def label(self, text: str) -> str | None:
        """What a row is about: its entity, with the owner where it has one, or its time; None for another line."""
        key = self._key
        if text[: (self._owner or key).start].strip() and (self._owner or key) is self.cells[0]:
            return None
        if self.layout.log and not (self._when(text) in self.layout.averages or _CLOCK.fullmatch(self._when(text))):
            return None
        label = text[key.start : key.end].strip()
        if self._owner:
            owner = text[self._owner.start : self._owner.end].strip()
            label = owner if _NAMELESS.fullmatch(label) else f"{owner}:{label}"
        return label if self._name.fullmatch(label) else None

    def _when(self, text: str) -> str:
        """What a row's cell of the time holds; "" where rows have none."""
        return text[self._time.start : self._time.end].strip() if self._time else ""

    def _completed(self, text: str, above: str | None) -> str:
        """The row with what its blank cells repeat from the row above."""
        for cell in self._repeats:
            if above is not None and not text[cell.start : cell.end].strip():
                text = text[: cell.start] + above[cell.start : cell.end] + text[cell.end :]
        return text

    def take(
        self, body: list[tuple[int, str]], page: int, repeated: bool, cut: int, *, followed: bool = False
    ) -> Taken:
        """Take the rows below a heading.

        A line that is no row is left out. Behind it, only what is a row in every cell is taken for one, and nothing
        at all behind a line of words, which is the heading of something else.

        Parameters
        ----------
        body : list of (int, str)
            Line number and text below the heading.
        page : int
        repeated : bool
            The page goes on with the interval of the one before, so averages were read already.
        cut : int
            Line that may have lost its end; 0 for none.
        followed : bool
            Another table stands below, so that words behind the rows are its title.
        """
        odd: list[tuple[int, str]] = []
        below: list[tuple[int, str]] = []
        seen: set[str] = set()
        within = 0  # lines of `below` that precede a heading of something else
        ended = dropped = False
        above: str | None = None  # behind a line that is none, a row that repeats cells could be anybody's
        for line, printed in body:
            if _RULE.fullmatch(printed):
                continue
            if line == cut and len(printed.rstrip()) < self._edge:
                dropped = True
                break
            text = self._completed(printed, above)
            label = None if ended else self.label(text)
            if self.layout.log and text == printed:
                seen.clear()
            again = label in seen
            if label is None or (text != printed and again) or ((odd or below) and (again or not self._whole(text))):
                below.append((line, printed))
                ended = ended or _is_heading(printed)
                within += not ended
                above = None
                continue
            odd, below, within, above = odd + below, [], 0, text
            seen.add(label)
            average = self.layout.averages.get(self._when(text) if self.layout.log else label)
            if not (repeated and average):
                self.rows.append(text)
                self.lines.append(line)
                self.pages.append(page)
                self.labels.append((average or self.layout.entity_kind, label if self.layout.entity else ""))
        damaged = [(line, text) for line, text in below[:within] if self._whole(text)]
        lines = {line for line, _ in damaged}
        unread = below[:within] if followed else below
        return Taken(odd + damaged, [line for line, _ in unread if line not in lines], dropped)

    def _whole(self, text: str) -> bool:
        """Whether every cell of a known column of numbers holds what belongs there, and one of them a number."""
        values = [number(text[cell.start : cell.end], cell.column.unit) for cell in self._numbers]
        present = [value is not None and value == value for value in values]
        beyond = text[self._wide :].split()
        return (
            None not in values
            and any(present)
            and all(
                text[cell.end - 1 : cell.end].strip() if there else not cell.column.required
                for cell, there in zip(self._numbers, present, strict=True)
            )
            and not (beyond and number(beyond[0], "1") is not None)
        )

    def records(self, spans: tuple[np.ndarray, np.ndarray], file: str) -> pd.DataFrame:
        """One row per printed number, with its place in the file in column ``line``.

        Parameters
        ----------
        spans : (ndarray, ndarray)
            Begin and end of every page's interval.
        file : str

        Raises
        ------
        FormatError
            A known column holds something else than a number, or a number stands beside its heading.
        """
        wide = self._wide
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
        index: dict[tuple[str, str], int] = {}
        code = np.array([index.setdefault(label, len(index)) for label in self.labels])
        kinds, entities = zip(*index, strict=True)
        average = np.array([kind != self.layout.entity_kind for kind in kinds])[code]
        t = self._times(spans, letters, average, file)
        values = np.column_stack([column for _, column in found])
        row, column = np.nonzero(~np.isnan(values))
        kind, entity = strings(kinds, code[row]), strings(entities, code[row])
        field = strings([name for name, _ in found], column)
        records = record_table(self.layout.report, kind, entity, field, t[row], values[row, column])
        records = records.assign(line=np.array(self.lines)[row])
        self.rows, self.lines, self.pages, self.labels = [], [], [], []
        return records

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

    def _times(
        self, spans: tuple[np.ndarray, np.ndarray], letters: np.ndarray, average: np.ndarray, file: str
    ) -> np.ndarray:
        begins, ends = (span[np.array(self.pages)] for span in spans)
        if not self.layout.time:
            return ends
        cell = next(cell for cell in self.cells if cell.column.name == self.layout.time)
        own = np.flatnonzero(~average)
        clocks = []
        texts = np.ascontiguousarray(letters[own, cell.start : cell.end]).view(f"<U{cell.end - cell.start}").ravel()
        for place, text in zip(own.tolist(), np.char.strip(texts).tolist(), strict=True):
            clock = _CLOCK.fullmatch(text)
            if clock is None:
                raise FormatError("not a time", file=file, line=self.lines[place], expected="HH:MM", found=text)
            clocks.append(int(clock[1]) * 3600.0 + int(clock[2]) * 60 + int(clock[3] or 0))
        t = ends.copy()
        t[own], self.ended = log_times(begins[own], ends[own], np.array(clocks, dtype=float), self.ended)
        return t


def _is_heading(text: str) -> bool:
    """Whether a line is words, with no number among them."""
    tokens = text.split()
    values = [value for value in (number(token, "1") for token in tokens) if value is not None and value == value]
    return not values and sum(_WORD.fullmatch(token) is not None for token in tokens) > 1


Heading = tuple[int, Layout, tuple[Cell, ...]]
"""Place of the line that names the columns, the layout that it agrees with, and its cells."""


def find_heading(
    body: list[tuple[int, str]], layouts: tuple[Layout, ...], release: str, within: int = HEADING_WITHIN
) -> Heading | None:
    """The first heading of one of the layouts among the first lines of `body`."""
    above: list[str] = []
    for place, (_, line) in enumerate(body[:within]):
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
