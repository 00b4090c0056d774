import math

import numpy as np
import pytest
from scipy import stats

from rawperf.core.errors import ModelError, ParameterError
from virtperf.models.result import f_test, t_interval
from virtperf.models.straight_line import fit_line


def test_t_interval_against_scipy():
    e = t_interval(1.0, 0.5, 4, 0.05)
    assert (e.low, e.high) == pytest.approx(stats.t.interval(0.95, 4, loc=1, scale=0.5), rel=1e-12)
    assert t_interval(1.0, 0.5, 0, 0.05).low == -math.inf
    assert t_interval(1.0, math.nan, 4, 0.05).warnings == ("there is no standard error at a bound",)
    with pytest.raises(ParameterError):
        t_interval(1.0, 0.5, 4, 0.0)


def test_f_test_against_scipy_and_at_its_ends():
    assert f_test(8.0, 2, 3.0, 6).pvalue == pytest.approx(stats.f.sf(8, 2, 6), rel=1e-12)
    assert f_test(1.0, 1, 0.0, 3).pvalue == 0.0
    assert f_test(0.0, 1, 0.0, 3).pvalue == 1.0
    assert f_test(-1e-17, 1, 1.0, 3).statistic == 0.0
    with pytest.raises(ModelError, match="no degrees of freedom"):
        f_test(1.0, 1, 1.0, 0)


def test_only_relative_weights_matter():
    x, y = [1, 2, 3, 4, 5], [1.0, 2.2, 2.7, 4.4, 4.9]
    a = fit_line(x, y, weights=[1, 2, 3, 4, 5])
    b = fit_line(x, y, weights=[10, 20, 30, 40, 50])
    assert b.theta == pytest.approx(a.theta, rel=1e-12)
    assert b.bse.to_numpy() == pytest.approx(a.bse.to_numpy(), rel=1e-12)


def test_summary_is_deterministic():
    x, y = [1, 2, 3, 4], [1.0, 2.2, 2.7, 4.4]
    assert fit_line(x, y).summary() == fit_line(x, y).summary()
    lines = fit_line(x, y).summary().splitlines()
    assert lines[0] == "Straight line: y = intercept + slope x"
    assert [line.split()[0] for line in lines[3:5]] == ["intercept", "slope"]


def test_bands_are_ordered_and_contain_the_curve():
    fit = fit_line([1, 2, 3, 4, 5], [1.0, 2.2, 2.7, 4.4, 4.9])
    new = np.linspace(-3, 9, 7)
    mean, observation = fit.predict(new, interval="mean"), fit.predict(new, interval="observation")
    assert fit.predict(new) == pytest.approx(mean["value"].to_numpy(), rel=1e-14)
    assert (observation["low"] < mean["low"]).all()
    assert (mean["low"] < mean["value"]).all()
    assert (mean["high"] < observation["high"]).all()
    with pytest.raises(ParameterError, match="unknown interval"):
        fit.predict(new, interval="confidence")
