"""Tables as items: one a number, with its interval where the table has limits beside it; long series as curves."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from virtperf.verify.items import EXPLANATIONS, Item

Row = Mapping[str, Any]
KindOf = str | Callable[[str], str]

LONG = 8
"""Rows with one label beyond which a table is a series over something, and its columns are curves."""
IN_WORDS = "in words"
"""The field of what a row says beside its numbers."""
SIDES = ("low", "high")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.I)
_LIMIT = re.compile(r"(?P<before>|.+_)(?P<side>low|high)(?P<behind>|_.+)")
_VALUES = (("value", "", "low"), ("estimate", "", "low"), ("centre", "allowed", "allowed_low"))
"""Columns that hold a value whose limits are called otherwise: column, its item, the column of the limit."""


def read_csv(text: str) -> list[dict[str, str]]:
    """The rows of a download."""
    return list(csv.DictReader(io.StringIO(text)))


def table_items(exhibit: str, rows: Sequence[Row], kind: KindOf) -> list[Item]:
    """The items of one table.

    Parameters
    ----------
    exhibit : str
        The anchor of the exhibit that it belongs to.
    rows : sequence of mapping
        Cells by column, all rows with the same columns: numbers, or text that may be one.
    kind : str or callable
        The items' kind, or what tells it from the name of a number.

    Notes
    -----
    A row is known by its first cell (a point of a figure by series and x), by its position where that is a number. A
    column ``x`` with ``x_low`` and ``x_high`` beside it is one item; so is ``value`` with ``low`` and ``high``. What a
    row says in words is one item, too, and each verdict one of its own.
    """
    kind_of: Callable[[str], str] = kind if callable(kind) else lambda _: kind
    labels = [_label(row, k) for k, row in enumerate(rows)]
    if rows and max(Counter(labels).values()) > LONG:
        return _curves(exhibit, rows, labels, kind_of)
    return [
        item
        for label, row in zip(_distinct(labels), rows, strict=True)
        for item in _row_items(exhibit, label, row, kind_of)
    ]


def cell_items(exhibit: str, rows: Sequence[Row]) -> list[Item]:
    """The items of a printed table: every cell as it stands, known by its row's first cell."""
    labels = _distinct([str(next(iter(row.values()), "")) for row in rows])
    return [
        Item(exhibit, label, str(column), "tables", words=str(cell))
        for label, row in zip(labels, rows, strict=True)
        for column, cell in row.items()
    ]


def line_items(exhibit: str, lines: Sequence[str]) -> list[Item]:
    """The items of an exhibit in words: its lines, each known by its beginning without numbers."""
    labels = _distinct([re.sub(r"\d+", "#", line)[:60] for line in lines])
    return [Item(exhibit, label, "", "registers", words=line) for label, line in zip(labels, lines, strict=True)]


def _distinct(labels: Sequence[str]) -> list[str]:
    """Labels that are repeated get a count behind them."""
    found: dict[str, None] = {}
    for label in labels:
        name, count = label, 1
        while name in found:
            count += 1
            name = f"{label} ({count})"
        found[name] = None
    return list(found)


def _label_columns(row: Row) -> list[str]:
    columns = list(row)
    if columns[:2] == ["exhibit", "series"]:
        return columns[:3]
    return [] if not columns or _NUMBER.fullmatch(str(row[columns[0]])) else columns[:1]


def _label(row: Row, position: int) -> str:
    columns = _label_columns(row)
    return ", ".join(str(row[c]) for c in columns if c != "exhibit") if columns else f"row {position + 1}"


def _row_items(exhibit: str, label: str, row: Row, kind_of: Callable[[str], str]) -> list[Item]:
    told = set(_label_columns(row))
    numbers = {c: n for c, v in row.items() if c not in told and (n := _number(v)) is not None}
    text = {c: str(v) for c, v in row.items() if c not in told and c not in numbers}
    explained = {c: v for c, v in text.items() if c in EXPLANATIONS}
    words = "; ".join(f"{c}: {v}" for c, v in text.items() if "verdict" not in c and c not in explained)
    groups: dict[str, dict[str, float]] = {}
    for column, number in numbers.items():
        name, part = _part(column, numbers)
        groups.setdefault(name, {})[part] = number
    items = []
    for name, parts in groups.items():
        value, low, high = (parts.get(part, math.nan) for part in ("value", "low", "high"))
        if not all(map(math.isnan, (value, low, high))):
            items.append(Item(exhibit, label, name, kind_of(name), value, low, high))
    items += [Item(exhibit, label, c, kind_of(c), words=v) for c, v in text.items() if "verdict" in c]
    for column, v in explained.items():
        low, high = (
            numbers.get(f"allowed_{side}", math.nan) if column.startswith(side) else math.nan for side in SIDES
        )
        items.append(Item(exhibit, label, column, kind_of(column), low=low, high=high, words=v))
    return [*items, Item(exhibit, label, IN_WORDS, kind_of(IN_WORDS), words=words)] if words else items


def _part(column: str, numbers: Mapping[str, float]) -> tuple[str, str]:
    """Which number of which item a column holds."""
    match = _LIMIT.fullmatch(column)
    if match:
        other = "high" if match["side"] == "low" else "low"
        if f"{match['before']}{other}{match['behind']}" in numbers:
            return match["before"].rstrip("_") + match["behind"], match["side"]
    for value, name, limit in _VALUES:
        if column == value and limit in numbers:
            return name, "value"
    return column, "value"


def _curves(exhibit: str, rows: Sequence[Row], labels: Sequence[str], kind_of: Callable[[str], str]) -> list[Item]:
    items = []
    for label in dict.fromkeys(labels):
        own = [row for row, name in zip(rows, labels, strict=True) if name == label]
        words = []
        for column in (c for c in own[0] if c not in _label_columns(own[0])):
            numbers = [_number(row[column]) for row in own]
            curve = tuple(n for n in numbers if n is not None)
            if len(curve) == len(numbers):
                items.append(Item(exhibit, label, column, kind_of(column), curve=curve))
            else:
                words.append(f"{column}: {', '.join(dict.fromkeys(str(row[column]) for row in own))}")
        if words:
            items.append(Item(exhibit, label, IN_WORDS, kind_of(IN_WORDS), words="; ".join(words)))
    return items


def _number(cell: Any) -> float | None:
    """A cell as a number, NaN where it is empty, None where it is text."""
    if cell is None or cell == "":
        return math.nan
    if isinstance(cell, bool | str):
        return float(cell) if _NUMBER.fullmatch(str(cell)) else None
    return float(cell)
