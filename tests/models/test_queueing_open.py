import math
from fractions import Fraction

import numpy as np
import pytest

from virtperf.core.errors import ModelError
from virtperf.models.queueing import machine_repairman
from virtperf.models.queueing_open import MAX_SERVERS, erlang_b, erlang_c, open_against_closed, open_queue


def exact(load, servers):
    """Erlang's formulas as they stand in books, in rational arithmetic: (B, C)."""
    a = Fraction(load)
    terms = [Fraction(1)]
    for k in range(1, servers + 1):
        terms.append(terms[-1] * a / k)
    tail = terms[-1] * servers / (servers - a) if a < servers else None
    return terms[-1] / sum(terms), tail and tail / (sum(terms[:-1]) + tail)


@pytest.mark.parametrize("servers", [1, 2, 3, 10, 75, 300])
@pytest.mark.parametrize("load_per_server", [0.01, 0.25, 0.5, 0.875, 0.999])
def test_the_formulas(servers, load_per_server):
    load = servers * load_per_server
    b, c = exact(load, servers)
    assert erlang_b(load, servers) == pytest.approx(float(b), rel=1e-12)
    assert erlang_c(load, servers) == pytest.approx(float(c), rel=1e-9)


def test_published_values():
    """Fractions by hand: C(2, 1) = 1/3, C(3, 2) = 4/9; large systems as in the tests of two public packages."""
    assert erlang_c(1, 2) == pytest.approx(1 / 3, rel=1e-14)
    assert erlang_c(2, 3) == pytest.approx(4 / 9, rel=1e-14)
    assert erlang_b(123, 132) == pytest.approx(0.0312, abs=5e-5)
    assert erlang_c(123, 132) == pytest.approx(0.3211, abs=5e-5)
    assert erlang_c(12345, 12421) == pytest.approx(0.3812, abs=5e-5)
    # Logarithms, there computed with Mathematica.
    for servers, load, log in ((100, 120, -1.62826407041), (10000, 12000, -1.78927734649), (100, 20, -84.1661482002)):
        assert math.log(erlang_b(load, servers)) == pytest.approx(log, rel=1e-10)
    for servers, load, log in ((100, 90, -1.52813224460), (10000, 9000, -56.8266885378), (100, 10, -143.375505741)):
        assert math.log(erlang_c(load, servers)) == pytest.approx(log, rel=1e-10)


def test_many_servers_near_their_capacity():
    """Halfin and Whitt (1981): with m - a = b sqrt(m) the waiting probability tends to 1/(1 + b Phi(b)/phi(b))."""
    b, m = 0.5, 40_000
    phi, cumulative = math.exp(-b * b / 2) / math.sqrt(2 * math.pi), (1 + math.erf(b / math.sqrt(2))) / 2
    assert erlang_c(m - b * math.sqrt(m), m) == pytest.approx(1 / (1 + b * cumulative / phi), rel=3e-3)


def test_the_eye_clinic():
    """Gross et al. (2008), chapter 2: six patients an hour, three doctors, 20 minutes each: 8/9 wait, for 80/9 minutes."""
    row = open_queue(6 / 60, 20.0, 3).iloc[0]
    assert row["utilization"] == pytest.approx(2 / 3)
    assert row["waiting_probability"] == pytest.approx(4 / 9)
    assert row["in_queue"] == pytest.approx(8 / 9)
    assert row["wait"] == pytest.approx(80 / 9)
    assert row["response_time"] == pytest.approx(20 + 80 / 9)
    assert row["in_system"] == pytest.approx(26 / 9)


def test_one_server_has_the_closed_form():
    rates = np.array([0.0, 1.0, 5.0, 9.0, 9.99])
    table = open_queue(rates, 0.1)
    busy = rates * 0.1
    assert table["waiting_probability"].to_numpy() == pytest.approx(busy)
    assert table["response_time"].to_numpy() == pytest.approx(0.1 / (1 - busy))
    assert table["in_system"].to_numpy() == pytest.approx(busy / (1 - busy))


def test_two_servers_have_the_closed_form():
    """C = 2 u**2 / (1 + u), R = S / (1 - u**2)."""
    u = np.array([0.1, 0.5, 0.9])
    table = open_queue(2 * u / 3.0, 3.0, 2)
    assert table["waiting_probability"].to_numpy() == pytest.approx(2 * u**2 / (1 + u))
    assert table["response_time"].to_numpy() == pytest.approx(3.0 / (1 - u**2))


@pytest.mark.parametrize("servers", [1, 3, 20])
def test_response_time_rises_with_load_and_obeys_little(servers):
    table = open_queue(np.linspace(0, servers * 0.99, 60), 1.0, servers)
    assert (np.diff(table["response_time"]) >= 0).all()
    assert (table["in_system"] - table["in_queue"]).to_numpy() == pytest.approx(
        servers * table["utilization"].to_numpy()
    )
    pooled = open_queue(table["arrival_rate"], 1.0 / servers, 1)
    # One fast server answers sooner than several slow ones, though requests wait longer for it.
    assert (pooled["response_time"] <= table["response_time"] + 1e-12).all()
    assert (pooled["wait"] >= table["wait"] - 1e-12).all()


@pytest.mark.parametrize("servers", [1, 2, 8])
def test_the_closed_queue_tends_to_the_open_one(servers):
    """Clients N and think time Z grow with N/Z fixed at 70 % of the capacity: the gap shrinks as 1/N."""
    service = 0.1
    rate = 0.7 * servers / service
    gaps = []
    for n in (200, 2000, 20_000):
        closed = machine_repairman(n, service, n / rate, servers).iloc[0]
        gaps.append(open_queue(rate, service, servers)["response_time"][0] / closed["response_time"] - 1)
    assert gaps[0] > gaps[1] > gaps[2] > 0
    assert gaps[1] / gaps[2] == pytest.approx(10, rel=0.1)
    assert gaps[2] < 2e-3


def test_the_closed_queue_answers_sooner_at_the_same_throughput():
    table = open_against_closed(np.arange(1, 60), 0.1, 1.0, 2)
    assert (table["ratio"] >= 1 - 1e-12).all()
    assert table["ratio"].iloc[0] == pytest.approx(0.1 / (1 - (0.1 / 1.1 / 2) ** 2) / 0.1)
    assert (np.diff(table["ratio"]) > 0).all()
    saturated = open_against_closed([5000], 0.1, 1.0, 2)
    assert saturated["response_open"][0] == math.inf or saturated["ratio"][0] > 100


def test_what_can_not_be_written_as_a_number_is_zero():
    """ln C(100; 10000) = -36157 (Mathematica): far below the smallest floating-point number, and no error."""
    assert erlang_c(100, 10_000) == 0.0
    assert erlang_b(0.0, 3) == 0.0


def test_bad_input():
    with pytest.raises(ModelError, match=r"not stable: 3 erlangs are offered to 3 servers.*use a closed model"):
        erlang_c(3, 3)
    with pytest.raises(ModelError, match="not stable: nan"):
        erlang_c(math.nan, 3)
    with pytest.raises(ModelError, match="offered load must not be negative"):
        erlang_b(-1, 3)
    with pytest.raises(ModelError, match="servers must be a whole number"):
        erlang_b(1, 0)
    with pytest.raises(ModelError, match="servers must be a whole number"):
        erlang_b(1, MAX_SERVERS + 1)
    with pytest.raises(ModelError, match="not stable at the arrival rate in row 2 of 2; expected below 10 a second"):
        open_queue([9, 10], 0.1)
    with pytest.raises(ModelError, match="arrival rate in row 1 of 2 is negative"):
        open_queue([-1, 1], 0.1)
    with pytest.raises(ModelError, match="service time must be positive"):
        open_queue(1, 0.0)
    with pytest.raises(ModelError, match="no counterpart without think time"):
        open_against_closed(3, 0.1, 0.0)
