"""Tables of numbers without a declaration: their columns, and what each column is."""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rawperf.registry import NUMBER, TIME_NAMES

MAX_TABLE_BYTES = 4 * 1024**2
"""Largest table that is read as a whole, to see which cells repeat."""
MAX_COLUMNS = 200
MAX_CONDITIONS = 500
"""Most rows with different keys of one table that become runs of their own."""
MIN_SERIES = 5
"""Fewest rows of a time series: shorter columns of times are results."""
DELIMITERS = ("\t", ",", ";", " ")
COLUMN = "column_{}"
"""Name of a column without a header row, by its number."""
NAME_COLUMNS = frozenset(
    {"metric", "metrics", "measure", "measurement", "statistic", "counter", "variable", "quantity"}
)
"""Columns of a table in long format that name the number of their row."""
_WHOLE = re.compile(r"\d{1,15}", re.ASCII)
_LINE_ENDS = re.compile(r"\r\n|\r|\n")  # as bytes are split, unlike str.splitlines


def is_number(cell: str) -> bool:
    return NUMBER.fullmatch(cell.strip()) is not None


@dataclass(frozen=True)
class Table:
    """Cells of a table; `names` are those of the header row, or numbered ones (not `headed`)."""

    delimiter: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    headed: bool

    def cells(self, name: str) -> tuple[str, ...]:
        place = self.names.index(name)
        return tuple(row[place] for row in self.rows)

    @cached_property
    def numeric(self) -> tuple[str, ...]:
        """Columns that have numbers only; empty cells are allowed."""
        return tuple(name for name in self.names if _is_numeric(self.cells(name)))

    @property
    def header(self) -> str:
        return self.delimiter.join(self.names) if self.headed else ""


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are.

    `keys`: they tell conditions apart. `names`: of a table in long format, the column with the name
    of the number. `numbers`: columns of numbers. `time`: the column of a time series, which has no
    keys. `repeats`: whether rows of one condition repeat.
    """

    keys: tuple[str, ...] = ()
    names: str = ""
    numbers: tuple[str, ...] = ()
    time: str = ""
    repeats: bool = False


def parse_table(text: str) -> Table | None:
    """Parse a text as a table, with or without a header row; None if it is none."""
    lines = [line for line in _LINE_ENDS.split(text.removeprefix("\ufeff")) if line.strip()]
    candidates = [
        table for delimiter in DELIMITERS if (table := _parse(lines, delimiter)) is not None
    ]
    return max(candidates, key=lambda table: len(table.names), default=None)


def split_line(line: str, delimiter: str) -> list[str]:
    """Cells of one line; a blank stands for any run of blanks, as in declared formats."""
    if delimiter == " ":
        return line.split()
    return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]


def _parse(lines: Sequence[str], delimiter: str) -> Table | None:
    try:
        rows = [tuple(split_line(line, delimiter)) for line in lines]
    except csv.Error:
        return None
    if not rows or len({len(row) for row in rows}) > 1 or not 1 <= len(rows[0]) <= MAX_COLUMNS:
        return None
    first, rest = rows[0], rows[1:]
    if _is_header(first) and rest:
        table = Table(delimiter, first, tuple(rest), True)
    else:
        names = tuple(COLUMN.format(n) for n in range(1, len(first) + 1))
        table = Table(delimiter, names, tuple(rows), False)
    if not table.numeric or (delimiter == " " and len(table.numeric) < len(table.names)):
        return None  # blanks in texts are no delimiter
    if not table.headed and any(len(cell) > 60 for cell in first):
        return None
    return table


def _is_header(cells: Sequence[str]) -> bool:
    return (
        all(cell and len(cell) <= 80 and not is_number(cell) for cell in cells)
        and max(Counter(cells).values()) == 1
    )


def _is_numeric(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell.strip()]
    return bool(filled) and all(map(is_number, filled))


def find_roles(table: Table) -> Roles:
    """Propose what the columns are."""
    texts = [name for name in table.names if name not in table.numeric]
    time = _time_column(table)
    if time:
        numbers = tuple(name for name in table.numeric if name != time)
        return Roles(numbers=numbers, time=time)
    numeric = list(table.numeric)
    names = next((n for n in texts if n.lower() in NAME_COLUMNS), "") if texts else ""
    if names and len(numeric) > 1:
        names = names if _only_last_is_number(table, names) else ""
    factors = _numeric_keys(table, texts, long=bool(names))
    numbers = tuple(name for name in numeric if name not in factors)
    keys = [name for name in table.names if name in factors or (name in texts and name != names)]
    keys = _needed(table, keys, [names] if names else [])
    if len(_conditions(table, keys)) > MAX_CONDITIONS:
        keys = []
    per_row = Counter(_conditions_of_rows(table, [*keys, *([names] if names else [])]))
    return Roles(tuple(keys), names, numbers, "", max(per_row.values()) > 1)


def _only_last_is_number(table: Table, names: str) -> bool:
    """Whether all numeric columns but the last stand left of the column of names, as keys do."""
    place = table.names.index(names)
    return all(table.names.index(name) < place for name in table.numeric[:-1])


def _time_column(table: Table) -> str:
    for name in table.names if table.headed else ():
        cells = table.cells(name)
        if TIME_NAMES.fullmatch(name) and len(cells) >= MIN_SERIES and all(map(is_number, cells)):
            values = [float(cell) for cell in cells]
            if all(a < b for a, b in itertools.pairwise(values)):
                return name
    return ""


def _numeric_keys(table: Table, texts: Sequence[str], *, long: bool) -> list[str]:
    """Numeric columns that are levels of a factor: whole numbers left of all results, which repeat,
    or ascend from row to row.
    """
    keys: list[str] = []
    last = table.numeric[-1]
    for name in table.names:
        if name in texts:
            continue
        if name == last or not table.headed or not _are_levels(table.cells(name), long=long):
            break
        keys.append(name)
    return keys


def _are_levels(cells: Sequence[str], *, long: bool) -> bool:
    if not all(_WHOLE.fullmatch(cell) for cell in cells):
        return False
    values = [int(cell) for cell in cells]
    distinct = len(set(values))
    ascends = all(a < b for a, b in itertools.pairwise(values))
    return long or distinct <= len(values) / 2 or (distinct > 2 and ascends)


def _needed(table: Table, keys: Sequence[str], names: Sequence[str]) -> list[str]:
    """Leave out keys that follow from the others, from the right."""
    kept = list(keys)
    for name in reversed(keys):
        others = [key for key in kept if key != name]
        if others and len(_conditions(table, others)) == len(_conditions(table, kept)):
            kept = others
    return kept


def _conditions(table: Table, keys: Sequence[str]) -> set[tuple[str, ...]]:
    return set(_conditions_of_rows(table, keys))


def _conditions_of_rows(table: Table, keys: Sequence[str]) -> list[tuple[str, ...]]:
    places = [table.names.index(key) for key in keys]
    return [tuple(row[place] for place in places) for row in table.rows]


def conditions(table: Table, keys: Sequence[str]) -> list[dict[str, str]]:
    """The different keys of the rows, in order of first occurrence."""
    found = dict.fromkeys(_conditions_of_rows(table, keys))
    return [dict(zip(keys, cells, strict=True)) for cells in found]


def common_roles(tables: Sequence[tuple[Table, Roles]]) -> Roles:
    """Roles for all tables of the same columns."""
    first = tables[0][0]
    if any(roles.time for _, roles in tables):
        timed = [roles for _, roles in tables if roles.time]
        return timed[0]
    names = next((roles.names for _, roles in tables if roles.names), "")
    keys = {key for _, roles in tables for key in roles.keys} - {names}
    if any(len(_conditions(table, sorted(keys))) > MAX_CONDITIONS for table, _ in tables):
        keys = set()
    ordered = tuple(name for name in first.names if name in keys)
    numbers = tuple(
        name
        for name in first.names
        if name not in keys and all(name in table.numeric for table, _ in tables)
    )
    identity = [*ordered, *([names] if names else [])]
    repeats = any(
        max(Counter(_conditions_of_rows(table, identity)).values()) > 1 for table, _ in tables
    )
    return Roles(ordered, names, numbers[-1:] if names else numbers, "", repeats)
