"""Tables of the Performance Toolkit: rows cut at the character positions of their heading."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rawperf.core.errors import FormatError
from rawperf.perfkit.layout import REMEDY, LayoutCell, ReportLayout, matching_layout
from rawperf.perfkit.page import LONGEST_LINE, LogEnd
from rawperf.perfkit.values import number

HEADING_LINES = 4  # captions in up to three lines, names in the last
HEADING_WITHIN = 40  # lines below a page's header
RULE_PATTERN = re.compile(r"[ .:_=-]*")
_NAMELESS = re.compile(r"-*|\.{2,}")
CLOCK_PATTERN = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")
_WORD = re.compile(r"[A-Za-z<][A-Za-z.,:/()<>-]*")


@dataclass
class LayoutRows:
    """Rows of one layout under one spacing, gathered over the pages so that each column is
    converted at once.
    """

    layout: ReportLayout
    cells: tuple[LayoutCell, ...]
    heading: str
    rows: list[tuple[int, int, int, int]] = field(default_factory=list)
    """What `take` took: line of the file, place among the pages read, places in `entities` and in
    `kinds`.
    """
    texts: list[str] = field(default_factory=list)
    """Those of these rows."""
    ended: LogEnd | None = None  # where its log ends

    def __post_init__(self) -> None:
        own = {cell.column.name: cell for cell in reversed(self.cells) if cell.column.text}
        self._key = own[self.layout.entity or self.layout.time]
        self._owner = own.get(self.layout.owner)
        self.time = own.get(self.layout.time)
        self._repeats = [cell for cell in self.cells if cell.column.repeats]
        self._name = re.compile(self.layout.pattern)
        self.wide = max(cell.end for cell in self.cells)
        self._edge = max(cell.end for cell in self.cells if not cell.column.text)
        self._numbers = [cell for cell in self.cells if cell.column.known and not cell.column.text]
        self._first = self._owner or self._key
        self.kinds = [self.layout.entity_kind, *self.layout.averages.values()]
        self._averages = {
            text: n for n, (text, kind) in enumerate(self.layout.averages.items(), start=1) if kind
        }
        self.entities: dict[str, int] = {}

    def _timed(self, when: str) -> bool:
        return when in self.layout.averages or CLOCK_PATTERN.fullmatch(when) is not None

    def _named(self, text: str) -> str | None:
        """What a row is about: its entity, with the owner where it has one, or its time; None for
        another line.
        """
        key = self._key
        if text[: self._first.start].strip() and self._first is self.cells[0]:
            return None
        label = text[key.start : key.end].strip()
        if self._owner:
            owner = text[self._owner.start : self._owner.end].strip()
            label = owner if _NAMELESS.fullmatch(label) else f"{owner}:{label}"
        return label if self._name.fullmatch(label) else None

    def _when(self, text: str) -> str:
        """What a row's cell of the time holds; "" where rows have none."""
        return text[self.time.start : self.time.end].strip() if self.time else ""

    def _entity(self, label: str | None) -> int:
        return self.entities.setdefault(
            label or "" if self.layout.entity else "", len(self.entities)
        )

    def take(
        self, body: list[tuple[int, str]], page: int, repeated: bool, cut: int, followed: bool
    ) -> tuple[list[tuple[int, str]], list[int], bool]:
        """Take the rows below a heading.

        A line that is no row is left out. Behind it, only what is a row in every cell is taken for
        one, and nothing at all behind a line of words, which is the heading of something else.

        A page that is `repeated` goes on with the interval of the one before, so averages were read
        already. The line
        `cut` may have lost its end. Below a table that is `followed` stands another one, and words
        behind the rows are its title. Returned are lines among the rows that are none, such as a
        row with a damaged name, lines below the table, and whether the file ends within the last
        row.
        """
        odd: list[tuple[int, str]] = []
        below: list[tuple[int, str]] = []
        seen: set[str] = set()
        within = 0  # lines of `below` that precede a heading of something else
        ended = dropped = False
        above: str | None = (
            None  # behind a line that is none, a row that repeats cells could be anybody's
        )
        for line, printed in body:
            if RULE_PATTERN.fullmatch(printed):
                continue
            if line == cut and len(printed.rstrip()) < self._edge:
                dropped = True
                break
            text = printed
            for cell in self._repeats:
                if above is not None and not text[cell.start : cell.end].strip():
                    text = text[: cell.start] + above[cell.start : cell.end] + text[cell.end :]
            when = self._when(text)
            label = (
                None if ended or (self.layout.log and not self._timed(when)) else self._named(text)
            )
            if self.layout.log and text == printed:
                seen.clear()
            again = label in seen
            if (
                label is None
                or (text != printed and again)
                or ((odd or below) and (again or not self._whole(text)))
            ):
                below.append((line, printed))
                ended = ended or _is_heading(printed)
                within += not ended
                above = None
                continue
            odd, below, within, above = odd + below, [], 0, text
            seen.add(label)
            average = self._averages.get(when if self.layout.log else label, 0)
            if not (repeated and average):
                self.rows.append((line, page, self._entity(label), average))
                self.texts.append(text)
        damaged = [(line, text) for line, text in below[:within] if self._whole(text)]
        lines = {line for line, _ in damaged}
        unread = below[:within] if followed else below
        return odd + damaged, [line for line, _ in unread if line not in lines], dropped

    def _whole(self, text: str) -> bool:
        """Whether every cell of a known column of numbers holds what belongs there, and one of them
        a number.
        """
        values = [number(text[cell.start : cell.end], cell.column.unit) for cell in self._numbers]
        present = [value is not None and value == value for value in values]
        beyond = text[self.wide :].split()
        return (
            None not in values
            and any(present)
            and all(
                text[cell.end - 1 : cell.end].strip() if there else not cell.column.required
                for cell, there in zip(self._numbers, present, strict=True)
            )
            and not (beyond and number(beyond[0], "1") is not None)
        )

    def forget(self) -> None:
        """Drop the rows."""
        self.rows, self.texts, self.entities = [], [], {}


def _is_heading(text: str) -> bool:
    """Whether a line is words, with no number among them."""
    tokens = text.split()
    values = [
        value
        for value in (number(token, "1") for token in tokens)
        if value is not None and value == value
    ]
    return not values and sum(_WORD.fullmatch(token) is not None for token in tokens) > 1


FoundHeading = tuple[int, ReportLayout, tuple[LayoutCell, ...]]
"""Place of the line that names the columns, the layout that it agrees with, and its cells."""


def find_heading(
    body: list[tuple[int, str]],
    layouts: tuple[ReportLayout, ...],
    release: str,
    within: int = HEADING_WITHIN,
) -> FoundHeading | None:
    """The first heading of one of the layouts among the first lines of `body`."""
    above: list[str] = []
    for place, (_, line) in enumerate(body[:within]):
        if RULE_PATTERN.fullmatch(line) or len(line) > LONGEST_LINE:
            continue
        chosen = matching_layout(layouts, (*above, line), release)
        if chosen is not None:
            return place, *chosen
        above = [*above, line][1 - HEADING_LINES :]
    return None


def unknown_heading(
    report: str,
    body: list[tuple[int, str]],
    layouts: tuple[ReportLayout, ...],
    file: str,
    line: int,
) -> FormatError:
    """The error for a page of which `find_heading` knows no line."""
    texts = [(number, text) for number, text in body if not RULE_PATTERN.fullmatch(text)][
        :HEADING_LINES
    ]
    number, heading = max(texts, key=lambda part: len(part[1].split()), default=(line, "nothing"))
    known = "; or ".join(layout.heading[-1] for layout in layouts if layout.heading)
    problem = f"no registered layout of {report} has this heading"
    return FormatError(
        problem, file=file, line=number, expected=known, found=heading, remedy=REMEDY
    )
