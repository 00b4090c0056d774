"""Runs of one's own as samples of the conditions that a paper's claim compares."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from rawperf.core.errors import ParameterError, did_you_mean
from rawperf.core.metrics import MetricDictionary
from rawperf.core.units import conversion_factor, is_unit, measured_by
from virtperf.comparison.percentiles import distribution, of_single_values
from virtperf.comparison.ratio_rows import missing_values
from virtperf.comparison.sides import Side, varied_names
from virtperf.core.contrasts import Replicates
from virtperf.core.estimate import BUCKETED, Estimate
from virtperf.core.numbers import join_names
from virtperf.core.order_statistics import values_for_limits
from virtperf.runs.run_values import FAILURES, HTTP_ERRORS, Condition, RunValues, key_text
from virtperf.runs.summarize.observations import OF_SINGLE_VALUES
from virtperf.study.claim_kinds.base import Claim
from virtperf.study.parts import QuantityKind
from virtperf.study.quantities import Quantity
from virtperf.study.study_samples import StudySamples

MOST_NAMED = 12


def choose_quantity(sides: Sequence[Side], kinds: Collection[QuantityKind]) -> str:
    """The quantity of the runs that corresponds to the paper's `kinds`: the one of the same name, else
    the metric by which the paper's study observes it, else the only one that all sides have.

    Raises `ParameterError` if none of them is there.
    """
    kinds_of = {name: kind for side in sides for name, kind in side.quantities.items()}
    common = {
        name
        for name in set.intersection(*({*side.quantity_names} for side in sides))
        if not kinds_of[name].is_failure
    }
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
    known = sorted(common, key=lambda name: (not kinds_of[name].better, name))[:MOST_NAMED]
    raise ParameterError(
        "which quantity of the runs corresponds to the paper's is not known",
        expected=f"one of {', '.join(known)}" if known else "one that all runs have",
        remedy="give it by --quantity NAME",
    )


def require_comparable(
    name: str, side: Side, kinds: Iterable[QuantityKind], dictionary: MetricDictionary
) -> None:
    """Raise `ParameterError` if the quantity `name` of the runs measures something else than the paper's
    `kinds`: a time in place of a rate would turn a comparison round.
    """
    own = measured_by(side.quantities[name].unit).removeprefix("information ")
    if own in ("", "number"):
        return
    for kind in kinds:
        units = [kind.unit]
        if kind.observed_by and not kind.observed_by.per:
            metrics = (source.metric for source in kind.observed_by.sources)
            units += [dictionary[metric].unit for metric in metrics if metric in dictionary]
        papers = {measured_by(unit).removeprefix("information ") for unit in units}
        papers -= {"", "number"}
        if papers and own not in papers:
            raise ParameterError(
                f"{name} is in {side.quantities[name].unit}, a unit of {own}",
                expected=f"a quantity in a unit of {' or '.join(sorted(papers))}, as the paper's: "
                f"{kind.label}",
                remedy="choose it by --quantity NAME, or convert your numbers",
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
    those of each run, or from its histogram; single values of a single run are then taken as independent
    samples, with an interval at `level`.

    Raises
    ------
    ParameterError
        A side lacks the quantity, a run has several values of it, or its unit is not known.
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
        # rows of different keys of one file are different runs
        ids = tuple(run.place if run.digest else f"{run.place} {key_text(k)}" for run, k in found)
        replicates = replace(side.cells(frozenset())[name, ()], run_ids=ids)
        if _statistic(kind) in OF_SINGLE_VALUES:
            estimates = _of_single_values(kind, side, found, name, level)
            if estimates:
                replicates = replace(replicates, values=np.array([e.value for e in estimates]))
                notes.append(f"{kind.label}: computed from the single values of each run")
            else:
                notes.append(f"{kind.label}: the value that each run has, a mean if of several")
            factor = _factor(claim, kind, side, name, of_share=bool(estimates))
            if len(estimates) == 1 and estimates[0].method != BUCKETED:
                independent[condition] = estimates[0].scaled(factor)
                notes[-1] = f"{kind.label}: the rows of the file are taken as independent samples"
                share = kind.observed.get("share", 0.5)
                least = values_for_limits(share, level)
                if estimates[0].n < least and _statistic(kind) in ("median", "quantile"):
                    notes.append(
                        f"{side.name}: an interval of the {100 * share:g}th percentile needs at least "
                        f"{least:,} values, {least - estimates[0].n:,.0f} more than these"
                    )
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
        counts = [n for run in failed for (of, _), n in run.counts.items() if of == name and n[0]]
        if failed and counts and name != HTTP_ERRORS:
            lost, total = (sum(column) for column in zip(*counts, strict=True))
            notes.append(f"{side.name}: {lost:,} of {total:,} failed, and count in no other number")
        elif failed and name == FAILURES:  # rows that are runs
            lost = sum(bool(run.value(name)) for run in failed)
            total = sum(any(of == name for of, _ in run.values) for run in side.runs)
            notes.append(f"{side.name}: {lost:,} of {total:,} failed, and count in no other number")
        elif failed:
            which = join_names([run.run_id for run in failed])
            notes.append(f"{which}: {name} above 0, which the number of these runs may include")
    return notes


def machine_notes(sides: Sequence[Side], facts: Iterable[str]) -> Iterator[str]:
    """Yield notes on runs of different machines: within a side they are taken as replicates, and between
    sides the machine may be the cause of a difference.
    """
    levels = [{name: side.facts.get(name, set()) for name in facts} for side in sides]
    for side, of in zip(sides, levels, strict=True):
        if varied := [name for name, values in of.items() if len(values) > 1]:
            yield f"{side.name}: runs with different {join_names(varied)} are taken as replicates"
    apart = [
        name
        for name in levels[0]
        if all(of[name] for of in levels) and len({frozenset(of[name]) for of in levels}) > 1
    ]
    if apart:
        yield f"the conditions differ in {join_names(apart)} too, which may be the cause"


def option_notes(sides: Sequence[Side], facts: Collection[str]) -> Iterator[str]:
    """Yield the options with which the tool ran, by the files of runs without `run.yaml`; `facts` are
    those of machines.
    """
    names: dict[str, list[str]] = {}
    for side in sides:
        texts = [
            f"{name}={join_names(sorted(values))}"
            for name, values in side.facts.items()
            if name not in facts and not side.factor_levels
        ]
        if texts:
            names.setdefault(join_names(texts, most=MOST_NAMED), []).append(side.name)
    for text, of in names.items():
        yield f"options of {', '.join(of)}: {text}"


def run_notes(sides: Sequence[Side], of: Sequence[Replicates], name: str) -> Iterator[str]:
    """Yield notes on runs that are no plain replicates: of several levels of a factor, without a value
    of the quantity `name`, or with a 0 that no completed run has.
    """
    for side, runs in zip(sides, of, strict=True):
        keys = {key for key, levels in side.levels_of(name).items() if len(levels) > 1}
        if factors := sorted(varied_names([side]) & side.factor_levels.keys() | keys):
            yield (
                f"{side.name}: runs with different {join_names(factors)} are taken as replicates; "
                f"--where {factors[0]}=LEVEL uses those of one level"
            )
        if runs.n < len(side.runs):
            yield f"{side.name}: {len(side.runs) - runs.n} of {len(side.runs)} runs have no {name}"
        singles = [x for run in side.runs for (of, _), x in run.singles.items() if of == name]
        single = [x for x in singles if isinstance(x, np.ndarray) and len(x) > 1]
        for values, what in ((runs.values, "runs"), *((x, "values") for x in single)):
            missing = missing_values(values, side.quantities[name])
            if missing.any():
                value = "0 or less" if (values[missing] < 0).any() else "0"
                yield (
                    f"{side.name}: {int(missing.sum())} of {len(values)} {what} have {name} {value}, "
                    "which no completed run has: failed runs, or a number that was not measured"
                )
                break


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
    """The paper's statistic of each run's single values or histogram; empty if a run has neither."""
    singles = [each for run, key in found if (each := distribution(run, (name, key))) is not None]
    if not singles:
        return []
    if len(singles) < len(found):
        alone = next(run for run, key in found if distribution(run, (name, key)) is None)
        raise ParameterError(
            f"{alone.place or alone.run_id} has one value of {name}, of which no {kind.label} is computed",
            expected="several single values, as in other runs",
            remedy="leave the run out",
        )
    limit = np.nan
    if kind.observed_by is not None and kind.observed_by.limit is not None:
        stated = kind.observed_by.limit
        limit = stated.value * _convert(stated.unit, side.quantities[name].unit, side, name)
    return [of_single_values(x, kind.observed, limit=limit, level=level) for x in singles]


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
            remedy=f"end the column's name with it, such as {re.sub('[^A-Za-z0-9]+$', '', name)}_{target}",
        )
    return conversion_factor(unit, target)
