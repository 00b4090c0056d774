"""The scalability law in its form for cost: how much processor time a transaction takes at each
load.

With N loads (clients, guests) of which each is either served or waits for the others, the USL says
that one transaction takes ``N / X(N) = (1 + alpha (N - 1) + beta N (N - 1)) / gamma`` of a load's
time (Little's law). If that time is spent on a processor, because waiting is polling, switching,
paging or keeping caches coherent rather than sleeping, the busy processors are proportional to N,
and by the utilization law (Denning and Buzen 1978) the service demand of one transaction, ``C =
busy processors / throughput``, has the same shape:

    C(N) = demand (1 + alpha (N - 1) + beta N (N - 1))

That is the assumption. It says nothing about how many processors there are: once all of them are
busy, throughput is
``processors / C(N)``. Where a part of the waiting is sleep, alpha and beta are smaller than those
of throughput. The curve is linear in ``demand``, ``demand alpha`` and ``demand beta``: a
generalized linear model with identity link.

References
----------
Denning, P. J., Buzen, J. P. (1978). The operational analysis of queueing network models. ACM
Comput. Surv. 10, 225-261. Gunther, N. J. (2007). Guerrilla Capacity Planning. Chapter 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rawperf.core.errors import ModelError
from virtperf.models.checks import Array
from virtperf.models.glm_curve import GLMCurve
from virtperf.models.glm_fit import fit_curve
from virtperf.models.profile import Question
from virtperf.models.result import Estimate


@dataclass(frozen=True, eq=False, kw_only=True)
class CostResult(GLMCurve):
    """A fitted cost of a transaction: parameters alpha, beta, demand; see `GLMCurve`."""

    inverse: ClassVar[bool] = False
    formulas: ClassVar[dict[str, str]] = {
        "usl": "Cost of a transaction: C(N) = demand (1 + alpha (N - 1) + beta N (N - 1))",
        "amdahl": "Cost of a transaction: C(N) = demand (1 + alpha (N - 1))",
        "linear": "Cost of a transaction: C(N) = demand",
    }
    names: ClassVar[tuple[str, str, str]] = ("alpha", "beta", "demand")

    @staticmethod
    def columns(x: Array) -> Array:
        """The design in (demand, demand alpha, demand beta), shape (n, 3)."""
        return np.column_stack((np.ones(len(x)), x - 1, x * (x - 1)))

    @staticmethod
    def parameters(b: Array) -> tuple[Array, Array]:
        """(alpha, beta, demand) and their derivatives in (demand, demand alpha, demand beta)."""
        d = b[0]
        slope = np.array([[-b[1] / d**2, 1 / d, 0], [-b[2] / d**2, 0, 1 / d], [1, 0, 0]])
        return np.array([b[1] / d, b[2] / d, d]), slope

    @staticmethod
    def stated(used: NDArray[np.bool_]) -> tuple[Array, list[str]]:
        """The columns that are used, as they are."""
        return np.eye(3)[:, used], [
            name for name, u in zip(("1", "N - 1", "N (N - 1)"), used, strict=True) if u
        ]

    def question(self, name: str) -> Question:
        """The equation of a parameter."""
        place = self.names.index(name)
        value = float(self.coefficients[place])
        if name == "demand":
            return Question.level((1, 0, 0), value)
        return Question.share(
            np.eye(3)[place + 1], (1, 0, 0), value, (0.0 if self.bounded else -math.inf, math.inf)
        )

    def capacity(self, load: float, processors: float, alpha: float = 0.05) -> Estimate:
        """Return ``processors / C(N)``: the throughput at which so many processors would be busy
        all the time.

        The interval is the profile interval of C(N), turned over; a warning says if N was not
        tested.
        """
        if not (math.isfinite(processors) and processors > 0):
            raise ModelError(
                "a capacity needs processors", expected="a positive number", found=repr(processors)
            )
        if not (math.isfinite(load) and load > 0):
            raise ModelError(
                "a capacity needs a load", expected="a positive number", found=repr(load)
            )
        found = self.profile(self.at(float(load)), alpha, "cost")
        return found.map(lambda c: processors / c if c > 0 else math.inf, *self.beyond(load))


def fit_usl_cost(
    load: ArrayLike,
    cost: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    kind: str = "usl",
    bounded: bool = True,
    noise: str = "proportional",
) -> CostResult:
    """Fit the processor time of a transaction over the load; the module says from which assumption
    the curve follows.

    Parameters and errors are as in `usl.fit_usl`, except for these:

    Parameters
    ----------
    cost : array_like, shape (n,)
        Processor time a transaction (busy processors, the hypervisor's included, over throughput),
        positive; ``demand`` has its unit.
    bounded : bool
        Keep alpha and beta at zero or more. Unlike for throughput alpha has no upper bound:
        overhead may cost more than a complete queue.
    """
    return fit_curve(
        CostResult, load, cost, "cost", weights=weights, kind=kind, bounded=bounded, noise=noise
    )
