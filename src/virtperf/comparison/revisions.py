"""Values of benchmarks by revision: of a table, of dated folders, or of run folders."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rawperf.core.errors import ParameterError, RawperfError, did_you_mean
from virtperf.core.levels import Level
from virtperf.core.paths import Layout
from virtperf.runs.ingest import own
from virtperf.runs.ingest.columns import first_text, number_columns, row_place
from virtperf.runs.run_reader import empty_cells
from virtperf.runs.run_values import (
    ComparedQuantity,
    Quantities,
    RunValues,
    choose_keys,
    key_text,
    plain_table,
    settle_outcomes,
    table_cells,
)

if TYPE_CHECKING:
    from virtperf.comparison.sides import Side

TABLE_SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", ".json", ".jsonl")
REVISION = "revision"
DATE = "date"
DATED = re.compile(r"(\d{4}-\d\d-\d\d(?:[T ]?[\d:.]+)?)[-_]+(.+)")
ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d.*)?|\d{8}(T\d.*)?")
SINCE_1970 = re.compile(r"\d{10}(?:\.\d+)?|\d{13}|\d{16}|\d{19}")
"""Seconds, milli-, micro- or nanoseconds since 1970."""
DATE_FORMATS = (
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%a %b %d %H:%M:%S %Y %z",  # git
    "%a %b %d %H:%M:%S %Y",
    "%a %b %d %H:%M:%S %Z %Y",  # date
    "%a, %d %b %Y %H:%M:%S %z",  # mail
    "%d %b %Y %H:%M:%S %z",
)
"""Forms of dates other than ISO 8601; days and months in figures alone can't be told apart."""
DATE_NAMES = re.compile(
    r"(?i)((commit(ted|ter)?|author|creat(ed|ion)|build|run)[_ -]?)?(date|date[_ ]?time|time[_ ]?stamp|at|ts)"
)
REVISION_NAMES = re.compile(
    r"(?i)(.*[_ -])?(rev(ision)?|commit|sha|hash|version|tag|release|build)([_ -]?(id|sha|hash|no|nr|number))?"
)
MAX_READ_REVISIONS = 10_000
"""Revisions of a table that are read; of a benchmark fewer are analyzed."""
NOT_MEASURED = ("provenance", "file")
"""Columns of a table that its reader adds."""


@dataclass(frozen=True)
class RevisionRuns:
    """Values of a benchmark's runs at one revision, in order of run names."""

    revision: str
    date: str
    runs: tuple[float, ...]


PLACES = (
    f"a table with one row per run ({', '.join(TABLE_SUFFIXES)}), a folder of runs for each revision, "
    "run folders, or a study"
)
RevisionValues = dict[tuple[str, str], dict[str, RevisionRuns]]
"""Values by benchmark and condition, then by revision."""


def read_revisions(
    place: str | Path,
    layout: Layout,
    format_name: str | None,
    where: Mapping[str, Level],
    revision: str | None,
    date: str,
    by_date: bool,
) -> tuple[RevisionValues, dict[str, ComparedQuantity], list[str], list[str]]:
    """Read the values of a place, its quantities, the order of its revisions, and notes.

    The parameters and errors are those of `history.history`.
    """
    path = Path(place)
    if path.is_file() and path.suffix in TABLE_SUFFIXES:
        if format_name is not None or where:
            raise ParameterError(
                "--input-format and --where do not apply to a table of revisions",
                file=str(place),
                remedy="leave them out",
            )
        return _read_table(path, revision, date, by_date)
    values, quantities, notes = _read_runs(
        place, layout, format_name, where, revision or REVISION, date
    )
    dates = {each.revision: each.date for of in values.values() for each in of.values()}
    return values, quantities, _sorted_revisions(dates, str(place)), notes


def _read_table(
    path: Path, revision: str | None, date: str, by_date: bool
) -> tuple[RevisionValues, dict[str, ComparedQuantity], list[str], list[str]]:
    """Read a table of runs: each row is one, and `choose_keys` says what tells benchmarks apart."""
    frame = own.read(path, texts=(revision or REVISION,))
    notes: list[str] = []
    name = revision or REVISION
    if date == DATE and date not in frame.columns and (found := _date_column(frame)):
        notes.append(f"column {found!r} is taken as the date; --date names another")
        date = found
    if name not in frame.columns:
        if revision is not None:
            names = [str(each) for each in frame.columns if each not in NOT_MEASURED]
            raise RawperfError(
                f"there is no column {revision!r}",
                file=str(path),
                expected=f"one of {', '.join(names)}",
                remedy="name the column of revisions by --revision",
            )
        guess = _revision_column(frame, date)
        if guess is None:
            notes.append("no column tells revisions apart: each row is one")
            frame[name] = [str(row + 1) for row in range(len(frame))]
        else:
            notes.append(f"column {guess!r} is taken as the revision; --revision names another")
            name, frame = guess, own.read(path, texts=(guess,))
    for each in dict.fromkeys((name, date)):
        if each in frame.columns:
            _require_filled(frame[each], path)
    dates = [""] * len(frame)
    if date in frame.columns:
        dates = _iso_dates(frame[date].astype(str).tolist())
    for row, when in zip(frame.index, dates, strict=True):
        _require_date(when, f"column {date!r}", str(path), row)
    named = [each for each in dict.fromkeys((name, date, *NOT_MEASURED)) if each in frame.columns]
    rest = frame.drop(columns=named)
    numbers = number_columns(rest, str(path))
    if not numbers:
        raise RawperfError(
            "there is no column of numbers",
            file=str(path),
            expected="a revision and a number in each row",
            found=", ".join(map(str, rest.columns)) or "no other column",
        )
    quantities = Quantities()
    (table,) = settle_outcomes([plain_table(rest, numbers, str(path), quantities)], quantities)
    rows_of = _rows_by_text(frame[name].astype(str))
    days = {
        each: min((dates[row] for row in rows), key=_timestamp) for each, rows in rows_of.items()
    }
    order, more = _table_order(days, str(path), by_date)
    if len(order) > MAX_READ_REVISIONS:
        notes.append(f"only the last {MAX_READ_REVISIONS:,} of {len(order):,} revisions are read")
        order = order[-MAX_READ_REVISIONS:]
        rows_of = {each: rows_of[each] for each in rows_of.keys() & {*order}}
    tables = {each: table.at(rows_of[each]) for each in days if each in rows_of}
    keys = choose_keys([[of_revision] for of_revision in tables.values()])
    for fact in keys.facts:
        texts = {of_revision.texts[fact][0] for of_revision in tables.values()}
        if texts == {""}:
            notes.append(f"column {fact!r} is left out: it is empty")
        elif len(texts) > 1:
            notes.append(f"column {fact!r} is left out: it has one text for each revision")
    series: RevisionValues = {}
    for each, of_revision in tables.items():
        for (quantity, key), values in table_cells(of_revision, keys, singles=False).values.items():
            of = series.setdefault((quantity, key_text(key)), {})
            of[each] = RevisionRuns(each, days[each], tuple(values.tolist()))
    if empty := [*empty_cells(numbers, str(path))]:
        notes.append(f"cells without a number are left out: {', '.join(empty)}")
    return series, quantities.known, order, [*notes, *keys.sentences(), *more]


def _rows_by_text(column: pd.Series) -> dict[str, np.ndarray]:
    """Positions of the rows with each text, in order of first occurrence."""
    codes, texts = pd.factorize(column)
    ends = np.cumsum(np.bincount(codes, minlength=len(texts)))
    rows = np.split(np.argsort(codes, kind="stable"), ends[:-1])
    return dict(zip(map(str, texts), rows, strict=True))


def _date_column(frame: pd.DataFrame) -> str | None:
    """Column of dates by its name and cells."""
    for name in filter(DATE_NAMES.fullmatch, map(str, frame.columns)):
        try:
            times = [*map(_timestamp, _iso_dates(frame[name].dropna().astype(str).tolist()))]
        except ValueError:
            continue
        if times:
            return name
    return None


def _revision_column(frame: pd.DataFrame, date: str) -> str | None:
    """Column that names revisions: of texts, those named so first, that with the most different ones;
    else a first column of numbers before others, without repetition; else the dates.
    """
    columns = [each for each in frame.columns if each not in (date, *NOT_MEASURED)]
    texts = {each: frame[each].nunique() for each in columns if len(first_text(frame[each]))}
    if texts:
        named = [each for each in texts if REVISION_NAMES.fullmatch(str(each))]
        return str(max(named or texts, key=lambda each: texts[each]))
    if len(columns) > 1 and frame[columns[0]].is_unique:
        return str(columns[0])
    return date if date in frame.columns else None


def _table_order(
    dates: Mapping[str, str], place: str, by_date: bool
) -> tuple[list[str], list[str]]:
    """Revisions of a table, oldest first, and what its dates say against the order of its rows."""
    order = list(dates)
    if by_date:
        return _sorted_revisions(dates, place), []
    times = [_timestamp(dates[name]) for name in order]
    back = [k for k in range(1, len(order)) if times[k] < times[k - 1]]
    if not back:
        return order, []
    if all(late <= early for early, late in itertools.pairwise(times)):
        return order[::-1], ["the rows are newest first, by their dates: they are read in reverse"]
    before, after = order[back[0] - 1], order[back[0]]
    return order, [
        f"dates disagree with the order of the rows, which is kept: {after} ({dates[after]}) comes "
        f"after {before} ({dates[before]}); --by-date sorts"
    ]


def _read_runs(
    place: str | Path,
    layout: Layout,
    format_name: str | None,
    where: Mapping[str, Level],
    revision: str,
    date: str,
) -> tuple[RevisionValues, dict[str, ComparedQuantity], list[str]]:
    from virtperf.comparison.side_reader import is_study, read_sides
    from virtperf.comparison.sides import varied_names

    folder = Path(place)
    dated = [p for p in sorted(folder.iterdir()) if DATED.match(p.name)] if folder.is_dir() else []
    parts: list[tuple[Side, str, str]]
    if dated:
        named = [(of[2], of[1]) for each in dated if (of := DATED.match(each.name))]
        for each, (_, day) in zip(dated, named, strict=True):
            _require_date(day, "the folder's name", str(each))
        sides = read_sides(dated, layout, format_name, where)
        varied = varied_names(sides)
        parts = [(side, *of) for side, of in zip(sides, named, strict=True)]
        notes = [f"{side.name}: {note}" for side in sides for note in side.warnings]
    else:
        if not folder.exists() and not (
            is_study(place, layout) or any(c in str(place) for c in "*?[:")
        ):
            raise RawperfError("there is no such file or folder", file=str(place), expected=PLACES)
        whole = read_sides((place,), layout, format_name, where)[0]
        varied = varied_names([whole]) - {revision, date}
        parts = list(_by_revision(whole, revision, date))
        notes = [*whole.notes, *whole.warnings]
    values: RevisionValues = {}
    for side, name, day in parts:
        for (quantity, condition), runs in side.cells(varied).items():
            of_cell = values.setdefault((quantity, key_text(condition)), {})
            before = of_cell.get(name, RevisionRuns(name, day, ()))  # of another day
            first = min(before.date, day, key=_timestamp)
            of_cell[name] = RevisionRuns(name, first, (*before.runs, *runs.values.tolist()))
    return values, dict(parts[0][0].quantities), notes


def _by_revision(side: Side, revision: str, date: str) -> Iterator[tuple[Side, str, str]]:
    """Yield the runs of each revision, with its name and its first date ("" without any)."""
    groups: dict[str, list[tuple[RunValues, str]]] = {}
    for run in side.runs:
        known = {**run.facts, **run.factors}
        if known.get(revision) is None:
            near = did_you_mean(revision, [*run.factors, *run.facts])
            raise RawperfError(
                f"the run has no {revision}",
                file=run.place,
                expected=f"a factor {revision!r}, or a fact below tools or machine in run.yaml; without "
                "run.yaml a table of revisions, or a folder of runs for each revision, named as in "
                "2026-01-31-1a2b3c4",
                remedy="; ".join(filter(None, ("name another one by --revision", near))),
            )
        when = str(known.get(date) or run.day)
        _require_date(when, f"{date!r} of a run", run.place)
        groups.setdefault(str(known[revision]), []).append((run, when))
    for name, found in groups.items():
        first = min((when for _, when in found), key=_timestamp)
        yield replace(side, runs=tuple(run for run, _ in found)), name, first


def _require_filled(column: pd.Series, path: Path) -> None:
    """Raise `RawperfError` for an empty cell: its row would have no revision, or no date."""
    empty = column.isna() | (column.astype(str).str.strip() == "")
    if not empty.any():
        return
    line, where = row_place(column.index[int(np.argmax(empty))], str(path))
    raise RawperfError(
        f"column {column.name!r} has an empty cell{where}",
        file=str(path),
        line=line,
        expected="a value in every row",
        found=f"{int(empty.sum())} of {len(column)} cells are empty",
        remedy="fill in the cells, or drop these rows",
    )


def _require_date(text: str, place: str, file: str, row: object = None) -> None:
    """Raise `RawperfError` for an invalid date; `row` is its row in a table."""
    try:
        _timestamp(text)
    except ValueError:
        line, where = (None, "") if row is None else row_place(row, file)
        raise RawperfError(
            f"invalid date in {place}{where}",
            file=file,
            line=line,
            expected="2026-01-31, or with a time and a zone 2026-01-31T12:00:00+01:00; or all in the form of "
            "git, or seconds since 1970",
            found=repr(text),
            remedy="write dates in ISO 8601; 01/02/2026 may be in January or in February",
        ) from None


def _timestamp(text: str) -> float:
    """Parse an ISO 8601 date to a Unix timestamp, in UTC if it has no zone; "" sorts first.

    Raises `ValueError` for an invalid date.
    """
    if not text:
        return -math.inf
    if not ISO_DATE.fullmatch(text.strip()):
        raise ValueError(text)
    at = datetime.fromisoformat(text.strip())
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def _iso_dates(texts: Sequence[str]) -> list[str]:
    """Dates of a column in ISO 8601, if all are of one of the other known forms; else as written."""
    short = [" ".join(text.split()) for text in texts]
    if all(map(SINCE_1970.fullmatch, short)):
        since = [float(text) / 10.0 ** max(len(text.split(".")[0]) - 10, 0) for text in short]
        return [datetime.fromtimestamp(t, UTC).isoformat(timespec="seconds") for t in since]
    for form in DATE_FORMATS:
        try:
            days = [datetime.strptime(text, form) for text in short]
        except ValueError:
            continue
        return [day.isoformat() if "%H" in form else day.date().isoformat() for day in days]
    return [*texts]


def _sorted_revisions(dates: Mapping[str, str], place: str) -> list[str]:
    """Sort revisions by date (stable sort: ties and undated ones in order of occurrence)."""
    undated = [name for name, date in dates.items() if not date]
    if 0 < len(undated) < len(dates):
        raise RawperfError(
            f"revision {undated[0]} has no date",
            file=place,
            expected="a date for every revision, or for none",
            found=f"{len(undated)} of {len(dates)} revisions have none",
            remedy="state its date in run.yaml, or name another fact by --date",
        )
    return sorted(dates, key=lambda name: _timestamp(dates[name]))
