"""`virtperf.history`: benchmark histories over the revisions of the tested software."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from statsmodels.stats.multitest import multipletests

from rawperf.core.errors import ParameterError, RawperfError, did_you_mean
from virtperf.comparison.changes import (
    ALPHA_NEWEST,
    MAX_REVISIONS,
    MIN_BEFORE,
    NEWEST,
    Changes,
    Step,
    changes,
)
from virtperf.comparison.compare import require_raw
from virtperf.comparison.sides import Side, quantities_to_compare, read_sides, varied_names
from virtperf.comparison.studies import measured_study
from virtperf.comparison.table import change
from virtperf.core.levels import Level
from virtperf.core.numbers import number
from virtperf.core.paths import Layout
from virtperf.core.shown import Shown, ShownTable
from virtperf.runs.ingest import own
from virtperf.runs.ingest.columns import number_columns, row_place
from virtperf.runs.run_values import ComparedQuantity, RunValues, key_text
from virtperf.study.definition import REPLICATE

TABLE_SUFFIXES = (".csv", ".tsv", ".parquet", ".json")
REVISION = "revision"
DATE = "date"
DATED = re.compile(r"(\d{4}-\d\d-\d\d(?:[T ]?[\d:.]+)?)[-_]+(.+)")
ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d.*)?|\d{8}(T\d.*)?")
COLUMNS = ("benchmark", "revisions", "autocorrelation", "changes", "newest", "p (Holm)", "verdict")
NO_CHANGE = "no change seen"
TOO_FEW = "too few revisions"


@dataclass(frozen=True)
class RevisionRuns:
    """Values of a benchmark's runs at one revision, in order of run names."""

    revision: str
    date: str
    runs: tuple[float, ...]

    @property
    def value(self) -> float:
        """Geometric mean over runs."""
        return float(np.exp(np.mean(np.log(self.runs))))


@dataclass(frozen=True)
class LevelShift:
    """A change of a benchmark's level: the ratio of revisions from `revision` on to those before."""

    revision: str
    date: str
    ratio: float
    low: float
    high: float
    verdict: str


@dataclass(frozen=True)
class BenchmarkHistory:
    """History of one benchmark over its revisions, oldest first.

    `changes` are its change points; `newest` is the most likely change among the last revisions,
    and `verdict` whether it is significant. `p_holm` is adjusted over the benchmarks.
    """

    benchmark: str
    unit: str
    better: str
    measured: tuple[RevisionRuns, ...]
    starts: tuple[int, ...]
    levels: tuple[float, ...]
    autocorrelation: float
    changes: tuple[LevelShift, ...]
    newest: LevelShift | None
    p: float | None
    p_holm: float | None
    verdict: str


@dataclass(frozen=True)
class HistoryTable:
    """Histories of all benchmarks of a place."""

    place: str
    rows: tuple[BenchmarkHistory, ...]
    notes: tuple[str, ...] = ()

    @property
    def verdicts(self) -> frozenset[str]:
        return frozenset(row.verdict for row in self.rows)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Verbal summary: changes at the newest revisions, and counts of the other benchmarks."""
        sentences = [_sentence(row) for row in self.rows if row.verdict not in (NO_CHANGE, TOO_FEW)]
        if quiet := sum(row.verdict == NO_CHANGE for row in self.rows):
            sentences.append(
                f"{quiet} of {len(self.rows)} benchmarks show no change at the newest revisions."
            )
        if few := sum(row.verdict == TOO_FEW for row in self.rows):
            sentences.append(
                f"{few} of {len(self.rows)} benchmarks have fewer than {MIN_BEFORE + NEWEST} revisions "
                "since the last change: their newest revisions are not tested."
            )
        return tuple(sentences)

    def shown(self) -> Shown:
        """Sentences, the table and notes, as every medium shows them."""
        cells = [
            (
                row.benchmark,
                str(len(row.measured)),
                f"{row.autocorrelation:.2f}",
                "; ".join(f"{m.revision}: {_change_text(m)}" for m in row.changes) or "none",
                _change_text(row.newest) if row.newest else "",
                "" if row.p_holm is None else number(row.p_holm, 2),
                row.verdict,
            )
            for row in self.rows
        ]
        right = frozenset({"revisions", "autocorrelation", "p (Holm)"})
        table = ShownTable(COLUMNS, cells, "Changes", right)
        title = f"History of {self.place}"
        return Shown(title, self.sentences, [table], self.notes, self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Convert to a JSON-compatible dictionary."""
        return {**asdict(self), "sentences": list(self.sentences)}

    def __str__(self) -> str:
        return self.shown().to_markdown()

    def _repr_markdown_(self) -> str:
        return str(self)


def history(
    place: str | Path,
    *,
    revision: str = REVISION,
    date: str = DATE,
    where: Mapping[str, Level] | None = None,
    quantities: Sequence[str] = (),
    higher: Sequence[str] = (),
    lower: Sequence[str] = (),
    format: str | None = None,  # noqa: A002 - users' word
    root: str | Path = ".",
) -> HistoryTable:
    """Analyze benchmarks over revisions: did the newest change, and where did the level shift?

    Parameters
    ----------
    place : str or Path
        A table with a column of revisions and a numeric column per benchmark; a folder with a
        folder of runs per revision, named by date and revision (``2026-01-31-1a2b3c4``); a study of
        the repository, or a folder of run folders with the revision in run.yaml.
    revision, date : str
        Column names, or names of factors or facts of run.yaml. Revisions are sorted by date, ties
        in order of occurrence. Dates are in ISO 8601, with or without a time and a zone (default
        UTC); all revisions have one, or none.
    where, quantities, higher, lower, format, root
        As in `compare`.

    Raises
    ------
    RawperfError
        There are no revisions, a value is not positive, a cell is no number, or a date is missing
        or not in ISO 8601.
    ParameterError
        A parameter does not apply to this place, or two contradict each other.
    """
    layout = Layout(Path(root))
    path = Path(place)
    notes: list[str] = []
    if path.is_file() and path.suffix in TABLE_SUFFIXES:
        if format is not None or where:
            raise ParameterError(
                "--input-format and --where do not apply to a table of revisions",
                file=str(place),
                remedy="leave them out",
            )
        values_by_revision, compared_quantities = _read_table(path, revision, date)
    else:
        values_by_revision, compared_quantities, notes = _read_runs(
            place, layout, format, where or {}, revision, date
        )
    selected = quantities_to_compare(compared_quantities, quantities, higher, lower)
    order = _sorted_revisions(values_by_revision, str(place))
    rows = []
    for (quantity, condition), by_revision in values_by_revision.items():
        if quantity not in selected:
            continue
        measured = tuple(by_revision[name] for name in order if name in by_revision)
        if len(measured) > MAX_REVISIONS:
            notes.append(f"{quantity}: only the last {MAX_REVISIONS} revisions are analyzed")
            measured = measured[-MAX_REVISIONS:]
        name = f"{quantity}, {condition}" if condition else quantity
        _require_positive(name, measured)
        rows.append(_analyze(name, selected[quantity], measured))
    if not rows or not any(len(row.measured) > 1 for row in rows):
        raise RawperfError(
            "there is no history",
            file=str(place),
            expected="at least two revisions",
            found=", ".join(order) or "none",
        )
    return HistoryTable(str(place), tuple(_adjust_holm(rows)), tuple(notes))


PLACES = (
    f"a table with one row per run ({', '.join(TABLE_SUFFIXES)}), a folder of runs for each revision, "
    "run folders, or a study"
)
RevisionValues = dict[tuple[str, str], dict[str, RevisionRuns]]
"""Values by benchmark and condition, then by revision."""


def _read_table(
    path: Path, revision: str, date: str
) -> tuple[RevisionValues, dict[str, ComparedQuantity]]:
    frame = own.read(path, texts=(revision,))
    if revision not in frame.columns:
        raise RawperfError(
            f"there is no column {revision!r}",
            file=str(path),
            expected=f"one of {', '.join(map(str, frame.columns))}",
            remedy="name the column of revisions by --revision",
        )
    named = [name for name in (revision, date, REPLICATE) if name in frame.columns]
    for name in named:
        if name != REPLICATE:
            _require_filled(frame[name], path)
    numbers = number_columns(frame.drop(columns=named), str(path))
    if date in frame.columns:
        for row, text in frame[date].astype(str).items():
            _require_date(text, f"column {date!r}", str(path), row)
    series: RevisionValues = {}
    for at, rows in frame.groupby(revision, sort=False):
        dates = rows[date].astype(str) if date in frame.columns else [""]
        when = min(dates, key=_timestamp)
        for benchmark, column in numbers.items():
            values = tuple(column[rows.index].dropna().tolist())
            if values:
                of = series.setdefault((benchmark, ""), {})
                of[str(at)] = RevisionRuns(str(at), when, values)
    return series, {name: ComparedQuantity() for name in numbers}


def _read_runs(
    place: str | Path,
    layout: Layout,
    format_name: str | None,
    where: Mapping[str, Level],
    revision: str,
    date: str,
) -> tuple[RevisionValues, dict[str, ComparedQuantity], list[str]]:
    folder = Path(place)
    if not folder.exists() and str(place) in layout.studies():
        require_raw(format_name, [True])
        sides = [measured_study(layout, str(place), 0.95).all_runs(str(place), where)]
    elif folder.is_dir() and (
        dated := [p for p in sorted(folder.iterdir()) if DATED.match(p.name)]
    ):
        return _read_dated_folders(dated, layout, format_name, where)
    elif not folder.exists() and not any(c in str(place) for c in "*?[:"):
        raise RawperfError("there is no such file or folder", file=str(place), expected=PLACES)
    else:
        sides = read_sides((place,), layout, format_name, where)
    side = sides[0]
    values: RevisionValues = {}
    varied = varied_names([side]) - {revision, date}
    by_revision: dict[str, list[RunValues]] = {}
    for run in side.runs:
        name = _factor_or_fact(run, revision)
        if name is None:
            raise RawperfError(
                f"the run has no {revision}",
                file=run.place,
                expected=f"a factor {revision!r}, or a fact below tools or machine in run.yaml",
                remedy="name another one by --revision"
                + (
                    f"; {near}"
                    if (near := did_you_mean(revision, [*run.factors, *run.facts]))
                    else ""
                ),
            )
        by_revision.setdefault(name, []).append(run)
    for name, runs in by_revision.items():
        when = min((_revision_date(run, date) for run in runs), key=_timestamp)
        _add_revision(values, replace(side, runs=tuple(runs)), varied - {revision}, name, when)
    return values, dict(side.quantities), list(side.warnings)


def _read_dated_folders(
    folders: Sequence[Path],
    layout: Layout,
    format_name: str | None,
    where: Mapping[str, Level],
) -> tuple[RevisionValues, dict[str, ComparedQuantity], list[str]]:
    values: RevisionValues = {}
    named = [(of[1], of[2]) for folder in folders if (of := DATED.match(folder.name))]
    for folder, (day, _) in zip(folders, named, strict=True):
        _require_date(day, "the folder's name", str(folder))
    sides = read_sides(folders, layout, format_name, where)
    varied = varied_names(sides)
    for side, (day, revision) in zip(sides, named, strict=True):
        _add_revision(values, side, varied, revision, day)
    notes = [f"{side.name}: {note}" for side in sides for note in side.warnings]
    return values, dict(sides[0].quantities), notes


def _add_revision(
    values: RevisionValues, side: Side, varied: frozenset[str], revision: str, date: str
) -> None:
    """Add the runs of a revision, to those of other days if there are any."""
    for (quantity, condition), runs in side.cells(varied).items():
        of = values.setdefault((quantity, key_text(condition)), {})
        before = of.get(revision, RevisionRuns(revision, date, ()))
        first = min(before.date, date, key=_timestamp)
        of[revision] = RevisionRuns(revision, first, (*before.runs, *runs.values.tolist()))


def _factor_or_fact(run: RunValues, name: str) -> str | None:
    value = run.factors.get(name, run.facts.get(name))
    return None if value is None else str(value)


def _revision_date(run: RunValues, name: str) -> str:
    """Date of a run's revision, else that of the run; "" where neither is known."""
    text = _factor_or_fact(run, name) or run.day
    _require_date(text, f"{name!r} of a run", run.place)
    return text


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
            expected="2026-01-31, or with a time and a zone 2026-01-31T12:00:00+01:00",
            found=repr(text),
            remedy="write dates in ISO 8601",
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


def _sorted_revisions(values: RevisionValues, place: str) -> list[str]:
    """Sort revisions by date (stable sort: ties and undated ones in order of occurrence)."""
    dates = {each.revision: each.date for of in values.values() for each in of.values()}
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


def _require_positive(benchmark: str, measured: Sequence[RevisionRuns]) -> None:
    for each in measured:
        if min(each.runs) <= 0:
            raise RawperfError(
                f"{benchmark} is not positive at revision {each.revision}",
                expected="values above 0, since changes are ratios",
                found=str(min(each.runs)),
                remedy="leave it out by --quantity, or drop runs in which nothing was measured",
            )


def _analyze(
    name: str, kind: ComparedQuantity, measured: tuple[RevisionRuns, ...]
) -> BenchmarkHistory:
    result: Changes | None = None
    if len(measured) > NEWEST + 1:
        result = changes([each.value for each in measured], better=kind.better)

    def level_shift(step: Step) -> LevelShift:
        at = measured[step.at]
        verdict = _direction(step.ratio, kind.better)
        return LevelShift(at.revision, at.date, step.ratio, step.low, step.high, verdict)

    return BenchmarkHistory(
        name,
        kind.unit,
        kind.better,
        measured,
        result.starts if result else (),
        result.levels if result else (),
        result.autocorrelation if result else 0.0,
        tuple(level_shift(step) for step in result.steps) if result else (),
        level_shift(result.newest) if result and result.newest else None,
        result.p if result else None,
        None,
        TOO_FEW,
    )


def _adjust_holm(rows: Sequence[BenchmarkHistory]) -> Iterator[BenchmarkHistory]:
    tested = [row.p for row in rows if row.p is not None]
    adjusted = iter(multipletests(tested, ALPHA_NEWEST, method="holm")[1] if tested else ())
    for row in rows:
        if row.p is None or row.newest is None:
            yield row
            continue
        p = float(next(adjusted))
        yield replace(row, p_holm=p, verdict=row.newest.verdict if p <= ALPHA_NEWEST else NO_CHANGE)


def _direction(ratio: float, better: str) -> str:
    if not better:
        return "higher" if ratio > 1 else "lower"
    return "faster" if (ratio > 1) == (better == "higher") else "slower"


def _change_text(level_shift: LevelShift) -> str:
    by, low, high = change(level_shift.ratio, level_shift.low, level_shift.high)
    return f"{by} % ({low} to {high})"


def _sentence(row: BenchmarkHistory) -> str:
    """Summarize a history: ``xentop is 6 % higher since 1a2b3c4, 4 to 8 %: slower.``"""
    assert row.newest is not None  # it has a verdict
    by, low, high = change(row.newest.ratio, row.newest.low, row.newest.high)
    word = "higher" if row.newest.ratio > 1 else "lower"
    if (row.newest.low > 1) == (row.newest.high > 1):
        low, high = low.lstrip("+-"), high.lstrip("+-")
        if row.newest.ratio < 1:
            low, high = high, low
    verdict = f": {row.verdict}" if row.better else ""
    since = f"{row.newest.revision} ({row.newest.date})" if row.newest.date else row.newest.revision
    return (
        f"{row.benchmark} is {by.lstrip('+-')} % {word} since {since}, {low} to {high} %{verdict}."
    )
