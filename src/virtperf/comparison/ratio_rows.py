"""Rows of a comparison table: ratio, interval and verdict per common quantity and condition.

A verdict is based on the interval of the ratio (`core.contrasts`) and a declared margin: the ratio
is outside the margin, within it, or undecided. Holm's method over the rows of a table keeps the
family-wise error rate below ``1 - level``; failures are a family of their own, so that many other
rows do not hide them.

References
----------
Fleming, P. J., Wallace, J. J. (1986). How not to lie with statistics: the correct way to summarize
benchmark results. Commun. ACM 29, 218-221.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from virtperf.comparison.outliers import OutlyingRun, outlying_run, without_run
from virtperf.core.contrasts import (
    LinearRatio,
    LogRatio,
    Replicates,
    linear_ratio,
    log_ratio,
)
from virtperf.core.grouping import grouped
from virtperf.core.statistics import error_of_sum, holm, t_pvalue
from virtperf.runs.run_values import ComparedQuantity, Condition, key_text

Verdict = Literal[
    "worse",
    "better",
    "slower",
    "faster",
    "lower",
    "higher",
    "same within the margin",
    "the same, exactly",
    "undecided",
    "not judged",
]
CALLED_DIFFERENT = ("worse", "better", "slower", "faster", "lower", "higher")
FOR_THE_WORSE = ("worse", "slower")
GEOMETRIC_MEAN = "geometric mean"
MAX_PLANNED = 20
"""Rows for which the number of further runs is computed, those with the smallest p-values."""
EQUAL_RUNS = 1e-9
"""Relative tolerance within which the values of runs count as equal."""
ONE_RUN = "{sides} one run: the variance between runs can't be estimated from samples within a run"
CONFOUNDED = (
    "the sides were run in different blocks or on different days: the interval includes the "
    "variance between them"
)
ONE_BLOCK_EACH = (
    "all runs of a side are from one block or day, and the sides share none: the difference "
    "between the sides is confounded with that between blocks, so there is no interval"
)
CLOCK = "all runs of a side have the same time: the resolution of the clock, not the spread of runs"
COUNTED = "{name}: changes below one request of a run count as the same, the resolution of a count"
ZEROS = (
    "{zero} of {runs} runs of {side} have {name} 0, which no completed run has: failed runs, or a "
    "number that was not measured; --zeros judges it"
)


@dataclass(frozen=True)
class RatioRow:
    """One row of a comparison: the ratio of B's mean to A's, or for failures their difference.

    `low` and `high` are the unadjusted limits of `ratio`, or of `difference`, at the comparison's
    level. `p` is the p-value for the nearest end of the margin, `p_holm` the Holm-adjusted one.
    Undefined numbers are None: an interval with one run per side, an infinite limit. `more_runs` per
    side decide with a power of 80 % at the observed ratio and spread (without an outlying run); None
    where the row is decided, the spread unknown, or 1,000 runs are too few. `exact`: all runs of each
    side have the same value, so that the sides differ in every run or not at all. `margin` is that of
    the row, at least the resolution of its counts; `side` is the name of B. `outlier` is one outlying
    run, and `without` the row without it. `ranks` is the rank-based comparison: Hodges and Lehmann's
    estimate of the ratio with its interval, and the p-value of the test that `compared` names.
    """

    quantity: str
    condition: str
    unit: str
    better: str
    verdict: Verdict = "undecided"
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_holm: float | None = None
    mean_a: float | None = None
    mean_b: float | None = None
    runs_a: int = 0
    runs_b: int = 0
    compared: str = ""
    more_runs: int | None = None
    note: str = ""
    side: str = ""
    margin: float = 0.0
    difference: float | None = None
    exact: bool = False
    outlier: OutlyingRun | None = None
    without: RatioRow | None = None
    ranks: RatioRow | None = None

    @property
    def is_mean(self) -> bool:
        return self.condition.startswith(GEOMETRIC_MEAN)

    @property
    def importance(self) -> tuple[int, float]:
        """Sort key: failures, what is not judged, changes for the worse, other changes, the rest;
        larger changes first.
        """
        size = abs(math.log(self.ratio)) if self.ratio and self.ratio > 0 else math.inf
        if self.difference is not None and self.verdict != "the same, exactly":
            return (0 if self.verdict == "worse" else 1), -abs(self.difference)
        if self.verdict == "not judged":
            return 2, 0.0
        if self.verdict in CALLED_DIFFERENT:
            return (3 if self.verdict in FOR_THE_WORSE else 4), -size
        order = {"undecided": 5, "same within the margin": 6, "the same, exactly": 7}
        return order[self.verdict], self.p if self.p is not None else 1.0


@dataclass(frozen=True, eq=False)
class Pair:
    """The runs of both sides at one condition; `counts` are failed and all requests of each side,
    for failures and for rates of counted requests. `side` is the name of B.
    """

    quantity: str
    condition: Condition
    a: Replicates
    b: Replicates
    counts: tuple[tuple[int, int], tuple[int, int]] | None = None
    side: str = ""

    @property
    def resolution(self) -> float:
        """Share of one request in the requests of a run: a rate of counts has no finer steps."""
        if self.counts is None or not all(total for _, total in self.counts):
            return 0.0
        runs = (self.a.n, self.b.n)
        return max(n / total for n, (_, total) in zip(runs, self.counts, strict=True))


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
    zeros: bool = False,
    ranks: bool = False,
) -> list[RatioRow]:
    """Compute one row per pair, and one for the geometric mean over each group of conditions.

    Parameters
    ----------
    margin : float
        As a share: with 0.02, ratios from 1/1.02 to 1.02 count as the same; with 0 nothing does.
    contrast_function : callable, optional
        Contrast: computes the ratio of a pair.
    plan_runs : bool
        Whether to look for outlying runs, and to compute the number of further runs needed.
    zeros : bool
        Whether times and rates of 0 are judged.
    ranks : bool
        Whether to add the rank-based comparison.
    """
    tested = [
        _failure_row(pair, quantities[pair.quantity], level)
        if quantities[pair.quantity].is_failure
        else _pair_row(pair, quantities[pair.quantity], contrast_function, margin, level, zeros)
        for pair in pairs
        if pair.a.values.any() or pair.b.values.any()
    ]
    for side in dict.fromkeys(pair.side for pair in pairs):
        groups = _groups([pair for pair in pairs if pair.side == side], quantities)
        for group, of_group in groups.items():
            mean, counts = _geometric_mean(of_group, contrast_function)
            if mean is None:
                continue
            condition = f"{GEOMETRIC_MEAN} over {len(of_group)} conditions"
            better = quantities[of_group[0].quantity].better
            row = RatioRow(group, condition, "", better, margin=margin, side=side)
            row = _with_ratio(row, mean, level, counts)
            if min(counts) > 1 and all(_has_no_spread(x) for p in of_group for x in (p.a, p.b)):
                row = _exactly(row, same=abs(mean.value - 1) <= EQUAL_RUNS)
            tested.append(_Tested(row, mean))
    alpha = (1 - level) / max(sum(each.row.p is not None for each in tested), 1)
    if plan_runs:
        tested = [_examine(each, contrast_function, level, alpha, ranks=ranks) for each in tested]
    return _adjust_holm(tested, level, plan_runs)


class _Tested(NamedTuple):
    """A row with the contrast that it was computed from, and the one without an outlying run."""

    row: RatioRow
    ratio: RunRatio | None
    pair: Pair | None = None
    reduced: RunRatio | None = None


def _row_of_pair(pair: Pair, kind: ComparedQuantity, better: str) -> RatioRow:
    return RatioRow(
        pair.quantity,
        key_text(pair.condition),
        kind.unit,
        better,
        mean_a=_none_if_infinite(pair.a.mean),
        mean_b=_none_if_infinite(pair.b.mean),
        runs_a=pair.a.n,
        runs_b=pair.b.n,
        side=pair.side,
    )


def _pair_row(
    pair: Pair,
    kind: ComparedQuantity,
    contrast_function: ContrastFunction,
    margin: float,
    level: float,
    zeros: bool,
) -> _Tested:
    ratio = contrast_function(pair)
    row = replace(_row_of_pair(pair, kind, kind.better), margin=max(margin, pair.resolution))
    row = _with_ratio(row, ratio, level, (pair.a.n, pair.b.n))
    if pair.resolution > margin and not row.note:
        row = replace(row, note=COUNTED.format(name=pair.quantity))
    if not zeros and (note := _zero_note(pair, kind)):
        row = replace(row, ratio=None, low=None, high=None, p=None)
        return _Tested(replace(row, verdict="not judged", note=note), ratio)
    a, b = pair.a, pair.b
    if not (_has_no_spread(a) and _has_no_spread(b) and min(a.n, b.n) > 1):
        return _Tested(row, ratio, pair)
    same = abs(a.mean - b.mean) <= EQUAL_RUNS * abs(a.mean)
    note = CLOCK if kind.unit == "s" else ""
    if not same and not note and all(side.values[0] == round(side.values[0]) for side in (a, b)):
        chance = (2 if a.n == b.n else 1) / math.comb(a.n + b.n, a.n)
        note = (
            f"all {a.n} runs of A and all {b.n} of B are equal: if labels were exchanged at random, "
            f"the sides would differ in every run with a probability of {chance:.2g}"
        )
    return _Tested(_exactly(row, same=same, note=note), ratio)


def _zero_note(pair: Pair, kind: ComparedQuantity) -> str:
    """Describe zeros of a time, or of a quantity with a direction that is no count; "" without."""
    zero = [
        (letter, side) for letter, side in (("A", pair.a), ("B", pair.b)) if not side.values.all()
    ]
    values = np.concatenate([pair.a.values, pair.b.values])
    is_count = bool((values == np.round(values)).all()) and kind.unit in ("", "1", "count")
    unknown_unit = not kind.unit and any(not side.values.any() for _, side in zero)
    if not zero or is_count or not (kind.better or kind.unit == "s" or unknown_unit):
        return ""
    letter, side = zero[-1]
    count = int((side.values == 0).sum())
    return ZEROS.format(zero=count, runs=side.n, side=letter, name=pair.quantity)


def _exactly(row: RatioRow, *, same: bool, note: str = "") -> RatioRow:
    """Complete the row of sides without spread: an exact comparison, with no interval."""
    row = replace(row, low=None, high=None, p=None, exact=True, note=note)
    if same:
        return replace(row, ratio=1.0, verdict="the same, exactly")
    return replace(row, verdict=_verdict(row))


def _failure_row(pair: Pair, kind: ComparedQuantity, level: float) -> _Tested:
    """Compare shares (or numbers) of failures by their difference, in which zero is allowed."""
    over, under = np.array([1.0, -1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    difference = linear_ratio([pair.b, pair.a], over, under)
    by = pair.b.mean - pair.a.mean
    row = replace(_row_of_pair(pair, kind, "lower"), compared=difference.design, difference=by)
    if not kind.unit and max(pair.a.values.max(), pair.b.values.max()) > 1:
        row = replace(row, unit="count")  # no share is above 1
    if min(pair.a.n, pair.b.n) < 2:
        return _Tested(_judge_by_requests(row, pair, level), None)
    if _has_no_spread(pair.a) and _has_no_spread(pair.b):
        verdict: Verdict = _verdict(row) if by else "the same, exactly"
        return _Tested(replace(row, verdict=verdict, exact=True), None)
    low, high = map(_none_if_infinite, difference.interval(level))
    gap, se = difference.distance(0.0)
    return _Tested(
        replace(row, low=low, high=high, p=t_pvalue(gap / se, difference.df)), difference
    )


def _judge_by_requests(row: RatioRow, pair: Pair, level: float) -> RatioRow:
    """Judge a single run of a side by its requests: the spread between runs is unknown."""
    if pair.counts is None:
        return replace(row, note=_single_run_note((pair.a.n, pair.b.n)))
    from scipy.stats import fisher_exact

    table = [[failed, total - failed] for failed, total in pair.counts]
    p = float(fisher_exact(table).pvalue)
    note = "failures of single runs are judged by requests: the spread between runs is not known"
    verdict: Verdict = "undecided" if p > 1 - level else _verdict(row)
    return replace(row, p=p, p_holm=p, note=note, verdict=verdict)


def _examine(
    tested: _Tested,
    contrast_function: ContrastFunction,
    level: float,
    alpha: float,
    *,
    ranks: bool,
) -> _Tested:
    """Look for one outlying run, and add the row without it; add the rank-based comparison."""
    row, pair = tested.row, tested.pair
    if pair is None or min(pair.a.values.min(), pair.b.values.min()) <= 0:
        return tested
    if ranks and min(pair.a.n, pair.b.n) > 1:
        from virtperf.comparison.ranks import compare_ranks

        ratio, low, high, p, test = compare_ranks(pair.a, pair.b, level)
        of_ranks = replace(row, ratio=ratio, low=low, high=high, p=p, compared=test, note="")
        row = replace(row, ranks=of_ranks)
    found = outlying_run(pair.a, pair.b)
    if found is None:
        return tested._replace(row=row)
    a, b = without_run(pair.a, pair.b, found)
    reduced = contrast_function(replace(pair, a=a, b=b))
    without = _with_ratio(tested.row, reduced, level, (a.n, b.n))
    if without.p is None:
        return tested._replace(row=row)
    if without.p <= alpha:
        without = replace(without, verdict=_verdict(without))
    return tested._replace(row=replace(row, outlier=found, without=without), reduced=reduced)


def _with_ratio(row: RatioRow, ratio: RunRatio, level: float, counts: tuple[int, int]) -> RatioRow:
    """Complete a row by the ratio, its interval and its p-value."""
    known = math.isfinite(ratio.value) and not math.isnan(ratio.se)
    low, high = ratio.interval(level) if known else (math.nan, math.nan)
    note = CONFOUNDED if known and ratio.confounded else ""
    if not known and math.isfinite(ratio.value):
        note = _single_run_note(counts)
    return replace(
        row,
        ratio=_none_if_infinite(ratio.value),
        low=_none_if_infinite(low),
        high=_none_if_infinite(high),
        p=p_value(ratio, row.margin) if known else None,
        runs_a=counts[0],
        runs_b=counts[1],
        compared=ratio.design,
        note=note,
    )


def _single_run_note(counts: tuple[int, int]) -> str:
    """Why there is no interval: a side has a single run, or each a single block."""
    single = [side for side, n in zip("AB", counts, strict=True) if n == 1]
    has = " and ".join(single) + (" have" if len(single) > 1 else " has")
    return ONE_RUN.format(sides=has) if single else ONE_BLOCK_EACH


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
    return float(t_pvalue(errors, ratio.df))


def _adjust_holm(rows_tested: Sequence[_Tested], level: float, plan_runs: bool) -> list[RatioRow]:
    rows = [each.row for each in rows_tested]
    open_rows = [at for at, row in enumerate(rows) if row.p is not None and row.p_holm is None]
    failures = [at for at in open_rows if rows[at].difference is not None]
    tested = [at for at in open_rows if rows[at].difference is None]
    alpha = 1 - level
    for place, p in zip(failures, holm([rows[at].p or 0.0 for at in failures]), strict=True):
        row = replace(rows[place], p_holm=p)
        rows[place] = replace(row, verdict=_verdict(row)) if p <= alpha else row
    adjusted = holm([rows[at].p or 0.0 for at in tested])
    clearest = sorted(tested, key=lambda at: rows[at].p or 0.0)[:MAX_PLANNED]
    for place, p in zip(tested, adjusted, strict=True):
        row, ratio = replace(rows[place], p_holm=p), rows_tested[place].ratio
        if p <= alpha:
            row = replace(row, verdict=_verdict(row))
        elif plan_runs and place in clearest and ratio is not None:
            reduced = rows_tested[place].reduced
            decided = row.without is not None and row.without.verdict != "undecided"
            more = (
                None if decided else _more_runs(reduced or ratio, row.margin, alpha / len(tested))
            )
            row = replace(row, more_runs=more)
        rows[place] = row
    return rows


def _verdict(row: RatioRow) -> Verdict:
    margin = row.margin
    if row.difference is not None:
        return "worse" if row.difference > 0 else "better"
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
    from virtperf.models.power import runs_needed

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
    groups = grouped(
        (quantities[pair.quantity].group or pair.quantity, pair)
        for pair in pairs
        if not quantities[pair.quantity].is_failure
    )
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
    for blocks in (False, True):
        a = _means_by([pair.a for pair in pairs], blocks=blocks)
        b = _means_by([pair.b for pair in pairs], blocks=blocks)
        if a is not None and b is not None:
            return log_ratio(b, a), counts
    ratios = [contrast_function(pair) for pair in pairs]
    logs = [math.log(ratio.value) for ratio in ratios if isinstance(ratio, LogRatio)]
    if len(logs) < len(ratios) or any(ratio.confounded for ratio in ratios):
        return None, counts
    k, errors = len(ratios), [ratio.se for ratio in ratios]
    se, df = error_of_sum([se**2 for se in errors], [ratio.df for ratio in ratios])
    n = min(ratio.n for ratio in ratios)
    design = f"over {k} conditions with separate standard errors"
    return LogRatio(math.exp(math.fsum(logs) / k), se / k, df, n, design), counts


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


def _has_no_spread(side: Replicates) -> bool:
    spread = float(np.ptp(side.values))
    return spread <= EQUAL_RUNS * abs(side.mean)


def _count_runs(sides: Sequence[Replicates]) -> int:
    """Number of distinct runs of a side; without run ids, the sum over conditions."""
    if all(side.run_ids for side in sides):
        return len({run for side in sides for run in side.run_ids})
    return sum(side.n for side in sides)


def _none_if_infinite(value: float) -> float | None:
    return value if math.isfinite(value) else None
