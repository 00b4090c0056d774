import math

import numpy as np
import pytest
from scipy import optimize

from virtperf.core.errors import ModelError
from virtperf.models import nls
from virtperf.models.levenberg import detour, minimise
from virtperf.models.nls import Curve, fit_nls


def _decay(x, b):
    return b[0] * np.exp(-b[1] * x)


def _decay_jacobian(x, b):
    e = np.exp(-b[1] * x)
    return np.column_stack((e, -b[0] * x * e))


DECAY = Curve("y = a exp(-k x)", ("a", "k"), _decay, _decay_jacobian)
BOUNDED = Curve("y = a exp(-k x), k >= 0", ("a", "k"), _decay, _decay_jacobian, lower=(-math.inf, 0.0))
STRAIGHT = Curve("y = a + b x", ("a", "b"), lambda x, p: p[0] + p[1] * x, lambda x, p: np.vander(x, 2, increasing=True))
X = np.array([0.0, 1, 2, 3, 4, 5, 6, 7])
Y = np.array([10.1, 7.3, 5.6, 4.0, 3.1, 2.2, 1.7, 1.2])


def test_agrees_with_scipy():
    fit = fit_nls(DECAY, X, Y, [[1, 1]])
    params, covariance = optimize.curve_fit(lambda x, a, k: _decay(x, (a, k)), X, Y, [1, 1], xtol=1e-15, ftol=1e-15)
    assert fit.params == pytest.approx(params, rel=1e-7)
    assert fit.cov_params() == pytest.approx(covariance, rel=1e-5)


def test_a_linear_model_has_equal_profile_and_t_intervals():
    """The sum of squares of a linear model is a parabola along every profile."""
    fit = fit_nls(STRAIGHT, X, Y, [[0, 0]])
    assert fit.conf_int() == pytest.approx(fit.conf_int(method="t"), rel=1e-8)


def test_weights_count_as_repetitions():
    """Integer weights give the estimate of the repeated rows."""
    w = np.array([1, 2, 3, 1, 2, 3, 1, 2])
    weighted = fit_nls(DECAY, X, Y, [[1, 1]], weights=w)
    repeated = fit_nls(DECAY, np.repeat(X, w), np.repeat(Y, w), [[1, 1]])
    assert weighted.params == pytest.approx(repeated.params, rel=1e-9)
    assert weighted.rss == pytest.approx(repeated.rss, rel=1e-9)


def test_limits_lie_where_the_profile_crosses_its_threshold():
    fit = fit_nls(DECAY, X, Y, [[1, 1]])
    e = fit.estimate("k", 0.1)
    threshold = fit.rss + fit.scale * 1.9431802805153031**2  # t(0.95, 6)
    for k in (e.low, e.high):
        shape = np.exp(-k * X)
        rss = np.sum((Y - shape * (shape @ Y) / (shape @ shape)) ** 2)
        assert rss == pytest.approx(threshold, rel=1e-7)


def test_a_bound_is_reported_with_a_one_sided_interval():
    rising = fit_nls(BOUNDED, X, 5 + 0.1 * X + 0.05 * (-1.0) ** X, [[1, 1]])
    assert rising.at_bound == (False, True)
    assert rising.params[1] == 0.0
    assert math.isnan(rising.bse[1])
    assert rising.df_resid == len(X) - 1
    assert any("k is on its bound 0" in w for w in rising.warnings)
    e = rising.estimate("k")
    assert e.low == 0.0
    assert 0 < e.high < math.inf
    assert "one-sided" in e.warnings[0]


def test_an_inactive_bound_changes_nothing():
    free, bounded = fit_nls(DECAY, X, Y, [[1, 1]]), fit_nls(BOUNDED, X, Y, [[1, 1]])
    assert bounded.params == pytest.approx(free.params, rel=1e-10)
    assert not any(bounded.at_bound)


def test_the_best_of_several_starts_is_kept():
    curve = Curve(
        "y = sin(b x)",
        ("b",),
        lambda x, b: np.sin(b[0] * x),
        lambda x, b: (x * np.cos(b[0] * x))[:, None],
    )
    x = np.linspace(0, 10, 40)
    y = np.sin(2.0 * x)
    assert fit_nls(curve, x, y, [[4.0], [1.9], [0.3]]).params[0] == pytest.approx(2.0, rel=1e-9)


def test_an_exact_fit_has_intervals_of_no_width():
    fit = fit_nls(DECAY, X, _decay(X, (3.0, 0.5)), [[1, 1]])
    assert fit.params == pytest.approx([3.0, 0.5], rel=1e-12)
    assert fit.conf_int() == pytest.approx(np.array([[3.0, 3.0], [0.5, 0.5]]), rel=1e-6)


def test_as_many_rows_as_parameters_give_estimates_without_limits():
    fit = fit_nls(DECAY, [0, 1], [4.0, 2.0], [[1, 1]])
    assert fit.params == pytest.approx([4.0, math.log(2)], rel=1e-9)
    e = fit.estimate("k")
    assert (e.low, e.high) == (-math.inf, math.inf)
    assert "no degrees of freedom are left" in e.warnings


def test_parameters_that_the_data_do_not_determine_are_reported():
    twice = Curve("y = (a + b) x", ("a", "b"), lambda x, p: (p[0] + p[1]) * x, lambda x, p: np.column_stack((x, x)))
    fit = fit_nls(twice, X, Y, [[1, 1]])
    assert any("singular" in w for w in fit.warnings)
    assert np.isnan(fit.bse).all()


def test_bad_input():
    with pytest.raises(ModelError, match="y in row 3 of 3"):
        fit_nls(DECAY, [1, 2, 3], [1, 2, np.nan], [[1, 1]])
    with pytest.raises(ModelError, match="can't determine 2 parameters"):
        fit_nls(DECAY, [1], [1], [[1, 1]])
    with pytest.raises(ModelError, match="no start led to an optimum"):
        fit_nls(DECAY, X, Y, [[1, -1000.0]])  # overflows at once
    with pytest.raises(ModelError, match="unknown interval method"):
        fit_nls(DECAY, X, Y, [[1, 1]]).estimate("k", method="wald")
    with pytest.raises(ModelError, match="unknown parameter"):
        fit_nls(DECAY, X, Y, [[1, 1]]).estimate("c")


def test_a_corner_of_the_box_is_found():
    """Minimum of |p - (3, -2)|**2 in the unit square is its corner (1, 0)."""
    target = np.array([3.0, -2.0])
    found = minimise(lambda p: p - target, lambda p: np.eye(2), np.array([0.5, 0.5]), np.zeros(2), np.ones(2), size=1.0)
    assert found.params.tolist() == [1.0, 0.0]
    assert not found.free.any()
    assert found.converged


def test_refit_starts_from_the_fit_and_finds_the_new_optimum():
    fit = fit_nls(DECAY, X, Y, [[1, 1]])
    other = Y * 1.3 + 0.1
    assert fit.refit(other) == pytest.approx(fit_nls(DECAY, X, other, [[1, 1]]).params, rel=1e-9)


PLANE = Curve(
    "y = a x1 + b exp(c x2)",
    ("a", "b", "c"),
    lambda x, p: p[0] * x[:, 0] + p[1] * np.exp(p[2] * x[:, 1]),
    lambda x, p: np.column_stack((x[:, 0], np.exp(p[2] * x[:, 1]), p[1] * x[:, 1] * np.exp(p[2] * x[:, 1]))),
)


def test_a_curve_may_have_several_regressors():
    rows = [(a, b) for a in (1.0, 2.0, 5.0) for b in (0.0, 0.5, 1.0)]
    truth = np.array([2.0, 3.0, 0.7])
    y = PLANE.value(np.array(rows), truth)
    fit = fit_nls(PLANE, rows, y, [[1, 1, 0.1]])
    assert fit.params == pytest.approx(truth, rel=1e-10)
    assert fit.predict([3.0, 0.25]) == pytest.approx([6 + 3 * math.exp(0.175)])
    assert list(fit.predict([[3.0, 0.25], [1.0, 0.0]], interval="mean")["value"]) == pytest.approx(
        [6 + 3 * math.exp(0.175), 5.0]
    )
    with pytest.raises(ModelError, match="x2 in row 9 of 9 is not a finite number"):
        fit_nls(PLANE, [*rows[:-1], (5.0, math.nan)], y, [[1, 1, 0.1]])
    with pytest.raises(ModelError, match=r"at least 3; found 2 \(1 2, 1 3\)"):
        fit_nls(PLANE, [(1, 2), (1, 3)] * 2, y[:4], [[1, 1, 0.1]])


def test_residuals_of_the_size_of_rounding_are_no_failure():
    """The observations differ from the curve in their 13th digit: their rounding hides where the best fit is."""
    y = _decay(X, (3.0, 0.5)) + 1e-13 * (-1.0) ** np.arange(8)
    fit = fit_nls(DECAY, X, y, [[1, 1]])
    assert fit.params == pytest.approx([3.0, 0.5], rel=1e-12)


def test_a_jacobian_that_is_not_finite_refuses_a_step():
    def slope(p):
        return np.full((1, 1), 1.0 if p[0] <= 2 else np.nan)

    free = np.array([-np.inf]), np.array([np.inf])
    found = minimise(lambda p: p - 3, slope, np.array([0.5]), *free, size=1.0)
    assert not found.converged
    assert 1.9 < found.params[0] <= 2
    lost = minimise(lambda p: p - 3, slope, np.array([2.5]), *free, size=1.0)
    assert not lost.converged


@pytest.mark.parametrize("lower", [-math.inf, 0.0])
def test_the_detour_comes_near_a_minimum(lower):
    best = fit_nls(DECAY, X, Y, [[1, 1]]).params
    near = detour(
        lambda p: _decay(X, p) - Y,
        lambda p: _decay_jacobian(X, p),
        np.array([30.0, 4.0]),
        np.array([-math.inf, lower]),
        np.full(2, math.inf),
    )
    assert near == pytest.approx(best, rel=1e-5)


def test_a_start_that_does_not_arrive_takes_the_detour(monkeypatch):
    best = fit_nls(DECAY, X, Y, [[1, 1]])
    calls = []

    def short(*arguments, **options):
        calls.append(arguments[2].tolist())
        return minimise(*arguments, **options, iterations=2)

    monkeypatch.setattr(nls, "minimise", short)
    assert fit_nls(DECAY, X, Y, [[30, 4]]).params == pytest.approx(best.params, rel=1e-10)
    assert calls[0] == [30, 4]
    assert calls[1] == pytest.approx(best.params, rel=1e-5)
