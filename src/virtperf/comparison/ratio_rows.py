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
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from rawperf.results.names import split_unit
from virtperf.comparison.outliers import OutlyingRuns, outlying_runs, without_runs
from virtperf.comparison.row import Row, direction, finite_or_none
from virtperf.core.contrasts import (
    LinearRatio,
    LogRatio,
    Replicates,
    linear_ratio,
    log_ratio,
)
from virtperf.core.estimate import Estimate
from virtperf.core.grouping import grouped
from virtperf.core.statistics import error_of_sum, holm, t_pvalue
from virtperf.runs.run_values import UNIT_NAMES, ComparedQuantity, Condition, key_text

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
QUANTITY_NAMES = re.compile(r"(?i)metrics?|quantity|measure(ment|d)?|variable|kpi")
"""Names of columns that say what the number of a row is."""
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
NEGATIVE = "{name}: the mean of A is negative; changes are shares of its size"
NO_BASE = "{name}: the mean of A is 0, so the sides are compared by their difference"
NUMBER_OF_FAILURES = "{name} is a number, not a share: a side with more requests may have more failures for that reason"
TOO_MANY_RUNS = "{name}: too many runs for a comparison by ranks"
ZEROS = (
    "{zero} of {runs} runs of {side} have {name} {value}, which no completed run has: failed runs, or a "
    "number that was not measured; --zeros judges it"
)
POSITIVE_NAMES = re.compile(
    r"(?i)(.*[_ ])?(elapsed|time|latency|duration|seconds?|throughput|rate|rps|qps|tps|iops)"
)
NONZERO_NAMES = re.compile(r"(?i)(.*[_ ])?(elapsed|latency|duration|throughput|rps|qps|tps)")
DIFFERENCE_NAMES = re.compile(
    r"(?i).*(delta|diff|change|offset|skew|drift|error|overhead|saving).*"
)
"""Names of times and rates that may be below 0."""


@dataclass(frozen=True)
class RatioRow(Row):
    """One row of a comparison: the ratio of B's mean to A's; their difference (`is_difference`) for
    failures, and where A's mean is 0.

    The limits of `estimate` are unadjusted, at the comparison's level; there are none with one run
    per side. Of a negative mean of A, `ratio` is 1 plus the change as a share of its size. `p` is the
    p-value for the nearest end of the margin, `p_holm` the Holm-adjusted one; None where undefined.
    `more_runs` per side decide with a power of 80 % at the observed ratio and spread (without an
    outlying run); None where the row is decided, the spread unknown, or 1,000 runs are too few.
    `exact`: all runs of each side have the same value, so that the sides differ in every run or not
    at all. `margin` is that of the row, at least the resolution of its counts; `side` is the name of
    B. `outlier` are the outlying runs, and `without` the row without them. `ranks` is the rank-based
    comparison: Hodges and Lehmann's estimate of the ratio with its interval, and the p-value of the
    test that `compared` names.
    """

    verdict: Verdict = "undecided"
    is_difference: bool = False
    p: float | None = None
    p_holm: float | None = None
    mean_a: float | None = None
    mean_b: float | None = None
    runs_a: int = 0
    runs_b: int = 0
    compared: str = ""
    more_runs: int | None = None
    side: str = ""
    margin: float = 0.0
    exact: bool = False
    outlier: OutlyingRuns | None = None
    without: RatioRow | None = None
    ranks: RatioRow | None = None

    own_names = {"estimate": ""}

    @property
    def ratio(self) -> float | None:
        """Ratio of B's mean to A's; None without one."""
        return self.estimate.value if self.estimate and not self.is_difference else None

    @property
    def difference(self) -> float | None:
        """B's mean minus A's, where these are compared by it."""
        return self.estimate.value if self.estimate and self.is_difference else None

    @property
    def excludes_no_change(self) -> bool:
        """Whether the interval excludes equal sides."""
        no_change = 0.0 if self.is_difference else 1.0
        return self.estimate is not None and self.has_interval and no_change not in self.estimate

    @property
    def change(self) -> Estimate | None:
        """The change of B against A, in `change_unit`."""
        if self.estimate is None or not self.is_difference:
            return self.estimate and self.estimate.map(lambda ratio: 100 * (ratio - 1))
        return self.estimate.scaled(100) if self.is_share else self.estimate

    @property
    def change_unit(self) -> str:
        """Unit of `change` with a blank before it."""
        if not self.is_difference:
            return " %"
        if self.is_share or (self.is_failure and self.unit == "%"):
            return " points"
        return f" {self.unit}" if self.unit not in ("", "count") else ""

    @property
    def is_share(self) -> bool:
        """Whether the quantity is a share of failures, as opposed to their number."""
        return self.is_failure and self.unit == "1"

    @property
    def is_mean(self) -> bool:
        return self.condition.startswith(GEOMETRIC_MEAN)

    @property
    def importance(self) -> tuple[int, float]:
        """Sort key: failures, what is not judged, changes for the worse, other changes, the rest;
        larger changes first.
        """
        size = abs(math.log(self.ratio)) if self.ratio and self.ratio > 0 else math.inf
        if self.is_failure and self.verdict != "the same, exactly":
            return (0 if self.verdict == "worse" else 1), -abs(self.difference or 0.0)
        if self.verdict == "not judged":
            return 2, 0.0
        if self.verdict in CALLED_DIFFERENT:
            return (3 if self.verdict in FOR_THE_WORSE else 4), -size
        order = {"undecided": 5, "same within the margin": 6, "the same, exactly": 7}
        return order[self.verdict], self.p if self.p is not None else 1.0

    def to_dict(self) -> dict[str, Any]:
        numbers = ("ratio", "low", "high", "difference")
        return super().to_dict() | {name: getattr(self, name) for name in numbers}


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
    """Ratio of B to A: on the log scale, or as a ratio of means if a value is not positive. If A's mean
    is negative, it is 1 plus the change relative to its size, so that larger values have larger ratios.
    """
    if min(pair.a.values.min(), pair.b.values.min()) > 0:
        return log_ratio(pair.b, pair.a)
    over = [-1.0, 2.0, 0.0] if pair.a.mean < 0 else [1.0, 0.0, 0.0]
    return linear_ratio([pair.b, pair.a], np.array(over), np.array([0.0, 1.0, 0.0]))


def pairs_with_rows(
    pairs: Sequence[Pair], quantities: Mapping[str, ComparedQuantity]
) -> list[Pair]:
    """Pairs that are not zero in all runs; without any, those of failures: none is a result too."""
    known = [pair for pair in pairs if pair.a.values.any() or pair.b.values.any()]
    return known or [pair for pair in pairs if quantities[pair.quantity].is_failure]


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
        _pair_row(pair, quantities[pair.quantity], contrast_function, margin, level, zeros)
        for pair in pairs_with_rows(pairs, quantities)
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
            fewest = min(p.a.n for p in of_group), min(p.b.n for p in of_group)
            if row.p is None:
                row = replace(row, note=_single_run_note(fewest))
            if min(fewest) > 1 and all(_has_no_spread(x) for p in of_group for x in (p.a, p.b)):
                row = _exactly(row, same=abs(mean.value - 1) <= EQUAL_RUNS)
            tested.append(_Tested(row, mean))
    alpha = (1 - level) / max(sum(each.row.p is not None for each in tested), 1)
    if plan_runs:
        tested = [_examine(each, contrast_function, level, alpha, ranks=ranks) for each in tested]
    return _adjust_holm(tested, level, plan_runs)


class _Tested(NamedTuple):
    """A row with the contrast that it was computed from, and the one without an outlying run."""

    row: RatioRow
    ratio: RunRatio | None = None
    pair: Pair | None = None
    reduced: RunRatio | None = None


def _pair_row(
    pair: Pair,
    kind: ComparedQuantity,
    contrast_function: ContrastFunction,
    margin: float,
    level: float,
    zeros: bool,
) -> _Tested:
    a, b = pair.a, pair.b
    kind = replace(kind, unit=kind.unit or _unit_of_row(pair))
    row = RatioRow(
        pair.quantity,
        key_text(pair.condition),
        kind.unit,
        kind.better or "lower" * kind.is_failure,
        is_failure=kind.is_failure,
        mean_a=finite_or_none(a.mean),
        mean_b=finite_or_none(b.mean),
        runs_a=a.n,
        runs_b=b.n,
        side=pair.side,
    )
    if kind.is_failure:
        return _difference_row(pair, row, level)
    row = replace(row, margin=max(margin, pair.resolution))
    if not zeros and (note := _zero_note(pair, kind)):
        return _Tested(replace(row, verdict="not judged", note=note))
    ratio = contrast_function(pair)
    if not math.isfinite(ratio.value):
        return _difference_row(pair, replace(row, note=NO_BASE.format(name=row.quantity)), level)
    row = _with_ratio(row, ratio, level, (a.n, b.n))
    if not row.note and (pair.resolution > margin or a.mean < 0):
        row = replace(row, note=(NEGATIVE if a.mean < 0 else COUNTED).format(name=pair.quantity))
    if not (_has_no_spread(a) and _has_no_spread(b) and min(a.n, b.n) > 1):
        return _Tested(row, ratio, pair)
    same = abs(a.mean - b.mean) <= EQUAL_RUNS * abs(a.mean)
    note = "; ".join(filter(None, (row.note * (a.mean < 0), _exact_note(pair, kind, same=same))))
    return _Tested(_exactly(row, same=same, note=note), ratio)


def _exact_note(pair: Pair, kind: ComparedQuantity, *, same: bool) -> str:
    """What equal runs of each side mean: the resolution of a clock, or a probability by chance."""
    a, b = pair.a, pair.b
    if kind.unit == "s":
        return CLOCK
    if same or not all(side.values[0] == round(side.values[0]) for side in (a, b)):
        return ""
    chance = (2 if a.n == b.n else 1) / math.comb(a.n + b.n, a.n)
    return (
        f"all {a.n} runs of A and all {b.n} of B are equal: if labels were exchanged at random, "
        f"the sides would differ in every run with a probability of {chance:.2g}"
    )


def _zero_note(pair: Pair, kind: ComparedQuantity) -> str:
    """Describe zeros that no completed run has, of the last side with such; "" without."""
    values = np.concatenate([pair.a.values, pair.b.values])
    all_zero = any(not side.values.any() for side in (pair.a, pair.b))
    missing = missing_values(values, kind, all_zero=all_zero)
    if not missing.any():
        return ""
    letter, of = [
        each for each in (("A", missing[: pair.a.n]), ("B", missing[pair.a.n :])) if each[1].any()
    ][-1]
    value = "0" if not (values[missing] < 0).any() else "0 or less"
    return ZEROS.format(
        zero=int(of.sum()), runs=len(of), side=letter, name=pair.quantity, value=value
    )


def missing_values(
    values: np.ndarray, kind: ComparedQuantity, *, all_zero: bool = False
) -> np.ndarray:
    """Which values no completed run has: zeros of a time, or of a quantity with a direction that is no
    count, and times and rates below 0 among positive ones. `all_zero`: whether a side has only zeros.
    """
    none = np.zeros(len(values), dtype=bool)
    if kind.is_failure:
        return none
    is_count = bool((values == np.round(values)).all()) and kind.unit in ("", "1", "count")
    name = kind.group.rpartition("/")[2]
    is_never_zero = not is_count and bool(
        kind.better
        or kind.unit == "s"
        or (not kind.unit and all_zero)
        or NONZERO_NAMES.fullmatch(name)
    )
    is_positive = kind.unit == "s" or kind.unit.endswith("/s") or POSITIVE_NAMES.fullmatch(name)
    if not is_positive or DIFFERENCE_NAMES.fullmatch(name) or not (values > 0).any():
        return (values == 0) if is_never_zero else none
    return (values <= 0) if is_never_zero else (values < 0)


def _exactly(row: RatioRow, *, same: bool, note: str = "") -> RatioRow:
    """Complete the row of sides without spread: an exact comparison, with no interval."""
    assert row.estimate is not None  # A's mean is not 0
    exact = row.estimate.without_interval()
    row = replace(row, estimate=exact, p=None, exact=True, note=note)
    if same:
        value = 0.0 if row.is_difference else 1.0
        return replace(row, estimate=replace(exact, value=value), verdict="the same, exactly")
    return replace(row, verdict=_verdict(row))


def _difference_row(pair: Pair, row: RatioRow, level: float) -> _Tested:
    """Compare the sides by their difference, in which zero is allowed: failures, and a base of 0."""
    over, under = np.array([1.0, -1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    difference = linear_ratio([pair.b, pair.a], over, under)
    by = pair.b.mean - pair.a.mean
    counts = (pair.a.n, pair.b.n)
    estimate = Estimate(by, math.nan, math.nan, level, "difference", n=min(counts))
    row = replace(row, is_difference=True, compared=difference.design, estimate=estimate)
    if min(counts) > 1 and _has_no_spread(pair.a) and _has_no_spread(pair.b):
        return _Tested(_exactly(row, same=not by, note=row.note))
    if difference.n < 2:
        if row.is_failure and pair.counts is not None and min(counts) < 2:
            return _Tested(_judge_by_requests(row, pair.counts, level))
        return _Tested(replace(row, note=_single_run_note(counts)))
    gap, se = difference.distance(0.0)
    p = float(t_pvalue(_standard_errors(gap, se), difference.df))
    return _Tested(replace(row, estimate=difference.estimate(level), p=p))


def _judge_by_requests(
    row: RatioRow, counts: tuple[tuple[int, int], tuple[int, int]], level: float
) -> RatioRow:
    """Judge a single run of a side by its requests: the spread between runs is unknown."""
    from scipy.stats import fisher_exact

    p = float(fisher_exact([[failed, total - failed] for failed, total in counts]).pvalue)
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
    """Look for outlying runs, and add the row without it; add the rank-based comparison."""
    row, pair = tested.row, tested.pair
    if pair is None or min(pair.a.values.min(), pair.b.values.min()) <= 0:
        return tested
    if ranks and min(pair.a.n, pair.b.n) > 1:
        from virtperf.comparison.ranks import compare_ranks

        compared = compare_ranks(pair.a, pair.b, level)
        if compared is None:
            row = replace(row, note=row.note or TOO_MANY_RUNS.format(name=row.quantity))
        else:
            estimate, p = compared
            by_rank = replace(row, estimate=estimate, p=p, compared=estimate.method, note="")
            row = replace(row, ranks=by_rank)
    found = outlying_runs(pair.a, pair.b)
    if found is None:
        return tested._replace(row=row)
    a, b = without_runs(pair.a, pair.b, found)
    reduced = contrast_function(replace(pair, a=a, b=b))
    without = _with_ratio(tested.row, reduced, level, (a.n, b.n))
    if without.p is None:
        return tested._replace(row=row)
    if without.p <= alpha:
        without = replace(without, verdict=_verdict(without))
    return tested._replace(row=replace(row, outlier=found, without=without), reduced=reduced)


def _with_ratio(row: RatioRow, ratio: RunRatio, level: float, counts: tuple[int, int]) -> RatioRow:
    """Complete a row by the ratio, its interval and its p-value."""
    known = not math.isnan(ratio.se)
    note = CONFOUNDED if ratio.confounded else ""
    method = "log-ratio" if isinstance(ratio, LogRatio) else "Fieller"
    unknown = Estimate(ratio.value, math.nan, math.nan, level, method, n=ratio.n)
    return replace(
        row,
        estimate=ratio.estimate(level) if known else unknown,
        p=p_value(ratio, row.margin) if known else None,
        runs_a=counts[0],
        runs_b=counts[1],
        compared=ratio.design,
        note=note if known else _single_run_note(counts),
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
    errors = min(_standard_errors(gap, se) for gap, se in margins)
    return float(t_pvalue(errors, ratio.df))


def _standard_errors(gap: float, se: float) -> float:
    """Size of a gap in standard errors; infinite for one without spread."""
    return abs(gap) / se if se else (math.inf if gap else 0.0)


def _adjust_holm(rows_tested: Sequence[_Tested], level: float, plan_runs: bool) -> list[RatioRow]:
    rows = [each.row for each in rows_tested]
    open_rows = [at for at, row in enumerate(rows) if row.p is not None and row.p_holm is None]
    failures = [at for at in open_rows if rows[at].is_failure]
    tested = [at for at in open_rows if not rows[at].is_failure]
    alpha = 1 - level
    for place, p in zip(failures, holm([rows[at].p or 0.0 for at in failures]), strict=True):
        row = replace(rows[place], p_holm=p)
        if p <= alpha:
            both = row.unit in ("", "count") and row.mean_a and row.mean_b
            note = NUMBER_OF_FAILURES.format(name=row.quantity) if both else ""
            row = replace(row, verdict=_verdict(row), note=row.note or note)
        rows[place] = row
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
    assert row.estimate is not None  # it has a p, or is exact
    value, margin = row.estimate.value, row.margin
    if row.is_failure:
        return "better" if (value > 0) == (row.better == "higher") else "worse"
    if not row.is_difference and 1 / (1 + margin) <= value <= 1 + margin:
        return "same within the margin" if margin else "undecided"
    return direction(is_up=value > (0 if row.is_difference else 1), better=row.better)


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


def _unit_of_row(pair: Pair) -> str:
    """Unit that a column of the table gives to the row; "" without."""
    return next((str(level) for name, level in pair.condition if UNIT_NAMES.fullmatch(name)), "")


def _groups(
    pairs: Iterable[Pair], quantities: Mapping[str, ComparedQuantity]
) -> dict[str, list[Pair]]:
    """Groups with at least two pairs of one unit, with positive values only."""
    groups = grouped(
        (quantities[pair.quantity].group or pair.quantity, pair)
        for pair in pairs
        if not quantities[pair.quantity].is_failure
    )
    return {
        group: group_pairs
        for group, group_pairs in groups.items()
        if len(group_pairs) > 1
        and not _are_of_different_kinds([pair.condition for pair in group_pairs])
        and all(min(p.a.values.min(), p.b.values.min()) > 0 for p in group_pairs)
    }


def _are_of_different_kinds(conditions: Sequence[Condition]) -> bool:
    """Whether a key of the rows names quantities or units: a mean over time and throughput means nothing."""
    levels = grouped((name, str(level)) for at in conditions for name, level in at)
    return any(
        len({*of_name}) > 1
        and (
            QUANTITY_NAMES.fullmatch(name)
            or UNIT_NAMES.fullmatch(name)
            or len({split_unit(level)[1] for level in of_name}) > 1
        )
        for name, of_name in levels.items()
    )


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
