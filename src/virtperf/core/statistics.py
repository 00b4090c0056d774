"""Formulas of intervals and tests that all estimates share: Student's t, degrees of freedom of sums,
Fieller's limits of ratios, Holm's method.

References
----------
Cochran, W. G., Cox, G. M. (1950). Experimental Designs. Wiley. Fieller, E. C. (1954). Some problems in
interval estimation. J. R. Stat. Soc. B 16, 175-185. Holm, S. (1979). A simple sequentially rejective
multiple test procedure. Scand. J. Stat. 6, 65-70. Satterthwaite, F. E. (1946). An approximate
distribution of estimates of variance components. Biometrics Bull. 2, 110-114. Welch, B. L. (1947). The
generalization of Student's problem. Biometrika 34, 28-35.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from rawperf.core.number_text import MAX_NUMBER

UNEQUAL_DF_FACTOR = 2.5
"""Ratio of degrees of freedom above which two means have too different numbers of runs for Welch's
(`welch_df`; docs/calibration.md has the coverage)."""
MIN_RUNS_OF_GROUPS = 5
MIN_GROUP = 2  # one outlying run is no group
GAP_OVER_RANGE = 3.0
"""Minimum ratio of the gap between the groups to the larger range within one, of logarithms. Six
values of a log-normal distribution exceed it in 1.2 % of cases, five in 3.3 %."""
LEAST_RATIO = 1.5
"""Minimum ratio of the smallest value of the upper group to the largest of the lower: with a smaller
one a mean is near all values."""


def t_quantile(df: Any, level: float) -> Any:
    """Two-sided quantile of Student's t: an interval at `level` reaches so many standard errors to
    each side. A float, or an array for an array of degrees of freedom; infinite without any.
    """
    quantile = np.where(np.asarray(df) <= 0, math.inf, special.stdtrit(df, (1 + level) / 2))
    return quantile if quantile.ndim else float(quantile)


def t_pvalue(statistic: Any, df: Any) -> Any:
    """Two-sided p-value of Student's t: a float, or an array for an array of statistics."""
    pvalue = 2 * special.stdtr(df, -np.abs(statistic))
    return pvalue if np.ndim(pvalue) else float(pvalue)


def normal_quantile(level: float) -> float:
    """Two-sided quantile of the normal distribution."""
    return float(special.ndtri((1 + level) / 2))


def normal_error(low: float, high: float, level: float) -> float:
    """Standard error of a normal estimate that has this interval."""
    return (high - low) / (2 * normal_quantile(level))


def satterthwaite(variances: Sequence[float], dfs: Sequence[float]) -> float:
    """Welch-Satterthwaite degrees of freedom of a sum of independent terms.

    ``sum(v)**2 / sum(v**2 / df)`` over the terms with nonzero variance; the smallest `df` if all
    variances are zero.
    """
    v, df = np.asarray(variances, dtype=float), np.asarray(dfs, dtype=float)
    if not v.sum():
        return float(df.min())
    v, df = v[v != 0], df[v != 0]
    if not 1 / MAX_NUMBER < v.max() < MAX_NUMBER:  # the squares are beyond the range of floats
        v = v / v.max()
    return float(v.sum() ** 2 / (v**2 / df).sum())


def error_of_sum(variances: Sequence[float], dfs: Sequence[float]) -> tuple[float, float]:
    """Standard error and degrees of freedom of a sum of independent terms (`satterthwaite`).

    By the delta method a quotient ``a / b`` has the error of the sum ``a - (a / b) b``, divided by b.
    """
    return math.sqrt(sum(variances)), satterthwaite(variances, dfs)


def welch_df(variances: Sequence[float], dfs: Sequence[float]) -> float:
    """Degrees of freedom of a sum of independent terms with unequal variances.

    Those of Welch and Satterthwaite. They are too large where one term has much fewer runs, which
    happen to agree: 88 % of 95 % intervals of two runs against ten contain the true ratio. If `dfs`
    differ by more than `UNEQUAL_DF_FACTOR`, they are therefore those with which Student's quantile
    for 95 % is the mean of the terms' quantiles, weighted by variance (Cochran and Cox 1950).
    """
    if max(dfs) <= UNEQUAL_DF_FACTOR * min(dfs):
        return satterthwaite(variances, dfs)
    v = np.asarray(variances, dtype=float)
    if not v.any():
        return float(min(dfs))
    v = v / v.max()
    quantile = float(v @ t_quantile(np.asarray(dfs, dtype=float), 0.95)) / float(v.sum())
    return float(special.stdtridf(0.975, quantile))


def fieller(a: float, b: float, aa: float, bb: float, ab: float = 0.0) -> tuple[float, float]:
    """Fieller's (1954) limits of ``a / b``: all r with ``(a - r b)**2 <= aa - 2 r ab + r**2 bb``.

    Both are normal estimates; `aa`, `bb` and `ab` are their variances and covariance, times the
    squared quantile. The limits are infinite if b does not differ from zero, NaN for an unknown
    variance.
    """
    square, cross, rest = b**2 - bb, a * b - ab, a**2 - aa
    if not square > 0:
        return (math.nan, math.nan) if math.isnan(square) else (-math.inf, math.inf)
    half = math.sqrt(max(cross * cross - square * rest, 0.0))
    return (cross - half) / square, (cross + half) / square


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values by Holm's (1979) method; statsmodels' function takes a second to import."""
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.maximum.accumulate(np.asarray(p_values)[order] * factors)
    return [float(p) for p in np.minimum(adjusted, 1.0)]


def two_groups(values: Sequence[float]) -> tuple[np.ndarray, np.ndarray] | None:
    """Split positive values at their largest gap on the log scale, the lower group first, each
    ascending; None if they don't fall into two groups.
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    if len(ordered) < MIN_RUNS_OF_GROUPS or ordered[0] <= 0:
        return None
    logs = np.log(ordered)
    cut = int(np.argmax(np.diff(logs))) + 1
    if not MIN_GROUP <= cut <= len(ordered) - MIN_GROUP:
        return None
    gap, widest = logs[cut] - logs[cut - 1], max(np.ptp(logs[:cut]), np.ptp(logs[cut:]))
    if gap < max(GAP_OVER_RANGE * widest, np.log(LEAST_RATIO)):
        return None
    return ordered[:cut], ordered[cut:]
