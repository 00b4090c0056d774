"""Quantiles of a time series: order statistic and coverage of its interval."""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter

from tests.cases import each_case
from virtperf.runs.summarize.series import reduction
from virtperf.runs.summarize.steady import median, series_quantile


def test_value_is_the_sample_quantile() -> None:
    x = np.random.default_rng(1).exponential(size=4000)
    found = reduction({"statistic": "quantile", "share": 0.99}, independent=False)(x, 0.95)
    assert found.value == np.quantile(x, 0.99, method="inverted_cdf")
    assert found.low < found.value < found.high
    assert np.isin([found.low, found.high], x).all()


def test_half_quantile_is_the_median() -> None:
    x = np.random.default_rng(2).normal(size=501)
    one, other = series_quantile(x, 0.5, 0.95), median(x, 0.95)
    assert (one.value, one.low, one.high) == (other.value, other.low, other.high)
    assert (one.method, other.method) == ("quantile", "median")


@each_case("phi", [0.0, 0.6])
def test_interval_covers_the_quantile_of_correlated_samples(phi: float) -> None:
    rng = np.random.default_rng(3)
    inside = 0
    for _ in range(400):
        x = lfilter([1.0], [1.0, -phi], rng.normal(size=2200))
        found = series_quantile(x[200:], 0.9, 0.95)
        true = 1.2815515655446004 / np.sqrt(1 - phi**2)
        inside += found.low <= true <= found.high
    assert inside / 400 > 0.92


def test_too_few_samples_beyond_the_quantile_give_no_interval() -> None:
    found = series_quantile(np.random.default_rng(4).normal(size=100), 0.99, 0.95)
    assert np.isfinite(found.value)
    assert np.isnan([found.low, found.high]).all()
