"""Means over the runs of each condition, and tests of their steady state.

The means serve verdicts, figures and estimates alike. A single run of a few samples can't
distinguish a trend from chance. The runs of a condition are replicates: their trends
(`OBSERVATIONS`: the change over the window as a share of the mean) are as independent as the runs,
so their mean has a Student t interval whatever the autocorrelation within a run. That of a single
condition is still too wide for the margin, so the conditions of an experiment are pooled. Only
quantities that a study names as responses are tested: a use of a processor is no result that a
transient would falsify.

References
----------
Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power approach.
J. Pharmacokinet. Biopharm. 15, 657-680.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from virtperf.core.contrasts import Replicates
from virtperf.core.estimate import (
    BUCKETED,
    Estimate,
    mean_over_bucketed,
    mean_over_runs,
    quotient,
    student,
)
from virtperf.core.levels import Level, level_text
from virtperf.core.provenance import Origin, Provenance
from virtperf.core.stage_tables import MEANS
from virtperf.core.statistics import holm
from virtperf.study.definition import Study
from virtperf.study.parts import EVERY, QuantityKind
from virtperf.study.quantities import Quantity

CONSTANT, DRIFT, UNDETERMINED = "constant", "drift", "undetermined"
NOT_TESTED = "not tested"
NO_TREND = Estimate(math.nan, math.nan, math.nan, math.nan, "")
STEADY_MARGIN = 0.05
"""Equivalence margin for the change over the window, as a share of the mean."""
MIN_UNITS = 3
"""Minimum number of runs, or blocks of runs, for a confidence interval."""


def is_negligible(trend: Estimate) -> bool:
    """Whether the interval of a trend lies within `STEADY_MARGIN` of zero."""
    return trend.low >= -STEADY_MARGIN and trend.high <= STEADY_MARGIN


def mean_trend(rows: Sequence[Mapping[str, Any]], level: float) -> Estimate:
    """Mean trend over the `OBSERVATIONS` of one condition; runs of a block are averaged first. NaN
    without a trend, and no interval from fewer than `MIN_UNITS`.
    """
    known = [row for row in rows if math.isfinite(row["trend"])]
    if not known:
        return NO_TREND
    values = np.array([row["trend"] for row in known])
    units = Replicates(values, tuple(row["block"] for row in known)).units
    mean = mean_over_runs(units.tolist(), level=level)
    return mean if len(units) >= MIN_UNITS else mean.without_interval()


def classify_trends(
    trends: Sequence[Estimate], pooled: Sequence[Estimate], level: float
) -> list[str]:
    """Classify the conditions of a study by their own trends and those of their experiments.

    `CONSTANT` if the interval of the own trend, or of the experiment's, lies within `STEADY_MARGIN`
    of zero (two one-sided tests, each at half of 1 - `level`); `DRIFT` if the own trend differs from
    zero at that level, adjusted over all conditions (Holm), and its interval is not within the
    margin; else `UNDETERMINED`. `NOT_TESTED` without a trend.
    """
    tested = [k for k, trend in enumerate(trends) if math.isfinite(trend.pvalue)]
    adjusted = holm([trends[k].pvalue for k in tested])
    drifting = {k for k, p in zip(tested, adjusted, strict=True) if p <= 1 - level}
    words = []
    for k, (own, experiment) in enumerate(zip(trends, pooled, strict=True)):
        if not math.isfinite(own.value):
            words.append(NOT_TESTED)
        elif is_negligible(own):
            words.append(CONSTANT)
        elif k in drifting:
            words.append(DRIFT)
        else:
            words.append(CONSTANT if is_negligible(experiment) else UNDETERMINED)
    return words


OWN_SCALE, RELATIVE = "own", "relative"
"""Scales of means: the unit of the observations, and that relative to the reference points."""

_COLUMNS = {OWN_SCALE: ("value", "se", "df"), RELATIVE: ("relative", "relative_se", "relative_df")}
_FACTS = ("value", "se", "df", "low", "high", "level", "n", "method")

Means = dict[tuple[Quantity, str, str], Estimate]
"""Means by quantity, provenance and scale."""


def condition_means(study: Study, observations: pd.DataFrame, level: float) -> pd.DataFrame:
    """Build the table `MEANS`: the mean over runs of each condition's `OBSERVATIONS`, per scale.

    The independent samples of a single run count in place of runs. A relative mean over several
    runs includes the error of its reference point (delta method, Welch-Satterthwaite degrees of
    freedom); the mean at the reference point itself keeps its own error. `classify_trends`
    classifies the trend of each condition of a response quantity on its own scale; an experiment is
    the conditions with equal levels of the study's blocking factors. Intervals are clipped to the bounds of
    their quantity.
    """
    conditions: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in observations.to_dict("records"):
        key = (row["quantity"], *(row[factor] for factor in study.factors), row["provenance"])
        conditions.setdefault(key, []).append({str(name): value for name, value in row.items()})
    rows: list[dict[str, Any]] = []
    trends: list[Estimate] = []
    experiments: list[tuple[Any, ...]] = []
    of_experiment: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    any_response = any(kind.response for kind in study.quantities.values())
    of_runs = {
        key: mean
        for key, values in conditions.items()
        if (mean := _mean(values, OWN_SCALE, level)) is not None
    }
    for (quantity, *levels, provenance), values in conditions.items():
        at = dict(zip(study.factors, levels, strict=True))
        head = {"quantity": quantity, **at, "provenance": provenance}
        for scale in (OWN_SCALE, RELATIVE):
            mean = _mean(values, scale, level)
            if mean is not None:
                if (
                    scale == RELATIVE
                    and mean.n > 1
                    and (reference := study.reference_for(study.quantity_at(quantity, at)))
                ):
                    key = (
                        quantity,
                        *(dict(reference[0].at)[factor] for factor in study.factors),
                        provenance,
                    )
                    if key in of_runs and key != (quantity, *levels, provenance):
                        mean = _with_reference(
                            mean, of_runs[quantity, *levels, provenance], of_runs[key]
                        )
                mean = within_bounds(mean, study.quantities[quantity], scale)
                facts = {name: getattr(mean, name) for name in _FACTS}
                runs = [row["run_id"] for row in values if math.isfinite(row[_COLUMNS[scale][0]])]
                rows.append({**head, "scale": scale, **facts, "runs": sorted(runs)})
                tested = scale == OWN_SCALE and (
                    study.quantities[quantity].response or not any_response
                )
                trends.append(mean_trend(values, level) if tested else NO_TREND)
                named = tuple(at[factor] for factor in study.blocks if factor in at)
                experiments.append((quantity, named, provenance))
                if tested:
                    of_experiment.setdefault(experiments[-1], []).extend(values)
    pooled = {key: mean_trend(values, level) for key, values in of_experiment.items()}
    words = classify_trends(trends, [pooled.get(key, NO_TREND) for key in experiments], level)
    for mean_row, trend, word in zip(rows, trends, words, strict=True):
        mean_row |= {
            "trend": trend.value,
            "trend_low": trend.low,
            "trend_high": trend.high,
            "steady": word if mean_row["scale"] == OWN_SCALE else "",
        }
    return MEANS.frame(rows, tuple(study.factors))


def rows_over_levels(
    study: Study, rows: Sequence[Mapping[Any, Any]], factor: str, as_level: Level | None
) -> list[dict[str, Any]]:
    """Copy the `OBSERVATIONS` at the levels of a factor, such as sessions or machines, to
    `as_level`, with the runs of a level as one block.

    Levels are then a random effect: a mean or a ratio has one value for each of k levels, and its
    interval is that of their spread, t with k - 1 degrees of freedom. The number of runs within a
    level does not count: they share what is particular to it. Further blocking factors of the study
    remain. Conditions at a single level are left out.
    """
    others = [name for name in study.factors if name != factor]
    blocking = [factor, *(name for name in study.blocks if name in others)]
    known = [row for row in rows if math.isfinite(row["value"])]
    levels: dict[tuple[Any, ...], set[Level]] = {}
    for row in known:
        levels.setdefault(_condition(row, others), set()).add(row[factor])
    unknown = dict.fromkeys(("se", "df", "low", "high"), math.nan)
    return [
        {
            **row,
            **unknown,
            factor: as_level,
            "block": " ".join(level_text(row[name]) for name in blocking),
            "day": "",
            "method": "runs",
        }
        for row in known
        if len(levels[_condition(row, others)]) > 1
    ]


def pooled_rows(study: Study, rows: Sequence[Mapping[Any, Any]]) -> list[dict[str, Any]]:
    """Rows at the level `EVERY` of the study's pooled factor, in addition to those at its levels.

    Runs of a single level keep their own blocks. Empty without such a factor
    (`Study.pooled_factor`).
    """
    factor = study.pooled_factor
    if factor is None:
        return []
    if len({row[factor.name] for row in rows}) == 1:
        return [{**row, factor.name: EVERY} for row in rows]
    return rows_over_levels(study, rows, factor.name, EVERY)


def _condition(row: Mapping[Any, Any], factors: Sequence[str]) -> tuple[Any, ...]:
    return (row["quantity"], row["provenance"], *(row[factor] for factor in factors))


def within_bounds(mean: Estimate, kind: QuantityKind, scale: str) -> Estimate:
    """Clip the interval of a mean to the bounds of its quantity: no rate is below 0; `scale` is the
    mean's, `OWN_SCALE` or `RELATIVE`.

    The excluded part never contains the true value, so that the coverage is unchanged. Bounds are
    those of the scale on which the study defines the quantity. A mean outside them (an amount
    that a host recovered, negative by noise) keeps its interval.
    """
    if (scale == RELATIVE) != bool(kind.references) or not kind.low <= mean.value <= kind.high:
        return mean
    return mean.within(kind.low, kind.high)


def _mean(rows: list[dict[str, Any]], scale: str, level: float) -> Estimate | None:
    value, se, df = _COLUMNS[scale]
    known = [row for row in rows if math.isfinite(row[value])]
    if not known:
        return None
    first = known[0]
    method = f"{first['method']} of one run"
    if scale == OWN_SCALE:
        runs = [run_mean(row, level) for row in known]
        if all(run.method == BUCKETED for run in runs):
            return mean_over_bucketed(runs, level=level)
        if len(runs) == 1:  # keep the interval of its method (medians have no t interval)
            return runs[0] if runs[0].of_samples else replace(runs[0], n=1, method=method)
    blocks = Replicates(
        np.array([row[value] for row in known]), tuple(row["block"] for row in known)
    )
    if len(units := blocks.units) < len(known):  # runs of one block share its drift
        return replace(mean_over_runs(units.tolist(), (), (), level=level), n=len(known))
    return mean_over_runs(
        *([row[name] for row in known] for name in (value, se, df)), level=level, method=method
    )


def run_mean(row: Mapping[str, Any] | pd.Series, level: float) -> Estimate:
    """The mean of one run from its row of `OBSERVATIONS`; `level` is that of its interval."""
    value, low, high, se, df = (float(row[name]) for name in ("value", "low", "high", "se", "df"))
    method, n = str(row["method"]), int(row["n"])
    return Estimate(value, low, high, level, method, se=se, df=df, n=n)


def _with_reference(relative: Estimate, numerator: Estimate, reference: Estimate) -> Estimate:
    """A relative mean with the propagated errors of numerator and reference point.

    They replace the spread of its own runs.
    """
    share = quotient(numerator, reference)
    se = abs(relative.value / share.value) * share.se if share.value else relative.se
    return student(
        relative.value, se, share.df, level=relative.level, n=relative.n, method=relative.method
    )


def means_by_quantity(study: Study, means: pd.DataFrame) -> Means:
    """Convert the rows of the table `MEANS` to means with their origin."""
    rows = means.to_dict("records")
    by_quantity: Means = {}
    for position, quantity in rows_by_quantity(study, means):
        row = rows[position]
        origin = Origin(Provenance(row["provenance"]), study.id, tuple(row["runs"]))
        by_quantity[quantity, row["provenance"], row["scale"]] = Estimate(
            **{f: row[f] for f in _FACTS}, origin=origin
        )
    return by_quantity


def rows_by_quantity(study: Study, table: pd.DataFrame) -> Iterator[tuple[int, Quantity]]:
    """Iterate over the position and quantity of every row of a table with quantity and factors.

    Rows at unknown levels are skipped, so that a study that drops a level can still use stored
    results at its other levels.
    """
    factors = list(study.factors)
    known: dict[tuple[Any, ...], Quantity | None] = {}
    for position, key in enumerate(
        zip(*(table[name].tolist() for name in ("quantity", *factors)), strict=True)
    ):
        if key not in known:
            try:
                known[key] = study.quantity_at(key[0], dict(zip(factors, key[1:], strict=True)))
            except ValueError:
                known[key] = None
        quantity = known[key]
        if quantity is not None:
            yield position, quantity


def scale_of(study: Study, name: str) -> str:
    """Scale of a quantity in figures and claims: relative if it has reference points."""
    return RELATIVE if study.quantities[name].references else OWN_SCALE
