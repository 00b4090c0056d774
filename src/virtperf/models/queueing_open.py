"""Open queueing models: M/M/m by Erlang's formulas, and how it relates to the closed machine-repairman queue."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.queueing import machine_repairman

MAX_SERVERS = 100_000


def erlang_b(load: float, servers: int) -> float:
    """Return the probability that all servers are busy in a queue without waiting room (Erlang 1917).

    ``1/B(m) = 1 + m / load x 1/B(m - 1)`` with ``B(0) = 1``: sums of positive terms only, and no factorials.

    Parameters
    ----------
    load : float
        Offered load in erlangs: arrival rate times service time. Not negative; it may exceed the servers.
    servers : int

    Returns
    -------
    float
        0 where it is smaller than any floating-point number.
    """
    m = _servers(servers)
    if not (math.isfinite(load) and load >= 0):
        raise ModelError("the offered load must not be negative", found=repr(load))
    if load == 0:
        return 0.0
    inverse = 1.0
    for k in range(1, m + 1):
        inverse = 1.0 + k / load * inverse
        if math.isinf(inverse):
            return 0.0
    return 1.0 / inverse


def erlang_c(load: float, servers: int) -> float:
    """Return the probability that an arrival has to wait in M/M/m, ``C = B / (1 - u (1 - B))`` with ``u = load / m``.

    Raises
    ------
    ModelError
        If the load is not below the number of servers: the queue then grows without end.
    """
    m = _servers(servers)
    if not load < m:
        raise ModelError(
            f"the queue is not stable: {load:g} erlangs are offered to {m} server{'s' if m > 1 else ''}",
            expected="a load below the number of servers",
            remedy="lower the arrival rate or the service time, add servers, or use a closed model",
        )
    blocked = erlang_b(load, m)
    return blocked / (1 - load / m * (1 - blocked))


def open_queue(arrival_rate: ArrayLike, service_time: float, servers: int = 1) -> pd.DataFrame:
    """Solve M/M/m: Poisson arrivals, exponential service by one of m servers, first come first served.

    With ``u = arrival rate x service time / m``: mean wait ``Wq = C S / (m (1 - u))``, response time ``R = S + Wq``,
    mean number in the system ``L = arrival rate x R`` (Kleinrock 1975, section 3.5; Gross et al. 2008, section 2.4).

    Parameters
    ----------
    arrival_rate : array_like, shape (n,)
        Requests per second, not negative.
    service_time : float
        Seconds.
    servers : int

    Returns
    -------
    DataFrame
        Columns ``arrival_rate``, ``utilization`` (share of the servers' time), ``waiting_probability``, ``wait`` and
        ``response_time`` (seconds), ``in_queue`` and ``in_system`` (mean numbers of requests).

    Raises
    ------
    ModelError
        For a rate that is negative or not below the capacity, or a service time that is not positive.
    """
    rates = checks.column(np.atleast_1d(np.asarray(arrival_rate)), "arrival rate")
    m = _servers(servers)
    if not (math.isfinite(service_time) and service_time > 0):
        raise ModelError("service time must be positive", found=repr(service_time))
    if np.any(rates < 0):
        raise ModelError(f"arrival rate in row {int(np.argmax(rates < 0)) + 1} of {len(rates)} is negative")
    capacity = m / service_time
    if np.any(rates >= capacity):
        row = int(np.argmax(rates >= capacity))
        raise ModelError(
            f"the queue is not stable at the arrival rate in row {row + 1} of {len(rates)}",
            expected=f"below {capacity:g} a second, what {m} server{'s' if m > 1 else ''} can do",
            found=f"{rates[row]:g}",
            remedy="lower the rate, add servers, or use a closed model",
        )
    waiting = np.array([erlang_c(float(rate) * service_time, m) for rate in rates])
    busy = rates * service_time / m
    wait = waiting * service_time / (m * (1 - busy))
    return pd.DataFrame(
        {
            "arrival_rate": rates,
            "utilization": busy,
            "waiting_probability": waiting,
            "wait": wait,
            "response_time": service_time + wait,
            "in_queue": rates * wait,
            "in_system": rates * (service_time + wait),
        }
    )


def open_against_closed(clients: ArrayLike, service_time: float, think_time: float, servers: int = 1) -> pd.DataFrame:
    """Compare the closed machine-repairman queue with the open queue of the same throughput.

    In a closed system a full queue holds back its own arrivals, so its response time is the shorter one. The open queue
    is its limit for many clients that think long: ``clients / think_time`` fixed and below the capacity. How far apart
    they are says whether the driver's number of clients, or the servers, shaped a measured response time.

    Parameters
    ----------
    clients, service_time, think_time, servers
        See `queueing.machine_repairman`; the think time is positive.

    Returns
    -------
    DataFrame
        Columns ``clients, throughput, utilization, response_closed, response_open`` (seconds) and ``ratio``
        (open over closed; infinite where the closed queue is saturated to within rounding).
    """
    if not (math.isfinite(think_time) and think_time > 0):
        raise ModelError("an open queue has no counterpart without think time", expected="a positive think time")
    closed = machine_repairman(clients, service_time, think_time, servers)
    rates = closed["throughput"].to_numpy()
    stable = rates < servers / service_time
    response = np.full(len(rates), math.inf)
    if stable.any():
        response[stable] = open_queue(rates[stable], service_time, servers)["response_time"]
    return pd.DataFrame(
        {
            "clients": closed["clients"],
            "throughput": rates,
            "utilization": closed["utilization"],
            "response_closed": closed["response_time"],
            "response_open": response,
            "ratio": response / closed["response_time"],
        }
    )


def _servers(servers: int) -> int:
    if not 1 <= servers <= MAX_SERVERS or servers != int(servers):
        raise ModelError("servers must be a whole number", expected=f"1 to {MAX_SERVERS}", found=repr(servers))
    return int(servers)
