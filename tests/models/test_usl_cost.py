import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rawperf.core.errors import ModelError
from validation.curves import throughput
from virtperf.models.ratio import fieller
from virtperf.models.usl_cost import fit_usl_cost

GUESTS = np.repeat([1, 2, 4, 10, 20, 50.0], 3)


def costs(alpha=0.02, beta=0.0005, demand=2.0, noise=0.01, seed=1):
    curve = demand * (1 + alpha * (GUESTS - 1) + beta * GUESTS * (GUESTS - 1))
    return curve * (1 + noise * np.random.default_rng(seed).standard_normal(len(GUESTS)))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.floats(0, 2), st.floats(0, 0.1), st.floats(1e-6, 1e4))
def test_exact_costs_are_recovered(alpha, beta, demand):
    fit = fit_usl_cost(GUESTS, costs(alpha, beta, demand, noise=0))
    assert fit.coefficients == pytest.approx([alpha, beta, demand], rel=1e-7, abs=1e-9)


def test_without_bounds_the_profile_interval_is_fiellers():
    """alpha is the ratio of two linear coefficients, whose exact interval is Fieller's."""
    y = costs()
    columns = np.column_stack((GUESTS - 1, GUESTS * (GUESTS - 1), np.ones(18)))
    b = np.linalg.lstsq(columns, y, rcond=None)[0]
    v = np.linalg.inv(columns.T @ columns) * np.sum((y - columns @ b) ** 2) / 15
    e = fit_usl_cost(GUESTS, y, bounded=False, noise="constant").estimate("alpha")
    f = fieller(b[0], b[2], v[0, 0], v[2, 2], v[0, 2], 15)
    assert (e.value, e.low, e.high) == pytest.approx((f.value, f.low, f.high), rel=1e-6)


def test_a_busy_closed_system_has_the_throughput_law_and_the_cost_law_with_one_pair_of_coefficients():
    """If each of N loads keeps a processor busy, C = N / X(N): both fits find the same alpha and beta."""
    from virtperf.models.usl import fit_usl

    x = throughput(GUESTS, np.array([0.03, 0.001, 40.0]))
    assert fit_usl_cost(GUESTS, GUESTS / x).coefficients == pytest.approx(
        [0.03, 0.001, 1 / 40], rel=1e-7
    )
    assert fit_usl(GUESTS, x).params == pytest.approx([0.03, 0.001, 40], rel=1e-7)


def test_capacity():
    fit = fit_usl_cost(GUESTS, costs())
    a, b, d = fit.coefficients
    c = fit.capacity(20, 24)
    assert c.value == pytest.approx(24 / (d * (1 + 19 * (a + 20 * b))), rel=1e-9)
    assert c.low < c.value < c.high


def test_a_capacity_limit_lies_on_the_threshold():
    fit = fit_usl_cost(GUESTS, costs(), noise="constant")
    e = fit.capacity(20, 24)
    columns = np.column_stack((GUESTS - 1, GUESTS * (GUESTS - 1), np.ones(18)))
    for limit in (e.low, e.high):
        # capacity c: 19 A + 380 B + D = 24 / c of the linear coefficients, a constrained least squares fit
        row = np.array([19, 380, 1])
        gram = np.block([[columns.T @ columns, row[:, None]], [row[None, :], np.zeros((1, 1))]])
        b = np.linalg.solve(gram, np.append(columns.T @ fit.y, 24 / limit))[:3]
        rss = np.sum((fit.y - columns @ b) ** 2)
        assert rss == pytest.approx(
            fit.rss + fit.scale * 2.131449545559323**2, rel=1e-6
        )  # t(0.975, 15)


def test_falling_costs_end_on_the_bounds():
    fit = fit_usl_cost(GUESTS, costs()[::-1])
    assert fit.at_bound == (True, True, False)
    assert fit.params == pytest.approx([0, 0, np.mean(fit.y)])
    assert fit.estimate("alpha").low == 0.0
    assert fit_usl_cost(GUESTS, costs()[::-1], bounded=False).params[0] < 0


def test_smaller_kinds():
    y = costs(beta=0)
    amdahl = fit_usl_cost(GUESTS, y, kind="amdahl")
    assert amdahl.param_names == ("alpha", "demand")
    flat = fit_usl_cost(GUESTS, y, kind="linear")
    assert flat.params == pytest.approx([y.mean()])


def test_bad_input():
    with pytest.raises(ModelError, match=r"cost in row 1 of 3 is not positive"):
        fit_usl_cost([1, 2, 3], [-1, 2, 3])
    with pytest.raises(ModelError, match="too few distinct values"):
        fit_usl_cost([1, 1, 2], [1, 2, 3])
    with pytest.raises(ModelError, match="capacity needs processors"):
        fit_usl_cost(GUESTS, costs()).capacity(2, 0)
