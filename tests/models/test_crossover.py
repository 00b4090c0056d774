import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virtperf.errors import ModelError
from virtperf.models.crossover import line_crossover, usl_crossover
from virtperf.models.linear import fit_line
from virtperf.models.usl import fit_usl, throughput

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
    found = usl_crossover(first, second, n_boot=199)
    truth = max(np.roots([100 * 0.0002 - 95 * 0.002, 100 * 0.0498 - 95 * 0.018, 100 * 0.95 - 95 * 0.98]))
    assert found.status == "crossing"
    assert truth in found.estimate
    n = found.estimate.value
    assert first.predict(n) == pytest.approx(second.predict(n), rel=1e-10)
    assert found == usl_crossover(first, second, n_boot=199)


def test_curves_far_apart_do_not_cross():
    found = usl_crossover(*curves((0.02, 0.002, 100), (0.02, 0.002, 50)), n_boot=99)
    assert found.status == "no crossing"
    assert found.estimate is None


def test_curves_that_nearly_coincide_are_not_told_apart():
    found = usl_crossover(*curves((0.02, 0.002, 100), (0.02, 0.002, 100), noise=0.05), n_boot=99)
    assert found.status == "not identified"


def test_bad_input():
    two = fit_line([0, 1], [0, 1])
    with pytest.raises(ModelError, match="a line through two points has no error"):
        line_crossover(two, two)
    with pytest.raises(ModelError, match="domain is empty"):
        line_crossover(*lines(0, 2, 6, 1), domain=(3, 3))
    three = fit_usl([1, 8, 32], [10, 60, 90])
    with pytest.raises(ModelError, match="as many points as parameters"):
        usl_crossover(three, three)
