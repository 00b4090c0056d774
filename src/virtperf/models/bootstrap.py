"""Bootstrap of scalability curves: thousands of refits at once, and intervals of whatever follows from them.

References
----------
Efron, B., Tibshirani, R. (1993). An Introduction to the Bootstrap. Chapters 9, 13, 14.
Davison, A. C., Hinkley, D. V. (1997). Bootstrap Methods and their Application. Section 6.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.result import Estimate
from virtperf.models.usl import USLResult
from virtperf.models.usl_law import columns, refit_many

KINDS = ("parametric", "residual", "case")
METHODS = ("percentile", "bca")
ENDLESS = ("peak_load", "peak_throughput", "asymptote")


def _slope(theta: Array, load: float) -> Array:
    """``1/N***2 = beta / (1 - alpha)``: finite where there is no peak, and then zero."""
    alpha, beta, _ = theta.T
    return np.where(beta > 0, beta / np.maximum(1 - alpha, 1e-300), 0.0)


def _per_peak(theta: Array, load: float) -> Array:
    """One over the greatest throughput: ``(alpha - beta + 2 sqrt(beta (1 - alpha))) / gamma``, or 1/gamma at N* < 1."""
    alpha, beta, gamma = theta.T
    rest = np.maximum(1 - alpha, 0.0)
    below = np.where(beta >= rest, 1.0, alpha - beta + 2 * np.sqrt(np.maximum(beta, 0.0) * rest))
    return below / gamma


def _inverse(value: float) -> float:
    return 1 / value if value > 0 else math.inf


QUANTITIES: dict[str, tuple[Callable[[Array, float], Array], Callable[[float], float]]] = {
    "alpha": (lambda theta, load: theta[:, 0], float),
    "beta": (lambda theta, load: theta[:, 1], float),
    "gamma": (lambda theta, load: theta[:, 2], float),
    "peak_load": (_slope, lambda v: v**-0.5 if v > 0 else math.inf),
    "peak_throughput": (_per_peak, _inverse),
    "asymptote": (lambda theta, load: theta[:, 0] / theta[:, 2], _inverse),
    "efficiency": (lambda theta, load: (load - 1) * (theta[:, 0] + theta[:, 1] * load), lambda c: 1 / (1 + c)),
}
"""By name: a monotone form that is finite also where the quantity is not, of (B, 3) coefficients; and the way back."""


@dataclass(frozen=True, eq=False)
class BootstrapResult:
    """Refits of a scalability curve to resamples of its data.

    Parameters
    ----------
    fit : USLResult
    kind : {"parametric", "residual", "case"}
    seed : int
    coefficients : ndarray, shape (B, 3)
        (alpha, beta, gamma) of each refit.
    failed : int
        Refits that did not converge and are left out.
    """

    fit: USLResult
    kind: str
    seed: int
    coefficients: Array
    failed: int

    def values(self, quantity: str, load: float | None = None) -> Array:
        """Return a quantity of each refit, shape (B,); infinite where a refit has no peak or no asymptote.

        Parameters
        ----------
        quantity : {"alpha", "beta", "gamma", "peak_load", "peak_throughput", "asymptote", "efficiency"}
        load : float, optional
            For the efficiency: the load, 1 or more.
        """
        plain, back = self._forms(quantity, load)
        return np.array([back(v) for v in plain(self.coefficients)])

    def estimate(
        self, quantity: str, alpha: float = 0.05, method: str = "percentile", load: float | None = None
    ) -> Estimate:
        """Return a quantity with its bootstrap interval.

        Parameters
        ----------
        quantity, load
            As in `values`.
        alpha : float
            One minus the confidence level.
        method : {"percentile", "bca"}
            Order statistics of the refits; or these shifted for the median bias of the refits and for the acceleration
            from a jackknife (Efron and Tibshirani 1993, section 14.3).

        Returns
        -------
        Estimate
            An end is infinite where that order statistic belongs to a refit without a peak or asymptote.
        """
        checks.level(alpha)
        checks.one_of(method, METHODS, "interval method")
        plain, back = self._forms(quantity, load)
        draws = plain(self.coefficients)
        value = float(plain(self.fit.coefficients[None, :])[0])
        tails = np.array([alpha / 2, 1 - alpha / 2])
        notes: list[str] = []
        if method == "bca":
            left = np.mean(draws < value) + np.mean(draws == value) / 2
            bias = float(special.ndtri(np.clip(left, 1 / len(draws), 1 - 1 / len(draws))))
            acceleration = self._acceleration(plain, notes)
            z = bias + special.ndtri(tails)
            tails = special.ndtr(bias + z / (1 - acceleration * z))
        # Order statistics: between a finite and an infinite value there is nothing to interpolate.
        low, high = (float(v) for v in np.quantile(draws, tails, method="inverted_cdf"))
        without = float(np.mean(draws <= 0))
        if quantity in ENDLESS and without > 0:
            notes.append(f"{100 * without:.1f} % of the refits have no finite {quantity.replace('_', ' ')}")
        if self.failed:
            notes.append(f"{self.failed} refits did not converge and are left out")
        name = "bootstrap" if method == "percentile" else "bootstrap BCa"
        return Estimate(value, low, high, 1 - alpha, name, tuple(notes)).map(back)

    def _forms(self, quantity: str, load: float | None) -> tuple[Callable[[Array], Array], Callable[[float], float]]:
        plain, back = QUANTITIES[checks.one_of(quantity, tuple(QUANTITIES), "quantity")]
        if quantity == "efficiency" and (load is None or not (math.isfinite(load) and load >= 1)):
            raise ModelError("efficiency needs a load", expected="a finite number of at least 1", found=repr(load))
        if quantity == "peak_load" and self.fit.kind != "usl":
            raise ModelError(f"{self.fit.kind} scaling has no peak", remedy='fit kind="usl"')
        if quantity in ("peak_throughput", "asymptote") and self.fit.kind == "linear":
            raise ModelError(f"linear scaling has no {quantity.replace('_', ' ')}", remedy='fit kind="usl"')
        return lambda theta: plain(theta, 1.0 if load is None else load), back

    def _acceleration(self, plain: Callable[[Array], Array], notes: list[str]) -> float:
        """Sixth of the skewness of the estimates with one row left out each."""
        fit = self.fit
        weights = fit.weights * (1 - np.eye(fit.nobs))
        y = np.broadcast_to(fit.y, weights.shape)
        theta, converged = refit_many(
            fit.kind, fit.x, y, noise=fit.noise, weights=weights, bounded=fit.bounded, tolerance=1e-5
        )
        if not _determined(fit, weights).all() or not converged.all():
            notes.append("leaving one row out does not determine the curve: no acceleration")
            return 0.0
        gap = plain(theta)
        gap = gap.mean() - gap
        power = float(np.sum(gap**2))
        return float(np.sum(gap**3)) / (6 * power**1.5) if power > 0 else 0.0


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
    kind : {"parametric", "residual", "case"}
        Noise around the curve, normal or (proportional) Gamma, whose scale is itself drawn, as rss over a chi-squared number, so that a fit
        of few points does not pretend to know it; residuals drawn with replacement, each divided by ``sqrt(1 - h)`` for
        its leverage h; or whole rows drawn with replacement (unequal variances are allowed; draws with too few distinct
        loads are repeated).

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
        y = fit.draw(fit.rss / rng.chisquare(fit.df_resid, (replicates, 1)), rng)
    elif kind == "residual":
        size = fit.fittedvalues if fit.noise == "proportional" else 1.0
        drawn = fit.fittedvalues + size * rng.choice(_residuals(fit), (replicates, fit.nobs)) / np.sqrt(fit.weights)
        y = np.maximum(drawn, 1e-9 * fit.fittedvalues) if fit.noise == "proportional" else drawn
    else:
        weights = fit.weights * _rows(fit, replicates, rng)
    theta, converged = refit_many(fit.kind, fit.x, y, noise=fit.noise, weights=weights, bounded=fit.bounded)
    if converged.mean() < 0.9:
        raise ModelError("too many refits did not converge", remedy="fit a smaller curve or measure more loads")
    return BootstrapResult(fit, kind, seed, theta[converged], int(np.sum(~converged)))


def _residuals(fit: USLResult) -> Array:
    """Weighted (Pearson) residuals over ``sqrt(1 - leverage)``, around their mean."""
    mean = fit.fittedvalues
    size = mean if fit.noise == "proportional" else np.ones_like(mean)
    root = np.sqrt(fit.weights) / size
    used = fit.b != 0
    tangent = np.linalg.qr((root * mean**2)[:, None] * columns(fit.x)[:, used])[0]
    spare = np.maximum(1 - np.einsum("ij,ij->i", tangent, tangent), 1e-9)
    scaled = root * fit.resid / np.sqrt(spare)
    return np.asarray(scaled - scaled.mean())


def _rows(fit: USLResult, replicates: int, rng: np.random.Generator) -> Array:
    """How often each row is drawn, shape (B, n)."""
    counts = np.zeros((replicates, fit.nobs))
    missing = np.ones(replicates, dtype=bool)
    while missing.any():
        counts[missing] = rng.multinomial(fit.nobs, np.full(fit.nobs, 1 / fit.nobs), int(missing.sum()))
        missing = ~_determined(fit, counts)
    return counts


def _determined(fit: USLResult, weights: Array) -> np.ndarray:
    """Whether rows of positive weight have as many distinct loads as there are parameters, shape (B,)."""
    levels = fit.x[:, None] == np.unique(fit.x)
    return np.sum((weights > 0) @ levels > 0, axis=1) >= len(fit.params)
