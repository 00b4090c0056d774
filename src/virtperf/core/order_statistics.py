"""Intervals from the order of independent samples: exact for quantiles and shares, whatever the
distribution. Where only the buckets of the values are known, a value lies anywhere between the bounds
of its own.

References
----------
David, H. A., Nagaraja, H. N. (2003). Order Statistics, 3rd ed., section 7.1. Wiley.
Clopper, C. J., Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the
case of the binomial. Biometrika 26, 404-413. Massart, P. (1990). The tight constant in the
Dvoretzky-Kiefer-Wolfowitz inequality. Ann. Probab. 18, 1269-1283. Turnbull, B. W. (1976). The
empirical distribution function with arbitrarily grouped, censored and truncated data. J. R. Stat.
Soc. B 38, 290-295.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

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


@dataclass(frozen=True)
class BucketCounts:
    """How many values lie from `lower` to `upper`, arrays of shape (buckets,); buckets of several
    histograms may overlap.
    """

    lower: np.ndarray
    upper: np.ndarray
    count: np.ndarray

    @property
    def n(self) -> float:
        """How many values there are."""
        return float(self.count.sum())

    def quantile(self, share: float, level: float, *, interpolate: bool = False) -> Limits:
        """The quantile below which a `share` of the values lies: at most the upper bound of its
        bucket, which is the value given, or linear within the bucket.

        The interval reaches from the lower bound of the bucket of one order statistic to the upper
        bound of that of another, which hold the quantile between them at `level`.
        """
        n, tail = max(round(self.n), 1), (1 - level) / 2
        first = _first_count(n, share, lambda p: p > tail)
        last = _first_count(n, share, lambda p: p >= 1 - tail) + 1
        least = float(self.lower[self.count > 0].min())
        low = _ranked(self.lower, self.count, first) if first >= 1 else least
        high = _ranked(self.upper, self.count, last) if last <= n else math.inf
        value = _ranked(self.upper, self.count, self.n * share)
        if interpolate and math.isfinite(value):
            value = self._within(share, value)
        return value, min(low, value), max(high, value)

    def share_above(self, limit: float, level: float) -> Limits:
        """The share of values above a limit, at most, with its binomial interval: a bucket that
        holds the limit counts at the upper end and not at the lower.
        """
        n = self.n
        least = float(self.count[self.lower >= limit].sum())
        most = float(self.count[self.upper > limit].sum())
        tail = (1 - level) / 2
        low = float(special.betaincinv(least, n - least + 1, tail)) if least > 0 else 0.0
        high = float(special.betaincinv(most + 1, n - most, 1 - tail)) if most < n else 1.0
        return most / n, low, high

    def _within(self, share: float, upper: float) -> float:
        order = np.argsort(self.upper, kind="stable")
        bounds, counts = self.upper[order], self.count[order]
        below = float(counts[bounds < upper].sum())
        own = (bounds == upper) & (counts > 0)
        lower = float(self.lower[order][own].min())
        part = (self.n * share - below) / float(counts[own].sum())
        return lower + (upper - lower) * min(max(part, 0.0), 1.0)


def _first_count(n: int, share: float, reached: Callable[[float], bool]) -> int:
    """The first count of values below the quantile whose cumulative probability is `reached`; n may
    be millions, so that the search begins at the normal distribution's answer.
    """
    low, high = -1, n
    while high - low > 1:
        middle = (low + high) // 2
        if reached(float(special.bdtr(middle, n, share))):
            high = middle
        else:
            low = middle
    return high


def _ranked(bounds: np.ndarray, counts: np.ndarray, rank: float) -> float:
    """The bound of the value of that rank, from 1, in ascending order of the bounds."""
    order = np.argsort(bounds, kind="stable")
    reached = np.cumsum(counts[order])
    place = int(np.searchsorted(reached, rank * (1 - 1e-12), side="left"))
    return float(bounds[order][min(place, len(bounds) - 1)])
