"""Ratios, differences and levels of replicated conditions, compared within blocks where possible:
the one interval of verdicts, tables of ratios and derived numbers.

Runs of one block were made one after another (a round over all conditions, a day, a boot) and share
the drift between blocks. Positive values are compared on the log scale. Where two conditions have
several blocks in common, their ratio is the mean of the log ratios within blocks: block effects
cancel, and the two spreads may differ. Conditions in different blocks are compared by block means,
with a spread that includes that between blocks. Runs without blocks are taken as independent, with
a separate spread for each condition (Welch); two quantities of the same runs are compared within
runs.

Few runs give an imprecise standard error, so conditions of one quantity with the same design share
a pooled error (`pooled_error`),

    log y[condition, block] = condition + block + error,

unless a test rejects a common coefficient of variation: Bartlett's for independent runs, and within
blocks the same statistic of the differences of all pairs of conditions (`_equal_pairs`). The
residuals are not usable there: a noisy condition moves the block means and so spreads to all
conditions. A pooled error is never smaller than that of the two conditions themselves: otherwise,
with unequal spreads that few runs do not reveal, up to 8 % of true statements would be refuted.

References
----------
Bartlett, M. S. (1937). Properties of sufficiency and statistical tests. Proc. R. Soc. A 160,
268-282. Zou, G. Y., Donner, A. (2008). Construction of confidence limits about effect measures: a
general approach. Stat. Med. 27, 1693-1702. Donner, A., Zou, G. Y. (2012). Closed-form confidence
intervals for functions of the normal mean and standard deviation. Stat. Methods Med. Res. 21,
347-359. Montgomery, D. C. (2017). Design and Analysis of Experiments, chapter 4. Welch, B. L.
(1947). The generalization of Student's problem. Biometrika 34, 28-35.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from scipy import special

from virtperf.core.estimate import Estimate
from virtperf.core.grouping import grouped
from virtperf.core.statistics import fieller, t_quantile, welch_df

BLOCK = "block"
POOLED = "error pooled"
"""Words of a ratio's `design` if its error is pooled over conditions."""
POOLING_ALPHA = 0.1
"""Level of the test for a common coefficient of variation. A test at 5 % misses too many unequal
ones, since conditions have few runs."""
MIN_POOLED_UNITS = 3
"""Minimum number of runs or blocks per condition for pooling: with two, no test detects unequal
spreads."""

NULL_DRAWS = 2_000
"""Simulated data sets with equal spreads per critical value; the level of the test is then known to
0.7 percentage points."""
DRAWS_AT_ONCE = 100

ROUNDING = 1e-26
"""Sums of squares of logarithms below this are rounding error."""

MIN_POOLED_CONDITIONS = 3
"""Minimum number of conditions for pooling: two add hardly anything to their own error."""


@dataclass(frozen=True, eq=False)
class Replicates:
    """The runs of one condition: their values, blocks ("" where not known), days and ids.

    `block_name`: what a block is, such as a machine. Only the error of usual blocks is pooled.
    """

    values: np.ndarray
    blocks: tuple[str, ...]
    days: tuple[str, ...] = ()
    run_ids: tuple[str, ...] = ()
    block_name: str = BLOCK

    def scaled(self, factor: float) -> Replicates:
        """Rescale the values to another unit."""
        return replace(self, values=factor * self.values)

    def at(self, places: np.ndarray) -> Replicates:
        """Only the runs at these places, in their order."""

        def of(texts: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(texts[place] for place in places) if texts else ()

        return replace(
            self,
            values=self.values[places],
            blocks=of(self.blocks),
            days=of(self.days),
            run_ids=of(self.run_ids),
        )

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def in_blocks(self) -> bool:
        """Whether the block of every run is known."""
        return all(self.blocks)

    @property
    def design(self) -> tuple[object, ...]:
        """Key of the experimental design: equal for conditions with the same blocks, or with
        equally many runs on the same days.
        """
        if self.in_blocks:
            return tuple(sorted(self.blocks))
        return self.n, frozenset(self.days)

    @cached_property
    def by_block(self) -> dict[str, float]:
        """Block means, sorted by block name."""
        gathered = grouped(sorted(zip(self.blocks, self.values.tolist(), strict=True)))
        return {block: math.fsum(runs) / len(runs) for block, runs in gathered.items()}

    @property
    def units(self) -> np.ndarray:
        """The independent units: means of several blocks, else runs."""
        if self.in_blocks and len(self.by_block) > 1:
            return np.array([*self.by_block.values()])
        return self.values

    def within(self, block: str) -> np.ndarray:
        """Return the values of one block."""
        return self.values[[b == block for b in self.blocks]]


@dataclass(frozen=True)
class LogRatio:
    """A ratio with the standard error of its logarithm and a Student's t interval with `df` degrees
    of freedom.

    `n`: the smaller number of units (blocks or runs) of the two sides; `design`: the comparison in
    words; `confounded`: whether the sides are in different blocks. `se` is NaN with too few units
    for a spread.
    """

    value: float
    se: float
    df: float
    n: int
    design: str = ""
    confounded: bool = False

    def estimate(self, level: float) -> Estimate:
        """Return the ratio with its interval."""
        half = t_quantile(self.df, level) * self.se if self.se else 0.0
        with np.errstate(over="ignore"):
            ends = self.value * math.exp(-half), self.value * float(np.exp(half))
        return _estimate(self, "log-ratio", level, ends)

    def distance(self, end: float) -> tuple[float, float]:
        """Return the signed distance of the estimate above a limit and its standard error, both on
        the scale of the interval.
        """
        return (math.log(self.value / end) if end > 0 else math.inf), self.se

    def detectable(self, quantile: float) -> float:
        """`quantile` standard errors, as a share of the ratio."""
        return math.expm1(min(quantile * self.se, 700.0))


@dataclass(frozen=True, eq=False)
class _Quotient(ABC):
    """Ratio ``over @ x / under @ x`` of linear combinations of values; the last one is the constant
    1.
    """

    over: np.ndarray
    under: np.ndarray

    @property
    @abstractmethod
    def x(self) -> np.ndarray:
        """The values, shape (m + 1,)."""

    @property
    def parts(self) -> tuple[float, float]:
        """Numerator and denominator."""
        return float(self.over @ self.x), float(self.under @ self.x)

    @property
    def value(self) -> float:
        """The ratio; NaN for a zero divisor."""
        above, below = self.parts
        return above / below if below else math.nan

    @property
    def size(self) -> float:
        """Sum of the absolute values, weighted by `over`, in the unit of the ratio."""
        return float(abs(self.over) @ abs(self.x)) / abs(self.parts[1])

    def limits(self, product: Callable[[np.ndarray, np.ndarray], float]) -> tuple[float, float]:
        """Fieller's limits; `product` is the covariance of two combinations, times the squared
        quantile.
        """
        over, under = self.over, self.under
        return fieller(
            *self.parts, product(over, over), product(under, under), product(over, under)
        )


@dataclass(frozen=True, eq=False)
class LinearRatio(_Quotient):
    """Ratio ``over @ x / under @ x`` of linear combinations of means with Fieller's interval.

    The last element of `means` is the constant 1; coefficients and `means` have shape (m + 1,). For
    a plain linear combination, `under` is zero except for a final 1; its interval is Student's t.
    `covariance` of the means has shape (m + 1, m + 1). `dfs` are the degrees of freedom of
    independent means, combined at the estimate by `welch_df`, or one number where the means come from the same blocks.
    """

    means: np.ndarray
    covariance: np.ndarray
    dfs: tuple[float, ...]
    n: int
    design: str = ""
    confounded: bool = False

    @property
    def x(self) -> np.ndarray:
        return self.means

    @property
    def se(self) -> float:
        return self.distance(self.value)[1] / abs(self.parts[1])

    @cached_property
    def df(self) -> float:
        if len(self.dfs) == 1:
            return self.dfs[0]
        at_estimate = self.over - self.value * self.under
        spent = (at_estimate**2 * np.diag(self.covariance))[:-1]
        return welch_df(list(spent), self.dfs)

    def estimate(self, level: float) -> Estimate:
        """Return the ratio with Fieller's interval; unbounded where the divisor is not clearly
        different from zero.
        """
        square = t_quantile(self.df, level) ** 2
        ends = self.limits(lambda a, b: square * float(a @ self.covariance @ b))
        return _estimate(self, "t or Fieller", level, ends)

    def distance(self, end: float) -> tuple[float, float]:
        """Return the signed distance of the estimate above a limit and its standard error, for the
        contrast ``over - end under``.
        """
        row = math.copysign(1.0, self.parts[1]) * (self.over - end * self.under)
        return float(row @ self.means), math.sqrt(max(float(row @ self.covariance @ row), 0.0))

    def detectable(self, quantile: float) -> float:
        """`quantile` standard errors, in the unit of the ratio."""
        return quantile * self.se


@dataclass(frozen=True, eq=False)
class SampledRatio(_Quotient):
    """Ratio ``over @ x / under @ x`` of statistics of independent samples within one run, with
    coefficients as in `LinearRatio`.

    Each statistic has its own, possibly asymmetric interval. The intervals are combined by the
    squared distances of their ends (Zou and Donner 2008; for a ratio Donner and Zou 2012).
    """

    means: tuple[Estimate, ...]
    design: str = ""
    confounded: bool = False
    df: float = math.nan  # the intervals have no common standard error

    @property
    def n(self) -> int:
        return min(mean.n for mean in self.means)

    @cached_property
    def x(self) -> np.ndarray:
        return np.array([*(mean.value for mean in self.means), 1.0])

    def estimate(self, level: float) -> Estimate:
        """Return the ratio with its interval; an end is infinite where the divisor is not clearly
        different from zero, or where the interval of a term is unbounded.
        """
        known = self.n > 1
        ends = (self._end(level, -1), self._end(level, 1)) if known else (math.nan, math.nan)
        return _estimate(self, "t or Fieller", level, ends)

    def _end(self, level: float, side: int) -> float:
        """Return the lower (-1) or upper (1) end of the interval."""
        if len(self.means) == 1 and not self.under[:-1].any():
            factor = float(self.over[0])
            mean = self.means[0].at(level)
            return factor * (mean.high if side * factor > 0 else mean.low) + float(self.over[-1])
        weight = self.over - self.value * self.under
        if self.parts[1] < 0:
            weight = -weight
        squares = np.zeros(len(self.over))
        for place, mean in enumerate(self.means):
            interval = mean.at(level)
            up = side * weight[place] > 0
            squares[place] = (
                interval.high - interval.value if up else interval.value - interval.low
            ) ** 2
        if not np.isfinite(squares).all():
            return side * math.inf
        return self.limits(lambda a, b: float(a @ (squares * b)))[side > 0]


Contrast = LogRatio | LinearRatio | SampledRatio
"""A ratio, difference or level before the level of confidence is chosen: `estimate` has its interval,
with NaN limits if there are too few units for a spread.
"""


def _estimate(contrast: Contrast, method: str, level: float, ends: tuple[float, float]) -> Estimate:
    method = f"{method}, {contrast.design}" if contrast.design else method
    return Estimate(contrast.value, *ends, level, method, df=contrast.df, n=contrast.n)


@dataclass(frozen=True)
class PooledError:
    """Pooled standard deviation, on the log scale, of a unit (a block or a run) of `conditions`
    conditions.
    """

    deviation: float
    df: float
    conditions: int


def log_ratio(a: Replicates, b: Replicates, pooled: PooledError | None = None) -> LogRatio:
    """Return the ratio of two conditions with positive values.

    `pooled` is the error of conditions with the same design; it replaces their own where it is
    larger, and provides the degrees of freedom.
    """
    a, b = assign_blocks(a, b)
    ratio = _own_log_ratio(a, b)
    if pooled is None or not math.isfinite(ratio.se):
        return ratio
    pooling = f"{POOLED} over {pooled.conditions} conditions"
    return replace(
        ratio,
        se=max(ratio.se, pooled.deviation * math.sqrt(2 / ratio.n)),
        df=pooled.df,
        design=f"{ratio.design}, {pooling}" if ratio.design else pooling,
    )


def pooled_error(conditions: Sequence[Replicates]) -> PooledError | None:
    """Return the pooled error of conditions with the same `Replicates.design`, from residuals.

    None for values that are not positive, for too few units or conditions, where the test rejects a
    common coefficient of variation, and for blocks of another name: how machines differ is a property
    of each condition.
    """
    if any(condition.block_name != BLOCK for condition in conditions):
        return None
    units = [condition.units for condition in conditions]
    n, k = len(units[0]), len(units)
    if n < MIN_POOLED_UNITS or k < MIN_POOLED_CONDITIONS or any(u.min() <= 0 for u in units):
        return None
    logs = np.log(np.column_stack(units))
    first = conditions[0]
    if first.in_blocks and len(first.by_block) > 1:
        squares, free, equal = _pair_squares(logs) / k, (k - 1) * (n - 1.0), _equal_pairs(logs)
    else:
        squares, free, equal = n * logs.var(axis=0), k * (n - 1.0), _equal_spreads(logs)
    return PooledError(math.sqrt(squares.sum() / free), free, k) if equal else None


def paired_log_ratio(a: np.ndarray, b: np.ndarray, design: str = "") -> LogRatio:
    """Return the ratio of paired values ``a[i] / b[i]``, as the mean of their log ratios.

    Values are positive, with at least two pairs. Effects common to a pair, say a slow day, cancel.
    """
    logs = np.log(a) - np.log(b)
    n = len(logs)
    se = float(logs.std(ddof=1)) / math.sqrt(n)
    return LogRatio(math.exp(float(logs.mean())), se, n - 1.0, n, design)


def independent_log_ratio(a: np.ndarray, b: np.ndarray, design: str = "") -> LogRatio:
    """Return the ratio of the means of two independent samples, with a separate coefficient of
    variation for each.

    Degrees of freedom are those of `welch_df`. The standard error is NaN where a sample has one value.
    """
    value, n = float(a.mean() / b.mean()), min(len(a), len(b))
    if n < 2:
        return LogRatio(value, math.nan, 1.0, n, design)
    variances = [float(x.var(ddof=1)) / len(x) / float(x.mean()) ** 2 for x in (a, b)]
    dfs = [len(x) - 1.0 for x in (a, b)]
    df = welch_df(variances, dfs)
    return LogRatio(value, math.sqrt(sum(variances)), df, n, design)


def assign_blocks(*sides: Replicates) -> tuple[Replicates, ...]:
    """Assign blocks to conditions where none are known: runs, if all were observed in the same
    runs; days, if no two have a day in common, since differences then include those between days.
    """
    if all(side.in_blocks for side in sides):
        return sides
    runs = {*sides[0].run_ids}
    if runs and all({*side.run_ids} == runs for side in sides):
        return tuple(replace(side, blocks=side.run_ids) for side in sides)
    days = [{*side.days} for side in sides]
    if all(days) and len(set().union(*days)) == sum(map(len, days)):
        return tuple(replace(side, blocks=side.days) for side in sides)
    return sides


def _own_log_ratio(a: Replicates, b: Replicates) -> LogRatio:
    if not (a.in_blocks and b.in_blocks):
        return independent_log_ratio(a.values, b.values)
    common = [block for block in a.by_block if block in b.by_block]
    if len(common) > 1:
        x, y = (np.array([side.by_block[block] for block in common]) for side in (a, b))
        return paired_log_ratio(x, y, _within(common, a))
    if common and _replicated_only_within(common[0], (a, b)):
        x, y = (side.within(common[0]) for side in (a, b))
        return independent_log_ratio(x, y, "within one block")
    x, y = (np.array([*side.by_block.values()]) for side in (a, b))
    return replace(independent_log_ratio(x, y, "by block means"), confounded=True)


def _within(common: Sequence[str], side: Replicates) -> str:
    return f"within {len(common)} {side.block_name}s"


def block_name(design: str) -> str:
    """What the blocks are within which a contrast with this `design` is taken; "" without blocks."""
    match = re.match(r"within \d+ (.+?)s(?:,|$)", design)
    return match[1] if match else ""


def _replicated_only_within(block: str, sides: Sequence[Replicates]) -> bool:
    """Whether runs of their single common block give the error of conditions, or nothing does."""
    return min(len(side.within(block)) for side in sides) > 1 or all(
        len(side.by_block) == 1 for side in sides
    )


def _equal_spreads(logs: np.ndarray) -> bool:
    """Whether Bartlett's test does not reject equal spreads of independent runs; `logs` of shape
    (runs, conditions).
    """
    spread = np.ptp(logs, axis=0) > 0
    if not spread.all():
        return not spread.any()
    runs, conditions = logs.shape
    statistic = conditions * (runs - 1) * _bartlett_statistic(logs.var(axis=0))
    statistic /= 1 + (conditions + 1) / (3 * conditions * (runs - 1))
    return bool(special.chdtrc(conditions - 1, statistic) > POOLING_ALPHA)


def _pair_squares(logs: np.ndarray) -> np.ndarray:
    """Return the centred sums of squares of the differences of all pairs of conditions; `logs` of
    shape (..., blocks, conditions).
    """
    centred = logs - logs.mean(axis=-2, keepdims=True)
    one, other = np.triu_indices(logs.shape[-1], 1)
    return ((centred[..., one] - centred[..., other]) ** 2).sum(axis=-2)


def _bartlett_statistic(squares: np.ndarray) -> np.ndarray:
    """Bartlett's statistic up to a factor: the log ratio of the arithmetic to the geometric mean of
    the sums of squares along the last axis.
    """
    return np.log(squares.mean(axis=-1)) - np.log(squares).mean(axis=-1)


def _equal_pairs(logs: np.ndarray) -> bool:
    """Whether the test on differences of all pairs of conditions does not reject equal spreads;
    block effects cancel. `logs` of shape (blocks, conditions).
    """
    squares = _pair_squares(logs)
    spread = squares > ROUNDING * (1 + np.abs(logs).max() ** 2)
    if not spread.all():
        return not spread.any()
    return bool(_bartlett_statistic(squares) <= _critical_bartlett(*logs.shape))


@lru_cache(maxsize=256)
def _critical_bartlett(blocks: int, conditions: int) -> float:
    """Simulate the critical value of `_bartlett_statistic` at level `POOLING_ALPHA`; under equal
    spreads it depends on the shape only.
    """
    draws = np.random.default_rng([blocks, conditions])
    shape = DRAWS_AT_ONCE, blocks, conditions
    drawn = [
        _bartlett_statistic(_pair_squares(draws.standard_normal(shape)))
        for _ in range(NULL_DRAWS // DRAWS_AT_ONCE)
    ]
    return float(np.quantile(drawn, 1 - POOLING_ALPHA))


def linear_ratio(samples: Sequence[Replicates], over: np.ndarray, under: np.ndarray) -> LinearRatio:
    """Return ``over / under``, linear in the means of conditions, with coefficients as in
    `LinearRatio`.

    The means are over the common blocks where there are at least two, over the runs of a single
    common block, over block means otherwise, and over runs where no block is known.
    """
    m = len(samples)
    if m == 1:
        several = len(samples[0].units) < samples[0].n
        return _independent(over, under, [samples[0].units], "by block means" if several else "")
    samples = assign_blocks(*samples)
    if not all(side.in_blocks for side in samples):
        return _independent(over, under, [side.values for side in samples], "")
    common = [b for b in samples[0].by_block if all(b in side.by_block for side in samples)]
    if len(common) > 1:
        x = np.array([[side.by_block[block] for block in common] for side in samples])
        covariance = np.zeros((m + 1, m + 1))
        covariance[:m, :m] = np.cov(x) / len(common)
        means = np.append(x.mean(axis=1), 1.0)
        n, words = len(common), _within(common, samples[0])
        return LinearRatio(over, under, means, covariance, (n - 1.0,), n, words)
    if common and _replicated_only_within(common[0], samples):
        runs = [side.within(common[0]) for side in samples]
        return _independent(over, under, runs, "within one block")
    units = [np.array([*side.by_block.values()]) for side in samples]
    return replace(_independent(over, under, units, "by block means"), confounded=True)


def _independent(
    over: np.ndarray, under: np.ndarray, units: Sequence[np.ndarray], design: str
) -> LinearRatio:
    errors = [u.var(ddof=1) / len(u) if len(u) > 1 else math.nan for u in units]
    means = np.array([*(u.mean() for u in units), 1.0])
    dfs = tuple(max(len(u) - 1.0, 1.0) for u in units)
    n = min(len(u) for u in units)
    return LinearRatio(over, under, means, np.diag([*errors, 0.0]), dfs, n, design)
