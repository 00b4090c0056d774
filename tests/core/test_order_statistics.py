"""Intervals by order statistics: exact ranks by enumeration, coverage by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tests.cases import each_case
from virtperf.core.order_statistics import (
    BucketCounts,
    band_half_width,
    interquartile_range,
    percentile,
    quantile,
    share_above,
)


@each_case("n", [5, 20, 99, 200, 1000])
@each_case("share", [0.25, 0.5, 0.9, 0.99])
def test_ranks_are_the_narrowest_with_nominal_tails(n, share):
    x = np.arange(1.0, n + 1)  # each value equals its rank
    found = quantile(x, share, 0.95)
    low, high = found.low, found.high
    below = stats.binom(n, share)
    lower = 0 if math.isinf(low) else int(low)
    upper = n + 1 if math.isinf(high) else int(high)
    assert below.cdf(lower - 1) <= 0.025 < below.cdf(lower)
    assert below.sf(upper - 1) <= 0.025 < below.sf(upper - 2)


def test_too_few_samples_leave_the_99th_percentile_open():
    assert quantile(np.arange(200.0), 0.99, 0.95).high == math.inf
    assert quantile(np.arange(500.0), 0.99, 0.95).high == 499.0


def test_value_equals_numpy_quantile():
    x = np.array([3.0, 1.0, 2.0, 10.0])
    first, third, last = np.quantile(x, [0.25, 0.75, 0.99], method="inverted_cdf")
    assert quantile(x, 0.99, 0.95).value == last
    assert interquartile_range(x, 0.95).value == third - first


@each_case("share", [1e-6, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0])
@each_case("n", [1, 2, 3, 100, 200, 1000])
def test_percentile_equals_that_of_numpy_however_values_are_counted(n, share):
    """Single values, their counts, and buckets of no width are the same distribution."""
    x = np.random.default_rng(7).integers(0, 50, n).astype(float)
    expected = np.quantile(x, share, method="inverted_cdf")
    values, counts = np.unique(x, return_counts=True)
    assert percentile(x, share) == expected
    assert percentile(values[::-1], share, counts[::-1]) == expected
    assert BucketCounts(values, values, counts).quantile(share, 0.95).value == expected


def test_percentile_of_buckets_is_the_upper_bound_of_the_bucket_that_reaches_it():
    """99 of 100 values are at most 2: p99 is 2, anything above it 4; an empty bucket is nothing."""
    lower, upper = np.array([4.0, 0.0, 1.0, 2.0]), np.array([8.0, 1.0, 2.0, 4.0])
    counts = np.array([0.0, 60.0, 39.0, 1.0])
    shares = {0.5: 1.0, 0.6: 1.0, 0.600001: 2.0, 0.99: 2.0, 0.991: 4.0, 1.0: 4.0}
    assert {share: percentile(upper, share, counts) for share in shares} == shares
    buckets = BucketCounts(lower, upper, counts)
    assert {share: buckets.quantile(share, 0.9).value for share in shares} == shares


def test_share_interval_equals_scipy_binomial_interval():
    x = np.array([1.0] * 906 + [200.0] * 94)
    found = share_above(x, 125.0, 0.95)
    expected = stats.binomtest(94, 1000).proportion_ci(0.95, method="exact")
    assert found.value == 0.094
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-12)
    none = share_above(np.zeros(10), 1.0, 0.95)
    assert (none.value, none.low) == (0.0, 0.0)
    assert share_above(np.ones(10) * 2, 1.0, 0.95).high == 1.0


def test_value_at_the_limit_is_not_above_it():
    assert share_above(np.array([125.0, 126.0]), 125.0, 0.95).value == 0.5


@each_case(
    ("made", "truth"),
    [
        (lambda x: quantile(x, 0.5, 0.95), stats.lognorm(1).ppf(0.5)),
        (lambda x: quantile(x, 0.9, 0.95), stats.lognorm(1).ppf(0.9)),
        (
            lambda x: interquartile_range(x, 0.95),
            stats.lognorm(1).ppf(0.75) - stats.lognorm(1).ppf(0.25),
        ),
        (lambda x: share_above(x, 2.0, 0.95), stats.lognorm(1).sf(2.0)),
    ],
)
def test_intervals_cover_a_skewed_distribution(made, truth):
    draws = np.random.default_rng(1).lognormal(size=(2000, 100))
    ends = np.array([(found.low, found.high) for found in map(made, draws)])
    covered = np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
    assert covered >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / len(draws))


def test_confidence_band_covers_the_true_distribution():
    draws = np.sort(np.random.default_rng(2).uniform(size=(2000, 50)), axis=1)
    n = draws.shape[1]
    after, before = np.arange(1, n + 1) / n, np.arange(n) / n
    far = np.maximum(np.abs(after - draws), np.abs(draws - before)).max(axis=1)
    assert np.mean(far <= band_half_width(n, 0.95)) >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 2000)


def test_too_few_values_in_buckets_leave_the_interval_open():
    """Three values give no lower limit of the median at 95 %: all are above it in 1 of 8 samples."""
    x = np.array([1.0, 2.0, 3.0])
    found = BucketCounts(x - 1e-9, x + 1e-9, np.ones(3)).quantile(0.5, 0.95)
    expected = quantile(x, 0.5, 0.95)
    assert (found.low, found.high) == (expected.low, expected.high) == (-math.inf, math.inf)


def test_bucket_of_one_value_at_the_limit_is_not_above_it():
    buckets = BucketCounts(np.array([5.0, 6.0]), np.array([5.0, 6.0]), np.array([906.0, 94.0]))
    samples = np.array([5.0] * 906 + [6.0] * 94)
    found, expected = buckets.share_above(5.0, 0.95), share_above(samples, 5.0, 0.95)
    assert (found.value, found.low, found.high) == pytest.approx(
        (expected.value, expected.low, expected.high)
    )
