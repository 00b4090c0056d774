import math

import numpy as np
import pytest
from scipy import stats

from virtperf.core.errors import ModelError
from virtperf.models import queueing
from virtperf.models.queueing import asymptotic_bounds, machine_repairman, think_time, think_time_of_runs
from virtperf.models.ratio import Mean


def test_the_law_and_its_inverse():
    assert queueing.clients_in_system(10.0, 4.0, 1.0) == 50.0
    assert queueing.response_time(50.0, 10.0, 1.0) == 4.0


def test_the_implied_think_time_propagates_both_errors():
    e = think_time(50, Mean(10.0, 0.1, 9), Mean(4.0, 0.05, 9))
    assert e.value == 1.0
    se = math.hypot(0.5 * 0.1, 0.05)
    df = (0.05**2 + 0.05**2) ** 2 / (0.05**4 / 9 + 0.05**4 / 9)
    assert e.high - 1 == pytest.approx(stats.t.ppf(0.975, df) * se, rel=1e-12)


def test_runs_carry_their_covariance():
    """A fixed think time makes X and R move against each other: replicated runs then imply it without error."""
    x = np.array([9.0, 10.0, 11.0])
    e = think_time_of_runs(50, x, 50 / x - 1.0)
    assert (e.low, e.high) == pytest.approx((1.0, 1.0), abs=1e-12)


def mean_value_analysis(clients, service, think):
    """Exact recursion for one server: R(n) = S (1 + Q(n-1)), X = n / (R + Z), Q = X R."""
    queue = 0.0
    for n in range(1, clients + 1):
        response = service * (1 + queue)
        x = n / (response + think)
        queue = x * response
    return x, response


@pytest.mark.parametrize("clients", [1, 2, 7, 60])
@pytest.mark.parametrize("think", [0.0, 0.4, 5.0])
def test_one_server_agrees_with_mean_value_analysis(clients, think):
    row = machine_repairman(clients, 0.2, think).iloc[0]
    assert (row["throughput"], row["response_time"]) == pytest.approx(
        mean_value_analysis(clients, 0.2, think), rel=1e-10
    )


def test_two_clients_two_servers_never_wait():
    row = machine_repairman(2, 0.5, 1.0, servers=2).iloc[0]
    assert row["response_time"] == pytest.approx(0.5, rel=1e-12)
    assert row["throughput"] == pytest.approx(2 / 1.5, rel=1e-12)


def test_two_servers_three_clients_by_hand():
    """S/Z = 1: p(k) ~ 1, 3, 3!/1!/2 = 3, 3!/0!/(1*2*2) = 1.5; sum 8.5; X = (3 + 2*3 + 2*1.5)/8.5."""
    row = machine_repairman(3, 1.0, 1.0, servers=2).iloc[0]
    assert row["throughput"] == pytest.approx(12 / 8.5, rel=1e-12)
    assert row["in_system"] == pytest.approx((3 + 6 + 4.5) / 8.5, rel=1e-12)


@pytest.mark.parametrize("servers", [1, 2, 5])
@pytest.mark.parametrize("think", [0.0, 1.0])
def test_the_queue_obeys_the_law_and_its_bounds(servers, think):
    n = np.arange(1, 60)
    exact = machine_repairman(n, 0.1, think, servers)
    bounds = asymptotic_bounds(n, [0.1], think, servers=[servers])
    assert (exact["throughput"] * (exact["response_time"] + think)).to_numpy() == pytest.approx(n, rel=1e-9)
    assert (exact["throughput"] <= bounds["throughput_high"] * (1 + 1e-12)).all()
    assert (exact["throughput"] >= bounds["throughput_low"] * (1 - 1e-12)).all()
    assert (exact["response_time"] >= bounds["response_low"] * (1 - 1e-12)).all()
    assert (exact["response_time"] <= bounds["response_high"] * (1 + 1e-12)).all()
    assert (np.diff(exact["throughput"]) >= -1e-12).all()
    assert exact["utilization"].between(0, 1 + 1e-12).all()


def test_a_large_population_saturates_without_overflow():
    row = machine_repairman(20_000, 0.01, 1.0, servers=4).iloc[0]
    assert row["throughput"] == pytest.approx(400, rel=1e-9)
    assert row["response_time"] == pytest.approx(20_000 / 400 - 1, rel=1e-9)


def test_the_knee_is_where_the_upper_bounds_meet():
    knee = asymptotic_bounds([1], [0.02, 0.05], 1.0).attrs["knee"]
    assert knee == pytest.approx(1.07 / 0.05)
    table = asymptotic_bounds([knee], [0.02, 0.05], 1.0)
    assert table["throughput_high"][0] == pytest.approx(20)


def test_bad_input():
    with pytest.raises(ModelError, match="throughput must be positive"):
        think_time(10, Mean(0.0, 0.1, 3), Mean(1.0, 0.1, 3))
    with pytest.raises(ModelError, match="throughput in row 2 of 2 is not positive"):
        think_time_of_runs(10, [1, 0], [1, 1])
    with pytest.raises(ModelError, match="clients must be whole numbers"):
        machine_repairman(2.5, 1.0)
    with pytest.raises(ModelError, match="clients in row 1"):
        machine_repairman(0, 1.0)
    with pytest.raises(ModelError, match="service time must be positive"):
        machine_repairman(2, 0.0)
    with pytest.raises(ModelError, match="think time must not be negative"):
        machine_repairman(2, 1.0, -1.0)
    with pytest.raises(ModelError, match="servers must be a whole number"):
        machine_repairman(2, 1.0, servers=0)
    with pytest.raises(ModelError, match="covariance is larger"):
        think_time(50, Mean(10.0, 0.1, 9), Mean(4.0, 0.05, 9), covariance=-1.0)
    with pytest.raises(ModelError, match="demand in row 1"):
        asymptotic_bounds([1], [0.0])


@pytest.mark.parametrize("numbers", [(3, 0.0), (0, 1.0), (3, math.nan), (3, math.inf), (3, 1.0, -1.0)])
def test_the_law_needs_numbers_that_can_be(numbers):
    with pytest.raises(ModelError, match="must"):
        queueing.response_time(*numbers)


@pytest.mark.parametrize("numbers", [(0.0, 1.0), (math.nan, 1.0), (1.0, -1.0), (1.0, math.nan), (1.0, 1.0, -1.0)])
def test_clients_in_system_needs_numbers_that_can_be(numbers):
    with pytest.raises(ModelError, match="must"):
        queueing.clients_in_system(*numbers)
