"""The mean: over runs with their spread, of one run with the error of its samples."""

import math

import numpy as np
import pytest
from scipy import stats

from virtperf.core.mean import mean_over_runs, satterthwaite, student, welch_df


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


def test_welch_satterthwaite_degrees_of_freedom():
    assert satterthwaite([1.0, 1.0], [6.0, 6.0]) == 12  # (1 + 1)^2 / (1/6 + 1/6)
    assert satterthwaite([1.0, 0.0], [6.0, math.nan]) == 6  # a term without variance does not count
    assert satterthwaite([0.0, 0.0], [6.0, 9.0]) == 6
    assert math.isnan(satterthwaite([math.nan, 1.0], [6.0, 6.0]))


def test_degrees_of_freedom_do_not_depend_on_the_unit():
    variances, dfs = np.array([1.0, 3.0]), [4.0, 7.0]
    expected = satterthwaite(variances, dfs)
    for exponent in (-600, 600):  # squares of these variances are beyond the range of floats
        assert satterthwaite(variances * 2.0**exponent, dfs) == pytest.approx(expected)


def test_degrees_of_freedom_of_two_runs_against_ten():
    """The quantile is that of Cochran and Cox: the mean of both quantiles, weighted by variance."""
    df = welch_df([3.0, 1.0], [1.0, 9.0])
    quantiles = stats.t.ppf(0.975, [1, 9])
    assert stats.t.ppf(0.975, df) == pytest.approx(0.75 * quantiles[0] + 0.25 * quantiles[1])
    assert welch_df([3.0, 1.0], [4.0, 9.0]) == satterthwaite([3.0, 1.0], [4.0, 9.0])
    assert welch_df([0.0, 0.0], [1.0, 9.0]) == 1
    assert welch_df([1.0, 0.0], [1.0, 9.0]) == pytest.approx(1)
