"""Intervals from the order of independent samples: exact for quantiles and shares, whatever the
distribution.

References
----------
David, H. A., Nagaraja, H. N. (2003). Order Statistics, 3rd ed., section 7.1. Wiley.
Clopper, C. J., Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the
case of the binomial. Biometrika 26, 404-413. Massart, P. (1990). The tight constant in the
Dvoretzky-Kiefer-Wolfowitz inequality. Ann. Probab. 18, 1269-1283.
"""

from __future__ import annotations

import math
import re

import numpy as np
from scipy import special

PERCENTILE = re.compile(
    r"(?:^|[\W_])p\(?\d{2}(?:[._]?\d+)?\)?(?:$|_\w{1,2}$| \()|percentile|centile|\b\d{2}(?:\.\d+)?th\b",
    re.I,
)
Limits = tuple[float, float, float]
"""A value, and the two ends of its interval."""


def is_percentile(name: str) -> bool:
    """Whether a metric, field or column is a percentile by its name: ``p99``, ``latency_p99.9``,
    ``clat_ns/percentile/99.000000``.
    """
    return PERCENTILE.search(name) is not None


def quantile(x: np.ndarray, share: float, level: float) -> Limits:
    """The quantile below which a `share` of all values lies, between two order statistics.

    The value is linear between order statistics (numpy's default). An end is infinite where too
    few samples lie beyond the quantile for the level: 200 tell no upper limit of the 99th
    percentile at 95 %.
    """
    ordered = np.sort(np.asarray(x, dtype=float))
    n, tail = len(ordered), (1 - level) / 2
    # so many samples lie below the quantile: binomial with n and `share`
    counts = np.arange(n + 1)
    at_most = special.bdtr(counts, n, share)
    lower = int(np.searchsorted(at_most, tail, side="right"))  # P(count < lower) <= tail
    upper = int(np.searchsorted(at_most, 1 - tail, side="left")) + 1  # P(count >= upper) <= tail
    low = float(ordered[lower - 1]) if lower >= 1 else -math.inf
    high = float(ordered[upper - 1]) if upper <= n else math.inf
    return float(np.quantile(ordered, share)), low, high


def interquartile_range(x: np.ndarray, level: float) -> Limits:
    """The distance of the quartiles; each has an interval at a level such that both hold together
    at `level` (Bonferroni).
    """
    each = 1 - (1 - level) / 2
    first, first_low, first_high = quantile(x, 0.25, each)
    third, third_low, third_high = quantile(x, 0.75, each)
    return third - first, max(third_low - first_high, 0.0), third_high - first_low


def share_above(x: np.ndarray, limit: float, level: float) -> Limits:
    """The share of values above a limit, with its binomial interval (Clopper and Pearson)."""
    n = len(x)
    above = int(np.count_nonzero(np.asarray(x, dtype=float) > limit))
    tail = (1 - level) / 2
    low = float(special.betaincinv(above, n - above + 1, tail)) if above else 0.0
    high = float(special.betaincinv(above + 1, n - above, 1 - tail)) if above < n else 1.0
    return above / n, low, high


def band_half_width(n: int, level: float) -> float:
    """How far the whole cumulative distribution of `n` samples is from the true one, at most, at
    `level` (Dvoretzky, Kiefer and Wolfowitz, with Massart's constant).
    """
    return math.sqrt(math.log(2 / (1 - level)) / (2 * n))
