"""`virtperf.history`: benchmark histories over the revisions of the tested software."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rawperf.core.errors import RawperfError
from rawperf.core.files import json_text, write_atomically
from virtperf.comparison.changes import (
    MAX_REVISIONS,
    MIN_REVISIONS,
    changes,
    false_alarm_rates,
)
from virtperf.comparison.ratio_rows import missing_values
from virtperf.comparison.revisions import DATE, RevisionRuns, read_revisions
from virtperf.comparison.row import Row, Rows, change_texts, direction, size_texts
from virtperf.core.estimate import Estimate
from virtperf.core.grouping import grouped
from virtperf.core.levels import Level
from virtperf.core.numbers import join_names
from virtperf.core.paths import Layout
from virtperf.core.shown import Grid, Shown
from virtperf.runs.run_values import (
    ComparedQuantity,
)

COLUMNS = ("benchmark", "revisions", "changes", "noisy", "newest", "autocorrelation", "verdict")
NO_CHANGE = "no change seen"
NOT_TESTED = "not tested"
DRIFTS = "drifts"
EXACT = 1e-6
"""Half width, as a share of the values, of an interval that is nothing but rounding."""


@dataclass(frozen=True)
class NoisyRevision:
    """A single revision apart from those before and after it."""

    revision: str
    date: str
    change: Estimate


@dataclass(frozen=True)
class LevelShift(NoisyRevision):
    """A change of level, most likely at `revision`, at one of `revisions` in at least 95 % of cases.

    `present` is the change from the level before to the present one: the change `holds` if both
    have the same direction.
    """

    revisions: tuple[str, ...]
    present: Estimate
    holds: bool
    accepted: bool
    verdict: str


@dataclass(frozen=True)
class BenchmarkHistory(Row):
    """History of one benchmark over its revisions, oldest first.

    Changes are in %; where values are not all positive, in their unit. `estimate` compares the newest
    revision with the level before it; `drift` is a gradual change from the oldest to the newest.
    `note` tells why a history is not tested. `verdict` is that of the changes that hold and are not
    accepted.
    """

    measured: tuple[RevisionRuns, ...] = ()
    tested: bool = False
    changes: tuple[LevelShift, ...] = ()
    noisy: tuple[NoisyRevision, ...] = ()
    drift: Estimate | None = None
    autocorrelation: float | None = None
    starts: tuple[int, ...] = ()
    levels: tuple[float, ...] = ()

    own_names = {"note": "reason", "estimate": "newest"}

    @property
    def open_changes(self) -> tuple[LevelShift, ...]:
        """Changes that hold and are not accepted."""
        return tuple(each for each in self.changes if each.holds and not each.accepted)

    @property
    def is_positive(self) -> bool:
        """Whether all values are positive, so that they are compared by ratios."""
        return all(min(each.runs) > 0 for each in self.measured)

    @property
    def change_unit(self) -> str:
        """Unit of the changes with a blank before it."""
        if self.is_positive:
            return " %"
        return f" {self.unit}" if self.unit not in ("", "1") else ""

    def to_dict(self) -> dict[str, Any]:
        return {"benchmark": self.name, **super().to_dict()}


@dataclass(frozen=True)
class HistoryTable(Rows):
    """Histories of all benchmarks of a place."""

    place: str
    rows: tuple[BenchmarkHistory, ...]
    notes: tuple[str, ...] = ()

    @property
    def verdicts(self) -> frozenset[str]:
        """All verdicts: a benchmark may have got both slower and faster."""
        return super().verdicts.union(*({c.verdict for c in r.open_changes} for r in self.rows))

    @property
    def sentences(self) -> tuple[str, ...]:
        """Verbal summary: changes that hold, noisy revisions, and what else was tested or not."""
        sentences = [_sentence(row, shift) for row in self.rows for shift in row.open_changes]
        sentences += [
            f"{row.name} is {size} than at the oldest revision, gradually, {limits}: no revision "
            "can be named."
            for row in self.rows
            if row.drift is not None
            for size, limits in [_words(row.drift, row)]
        ]
        sentences += [_noisy_sentence(row) for row in self.rows if row.noisy]
        if accepted := sum(c.holds and c.accepted for row in self.rows for c in row.changes):
            sentences.append(f"Changes that hold and are accepted: {accepted}.")
        if quiet := sum(row.verdict == NO_CHANGE for row in self.rows):
            sentences.append(f"{quiet} of {len(self.rows)} benchmarks show no change.")
        not_tested = grouped((row.note, row.name) for row in self.rows if not row.tested)
        sentences += [
            f"Not tested, {why}: {', '.join(names)}." for why, names in not_tested.items()
        ]
        return tuple(sentences)

    def shown(self) -> Shown:
        """Sentences, the table and notes, as every medium shows them."""
        cells = tuple(
            (
                row.name,
                str(len(row.measured)),
                "; ".join(f"{_named(each)}: {_cell(each.change, row)}" for each in row.changes)
                or ("none" if row.tested else ""),
                "; ".join(f"{each.revision}: {_cell(each.change, row)}" for each in row.noisy),
                "" if row.estimate is None else _cell(row.estimate, row),
                "" if row.autocorrelation is None else f"{row.autocorrelation:.2f}",
                row.verdict,
            )
            for row in self.rows
        )
        table = Grid(label="Changes", columns=COLUMNS, rows=cells, numeric=(1, 5))
        title = f"History of {self.place}"
        return Shown(title, self.sentences, [table], self.notes, self.to_dict())


def history(
    place: str | Path,
    *,
    revision: str | None = None,
    date: str = DATE,
    by_date: bool = False,
    accepted: str | Path | None = None,
    accept: str | None = None,
    where: Mapping[str, Level] | None = None,
    quantities: Sequence[str] = (),
    higher: Sequence[str] = (),
    lower: Sequence[str] = (),
    format: str | None = None,  # noqa: A002 - users' word
    root: str | Path = ".",
) -> HistoryTable:
    """Analyze benchmarks over revisions: which changes hold, and since which revision?

    Parameters
    ----------
    place : str or Path
        A table with a column of revisions and a numeric column per benchmark; further text columns
        and settings, such as a load, tell benchmarks apart. Or a folder with a folder of runs per
        revision, named by date and revision (``2026-01-31-1a2b3c4``); a study of the repository, or a
        folder of run folders with the revision in run.yaml.
    revision : str, optional
        Name of the column, or of the factor or fact of run.yaml; "revision" by default. A table
        without it gets its text column with the most different cells.
    date : str
        Name of the column, factor or fact. Dates are in ISO 8601, with or without a time and a zone
        (default UTC).
    by_date : bool
        Sort a table's revisions by date; by default they are in the order of its rows. Other places
        are always sorted by date.
    accepted : str or Path, optional
        File of accepted changes, by default `accepted_file` of the place.
    accept : str, optional
        Accept the changes up to this revision and write them to that file.
    where, quantities, higher, lower, format, root
        As in `compare`.

    Raises
    ------
    RawperfError
        There are no revisions, a cell is no number, a date is missing or not in ISO 8601, or there
        is no change to accept.
    ParameterError
        A parameter does not apply to this place, or two contradict each other.
    """
    from virtperf.comparison.sides import quantities_to_compare

    layout = Layout(Path(root))
    values_by_revision, compared_quantities, order, notes = read_revisions(
        place, layout, format, where or {}, revision, date, by_date
    )
    selected = quantities_to_compare(compared_quantities, quantities, higher, lower)
    histories = []
    lacking: list[tuple[tuple[str, ...], str]] = []
    for (quantity, condition), by_revision in values_by_revision.items():
        if quantity not in selected:
            continue
        kind = selected[quantity]
        measured = tuple(by_revision[name] for name in order if name in by_revision)
        if kind.is_failure and not any(any(each.runs) for each in measured):
            continue
        row = BenchmarkHistory(
            quantity,
            condition,
            kind.unit,
            kind.better,
            NOT_TESTED,
            is_failure=kind.is_failure,
            measured=measured[-MAX_REVISIONS:],
        )
        histories.append(row)
        if len(measured) > MAX_REVISIONS:
            notes.append(f"{row.name}: only the last {MAX_REVISIONS} revisions are analyzed")
        lacking.append((tuple(name for name in order if name not in by_revision), row.name))
        notes += _zero_notes(row, kind)
    notes += [
        f"{join_names(names)}: {len(missing)} of {len(order)} revisions have no value: {join_names(missing)}"
        for missing, names in grouped(lacking).items()
        if missing
    ]
    if not any(len(row.measured) > 1 for row in histories):
        raise RawperfError(
            "there is no history",
            file=str(place),
            expected="at least two revisions",
            found=", ".join(order) or "none",
        )
    file = Path(accepted) if accepted is not None else accepted_file(place, layout)
    known = _read_accepted(file)
    tested = sum(len(row.measured) >= MIN_REVISIONS for row in histories)

    def analyzed() -> tuple[BenchmarkHistory, ...]:
        return tuple(_analyze(row, tested, known.get(row.name, "")) for row in histories)

    rows = analyzed()
    if accept is not None:
        known |= _accept(rows, accept, str(place))
        write_atomically(file, json_text(known))
        rows = analyzed()
        notes.append(f"accepted changes are in {file}")
    if tested:
        notes.append(_rates_note())
    return HistoryTable(str(place), rows, tuple(notes))


def _zero_notes(row: BenchmarkHistory, kind: ComparedQuantity) -> Iterator[str]:
    """Yield a note on values that no completed run has."""
    values = np.array([value for each in row.measured for value in each.runs])
    missing = {*values[missing_values(values, kind)].tolist()}
    if missing:
        zero = [each.revision for each in row.measured if missing & {*each.runs}]
        value = "0" if missing == {0.0} else "0 or less"
        yield (
            f"{row.name} is {value} at {join_names(zero)}, which no completed run has: failed runs, or a number "
            "that was not measured; leave these runs out"
        )


def accepted_file(place: str | Path, layout: Layout) -> Path:
    """Default file of the accepted changes of a place: beside it, or in the repository's root."""
    path = Path(place)
    name = f"{path.stem if path.is_file() else path.name}.accepted.json"
    return (path.parent if path.exists() else layout.root) / re.sub(r"[*?\[\]:]", "-", name)


def _read_accepted(path: Path) -> dict[str, str]:
    """Read the accepted changes: the revision up to which those of each benchmark are accepted."""
    if not path.exists():
        return {}
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as err:
        raise RawperfError(
            f"not JSON: {err}", file=str(path), expected="what --accept writes"
        ) from None
    if not isinstance(known, dict) or not all(isinstance(of, str) for of in known.values()):
        raise RawperfError(
            "not a file of accepted changes",
            file=str(path),
            expected='a revision for each benchmark: {"seconds": "r14"}',
        )
    return known


def _accept(rows: Sequence[BenchmarkHistory], revision: str, place: str) -> dict[str, str]:
    """Accept the changes up to `revision` of every benchmark that has one."""
    found = {}
    for row in rows:
        names = [each.revision for each in row.measured]
        if revision in names and any(
            names.index(each.revisions[0]) <= names.index(revision) for each in row.open_changes
        ):
            found[row.name] = revision
    if not found:
        changed = {each.revision: None for row in rows for each in row.open_changes}
        raise RawperfError(
            f"there is no change up to revision {revision!r} to accept",
            file=place,
            expected=f"one of {', '.join(changed)}, or a later one" if changed else "a change",
        )
    return found


def _analyze(row: BenchmarkHistory, benchmarks: int, accepted: str) -> BenchmarkHistory:
    measured, positive = row.measured, row.is_positive
    if len(measured) < MIN_REVISIONS:
        return replace(row, note=f"too few revisions (fewer than {MIN_REVISIONS})")
    means = [float(np.mean(np.log(each.runs) if positive else each.runs)) for each in measured]
    # noise below a share of the values is rounding, and logarithms are shares already
    size = 1.0 if positive else max(map(abs, means)) or 1.0
    found = changes([mean / size for mean in means], benchmarks=benchmarks)
    if found.wanders:
        reason = "the values wander: there are no levels to compare"
        return replace(row, note=reason, autocorrelation=found.autocorrelation)

    def change(shift: Estimate) -> Estimate:
        shift = _without_rounding(shift)
        if not positive:
            return shift.scaled(size)
        return shift.map(lambda log: 100 * math.expm1(min(log, 700.0)))

    revisions = [each.revision for each in measured]
    until = revisions.index(accepted) if accepted in revisions else -1
    shifts = tuple(
        LevelShift(
            revision=revisions[step.at],
            date=measured[step.at].date,
            revisions=tuple(revisions[step.first : step.last + 1]),
            change=change(step.shift),
            present=change(step.since),
            holds=step.holds,
            accepted=step.first <= until,
            verdict=direction(is_up=step.shift.value > 0, better=row.better),
        )
        for step in found.steps
    )
    row = replace(
        row,
        tested=True,
        changes=shifts,
        noisy=tuple(
            NoisyRevision(revisions[at], measured[at].date, change(shift))
            for at, shift in found.noisy
        ),
        estimate=found.newest and change(found.newest),
        drift=found.drift and change(found.drift),
        autocorrelation=found.autocorrelation if len(set(means)) > len(found.levels) else None,
        starts=tuple(step.at for step in found.steps),
        levels=tuple(math.exp(level) if positive else size * level for level in found.levels),
    )
    directions = [each.verdict for each in row.open_changes]
    quiet = NO_CHANGE if row.drift is None else DRIFTS
    verdict = "slower" if "slower" in directions else (directions or [quiet])[-1]
    return replace(row, verdict=verdict)


def _without_rounding(shift: Estimate) -> Estimate:
    """A shift of values without noise, whose interval is that of rounding only, without it."""
    if not (shift.high - shift.low) / 2 < EXACT:
        return shift
    value = round(shift.value, 9)
    return replace(shift, value=value, low=value, high=value)


def _cell(change: Estimate, row: BenchmarkHistory) -> str:
    """``+7 % (+6 to +8)``."""
    by, limits = change_texts(change, row.change_unit)
    return f"{by} ({limits})" if change.low < change.high else by


def _words(change: Estimate, row: BenchmarkHistory) -> tuple[str, str]:
    """``7 % higher`` and ``6 to 8 %``."""
    size, limits = size_texts(change, row.change_unit)
    limits = limits if change.low < change.high else "in every run"
    return f"{size} {'higher' if change.value > 0 else 'lower'}", limits


def _named(shift: LevelShift) -> str:
    """Name the revisions of a change: ``c039``, or ``c037 to c039``."""
    first, last = shift.revisions[0], shift.revisions[-1]
    return first if first == last else f"{first} to {last}"


def _sentence(row: BenchmarkHistory, shift: LevelShift) -> str:
    """Summarize a change that holds: ``xentop is 6 % higher since 1a2b3c4, 4 to 8 %: slower.``"""
    since = f"{shift.revision} ({shift.date})" if shift.date else shift.revision
    if len(shift.revisions) > 1:
        since = f"one of {_named(shift)} (most likely {since})"
    size, limits = _words(shift.present, row)
    verdict = f": {shift.verdict}" if row.better else ""
    so_far = "; it is the newest revision" if shift.revision == row.measured[-1].revision else ""
    return f"{row.name} is {size} since {since}, {limits}{verdict}{so_far}."


def _noisy_sentence(row: BenchmarkHistory) -> str:
    last = row.noisy[-1]
    size, _ = _words(last.change, row)
    others = f"; so are {len(row.noisy) - 1} earlier ones" if len(row.noisy) > 1 else ""
    return f"{row.name}: {last.revision} alone is {size}, one noisy revision{others}."


def _rates_note() -> str:
    alarms, found = false_alarm_rates()
    return (
        f"measured with simulated histories: with an autocorrelation of 0.3, {alarms:.1f} % of "
        "those of 40 revisions without a change have an alarm within three further revisions, and a "
        f"fall of 5 % at 2 % noise is found within three revisions in {found:.0f} %"
    )
