"""Quantiles, degrees of freedom, limits of ratios and adjusted p-values against scipy and formulas."""

import math

import numpy as np
import pytest
from scipy import stats

from virtperf.core.statistics import (
    fieller,
    normal_error,
    satterthwaite,
    t_pvalue,
    t_quantile,
    welch_df,
)


def test_quantiles_and_p_values_equal_those_of_scipy():
    assert t_quantile(4, 0.9) == pytest.approx(stats.t.ppf(0.95, 4), rel=1e-12)
    dfs = np.array([1.0, 9.0])
    assert t_quantile(dfs, 0.95) == pytest.approx(stats.t.ppf(0.975, dfs), rel=1e-12)
    assert t_quantile(0, 0.95) == math.inf and math.isnan(t_quantile(math.nan, 0.95))
    assert t_pvalue(-2.5, 7) == pytest.approx(2 * stats.t.sf(2.5, 7), rel=1e-12)
    assert normal_error(-1.96, 1.96, 0.95) == pytest.approx(1.0, rel=1e-4)


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


def test_limits_of_a_ratio_are_where_the_difference_is_not_significant():
    """Student's t of ``a - r b`` equals the quantile at both ends, whatever the covariance."""
    t, aa, bb, ab = t_quantile(10, 0.95), 0.04, 0.01, 0.005
    for r in fieller(10.0, 5.0, t**2 * aa, t**2 * bb, t**2 * ab):
        error = math.sqrt(aa - 2 * r * ab + r**2 * bb)
        assert abs(10.0 - r * 5.0) / error == pytest.approx(t, rel=1e-9)


def test_limits_of_a_ratio_approach_the_delta_method():
    t2 = t_quantile(20, 0.95) ** 2
    low, high = fieller(10.0, 5.0, t2 * 1e-8, t2 * 1e-8)
    half = math.sqrt(t2) * 2 * math.sqrt(1e-8 / 100 + 1e-8 / 25)
    assert (2 - low, high - 2) == pytest.approx((half, half), rel=1e-3)


def test_ratio_to_a_number_near_zero_has_no_limits():
    t2 = t_quantile(10, 0.95) ** 2  # 4.96 variances of the divisor, which is 1
    assert fieller(10.0, 1.0, t2, t2) == (-math.inf, math.inf)
    assert all(map(math.isnan, fieller(10.0, 1.0, math.nan, math.nan)))
