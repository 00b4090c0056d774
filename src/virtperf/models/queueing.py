"""Queueing models: closed networks with think time, M/M/c stations, and estimation of service
demands from measured throughput.

    mva({"cpu": 0.002, "disk": 0.005}, clients=[1, 8, 32], think=0.5)
    mmc(arrival_rate=800, service_time=0.002, servers=2).response
    fit_closed(clients, throughput, think=0.007, servers=[1, 2, 2]).demand()

All times are in one unit, rates in its inverse.

References
----------
Buzen, J. P. (1973). Computational algorithms for closed queueing networks with exponential servers.
Commun. ACM 16, 527-531. Reiser, M., Lavenberg, S. S. (1980). Mean-value analysis of closed
multichain queuing networks. J. ACM 27, 313-322. Reiser, M. (1979). A queueing network analysis of
computer communication networks with window flow control. IEEE Trans. Commun. 27, 1199-1209 (the
residual service that an arrival finds). Lazowska, E. D., Zahorjan, J., Graham, G. S., Sevcik, K. C.
(1984). Quantitative System Performance. Prentice Hall.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rawperf.core.errors import ModelError, ParameterError
from virtperf.core.estimate import Estimate
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.diagnostics import fit_with_notes
from virtperf.models.result import MISFIT_LEVEL, PROFILE, FitResult

MAX_CLIENTS, MAX_FITTED_CLIENTS = 10_000, 1000
MAX_CV2 = 16.0
"""Upper bound of the estimated squared coefficient of variation."""


def mva(
    demands: Mapping[str, float],
    clients: ArrayLike,
    *,
    think: float = 0.0,
    servers: Mapping[str, int] | None = None,
) -> pd.DataFrame:
    """Solve a closed network exactly: clients that think, then visit stations.

    Product form: service and think times are exponential, or stations use processor sharing with
    any service distribution. The normalization constant is computed by convolution, which gives the
    values of mean value analysis and stays exact for stations with several servers.

    Parameters
    ----------
    demands : mapping of str to float
        Total service demand of a request at each station, over all its visits.
    clients : int or array_like of int
        Numbers of clients.
    think : float
        Mean time between a response and the next request.
    servers : mapping of str to int, optional
        Stations with more than one server.

    Returns
    -------
    DataFrame
        One row per number of clients: ``clients, throughput, response``, and for each station
        ``<name>_utilization`` (of its servers) and ``<name>_queue`` (mean number of requests).
    """
    populations = [int(n) for n in np.atleast_1d(np.asarray(clients))]
    count = {name: int((servers or {}).get(name, 1)) for name in demands}
    if min(populations) < 1 or max(populations) > MAX_CLIENTS:
        raise ParameterError(
            "the number of clients is out of range", expected=f"1 to {MAX_CLIENTS}"
        )
    if not demands or min(demands.values()) <= 0 or min(count.values()) < 1 or think < 0:
        raise ParameterError(
            "a parameter of the network is missing or out of range",
            expected="positive demands, at least one server each, a think time of 0 or more",
        )
    if unknown := set(servers or {}) - set(demands):
        raise ParameterError(f"there is no station {sorted(unknown)[0]!r}")
    n = np.arange(max(populations) + 1)
    unit = max(demand / count[name] for name, demand in demands.items())
    weights = {
        name: _log_weights(demand / unit, n, count[name]) for name, demand in demands.items()
    }
    delay = n * math.log(think / unit) - special.gammaln(n + 1) if think > 0 else _no_delay(n)
    total = delay
    for weight in weights.values():
        total = _convolve(total, weight)
    without = {}
    for name in demands:
        rest = delay
        for other, weight in weights.items():
            rest = rest if other == name else _convolve(rest, weight)
        without[name] = rest
    rows = []
    for population in populations:
        throughput = math.exp(total[population - 1] - total[population]) / unit
        row = {
            "clients": population,
            "throughput": throughput,
            "response": population / throughput - think,
        }
        for name, demand in demands.items():
            at = n[: population + 1]
            share = np.exp(weights[name][at] + without[name][population - at] - total[population])
            row[f"{name}_utilization"] = throughput * demand / count[name]
            row[f"{name}_queue"] = float(at @ share)
        rows.append(row)
    return pd.DataFrame(rows)


def _log_weights(demand: float, n: NDArray[np.intp], servers: int) -> Array:
    """Logarithm of ``demand**n`` over the product of the numbers of busy servers for 1 to n."""
    busy = np.log(np.minimum(np.maximum(n, 1), servers))
    busy[0] = 0.0
    return np.asarray(n * math.log(demand) - np.cumsum(busy))


def _no_delay(n: NDArray[np.intp]) -> Array:
    return np.where(n == 0, 0.0, -np.inf)


def _convolve(a: Array, b: Array) -> Array:
    return np.array([special.logsumexp(a[: k + 1] + b[k::-1]) for k in range(len(a))])


@dataclass(frozen=True)
class OpenStation:
    """An M/M/c station: Poisson arrivals, exponential service and several servers.

    `waits`: probability of waiting (Erlang C). `wait`, `response`: mean times. `queue`: mean number
    of waiting requests.
    """

    utilization: float
    waits: float
    wait: float
    response: float
    queue: float


def mmc(arrival_rate: float, service_time: float, servers: int = 1) -> OpenStation:
    """Solve an M/M/c station.

    Raises
    ------
    ModelError
        The offered load exceeds the capacity: there is no steady state.
    """
    if not (arrival_rate > 0 and service_time > 0 and servers >= 1):
        raise ParameterError(
            "a parameter of the open station is out of range",
            expected="a positive arrival rate and service time, at least one server",
        )
    offered = arrival_rate * service_time
    if offered >= servers:
        raise ModelError(
            f"the offered load, {offered:.4g} Erlang, is not below {servers} servers: there is no steady state",
            remedy="lower the arrival rate, or add servers",
        )
    blocked = 1.0  # Erlang B recursion
    for k in range(1, servers + 1):
        blocked = offered * blocked / (k + offered * blocked)
    share = offered / servers
    waits = blocked / (1 - share * (1 - blocked))
    wait = waits * service_time / (servers - offered)
    return OpenStation(share, waits, wait, wait + service_time, arrival_rate * wait)


def closed_throughput(
    demand: float, cv2: float, clients: Array, think: Array, servers: Array
) -> Array:
    """Throughput of clients that think and then queue for a station with general service times of
    squared coefficient of variation `cv2`; exact for 1 (exponential service), else approximate.

    Mean value analysis in which a request that finds all servers busy waits for the mean residual
    service, ``(1 + cv2) / 2`` of a service over the servers, and for the requests queued before it.
    The probability that all servers are busy is that of exponential service. Throughput is at most
    ``servers / demand``.
    """
    throughput = np.empty(len(clients))
    for z, m in set(zip(think.tolist(), servers.tolist(), strict=True)):
        rows = (think == z) & (servers == m)
        most = int(clients[rows].max())
        busy = _all_busy(demand, z, int(m), most)
        rate, rates = 0.0, np.zeros(most + 1)
        queue = 0.0
        for n in range(1, most + 1):
            waiting = max(queue - rate * demand, 0.0)
            time = demand + demand / m * (waiting + busy[n - 1] * (1 + cv2) / 2)
            time = max(time, n * demand / m - z, demand)
            rate = n / (z + time)
            rates[n], queue = rate, rate * time
        throughput[rows] = rates[clients[rows].astype(int)]
    return throughput


def _all_busy(demand: float, think: float, servers: int, most: int) -> Array:
    """Probability that all servers are busy, with 0 to `most` clients and exponential service.

    With k requests at the station it is proportional to ``(demand / think)**k`` over the product of
    the numbers of busy servers for 1 to k, and over the factorial of the clients that think.
    """
    n = np.arange(most + 1)
    if think == 0:
        return np.where(n >= servers, 1.0, 0.0)
    if most < servers:
        return np.zeros(most + 1)
    station = _log_weights(demand / think, n, servers)
    away = n[:, None] - n[None, :]
    thinking = np.where(away >= 0, -special.gammaln(np.maximum(away, 0) + 1), -np.inf)
    terms = station[None, :] + thinking
    with np.errstate(divide="ignore"):
        all_busy = special.logsumexp(terms[:, servers:], axis=1)
    return np.asarray(np.exp(all_busy - special.logsumexp(terms, axis=1)))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ClosedResult(FitResult):
    """A fitted closed network with think time: `x` are the clients, `y` is the throughput; see
    `FitResult` for inherited members.

    Intervals are profile likelihood intervals: all demands (or cv2) whose best curve has
    ``RSS <= RSS_best (1 + F(1 - alpha; 1, df) / df)`` on the scale of log throughput.

    Parameters
    ----------
    think, servers : ndarray, shape (n,)
    cv2 : float or None
        The given squared coefficient of variation of service times; None if estimated.
    """

    think: Array
    servers: Array
    cv2: float | None

    def demand(self, alpha: float = 0.05) -> Estimate:
        """Return the service demand of a request at one server."""
        return self.estimate("demand", alpha)

    def deviance_of(self, means: Array) -> float:
        """Sum of squared residuals of log throughput."""
        return float(np.sum(np.log(self.y / means) ** 2))

    def row_deviation(self) -> Array:
        """See `FitResult.row_deviation`."""
        return self.fittedvalues

    def estimate(self, name: str, alpha: float = 0.05) -> Estimate:
        """Return a parameter with its profile interval."""
        place = self.index(name)
        value = self.theta[[place]]

        def deviance(c: Array, _: Array) -> Array:
            return np.array([self._profile_rss(name, max(float(v), 1e-12)) for v in c])

        error, domain = self.bse.to_numpy()[[place]], (np.zeros(1), np.full(1, math.inf))
        ends = self.profile_limits(value, error, domain, alpha, deviance, 1e-9)
        low, high = float(ends[0][0]), float(ends[1][0])
        notes = self.noise_notes
        if not (notes or low > 0):
            notes = (f"the data are compatible with {name} = 0, the bound",)
        return Estimate(float(value[0]), low, high, 1 - alpha, PROFILE, notes, self.origin)

    def _profile_rss(self, name: str, c: float) -> float:
        """Minimal residual sum of squares with one parameter fixed."""
        if self.cv2 is not None:
            return self._rss_at(c, self.cv2)
        inner: Callable[[float], float]
        if name == "demand":
            inner, around = (lambda v: self._rss_at(c, v)), (0.0, MAX_CV2)
        else:
            best = float(self.theta[0])
            inner, around = (lambda v: self._rss_at(v, c)), (best / 3, 3 * best)
        return float(
            scipy.optimize.minimize_scalar(
                inner, bounds=around, method="bounded", options={"xatol": 1e-5 * around[1]}
            ).fun
        )

    def _rss_at(self, demand: float, cv2: float) -> float:
        return self.deviance_of(closed_throughput(demand, cv2, self.x, self.think, self.servers))

    def _conditions(self) -> Array:
        return np.column_stack((self.x, self.think, self.servers))

    def _group_means(self, group: NDArray[np.intp]) -> Array:
        """Geometric mean of each group of rows."""
        return np.asarray(np.exp(np.bincount(group, np.log(self.y)) / np.bincount(group)))

    def table(self) -> pd.DataFrame:
        """Observed and fitted throughput and response time, one row per condition; response times
        follow from throughput by Little's law, ``clients / throughput - think``.
        """
        frame = pd.DataFrame(
            {
                "clients": self.x,
                "think": self.think,
                "servers": self.servers,
                "throughput": self.y,
                "fitted": self.fittedvalues,
                "response": self.x / self.y - self.think,
                "fitted_response": self.x / self.fittedvalues - self.think,
                "utilization": self.fittedvalues * float(self.theta[0]) / self.servers,
            }
        )
        table = frame.groupby(["think", "servers", "clients"], as_index=False).mean()
        return table.assign(error_percent=100 * (table["fitted"] / table["throughput"] - 1))

    def throughput_at(self, clients: int, *, think: float = 0.0, servers: int = 1) -> float:
        """Fitted throughput at a condition."""
        arrays = (np.array([float(v)]) for v in (clients, think, servers))
        cv2 = float(self.theta[1]) if self.cv2 is None else self.cv2
        return float(closed_throughput(float(self.theta[0]), cv2, *arrays)[0])

    def _curve(self, new: Array) -> tuple[Array, Array]:
        if new.shape != self.x.shape or np.any(new != self.x):
            raise ModelError(
                "a prediction also needs a think time and servers", remedy="use throughput_at(...)"
            )
        return self.fittedvalues, _gradient(self.theta, self.cv2, self.x, self.think, self.servers)


def fit_closed(
    clients: ArrayLike,
    throughput: ArrayLike,
    *,
    think: ArrayLike = 0.0,
    servers: ArrayLike = 1,
    cv2: float | None = 1.0,
) -> ClosedResult:
    """Fit a closed network: clients that think, then queue for one station with several servers
    (processors, guests).

    Response times follow from throughput (Little's law), so they would add no information about the
    demand.

    Parameters
    ----------
    clients : array_like of int, shape (n,)
    throughput : array_like, shape (n,)
    think, servers : float or array_like, shape (n,)
        Per row, or one value for all.
    cv2 : float or None
        Squared coefficient of variation of service times: 1 exponential, 0 constant; None estimates
        it, which requires rows that are neither idle nor saturated.

    Raises
    ------
    ModelError
        Rows are not positive, or too few.
    """
    n = checks.column(clients, "clients", positive=True)
    y = checks.column(throughput, "throughput", positive=True)
    checks.same_length(("clients", n), ("throughput", y))
    if np.any(n != np.round(n)) or n.max() > MAX_FITTED_CLIENTS:
        raise ModelError(
            "the numbers of clients are out of range",
            expected=f"integers from 1 to {MAX_FITTED_CLIENTS}",
        )
    z = checks.column(np.broadcast_to(think, n.shape), "think time", nonnegative=True)
    m = checks.column(np.broadcast_to(servers, n.shape), "servers", positive=True)
    if np.any(m != np.round(m)):
        raise ModelError("the numbers of servers are not integers")
    names = ("demand",) if cv2 is not None else ("demand", "cv2")
    if len(n) <= len(names):
        rows = f"{len(n)} row{'' if len(n) == 1 else 's'}"
        raise ModelError(f"{rows} can't determine {', '.join(names)}", expected="more rows")
    fit = fit_with_notes(partial(_fit, cv2=cv2), n, y, z, m)
    test = fit.tests().get("lack of fit")
    if test is None or test.pvalue >= MISFIT_LEVEL:
        return fit
    worst_miss = float(fit.table()["error_percent"].abs().max())
    note = (
        f"lack of fit: the model deviates from the means of the replicates by up to "
        f"{worst_miss:.2g} % (p = {test.pvalue:.2g}), and its intervals are conditional on it"
    )
    return replace(fit, warnings=(*fit.warnings, note))


def _fit(n: Array, y: Array, z: Array, m: Array, cv2: float | None) -> ClosedResult:
    start = float(np.min(np.minimum(m, n) / y))

    def logs(theta: Array) -> Array:
        variation = float(theta[1]) if cv2 is None else cv2
        return np.log(y / closed_throughput(math.exp(theta[0]), variation, n, z, m))

    first = [math.log(start)] + ([0.5] if cv2 is None else [])
    least = [-np.inf] + ([0.0] if cv2 is None else [])
    most = [np.inf] + ([MAX_CV2] if cv2 is None else [])
    solution = scipy.optimize.least_squares(
        logs, first, bounds=(least, most), xtol=1e-12, ftol=1e-12
    )
    theta = np.append(math.exp(solution.x[0]), np.where(solution.x[1:] < 1e-9, 0.0, solution.x[1:]))
    variation = float(theta[1]) if cv2 is None else cv2
    fit = closed_throughput(float(theta[0]), variation, n, z, m)
    df = len(n) - len(theta)
    gradient = _gradient(theta, cv2, n, z, m) / fit[:, None]
    rss = float(np.sum(np.log(y / fit) ** 2))
    covariance = np.full((len(theta), len(theta)), math.nan)
    if df > 0 and np.linalg.matrix_rank(gradient) == len(theta):
        covariance = np.linalg.inv(gradient.T @ gradient) * rss / df
    names = ("demand",) if cv2 is not None else ("demand", "cv2")
    shown = "" if cv2 is None else f", cv2 {cv2:g}"
    return ClosedResult(
        model=f"Closed network with think time: clients queue for one station{shown}",
        param_names=names,
        theta=theta,
        covariance=covariance,
        x=n,
        y=y,
        weights=np.ones(len(n)),
        fittedvalues=fit,
        df_resid=df,
        noise="proportional",
        think=z,
        servers=m,
        cv2=cv2,
    )


def _gradient(theta: Array, cv2: float | None, n: Array, z: Array, m: Array) -> Array:
    """Numerical derivatives of throughput in the parameters, by central differences."""
    parameters = np.append(theta, [] if cv2 is None else [cv2])
    columns = []
    for place in range(len(theta)):
        step = 1e-5 * max(float(theta[place]), 1e-3)
        above, below = parameters.copy(), parameters.copy()
        above[place], below[place] = above[place] + step, max(below[place] - step, 0.0)
        rates = [closed_throughput(float(v[0]), float(v[1]), n, z, m) for v in (above, below)]
        columns.append((rates[0] - rates[1]) / (above[place] - below[place]))
    return np.column_stack(columns)
