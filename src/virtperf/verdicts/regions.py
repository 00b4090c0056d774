"""Numbers of measured conditions against the ranges that a statement allows: decision, power, how
many runs it takes.

C is the product of the allowed ranges, R that of the numbers' confidence intervals. A statement
fails where R and C have nothing in common: an interval lies outside of its range, at the level ``1
- alpha / k`` for k numbers, so that all intervals hold together (Bonferroni). It holds where every
number's own interval lies inside its range: to be taken for true by mistake, the one number that
lies outside must be taken for one inside, which needs no correction for k (intersection-union
test). `core.contrasts` says how the intervals are made.

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

MAX_RUNS_NEEDED = 1000
TARGET_POWER = 0.8
"""Probability with which as many runs as `runs_to_decide` says decide, and with which a difference of
`Comparison.detectable` would have been seen.
"""


class Decision(StrEnum):
    """What measured runs say about a claim or hypothesis.

    `AGREES` and `DIFFERS` are of the value alone, where no interval decides.
    """

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"
    AGREES = "agrees"
    DIFFERS = "differs"
    UNMEASURED = "unmeasured"


@dataclass(frozen=True, eq=False)
class Comparison:
    """A number made of measured runs, ``factor x contrast + shift``, and the range that a statement
    allows for it.

    `low` and `high` are the range, perhaps infinite; `runs` the fewest and the most runs of a
    condition. `label` says which of the statement's comparisons it is, `remark` what a reader
    should know of the range, `unit` the words after the number; None where that is not in the
    statement's own unit. `strict`: whether the number has to be above `low`, not just at it.
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

    @property
    def value(self) -> float:
        """The number; NaN where it is divided by zero."""
        return self.factor * self.contrast.value + self.shift

    @property
    def size(self) -> float:
        """The sizes of the means, added in the number's unit."""
        return math.nan if isinstance(self.contrast, LogRatio) else self.contrast.size

    @property
    def of_samples(self) -> bool:
        """Whether independent samples of one run stand in the place of runs."""
        return isinstance(self.contrast, SampledRatio)

    @property
    def known(self) -> bool:
        """Whether there is an error: one run, or one block of a condition, does not show how far
        others differ.
        """
        return self.contrast.n > 1 and math.isfinite(self.contrast.value)

    @property
    def relative(self) -> bool:
        """Whether it is compared as a ratio, on the log scale."""
        return isinstance(self.contrast, LogRatio)

    def interval(self, level: float) -> tuple[float, float]:
        """The confidence interval of the number; NaN where it is not `known`."""
        if not self.known:
            return math.nan, math.nan
        low, high = self.contrast.interval(level)
        return self.factor * low + self.shift, self.factor * high + self.shift

    def score(self, level: float) -> float:
        """How far the number lies outside of its range, in half widths of its interval; negative
        inside.
        """
        low, high = self.interval(level)
        return max(
            _share(self.value - self.high, self.value - low),
            _share(self.low - self.value, high - self.value),
        )

    def detectable(self, level: float) -> float:
        """The distance from a limit of the range that runs like these refute with probability
        `TARGET_POWER`: a share of the ratio where `relative`, else in the number's unit.
        """
        if not self.known or self.of_samples:
            return math.nan
        df = self._of_runs.df
        quantile = special.stdtrit(df, (1 + level) / 2) + special.stdtrit(df, TARGET_POWER)
        found = self._of_runs.detectable(float(quantile))
        return found if self.relative else abs(self.factor) * found

    def distances(self) -> tuple[np.ndarray, np.ndarray]:
        """Inside each finite end of the range, shape (sides, 2), and of a divisor from zero, shape
        (1, 2) or (0, 2).

        Beside each stands its deviation between single runs or blocks.
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
        """Degrees of freedom over runs, or blocks, less one."""
        return self._of_runs.df / (self._of_runs.n - 1)

    @property
    def _of_runs(self) -> LogRatio | LinearRatio:
        if isinstance(self.contrast, SampledRatio):
            raise TypeError("independent samples of one run show no error of runs")
        return self.contrast


def decide(compared: Sequence[Comparison], level: float, *, whole: bool) -> Decision:
    """What measured runs say about a statement that is the conjunction of comparisons.

    `compared` are those whose conditions were all measured; `whole`: whether these are all that the
    statement makes; a part can fail, but not hold.
    """
    if not compared:
        return Decision.UNMEASURED
    at_once = bonferroni_level(compared, level)
    for each in compared:
        low, high = each.interval(at_once)
        if low > each.high or high < each.low:
            return Decision.FAILS
    if whole and all(
        c.low <= low and high <= c.high for c in compared for low, high in [c.interval(level)]
    ):
        return Decision.HOLDS
    return Decision.UNDECIDED


def by_value(compared: Sequence[Comparison]) -> Decision:
    """What the values alone say, as they are: for runs that are the very experiment of which the
    statement speaks.
    """
    inside = all(each.low <= each.value <= each.high for each in compared)
    return Decision.AGREES if inside else Decision.DIFFERS


def bonferroni_level(compared: Sequence[Comparison], level: float) -> float:
    """The level of single intervals that hold together at `level`."""
    return 1 - (1 - level) / max(1, sum(each.known for each in compared))


def worst(compared: Sequence[Comparison], level: float) -> Comparison:
    """The comparison that speaks most against the statement; the first of equals."""
    if not any(each.known for each in compared):
        return max(compared, key=lambda each: max(each.value - each.high, each.low - each.value))
    return max(compared, key=lambda each: each.score(level) if each.known else -math.inf)


def least_seen(compared: Sequence[Comparison], level: float) -> tuple[float, Comparison | None]:
    """The largest of the differences that the comparisons would have shown, and whose it is; a
    smaller one may have been missed. NaN and None where none is known.
    """
    at_once = bonferroni_level(compared, level)
    known = [each for each in compared if each.known and not each.of_samples]
    if not known:
        return math.nan, None
    found = max(known, key=lambda each: each.detectable(at_once))
    return found.detectable(at_once), found


def runs_to_decide(compared: Sequence[Comparison], level: float, *, whole: bool) -> float:
    """How many runs of every condition would decide, if the means and the spread of the runs are
    those observed.

    The smallest number, up to `MAX_RUNS_NEEDED`, with which `decide` decides with a probability of about
    `TARGET_POWER`; infinite where `MAX_RUNS_NEEDED` are too few. NaN where a condition has one run only,
    so that nothing is known of the spread, and where no number of runs of a part decides the whole.
    """
    if not all(each.known and not each.of_samples for each in compared):
        return math.nan
    counts = np.arange(2, MAX_RUNS_NEEDED + 1)
    at_once = bonferroni_level(compared, level)
    astray, fails = np.zeros(len(counts)), np.ones(len(counts))
    for each in compared:
        df = each.df_per_run() * (counts - 1)
        sides, divisor = each.distances()
        astray += _missed(np.vstack([sides, divisor]), counts, df, level).sum(axis=0)
        against = _missed(sides * [-1, 1], counts, df, at_once).min(axis=0, initial=1.0)
        fails = np.minimum(fails, against + _missed(divisor, counts, df, at_once).sum(axis=0))
    enough = (fails <= 1 - TARGET_POWER) | (whole & (astray <= 1 - TARGET_POWER))
    decided = np.flatnonzero(enough)
    return float(counts[decided[0]]) if len(decided) else math.inf if whole else math.nan


def _missed(seen: np.ndarray, counts: np.ndarray, df: np.ndarray, level: float) -> np.ndarray:
    """About the probability that so many runs do not show these distances; shape (rows of `seen`,
    counts).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        standard_errors = np.nan_to_num(
            seen[:, :1] / seen[:, 1:], nan=math.inf, posinf=math.inf, neginf=-math.inf
        )
    return special.stdtr(
        df, special.stdtrit(df, (1 + level) / 2) - standard_errors * np.sqrt(counts)
    )


def _share(gap: float, half: float) -> float:
    if math.isinf(gap) or not half:
        return math.copysign(math.inf, gap) if gap else -math.inf  # exact, at its limit
    # A gap as small as numbers get, such as that of 0 from a strict order's limit, stays a gap.
    return gap / half or (math.copysign(math.ulp(0.0), gap) if gap else 0.0)
