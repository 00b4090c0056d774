"""Confidence regions of estimates against the ranges allowed by a statement: decision, power,
sample size.

C is the product of the allowed ranges, R that of the estimates' confidence intervals. A statement
fails if R and C are disjoint: an interval lies outside its range at the level ``1 - alpha / k`` for
k estimates, so that all intervals hold simultaneously (Bonferroni). It holds if every estimate's
own interval lies inside its range, without a correction for k: to accept the statement wrongly, the
test of the one estimate outside its range must err (intersection-union test). `core.contrasts`
defines the intervals.

References
----------
Berger, R. L. (1982). Multiparameter hypothesis testing and acceptance sampling. Technometrics 24,
295-300.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy import special

from virtperf.core.contrasts import Contrast, LinearRatio, LogRatio, SampledRatio
from virtperf.core.estimate import Estimate
from virtperf.core.statistics import t_quantile

MAX_RUNS_NEEDED = 1000
TARGET_POWER = 0.8
"""Power for `runs_to_decide`, and for `Comparison.detectable`."""


class Decision(StrEnum):
    """Outcome of a claim or hypothesis by measured runs.

    `AGREES` and `DIFFERS` are based on the estimate alone, where no interval decides.
    """

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"
    AGREES = "agrees"
    DIFFERS = "differs"
    UNMEASURED = "unmeasured"


@dataclass(frozen=True, eq=False)
class Comparison:
    """An estimate from measured runs, ``factor x contrast + shift``, and the range allowed by a
    statement.

    `low` and `high` are the range, possibly infinite; `runs` the smallest and largest number of
    runs of a condition. `label` distinguishes the statement's comparisons, `remark` is a note on
    the range, `unit` the unit after the number; None if it is not the statement's own. `strict`:
    whether `low` is exclusive. `bounds`: natural bounds of the number, such as 0 and 100 %.
    """

    contrast: Contrast
    low: float
    high: float
    runs: tuple[int, int]
    factor: float = 1.0
    shift: float = 0.0
    label: str = ""
    remark: str = ""
    unit: str | None = ""
    strict: bool = False
    bounds: tuple[float, float] = (-math.inf, math.inf)

    @property
    def value(self) -> float:
        """The estimate; NaN for a zero divisor."""
        return self.factor * self.contrast.value + self.shift

    @property
    def size(self) -> float:
        """Sum of the absolute means, in the unit of the estimate."""
        return math.nan if isinstance(self.contrast, LogRatio) else self.contrast.size

    @property
    def of_samples(self) -> bool:
        """Whether the replicates are independent samples of one run instead of runs."""
        return isinstance(self.contrast, SampledRatio)

    @property
    def known(self) -> bool:
        """Whether there is a standard error: a single run, or a single block of a condition, shows
        no spread.
        """
        return self.contrast.n > 1 and math.isfinite(self.contrast.value)

    @property
    def relative(self) -> bool:
        """Whether the comparison is a ratio on the log scale."""
        return isinstance(self.contrast, LogRatio)

    def estimate(self, level: float) -> Estimate:
        """Return the estimate with its interval; NaN limits unless `known`."""
        if not self.known:
            return Estimate(self.value, math.nan, math.nan, level, "")
        return self.contrast.estimate(level).scaled(self.factor).shifted(self.shift)

    def score(self, level: float) -> float:
        """Signed distance of the estimate outside its range, in half widths of its interval;
        negative inside.
        """
        found = self.estimate(level)
        return max(
            _half_widths(found.value - self.high, found.value - found.low),
            _half_widths(self.low - found.value, found.high - found.value),
        )

    def detectable(self, level: float) -> float:
        """Distance from a limit of the range that such runs refute with power `TARGET_POWER`:
        relative to the ratio if `relative`, else in the unit of the estimate.
        """
        if not self.known or self.of_samples:
            return math.nan
        df = self._of_runs.df
        quantile = t_quantile(df, level) + t_quantile(df, 2 * TARGET_POWER - 1)  # of one side
        distance = self._of_runs.detectable(float(quantile))
        return distance if self.relative else abs(self.factor) * distance

    def distances(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances inside each finite end of the range, shape (sides, 2), and of a
        divisor from zero, shape (1, 2) or (0, 2).

        The second column is the standard deviation between single runs or blocks.
        """
        c = self._of_runs
        root = math.sqrt(c.n)
        sides = []
        for sign, end in ((1, self.low), (-1, self.high)):
            if math.isfinite(end):
                gap, se = c.distance((end - self.shift) / self.factor)
                sides.append((sign * gap, se * root))
        divisor = []
        if isinstance(c, LinearRatio) and c.under[:-1].any():
            size = abs(float(c.under @ c.means))
            divisor.append((size, math.sqrt(float(c.under @ c.covariance @ c.under)) * root))
        return np.array(sides).reshape(-1, 2), np.array(divisor).reshape(-1, 2)

    def df_per_run(self) -> float:
        """Degrees of freedom per run, or block, beyond the first."""
        return self._of_runs.df / (self._of_runs.n - 1)

    @property
    def _of_runs(self) -> LogRatio | LinearRatio:
        if isinstance(self.contrast, SampledRatio):
            raise TypeError("independent samples of one run have no standard error between runs")
        return self.contrast


def decide(compared: Sequence[Comparison], level: float, *, whole: bool) -> Decision:
    """Decide a statement that is the conjunction of comparisons.

    `compared` are those with fully measured conditions; `whole`: whether these are all comparisons
    of the statement; a part can fail, but not hold.
    """
    if not compared:
        return Decision.UNMEASURED
    at_once = bonferroni_level(compared, level)
    if any(
        found.low > each.high or found.high < each.low
        for each in compared
        for found in [each.estimate(at_once)]
    ):
        return Decision.FAILS
    if whole and all(
        each.low <= found.low and found.high <= each.high
        for each in compared
        for found in [each.estimate(level)]
    ):
        return Decision.HOLDS
    return Decision.UNDECIDED


def by_value(compared: Sequence[Comparison]) -> Decision:
    """Decide by the estimates alone, for runs that are the very experiment the statement is about."""
    inside = all(each.low <= each.value <= each.high for each in compared)
    return Decision.AGREES if inside else Decision.DIFFERS


def bonferroni_level(compared: Sequence[Comparison], level: float) -> float:
    """Bonferroni-adjusted level of single intervals for a simultaneous `level`."""
    return 1 - (1 - level) / max(1, sum(each.known for each in compared))


def worst(compared: Sequence[Comparison], level: float) -> Comparison:
    """The comparison with the strongest evidence against the statement; ties go to the first."""
    if not any(each.known for each in compared):
        return max(compared, key=lambda each: max(each.value - each.high, each.low - each.value))
    return max(compared, key=lambda each: each.score(level) if each.known else -math.inf)


def detectable_difference(
    compared: Sequence[Comparison], level: float
) -> tuple[float, Comparison | None]:
    """Return the largest of the comparisons' detectable differences, and its comparison; smaller
    differences may have been missed. NaN and None if none is known.
    """
    at_once = bonferroni_level(compared, level)
    known = [each for each in compared if each.known and not each.of_samples]
    if not known:
        return math.nan, None
    hardest = max(known, key=lambda each: each.detectable(at_once))
    return hardest.detectable(at_once), hardest


def runs_to_decide(compared: Sequence[Comparison], level: float, *, whole: bool) -> float:
    """Sample size: number of runs per condition needed to decide, at the observed means and spread.

    The smallest number, up to `MAX_RUNS_NEEDED`, for which `decide` decides with a power of about
    `TARGET_POWER`; infinite if `MAX_RUNS_NEEDED` are not enough. NaN if a condition has a single
    run, so that the spread is unknown, or if no number of runs of a part decides the whole.
    """
    if not all(each.known and not each.of_samples for each in compared):
        return math.nan
    counts = np.arange(2, MAX_RUNS_NEEDED + 1)
    at_once = bonferroni_level(compared, level)
    type_ii_error, fails = np.zeros(len(counts)), np.ones(len(counts))
    for each in compared:
        df = each.df_per_run() * (counts - 1)
        sides, divisor = each.distances()
        type_ii_error += _type_ii_error(np.vstack([sides, divisor]), counts, df, level).sum(axis=0)
        against = _type_ii_error(sides * [-1, 1], counts, df, at_once).min(axis=0, initial=1.0)
        fails = np.minimum(
            fails, against + _type_ii_error(divisor, counts, df, at_once).sum(axis=0)
        )
    enough = (fails <= 1 - TARGET_POWER) | (whole & (type_ii_error <= 1 - TARGET_POWER))
    decided = np.flatnonzero(enough)
    return float(counts[decided[0]]) if len(decided) else math.inf if whole else math.nan


def _type_ii_error(
    seen: np.ndarray, counts: np.ndarray, df: np.ndarray, level: float
) -> np.ndarray:
    """Approximate type II error of these distances for each number of runs; shape (rows of `seen`,
    counts).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        standard_errors = np.nan_to_num(
            seen[:, :1] / seen[:, 1:], nan=math.inf, posinf=math.inf, neginf=-math.inf
        )
    return special.stdtr(df, t_quantile(df, level) - standard_errors * np.sqrt(counts))


def _half_widths(gap: float, half: float) -> float:
    if math.isinf(gap) or not half:
        return math.copysign(math.inf, gap) if gap else -math.inf  # exact, at its limit
    # keep the sign of underflowing gaps, such as that of 0 from the limit of a strict order
    return gap / half or (math.copysign(math.ulp(0.0), gap) if gap else 0.0)
