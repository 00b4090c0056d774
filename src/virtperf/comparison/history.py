"""`virtperf.history`: benchmark histories over the revisions of the tested software."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
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
from virtperf.comparison.revisions import DATE, RevisionRuns, read_revisions
from virtperf.core.estimate import Estimate
from virtperf.core.levels import Level
from virtperf.core.numbers import signed, unsigned
from virtperf.core.paths import Layout
from virtperf.core.shown import Grid, Showable, Shown
from virtperf.runs.run_values import ComparedQuantity

COLUMNS = ("benchmark", "revisions", "changes", "noisy", "newest", "autocorrelation", "verdict")
NO_CHANGE = "no change seen"
NOT_TESTED = "not tested"
DRIFTS = "drifts"
VERDICTS = ("slower", "faster", "lower", "higher", DRIFTS, NOT_TESTED)
"""Verdicts other than `NO_CHANGE`."""


@dataclass(frozen=True)
class LevelShift:
    """A change of level, most likely at `revision`, at one of `revisions` in at least 95 % of cases.

    `present` is the change from the level before to the present one: the change `holds` if both
    have the same direction.
    """

    revision: str
    date: str
    revisions: tuple[str, ...]
    change: Estimate
    present: Estimate
    holds: bool
    accepted: bool
    verdict: str


@dataclass(frozen=True)
class NoisyRevision:
    """A single revision apart from those before and after it."""

    revision: str
    date: str
    change: Estimate


@dataclass(frozen=True)
class BenchmarkHistory:
    """History of one benchmark over its revisions, oldest first.

    Changes are in %; where values are not all positive, in their unit. `newest` compares the newest
    revision with the level before it; `drift` is a gradual change from the oldest to the newest.
    `reason` tells why a history is not tested. `verdict` is that of the changes that hold and are not
    accepted.
    """

    benchmark: str
    unit: str
    better: str
    measured: tuple[RevisionRuns, ...]
    tested: bool
    reason: str
    verdict: str
    changes: tuple[LevelShift, ...] = ()
    noisy: tuple[NoisyRevision, ...] = ()
    newest: Estimate | None = None
    drift: Estimate | None = None
    autocorrelation: float | None = None
    starts: tuple[int, ...] = ()
    levels: tuple[float, ...] = ()

    @property
    def open_changes(self) -> tuple[LevelShift, ...]:
        """Changes that hold and are not accepted."""
        return tuple(each for each in self.changes if each.holds and not each.accepted)


@dataclass(frozen=True)
class HistoryTable(Showable):
    """Histories of all benchmarks of a place."""

    place: str
    rows: tuple[BenchmarkHistory, ...]
    notes: tuple[str, ...] = ()

    @property
    def verdicts(self) -> frozenset[str]:
        """All verdicts: a benchmark may have got both slower and faster."""
        found = {row.verdict for row in self.rows}
        return frozenset(found.union(*({c.verdict for c in r.open_changes} for r in self.rows)))

    @property
    def sentences(self) -> tuple[str, ...]:
        """Verbal summary: changes that hold, noisy revisions, and what else was tested or not."""
        sentences = [_sentence(row, shift) for row in self.rows for shift in row.open_changes]
        sentences += [
            f"{row.benchmark} is {size} than at the oldest revision, gradually, {limits}: no revision "
            "can be named."
            for row in self.rows
            if row.drift is not None
            for size, limits in [_words(row.drift, _unit(row))]
        ]
        sentences += [_noisy_sentence(row) for row in self.rows if row.noisy]
        if accepted := sum(c.holds and c.accepted for row in self.rows for c in row.changes):
            sentences.append(f"Changes that hold and are accepted: {accepted}.")
        if quiet := sum(row.verdict == NO_CHANGE for row in self.rows):
            sentences.append(f"{quiet} of {len(self.rows)} benchmarks show no change.")
        for reason in dict.fromkeys(row.reason for row in self.rows if not row.tested):
            names = [row.benchmark for row in self.rows if row.reason == reason]
            sentences.append(f"Not tested, {reason}: {', '.join(names)}.")
        return tuple(sentences)

    def shown(self) -> Shown:
        """Sentences, the table and notes, as every medium shows them."""
        cells = tuple(
            (
                row.benchmark,
                str(len(row.measured)),
                "; ".join(f"{_named(each)}: {_cell(each.change, row)}" for each in row.changes)
                or ("none" if row.tested else ""),
                "; ".join(f"{each.revision}: {_cell(each.change, row)}" for each in row.noisy),
                "" if row.newest is None else _cell(row.newest, row),
                "" if row.autocorrelation is None else f"{row.autocorrelation:.2f}",
                row.verdict,
            )
            for row in self.rows
        )
        table = Grid(label="Changes", columns=COLUMNS, rows=cells, numeric=(1, 5))
        title = f"History of {self.place}"
        return Shown(title, self.sentences, [table], self.notes, self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Convert to a JSON-compatible dictionary."""
        return {**asdict(self), "sentences": list(self.sentences)}


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
    chosen = {}
    for (quantity, condition), by_revision in values_by_revision.items():
        if quantity not in selected:
            continue
        measured = tuple(by_revision[name] for name in order if name in by_revision)
        if selected[quantity].is_failure and not any(any(each.runs) for each in measured):
            continue
        name = f"{quantity}, {condition}" if condition else quantity
        if len(measured) > MAX_REVISIONS:
            notes.append(f"{name}: only the last {MAX_REVISIONS} revisions are analyzed")
        chosen[name] = (selected[quantity], measured[-MAX_REVISIONS:])
    if not any(len(measured) > 1 for _, measured in chosen.values()):
        raise RawperfError(
            "there is no history",
            file=str(place),
            expected="at least two revisions",
            found=", ".join(order) or "none",
        )
    file = Path(accepted) if accepted is not None else accepted_file(place, layout)
    known = _read_accepted(file)
    tested = sum(len(measured) >= MIN_REVISIONS for _, measured in chosen.values())

    def analyzed() -> tuple[BenchmarkHistory, ...]:
        return tuple(
            _analyze(name, kind, measured, tested, known.get(name, ""))
            for name, (kind, measured) in chosen.items()
        )

    rows = analyzed()
    if accept is not None:
        known |= _accept(rows, accept, str(place))
        write_atomically(file, json_text(known))
        rows = analyzed()
        notes.append(f"accepted changes are in {file}")
    if tested:
        notes.append(_rates_note())
    return HistoryTable(str(place), rows, tuple(notes))


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
            found[row.benchmark] = revision
    if not found:
        changed = {each.revision: None for row in rows for each in row.open_changes}
        raise RawperfError(
            f"there is no change up to revision {revision!r} to accept",
            file=place,
            expected=f"one of {', '.join(changed)}, or a later one" if changed else "a change",
        )
    return found


def _analyze(
    name: str,
    kind: ComparedQuantity,
    measured: tuple[RevisionRuns, ...],
    benchmarks: int,
    accepted: str,
) -> BenchmarkHistory:
    row = BenchmarkHistory(name, kind.unit, kind.better, measured, False, "", NOT_TESTED)
    if len(measured) < MIN_REVISIONS:
        return replace(row, reason=f"too few revisions (fewer than {MIN_REVISIONS})")
    positive = min(min(each.runs) for each in measured) > 0
    means = [float(np.mean(np.log(each.runs) if positive else each.runs)) for each in measured]
    found = changes(means, benchmarks=benchmarks)
    if found.wanders:
        reason = "the values wander: there are no levels to compare"
        return replace(row, reason=reason, autocorrelation=found.autocorrelation)
    revisions = [each.revision for each in measured]
    until = revisions.index(accepted) if accepted in revisions else -1
    shifts = tuple(
        LevelShift(
            revision=revisions[step.at],
            date=measured[step.at].date,
            revisions=tuple(revisions[step.first : step.last + 1]),
            change=_change(step.shift, positive),
            present=_change(step.since, positive),
            holds=step.holds,
            accepted=step.first <= until,
            verdict=_direction(step.shift.value > 0, kind.better),
        )
        for step in found.steps
    )
    row = replace(
        row,
        tested=True,
        changes=shifts,
        noisy=tuple(
            NoisyRevision(revisions[at], measured[at].date, _change(shift, positive))
            for at, shift in found.noisy
        ),
        newest=found.newest and _change(found.newest, positive),
        drift=found.drift and _change(found.drift, positive),
        autocorrelation=found.autocorrelation,
        starts=tuple(step.at for step in found.steps),
        levels=tuple(math.exp(level) if positive else level for level in found.levels),
    )
    directions = [each.verdict for each in row.open_changes]
    quiet = NO_CHANGE if row.drift is None else DRIFTS
    verdict = "slower" if "slower" in directions else (directions or [quiet])[-1]
    return replace(row, verdict=verdict)


def _change(shift: Estimate, positive: bool) -> Estimate:
    """Convert a shift of logarithms to %."""
    return shift.map(lambda log: 100 * math.expm1(min(log, 700.0))) if positive else shift


def _direction(is_up: bool, better: str) -> str:
    if not better:
        return "higher" if is_up else "lower"
    return "faster" if is_up == (better == "higher") else "slower"


def _cell(change: Estimate, row: BenchmarkHistory) -> str:
    """``+7 % (+6 to +8)``."""
    by, low, high = signed(change.value, change.low, change.high)
    return f"{by}{_unit(row)} ({low} to {high})"


def _words(change: Estimate, unit: str) -> tuple[str, str]:
    """``7 % higher`` and ``6 to 8 %``."""
    size, limits = unsigned(change.value, change.low, change.high)
    return f"{size}{unit} {'higher' if change.value > 0 else 'lower'}", f"{limits}{unit}"


def _unit(row: BenchmarkHistory) -> str:
    """Unit of a row's changes, with a blank before it."""
    if all(min(each.runs) > 0 for each in row.measured):
        return " %"
    return f" {row.unit}" if row.unit not in ("", "1") else ""


def _named(shift: LevelShift) -> str:
    """Name the revisions of a change: ``c039``, or ``c037 to c039``."""
    first, last = shift.revisions[0], shift.revisions[-1]
    return first if first == last else f"{first} to {last}"


def _sentence(row: BenchmarkHistory, shift: LevelShift) -> str:
    """Summarize a change that holds: ``xentop is 6 % higher since 1a2b3c4, 4 to 8 %: slower.``"""
    since = f"{shift.revision} ({shift.date})" if shift.date else shift.revision
    if len(shift.revisions) > 1:
        since = f"one of {_named(shift)} (most likely {since})"
    size, limits = _words(shift.present, _unit(row))
    verdict = f": {shift.verdict}" if row.better else ""
    so_far = "; it is the newest revision" if shift.revision == row.measured[-1].revision else ""
    return f"{row.benchmark} is {size} since {since}, {limits}{verdict}{so_far}."


def _noisy_sentence(row: BenchmarkHistory) -> str:
    last = row.noisy[-1]
    size, _ = _words(last.change, _unit(row))
    others = f"; so are {len(row.noisy) - 1} earlier ones" if len(row.noisy) > 1 else ""
    return f"{row.benchmark}: {last.revision} alone is {size}, one noisy revision{others}."


def _rates_note() -> str:
    alarms, found = false_alarm_rates()
    return (
        f"measured with simulated histories: with an autocorrelation of 0.3, {alarms:.1f} % of "
        "those of 40 revisions without a change have an alarm within three further revisions, and a "
        f"fall of 5 % at 2 % noise is found within three revisions in {found:.0f} %"
    )
