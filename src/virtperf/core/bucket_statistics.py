"""Quantiles and shares of values of which only the buckets are known: a value lies anywhere between
the bounds of its own.

References
----------
Turnbull, B. W. (1976). The empirical distribution function with arbitrarily grouped, censored and
truncated data. J. R. Stat. Soc. B 38, 290-295. The ranks are those of `order_statistics`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from virtperf.core.order_statistics import Limits


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
