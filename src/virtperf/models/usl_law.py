"""The Universal Scalability Law as a curve: formula, derivatives, bounds, and what every fit of it has."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.nls import Curve, NLSResult
from virtperf.models.result import Estimate, t_interval

KINDS = ("linear", "amdahl", "usl")
FORMULAS = {
    "usl": "Universal Scalability Law: X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))",
    "amdahl": "Amdahl's law: X(N) = gamma N / (1 + alpha (N - 1))",
    "linear": "Linear scaling: X(N) = gamma N",
}
# The place of each kind's parameters among (alpha, beta, gamma).
PLACES = {"usl": (0, 1, 2), "amdahl": (0, 2), "linear": (2,)}
NAMES = ("alpha", "beta", "gamma")


def throughput(load: Array, theta: Array) -> Array:
    """Return X(N) for ``theta = (alpha, beta, gamma)``; infinite where the law's denominator is not positive."""
    alpha, beta, gamma = theta
    below = 1 + (load - 1) * (alpha + beta * load)
    if below.min() <= 0:
        return np.full(len(load), np.inf)
    return gamma * load / below


def gradient(load: Array, theta: Array) -> Array:
    """Return the derivatives of X(N) with respect to (alpha, beta, gamma), shape (n, 3)."""
    alpha, beta, gamma = theta
    more = load - 1
    share = load / (1 + more * (alpha + beta * load))
    by_alpha = -gamma * share * share * more / load
    return np.column_stack((by_alpha, by_alpha * load, share))


def full(kind: str, params: Array) -> Array:
    """Return (alpha, beta, gamma) of a kind's own parameters, absent coefficients being zero."""
    theta = np.zeros(3)
    theta[list(PLACES[kind])] = params
    return theta


def _value_amdahl(load: Array, params: Array) -> Array:
    return throughput(load, np.array([params[0], 0.0, params[1]]))


def _gradient_amdahl(load: Array, params: Array) -> Array:
    return gradient(load, np.array([params[0], 0.0, params[1]]))[:, [0, 2]]


def _value_linear(load: Array, params: Array) -> Array:
    return params[0] * load


def _gradient_linear(load: Array, params: Array) -> Array:
    return load[:, None].copy()


VALUES = {"usl": throughput, "amdahl": _value_amdahl, "linear": _value_linear}
GRADIENTS = {"usl": gradient, "amdahl": _gradient_amdahl, "linear": _gradient_linear}


def curve(kind: str, bounded: bool = True) -> Curve:
    """Return the curve of a kind; bounded means 0 <= alpha <= 1, beta >= 0 and gamma >= 0."""
    places = PLACES[checks.one_of(kind, KINDS, "kind of scalability curve")]
    low = (0.0, 0.0, 0.0) if bounded else (-math.inf,) * 3
    high = (1.0, math.inf, math.inf) if bounded else (math.inf,) * 3
    return Curve(
        FORMULAS[kind],
        tuple(NAMES[i] for i in places),
        VALUES[kind],
        GRADIENTS[kind],
        tuple(low[i] for i in places),
        tuple(high[i] for i in places),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class LawResult(NLSResult):
    """A fitted scalability curve without its derived quantities; see `FitResult` for the common part.

    Parameters
    ----------
    kind : {"usl", "amdahl", "linear"}
    """

    kind: str = "usl"

    @property
    def coefficients(self) -> Array:
        """(alpha, beta, gamma), zero where the kind has no such coefficient."""
        return full(self.kind, self.params)

    def delta(self, value: float, slope: Array, alpha: float) -> Estimate:
        """Return the delta-method interval of a quantity with derivatives `slope` in (alpha, beta, gamma)."""
        if any(self.at_bound):
            held = ", ".join(n for n, b in zip(self.param_names, self.at_bound, strict=True) if b)
            raise ModelError(f"the delta method means nothing with {held} on a bound", remedy='use method="profile"')
        return t_interval(value, self.se_of(slope), self.df_resid, alpha, "delta")

    def se_of(self, slope: Array) -> float:
        """Return the delta-method standard error, coefficients on a bound being held there."""
        own = slope[list(PLACES[self.kind])]
        covariance = np.where(np.isnan(self.covariance), 0.0, self.covariance)
        return math.sqrt(max(float(own @ covariance @ own), 0.0))
