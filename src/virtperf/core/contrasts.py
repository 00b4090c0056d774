"""Ratios, differences and levels of replicated conditions, compared within blocks where runs have
them.

Runs of one block were made one after another (a replicate of a randomised plan, a day, a boot) and
share what drifts between blocks. Positive values are compared on the log scale,

    log y[condition, block] = condition + block + error,

a randomised complete block design: block effects drop out of every contrast of conditions. Where
the conditions plausibly have one coefficient of variation (Bartlett's test of the residuals), the
error is pooled over them. Without blocks the pooled squared coefficient of variation is the Pearson
dispersion of a Gamma model with log link. Conditions that stand in different blocks are compared by
their block means, whose spread holds that between blocks.

References
----------
Bartlett, M. S. (1937). Properties of sufficiency and statistical tests. Proc. R. Soc. A 160,
268-282. Fieller, E. C. (1954). Some problems in interval estimation. J. R. Stat. Soc. B 16,
175-185. Montgomery, D. C. (2017). Design and Analysis of Experiments, chapter 4. Welch, B. L.
(1947). The generalization of Student's problem. Biometrika 34, 28-35.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import special, stats

from virtperf.core.mean import CAP, satterthwaite

POOLING_ALPHA = 0.1
"""Level of the test whether conditions share one coefficient of variation. A test at 5 % misses too
many that do not, since conditions have few runs."""


@dataclass(frozen=True, eq=False)
class Replicates:
    """The runs of one condition: a value of each, and the block of each; "" where none is known."""

    values: np.ndarray
    blocks: tuple[str, ...]

    def scaled(self, factor: float) -> Replicates:
        """The same runs in another unit."""
        return replace(self, values=factor * self.values)

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

    @cached_property
    def by_block(self) -> dict[str, float]:
        """The mean of the runs of each block, in the order of the blocks' names."""
        gathered: dict[str, list[float]] = {}
        for block, value in sorted(zip(self.blocks, self.values.tolist(), strict=True)):
            gathered.setdefault(block, []).append(value)
        return {block: math.fsum(runs) / len(runs) for block, runs in gathered.items()}

    def within(self, block: str) -> np.ndarray:
        """The runs of one block."""
        return self.values[[b == block for b in self.blocks]]


@dataclass(frozen=True)
class LogRatio:
    """A ratio whose logarithm is estimated with a standard error, Student's t with `df` degrees of
    freedom.

    `n`: the fewest units (blocks or runs) of a side; `design`: in words, how the sides were
    compared; `confounded`: whether they stand in different blocks. `se` is NaN where too few units
    show no spread.
    """

    value: float
    se: float
    df: float
    n: int
    design: str = ""
    confounded: bool = False

    def interval(self, level: float) -> tuple[float, float]:
        half = float(special.stdtrit(self.df, (1 + level) / 2)) * self.se if self.se else 0.0
        with np.errstate(over="ignore"):
            return self.value * math.exp(-half), self.value * float(np.exp(half))

    def distance(self, end: float) -> tuple[float, float]:
        """How far the estimate lies above a limit, and its standard error, on the scale of the
        interval.
        """
        return (math.log(self.value / end) if end > 0 else math.inf), self.se

    def detectable(self, quantile: float) -> float:
        """So many standard errors, as a share of the ratio."""
        return math.expm1(min(quantile * self.se, 700.0))


@dataclass(frozen=True, eq=False)
class LinearRatio:
    """``over @ x / under @ x`` of means and, last, the constant 1, with Fieller's interval;
    coefficients and `means` of shape (m + 1,).

    A number that is no ratio is zero in `under` but for the last, which is 1; its interval is
    Student's t. `covariance` of the means has shape (m + 1, m + 1); `dfs` are the degrees of
    freedom of independent means, of which Welch and Satterthwaite's are taken at the estimate, at
    most `CAP` times the fewest, or one number where the means come from the same blocks.
    """

    over: np.ndarray
    under: np.ndarray
    means: np.ndarray
    covariance: np.ndarray
    dfs: tuple[float, ...]
    n: int
    design: str = ""
    confounded: bool = False

    @property
    def value(self) -> float:
        """The number; NaN where it is divided by zero."""
        below = float(self.under @ self.means)
        return float(self.over @ self.means) / below if below else math.nan

    @property
    def se(self) -> float:
        return self.distance(self.value)[1] / abs(float(self.under @ self.means))

    @property
    def size(self) -> float:
        """The sizes of the means, added in the number's unit as `over` weighs them."""
        return float(abs(self.over) @ abs(self.means)) / abs(float(self.under @ self.means))

    @cached_property
    def df(self) -> float:
        if len(self.dfs) == 1:
            return self.dfs[0]
        at_estimate = self.over - self.value * self.under
        spent = (at_estimate**2 * np.diag(self.covariance))[:-1]
        return min(satterthwaite(list(spent), self.dfs), CAP * min(self.dfs))

    def interval(self, level: float) -> tuple[float, float]:
        """Both ends are infinite where the divisor is not clearly different from zero."""
        t = float(special.stdtrit(self.df, (1 + level) / 2))
        v = self.covariance
        above, below = float(self.over @ self.means), float(self.under @ self.means)
        a = below**2 - t**2 * float(self.under @ v @ self.under)
        b = above * below - t**2 * float(self.over @ v @ self.under)
        c = above**2 - t**2 * float(self.over @ v @ self.over)
        if not a > 0:
            return (math.nan, math.nan) if math.isnan(a) else (-math.inf, math.inf)
        half = math.sqrt(max(b * b - a * c, 0.0))
        return (b - half) / a, (b + half) / a

    def distance(self, end: float) -> tuple[float, float]:
        """How far the estimate lies above a limit, and its standard error, as ``over - end
        under``.
        """
        row = math.copysign(1.0, self.under @ self.means) * (self.over - end * self.under)
        return float(row @ self.means), math.sqrt(max(float(row @ self.covariance @ row), 0.0))

    def detectable(self, quantile: float) -> float:
        """So many standard errors, in the number's unit."""
        return quantile * self.se


Contrast = LogRatio | LinearRatio


def paired_log_ratio(a: np.ndarray, b: np.ndarray) -> LogRatio:
    """The ratio of pairs ``a[i] / b[i]``, positive and at least two: the mean of their log ratios.

    What the two of a pair share, say a slow day, drops out.
    """
    return _two_way(np.log(np.column_stack([a, b])), [(0, 1)], "")[0]


def log_ratios(sides: Sequence[Replicates], pairs: Sequence[tuple[int, int]]) -> list[LogRatio]:
    """The ratios ``sides[i] / sides[j]`` of positive values, for every pair (i, j).

    Within blocks where both sides of each pair have at least two in common; by runs, where blocks
    are not known; by runs of one block, where they share one only; by block means otherwise.
    """
    if not all(side.in_blocks for side in sides):
        return _independent(sides, pairs)
    shared = [len(sides[i].by_block.keys() & sides[j].by_block.keys()) for i, j in pairs]
    used = sorted({side for pair in pairs for side in pair})
    if min(shared, default=0) > 1 and len(used) > 2:
        if (found := _pooled_within_blocks(sides, used, pairs)) is not None:
            return found
    return [_pair(sides[i], sides[j]) if i != j else _itself(sides[i]) for i, j in pairs]


def _pair(a: Replicates, b: Replicates) -> LogRatio:
    common = [block for block in a.by_block if block in b.by_block]
    if len(common) > 1:
        columns = [[side.by_block[block] for block in common] for side in (a, b)]
        (found,) = _two_way(np.log(np.array(columns).T), [(0, 1)], f"within {len(common)} blocks")
        return found
    if common and min(len(side.within(common[0])) for side in (a, b)) > 1:
        return _unblocked(
            [side.within(common[0]) for side in (a, b)], [(0, 1)], "within one block"
        )[0]
    units = [np.array([*side.by_block.values()]) for side in (a, b)]
    return replace(_unblocked(units, [(0, 1)], "by block means")[0], confounded=True)


def _itself(side: Replicates) -> LogRatio:
    return LogRatio(1.0, 0.0 if side.n > 1 else math.nan, max(side.n - 1.0, 1.0), side.n)


def _pooled_within_blocks(
    sides: Sequence[Replicates], used: Sequence[int], pairs: Sequence[tuple[int, int]]
) -> list[LogRatio] | None:
    """All ratios with one error, None where the conditions' residuals speak against that."""
    blocks = sorted({block for k in used for block in sides[k].by_block})
    place = {k: column for column, k in enumerate(used)}
    y = np.full((len(blocks), len(used)), np.nan)
    for k in used:
        for row, block in enumerate(blocks):
            y[row, place[k]] = sides[k].by_block.get(block, math.nan)
    fit = _fit(np.log(y))
    if not _same_spread(fit.squares, fit.free):
        return None
    words = f"within {len(blocks)} blocks, error pooled over {len(used)} conditions"
    return _contrasts(fit, [(place[i], place[j]) for i, j in pairs], words)


@dataclass(frozen=True, eq=False)
class _Fit:
    """A two-way additive fit: effects of the columns, their covariance over the variance, squares
    and degrees of freedom of each column's residuals, blocks of each column.
    """

    effects: np.ndarray
    unscaled: np.ndarray
    squares: np.ndarray
    free: np.ndarray
    counts: np.ndarray


def _fit(y: np.ndarray) -> _Fit:
    """Blocks are rows, conditions are columns; NaN where a block has no run of a condition."""
    n, k = y.shape
    here = np.isfinite(y)
    if here.all():
        effects = y.mean(axis=0)
        residuals = y - effects - y.mean(axis=1, keepdims=True) + y.mean()
        free = np.full(k, (n - 1) * (k - 1) / k)
        counts = np.full(k, n)
        return _Fit(effects, np.eye(k) / n, (residuals**2).sum(axis=0), free, counts)
    rows, columns = np.nonzero(here)
    design = np.zeros((len(rows), k + n - 1))
    design[np.arange(len(rows)), columns] = 1
    later = rows > 0
    design[np.flatnonzero(later), k + rows[later] - 1] = 1
    inverse = np.linalg.pinv(design)
    coefficients = inverse @ y[here]
    residuals = y[here] - design @ coefficients
    leverage = np.einsum("ij,ji->i", design, inverse)
    squares = np.bincount(columns, residuals**2, minlength=k)
    free = np.bincount(columns, 1 - leverage, minlength=k)
    unscaled = (inverse @ inverse.T)[:k, :k]
    return _Fit(coefficients[:k], unscaled, squares, free, here.sum(axis=0))


def _two_way(y: np.ndarray, pairs: Sequence[tuple[int, int]], words: str) -> list[LogRatio]:
    return _contrasts(_fit(y), pairs, words)


def _contrasts(fit: _Fit, pairs: Sequence[tuple[int, int]], words: str) -> list[LogRatio]:
    df = float(fit.free.sum())
    variance = float(fit.squares.sum()) / df
    found = []
    for i, j in pairs:
        c = np.zeros(len(fit.effects))
        c[i] += 1
        c[j] -= 1
        se = math.sqrt(max(variance * float(c @ fit.unscaled @ c), 0.0))
        count = int(min(fit.counts[i], fit.counts[j]))
        found.append(LogRatio(math.exp(float(c @ fit.effects)), se, df, count, words))
    return found


def _independent(sides: Sequence[Replicates], pairs: Sequence[tuple[int, int]]) -> list[LogRatio]:
    return _unblocked([side.values for side in sides], pairs, "")


def _unblocked(
    samples: Sequence[np.ndarray], pairs: Sequence[tuple[int, int]], words: str
) -> list[LogRatio]:
    """Ratios of arithmetic means of independent samples, with one coefficient of variation where
    they plausibly share it, else with one for each and Welch's degrees of freedom.
    """
    repeated = [x for k, x in enumerate(samples) if len(x) > 1 and any(k in p for p in pairs)]
    free = np.array([len(x) - 1.0 for x in repeated])
    logs = [np.log(x) for x in repeated]
    squares = np.array([((x - x.mean()) ** 2).sum() for x in logs])
    # with unequal numbers of runs a pooled error is wrong where Bartlett's test misses a difference
    equal = len(set(free.tolist())) == 1
    pooled = len(repeated) > 1 and equal and _same_spread(squares, free)
    if pooled:
        dispersion = sum(float(((x / x.mean() - 1) ** 2).sum()) for x in repeated) / free.sum()
        said = f"error pooled over {len(repeated)} conditions"
        words = f"{words}, {said}" if words else said
    found = []
    for i, j in pairs:
        a, b = samples[i], samples[j]
        value, n = float(a.mean() / b.mean()), min(len(a), len(b))
        if i == j:
            found.append(LogRatio(1.0, 0.0 if n > 1 else math.nan, max(n - 1.0, 1.0), n, words))
        elif n < 2:
            found.append(LogRatio(value, math.nan, 1.0, n, words))
        elif pooled:
            se = math.sqrt(dispersion * (1 / len(a) + 1 / len(b)))
            found.append(LogRatio(value, se, float(free.sum()), n, words))
        else:
            variances = [float(x.var(ddof=1)) / len(x) / float(x.mean()) ** 2 for x in (a, b)]
            dfs = [len(x) - 1.0 for x in (a, b)]
            df = min(satterthwaite(variances, dfs), CAP * min(dfs))
            found.append(LogRatio(value, math.sqrt(sum(variances)), df, n, words))
    return found


def _same_spread(squares: np.ndarray, free: np.ndarray) -> bool:
    """Bartlett's test of equal variances, from sums of squares and their degrees of freedom, which
    scipy's takes from samples only.
    """
    if not squares.any():
        return True
    if not squares.all() or free.min() <= 0:
        return False
    total = free.sum()
    statistic = total * math.log(squares.sum() / total) - float(free @ np.log(squares / free))
    scale = 1 + (float((1 / free).sum()) - 1 / total) / (3 * (len(free) - 1))
    return bool(stats.chi2.sf(statistic / scale, len(free) - 1) > POOLING_ALPHA)


def linear_ratio(samples: Sequence[Replicates], over: np.ndarray, under: np.ndarray) -> LinearRatio:
    """``over / under``, linear in the means of conditions, with coefficients as `LinearRatio` has
    them.

    The means are those of the blocks that all conditions have, where there are at least two; of the
    runs of the one that they share; of block means otherwise; of runs where no block is known.
    """
    m = len(samples)
    words, confounded = "", False
    if all(side.in_blocks for side in samples):
        common = [b for b in samples[0].by_block if all(b in s.by_block for s in samples)]
        if m > 1 and len(common) > 1:
            x = np.array([[side.by_block[block] for block in common] for side in samples])
            covariance = np.zeros((m + 1, m + 1))
            covariance[:m, :m] = np.cov(x) / len(common)
            words = f"within {len(common)} blocks"
            means = np.append(x.mean(axis=1), 1.0)
            df = (len(common) - 1.0,)
            return LinearRatio(over, under, means, covariance, df, len(common), words)
        if m > 1 and common and min(len(side.within(common[0])) for side in samples) > 1:
            units, words = [side.within(common[0]) for side in samples], "within one block"
        else:
            units, confounded = [np.array([*s.by_block.values()]) for s in samples], m > 1
            several = any(len(u) < s.n for u, s in zip(units, samples, strict=True))
            words = "by block means" if several or confounded else ""
    else:
        units = [side.values for side in samples]
    errors = [u.var(ddof=1) / len(u) if len(u) > 1 else math.nan for u in units]
    means = np.array([*(u.mean() for u in units), 1.0])
    dfs = tuple(max(len(u) - 1.0, 1.0) for u in units)
    fewest = min(len(u) for u in units)
    return LinearRatio(over, under, means, np.diag([*errors, 0.0]), dfs, fewest, words, confounded)
