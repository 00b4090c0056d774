"""A CSV that nobody declared: its columns, and the declaration that would read it."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime

DELIMITERS = ",;\t|"
MAX_ROWS = 200
MAX_FIELDS = 6
"""Columns that are written down in the declaration; others can be added by hand."""
MILLISECONDS = 1e11
"""Larger numbers of a time are no seconds since 1970 that anybody measured."""
_TIMES = re.compile(r"(?i)(?:time_?stamp|date_?time|time|date|ts|epoch)(?:[_ ]?(?:s|ms|utc))?")
_PLAIN = re.compile(r"[A-Za-z_]\w*")
_YAML_WORDS = {"on", "off", "yes", "no", "true", "false", "null", "y", "n"}
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Columns:
    """The heading of a CSV, and rows below it."""

    delimiter: str
    names: list[str]
    rows: list[list[str]]
    commented: bool = False

    def numbers(self) -> list[str]:
        """The columns that hold numbers only, that of times excepted."""
        time = self._time()
        return [
            name
            for name, cells in self._cells().items()
            if name != time and any(cells) and all(map(_is_number, cells))
        ]

    def _cells(self) -> dict[str, tuple[str, ...]]:
        return dict(zip(self.names, zip(*self.rows, strict=True), strict=True))

    def _time(self) -> str | None:
        return next((name for name in self.names if _TIMES.fullmatch(name)), None)

    def declaration(self) -> str:
        """A declaration of its columns, on one line of YAML."""
        cells, time = self._cells(), self._time()
        when = _time(time, cells[time]) if time is not None else None
        texts = [n for n in cells if n != time and not all(map(_is_number, cells[n]))]
        parts = ["name: mine", "reads: csv"]
        if self.delimiter != ",":
            parts.append(f"delimiter: {json.dumps(self.delimiter)}")
        if self.commented:
            parts.append('comment: "#"')
        parts.append(f"time: {when or '{numbered: true}'}")
        if texts:
            parts.append(f"entity: {{name: [{', '.join(map(_word, texts[:2]))}]}}")
        fields = (f"{{field: {_word(name)}}}" for name in self.numbers()[:MAX_FIELDS])
        parts.append(f"fields: [{', '.join(fields)}]")
        return f"{{{', '.join(parts)}}}"


def csv_columns(head: bytes) -> Columns | None:
    """The columns of a CSV by its beginning; None where it is none, or has no heading."""
    text = head.decode("utf-8", "replace").replace("\r\n", "\n")
    lines = text[: text.rfind("\n") + 1].split("\n")[:MAX_ROWS]
    commented = any(line.startswith("#") for line in lines)
    lines = [line for line in lines if line.strip() and not line.startswith("#")]
    found = [columns for d in DELIMITERS if (columns := _columns(lines, d, commented)) is not None]
    return max(found, key=lambda columns: len(columns.names), default=None)


def _columns(lines: list[str], delimiter: str, commented: bool) -> Columns | None:
    try:
        names, *rows = csv.reader(lines, delimiter=delimiter, strict=True)
    except (csv.Error, ValueError):
        return None
    names = [name.strip() for name in names]
    fitting = [row for row in rows if len(row) == len(names)]
    if len(names) < 2 or not fitting or len(fitting) < 0.9 * len(rows):
        return None
    if any(not name or len(name) > 80 or _is_number(name) for name in names):
        return None
    if max(Counter(names).values()) > 1:
        return None
    columns = Columns(delimiter, names, fitting, commented)
    return columns if columns.numbers() else None


def _is_number(cell: str) -> bool:
    return not cell.strip() or _NUMBER.fullmatch(cell.strip()) is not None


def _time(name: str, cells: tuple[str, ...]) -> str | None:
    """How the times of a column are declared; None where they are not of a common form."""
    field = f"field: {_word(name)}"
    if all(_NUMBER.fullmatch(cell.strip()) for cell in cells):
        largest = max(map(float, cells))
        if largest >= MILLISECONDS:
            return f"{{{field}, unit: ms}}"
        return f"{{{field}}}" if largest >= 1e8 else f"{{{field}, since: start}}"
    try:
        for cell in cells:
            datetime.fromisoformat(cell.strip())
    except ValueError:
        return None
    return f"{{{field}, format: iso}}"


def _word(name: str) -> str:
    """A name as YAML takes it in one line."""
    plain = _PLAIN.fullmatch(name) and name.lower() not in _YAML_WORDS
    return name if plain else json.dumps(name, ensure_ascii=False)
