"""Bootstrap of scalability curves: thousands of refits at once, and intervals of whatever follows from them.

References
----------
Davison, A. C., Hinkley, D. V. (1997). Bootstrap Methods and their Application. Sections 6.2.4 (rows), 6.3 (models).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.result import Estimate
from virtperf.models.usl import USLResult
from virtperf.models.usl_law import refit_many

KINDS = ("parametric", "case")


def _slope(theta: Array) -> Array:
    alpha, beta, _ = theta.T
    return np.where(beta > 0, beta / np.maximum(1 - alpha, 1e-300), 0.0)


def _per_peak(theta: Array) -> Array:
    alpha, beta, gamma = theta.T
    rest = np.maximum(1 - alpha, 0.0)
    below = np.where(beta >= rest, 1.0, alpha - beta + 2 * np.sqrt(np.maximum(beta, 0.0) * rest))
    return below / gamma


def _inverse(value: float) -> float:
    return 1 / value if value > 0 else math.inf


QUANTITIES: dict[str, tuple[Callable[[Array], Array], Callable[[float], float]]] = {
    "alpha": (lambda theta: theta[:, 0], float),
    "beta": (lambda theta: theta[:, 1], float),
    "gamma": (lambda theta: theta[:, 2], float),
    "peak_load": (_slope, lambda v: v**-0.5 if v > 0 else math.inf),
    "peak_throughput": (_per_peak, _inverse),
    "asymptote": (lambda theta: theta[:, 0] / theta[:, 2], _inverse),
}
"""By name: a monotone form that is finite also where the quantity is not, of (B, 3) coefficients; and the way back."""


@dataclass(frozen=True, eq=False)
class BootstrapResult:
    """Refits of a scalability curve to resamples of its data.

    Parameters
    ----------
    fit : USLResult
    coefficients : ndarray, shape (B, 3)
        (alpha, beta, gamma) of each refit.
    failed : int
        Refits that did not converge and are left out.
    """

    fit: USLResult
    coefficients: Array
    failed: int

    def estimate(self, quantity: str, alpha: float = 0.05) -> Estimate:
        """Return a quantity with the order statistics of its refits at alpha/2 and 1 - alpha/2.

        Parameters
        ----------
        quantity : {"alpha", "beta", "gamma", "peak_load", "peak_throughput", "asymptote"}
        alpha : float
            One minus the confidence level.

        Returns
        -------
        Estimate
            An end is infinite where that order statistic belongs to a refit without a peak or asymptote.
        """
        checks.level(alpha)
        plain, back = QUANTITIES[checks.one_of(quantity, tuple(QUANTITIES), "quantity")]
        name = quantity.replace("_", " ")
        if (quantity == "peak_load" and self.fit.kind != "usl") or (
            quantity in ("peak_throughput", "asymptote") and self.fit.kind == "linear"
        ):
            raise ModelError(f"{self.fit.kind} scaling has no {name.split()[0]}", remedy="fit the USL")
        draws = plain(self.coefficients)
        # Order statistics: between a finite and an infinite value there is nothing to interpolate.
        low, high = (float(v) for v in np.quantile(draws, [alpha / 2, 1 - alpha / 2], method="inverted_cdf"))
        notes: list[str] = []
        without = float(np.mean(draws <= 0))
        if math.isinf(back(0.0)) and without > 0:
            notes.append(f"{100 * without:.1f} % of the refits have no finite {name}")
        if self.failed:
            notes.append(f"{self.failed} refits did not converge and are left out")
        value = float(plain(self.fit.coefficients[None, :])[0])
        return Estimate(value, low, high, 1 - alpha, "bootstrap", tuple(notes)).map(back)


def bootstrap_usl(
    fit: USLResult, replicates: int = 1999, seed: int = 20, *, kind: str = "parametric"
) -> BootstrapResult:
    """Refit a scalability curve to resamples of its data.

    Parameters
    ----------
    fit : USLResult
        Any kind of curve, with at least one residual degree of freedom.
    replicates : int
    seed : int
    kind : {"parametric", "case"}
        Noise around the curve, normal or (proportional) Gamma, whose scale is itself drawn, as its sum of squares over
        a chi-squared number, so that a fit of few points does not pretend to know it; or whole rows drawn with
        replacement (draws with too few distinct loads are repeated).

    Raises
    ------
    ModelError
        Without degrees of freedom, or if hardly any refit converges.
    """
    checks.one_of(kind, KINDS, "bootstrap")
    if fit.df_resid < 1:
        raise ModelError("a curve through as many points as parameters has no error", remedy="measure more loads")
    if replicates < 20:
        raise ModelError("too few replicates", expected="at least 20", found=str(replicates))
    rng = np.random.default_rng(seed)
    y, weights = np.broadcast_to(fit.y, (replicates, fit.nobs)), fit.weights
    if kind == "parametric":
        y = draw(fit, fit.rss / rng.chisquare(fit.df_resid, (replicates, 1)), rng)
    else:
        weights = fit.weights * _rows(fit, replicates, rng)
    theta, converged = refit_many(fit.kind, fit.x, y, noise=fit.noise, weights=weights, bounded=fit.bounded)
    if converged.mean() < 0.9:
        raise ModelError("too many refits did not converge", remedy="fit a smaller curve or measure more loads")
    return BootstrapResult(fit, theta[converged], int(np.sum(~converged)))


def draw(fit: USLResult, scale: Array, rng: np.random.Generator) -> Array:
    """New observations around the fitted curve, shape (B, n); `scale`, of shape (B, 1), is that of each draw."""
    spread = scale / fit.weights
    if fit.noise == "proportional":
        return np.asarray(fit.fittedvalues * spread * rng.gamma(1 / spread))
    return np.asarray(fit.fittedvalues + np.sqrt(spread) * rng.standard_normal(spread.shape))


def _rows(fit: USLResult, replicates: int, rng: np.random.Generator) -> Array:
    """How often each row is drawn, shape (B, n)."""
    counts = np.zeros((replicates, fit.nobs))
    missing = np.ones(replicates, dtype=bool)
    levels = fit.x[:, None] == np.unique(fit.x)
    while missing.any():
        counts[missing] = rng.multinomial(fit.nobs, np.full(fit.nobs, 1 / fit.nobs), int(missing.sum()))
        missing = np.sum((counts > 0) @ levels > 0, axis=1) < len(fit.params)
    return counts
