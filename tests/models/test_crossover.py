import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from virtperf.core.errors import ModelError
from virtperf.models.crossover import line_crossover
from virtperf.models.linear import fit_line
from virtperf.models.question import PLACES
from virtperf.models.usl import fit_usl, throughput
from virtperf.models.usl_crossing import meetings, usl_crossover

X = np.arange(0.0, 10)


def lines(a1, b1, a2, b2, noise=0.1, seed=1):
    rng = np.random.default_rng(seed)
    return tuple(fit_line(X, a + b * X + noise * rng.standard_normal(10)) for a, b in ((a1, b1), (a2, b2)))


def test_a_crossing_inside_the_data():
    found = line_crossover(*lines(0, 2, 6, 1))
    assert found.status == "crossing"
    assert found.estimate.value == pytest.approx(6, abs=0.3)
    assert 6.0 in found.estimate
    assert found.domain == (0.0, 9.0)


def test_slopes_that_can_not_be_told_apart():
    found = line_crossover(*lines(0, 1, 0.05, 1.001))
    assert found.status == "not identified"
    assert (found.estimate.low, found.estimate.high) == (-math.inf, math.inf)
    assert "does not differ from zero" in found.estimate.warnings[0]


def test_a_crossing_outside_the_domain_is_none_there():
    first, second = lines(0, 2, 20, 1, noise=0.01)
    assert line_crossover(first, second).status == "no crossing"
    assert line_crossover(first, second, domain=(0, 30)).status == "crossing"


def test_exactly_parallel_lines():
    x, y = [0, 1, 2, 3], np.array([0, 1, 1, 2.0])
    one = fit_line(x, y)
    assert line_crossover(one, one).status == "not identified"
    with np.errstate(all="raise"):
        apart = fit_line(x, y + 4)
    gap = apart.params[1] - one.params[1]
    assert gap == 0 or abs(gap) < 1e-12
    assert line_crossover(one, apart).status in ("no crossing", "not identified")


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.floats(1, 8), st.floats(0.3, 3), st.integers(0, 2**31), st.booleans(), st.sampled_from(["fieller", "delta"]))
def test_order_and_units_do_not_matter(cross, slope, seed, pooled, method):
    first, second = lines(0, 1, -slope * cross, 1 + slope, seed=seed)
    one = line_crossover(first, second, pooled=pooled, method=method)
    other = line_crossover(second, first, pooled=pooled, method=method)
    assert other.status == one.status
    assert (other.estimate.low, other.estimate.high) == pytest.approx((one.estimate.low, one.estimate.high), rel=1e-7)
    far = tuple(fit_line(5 + 100 * X, 1e3 * fit.y) for fit in (first, second))
    moved = line_crossover(*far, pooled=pooled, method=method)
    assert moved.estimate.low == pytest.approx(5 + 100 * one.estimate.low, rel=1e-6)


def test_a_robust_covariance_is_not_pooled():
    rng = np.random.default_rng(2)
    y1, y2 = 2 * X + 0.1 * rng.standard_normal(10), 6 + X + 0.5 * rng.standard_normal(10)
    robust = [fit_line(X, y, cov_type="HC3") for y in (y1, y2)]
    a, b = line_crossover(*robust, pooled=True), line_crossover(*robust, pooled=False)
    assert a == b
    assert a.estimate.high != line_crossover(fit_line(X, y1), fit_line(X, y2)).estimate.high


LOADS = np.array([1, 2, 4, 8, 12, 16, 24, 32.0])


def curves(one, two, noise=0.01):
    rng = np.random.default_rng(4)
    return tuple(
        fit_usl(LOADS, throughput(LOADS, np.array(t)) * (1 + noise * rng.standard_normal(8))) for t in (one, two)
    )


def test_where_two_scalability_curves_cross():
    """The truth solves 100 (1 - 0.05 + 0.0498 N + 0.0002 N**2) = 95 (1 - 0.02 + 0.018 N + 0.002 N**2)."""
    first, second = curves((0.02, 0.002, 100), (0.05, 0.0002, 95))
    found = usl_crossover(first, second)
    truth = max(np.roots([100 * 0.0002 - 95 * 0.002, 100 * 0.0498 - 95 * 0.018, 100 * 0.95 - 95 * 0.98]))
    assert found.status == "crossing"
    assert truth in found.estimate
    n = found.estimate.value
    assert first.predict(n) == pytest.approx(second.predict(n), rel=1e-10)
    assert found == usl_crossover(first, second)
    swapped = usl_crossover(second, first)
    assert swapped.estimate.value == pytest.approx(n, rel=1e-9)
    assert swapped.estimate.high == pytest.approx(found.estimate.high, rel=1e-6)


def test_curves_far_apart_do_not_cross():
    found = usl_crossover(*curves((0.02, 0.002, 100), (0.02, 0.002, 50)))
    assert found.status == "no crossing"
    assert found.estimate is None


def test_curves_that_nearly_coincide_are_not_told_apart():
    found = usl_crossover(*curves((0.02, 0.002, 100), (0.02, 0.002, 100), noise=0.05))
    assert found.status == "not identified"


@pytest.mark.parametrize("kinds", [("usl", "usl"), ("usl", "amdahl"), ("linear", "usl")], ids=str)
def test_limits_of_a_crossing_lie_on_the_threshold(kinds):
    """The joint sum of squares of pairs that meet at the limit, by another optimiser."""
    rng = np.random.default_rng(6)
    truths = {"usl": (0.02, 0.004, 100.0), "amdahl": (0.05, 0, 90.0), "linear": (0, 0, 60.0)}
    pair = [truths[k] for k in kinds] if kinds[0] != kinds[1] else [truths["usl"], (0.08, 0.0005, 100.0)]
    fits = [
        fit_usl(LOADS, throughput(LOADS, np.array(truth)) + 3 * rng.standard_normal(8), kind=k, noise="constant")
        for k, truth in zip(kinds, pair, strict=True)
    ]
    found = usl_crossover(*fits, domain=(1, 60))
    assert found.status == "crossing"
    threshold = sum(f.rss for f in fits)
    df = sum(f.df_resid for f in fits)
    threshold *= 1 + stats.t.ppf(0.975, df) ** 2 / df
    start = np.concatenate([f.params for f in fits])
    split = len(fits[0].params)

    def value(t, load):
        parts = (t[:split], t[split:])
        full = []
        for f, p, s in zip(fits, parts, (start[:split], start[split:]), strict=True):
            theta = np.zeros(3)
            theta[list(PLACES[f.kind])] = p * s
            full.append(throughput(load, theta))
        return full

    for limit in (found.estimate.low, found.estimate.high):
        best = optimize.minimize(
            lambda t: sum(np.sum((f.y - v) ** 2) for f, v in zip(fits, value(t, LOADS), strict=True)) / threshold,
            np.ones(len(start)),
            method="SLSQP",
            bounds=[(0, None)] * len(start),
            constraints={
                "type": "eq",
                "fun": lambda t, at=limit: np.diff(np.concatenate(value(t, np.array([at])))) / 100,
            },
            options={"ftol": 1e-14, "maxiter": 2000},
        )
        assert best.fun == pytest.approx(1, rel=1e-5)


def test_meetings_solve_the_laws():
    rng = np.random.default_rng(1)
    first, second = (rng.uniform([0, 1e-5, 50], [0.3, 0.01, 100], (200, 3)) for _ in range(2))
    found = meetings(first, second)
    assert np.isfinite(found).any(axis=1).sum() > 20
    for a, b, loads in zip(first, second, found, strict=True):
        for n in loads[np.isfinite(loads)]:
            assert throughput(np.array([n]), a) == pytest.approx(throughput(np.array([n]), b), rel=1e-8)
    one = np.array([[0.02, 0.002, 100.0]])
    assert np.isnan(meetings(one, one)).all()


def test_a_crossing_is_found_quickly():
    """About 15 ms on an idle core."""
    first, second = curves((0.02, 0.002, 100), (0.05, 0.0002, 95))
    begin = time.process_time()
    usl_crossover(first, second)
    assert time.process_time() - begin < 0.2


def test_bad_input():
    two = fit_line([0, 1], [0, 1])
    with pytest.raises(ModelError, match="a line through two points has no error"):
        line_crossover(two, two)
    with pytest.raises(ModelError, match="domain is empty"):
        line_crossover(*lines(0, 2, 6, 1), domain=(3, 3))
    three = fit_usl([1, 8, 32], [10, 60, 90])
    with pytest.raises(ModelError, match="as many points as parameters"):
        usl_crossover(three, three)
    one, two = fit_usl(LOADS, LOADS), fit_usl(LOADS, 2 * LOADS, noise="constant")
    with pytest.raises(ModelError, match="different kinds of noise"):
        usl_crossover(one, two)
