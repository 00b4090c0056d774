"""Closed queueing models: the interactive response-time law, the machine-repairman queue and its bounds."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.ratio import Mean, replicates, welch_df
from virtperf.models.result import Estimate, t_interval

MAX_CLIENTS = 100_000


def clients_in_system(throughput: float, response_time: float, think_time: float = 0.0) -> float:
    """Return the number of clients, ``N = X (R + Z)`` (the interactive response-time law; Little 1961).

    Parameters
    ----------
    throughput : float
        Requests per second.
    response_time, think_time : float
        Seconds.

    Raises
    ------
    ModelError
        For a throughput that is not positive, or a time below zero.
    """
    _positive(throughput=throughput)
    _not_negative(response_time=response_time, think_time=think_time)
    return throughput * (response_time + think_time)


def response_time(clients: float, throughput: float, think_time: float = 0.0) -> float:
    """Return the response time that the law implies, ``R = N / X - Z``, in seconds; raises as `clients_in_system`."""
    _positive(clients=clients, throughput=throughput)
    _not_negative(think_time=think_time)
    return clients / throughput - think_time


def think_time(
    clients: float, throughput: Mean, response: Mean, *, covariance: float = 0.0, alpha: float = 0.05
) -> Estimate:
    """Return the think time that the law implies, ``Z = N / X - R``, with its delta-method interval.

    ``var(Z) = (N / X**2)**2 var(X) + var(R) + 2 (N / X**2) cov(X, R)``, with Satterthwaite's degrees of freedom. A
    think time below zero says that the numbers contradict each other: more requests than the clients could send.

    Parameters
    ----------
    clients : float
        Number of clients, known without error.
    throughput, response : Mean
        Requests per second, and seconds.
    covariance : float
        Covariance of the two means; it is negative in a closed system, so leaving it out makes the interval too wide.
    alpha : float

    Raises
    ------
    ModelError
        If the clients or the throughput are not positive.
    """
    _positive(clients=clients, throughput=throughput.value)
    slope = clients / throughput.value**2
    parts = ((slope * throughput.se) ** 2, response.se**2)
    variance = sum(parts) + 2 * slope * covariance
    if variance < 0:
        raise ModelError("the covariance is larger than the standard errors allow", found=repr(covariance))
    df = welch_df(parts, (throughput.df, response.df))
    return t_interval(clients / throughput.value - response.value, math.sqrt(variance), df, alpha, "delta")


def think_time_of_runs(clients: float, throughput: ArrayLike, response: ArrayLike, *, alpha: float = 0.05) -> Estimate:
    """Return the mean implied think time of replicated runs (same order) with a t interval: covariance included."""
    x, r = replicates(throughput, "throughput"), replicates(response, "response time")
    checks.column(x, "throughput", positive=True)
    checks.same_length(("throughput", x), ("response time", r))
    _positive(clients=clients)
    mean = Mean.of(clients / x - r, "think time")
    return t_interval(mean.value, mean.se, mean.df, alpha)


def machine_repairman(
    clients: ArrayLike, service_time: float, think_time: float = 0.0, servers: int = 1
) -> pd.DataFrame:
    """Solve the closed M/M/m//N queue exactly.

    Each of N clients thinks for an exponential time of mean Z, then needs an exponential service of mean S from one of
    m servers: ``p(k) ~ N! / (N - k)! (S/Z)**k / prod(min(i, m), i = 1..k)`` (Gross et al. 2008, section 2.8).

    Parameters
    ----------
    clients : array_like of int, shape (n,)
        At least 1.
    service_time, think_time : float
        Seconds; the think time may be zero.
    servers : int

    Returns
    -------
    DataFrame
        Columns ``clients, throughput`` (per second), ``response_time`` (seconds), ``utilization`` (share of the
        servers' time) and ``in_system`` (mean number of clients that do not think).

    Raises
    ------
    ModelError
        For a count that is not a whole number of at least 1 (at most 100,000 clients), a service time that is not
        positive or a negative think time.
    """
    counts = checks.column(np.atleast_1d(np.asarray(clients)), "clients", positive=True)
    if np.any(counts != np.round(counts)) or counts.max() > MAX_CLIENTS:
        raise ModelError("clients must be whole numbers", expected=f"1 to {MAX_CLIENTS}", found=f"{counts.max():g}")
    if servers < 1 or servers != int(servers):
        raise ModelError("servers must be a whole number of at least 1", found=repr(servers))
    _positive(service_time=service_time)
    if not (math.isfinite(think_time) and think_time >= 0):
        raise ModelError("the think time must not be negative", found=repr(think_time))
    rows = [_repairman(int(n), service_time, think_time, int(servers)) for n in counts]
    return pd.DataFrame(rows, columns=["clients", "throughput", "response_time", "utilization", "in_system"])


def _repairman(n: int, service: float, think: float, servers: int) -> tuple[int, float, float, float, float]:
    k = np.arange(1, n + 1)
    busy = np.minimum(k, servers)
    if think == 0:
        x, inside = min(n, servers) / service, float(n)
    else:
        # Logarithms, because the terms of a large population overflow.
        log_p = np.append(0.0, np.cumsum(np.log((n - k + 1) * (service / think) / busy)))
        p = np.exp(log_p - log_p.max())
        p /= p.sum()
        x, inside = float(p[1:] @ busy) / service, float(p[1:] @ k)
    return n, x, inside / x, x * service / servers, inside


def asymptotic_bounds(
    clients: ArrayLike, demands: ArrayLike, think_time: float = 0.0, servers: ArrayLike | None = None
) -> pd.DataFrame:
    """Return the asymptotic bounds of a closed network (Lazowska et al. 1984, chapter 5).

    With the total demand D, the largest demand a server ``Dmax = max(demands / servers)`` and the think time Z:
    ``N / (N D + Z) <= X <= min(1 / Dmax, N / (D + Z))`` and ``max(D, N Dmax - Z) <= R <= N D``.

    Parameters
    ----------
    clients : array_like, shape (n,)
    demands : array_like, shape (k,)
        Seconds of service that one request needs at each station.
    think_time : float
        Seconds.
    servers : array_like, shape (k,), optional
        Servers of each station; default one each.

    Returns
    -------
    DataFrame
        Columns ``clients, throughput_low, throughput_high, response_low, response_high``; the attribute
        ``attrs["knee"]`` is the population ``(D + Z) / Dmax`` at which the two upper bounds meet.
    """
    n = checks.column(np.atleast_1d(np.asarray(clients)), "clients", positive=True)
    d = checks.column(np.atleast_1d(np.asarray(demands)), "demand", positive=True)
    m = (
        np.ones(len(d))
        if servers is None
        else checks.column(np.atleast_1d(np.asarray(servers)), "servers", positive=True)
    )
    checks.same_length(("demands", d), ("servers", m))
    if not (math.isfinite(think_time) and think_time >= 0):
        raise ModelError("the think time must not be negative", found=repr(think_time))
    total, worst = float(d.sum()), float((d / m).max())
    table = pd.DataFrame(
        {
            "clients": n,
            "throughput_low": n / (n * total + think_time),
            "throughput_high": np.minimum(1 / worst, n / (total + think_time)),
            "response_low": np.maximum(total, n * worst - think_time),
            "response_high": n * total,
        }
    )
    table.attrs["knee"] = (total + think_time) / worst
    return table


def _positive(**values: float) -> None:
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0):
            raise ModelError(f"{name.replace('_', ' ')} must be positive", found=repr(value))


def _not_negative(**values: float) -> None:
    for name, value in values.items():
        if not (math.isfinite(value) and value >= 0):
            raise ModelError(f"{name.replace('_', ' ')} must not be negative", found=repr(value))
