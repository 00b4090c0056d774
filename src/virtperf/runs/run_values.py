"""Values of runs, by quantity and condition: the one representation of runs that are compared.

A run is a run folder with `run.yaml`, a folder of raw files, a file, or a row (or a tool's own
repetition) within a file. Rows of tables have keys: the texts that tell benchmarks apart, and the
settings that are equal row by row in all runs. Values of different keys are never averaged, unless
asked for. Rows of one key are repetitions: the run's value is their mean.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import TypeVar

import numpy as np
import pandas as pd

from rawperf.core.errors import RawperfError, RunError, did_you_mean
from rawperf.results.names import parse_unit, split_unit, to_base
from rawperf.results.result_table import QUANTITY, RUN, VALUE, ResultTable
from virtperf.core.grouping import grouped
from virtperf.core.levels import Level
from virtperf.core.numbers import join_names
from virtperf.core.order_statistics import is_percentile
from virtperf.runs.ingest.columns import is_empty, numbers_with_units
from virtperf.runs.outcomes import (
    counts_one_failure,
    failed_rows,
    is_share_or_count,
    is_success_share,
    may_say_outcome,
)

Condition = tuple[tuple[str, Level], ...]
V = TypeVar("V")
CellName = tuple[str, Condition]
"""A quantity, and the key of its rows or the entity that it was observed for."""

FAILURES = "failures"
"""Quantity: the share of requests, operations or runs of a command that failed."""
HTTP_ERRORS = "http_errors"
"""Quantity: the share of answers with an HTTP error status, or their number where the answers were
not counted."""
UNIT_NAMES = re.compile(r"(?i)units?|unit of measure(ment)?")
"""Names of columns that have the unit of each row's values."""
VALUE_NAMES = re.compile(
    r"(?i)values?|results?|scores?|measure(d|ments?)?|mean|median|avg|average|min|max|stddev|std[_ ]?dev|p\d+"
)
SPREAD_NAMES = re.compile(r"(?i)err(or)?([_ ]?%)?")
SPREAD_BESIDE = re.compile(
    r"(?i)score|mean|median|std[_ .]*dev\.?|stddev|estimate|elapsed|instructions"
)
COUNTED_BESIDE = re.compile(r"(?i).*(requests|samples|throughput|hits|transactions|rps|qps|tps).*")
"""An `error` beside a mean is its uncertainty, unless requests are counted beside it."""
SEVERAL_PERCENTILES = (
    "the run has several values of this percentile, and the mean of percentiles of several drivers "
    "or intervals is not a percentile"
)
NUMBERING_NAMES = re.compile(
    r"(?i)#|#? ?(?:i|no|nr|id|idx|index|rows?|rep|reps|repetition|repeat|replicate|run|runs|run[_ ]?id|trial|"
    r"round|iter|iteration|sample|step|seq|sequence)|unnamed: \d+"
)
INDEX_NAMES = re.compile(rf"{NUMBERING_NAMES.pattern}|t|seconds?|secs?|time|time[_ ]?s|elapsed")
TIME_NAMES = re.compile(r"(?i)time[_ ]?stamps?|ts|epoch(_?m?s)?|date|date[_ ]?time")
PRINTED_DATE = re.compile(
    r"(?i)\d{1,2}([./-])(\d{1,2}|[a-z]{3,9})\1(19|20)\d\d\b|"
    r"([a-z]{3},? )?([a-z]{3} +\d{1,2}|\d{1,2} [a-z]{3,9})\b.* (19|20)\d\d\b"
)
"""Dates that are not in ISO's order: 31.12.2024, 12/31/2024, 31-Dec-2024, Tue Dec 31 10:00:00 2024."""
MOMENT_NAMES = re.compile(
    r"(?i)(.*[_ -])?(start|begin|end|stop|finish|creat)(ed)?[_ -]?(time([_ -]?stamp)?|date|at|stamp)"
)
NUMBERS_ROWS = "it numbers the rows"
IDENTITY_NAMES = re.compile(
    r"(?i)(.*[_ /-])?(version|build|revision|commit|port|pid|seed)([_ -]?(id|no|nr|num(ber)?))?"
)
"""Names of numbers that say what was run."""
MAX_SETTING_LEVELS = 64
"""Largest number of levels of a numeric key: a longer list of numbers is one of samples."""
PERCENT_NAMES = re.compile(r"(?i).*(percentile|quantile|percentage|percent).*")
"""Names of columns that say which percentile a row is."""
MAX_KEYS = 1000


@dataclass(frozen=True)
class ComparedQuantity:
    """Metadata of a compared quantity.

    `better` is "higher", "lower", or "" without a direction; `group` is the group of quantities of
    a geometric mean; `field` is the tool's or table's own name. `is_spread`: whether it is the
    uncertainty of another quantity.
    """

    unit: str = ""
    better: str = ""
    group: str = ""
    field: str = ""
    is_spread: bool = False

    @property
    def is_failure(self) -> bool:
        """Whether the quantity is a share or number of failures, or a share of successes, which are
        judged by their difference.
        """
        if counts_one_failure(self.group):
            return True
        return not self.is_spread and is_share_or_count(self.group, self.unit)

    @property
    def is_success(self) -> bool:
        """Whether the quantity is a share of successes."""
        return is_success_share(self.group)


@dataclass(frozen=True)
class RunValues:
    """One run: its value of every observed quantity by key, and its metadata.

    `singles` are its single values by cell, if percentiles are requested; `refused` maps
    rejected numbers of its files to reasons. `columns` are the numeric columns of a table. `counts`
    are the failed and all requests behind a share of failures, or the requests behind a rate.
    `repetitions` is the largest number of repeated rows of one key in a file, `repeats` what they are
    (`rawperf.results.result_table.Repeats`).
    """

    run_id: str
    values: Mapping[CellName, float]
    block: str = ""
    day: str = ""
    factors: Mapping[str, Level] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    disturbed: bool = False
    digest: str = ""
    place: str = ""
    singles: Mapping[CellName, np.ndarray | tuple[np.ndarray, np.ndarray]] = field(
        default_factory=dict
    )
    refused: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    counts: Mapping[CellName, tuple[int, int]] = field(default_factory=dict)
    repetitions: int = 0
    repeats: str = ""

    def quantities(self) -> list[str]:
        """Names of the observed quantities, in order of first occurrence."""
        return list(dict.fromkeys(quantity for quantity, _ in self.values))

    def value(self, quantity: str) -> float:
        """Value of a quantity that the run observed once; NaN without one."""
        of = [value for (name, _), value in self.values.items() if name == quantity]
        return of[0] if len(of) == 1 else math.nan


@dataclass(frozen=True)
class Cells:
    """The numbers of one file by cell, in file order; several of a cell are repetitions.

    `runs` numbers the runs, or the rows of a key, that they come from; `repeats` says what repetitions
    are, `repetitions` is their largest number of a key. `singles` are distributions that can
    be merged over files: single values, or values with their counts. `settings` are the options that
    the tool says it ran with, such as a number of threads.
    """

    values: Mapping[CellName, np.ndarray]
    runs: Mapping[CellName, np.ndarray] = field(default_factory=dict)
    repeats: str = ""
    singles: Mapping[CellName, np.ndarray | tuple[np.ndarray, np.ndarray]] = field(
        default_factory=dict
    )
    counts: Mapping[CellName, tuple[int, int]] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    of_table: bool = False
    repetitions: int = 0


@dataclass(frozen=True, eq=False)
class PlainTable:
    """A table of unknown origin: numeric columns in base units, and columns of texts.

    `written` are the numeric columns' own names, and their factors to base units. `failed` marks rows
    of failed requests, if a column says so (`settle_outcomes`).
    """

    file: str
    numbers: Mapping[str, np.ndarray]
    texts: Mapping[str, tuple[str, ...]]
    rows: int
    written: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    failed: np.ndarray | None = None
    _known: dict[tuple[str, bool], tuple[Level, ...]] = field(
        default_factory=dict, init=False, repr=False
    )

    def levels(self, name: str, *, as_written: bool = False) -> tuple[Level, ...] | None:
        """Levels of a column row by row, of numbers in base units or `as_written`; None without it."""
        if name in self.texts:
            return self.texts[name]
        if name not in self.numbers:
            return None
        if (name, as_written) not in self._known:
            factor = self.written[name][1] if as_written else 1.0
            values = [float(f"{v / factor:.12g}") for v in self.numbers[name].tolist()]
            levels = tuple(int(v) if v.is_integer() else v for v in values)
            self._known[name, as_written] = levels
        return self._known[name, as_written]

    def at(self, rows: np.ndarray) -> PlainTable:
        """Select rows by position."""
        return replace(
            self,
            numbers={name: column[rows] for name, column in self.numbers.items()},
            texts={name: tuple(column[row] for row in rows) for name, column in self.texts.items()},
            rows=len(rows),
            failed=None if self.failed is None else self.failed[rows],
        )


@dataclass(frozen=True)
class TableKeys:
    """How the rows of all tables are told apart.

    `keys` are columns whose levels are conditions, those `as_written` with the column's own name and
    unit; `settings` those of them that are numbers and were not asked for. `facts` are texts that are
    one of a run, `left_out` the other columns with the reason why they are not compared. `options` are
    settings of whole files that vary between the runs of a side.
    """

    keys: tuple[str, ...] = ()
    as_written: frozenset[str] = frozenset()
    facts: frozenset[str] = frozenset()
    left_out: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    def sentences(self) -> list[str]:
        """What a user has to know: the numbers that are keys, and the columns that are left out."""
        names_by_reason = grouped((reason, name) for name, reason in self.left_out.items())
        names = ", ".join(self.settings)
        return [
            *([f"rows are matched by {names}, which looks like a setting"] if names else []),
            *(
                [f"a key: {', '.join(self.options)}, which differs between the runs of a side"]
                if self.options
                else []
            ),
            *(f"not compared: {join_names(of)} ({why})" for why, of in names_by_reason.items()),
        ]


class Quantities:
    """Metadata of all quantities, with one unit each over all files."""

    def __init__(self) -> None:
        self.known: dict[str, ComparedQuantity] = {}
        self._first_file: dict[str, str] = {}

    def add(self, name: str, quantity: ComparedQuantity, file: str) -> None:
        """Register a quantity; raises `RunError` if another file has it in another unit."""
        known = self.known.setdefault(name, quantity)
        first = self._first_file.setdefault(name, file)
        if known.unit != quantity.unit:
            raise RunError(
                f"{name} is in {quantity.unit or 'no known unit'}, in {first} it is in "
                f"{known.unit or 'no known unit'}",
                file=file,
                expected="units that can be converted to each other",
                remedy="name the unit in the heading of both: latency (ms)",
            )


def plain_table(
    frame: pd.DataFrame, numbers: Mapping[str, pd.Series], file: str, quantities: Quantities
) -> PlainTable:
    """Split a table in numeric columns in base units and texts, and register its quantities.

    `numbers` are the numeric columns of `frame`, NaN where a cell is empty.
    """
    shown = [split_unit(name)[0] for name in numbers]
    beside = [name for name in map(str, frame.columns) if not SPREAD_NAMES.fullmatch(name)]
    has_mean = any(SPREAD_BESIDE.fullmatch(split_unit(name)[0]) for name in beside)
    has_mean &= not any(COUNTED_BESIDE.fullmatch(name) for name in beside)
    in_base_units, written = {}, {}
    for name, column in numbers.items():
        short, unit = split_unit(name)
        if shown.count(short) > 1 or (short != name and short in frame.columns):
            short, unit = name, ""
        target, factor = to_base(unit)
        values = column.to_numpy(dtype=float)
        known = ComparedQuantity(target, "", short, name)
        if known.is_failure:
            if has_mean and SPREAD_NAMES.fullmatch(short) and (values % 1 > 0).any():
                known = replace(known, is_spread=True)
            else:
                known = replace(known, better="higher" if known.is_success else "lower")
        quantities.add(short, known, file)
        in_base_units[short] = values * factor
        written[short] = name, factor
    texts = {
        str(name): tuple(
            "" if cell is None or cell != cell else str(cell).strip() for cell in frame[name]
        )
        for name in frame.columns
        if name not in numbers
    }
    texts |= {name: ("",) * len(frame) for name in texts if is_empty(frame[name])}
    for name in texts:
        if pd.api.types.is_bool_dtype(frame[name]):
            texts[name] = tuple(cell.lower() for cell in texts[name])
        if UNIT_NAMES.fullmatch(name):
            units = [to_base(parse_unit(cell)) for cell in texts[name]]
            texts[name] = tuple(
                base or cell for (base, _), cell in zip(units, texts[name], strict=True)
            )
            factors = np.array([factor for _, factor in units])
            for value in filter(VALUE_NAMES.fullmatch, in_base_units):
                in_base_units[value] = in_base_units[value] * factors
    return PlainTable(file, in_base_units, texts, len(frame), written)


def settle_outcomes(
    tables: Sequence[PlainTable], quantities: Quantities, kept: Collection[str] = ()
) -> list[PlainTable]:
    """Mark the failed rows of all tables by the columns that say so best, and remove these columns.

    A column is read alike in all tables: one of 0 and 1 is a count if another table has more. Columns
    in `kept` are what the user says that they are.
    """
    names = dict.fromkeys(name for table in tables for name in (*table.texts, *table.numbers))
    found: dict[str, tuple[int, dict[int, np.ndarray]]] = {}
    for name in filter(may_say_outcome, [name for name in names if name not in kept]):
        of = {at: table for at, table in enumerate(tables) if table.levels(name) is not None}
        cells = [["" if x != x else str(x) for x in t.levels(name) or ()] for t in of.values()]
        are_texts = any(name in table.texts for table in of.values())
        if (outcome := failed_rows(name, cells, are_texts=are_texts)) is not None:
            found[name] = outcome[0], dict(zip(of, outcome[1], strict=True))
    if not found:
        return [*tables]
    best = min(rank for rank, _ in found.values())
    settled = []
    for at, table in enumerate(tables):
        failed = [rows[at] for rank, rows in found.values() if rank == best and at in rows]
        settled.append(
            replace(
                table,
                numbers={n: column for n, column in table.numbers.items() if n not in found},
                texts={n: column for n, column in table.texts.items() if n not in found},
                written={n: own for n, own in table.written.items() if n not in found},
                failed=np.logical_or.reduce(failed) if failed else None,
            )
        )
        if failed:
            own = next(name for name, (rank, _) in found.items() if rank == best)
            kind = ComparedQuantity("1", "lower", FAILURES, own)
            quantities.add(FAILURES, kind, table.file)
    for name in found:
        quantities.known.pop(name, None)
    return settled


def choose_keys(
    sides: Sequence[Sequence[PlainTable]],
    named: Sequence[str] = (),
    over: Sequence[str] = (),
    selected: Collection[str] = (),
) -> TableKeys:
    """Choose the columns whose levels tell the rows of the tables apart.

    Texts that vary within a file, or between the files of a side with levels that both sides have,
    are keys. If rows still repeat, so are numbers that are equal row by row in all runs of a side.

    Parameters
    ----------
    named : sequence of str
        Columns that are keys; other texts then are none.
    over : sequence of str
        Columns that are no keys: values are means over their levels.
    selected : collection of str
        Columns that are keys too, if the tables have them.
    """
    sides = [[table for table in side if table.rows] for side in sides]
    tables = [table for side in sides for table in side]
    if not tables:
        return TableKeys()
    keys, facts, left_out = [], set(), {}
    texts = list(dict.fromkeys(name for table in tables for name in table.texts))
    numeric = dict.fromkeys(name for table in tables for name in table.numbers)
    for name in texts:
        if name in named or name in over or name in selected:
            continue
        if name in numeric:  # a result with a damaged cell, or labels that may be numbers
            continue
        columns = [table.texts[name] for table in tables if name in table.texts]
        if UNIT_NAMES.fullmatch(name):
            keys.append(name)  # values in units that are not known are never compared with others
        elif all(len(set(column)) == 1 for column in columns):
            if not named and _is_key_between_files(name, sides):
                keys.append(name)
            else:
                facts.add(name)
        elif named:
            left_out[name] = "a text that is not named by --key"
        elif _are_times(name, [cell for column in columns for cell in column]):
            left_out[name] = "times of the rows"
        elif INDEX_NAMES.fullmatch(name):
            left_out[name] = NUMBERS_ROWS
        else:
            keys.append(name)
    short = {own: name for table in tables for name, (own, _) in table.written.items()}
    further = [name for name in (*texts, *numeric, *short) if name in selected]
    keys += dict.fromkeys(short.get(name, name) for name in (*named, *further) if name not in over)
    for name in dict.fromkeys(name for table in tables for name in table.numbers):
        if name in keys:
            continue
        if TIME_NAMES.fullmatch(name) or _are_moments(
            name, [table.numbers[name] for table in tables if name in table.numbers]
        ):
            left_out[name] = "times of the rows"
        elif NUMBERING_NAMES.fullmatch(name) and all(_is_numbering(name, of) for of in sides):
            left_out[name] = NUMBERS_ROWS
        elif IDENTITY_NAMES.fullmatch(name) and all(_is_identity(name, of) for of in sides):
            left_out[name] = "it names what was run"
    settings: list[str] = []
    if not named and any(len(_row_keys(table, keys)) < table.rows for table in tables):
        over = [short.get(name, name) for name in over]
        settings, indexes = _settings(sides, {*keys, *left_out, *over})
        settings = _without_results(tables, keys, settings)
        keys += settings
        left_out |= dict.fromkeys(indexes, NUMBERS_ROWS)
    as_written = frozenset(
        name for name in keys if len({t.written[name] for t in tables if name in t.written}) == 1
    )
    return TableKeys(tuple(keys), as_written, frozenset(facts), left_out, tuple(settings))


def _are_moments(name: str, columns: Sequence[np.ndarray]) -> bool:
    """Whether a column that is named for times has Unix timestamps, in seconds to nanoseconds."""
    values = np.concatenate(columns)
    values = values[~np.isnan(values)]
    return MOMENT_NAMES.fullmatch(name) is not None and any(
        ((values > 1e9 * unit) & (values < 4e9 * unit)).all() for unit in (1, 1e3, 1e6, 1e9)
    )


def _is_numbering(name: str, side: Sequence[PlainTable]) -> bool:
    """Whether the numbers of a column are 0 or 1 and their successors, over all runs of a side."""
    levels = {level for table in side for level in table.levels(name) or ()}
    return all(isinstance(level, int) for level in levels) and (
        levels in ({*range(len(levels))}, {*range(1, len(levels) + 1)})
    )


def _is_identity(name: str, side: Sequence[PlainTable]) -> bool:
    """Whether a column without a unit has one number in all runs of a side."""
    tables = [table for table in side if name in table.numbers]
    levels = {level for table in tables for level in table.levels(name) or ()}
    return len(levels) <= 1 and all(table.written[name][0] == name for table in tables)


def _is_key_between_files(name: str, sides: Sequence[Sequence[PlainTable]]) -> bool:
    """Whether a text with one level a file names what a run is of: it varies between the runs of a
    side, with levels that other sides have too.
    """
    levels = [[table.texts[name][0] for table in side if name in table.texts] for side in sides]
    if INDEX_NAMES.fullmatch(name) or _are_times(name, [x for of_side in levels for x in of_side]):
        return False
    return _tells_runs_apart(levels)


def _tells_runs_apart(levels: Sequence[Sequence[str]]) -> bool:
    """Whether the levels of the runs of each side vary within a side, and other sides have them too; of a
    single side, whether each level has several runs.
    """
    counts = [Counter(of_side) for of_side in levels]
    if all(len(of_side) <= 1 for of_side in counts):
        return False
    if len(counts) == 1:
        return min(counts[0].values()) > 1
    return bool(set.intersection(*map(set, counts)))


def choose_options(
    sides: Sequence[Sequence[Cells]], named: Sequence[str] = (), over: Sequence[str] = ()
) -> tuple[str, ...]:
    """Choose the settings of whole files by which their values are matched: those `named`, and those that
    vary between the files of a side but are not in `over`. All others are facts.
    """
    names = dict.fromkeys(name for side in sides for file in side for name in file.settings)
    return tuple(
        name
        for name in names
        if name in named
        or (
            name not in over
            and _tells_runs_apart(
                [[f.settings[name] for f in side if name in f.settings] for side in sides]
            )
        )
    )


def at_options(cells: Cells, names: Sequence[str]) -> Cells:
    """Add the settings `names` of a file to the keys of its values; the others become facts."""
    key = tuple((name, cells.settings[name]) for name in names if name in cells.settings)
    facts = {name: text for name, text in cells.settings.items() if name not in names}
    cells = replace(cells, facts={**cells.facts, **facts}, settings={})
    if not key:
        return cells

    def keyed(by_cell: Mapping[CellName, V]) -> dict[CellName, V]:
        return {(quantity, (*at, *key)): value for (quantity, at), value in by_cell.items()}

    return replace(
        cells,
        values=keyed(cells.values),
        runs=keyed(cells.runs),
        singles=keyed(cells.singles),
        counts=keyed(cells.counts),
    )


def _settings(
    sides: Sequence[Sequence[PlainTable]], others: set[str]
) -> tuple[list[str], list[str]]:
    """Find numeric columns that are settings, such as loads, and those that number the rows.

    A setting has several levels and is equal row by row in all runs of each side, or each of its
    whole numbers occurs equally often in a file, more than once. At least one column is left as a
    result.
    """
    tables = [table for side in sides for table in side]
    names = dict.fromkeys(
        name
        for table in tables
        for name in table.numbers
        if name not in others and not ComparedQuantity(group=name).is_failure
    )
    found = [
        name
        for name in names
        if all(len({*(table.levels(name) or ())}) > 1 for table in tables)
        and (_is_equal_by_row(name, sides) or all(_is_balanced(name, table) for table in tables))
    ]
    if len(found) == len(names):  # equal results; a column of percentiles is none
        found = [name for name in found if PERCENT_NAMES.fullmatch(name)]
        if len(found) == len(names):
            return [], []
    indexes = [
        name
        for name in found
        if INDEX_NAMES.fullmatch(name)
        or (
            len({*(tables[0].levels(name) or ())}) > MAX_SETTING_LEVELS
            and not PERCENT_NAMES.fullmatch(name)
        )
    ]
    return [name for name in found if name not in indexes], indexes


def _without_results(
    tables: Sequence[PlainTable], keys: Sequence[str], settings: Sequence[str]
) -> list[str]:
    """Settings without those that the rows can do without and that differ between tables: results
    that are equal in all runs of a side.
    """
    kept = [*settings]
    for name in reversed(settings):
        others = [*keys, *(other for other in kept if other != name)]
        if len({table.levels(name) for table in tables}) > 1 and _is_redundant(
            name, others, tables
        ):
            kept.remove(name)
    return kept


def _is_redundant(name: str, others: Sequence[str], tables: Sequence[PlainTable]) -> bool:
    """Whether the rows of each table are told apart by the `others` as well as with a column."""
    return all(
        len(_row_keys(table, others)) == len(_row_keys(table, [*others, name])) for table in tables
    )


def _row_keys(table: PlainTable, names: Sequence[str]) -> set[tuple[Level, ...]]:
    columns = [levels for name in names if (levels := table.levels(name)) is not None]
    return set(zip(*columns, strict=True)) if columns else {()}


def fill_failure_counts(tables: Sequence[PlainTable]) -> tuple[list[PlainTable], list[str]]:
    """Add 0 for each kind of failure that other tables count by its name; returns these names too."""
    kinds = {
        name: table.written[name]
        for table in tables
        for name in table.numbers
        if counts_one_failure(name)
    }
    filled, names = [], dict[str, None]()
    for table in tables:
        absent = {n: np.zeros(table.rows) for n in kinds if n not in table.numbers}
        names |= dict.fromkeys(absent)
        written = {**table.written, **{name: kinds[name] for name in absent}}
        filled.append(replace(table, numbers={**table.numbers, **absent}, written=written))
    return filled, [*names]


def read_measured_texts(
    tables: Sequence[PlainTable], quantities: Quantities, kept: Collection[str] = ()
) -> tuple[list[PlainTable], set[str]]:
    """Read texts such as ``512 B`` as numbers where they are results: another table has numbers in
    that column, or they differ between tables and rows can do without them. Returns the names too.
    Columns in `kept` stay texts.
    """
    texts = dict.fromkeys(name for table in tables for name in table.texts)
    changed = [*tables]
    found = set()
    for name in [name for name in texts if name not in kept]:
        of = [at for at, table in enumerate(tables) if name in table.texts]
        read = [numbers_with_units(tables[at].texts[name], is_measured=True) for at in of]
        if len({each and each[1] for each in read}) != 1 or read[0] is None:
            continue
        is_number = any(name in table.numbers for table in tables)
        differs = len({tables[at].texts[name] for at in of}) > 1
        others = [other for other in texts if other != name]
        if not is_number and not (differs and others and _is_redundant(name, others, tables)):
            continue
        found.add(name)
        for at, column in zip(of, read, strict=True):
            assert column is not None
            table = changed[at]
            quantities.add(name, ComparedQuantity(column[1], "", name, name), table.file)
            changed[at] = replace(
                table,
                numbers={**table.numbers, name: np.array(column[0])},
                texts={other: cells for other, cells in table.texts.items() if other != name},
                written={**table.written, name: (name, 1.0)},
            )
    return changed, found


def _is_equal_by_row(name: str, sides: Sequence[Sequence[PlainTable]]) -> bool:
    """Whether a column is equal row by row in all runs of each side; with one run a side, in all. A single
    table can't tell: there a column of an index's name is one if it ascends.
    """
    tables = [table for side in sides for table in side]
    if len(tables) < 2:
        ascends = all(a < b for a, b in pairwise(tables[0].levels(name) or ()))  # type: ignore[operator]
        return ascends and INDEX_NAMES.fullmatch(name) is not None
    if any(len(side) < 2 for side in sides):
        sides = [tables]
    return all(len({table.levels(name) for table in side}) == 1 for side in sides)


def _is_balanced(name: str, table: PlainTable) -> bool:
    """Whether each of several whole numbers occurs equally often, and more than once."""
    counts = Counter(table.levels(name) or ())
    whole = all(isinstance(level, int) for level in counts)
    return whole and len(counts) > 1 and len({*counts.values()}) == 1 and min(counts.values()) > 1


def _are_times(name: str, cells: Sequence[str]) -> bool:
    """Whether the texts of a column are dates, or are named as times."""
    return TIME_NAMES.fullmatch(name) is not None or all(_is_time(cell) for cell in cells if cell)


def _is_time(text: str) -> bool:
    if PRINTED_DATE.match(text):
        return True
    try:
        datetime.fromisoformat(text.replace("/", "-"))
    except ValueError:
        return False
    return True


def table_cells(table: PlainTable, keys: TableKeys, *, singles: bool) -> Cells:
    """Group the rows of a table by key.

    Failed requests count in no value but the share of `FAILURES`. With `singles`, the values of a
    cell are single values for percentiles.

    Raises `RawperfError` for too many keys.
    """
    columns: dict[str, tuple[Level, ...]] = {}
    for name in keys.keys:
        own = name in keys.as_written and name in table.numbers
        if (levels_of := table.levels(name, as_written=own)) is not None:
            columns[table.written[name][0] if own else name] = levels_of
    rows_by_key: dict[Condition, list[int]] = grouped(
        (tuple(zip(columns, levels, strict=True)), row)
        for row, levels in enumerate(zip(*columns.values(), strict=True))
    )
    if not columns and table.rows:
        rows_by_key[()] = [*range(table.rows)]
    if len(rows_by_key) > MAX_KEYS:
        counts = ", ".join(f"{name} ({len({*levels})})" for name, levels in columns.items())
        raise RawperfError(
            "the rows have too many different keys",
            file=table.file,
            expected=f"at most {MAX_KEYS}",
            found=f"{len(rows_by_key)}, from the columns {counts}",
            remedy="name the columns that tell results apart by --key",
        )
    results = [
        name for name in table.numbers if name not in keys.keys and name not in keys.left_out
    ]
    values: dict[CellName, np.ndarray] = {}
    runs: dict[CellName, np.ndarray] = {}
    counts_of: dict[CellName, tuple[int, int]] = {}
    for key, rows in rows_by_key.items():
        places, numbers = np.array(rows, dtype=int), np.arange(len(rows))
        if table.failed is not None:
            failed = table.failed[places]
            counts_of[FAILURES, key] = int(failed.sum()), len(rows)
            values[FAILURES, key], runs[FAILURES, key] = failed.astype(float), numbers
            places, numbers = places[~failed], numbers[~failed]
        for name in results:
            known = ~np.isnan(table.numbers[name][places])
            if known.any():
                values[name, key] = table.numbers[name][places[known]]
                runs[name, key] = numbers[known]
    facts = {n: column[0] for n, column in table.texts.items() if n in keys.facts and column}
    single = {cell: numbers for cell, numbers in values.items() if cell[0] != FAILURES}
    return Cells(
        values,
        runs,
        singles=single if singles else {},
        counts=counts_of,
        facts={name: text for name, text in facts.items() if text},
        of_table=True,
        repetitions=max(map(len, rows_by_key.values()), default=0),
    )


def result_cells(table: ResultTable, *, singles: bool) -> Cells:
    """Group the numbers of a tool's results by key."""
    values: dict[CellName, np.ndarray] = {}
    runs: dict[CellName, np.ndarray] = {}
    for name, rows in table.rows.groupby([*table.keys, QUANTITY], sort=False):
        *levels, quantity = name if isinstance(name, tuple) else (name,)
        key = tuple((k, str(v)) for k, v in zip(table.keys, levels, strict=True) if v != "")
        cell = (str(quantity), key)
        values[cell] = rows[VALUE].to_numpy(dtype=float)
        if table.repeats == "runs":
            runs[cell] = rows[RUN].to_numpy(dtype=int)
    return Cells(
        values,
        runs,
        table.repeats,
        values if singles else {},
        settings=table.settings,
        of_table=True,
        repetitions=max(map(len, values.values()), default=0),
    )


def average_over(cells: Cells, names: Sequence[str]) -> Cells:
    """Replace values at different levels of the keys `names` by their mean, with equal weights."""
    if not any(name in names for _, key in cells.values for name, _ in key):
        return cells
    gathered = grouped(
        ((quantity, tuple((name, level) for name, level in key if name not in names)), values)
        for (quantity, key), values in cells.values.items()
    )
    means = {
        cell: np.array([np.mean([v.mean() for v in parts])]) for cell, parts in gathered.items()
    }
    return replace(cells, values=means, runs={}, singles={}, counts={})


def split_rows(cells: Cells) -> Iterator[tuple[str, dict[CellName, float]]]:
    """Yield each run within a file, with its name: the tool's own runs (``run 2``), else the rows of
    each key in order (``row 2``).
    """
    own_runs = cells.repeats == "runs"
    gathered: dict[int, dict[CellName, list[float]]] = {}
    for cell, values in cells.values.items():
        numbers = cells.runs.get(cell)
        for place, value in enumerate(values.tolist()):
            run = int(numbers[place]) if numbers is not None else place
            gathered.setdefault(run, {}).setdefault(cell, []).append(value)
    word = "run" if own_runs else "row"
    for run in sorted(gathered):
        yield (
            f"{word} {run + 1}",
            {cell: math.fsum(values) / len(values) for cell, values in gathered[run].items()},
        )


def run_values(
    cells: Mapping[str, Cells], refused: dict[str, str], quantities: Quantities
) -> dict[CellName, float]:
    """Return the run's value of every cell of its files: the mean over repetitions.

    Quantities that several files have at one key are qualified by the file's name. Percentiles with
    several values are added to `refused`.
    """
    files = Counter(cell for of_file in cells.values() for cell in of_file.values)
    ambiguous = {quantity for (quantity, _), count in files.items() if count > 1}
    merged: dict[CellName, float] = {}
    for file, of_file in cells.items():
        for (quantity, key), values in of_file.values.items():
            name = quantity
            if quantity in ambiguous:
                name = f"{quantity} in {file}"
                quantities.known.setdefault(name, quantities.known[quantity])
            if len(values) > 1 and is_percentile(quantity):
                refused[name] = SEVERAL_PERCENTILES
            else:
                merged[name, key] = float(values.mean())
    return merged


def key_text(key: Condition) -> str:
    """Format a key: ``test=SET, size=2``."""
    return ", ".join(f"{name}={level}" for name, level in key)


def match_quantities(
    quantities: Mapping[str, ComparedQuantity],
    patterns: Iterable[str],
    fits: Callable[[str, str], bool],
) -> list[str]:
    """Names of the quantities that a pattern matches, by their own or the tool's name.

    Raises `RawperfError` for a pattern without a match.
    """
    matching = []
    for pattern in patterns:
        names = [
            name
            for name, kind in quantities.items()
            if fits(name, pattern) or fits(kind.field, pattern) or kind.group == pattern
        ]
        if not names:
            known = [*quantities, *(kind.field for kind in quantities.values() if kind.field)]
            raise RawperfError(
                f"no quantity of the runs matches {pattern!r}",
                expected=", ".join(quantities),
                remedy=did_you_mean(pattern, known),
            )
        matching += names
    return matching
