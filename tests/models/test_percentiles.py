"""Percentiles of pooled samples, and their ratio between two conditions."""

from __future__ import annotations

import numpy as np
import pytest

from rawperf.core.errors import ModelError
from virtperf.models.percentiles import Distribution, merge_distributions, percentile_ratio

RNG = np.random.default_rng(4)


def runs(levels, spread=0.5, n=400):
    return [Distribution.of(v * np.exp(spread * RNG.standard_normal(n))) for v in levels]


def test_percentiles_equal_numpy():
    x = RNG.exponential(size=300).round(1)
    by_counts = Distribution.of(*np.unique(x, return_counts=True))
    for percent in (1, 50, 90, 99, 99.9):
        expected = np.percentile(x, percent, method="inverted_cdf")
        assert Distribution.of(x).percentile(percent) == by_counts.percentile(percent) == expected


def test_percentile_of_less_than_one_event_is_its_value():
    assert Distribution.of([5.0], [0.5]).percentile(50) == 5.0


def test_driver_samples_are_pooled_not_their_percentiles():
    fast, slow = RNG.exponential(1, 900), RNG.exponential(10, 100)
    both = merge_distributions([Distribution.of(fast), Distribution.of(slow)])
    expected = np.percentile(np.concatenate([fast, slow]), 99, method="inverted_cdf")
    assert both.percentile(99) == expected
    assert both.total == 1000
    with pytest.raises(ModelError, match=r"(?s)can't be merged into one.*histogram log"):
        merge_distributions([4.6, 46.0])


def test_ratio_of_runs_uses_pooled_samples():
    a, b = runs([1.25, 1.3, 1.35, 1.31]), runs([1.0, 1.05, 0.95, 1.02, 0.99])
    found = percentile_ratio(a, b, 90)
    assert found.value == merge_distributions(a).percentile(90) / merge_distributions(b).percentile(
        90
    )
    low, high = found.interval(0.95)
    assert low < 1.3 < high and found.n == 4
    assert percentile_ratio(a, b, 90).interval(0.95) == (low, high)
    assert np.isnan(percentile_ratio(a[:1], b, 90).se)
    # the percentile of the median run varies about as much as runs do, like the mean of medians
    logs = [np.log(run.percentile(50)) for run in b]
    alike = percentile_ratio(b, b, 50).se
    assert alike == pytest.approx(np.sqrt(2) * np.std(logs, ddof=1) / np.sqrt(5), rel=0.3)


def test_block_effects_cancel():
    shared = (1.0, 4.0, 0.3, 2.0)
    a, b = runs(1.3 * np.array(shared), 0.2, 4000), runs(shared, 0.2, 4000)
    names = ["mon", "tue", "wed", "thu"]
    found = percentile_ratio(a, b, 50, blocks_a=names, blocks_b=names)
    assert found.design == "within 4 blocks"
    assert found.se < 0.05 * percentile_ratio(a, b, 50).se
    other = percentile_ratio(a, b, 50, blocks_a=names, blocks_b=[f"{n} 2" for n in names])
    assert other.confounded


def test_invalid_input_is_rejected():
    for values, percent, message in (
        (np.array([]), 50, "there are no values"),
        (np.array([1.0, np.nan]), 50, "not finite"),
        (np.array([1.0, 2.0]), 100, "between 0 and 100"),
        (np.array([0.0, 0.0, 1.0]), 50, "not positive"),
    ):
        with pytest.raises(ModelError, match=message):
            one = Distribution.of(values)
            percentile_ratio([one, one], [one, one], percent)
