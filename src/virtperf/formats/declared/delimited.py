"""Columns: with a delimiter between them, or blanks."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from virtperf.core.declaration import Declaration
from virtperf.core.errors import FormatError
from virtperf.core.near import near
from virtperf.formats.declared.collect import Chunk, Sink

ROWS = 20_000
"""Rows of a chunk."""
BLANKS = " "
_WHOLE_LINE = re.compile(r"[^\n]*\n")


def read_columns(text: str, declaration: Declaration, sink: Sink, said: list[str], file: str) -> dict[str, str]:
    """Give the rows of a file with columns to `sink`, once for each table.

    Raises
    ------
    FormatError
        No heading, a column that is declared and not there, a row with more or fewer cells than the heading.
    """
    delimiter = declaration.delimiter
    source = _Lines(text, declaration.comment)
    rows = source.blank_separated() if delimiter == BLANKS else source.delimited(delimiter, file)
    names = list(declaration.columns)
    start = 1
    if not names:
        start, names = next(rows, (1, []))
        names = [name.strip() for name in names]
    _check_names(names, declaration, start, file)
    wanted = set(declaration.words) | {rule.field for part in declaration.parts for rule in part.fields}
    others = any(part.others and part.names is None for part in declaration.parts)
    places = [place for place, name in enumerate(names) if name and (others or name in wanted)]
    lines: list[int] = []
    cells: list[list[str]] = []

    def flush() -> None:
        columns = {names[place]: [row[place] for row in cells] for place in places}
        for number in range(len(declaration.parts)):
            sink(number, Chunk(dict(columns), list(lines)))
        lines.clear()
        cells.clear()

    for line, row in rows:
        if delimiter == BLANKS and len(row) > len(names):
            row = [*row[: len(names) - 1], " ".join(row[len(names) - 1 :])]
        if len(row) != len(names):
            raise FormatError(
                "a row does not fit the heading", file=file, line=line,
                expected=f"{len(names)} cells: {' '.join(names)}", found=f"{len(row)}: {delimiter.join(row)}",
                remedy="the line is damaged; mend or remove it.",
            )  # fmt: skip
        lines.append(line)
        cells.append(row)
        if len(lines) == ROWS:
            flush()
    if cells:
        flush()
    if source.cut:
        said.append(f"{file} line {source.cut}: the last line has no line end, may be cut, and was left out")
    return {}


class _Lines:
    """The lines of a file that are rows, each record with the line that it begins on."""

    def __init__(self, text: str, comment: str | None) -> None:
        end = text.rfind("\n") + 1
        self._text, last = text[:end], text[end:]
        self.cut = text.count("\n") + 1 if last.strip() else 0
        self._comment = comment
        self._first = 0

    def blank_separated(self) -> Iterator[tuple[int, list[str]]]:
        for line in self._rows(quotes=False):
            yield self._first, line.split()
            self._first = 0

    def delimited(self, delimiter: str, file: str) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(self._rows(), delimiter=delimiter, strict=True)
        try:
            for row in reader:
                yield self._first, row
                self._first = 0
        except csv.Error as err:
            raise FormatError(
                f"not a row of cells: {err}", file=file, line=max(self._first, 1),
                remedy="a quote may be missing there.",
            ) from err  # fmt: skip

    def _rows(self, quotes: bool = True) -> Iterator[str]:
        """Lines without comments and blank ones, which may stand within quotes."""
        quoted = False
        for number, match in enumerate(_WHOLE_LINE.finditer(self._text), start=1):
            line = match[0]
            if not quoted and (not line.strip() or (self._comment is not None and line.startswith(self._comment))):
                continue
            quoted ^= quotes and line.count('"') % 2 == 1
            self._first = self._first or number
            yield line


def _check_names(names: list[str], declaration: Declaration, line: int, file: str) -> None:
    if not any(names):
        raise FormatError("there is no heading", file=file, line=1, expected="names of columns, then rows")
    twice = [name for place, name in enumerate(names) if name and name in names[:place]]
    if twice:
        raise FormatError(f"two columns are called {twice[0]!r}", file=file, line=line, remedy="rename one of them.")
    optional = {rule.field for part in declaration.parts for rule in part.fields if rule.optional}
    times = [part.time for part in declaration.parts if part.time is not None]
    optional |= {time.field for time in times if time.field is not None and time.optional}
    for name in declaration.words:
        if name not in names and name not in optional:
            raise FormatError(
                f"there is no column {name!r}", file=file, line=line, found=", ".join(filter(None, names)),
                remedy=near(name, names),
            )  # fmt: skip
