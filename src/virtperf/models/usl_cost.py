"""The scalability law in its form for cost: how much processor time a transaction takes at each load.

Throughput of a test that is limited by something else says little about overhead; the processor time that each
transaction takes does. With N loads (clients, guests) of which each is either served or waits for the others, the USL
says that one transaction takes ``N / X(N) = (1 + alpha (N - 1) + beta N (N - 1)) / gamma`` of a load's time (Little's
law). If that time is spent on a processor, because waiting is polling, switching, paging or keeping caches coherent
rather than sleeping, the busy processors are proportional to N, and by the utilization law (Denning and Buzen 1978) the
service demand of one transaction, ``C = busy processors / throughput``, has the same shape:

    C(N) = demand (1 + alpha (N - 1) + beta N (N - 1))

That is the assumption. It says nothing about how many processors there are: once all of them are busy, throughput is
``processors / C(N)``. Where a part of the waiting is sleep, alpha and beta are smaller than those of throughput:
they are then the overheads in processor time alone, which is why they are worth fitting on their own.

References
----------
Denning, P. J., Buzen, J. P. (1978). The operational analysis of queueing network models. ACM Comput. Surv. 10, 225-261.
Gunther, N. J. (2007). Guerrilla Capacity Planning. Chapter 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.nls import Curve, NLSResult, best_fit
from virtperf.models.profile import Path
from virtperf.models.result import Estimate

NAMES = ("alpha", "beta", "demand")
FORMULAS = {
    "usl": "Cost of a transaction: C(N) = demand (1 + alpha (N - 1) + beta N (N - 1))",
    "amdahl": "Cost of a transaction: C(N) = demand (1 + alpha (N - 1))",
    "linear": "Cost of a transaction: C(N) = demand",
}
PLACES = {"usl": (0, 1, 2), "amdahl": (0, 2), "linear": (2,)}


def cost_per_transaction(busy: ArrayLike, throughput: ArrayLike) -> Array:
    """Return the service demand ``busy / throughput``, by the utilization law.

    Parameters
    ----------
    busy : array_like, shape (n,)
        Processors that are busy on average (utilization times processors), hypervisor included.
    throughput : array_like, shape (n,)
        Transactions per second.

    Returns
    -------
    ndarray, shape (n,)
        Processor seconds a transaction.
    """
    u, x = checks.column(busy, "busy processors", positive=True), checks.column(throughput, "throughput", positive=True)
    checks.same_length(("busy processors", u), ("throughput", x))
    return u / x


@dataclass(frozen=True, eq=False, kw_only=True)
class CostResult(NLSResult):
    """A fitted cost of a transaction; see `FitResult` for the common part.

    Parameters
    ----------
    kind : {"usl", "amdahl", "linear"}
    """

    kind: str

    @property
    def coefficients(self) -> Array:
        """(alpha, beta, demand), zero where the kind has no such coefficient."""
        theta = np.zeros(3)
        theta[list(PLACES[self.kind])] = self.params
        return theta

    def overhead(self, load: float, alpha: float = 0.05) -> Estimate:
        """Return ``C(N) / C(1) - 1``: what a transaction costs more than at a load of one, as a share.

        Its profile writes alpha as ``overhead / (N - 1) - beta N``, with beta and the demand free.
        """
        if not (math.isfinite(load) and load >= 1):
            raise ModelError("an overhead needs a load", expected="a finite number of at least 1", found=repr(load))
        if load == 1 or self.kind == "linear":
            return Estimate(0.0, 0.0, 0.0, 1 - alpha, "profile likelihood")
        n, more = float(load), float(load) - 1
        a, b, _ = (float(c) for c in self.coefficients)
        rows = list(PLACES[self.kind])
        free = slice(0, 2) if self.kind == "usl" else slice(1, 2)
        tangent = np.array([[-n, 0.0], [1.0, 0.0], [0.0, 1.0]])[rows, free]
        bounded = bool(np.all(np.isfinite(self.curve.bounds[0])))

        def embed(c: float, phi: Array) -> tuple[Array, Array]:
            beta = phi[0] if len(phi) == 2 else 0.0
            return np.array([c / more - beta * n, beta, phi[-1]])[rows], tangent

        def bounds(c: float) -> tuple[Array, Array]:
            least = 0.0 if bounded else -math.inf
            most = max(c / more / n, 0.0) if bounded else math.inf
            return np.array([least, 0.0])[free], np.array([most, math.inf])[free]

        slope = np.array([more, more * n, 0.0])[rows]
        covariance = np.where(np.isnan(self.covariance), 0.0, self.covariance)
        se = math.sqrt(max(float(slope @ covariance @ slope), 0.0))
        domain = (0.0 if bounded else -1.0, math.inf)
        path = Path(embed, np.array([b, self.params[-1]])[free], bounds, more * (a + b * n), se, domain)
        return self.profile(path, alpha, "overhead")

    def capacity(self, load: float, processors: float, alpha: float = 0.05) -> Estimate:
        """Return ``processors / C(N)``: the throughput at which so many processors would be busy all the time.

        The interval is that of the curve at N, by the delta method with t quantiles.
        """
        if not (math.isfinite(processors) and processors > 0):
            raise ModelError("a capacity needs processors", expected="a positive number", found=repr(processors))
        band = self.predict([load], interval="mean", alpha=alpha)
        value, low, high = (float(v) for v in np.asarray(band)[0, [0, 2, 3]])
        return Estimate(value, max(low, 0.0), high, 1 - alpha, "delta").map(
            lambda c: processors / c if c > 0 else math.inf
        )


def fit_usl_cost(
    load: ArrayLike,
    cost: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    kind: str = "usl",
    bounded: bool = True,
) -> CostResult:
    """Fit the processor time of a transaction over the load, by least squares.

    ``C(N) = demand (1 + alpha (N - 1) + beta N (N - 1))``; the module says from which assumption it follows. The curve
    is linear in ``demand``, ``demand alpha`` and ``demand beta``, so that it has one optimum; without bounds the
    profile intervals of alpha and beta are Fieller's for the ratios of these.

    Parameters
    ----------
    load : array_like, shape (n,)
        Clients, guests: positive.
    cost : array_like, shape (n,)
        Processor time a transaction (see `cost_per_transaction`), positive; ``demand`` has its unit.
    weights : array_like, shape (n,), optional
        Proportional to one over the variance of each cost.
    kind : {"usl", "amdahl", "linear"}
        All three coefficients; without beta; a constant cost.
    bounded : bool
        Keep alpha and beta at zero or more. Unlike for throughput alpha has no upper bound: overhead may cost more than
        a complete queue.

    Raises
    ------
    ModelError
        For rows that are not positive or not finite, or too few rows or distinct loads.
    """
    places = list(PLACES[checks.one_of(kind, tuple(PLACES), "kind of scalability curve")])
    names = tuple(NAMES[i] for i in places)
    n, c = checks.column(load, "load", positive=True), checks.column(cost, "cost", positive=True)
    checks.same_length(("load", n), ("cost", c))
    checks.enough(n, names, name="load")
    w = checks.weights_or_ones(weights, len(n))
    lower = tuple(0.0 if bounded else -math.inf for _ in names)
    curve = Curve(
        FORMULAS[kind],
        names,
        lambda x, p: _columns(x, places) @ _linear(p),
        lambda x, p: _jacobian(x, p, places),
        lower,
    )
    root = np.sqrt(w)
    found = np.linalg.lstsq(root[:, None] * _columns(n, places), root * c, rcond=None)[0]
    # The free optimum, and the simplest curve for data whose optimum lies on a bound.
    starts = [np.append(np.zeros(len(names) - 1), np.average(c, weights=w))]
    if found[-1] > 0:
        starts.insert(0, np.append(found[:-1] / found[-1], found[-1]))
    return best_fit(CostResult, curve, n, c, w, starts, kind=kind)


def _columns(load: Array, places: list[int]) -> Array:
    return np.column_stack((load - 1, load * (load - 1), np.ones(len(load))))[:, places]


def _linear(params: Array) -> Array:
    """(demand alpha, demand beta, demand) of (alpha, beta, demand)."""
    return np.append(params[:-1] * params[-1], params[-1])


def _jacobian(load: Array, params: Array, places: list[int]) -> Array:
    columns = _columns(load, places)
    shape = np.append(params[:-1], 1.0)
    return np.column_stack((columns[:, :-1] * params[-1], columns @ shape))
