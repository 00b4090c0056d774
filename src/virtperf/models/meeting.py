"""Two scalability curves that meet at a load: their joint likelihood profiled in that load, and their bootstrap."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from virtperf.models.batched import refit_many
from virtperf.models.checks import Array
from virtperf.models.nls import Curve, NLSResult, best_fit
from virtperf.models.profile import Path
from virtperf.models.usl_law import GRADIENTS, LawResult, full

SMALLEST = 1e-300


def meetings(first: Array, second: Array) -> Array:
    """Return the loads at which pairs of curves have the same throughput.

    ``X(N) = gamma N / (1 - alpha + (alpha - beta) N + beta N**2)``: the factor N cancels, and a quadratic equation is
    left.

    Parameters
    ----------
    first, second : ndarray, shape (B, 3)
        (alpha, beta, gamma).

    Returns
    -------
    ndarray, shape (B, 2)
        In rising order; NaN for roots that are not real, not positive, or not there, at the end.
    """
    (a1, b1, g1), (a2, b2, g2) = first.T, second.T
    square = g1 * b2 - g2 * b1
    linear = g1 * (a2 - b2) - g2 * (a1 - b1)
    constant = g1 * (1 - a2) - g2 * (1 - a1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        under = linear * linear - 4 * square * constant
        # A pair that only touches has a discriminant of zero, which rounding may make negative.
        under = np.where(np.abs(under) <= 1e-14 * linear * linear, 0.0, under)
        big = -(linear + np.copysign(np.sqrt(under), linear)) / 2
        roots = np.column_stack((big / square, constant / big))
        return np.sort(np.where(np.isfinite(roots) & (roots > 0), roots, np.nan), axis=1)


class Pair:
    """Two independent fits with one residual variance, as one fit of all rows.

    Parameters
    ----------
    first, second : LawResult
    """

    def __init__(self, first: LawResult, second: LawResult) -> None:
        self.parts = (first, second)
        self.sizes = (len(first.params), len(second.params))
        lower, upper = (np.concatenate([f.curve.bounds[k] for f in self.parts]) for k in (0, 1))
        names = tuple(f"{name}{k}" for k, f in enumerate(self.parts, 1) for name in f.param_names)
        curve = Curve(f"{first.model}; {second.model}", names, self._value, self._jacobian, tuple(lower), tuple(upper))
        x, y, w = (np.concatenate([getattr(f, name) for f in self.parts]) for name in ("x", "y", "weights"))
        start = np.concatenate([f.params for f in self.parts])
        self.fit: NLSResult = best_fit(NLSResult, curve, x, y, w, [start])

    def path(self, load: float) -> Path:
        """Return the path of pairs that meet at c, from the fitted pair, which meets at `load`.

        The second curve's gamma is ``gamma1 d2(c) / d1(c)`` with the laws' denominators d, and every other coefficient
        is free.
        """
        first, second = self.parts
        phi = self.fit.params[:-1]
        lower, upper = self.fit.curve.bounds
        box = lower[:-1], upper[:-1]

        def embed(c: float, phi: Array) -> tuple[Array, Array]:
            theta = np.append(phi, 1.0)
            top = full(first.kind, theta[: self.sizes[0]])
            low = full(second.kind, theta[self.sizes[0] :])
            d1, d2 = (max(1 + (c - 1) * (t[0] + t[1] * c), SMALLEST) for t in (top, low))
            theta[-1] = top[2] * d2 / d1
            by_first = np.array([-theta[-1] / d1 * (c - 1), -theta[-1] / d1 * (c - 1) * c, d2 / d1])
            by_second = np.array([top[2] / d1 * (c - 1), top[2] / d1 * (c - 1) * c, 0.0])
            last = np.concatenate((_own(first, by_first), _own(second, by_second)))[:-1]
            return theta, np.vstack((np.eye(len(phi)), last))

        return Path(embed, phi, lambda c: box, load, self._se(load), (0.0, math.inf))

    def rss_at(self, load: float) -> float:
        """Return the joint residual sum of squares of the best pair that meets at `load`."""
        path = self.path(load)
        return self.fit.along(path, load, path.phi).rss

    def _se(self, load: float) -> float:
        """Delta-method standard error of the meeting point, coefficients on a bound being held there."""
        at = np.array([load])
        slopes, steepness = [], []
        for f in self.parts:
            x, ahead = (float(f.curve.value(place, f.params)[0]) for place in (at, at * (1 + 1e-6)))
            slopes.append(f.curve.jacobian(at, f.params)[0] / x)
            steepness.append(math.log(ahead / x) / (1e-6 * load))
        slope = np.concatenate((slopes[0], -slopes[1]))
        covariance = np.where(np.isnan(self.fit.covariance), 0.0, self.fit.covariance)
        apart = abs(steepness[0] - steepness[1])
        variance = float(slope @ covariance @ slope)
        return math.sqrt(variance) / apart if apart > 0 and variance >= 0 else math.nan

    def _split(self, theta: Array) -> tuple[Array, Array]:
        return theta[: self.sizes[0]], theta[self.sizes[0] :]

    def _value(self, x: Array, theta: Array) -> Array:
        return np.concatenate([f.curve.value(f.x, own) for f, own in zip(self.parts, self._split(theta), strict=True)])

    def _jacobian(self, x: Array, theta: Array) -> Array:
        blocks = [GRADIENTS[f.kind](f.x, own) for f, own in zip(self.parts, self._split(theta), strict=True)]
        joint = np.zeros((len(x), len(theta)))
        joint[: len(blocks[0]), : self.sizes[0]] = blocks[0]
        joint[len(blocks[0]) :, self.sizes[0] :] = blocks[1]
        return joint


def _own(fit: LawResult, of_all: Array) -> Array:
    """The elements of (alpha, beta, gamma) that a kind has."""
    return of_all[[("alpha", "beta", "gamma").index(name) for name in fit.param_names]]


def draw_pairs(fits: Sequence[LawResult], replicates: int, seed: int, *, pooled: bool) -> tuple[Array, Array]:
    """Return (alpha, beta, gamma) of refits to normal noise around both curves, each of shape (B, 3).

    The noise variance is itself drawn, as rss over a chi-squared number, so that fits of few points do not pretend to
    know it: one variance for both curves if `pooled`. A refit that does not converge is NaN.
    """
    rng = np.random.default_rng(seed)
    if pooled:
        variance = sum(f.rss for f in fits) / rng.chisquare(sum(f.df_resid for f in fits), (replicates, 1))
        variances = [variance for _ in fits]
    else:
        variances = [f.rss / rng.chisquare(f.df_resid, (replicates, 1)) for f in fits]
    found = []
    for fit, variance in zip(fits, variances, strict=True):
        y = fit.fittedvalues + np.sqrt(variance / fit.weights) * rng.standard_normal((replicates, fit.nobs))
        bounded = bool(np.all(np.isfinite(fit.curve.bounds[0])))
        refits = refit_many(fit.kind, fit.x, y, fit.coefficients, weights=fit.weights, bounded=bounded)
        found.append(np.where(refits.converged[:, None], refits.coefficients, np.nan))
    return found[0], found[1]
