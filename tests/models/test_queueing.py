"""Queueing models against known solutions."""

import math

import numpy as np
import pytest

from rawperf.core.errors import ModelError
from virtperf import models
from virtperf.models.queueing import closed_throughput


def test_mean_value_analysis_of_a_central_server_model():
    demands = {"cpu": 0.605, "disk": 2.1, "tape": 1.35}
    found = models.mva(demands, [1, 3, 100], think=15)
    queue = dict.fromkeys(demands, 0.0)
    rate = {}
    for n in range(1, 101):  # the recursion of Reiser and Lavenberg
        time = {name: d * (1 + queue[name]) for name, d in demands.items()}
        rate[n] = n / (15 + sum(time.values()))
        queue = {name: rate[n] * t for name, t in time.items()}
    assert found["throughput"].tolist() == pytest.approx([rate[1], rate[3], rate[100]], rel=1e-9)
    assert found["throughput"].round(3).tolist() == [0.052, 0.152, 0.476]
    assert found["disk_queue"].iloc[-1] == pytest.approx(queue["disk"], rel=1e-9)


def test_two_servers_equal_the_machine_repairman_model():
    n, think, servers = 6, 2.0, 2
    weights = [
        math.comb(n, k)
        * (1 / think) ** k
        * math.factorial(k)
        / math.prod(min(i, servers) for i in range(1, k + 1))
        for k in range(n + 1)
    ]
    busy = sum(min(k, servers) * w for k, w in enumerate(weights)) / sum(weights)
    found = models.mva({"cpu": 1.0}, n, think=think, servers={"cpu": servers})
    assert found["throughput"].iloc[0] == pytest.approx(busy, rel=1e-12)
    own = closed_throughput(1.0, 1.0, *(np.array([float(v)]) for v in (n, think, servers)))
    assert own[0] == pytest.approx(busy, rel=1e-12)


def test_erlang_formulas():
    one, two = models.mmc(0.5, 1.0), models.mmc(1.0, 1.0, 2)
    assert (one.response, two.waits, two.response) == pytest.approx((2.0, 1 / 3, 4 / 3))
    with pytest.raises(ModelError, match="there is no steady state"):
        models.mmc(2.0, 1.0, 2)


def test_service_demands_are_recovered():
    rng = np.random.default_rng(4)
    clients = np.tile([1.0, 2, 4, 8, 16, 32], 3)
    servers = np.full(18, 2.0)
    true = closed_throughput(0.01, 0.3, clients, np.full(18, 0.05), servers)
    rate = true * np.exp(0.01 * rng.standard_normal(18))
    fit = models.fit_closed(clients, rate, think=0.05, servers=2, cv2=None)
    assert 0.01 in fit.demand(0.01) and 0.3 in fit.estimate("cv2", 0.01)
    assert fit.demand().high / fit.demand().low < 1.03
    assert fit.table()["error_percent"].abs().max() < 2
