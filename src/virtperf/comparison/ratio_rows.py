"""Rows of a comparison table: ratio, interval and verdict per common quantity and condition.

A verdict is based on the interval of the ratio (`core.contrasts`) and a declared margin: the ratio
is outside the margin, within it, or undecided. Holm's method over the rows of a table keeps the
family-wise error rate below ``1 - level``.

References
----------
Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand. J. Stat. 6, 65-70.
Fleming, P. J., Wallace, J. J. (1986). How not to lie with statistics: the correct way to summarize
benchmark results. Commun. ACM 29, 218-221.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import special
from statsmodels.stats.multitest import multipletests

from virtperf.core.contrasts import (
    LinearRatio,
    LogRatio,
    Replicates,
    linear_ratio,
    log_ratio,
)
from virtperf.core.levels import Level, level_text
from virtperf.core.mean import satterthwaite
from virtperf.models.power import runs_needed
from virtperf.models.ratio import EQUAL_REPLICATES, NO_SPREAD

Verdict = Literal["slower", "faster", "lower", "higher", "same within the margin", "undecided"]
CALLED_DIFFERENT = ("slower", "faster", "lower", "higher")
GEOMETRIC_MEAN = "geometric mean"
ONE_RUN = "{sides} one run: the variance between runs can't be estimated from samples within a run"
CONFOUNDED = (
    "the sides were run in different blocks or on different days: the interval includes the "
    "variance between them"
)
ONE_BLOCK_EACH = (
    "all runs of a side are from one block or day, and the sides share none: the difference "
    "between the sides is confounded with that between blocks, so there is no interval"
)

Condition = tuple[tuple[str, Level], ...]


@dataclass(frozen=True)
class ComparedQuantity:
    """Metadata of a compared quantity; `better` is "higher", "lower", or "" without a direction;
    `group` is the group of quantities of a geometric mean.
    """

    unit: str = ""
    better: str = ""
    group: str = ""


@dataclass(frozen=True)
class RatioRow:
    """One row of a comparison: the ratio of B's mean to A's.

    `low` and `high` are the unadjusted limits of `ratio` at the comparison's level. `p` is the
    p-value for the nearest end of the margin, `p_holm` the Holm-adjusted one. Undefined numbers are
    None: an interval with one run per side, an infinite limit. `more_runs` per side decide with a
    power of 80 % at the observed ratio and spread; None where the row is decided, the spread
    unknown, or 1,000 runs are too few.
    """

    quantity: str
    condition: str
    unit: str
    better: str
    verdict: Verdict
    ratio: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    mean_a: float | None
    mean_b: float | None
    runs_a: int
    runs_b: int
    compared: str
    more_runs: int | None = None
    note: str = ""

    @property
    def is_mean(self) -> bool:
        return self.condition.startswith(GEOMETRIC_MEAN)


@dataclass(frozen=True, eq=False)
class Pair:
    """The runs of both sides at one condition."""

    quantity: str
    condition: Condition
    a: Replicates
    b: Replicates


RunRatio = LogRatio | LinearRatio
"""A ratio with a standard error between runs."""
ContrastFunction = Callable[[Pair], RunRatio]


def contrast(pair: Pair) -> RunRatio:
    """Ratio of B to A: on the log scale, or as a ratio of means if a value is not positive."""
    if min(pair.a.values.min(), pair.b.values.min()) > 0:
        return log_ratio(pair.b, pair.a)
    return linear_ratio([pair.b, pair.a], np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))


def ratio_rows(
    pairs: Sequence[Pair],
    quantities: Mapping[str, ComparedQuantity],
    *,
    margin: float,
    level: float,
    contrast_function: ContrastFunction = contrast,
    plan_runs: bool = True,
) -> list[RatioRow]:
    """Compute one row per pair, and one for the geometric mean over each group of conditions.

    Parameters
    ----------
    margin : float
        As a share: with 0.02, ratios from 1/1.02 to 1.02 count as the same; with 0 nothing does.
    contrast_function : callable, optional
        Contrast: computes the ratio of a pair.
    plan_runs : bool
        Whether to compute the number of further runs needed.
    """
    rows = [
        _pair_row(pair, quantities[pair.quantity], contrast_function(pair), margin, level)
        for pair in pairs
        if pair.a.values.any() or pair.b.values.any()
    ]
    for group, group_pairs in _groups(pairs, quantities).items():
        mean, counts = _geometric_mean(group_pairs, contrast_function)
        if mean is not None:
            kind = replace(quantities[group_pairs[0].quantity], unit="")
            row = _ratio_row(mean, kind, margin, level, counts)
            condition = f"{GEOMETRIC_MEAN} over {len(group_pairs)} conditions"
            rows.append((replace(row, quantity=group, condition=condition), mean))
    return _adjust_holm(rows, margin, level, plan_runs)


def _pair_row(
    pair: Pair, kind: ComparedQuantity, ratio: RunRatio, margin: float, level: float
) -> tuple[RatioRow, RunRatio]:
    row = _ratio_row(ratio, kind, margin, level, (pair.a.n, pair.b.n))
    row = replace(
        row,
        quantity=pair.quantity,
        condition=condition_text(pair.condition),
        mean_a=_none_if_infinite(pair.a.mean),
        mean_b=_none_if_infinite(pair.b.mean),
    )
    if _has_no_spread(pair.a) and _has_no_spread(pair.b) and min(pair.a.n, pair.b.n) > 1:
        row = replace(row, p=None, note=NO_SPREAD)
    return row, ratio


def _ratio_row(
    ratio: RunRatio, kind: ComparedQuantity, margin: float, level: float, counts: tuple[int, int]
) -> RatioRow:
    known = math.isfinite(ratio.value) and not math.isnan(ratio.se)
    low, high = ratio.interval(level) if known else (math.nan, math.nan)
    note = ""
    if not known:
        single = [side for side, n in zip("AB", counts, strict=True) if n == 1]
        has = " and ".join(single) + (" have" if len(single) > 1 else " has")
        note = ONE_RUN.format(sides=has) if single else ONE_BLOCK_EACH
        note = "" if not math.isfinite(ratio.value) else note
    elif ratio.confounded:
        note = CONFOUNDED
    return RatioRow(
        quantity="",
        condition="",
        unit=kind.unit,
        better=kind.better,
        verdict="undecided",
        ratio=_none_if_infinite(ratio.value),
        low=_none_if_infinite(low),
        high=_none_if_infinite(high),
        p=p_value(ratio, margin) if known else None,
        p_holm=None,
        mean_a=None,
        mean_b=None,
        runs_a=counts[0],
        runs_b=counts[1],
        compared=ratio.design,
        note=note,
    )


def p_value(ratio: RunRatio, margin: float) -> float:
    """P-value of a ratio for the nearest end of the margin: the interval at level ``1 - p`` just
    reaches that end.
    """
    low, high = 1 / (1 + margin), 1 + margin
    above, below = ratio.distance(high), ratio.distance(low)
    if ratio.value > high:
        margins = [above]
    elif ratio.value < low:
        margins = [(-below[0], below[1])]
    else:
        margins = [below, (-above[0], above[1])]
    errors = min(abs(gap) / se if se else (math.inf if gap else 0.0) for gap, se in margins)
    return float(2 * special.stdtr(ratio.df, -errors))


def _adjust_holm(
    pairs: Sequence[tuple[RatioRow, RunRatio]], margin: float, level: float, plan_runs: bool
) -> list[RatioRow]:
    tested = [place for place, (row, _) in enumerate(pairs) if row.p is not None]
    rows = [row for row, _ in pairs]
    if not tested:
        return rows
    alpha = 1 - level
    adjusted = multipletests([rows[place].p for place in tested], alpha, method="holm")[1]
    for place, p in zip(tested, adjusted.tolist(), strict=True):
        row = replace(rows[place], p_holm=float(p))
        if p <= alpha:
            row = replace(row, verdict=_verdict(row, margin))
        elif plan_runs:
            each = _more_runs(pairs[place][1], margin, alpha / len(tested))
            row = replace(row, more_runs=each)
        rows[place] = row
    return rows


def _verdict(row: RatioRow, margin: float) -> Verdict:
    assert row.ratio is not None  # it has a p
    if 1 / (1 + margin) <= row.ratio <= 1 + margin:
        return "same within the margin" if margin else "undecided"
    above = row.ratio > 1
    if not row.better:
        return "higher" if above else "lower"
    return "faster" if above == (row.better == "higher") else "slower"


def _more_runs(ratio: RunRatio, margin: float, alpha: float) -> int | None:
    """Further runs (or blocks) needed per side; `models.power` plans for two conditions with a
    common coefficient of variation, derived from the observed standard error.
    """
    relative = ratio.se if isinstance(ratio, LogRatio) else ratio.se / abs(ratio.value or 1.0)
    deviation = relative * math.sqrt(ratio.n / 2)
    cv = math.sqrt(math.expm1(min(deviation**2, 50.0)))
    if not (cv > 0 and ratio.value > 0) or (not margin and ratio.value == 1):
        return None
    effect = ratio.value - 1
    if margin:
        low, high = 1 / (1 + margin), 1 + margin
        needed = runs_needed(
            cv=cv, question="claim", effect=effect, low=low, high=high, alpha=alpha
        )
    else:
        needed = runs_needed(cv=cv, question="difference", effect=effect, alpha=alpha)
    return None if needed is None else max(needed - ratio.n, 1)


def _groups(
    pairs: Iterable[Pair], quantities: Mapping[str, ComparedQuantity]
) -> dict[str, list[Pair]]:
    """Groups with at least two pairs, with positive values only."""
    groups: dict[str, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(quantities[pair.quantity].group or pair.quantity, []).append(pair)
    return {
        group: group_pairs
        for group, group_pairs in groups.items()
        if len(group_pairs) > 1
        and all(min(p.a.values.min(), p.b.values.min()) > 0 for p in group_pairs)
    }


def _geometric_mean(
    pairs: Sequence[Pair], contrast_function: ContrastFunction
) -> tuple[LogRatio | None, tuple[int, int]]:
    """Return the geometric mean of the ratios B to A, and the number of runs of each side.

    The independent units are runs that observed all conditions, else blocks with runs of all of
    them, else the conditions themselves, each with the standard error of its own ratio.
    """
    counts = (_count_runs([p.a for p in pairs]), _count_runs([p.b for p in pairs]))
    by_run = [_means_by([side(p) for p in pairs], blocks=False) for side in (_a, _b)]
    if all(by_run):
        return log_ratio(by_run[1], by_run[0]), counts  # type: ignore[arg-type]
    by_block = [_means_by([side(p) for p in pairs], blocks=True) for side in (_a, _b)]
    if all(by_block):
        return log_ratio(by_block[1], by_block[0]), counts  # type: ignore[arg-type]
    ratios = [contrast_function(pair) for pair in pairs]
    logs = [math.log(ratio.value) for ratio in ratios if isinstance(ratio, LogRatio)]
    if len(logs) < len(ratios) or any(ratio.confounded for ratio in ratios):
        return None, counts
    k, errors = len(ratios), [ratio.se for ratio in ratios]
    df = satterthwaite([se**2 for se in errors], [ratio.df for ratio in ratios])
    se = math.sqrt(sum(se**2 for se in errors)) / k
    n = min(ratio.n for ratio in ratios)
    design = f"over {k} conditions with separate standard errors"
    return LogRatio(math.exp(math.fsum(logs) / k), se, df, n, design), counts


def _means_by(sides: Sequence[Replicates], *, blocks: bool) -> Replicates | None:
    """Geometric means over conditions by run, or by block that contains all conditions."""
    first = sides[0]
    if not blocks:
        if not first.run_ids or any(side.run_ids != first.run_ids for side in sides):
            return None
        logs = np.mean([np.log(side.values) for side in sides], axis=0)
        return replace(first, values=np.exp(logs))
    if not all(side.in_blocks for side in sides):
        return None
    common = [block for block in first.by_block if all(block in s.by_block for s in sides)]
    if not common:
        return None
    values = [math.fsum(math.log(s.by_block[b]) for s in sides) / len(sides) for b in common]
    return Replicates(np.exp(values), tuple(common))


def condition_text(condition: Condition) -> str:
    """Format a condition: ``guests=2, think_ms=0``."""
    return ", ".join(f"{factor}={level_text(level)}" for factor, level in condition)


def _has_no_spread(side: Replicates) -> bool:
    spread = float(np.ptp(side.values))
    return spread <= EQUAL_REPLICATES * abs(side.mean)


def _a(pair: Pair) -> Replicates:
    return pair.a


def _b(pair: Pair) -> Replicates:
    return pair.b


def _count_runs(sides: Sequence[Replicates]) -> int:
    """Number of distinct runs of a side; without run ids, the sum over conditions."""
    if all(side.run_ids for side in sides):
        return len({run for side in sides for run in side.run_ids})
    return sum(side.n for side in sides)


def _none_if_infinite(value: float) -> float | None:
    return value if math.isfinite(value) else None
