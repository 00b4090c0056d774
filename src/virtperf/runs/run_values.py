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
from rawperf.results.names import split_unit, to_base
from rawperf.results.table import QUANTITY, RUN, VALUE, ResultTable
from virtperf.core.grouping import grouped
from virtperf.core.levels import Level
from virtperf.core.numbers import join_names
from virtperf.core.order_statistics import is_percentile

Condition = tuple[tuple[str, Level], ...]
V = TypeVar("V")
CellName = tuple[str, Condition]
"""A quantity, and the key of its rows or the entity that it was observed for."""

FAILURES = "failures"
"""Quantity: the share of requests, operations or runs of a command that failed."""
HTTP_ERRORS = "http_errors"
"""Quantity: the share of answers with an HTTP error status, or their number where the answers were
not counted."""
FAILURE_QUANTITY = re.compile(
    r"(?i)failures?|failed|errors?|(failure|error)s?[_ ](rate|ratio|share|count|per[_ ]second)|"
    r"failed[_ ]\w+|(http|num|total)[_ ](failures|errors)([_ ]per[_ ]second)?|(req)?[45]xx|non2xx|timeouts|"
    r"lost[_ ]\w+|(packet[_ ])?loss( ?%)?"
)
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
SUCCESS_NAMES = re.compile(r"(?i)success|successful|ok|passed|succeeded")
FAILURE_NAMES = re.compile(r"(?i)failed|failure|error|is_error")
STATUS_NAMES = re.compile(r"(?i)(http|response)?[_ -]?(status([_ -]?code)?|code)")
"""Names of columns with status codes of HTTP (0: no answer), or words for success and failure."""
EXIT_NAMES = re.compile(r"(?i)exit[_ -]?(code|status|val(ue)?)|return[_ -]?code|retval")
SUCCESS_WORDS = ("true", "yes", "ok", "success", "succeeded", "passed", "pass")
FAILURE_WORDS = ("false", "no", "ko", "failure", "failed", "error", "fail")
NUMBERS_ROWS = "it numbers the rows"
MAX_SETTING_LEVELS = 64
"""Largest number of levels of a numeric key: a longer list of numbers is one of samples."""
PERCENT_NAMES = re.compile(r"(?i).*(percentile|quantile|percentage|percent).*")
"""Names of columns that say which percentile a row is."""
MAX_KEYS = 1000


@dataclass(frozen=True)
class ComparedQuantity:
    """Metadata of a compared quantity.

    `better` is "higher", "lower", or "" without a direction; `group` is the group of quantities of
    a geometric mean; `field` is the tool's or table's own name.
    """

    unit: str = ""
    better: str = ""
    group: str = ""
    field: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether the quantity is a share or number of failures, which is judged by its difference."""
        return FAILURE_QUANTITY.fullmatch(self.group.rpartition("/")[2]) is not None


@dataclass(frozen=True)
class RunValues:
    """One run: its value of every observed quantity by key, and its metadata.

    `singles` are its single values by cell, if percentiles are requested; `refused` maps
    rejected numbers of its files to reasons. `columns` are the numeric columns of a table. `counts`
    are the failed and all requests behind a share of failures, or the requests behind a rate.
    `repetitions` is the largest number of repeated rows of one key in a file, `repeats` what they are
    (`rawperf.results.table.Repeats`).
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
    of failed requests, if a column says so; `truth` are its name and numbers if these are all 0 or 1.
    """

    file: str
    numbers: Mapping[str, np.ndarray]
    texts: Mapping[str, tuple[str, ...]]
    rows: int
    written: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    failed: np.ndarray | None = None
    truth: tuple[str, np.ndarray] | None = None
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
            truth=None if self.truth is None else (self.truth[0], self.truth[1][rows]),
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
    success, failed = _success_column(frame, numbers)
    in_base_units, written = {}, {}
    for name, column in numbers.items():
        if name == success:
            continue
        short, unit = split_unit(name)
        if shown.count(short) > 1 or (short != name and short in frame.columns):
            short, unit = name, ""
        target, factor = to_base(unit)
        known = ComparedQuantity(target, "", short, name)
        if known.is_failure:
            known = replace(known, better="lower")
        quantities.add(short, known, file)
        in_base_units[short] = column.to_numpy(dtype=float) * factor
        written[short] = name, factor
    texts = {
        str(name): tuple(
            "" if cell is None or cell != cell else str(cell).strip() for cell in frame[name]
        )
        for name in frame.columns
        if name not in numbers and name != success
    }
    if failed is not None:
        quantities.add(FAILURES, ComparedQuantity("1", "lower", FAILURES), file)
    truth = None
    if (
        success is not None
        and success in numbers
        and (SUCCESS_NAMES.fullmatch(success) or FAILURE_NAMES.fullmatch(success))
    ):
        truth = success, numbers[success].to_numpy(dtype=float)
    return PlainTable(file, in_base_units, texts, len(frame), written, failed, truth)


def settle_counts(tables: Sequence[PlainTable], quantities: Quantities) -> list[PlainTable]:
    """Take a column of 0 and 1 as counts, not as truth values, if it has other numbers in another table."""
    counts = {name for table in tables for name in table.numbers}
    settled = []
    for table in tables:
        if table.truth is not None and table.truth[0] in counts:
            name, numbers = table.truth
            quantities.add(name, quantities.known[name], table.file)
            table = replace(
                table,
                numbers={**table.numbers, name: numbers},
                written={**table.written, name: (name, 1.0)},
                failed=None,
                truth=None,
            )
        settled.append(table)
    return settled


def _success_column(
    frame: pd.DataFrame, numbers: Mapping[str, pd.Series]
) -> tuple[str | None, np.ndarray | None]:
    """Find a column that says which rows are failed requests or commands: truth values, words for
    success and failure, status codes of HTTP, or exit codes.
    """
    for column in frame.columns:
        name = str(column)
        failed = (
            _failed_by_code(name, numbers[name].to_numpy(dtype=float))
            if name in numbers
            else _failed_by_word(name, frame[column].astype(str).str.strip().str.lower())
        )
        if failed is not None:
            return name, failed
    return None, None


def _failed_by_code(name: str, codes: np.ndarray) -> np.ndarray | None:
    is_truth = set(codes[~np.isnan(codes)]) <= {0.0, 1.0}
    if is_truth and SUCCESS_NAMES.fullmatch(name):
        return codes == 0
    if is_truth and FAILURE_NAMES.fullmatch(name):
        return codes == 1
    whole = codes == np.round(codes)
    if EXIT_NAMES.fullmatch(name) and whole.all():
        return codes != 0
    is_http = whole & ((codes == 0) | ((codes >= 100) & (codes < 600)))
    if STATUS_NAMES.fullmatch(name) and codes.any() and is_http.all():
        return (codes == 0) | (codes >= 400)
    return None


def _failed_by_word(name: str, words: pd.Series) -> np.ndarray | None:
    if FAILURE_NAMES.fullmatch(name) and words.isin(("true", "false", "yes", "no")).all():
        return words.isin(("true", "yes")).to_numpy()
    if SUCCESS_NAMES.fullmatch(name) or STATUS_NAMES.fullmatch(name):
        failed = words.isin(FAILURE_WORDS)
        if (failed | words.isin(SUCCESS_WORDS)).all():
            return failed.to_numpy()
    return None


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
        if all(len(set(column)) == 1 for column in columns):
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
    settings: list[str] = []
    if not named and any(_has_repeats(table, keys) for table in tables):
        over = [short.get(name, name) for name in over]
        settings, indexes = _settings(sides, {*keys, *left_out, *over})
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


def _has_repeats(table: PlainTable, keys: Sequence[str]) -> bool:
    columns = [levels for name in keys if (levels := table.levels(name)) is not None]
    return len(set(zip(*columns, strict=True)) if columns else {()}) < table.rows


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
