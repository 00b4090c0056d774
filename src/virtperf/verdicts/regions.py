"""Numbers of measured means against the ranges that a statement allows: intervals, decision, how
many runs it takes.

C is the product of the allowed ranges, R that of the numbers' confidence intervals. A statement
fails where R and C have nothing in common: an interval lies outside of its range, at the level ``1
- alpha / k`` for k numbers, so that all intervals hold together (Bonferroni). It holds where every
number's own interval lies inside its range: to be taken for true by mistake, the one number that
lies outside must be taken for one inside, which needs no correction for k (intersection-union
test). Runs are independent, and every condition has a variance of its own.

References
----------
Berger, R. L. (1982). Multiparameter hypothesis testing and acceptance sampling. Technometrics 24,
295-300. Fieller, E. C. (1954). Some problems in interval estimation. J. R. Stat. Soc. B 16,
175-185. Welch, B. L. (1947). The generalization of Student's problem. Biometrika 34, 28-35.
Zou, G. Y., Donner, A. (2008). Construction of confidence limits about effect measures: a general
approach. Stat. Med. 27, 1693-1702. Donner, A., Zou, G. Y. (2012). Closed-form confidence intervals
for functions of the normal mean and standard deviation. Stat. Methods Med. Res. 21, 347-359.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from scipy import special

from virtperf.core.mean import CAP, Mean, satterthwaite

MAX_RUNS = 1000
ASSURANCE = 0.8  # probability with which as many runs as `runs_needed` says decide


class Outcome(StrEnum):
    """What measured runs say about a statement of a paper or a hypothesis.

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
    """A number made of measured means, and the range that a statement allows for it.

    The number is ``over @ values / under @ values``, where `values` are the means, of different
    conditions, and, last, the constant 1: coefficients of shape (m + 1,); those of a number that is
    no ratio are zero in `under`, but for the last, which is 1. `low` and `high` are the range,
    perhaps infinite. `label` says which of the statement's comparisons it is, `remark` what a
    reader should know of the range, `unit` the words after the number; None where that is not in
    the statement's own unit.
    """

    means: tuple[Mean, ...]
    over: np.ndarray
    under: np.ndarray
    low: float
    high: float
    label: str = ""
    remark: str = ""
    unit: str | None = ""

    @cached_property
    def value(self) -> float:
        """The number; NaN where it is divided by zero."""
        values = self._values
        below = float(self.under @ values)
        return float(self.over @ values) / below if below else math.nan

    @property
    def size(self) -> float:
        """The sizes of the means, added in the number's unit as `over` weighs them."""
        return float(abs(self.over) @ abs(self._values)) / abs(float(self.under @ self._values))

    @property
    def runs(self) -> tuple[int, int]:
        """The fewest and the most runs of a condition."""
        counts = [mean.n for mean in self.means]
        return min(counts), max(counts)

    @property
    def of_samples(self) -> bool:
        """Whether independent samples of one run stand in the place of runs."""
        return any(mean.of_samples for mean in self.means)

    @property
    def known(self) -> bool:
        """Whether there is an error: samples of one run do not show how far runs differ, two or
        more runs do.
        """
        return self.runs[0] > 1 and math.isfinite(self.value)

    def interval(self, level: float) -> tuple[float, float]:
        """The confidence interval of the number (Student's t; Fieller's for a ratio); NaN where it
        is not `known`.

        Both ends are infinite where the divisor is not clearly different from zero. Degrees of
        freedom are Welch and Satterthwaite's at the estimate, at most `CAP` times the fewest.
        Where independent samples stand in the place of runs, each number brings an interval of its
        own, which need not be symmetric: they are combined by the squares of their distances
        (Zou and Donner 2008; of a ratio Donner and Zou 2012).
        """
        if not self.known:
            return math.nan, math.nan
        if self.of_samples:
            return self._end(level, -1), self._end(level, 1)
        v = np.array([*(mean.se**2 for mean in self.means), 0.0])
        df = np.array([mean.df for mean in self.means])
        spent = ((self.over - self.value * self.under) ** 2 * v)[:-1]
        t = float(
            special.stdtrit(
                min(satterthwaite(list(spent), list(df)), CAP * df.min()), (1 + level) / 2
            )
        )
        above, below = float(self.over @ self._values), float(self.under @ self._values)
        a = below**2 - t**2 * float(self.under @ (v * self.under))
        b = above * below - t**2 * float(self.over @ (v * self.under))
        c = above**2 - t**2 * float(self.over @ (v * self.over))
        if a <= 0:
            return -math.inf, math.inf
        half = math.sqrt(max(b * b - a * c, 0.0))
        return (b - half) / a, (b + half) / a

    def _end(self, level: float, side: int) -> float:
        """The lower (-1) or upper (1) end of the interval, from those of the means."""
        if len(self.means) == 1 and not self.under[:-1].any():
            factor = float(self.over[0])
            mean = self.means[0].at(level)
            return factor * (mean.high if side * factor > 0 else mean.low) + float(self.over[-1])
        weight = self.over - self.value * self.under
        if float(self.under @ self._values) < 0:
            weight = -weight
        squares = np.zeros(len(self.over))
        for place, mean in enumerate(self.means):
            own = mean.at(level)
            up = side * weight[place] > 0
            squares[place] = (own.high - own.value if up else own.value - own.low) ** 2
        if not np.isfinite(squares).all():
            return side * math.inf
        above, below = float(self.over @ self._values), float(self.under @ self._values)
        a = below**2 - float(self.under @ (squares * self.under))
        b = above * below - float(self.over @ (squares * self.under))
        c = above**2 - float(self.over @ (squares * self.over))
        if a <= 0:
            return side * math.inf
        return (b + side * math.sqrt(max(b * b - a * c, 0.0))) / a

    def score(self, level: float) -> float:
        """How far the number lies outside of its range, in half widths of its interval; negative
        inside.
        """
        low, high = self.interval(level)
        return max(
            _share(self.value - self.high, self.value - low),
            _share(self.low - self.value, high - self.value),
        )

    @cached_property
    def _values(self) -> np.ndarray:
        return np.array([*(mean.value for mean in self.means), 1.0])

    def distances(self) -> tuple[np.ndarray, np.ndarray]:
        """Inside each finite end of the range, shape (sides, 2), and of a divisor from zero, shape
        (1, 2) or (0, 2).

        Beside each stands its deviation between single runs.
        """
        sign = math.copysign(1.0, self.under @ self._values)
        ends = [
            (s * sign, end) for s, end in ((1, self.low), (-1, self.high)) if math.isfinite(end)
        ]
        sides = [s * (self.over - end * self.under) for s, end in ends]
        divisor = [sign * self.under] if self.under[:-1].any() else []
        seen = [
            [(row @ self._values, math.sqrt(row @ (self._single * row))) for row in of]
            for of in (sides, divisor)
        ]
        return np.array(seen[0]).reshape(-1, 2), np.array(seen[1]).reshape(-1, 2)

    @property
    def _single(self) -> np.ndarray:
        """Variances of single runs."""
        return np.array([*(mean.n * mean.se**2 for mean in self.means), 0.0])

    def df_per_run(self) -> float:
        """Degrees of freedom over runs less one, where every condition has equally many runs."""
        spent = (self.over - self.value * self.under)[:-1] ** 2 * self._single[:-1]
        return min(satterthwaite(list(spent), [1.0] * len(spent)), CAP)


def decide(compared: Sequence[Comparison], level: float, *, whole: bool) -> Outcome:
    """What measured runs say about a statement that is the conjunction of comparisons.

    `compared` are those whose conditions were all measured; `whole`: whether these are all that the
    statement makes; a part can fail, but not hold.
    """
    if not compared:
        return Outcome.UNMEASURED
    for each in compared:
        low, high = each.interval(together(compared, level))
        if low > each.high or high < each.low:
            return Outcome.FAILS
    if whole and all(
        c.low <= low and high <= c.high for c in compared for low, high in [c.interval(level)]
    ):
        return Outcome.HOLDS
    return Outcome.UNDECIDED


def by_value(compared: Sequence[Comparison]) -> Outcome:
    """What the values alone say, as they are: for runs that are the very experiment of which the
    statement speaks.
    """
    inside = all(each.low <= each.value <= each.high for each in compared)
    return Outcome.AGREES if inside else Outcome.DIFFERS


def together(compared: Sequence[Comparison], level: float) -> float:
    """The level of single intervals that hold together at `level` (Bonferroni)."""
    return 1 - (1 - level) / max(1, sum(each.known for each in compared))


def worst(compared: Sequence[Comparison], level: float) -> Comparison:
    """The comparison that speaks most against the statement; the first of equals."""
    if not any(each.known for each in compared):
        return max(compared, key=lambda each: max(each.value - each.high, each.low - each.value))
    return max(compared, key=lambda each: each.score(level) if each.known else -math.inf)


def runs_needed(compared: Sequence[Comparison], level: float, *, whole: bool) -> float:
    """How many runs of every condition would decide, if the means and the spread of the runs are
    those observed.

    The smallest number, up to `MAX_RUNS`, with which `decide` decides with a probability of about
    `ASSURANCE`; infinite where `MAX_RUNS` are too few. NaN where a condition has one run only, so that
    nothing is known of the spread, and where no number of runs of a part decides the whole.
    """
    if not all(each.known and not each.of_samples for each in compared):
        return math.nan
    counts = np.arange(2, MAX_RUNS + 1)
    astray, fails = np.zeros(len(counts)), np.ones(len(counts))
    for each in compared:
        df = each.df_per_run() * (counts - 1)
        sides, divisor = each.distances()
        astray += _missed(np.vstack([sides, divisor]), counts, df, level).sum(axis=0)
        against = _missed(sides * [-1, 1], counts, df, together(compared, level)).min(
            axis=0, initial=1.0
        )
        fails = np.minimum(
            fails, against + _missed(divisor, counts, df, together(compared, level)).sum(axis=0)
        )
    decided = np.flatnonzero((fails <= 1 - ASSURANCE) | (whole & (astray <= 1 - ASSURANCE)))
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
        return math.copysign(math.inf, gap) if gap else 0.0
    # A gap as small as numbers get, such as that of 0 from a strict order's limit, stays a gap.
    return gap / half or (math.copysign(math.ulp(0.0), gap) if gap else 0.0)
