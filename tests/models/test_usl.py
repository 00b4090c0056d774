import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from rawperf.core.errors import ModelError
from tests.cases import each_case
from tools.validation.curves import gradient, inside, throughput
from virtperf.models.irls import Family, solve
from virtperf.models.result import MISFIT_LEVEL
from virtperf.models.usl import fit_scaling, fit_usl
from virtperf.models.usl_result import design_columns

LOAD = np.array([1, 18, 36, 72, 108, 144, 216.0])
RATE = np.array([64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2])
CPUS = np.array([1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64.0])
RAYS = np.array([20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310.0])
QUANTITIES = ("peak_load", "peak_throughput", "asymptote")


def test_gradient_equals_numeric_derivative():
    theta = np.array([0.03, 1e-3, 50.0])
    numeric = np.column_stack(
        [
            optimize.approx_fprime(theta, lambda t, i=i: throughput(LOAD, t)[i], 1e-7 * theta)
            for i in range(len(LOAD))
        ]
    ).T
    assert gradient(LOAD, theta) == pytest.approx(numeric, rel=1e-4)


def test_peak_interval_is_skewed_to_the_right():
    e = fit_usl(LOAD, RATE).peak_load()
    assert e.high - e.value > 2 * (e.value - e.low)


def test_quantities_follow_from_the_coefficients():
    fit = fit_usl(LOAD, RATE)
    a, b, g = fit.theta
    peak = math.sqrt((1 - a) / b)
    assert fit.peak_load().value == pytest.approx(peak, rel=1e-12)
    assert fit.peak_throughput().value == pytest.approx(fit.predict(peak)[0], rel=1e-12)
    assert fit.asymptote().value == pytest.approx(g / a, rel=1e-12)
    assert fit.efficiency(72).value == pytest.approx(fit.predict(72)[0] / (72 * g), rel=1e-12)
    assert fit.efficiency(1).value == 1.0


def deviance(fit, theta):
    mean = throughput(fit.x, theta)
    if fit.noise == "constant":
        return np.sum((fit.y - mean) ** 2)
    return 2 * np.sum(fit.y / mean - 1 - np.log(fit.y / mean))


def profiled(fit, constraint):
    """Return the smallest deviance under a constraint on (alpha, beta, gamma), by another optimiser."""
    scale = fit.theta
    best = optimize.minimize(
        lambda t: deviance(fit, t * scale) / fit.deviance,
        np.ones(3),
        method="SLSQP",
        bounds=[(1e-3, 1 / scale[0]), (1e-3, None), (1e-3, None)],
        constraints={"type": "eq", "fun": lambda t: constraint(*(t * scale))},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return best.fun * fit.deviance


@each_case("noise", ["constant", "proportional"])
@each_case(
    ("name", "value"),
    [
        ("peak_load", lambda a, b, g: math.sqrt((1 - a) / b)),
        ("peak_throughput", lambda a, b, g: g / (a - b + 2 * math.sqrt(b * (1 - a)))),
        ("asymptote", lambda a, b, g: g / a),
        ("efficiency", lambda a, b, g: 1 / (1 + 215 * (a + b * 216))),
        ("throughput_at", lambda a, b, g: g * 432 / (1 + 431 * (a + b * 432))),
    ],
)
def test_limits_of_quantities_lie_on_the_threshold(name, value, noise):
    fit = fit_usl(LOAD, RATE, noise=noise)
    asked = {"efficiency": (216,), "throughput_at": (432,)}
    e = getattr(fit, name)(*asked.get(name, ()))
    assert e.value == pytest.approx(value(*fit.theta), rel=1e-9)
    threshold = fit.deviance + fit.scale * 2.7764451051977987**2  # t(0.975, 4)
    for limit in (e.low, e.high):
        rss = profiled(fit, lambda a, b, g, limit=limit: value(a, b, g) / limit - 1)
        assert rss == pytest.approx(threshold, rel=2e-5)


def test_peak_limits_are_robust_to_rounding():
    """In other units they are the same; 70.46551 and 74.05298 were found by minimising the deviance with a given peak."""
    load, rate = np.array([1, 2, 4, 8, 16, 24.0]), np.array([10.1, 19.4, 35.9, 58.8, 71.0, 69.3])
    for unit in np.linspace(1, 2, 40):
        found = fit_usl(load, unit * rate).peak_throughput()
        assert (found.low / unit, found.high / unit) == pytest.approx(
            (70.46551, 74.05298), rel=1e-6
        )


OTHER_SEARCHES = (
    ([1, 2, 4, 8, 16, 32], [61, 110, 190, 300, 400, 6.1], 109.030991, 3174.53335),
    ([1, 2, 4, 8, 16, 32], [10, 20, 40, 80, 150, 140], 125.299883, 200.410814),
    ([1, 2, 3, 4, 6, 8], [10.2, 9.0, 8.2, 7.5, 6.5, 5.7], 9.8913682, 10.2711784),
)
"""Limits from a search over 500 x 500 directions of (d, s, k), each with the lengths that the threshold permits,
refined around the twelve best; the lower limit of the third case is from a Nelder-Mead search with a given peak. In
the first two cases s is on its bound, in the third d.
"""


@pytest.mark.parametrize(("load", "rate", "low", "high"), OTHER_SEARCHES)
def test_peak_limits_on_a_bound_equal_another_search(load, rate, low, high, monkeypatch):
    fit = fit_usl(load, rate)
    assert np.any(fit.b == 0)
    steps, score = [], Family.score
    monkeypatch.setattr(Family, "score", lambda self, *a: (steps.append(1), score(self, *a))[1])
    found = fit.peak_throughput()
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-6)
    assert len(steps) < 4000  # about 0.2 s


@each_case("noise", ["constant", "counts", "proportional"])
def test_peak_is_unbounded_where_linear_scaling_is_accepted(noise):
    load = np.array([1, 2, 4, 8, 16.0])
    fit = fit_usl(load, load * [10, 11.5, 9, 10.8, 9.2], noise=noise)
    found = fit.peak_throughput()
    assert found.high == math.inf
    assert found.low < found.value < math.inf
    assert any("linear scaling" in w for w in found.warnings)


def test_replicates_are_profiled_as_their_means():
    load = np.repeat([1, 2, 4, 8, 16, 32.0], 3)
    rate = throughput(load, np.array([0.05, 1e-3, 100.0]))
    rate = rate * (1 + 0.05 * np.sin(np.arange(18.0)))
    for noise in ("proportional", "counts", "constant"):
        fit = fit_usl(load, rate, noise=noise)
        rows, targets = design_columns(np.array([4.0, 64.0])), np.array([1 / 300.0, 1 / 700.0])
        every = [np.broadcast_to(of, (2, 18)) for of in (rate, np.ones(18))]
        of_rows = solve(
            fit.family(), design_columns(load), *every, free=fit.free(), row=rows, target=targets
        )
        assert fit.deviance_at(rows, targets) == pytest.approx(of_rows.deviance, rel=1e-9)
    many = fit_usl(np.repeat(load, 2000), np.repeat(rate, 2000))
    assert len(many._replicate_means[0]) == 6


def test_constant_throughput_has_no_peak():
    fit = fit_usl([1, 2, 4, 8, 16], [10.0] * 5)
    for ask in (fit.peak_load, fit.peak_throughput):
        with pytest.raises(ModelError, match=r"no peak: throughput is the same at every load"):
            ask()
    assert fit.asymptote().value == pytest.approx(10)


def test_efficiency_respects_the_bounds_of_the_coefficients():
    """Near alpha = 1 the lower limit is reached with alpha on its bound, and more beta."""
    load = np.array([1, 2, 3, 4, 6, 8.0])
    fit = fit_usl(
        load, throughput(load, np.array([0.9, 0.004, 10.0])) * [1.04, 0.96, 1.03, 0.97, 1.02, 0.98]
    )
    e = fit.efficiency(8)
    threshold = fit.deviance + fit.scale * 3.1824463052837078**2  # t(0.975, 3)
    for limit in (e.low, e.high):
        rss = profiled(fit, lambda a, b, g, limit=limit: 1 / (1 + 7 * (a + 8 * b)) / limit - 1)
        assert rss == pytest.approx(threshold, rel=1e-4)


def test_data_without_a_peak_have_no_upper_limit():
    e = fit_usl(CPUS, RAYS, noise="constant").peak_load()
    assert e.value == e.high == math.inf
    assert 64 < e.low < math.inf
    assert any("no finite upper limit" in w for w in e.warnings)


def test_linear_data_have_no_limits():
    load = np.arange(1.0, 9)
    fit = fit_usl(load, 7 * load * (1 + 0.01 * (-1.0) ** load))
    with pytest.raises(ModelError, match=r"beta is on its bound 0.*asymptote"):
        fit.peak_throughput()
    assert fit.asymptote().high == math.inf
    assert fit.peak_load().high == math.inf
    assert fit_scaling(fit.x, fit.y).kind == "linear"


def test_nested_models_have_no_peak():
    for kind in ("amdahl", "linear"):
        with pytest.raises(ModelError, match="has no peak"):
            fit_usl(LOAD, RATE, kind=kind).peak_load()
    amdahl = fit_usl(LOAD, RATE, kind="amdahl")
    with pytest.raises(ModelError, match="amdahl scaling has no peak"):
        amdahl.peak_throughput()
    assert "peak" not in amdahl.summary() and "asymptote" in amdahl.summary()
    assert amdahl.param_names == ("alpha", "gamma")
    assert fit_usl(LOAD, RATE, kind="linear").efficiency(9).value == 1.0


def test_model_choice_agrees_with_the_interval_of_beta():
    on_bound = (
        [1, 2, 4, 8, 12],
        [
            19.70709305811862,
            39.51717220706567,
            78.92565503356766,
            156.07315955533784,
            227.02378073881104,
        ],
    )
    rows = [(LOAD, RATE), (CPUS, RAYS), (CPUS[:6], RAYS[:6]), on_bound]
    for (n, x), noise in itertools.product(rows, ("constant", "proportional")):
        excludes_zero = fit_usl(n, x, noise=noise).estimate("beta").low > 0
        assert (fit_scaling(n, x, noise=noise).kind == "usl") == excludes_zero


curves = st.tuples(
    st.floats(0.0, 0.5),
    st.floats(1e-5, 0.02),
    st.floats(0.5, 2000.0),
    st.integers(0, 2**31),
    st.floats(0.002, 0.05),
)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(curves, st.sampled_from([1e-6, 1e-3, 7.0, 1e6]))
def test_result_is_equivariant_under_throughput_units(curve, factor):
    a, b, g, seed, noise = curve
    n = np.array([1, 2, 4, 8, 16, 24, 32.0])
    x = throughput(n, np.array([a, b, g])) * np.exp(
        noise * np.random.default_rng(seed).standard_normal(7)
    )
    one, other = fit_usl(n, x), fit_usl(n, factor * x)
    assert other.theta * [1, 1, 1 / factor] == pytest.approx(one.theta, rel=1e-6, abs=1e-9)
    e, f = one.peak_load(), other.peak_load()
    assert (f.value, f.low, f.high) == pytest.approx((e.value, e.low, e.high), rel=1e-4)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(curves)
def test_intervals_contain_their_estimates_and_grow_with_the_level(curve):
    a, b, g, seed, noise = curve
    n = np.array([1, 2, 4, 8, 16, 24, 32.0])
    x = throughput(n, np.array([a, b, g])) * np.exp(
        noise * np.random.default_rng(seed).standard_normal(7)
    )
    fit = fit_usl(n, x)
    beta = dict(zip(fit.param_names, fit.theta, strict=True)).get("beta", 0)
    for name in QUANTITIES:
        if name == "peak_throughput" and not beta > 0:
            with pytest.raises(ModelError, match="Use its asymptote"):
                fit.peak_throughput()
            continue
        wide, narrow = getattr(fit, name)(), getattr(fit, name)(alpha=0.2)
        assert wide.low <= narrow.low * (1 + 1e-9)
        assert narrow.low <= wide.value * (1 + 1e-9)
        assert wide.value <= narrow.high * (1 + 1e-9)
        assert narrow.high <= wide.high * (1 + 1e-9)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(curves)
def test_exact_curves_are_recovered(curve):
    a, b, g, _, _ = curve
    n = np.array([1, 2, 4, 8, 16, 24, 32.0])
    found = fit_usl(n, throughput(n, np.array([a, b, g]))).theta
    assert found == pytest.approx([a, b, g], rel=1e-7, abs=1e-9)


def test_row_order_does_not_matter():
    order = [3, 0, 6, 2, 5, 1, 4]
    a, b = fit_usl(LOAD, RATE), fit_usl(LOAD[order], RATE[order])
    assert b.theta == pytest.approx(a.theta, rel=1e-10)
    assert b.peak_load().high == pytest.approx(a.peak_load().high, rel=1e-8)


def test_replicates_and_weights():
    twice = fit_usl(np.tile(LOAD, 2), np.append(RATE * 1.01, RATE * 0.99))
    assert twice.df_resid == 11
    assert twice.lack_of_fit().df_denom == 7
    plain, weighted = (
        fit_usl(LOAD, RATE, noise="constant"),
        fit_usl(LOAD, RATE, weights=np.full(7, 2.0)),
    )
    assert weighted.theta == pytest.approx(plain.theta, rel=1e-10)
    assert weighted.rss == pytest.approx(2 * plain.rss, rel=1e-10)


def test_invalid_input_is_reported_with_its_row():
    with pytest.raises(ModelError, match=r"throughput in row 2 of 4 is not positive"):
        fit_usl([1, 2, 3, 4], [1, 0, 3, 4])
    with pytest.raises(ModelError, match=r"throughput in row 4 of 4 is not a finite number"):
        fit_usl([1, 2, 3, 4], [1, 2, 3, math.inf])
    with pytest.raises(ModelError, match=r"load in row 1 of 4 is not positive"):
        fit_usl([0, 2, 3, 4], [1, 2, 3, 4])
    with pytest.raises(ModelError, match=r"load has too few distinct values"):
        fit_usl([2, 2, 2, 4], [1, 2, 3, 4])
    with pytest.raises(ModelError, match=r"2 rows can't determine 3 parameters"):
        fit_usl([1, 2], [1, 2])
    with pytest.raises(
        ModelError, match="the load is out of range; expected a finite number of at least 1"
    ):
        fit_usl(LOAD, RATE).efficiency(0.5)


def test_three_points_give_a_curve_without_limits():
    fit = fit_usl([1, 8, 32], [10, 60, 90])
    assert fit.resid == pytest.approx(np.zeros(3), abs=1e-7)
    e = fit.peak_load()
    assert e.high == math.inf
    assert "no degrees of freedom are left" in e.warnings


def test_throughput_at_a_negative_load_is_rejected():
    with pytest.raises(
        ModelError, match="the load is out of range; expected a positive finite number"
    ):
        fit_usl(LOAD, RATE).throughput_at(-1)


def test_zero_throughput_is_kept():
    """A host that collapses at the largest load; dropping the zero would hide the effect of beta."""
    load, rate = (
        np.repeat([1, 2, 4, 8, 16.0], 2),
        np.array([10, 11, 18, 19, 28, 27, 20, 18, 0, 1.0]),
    )
    for noise in ("constant", "counts"):
        with_zero = fit_usl(load, rate, noise=noise)
        without = fit_usl(load[:-2], rate[:-2], noise=noise)
        assert with_zero.predict([16])[0] < without.predict([16])[0]
        if with_zero.misfit < MISFIT_LEVEL:
            with pytest.raises(ModelError, match="lack of fit"):
                with_zero.peak_load()
        else:
            assert math.isfinite(with_zero.peak_load().high)
    with pytest.raises(
        ModelError, match=r"throughput in row 9 of 10 is not positive.*counts or constant"
    ):
        fit_usl(load, rate)


def test_counts_are_a_poisson_model_with_free_dispersion():
    import statsmodels.api as sm

    fit = fit_usl(LOAD, RATE, noise="counts")
    family = sm.families.Poisson(sm.families.links.InversePower(), check_link=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a non-canonical link
        own = sm.GLM(RATE, fit.results.model.exog, family=family).fit(
            start_params=fit.results.params, scale="X2", use_t=True, tol=1e-12
        )
    assert fit.results.params == pytest.approx(own.params, rel=1e-8)
    assert fit.scale == pytest.approx(own.scale, rel=1e-8)
    assert fit.deviance == pytest.approx(own.deviance, rel=1e-8)


def test_misfitting_curve_has_no_peak():
    """Throughput that drops at a knee: no peak is given, and the error names the worst misfit."""
    load = np.repeat([1, 2, 4, 8, 16, 32.0], 3)
    knee = np.minimum(10 * load, 40) * (1 + 0.005 * np.tile([1, -1, 0], 6))
    fit = fit_usl(load, knee)
    for ask in (fit.peak_load, fit.peak_throughput):
        with pytest.raises(ModelError, match=r"lack of fit.*found fitted .*, mean .* at load \d"):
            ask()
    assert "not available: lack of fit" in fit.summary()
    means = fit.means()
    assert means["x"].tolist() == [1, 2, 4, 8, 16, 32] and set(means["rows"]) == {3}
    assert means["mean"].tolist() == pytest.approx([10, 20, 40, 40, 40, 40])


def test_warnings_appear_once_in_a_summary():
    text = fit_usl(CPUS, RAYS, noise="constant").summary()
    warned = [line for line in text.splitlines() if line.startswith("warning")]
    assert warned and len(set(warned)) == len(warned)


def test_decreasing_curve_has_its_peak_below_the_first_load():
    fit = fit_usl([1, 2, 3, 4, 6, 8], [10.2, 9.0, 8.2, 7.5, 6.5, 5.7])
    assert fit.at_bound == (True, False, False)
    e = fit.peak_load()
    assert e.value == e.low == 0
    assert 0 < e.high < math.inf
    assert any("on its bound" in w for w in e.warnings)
    path = np.array([0.5, 0.99, 1.01, 2]) * e.high
    assert [inside(fit, {"": (_peak_at(n), n**-2)})[""][1] for n in path] == [
        True,
        True,
        False,
        False,
    ]


def _peak_at(load):
    from virtperf.models.profile import ProfileConstraint

    return ProfileConstraint((0, 0, 1), load**-2, (1, 0, 0))
