"""The percentile, and distribution-free intervals from order statistics: exact for quantiles and
proportions. Bucketed values are interval-censored: each lies anywhere between the bounds of its
bucket.

References
----------
David, H. A., Nagaraja, H. N. (2003). Order Statistics, 3rd ed., section 7.1. Wiley.
Clopper, C. J., Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the
case of the binomial. Biometrika 26, 404-413. Hyndman, R. J., Fan, Y. (1996). Sample quantiles in
statistical packages. Am. Stat. 50, 361-365. Massart, P. (1990). The tight constant in the
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

from virtperf.core.estimate import BUCKETED, COUNTED, ORDERED, Estimate
from virtperf.core.statistics import normal_error

PERCENTILE = re.compile(
    r"(?:^|[\W_])p\(?\d{2}(?:[._]?\d+)?\)?(?:$|_\w{1,2}$| \()|percentile|centile|\b\d{2}(?:\.\d+)?th\b",
    re.I,
)


def is_percentile(name: str) -> bool:
    """Whether the name of a metric, field or column denotes a percentile: ``p99``,
    ``latency_p99.9``, ``clat_ns/percentile/99.000000``.
    """
    return PERCENTILE.search(name) is not None


def percentile(values: np.ndarray, share: float, counts: np.ndarray | None = None) -> float:
    """Return the `share` quantile: the smallest value that is not below `share` of all values.

    This is definition 1 of Hyndman and Fan (1996), numpy's ``inverted_cdf``. It is always one of the
    values, and the only definition that holds for single values and for values with `counts` alike:
    percentiles of a histogram are those of the upper bounds of its buckets. `values` have shape
    (n,), in any order; counts need not be whole.
    """
    total = len(values) if counts is None else float(np.sum(counts))
    return value_of_rank(values, share * total, counts)


def value_of_rank(values: np.ndarray, rank: float, counts: np.ndarray | None = None) -> float:
    """Return the smallest value with at least `rank` values not above it, `rank` from 1."""
    values = np.asarray(values, dtype=float)
    counts = np.ones(len(values)) if counts is None else np.asarray(counts, dtype=float)
    order = np.argsort(values, kind="stable")
    order = order[counts[order] > 0]
    reached = np.cumsum(counts[order])
    place = int(np.searchsorted(reached, rank * (1 - 1e-12)))  # ranks as 0.99 * 200 are rounded
    return float(values[order[min(place, len(order) - 1)]])


def quantile(x: np.ndarray, share: float, level: float) -> Estimate:
    """Return the `share` quantile by `percentile` with an interval between two order statistics.

    An end is infinite with too few samples beyond the quantile: 200 samples give no upper limit of
    the 99th percentile at 95 %.
    """
    return _single_values(x, ORDERED).quantile(share, level)


def values_for_limits(share: float, level: float) -> int:
    """Fewest independent values for which both limits of the `share` quantile at `level` are finite: an
    order statistic lies beyond the quantile with the probability 1 - max(share, 1 - share)^n.
    """
    return math.ceil(math.log((1 - level) / 2) / math.log(max(share, 1 - share)))


def interquartile_range(x: np.ndarray, level: float) -> Estimate:
    """Return the interquartile range; each quartile has an interval at the Bonferroni-adjusted
    level, so that both hold jointly at `level`.
    """
    return _single_values(x, ORDERED).interquartile_range(level)


def share_above(x: np.ndarray, limit: float, level: float) -> Estimate:
    """Return the proportion of values above a limit with its Clopper-Pearson interval."""
    return _single_values(x, COUNTED).share_above(limit, level)


def _single_values(x: np.ndarray, method: str) -> BucketCounts:
    """Values as buckets of width zero."""
    values = np.asarray(x, dtype=float)
    return BucketCounts(values, values, np.ones(len(values)), method)


def band_half_width(n: int, level: float) -> float:
    """Half width of the Dvoretzky-Kiefer-Wolfowitz confidence band of an empirical distribution
    function of `n` samples at `level`, with Massart's constant.
    """
    return math.sqrt(math.log(2 / (1 - level)) / (2 * n))


@dataclass(frozen=True)
class BucketCounts:
    """Histogram counts of values from `lower` to `upper`, arrays of shape (buckets,); buckets of
    several histograms may overlap. `method` names the interval.
    """

    lower: np.ndarray
    upper: np.ndarray
    count: np.ndarray
    method: str = BUCKETED

    @property
    def n(self) -> float:
        """Total number of values."""
        return float(self.count.sum())

    def quantile(self, share: float, level: float, *, interpolate: bool = False) -> Estimate:
        """Return the `share` quantile with its interval: `percentile` of the upper bounds, or linear
        interpolation within that bucket.

        The interval reaches from the lower bound of one order statistic's bucket to the upper bound
        of another's; the two order statistics contain the quantile at `level`. An end is infinite
        with too few values, as in `quantile`.
        """
        n, tail = max(round(self.n), 1), (1 - level) / 2
        first = _first_count(n, share, lambda p: p > tail)
        last = _first_count(n, share, lambda p: p >= 1 - tail) + 1
        low = value_of_rank(self.lower, first, self.count) if first >= 1 else -math.inf
        high = value_of_rank(self.upper, last, self.count) if last <= n else math.inf
        value = percentile(self.upper, share, self.count)
        if interpolate and math.isfinite(value):
            value = self._within(share, value)
        return _between((value, min(low, value), max(high, value)), level, n, self.method)

    def interquartile_range(self, level: float) -> Estimate:
        """See the function `interquartile_range`."""
        first, third = (self.quantile(share, 1 - (1 - level) / 2) for share in (0.25, 0.75))
        return _spread(first, third, level)

    def share_above(self, limit: float, level: float) -> Estimate:
        """Return the proportion of values above a limit with its binomial interval; a bucket that
        contains the limit counts for the value and the upper end, not for the lower end.
        """
        n = self.n
        may_be_above = self.upper > limit
        least = float(self.count[may_be_above & (self.lower >= limit)].sum())
        most = float(self.count[may_be_above].sum())
        tail = (1 - level) / 2
        low = float(special.betaincinv(least, n - least + 1, tail)) if least > 0 else 0.0
        high = float(special.betaincinv(most + 1, n - most, 1 - tail)) if most < n else 1.0
        return _between((most / n, low, high), level, max(round(n), 1), self.method)

    def _within(self, share: float, upper: float) -> float:
        order = np.argsort(self.upper, kind="stable")
        bounds, counts = self.upper[order], self.count[order]
        below = float(counts[bounds < upper].sum())
        is_bucket = (bounds == upper) & (counts > 0)
        lower = float(self.lower[order][is_bucket].min())
        part = (self.n * share - below) / float(counts[is_bucket].sum())
        return lower + (upper - lower) * min(max(part, 0.0), 1.0)


def _between(ends: tuple[float, float, float], level: float, n: int, method: str) -> Estimate:
    """Estimate from a value and its two limits."""
    value, low, high = ends
    df = max(n - 1.0, 1.0) if method == BUCKETED else n - 1.0
    se = normal_error(low, high, level)
    return Estimate(value, low, high, level, method, se=se, df=df, n=n)


def _spread(first: Estimate, third: Estimate, level: float) -> Estimate:
    """Distance of two quartiles, whose intervals hold jointly at `level`."""
    ends = third.value - first.value, max(third.low - first.high, 0.0), third.high - first.low
    return _between(ends, level, first.n, first.method)


def _first_count(n: int, share: float, reached: Callable[[float], bool]) -> int:
    """Bisect for the first count of values below the quantile whose cumulative probability is
    `reached`.
    """
    low, high = -1, n
    while high - low > 1:
        middle = (low + high) // 2
        if reached(float(special.bdtr(middle, n, share))):
            high = middle
        else:
            low = middle
    return high
