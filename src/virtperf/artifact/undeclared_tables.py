"""Tables of numbers without a declaration: their columns, and what each column is."""

from __future__ import annotations

import csv
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from rawperf.core.errors import RawperfError
from rawperf.registry import NUMBER, TIME_NAMES
from virtperf.artifact.factor_names import names_by_levels
from virtperf.runs.ingest.own import find_delimiter
from virtperf.runs.run_values import PlainTable, choose_keys

MAX_TABLE_BYTES = 4 * 1024**2
"""Largest table that is read as a whole, to see which cells repeat."""
MAX_COLUMNS = 200
MAX_CONDITIONS = 500
"""Most rows with different keys of one table that become runs of their own."""
MIN_SERIES = 5
"""Fewest rows of a time series: shorter columns of times are results."""
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
    """Cells of a table; `names` are those of the header row, or numbered ones (not `headed`). `about` is
    a line above the values that is no header row.
    """

    delimiter: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    headed: bool
    about: str = ""

    def cells(self, name: str) -> tuple[str, ...]:
        place = self.names.index(name)
        return tuple(row[place] for row in self.rows)

    def keys(self, names: Sequence[str]) -> list[tuple[str, ...]]:
        """Cells of some columns, row by row."""
        places = [self.names.index(name) for name in names]
        return [tuple(row[place] for place in places) for row in self.rows]

    @cached_property
    def numeric(self) -> tuple[str, ...]:
        """Columns that have numbers only; empty cells are allowed."""
        filled = {name: [cell for cell in self.cells(name) if cell.strip()] for name in self.names}
        return tuple(name for name, cells in filled.items() if cells and all(map(is_number, cells)))

    def plain(self, *, without: str = "") -> PlainTable:
        """The table as comparisons take it, without one column."""
        numbers = {
            name: np.array([float(cell) if cell.strip() else math.nan for cell in self.cells(name)])
            for name in self.numeric
        }
        others = (name for name in self.names if name not in numbers and name != without)
        texts = {name: self.cells(name) for name in others}
        written = {name: (name, 1.0) for name in numbers}
        return PlainTable("", numbers, texts, len(self.rows), written)

    @property
    def header(self) -> str:
        return self.delimiter.join(self.names) if self.headed else ""


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are.

    `keys`: they tell conditions apart. `names`: of a table in long format, the column with the name
    of the number. `numbers`: columns of numbers. `time`: the column of a time series, which has no
    keys. `repeats`: whether rows of one condition repeat. `called`: names of keys without a header.
    """

    keys: tuple[str, ...] = ()
    names: str = ""
    numbers: tuple[str, ...] = ()
    time: str = ""
    repeats: bool = False
    called: Mapping[str, str] = field(default_factory=dict)


def parse_table(text: str) -> Table | None:
    """Parse a text as a table, with or without a header row; None if it is none."""
    text = text.replace("\ufeff", "")  # of files that were joined, also in the middle
    if text.lstrip()[:1] in ("{", "[") and (
        _is_json(text) or _is_json(text.lstrip().split("\n")[0])
    ):
        return None  # its commas separate no columns
    lines = [line for line in _LINE_ENDS.split(text) if line.strip()]
    if len(lines) > 2 and "," in lines[0] and all(map(is_number, lines[1:])):
        return Table(
            ",", (COLUMN.format(1),), tuple((x.strip(),) for x in lines[1:]), False, lines[0]
        )
    try:
        delimiter = table_delimiter(text)
        first, *rest = (tuple(split_line(line, delimiter)) for line in lines)
    except (RawperfError, csv.Error):
        return None
    if len(first) > MAX_COLUMNS or any(len(row) != len(first) for row in rest):
        return None
    if rest and len(set(first)) == len(first) and all(map(_is_name, first)):
        table = Table(delimiter, first, tuple(rest), True)
    else:
        names = tuple(COLUMN.format(n) for n in range(1, len(first) + 1))
        table = Table(delimiter, names, (first, *rest), False)
    if not table.numeric or (delimiter == " " and len(table.numeric) < len(table.names)):
        return None  # blanks in texts are no delimiter
    if not table.headed and any(len(cell) > 60 for cell in first):
        return None
    return table


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def table_delimiter(text: str) -> str:
    """The delimiter of a table's columns; a tab for a single column. Raises as `find_delimiter`."""
    return find_delimiter(text) or "\t"


def split_line(line: str, delimiter: str) -> list[str]:
    """Cells of one line; a blank stands for any run of blanks, as in declared formats."""
    if delimiter == " ":
        return line.split()
    return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]


def _is_name(cell: str) -> bool:
    return bool(cell) and len(cell) <= 80 and not is_number(cell)


def find_roles(tables: Sequence[Table]) -> Roles:
    """Propose what the columns of tables with the same columns are: a key of one is a key of all.

    Keys are those of a comparison (`choose_keys`) and levels of a factor that a single table shows;
    keys that follow from those left of them are left out. A text that is one of each table is a key
    if there are no others.
    """
    first = tables[0]
    for table in tables:
        if time := _time_column(table):
            return Roles(numbers=tuple(n for n in table.numeric if n != time), time=time)
    names = next(filter(None, map(_names_column, tables)), "")
    found = choose_keys([[table.plain(without=names) for table in tables]])
    levels = {name for table in tables for name in _level_columns(table, long=bool(names))}
    chosen = {*found.keys, *levels}.difference(found.left_out) or found.facts
    keys = _needed(tables, [name for name in first.names if name in chosen])
    if any(len(set(table.keys(keys))) > MAX_CONDITIONS for table in tables):
        keys = []
    numbers = tuple(
        name
        for name in first.names
        if name not in keys
        and name not in found.left_out
        and all(name in table.numeric for table in tables)
    )
    identity = [*keys, *([names] if names else [])]
    repeats = any(max(Counter(table.keys(identity)).values()) > 1 for table in tables)
    return Roles(tuple(keys), names, numbers[-1:] if names else numbers, "", repeats)


def called_columns(
    tables: Mapping[str, Sequence[Table]], roles: Mapping[str, Roles]
) -> dict[str, Roles]:
    """Name the keys of tables without a header row, by shape: as a key at the same place in a table of
    the artifact with all of their levels, else by what their levels are.
    """
    headed: dict[tuple[int, str], set[str]] = {}
    for shape, of in tables.items():
        for key in roles[shape].keys if of[0].headed else ():
            cells = {cell for table in of for cell in table.cells(key)}
            headed.setdefault((of[0].names.index(key), key), set()).update(cells)
    named = dict(roles)
    for shape, of in tables.items():
        called: dict[str, str] = {}
        for key in () if of[0].headed else roles[shape].keys:
            place = of[0].names.index(key)
            levels = {cell for table in of for cell in table.cells(key)}
            names = [n for (at, n), cells in headed.items() if at == place and levels <= cells]
            names = names if len(names) == 1 else names_by_levels(levels)
            if name := next((n for n in names if n not in called.values()), ""):
                called[key] = name
        named[shape] = replace(roles[shape], called=called)
    return named


def _names_column(table: Table) -> str:
    """Column of a table in long format that names the number: all numeric columns but the last stand
    left of it, as keys do.
    """
    texts = (name for name in table.names if name not in table.numeric)
    name = next((name for name in texts if name.lower() in NAME_COLUMNS), "")
    others = map(table.names.index, table.numeric[:-1])
    return name if name and max(others, default=-1) < table.names.index(name) else ""


def _time_column(table: Table) -> str:
    for name in table.names if table.headed else ():
        cells = table.cells(name)
        if TIME_NAMES.fullmatch(name) and len(cells) >= MIN_SERIES and all(map(is_number, cells)):
            values = [float(cell) for cell in cells]
            if all(a < b for a, b in itertools.pairwise(values)):
                return name
    return ""


def _level_columns(table: Table, *, long: bool) -> list[str]:
    """Numeric columns that are levels of a factor: left of all results, with whole numbers which repeat,
    or ascend from row to row.
    """
    is_labelled = table.headed or table.names[0] not in table.numeric
    numeric = table.numeric[:-1] if is_labelled else ()
    return [*itertools.takewhile(lambda n: _are_levels(table.cells(n), long=long), numeric)]


def _needed(tables: Sequence[Table], keys: Sequence[str]) -> list[str]:
    """Leave out keys that follow from the others, from the right."""

    def conditions_of(names: Sequence[str]) -> int:
        return len({cells for table in tables for cells in table.keys(names)})

    kept = list(keys)
    for name in reversed(keys):
        others = [key for key in kept if key != name]
        if others and conditions_of(others) == conditions_of(kept):
            kept = others
    return kept


def _are_levels(cells: Sequence[str], *, long: bool) -> bool:
    if not all(_WHOLE.fullmatch(cell) for cell in cells):
        return False
    values = [int(cell) for cell in cells]
    distinct = len(set(values))
    ascends = all(a < b for a, b in itertools.pairwise(values))
    return long or distinct <= len(values) / 2 or (distinct > 2 and ascends)


def conditions(table: Table, keys: Sequence[str]) -> list[dict[str, str]]:
    """The different keys of the rows, in order of first occurrence."""
    return [dict(zip(keys, cells, strict=True)) for cells in dict.fromkeys(table.keys(keys))]
