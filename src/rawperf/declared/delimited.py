"""Columns: with a delimiter between them, or blanks."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from rawperf.core.near import did_you_mean
from rawperf.declared.chunks import Chunk, Into

ROWS = 20_000
"""Rows of a chunk."""
BLANKS = " "
_WHOLE_LINE = re.compile(r"[^\n]*\n")


def read_columns(texts: Iterable[str], into: Into) -> Iterator[None]:
    """Read the rows of a file with columns, given in pieces of whole lines; yields after every
    chunk.

    Raises `FormatError`: no heading, a column that is declared and not there, a row with more or
    fewer cells than the heading.
    """
    declaration = into.declaration
    delimiter = declaration.delimiter
    source = _Lines(texts, into)
    rows = source.blank_separated() if delimiter == BLANKS else source.delimited()
    names = list(declaration.columns)
    start = 1
    if not names:
        start, names = next(rows, (1, []))
        names = [name.strip() for name in names]
    _check_names(names, start, into)
    wanted = set(declaration.words) | {
        rule.field for part in declaration.parts for rule in part.fields
    }
    others = any(part.others and part.names is None for part in declaration.parts)
    places = [place for place, name in enumerate(names) if name and (others or name in wanted)]
    lines: list[int] = []
    cells: list[list[str]] = []

    def flush() -> None:
        columns = {names[place]: [row[place] for row in cells] for place in places}
        for number in range(len(declaration.parts)):
            into.sink(number, Chunk(dict(columns), list(lines)))
        lines.clear()
        cells.clear()

    for line, row in rows:
        if delimiter == BLANKS and len(row) > len(names):
            row = [*row[: len(names) - 1], " ".join(row[len(names) - 1 :])]
        if len(row) != len(names):
            raise into.error(
                "a row does not fit the heading",
                line,
                expected=f"{len(names)} cells: {' '.join(names)}",
                found=f"{len(row)}: {delimiter.join(row)}",
                remedy="the line is damaged; mend or remove it.",
            )
        lines.append(line)
        cells.append(row)
        if len(lines) == ROWS:
            flush()
            yield
    if cells:
        flush()
    if source.cut:
        into.said.append(
            f"{into.file} line {source.cut}: the last line has no line end, may be cut, and was left out"
        )
    yield


class _Lines:
    """The lines of a file that are rows, each record with the line that it begins on."""

    def __init__(self, texts: Iterable[str], into: Into) -> None:
        self._texts, self._into = texts, into
        self.cut = 0  # the line that has no line end
        self._first = 0

    def blank_separated(self) -> Iterator[tuple[int, list[str]]]:
        for line in self._rows(quotes=False):
            yield self._first, line.split()
            self._first = 0

    def delimited(self) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(self._rows(), delimiter=self._into.declaration.delimiter, strict=True)
        try:
            for row in reader:
                yield self._first, row
                self._first = 0
        except csv.Error as err:
            problem, line = f"not a row of cells: {err}", max(self._first, 1)
            raise self._into.error(problem, line, remedy="a quote may be missing there.") from err

    def _rows(self, quotes: bool = True) -> Iterator[str]:
        """Lines without comments and blank ones, which may stand within quotes."""
        quoted, number, comment = False, 0, self._into.declaration.comment
        for text in self._texts:
            end = text.rfind("\n") + 1
            for match in _WHOLE_LINE.finditer(text, 0, end):
                line, number = match[0], number + 1
                if not quoted and (
                    not line.strip() or (comment is not None and line.startswith(comment))
                ):
                    continue
                quoted ^= quotes and line.count('"') % 2 == 1
                self._first = self._first or number
                yield line
            self.cut = number + 1 if text[end:].strip() else 0


def _check_names(names: list[str], line: int, into: Into) -> None:
    declaration = into.declaration
    if not any(names):
        raise into.error("there is no heading", 1, expected="names of columns, then rows")
    twice = next((name for name, count in Counter(filter(None, names)).items() if count > 1), None)
    if twice is not None:
        raise into.error(f"two columns are called {twice!r}", line, remedy="rename one of them.")
    optional = {rule.field for part in declaration.parts for rule in part.fields if rule.optional}
    times = [part.time for part in declaration.parts if part.time is not None]
    optional |= {time.field for time in times if time.field is not None and time.optional}
    other = len(names) == 1 and {*names[0]} & {*",;\t|"}
    for name in declaration.words:
        if name not in names and name not in optional:
            raise into.error(
                f"there is no column {name!r}",
                line,
                found=", ".join(filter(None, names)),
                remedy="another `delimiter` may stand between the columns."
                if other
                else did_you_mean(name, names),
            )
