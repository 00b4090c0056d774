"""Estimates: the mean over runs with their spread, of one run with the error of its samples."""

import math

import pytest
from scipy import stats

from virtperf.core.estimate import Estimate, Missing, NoResult, mean_over_runs, student


def test_mean_of_runs_uses_their_spread():
    found = mean_over_runs([1.0, 2.0, 3.0], [9.0] * 3, [50.0] * 3, level=0.95)
    # s = 1, se = 1/sqrt(3), t(0.975, 2) = 4.302653
    assert (found.value, found.df, found.n, found.method) == (2.0, 2.0, 3, "runs")
    assert found.high - found.value == pytest.approx(4.302652730 / math.sqrt(3), rel=1e-9)


def test_single_run_has_its_own_error_and_degrees_of_freedom():
    found = mean_over_runs([10.0], [0.5], [6.0], level=0.95, method="cosines of one run")
    assert (found.se, found.df, found.n, found.method) == (0.5, 6.0, 1, "cosines of one run")
    assert found.high - found.value == pytest.approx(2.446911851 * 0.5, rel=1e-9)  # t(0.975, 6)


def test_run_without_an_error_has_no_interval():
    found = mean_over_runs([10.0], [math.nan], [math.nan], level=0.95)
    assert found.value == 10.0 and math.isnan(found.low) and math.isnan(found.high)


def test_confidence_level_changes_only_the_interval():
    mean = student(1.0, 0.1, 5, level=0.95, n=3, method="runs")
    again = mean.at(0.5)
    assert (again.value, again.se, again.df, again.level) == (1.0, 0.1, 5, 0.5)
    assert again.high - 1 == pytest.approx(0.1 * 0.7266868438, rel=1e-9)  # t(0.75, 5)
    assert mean.at(0.95) is mean and again.at(0.95) == mean


def test_unit_conversion_scales_mean_and_interval():
    mean = student(2.0, 0.1, 5, level=0.95, n=3, method="runs")
    assert mean.scaled(1).low == mean.low
    turned = mean.scaled(-10)
    assert (turned.value, turned.se) == (-20.0, 1.0) and turned.low == -10 * mean.high < turned.high


def test_transformed_missing_number_keeps_its_reason():
    missing = Missing("one run only")
    assert missing.map(lambda ratio: 100 * (ratio - 1)) is missing
    with pytest.raises(NoResult, match="one run only"):
        missing.peak_load()


def test_p_value_is_that_of_students_test():
    values = [0.3, 0.1, 0.4, 0.2]
    found = mean_over_runs(values, level=0.95)
    assert found.pvalue == pytest.approx(stats.ttest_1samp(values, 0).pvalue, rel=1e-12)
    assert mean_over_runs([0.1, 0.1], level=0.95).pvalue == 0.0
    assert mean_over_runs([0.0, 0.0], level=0.95).pvalue == 1.0
    assert math.isnan(found.without_interval().pvalue)


def test_monotone_map_keeps_the_order_of_limits():
    e = Estimate(2.0, 1.0, math.inf, 0.95, "delta", ("w",))
    assert e.map(lambda v: 1 / v) == Estimate(0.5, 0.0, 1.0, 0.95, "delta", ("w",))
    assert 1.5 in e
    assert 0.5 not in e


def test_infinite_limit_is_printed_in_words():
    assert str(Estimate(2.0, 1.0, math.inf, 0.9, "t")) == "2 (90 % t: 1 to no finite upper limit)"
