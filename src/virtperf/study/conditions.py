"""Means over the runs of each condition: made once, for verdicts, figures and estimates alike; and
whether the conditions keep their level within the measurement window.

One run of a few samples can't tell a trend from chance. The runs of a condition repeat it: their
trends (`OBSERVATIONS`: the change over the window as a share of the mean) are as independent as the
runs, so their mean has a Student interval whatever the samples within a run are correlated with.

References
----------
Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand. J. Stat. 6, 65-70.
Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power approach.
J. Pharmacokinet. Biopharm. 15, 657-680.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from virtperf.core.contrasts import Replicates
from virtperf.core.mean import BUCKETED, Mean, over_bucketed, over_runs, satterthwaite, student
from virtperf.core.provenance import Origin, Provenance
from virtperf.core.stage_tables import MEANS
from virtperf.study.definition import Study
from virtperf.study.parts import QuantityKind
from virtperf.study.quantities import Quantity

CONSTANT, DRIFT, UNDETERMINED = "constant", "drift", "undetermined"
STEADY_MARGIN = 0.05
"""A change over the window by less than this share of the mean counts as none."""
FEWEST_UNITS = 3
"""Runs, or blocks of runs, below which their spread says too little."""


@dataclass(frozen=True)
class Trend:
    """The mean trend of a condition with its two-sided interval; `p` is the chance of such a mean
    where there is none. NaN where too few runs show one.
    """

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan


def mean_trend(rows: Sequence[Mapping[str, Any]], level: float) -> Trend:
    """The trend over runs, rows of `OBSERVATIONS` of one condition; runs of a block count once."""
    known = [row for row in rows if math.isfinite(row["trend"])]
    if not known:
        return Trend()
    values = np.array([row["trend"] for row in known])
    units = Replicates(values, tuple(row["block"] for row in known)).units
    value = float(units.mean())
    if len(units) < FEWEST_UNITS:
        return Trend(value)
    se = float(units.std(ddof=1)) / math.sqrt(len(units))
    if se == 0:
        return Trend(value, value, value, 0.0 if value else 1.0)
    df = len(units) - 1
    half = float(special.stdtrit(df, (1 + level) / 2)) * se
    p = float(2 * special.stdtr(df, -abs(value) / se))
    return Trend(value, value - half, value + half, p)


def steady_words(trends: Sequence[Trend], level: float) -> list[str]:
    """What each trend of a study says.

    `CONSTANT` where the interval lies within `STEADY_MARGIN` of zero (two one-sided tests, each at
    half of the chance that `level` leaves); else `DRIFT` where the trend differs from zero at that
    level, adjusted over all trends of the study (Holm); else `UNDETERMINED`. Empty where no run
    shows a trend.
    """
    tested = sorted((t.p, k) for k, t in enumerate(trends) if math.isfinite(t.p))
    drifting = set()
    for rank, (p, k) in enumerate(tested):
        if p * (len(tested) - rank) > 1 - level:
            break
        drifting.add(k)
    words = []
    for k, trend in enumerate(trends):
        if not math.isfinite(trend.value):
            words.append("")
        elif trend.low >= -STEADY_MARGIN and trend.high <= STEADY_MARGIN:
            words.append(CONSTANT)
        else:
            words.append(DRIFT if k in drifting else UNDETERMINED)
    return words


OWN_SCALE, RELATIVE = "own", "relative"
"""The scales of means: the unit in which runs observe a quantity, and that of its reference
points.
"""

_COLUMNS = {OWN_SCALE: ("value", "se", "df"), RELATIVE: ("relative", "relative_se", "relative_df")}
_FACTS = ("value", "se", "df", "low", "high", "level", "n", "method")

Means = dict[tuple[Quantity, str, str], Mean]
"""Means by quantity, provenance and scale."""


def condition_means(study: Study, observations: pd.DataFrame, level: float) -> pd.DataFrame:
    """The table `MEANS`: `core.mean.over_runs` of the `OBSERVATIONS` of each condition, on each
    scale that they have. Of one run with independent samples, these count in the place of runs.

    A relative mean over several runs has the error of its reference point too (delta method,
    degrees of freedom by Welch and Satterthwaite); the mean at the reference point itself has its
    own. Of the runs of each condition on their own scale, `steady_words` says whether they keep
    their level within the window. No interval goes beyond the bounds of its quantity.
    """
    conditions: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in observations.to_dict("records"):
        key = (row["quantity"], *(row[factor] for factor in study.factors), row["provenance"])
        conditions.setdefault(key, []).append({str(name): value for name, value in row.items()})
    rows: list[dict[str, Any]] = []
    trends: list[Trend] = []
    of_runs = {
        key: mean
        for key, found in conditions.items()
        if (mean := _mean(found, OWN_SCALE, level)) is not None
    }
    for (quantity, *levels, provenance), found in conditions.items():
        at = dict(zip(study.factors, levels, strict=True))
        head = {"quantity": quantity, **at, "provenance": provenance}
        for scale in (OWN_SCALE, RELATIVE):
            mean = _mean(found, scale, level)
            if mean is not None:
                if (
                    scale == RELATIVE
                    and mean.n > 1
                    and (named := study.reference_for(study.quantity_at(quantity, at)))
                ):
                    key = (
                        quantity,
                        *(dict(named[0].at)[factor] for factor in study.factors),
                        provenance,
                    )
                    if key in of_runs and key != (quantity, *levels, provenance):
                        mean = _with_reference(
                            mean, of_runs[quantity, *levels, provenance], of_runs[key]
                        )
                mean = _within_bounds(mean, study.quantities[quantity], scale)
                facts = {name: getattr(mean, name) for name in _FACTS}
                runs = [row["run_id"] for row in found if math.isfinite(row[_COLUMNS[scale][0]])]
                rows.append({**head, "scale": scale, **facts, "runs": sorted(runs)})
                trends.append(mean_trend(found, level) if scale == OWN_SCALE else Trend())
    for made, trend, word in zip(rows, trends, steady_words(trends, level), strict=True):
        made |= {
            "trend": trend.value,
            "trend_low": trend.low,
            "trend_high": trend.high,
            "steady": word,
        }
    return MEANS.frame(rows, tuple(study.factors))


def _within_bounds(mean: Mean, kind: QuantityKind, scale: str) -> Mean:
    """The mean with that part of its interval which is possible: no rate is below 0.

    What is left out never holds the true value, so that the interval covers it as often as before.
    Bounds are those of the scale on which the study has the quantity. A mean beyond them (what a
    host got back, by noise less than nothing) keeps its interval.
    """
    if (scale == RELATIVE) != bool(kind.references) or not kind.low <= mean.value <= kind.high:
        return mean
    return replace(mean, low=max(mean.low, kind.low), high=min(mean.high, kind.high))


def _mean(rows: list[dict[str, Any]], scale: str, level: float) -> Mean | None:
    value, se, df = _COLUMNS[scale]
    known = [row for row in rows if math.isfinite(row[value])]
    if not known:
        return None
    first = known[0]
    one = Mean(
        first[value],
        first[se],
        first[df],
        first["low"],
        first["high"],
        level=level,
        n=1,
        method=first["method"],
    )
    if scale == OWN_SCALE and all(row["method"] == BUCKETED for row in known):
        return over_bucketed([mean_of(row, level) for row in known], level=level)
    if len(known) == 1 and scale == OWN_SCALE and one.of_samples:
        return replace(one, n=int(first["n"]))
    method = f"{one.method} of one run"
    if (
        len(known) == 1 and scale == OWN_SCALE
    ):  # with the interval that its method gave it, which a median has of its own
        return replace(one, method=method)
    blocks = Replicates(
        np.array([row[value] for row in known]), tuple(row["block"] for row in known)
    )
    if len(units := blocks.units) < len(known):  # runs of one block share what drifts
        return replace(over_runs(units.tolist(), (), (), level=level), n=len(known))
    return over_runs(
        *([row[name] for row in known] for name in (value, se, df)), level=level, method=method
    )


def mean_of(row: Mapping[str, Any] | pd.Series, level: float) -> Mean:
    """What one run says, as its row of `OBSERVATIONS` has it; `level` is that of its interval."""
    value, se, df, low, high = (float(row[name]) for name in ("value", "se", "df", "low", "high"))
    return Mean(value, se, df, low, high, level, int(row["n"]), str(row["method"]))


def _with_reference(relative: Mean, own: Mean, reference: Mean) -> Mean:
    """A relative mean with the errors of both means that it divides, in place of the spread of its
    own runs alone.
    """
    share, unit = own.value / reference.value, relative.value / own.value if own.value else 0.0
    variances = [own.se**2, (share * reference.se) ** 2]
    df = satterthwaite(variances, [own.df, reference.df])
    se = abs(unit) * math.sqrt(sum(variances)) if own.value else relative.se
    return student(
        relative.value, se, df, level=relative.level, n=relative.n, method=relative.method
    )


def means_by_quantity(study: Study, means: pd.DataFrame) -> Means:
    """The rows of the table `MEANS` as means with their origin."""
    rows = means.to_dict("records")
    found: Means = {}
    for position, quantity in rows_by_quantity(study, means):
        row = rows[position]
        origin = Origin(Provenance(row["provenance"]), study.id, tuple(row["runs"]))
        found[quantity, row["provenance"], row["scale"]] = Mean(
            **{f: row[f] for f in _FACTS}, origin=origin
        )
    return found


def rows_by_quantity(study: Study, table: pd.DataFrame) -> Iterator[tuple[int, Quantity]]:
    """Position and quantity of every row of a table with quantity and factors.

    A study that lost a level keeps the stored results of its other levels in use: rows at unknown
    levels are left out.
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
    """The scale on which figures and claims speak of a quantity: relative where it has reference
    points.
    """
    return RELATIVE if study.quantities[name].references else OWN_SCALE
