"""Runs of one's own as samples of the conditions that a paper's claim compares."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from rawperf.core.errors import ParameterError, did_you_mean
from rawperf.core.units import conversion_factor, is_unit
from virtperf.comparison.ratio_rows import are_missing
from virtperf.comparison.sides import Side, varied_names
from virtperf.core.contrasts import Replicates
from virtperf.core.estimate import Estimate
from virtperf.runs.run_values import Condition, RunValues, join_names
from virtperf.runs.summarize.observations import OF_SINGLE_VALUES
from virtperf.runs.summarize.series import reduction
from virtperf.study.claim_kinds.base import Claim
from virtperf.study.parts import QuantityKind
from virtperf.study.quantities import Quantity
from virtperf.study.samples import StudySamples

MOST_NAMED = 12


def choose_quantity(sides: Sequence[Side], kinds: Collection[QuantityKind]) -> str:
    """The quantity of the runs that corresponds to the paper's `kinds`: the one of the same name, else
    the metric by which the paper's study observes it, else the only one that all sides have.

    Raises `ParameterError` if none of them is there.
    """
    common = set.intersection(*({*side.quantity_names} for side in sides))
    names = {kind.name for kind in kinds}
    metrics = {
        tuple(source.metric for source in kind.observed_by.sources) if kind.observed_by else ()
        for kind in kinds
    }
    wanted = [*(names if len(names) == 1 else ()), *(metrics.pop() if len(metrics) == 1 else ())]
    for name in wanted:
        if name in common:
            return name
    if len(common) == 1:
        return common.pop()
    known = sorted(common)[:MOST_NAMED]
    raise ParameterError(
        "which quantity of the runs corresponds to the paper's is not known",
        expected=f"one of {', '.join(known)}" if known else "one that all runs have",
        remedy="give it by --quantity NAME",
    )


def own_samples(
    claim: Claim,
    conditions: Sequence[tuple[Quantity, QuantityKind]],
    sides: Sequence[Side],
    name: str,
    level: float,
) -> tuple[StudySamples, tuple[str, ...]]:
    """The quantity `name` of the runs of each side, in the paper's unit unless the claim is the same
    in any, as samples of the conditions; with notes on how it was computed.

    If the paper's quantity is a statistic of single values, such as a percentile, it is computed from
    those of each run; those of a single run are then taken as independent samples, with an interval at
    `level`.

    Raises
    ------
    ParameterError
        A side lacks the quantity, a run has several values of it, its unit is not known, or a
        histogram stands in place of single values.
    """
    runs: dict[Quantity, Replicates] = {}
    independent: dict[Quantity, Estimate] = {}
    notes = []
    for (condition, kind), side in zip(conditions, sides, strict=True):
        found = [(run, _only_key(run, name)) for run in side.runs if name in run.quantities()]
        if not found:
            raise ParameterError(
                f"{side.name} has no {name}",
                expected=f"one of {', '.join(side.quantity_names[:MOST_NAMED])}",
                remedy=did_you_mean(name, side.quantity_names),
            )
        replicates = side.cells(frozenset())[name, ()]
        if _statistic(kind) in OF_SINGLE_VALUES:
            estimates = _of_single_values(kind, side, found, name, level)
            if estimates:
                replicates = replace(replicates, values=np.array([e.value for e in estimates]))
                notes.append(f"{kind.label}: computed from the single values of each run")
            else:
                notes.append(f"{kind.label}: the value that each run has, a mean if of several")
            factor = _factor(claim, kind, side, name, of_share=bool(estimates))
            if len(estimates) == 1:
                independent[condition] = estimates[0].scaled(factor)
                notes[-1] = f"{kind.label}: the rows of the file are taken as independent samples"
        else:
            factor = _factor(claim, kind, side, name)
        runs[condition] = replicates.scaled(factor)
    return StudySamples(runs, independent), tuple(dict.fromkeys(notes))


def _statistic(kind: QuantityKind) -> str:
    return kind.observed_by.statistic if kind.observed_by else ""


def failure_notes(side: Side) -> list[str]:
    """Sentences on the failures that the runs of a side report, by quantity."""
    notes = []
    for name, kind in side.quantities.items():
        failed = [run for run in side.runs if kind.is_failure and _has_any(run, name)]
        if failed:
            which = join_names([run.run_id for run in failed])
            notes.append(f"{which}: {name} above 0, which the number of these runs may include")
    return notes


def run_notes(sides: Sequence[Side], of: Sequence[Replicates], name: str) -> Iterator[str]:
    """Yield notes on runs that are no plain replicates: of several levels of a factor, without a value
    of the quantity `name`, or with a 0 that no completed run has.
    """
    for side, runs in zip(sides, of, strict=True):
        if factors := sorted(varied_names([side]) & side.factor_levels.keys()):
            yield f"{side.name}: runs with different {join_names(factors)} are taken as replicates"
        if runs.n < len(side.runs):
            yield f"{side.name}: {len(side.runs) - runs.n} of {len(side.runs)} runs have no {name}"
        if are_missing(runs.values, side.quantities[name]):
            yield (
                f"{side.name}: {int((runs.values == 0).sum())} of {runs.n} runs have {name} 0, which "
                "no completed run has: failed runs, or a number that was not measured"
            )


def _has_any(run: RunValues, name: str) -> bool:
    return any(quantity == name and value > 0 for (quantity, _), value in run.values.items())


def needs_single_values(kinds: Iterable[QuantityKind]) -> bool:
    """Whether one of the quantities is a statistic of single values."""
    return any(_statistic(kind) in OF_SINGLE_VALUES for kind in kinds)


def _only_key(run: RunValues, name: str) -> Condition:
    """The key of a run's only value of a quantity."""
    keys = [key for quantity, key in run.values if quantity == name]
    if len(keys) == 1:
        return keys[0]
    first, level = next((pair for key in keys for pair in key), ("NAME", "LEVEL"))
    words = ["; ".join(f"{n}={level}" for n, level in key) for key in keys[:MOST_NAMED]]
    raise ParameterError(
        f"{run.place or run.run_id} has {len(keys)} values of {name}",
        expected="one of each run",
        found=", ".join(words),
        remedy=f"choose one, such as --where {first}={level}",
    )


def _of_single_values(
    kind: QuantityKind,
    side: Side,
    found: Sequence[tuple[RunValues, Condition]],
    name: str,
    level: float,
) -> list[Estimate]:
    """The paper's statistic of each run's single values; empty if no run has several."""
    singles = [run.singles.get((name, key), np.empty(0)) for run, key in found]
    if any(isinstance(each, tuple) for each in singles):
        raise ParameterError(
            f"{side.name} has a histogram of {name}, of which no {kind.label} is computed",
            remedy="give single values: a table with a row for each",
        )
    values = [each for each in singles if isinstance(each, np.ndarray)]
    if max(map(len, values)) < 2 or min(map(len, values)) < 1:
        return []
    limit = np.nan
    if kind.observed_by is not None and kind.observed_by.limit is not None:
        stated = kind.observed_by.limit
        limit = stated.value * _convert(stated.unit, side.quantities[name].unit, side, name)
    reduce_by = reduction(kind.observed, independent=True, limit=limit)
    return [reduce_by(each, level) for each in values]


def _factor(
    claim: Claim, kind: QuantityKind, side: Side, name: str, *, of_share: bool = False
) -> float:
    """The factor to the paper's unit; 1 if the claim holds in any."""
    if of_share and _statistic(kind) == "above":
        return conversion_factor("1", kind.unit)
    if claim.unit_cancels:
        return 1.0
    return _convert(side.quantities[name].unit, kind.unit, side, name)


def _convert(unit: str, target: str, side: Side, name: str) -> float:
    unknown = next((u for u in (unit, target) if not is_unit(u)), None)
    if unknown == "" and is_unit(target):
        raise ParameterError(
            f"{side.name}: the unit of {name} is not known",
            expected=f"a unit that converts to {target}",
            remedy=f"name it in the column, such as {name}_{target}",
        )
    return conversion_factor(unit, target)
