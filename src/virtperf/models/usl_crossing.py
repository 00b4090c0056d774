"""Where two scalability curves cross: their joint likelihood profiled in the load at which they meet, or a bootstrap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.crossover import CROSSING, NONE, UNKNOWN, Crossover, common_domain
from virtperf.models.irls import solve
from virtperf.models.profile import limits
from virtperf.models.result import Estimate, t_quantile
from virtperf.models.usl import USLResult
from virtperf.models.usl_law import columns, mean_of, refit_many


def usl_crossover(
    first: USLResult, second: USLResult, *, method: str = "profile", pooled: bool = True,
    domain: tuple[float, float] | None = None, alpha: float = 0.05, n_boot: int = 1999, seed: int = 20,
) -> Crossover:  # fmt: skip
    """Find the load at which two scalability curves cross.

    ``X1(N) = X2(N)`` is a quadratic equation in N.

    Parameters
    ----------
    first, second : USLResult
        Independent fits, of any kind, with the same kind of noise.
    method : {"profile", "bootstrap"}
        "profile": the loads c at which the best pair of curves that meet at c has a joint deviance of at most
        ``D + scale F(1 - alpha; 1, df)``. "bootstrap": percentiles of the crossings of `n_boot` refitted pairs
        (`draw_pairs`), which also allows a scale for each curve.
    pooled : bool
        One scale for both curves; with False, only "bootstrap".
    domain : (low, high), optional
        Default: the range of both fits' loads.
    alpha : float
    n_boot, seed : int
        For the bootstrap.

    Returns
    -------
    Crossover
        The smallest crossing in the domain. "not identified" if its interval reaches zero or infinity, or, for the
        bootstrap, if more than alpha of the refits contradict the fitted curves on whether there is a crossing.
    """
    checks.one_of(method, ("profile", "bootstrap"), "interval method")
    if method == "profile" and not pooled:
        raise ModelError("a joint profile has one residual variance", remedy="use the bootstrap, or pool the curves")
    low, high = common_domain(first.x, second.x, domain)
    if min(first.df_resid, second.df_resid) < 1 and not (pooled and first.df_resid + second.df_resid > 0):
        raise ModelError("a curve through as many points as parameters has no error", remedy="measure more loads")
    if first.noise != second.noise:
        raise ModelError("the two curves were fitted with different kinds of noise", remedy="fit both with one kind")
    roots = meetings(first.coefficients[None, :], second.coefficients[None, :])[0]
    roots = roots[(roots >= low) & (roots <= high)]
    notes = (f"the curves also cross at {roots[1]:.6g}",) if len(roots) > 1 else ()
    if method == "profile":
        return _profiled(Pair(first, second), roots, (low, high), alpha, notes)
    draws = meetings(*draw_pairs((first, second), n_boot, seed, pooled=pooled))
    draws = np.where((draws >= low) & (draws <= high), draws, np.nan)
    share = float(np.mean(np.isfinite(draws).any(axis=1)))
    if len(roots) == 0:
        return Crossover(NONE if share <= alpha else UNKNOWN, None, (low, high))
    value = float(roots[0])
    if 1 - share > alpha:
        notes = (*notes, f"{100 * (1 - share):.0f} % of the refitted curves do not cross in the domain")
        return Crossover(UNKNOWN, Estimate(value, -math.inf, math.inf, 1 - alpha, "bootstrap", notes), (low, high))
    # Of two crossings of a refitted pair, the one nearest to the fitted curves' own.
    gaps = np.where(np.isfinite(draws), np.abs(draws - value), np.inf)
    nearest = np.take_along_axis(draws, np.argmin(gaps, axis=1)[:, None], axis=1)
    ends = np.quantile(nearest[np.isfinite(nearest)], [alpha / 2, 1 - alpha / 2])
    found = Estimate(value, float(ends[0]), float(ends[1]), 1 - alpha, "bootstrap", notes)
    return Crossover(CROSSING, found, (low, high))


def _profiled(pair: Pair, roots: Array, domain: tuple[float, float], alpha: float, notes: tuple[str, ...]) -> Crossover:
    if len(roots) == 0:
        # No crossing is certain if a pair that meets at any of the loads fits too badly.
        loads = np.unique(np.clip(np.append(pair.loads, domain), *domain))
        possible = bool(np.any(pair.excess(loads) <= t_quantile(pair.df_resid, alpha)))
        return Crossover(UNKNOWN if possible else NONE, None, domain)
    found = pair.crossing(float(roots[0]), alpha)
    found = replace(found, warnings=(*found.warnings, *notes))
    limited = found.low > 0 and math.isfinite(found.high)
    return Crossover(CROSSING if limited else UNKNOWN, found, domain)


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
    """Two independent fits with one scale, as one fit of all rows whose curves can be made to meet at a load.

    In the linear form of the law, that two curves meet at c is ``columns(c) @ (b1 - b2) = 0``.

    Parameters
    ----------
    first, second : USLResult
    """

    def __init__(self, first: USLResult, second: USLResult) -> None:
        self.parts = (first, second)
        self.loads = np.concatenate([f.x for f in self.parts])
        self.df_resid = first.df_resid + second.df_resid
        self.scale = (first.rss + second.rss) / self.df_resid if self.df_resid > 0 else math.nan
        self.deviance = first.deviance + second.deviance
        design = np.zeros((len(self.loads), 6))
        design[: first.nobs, :3], design[first.nobs :, 3:] = columns(first.x), columns(second.x)
        self._design = design
        self._y, self._weights = (
            np.concatenate([getattr(f, k) for f in self.parts])[None, :] for k in ("y", "weights")
        )
        self._free = np.concatenate([f.free() for f in self.parts])

    def excess(self, load: Array) -> Array:
        """Signed root of how much worse the best pair is that meets at each load, shape (m,)."""
        row = np.column_stack((np.ones(len(load)), load, load * (load - 1)))  # N columns(N): finite at 0
        shape = (len(load), len(self.loads))
        found = solve(
            mean_of(self.parts[0].noise), self._design, np.broadcast_to(self._y, shape),
            np.broadcast_to(self._weights, shape), free=self._free, bounded=all(f.bounded for f in self.parts),
            row=np.hstack((row, -row)), target=np.zeros(len(load)), tolerance=1e-6,
        )  # fmt: skip
        with np.errstate(divide="ignore"):
            return np.sqrt(np.maximum(found.deviance - self.deviance, 0.0) / self.scale)

    def crossing(self, load: float, alpha: float) -> Estimate:
        """The profile interval of the load at which the fitted curves meet."""
        at = np.array([load])
        se = np.array([self._se(load)])
        low, high = limits(
            lambda c, k: self.excess(c), at, se, (np.zeros(1), np.full(1, math.inf)), t_quantile(self.df_resid, alpha)
        )
        return Estimate(load, float(low[0]), float(high[0]), 1 - alpha, "profile likelihood")

    def _se(self, load: float) -> float:
        """Standard error of the meeting point by the delta method."""
        row = columns(np.array([load]))[0]
        variance = float(sum(row @ f.cov_b @ row for f in self.parts))
        slope = np.array([-1 / load**2, 0.0, 1.0]) @ (self.parts[0].b - self.parts[1].b)
        return math.sqrt(variance) / abs(slope) if slope != 0 and variance >= 0 else math.nan


def draw_pairs(fits: Sequence[USLResult], replicates: int, seed: int, *, pooled: bool) -> tuple[Array, Array]:
    """Return (alpha, beta, gamma) of refits to noise around both curves, each of shape (B, 3).

    The scale is itself drawn, as its sum of squares over a chi-squared number, so that fits of few points do not
    pretend to know it: one scale for both curves if `pooled`. A refit that does not converge is NaN.
    """
    rng = np.random.default_rng(seed)
    if pooled:
        scale = sum(f.rss for f in fits) / rng.chisquare(sum(f.df_resid for f in fits), (replicates, 1))
        scales = [scale for _ in fits]
    else:
        scales = [f.rss / rng.chisquare(f.df_resid, (replicates, 1)) for f in fits]
    found = []
    for fit, scale in zip(fits, scales, strict=True):
        theta, converged = refit_many(
            fit.kind, fit.x, fit.draw(scale, rng), noise=fit.noise, weights=fit.weights, bounded=fit.bounded
        )
        found.append(np.where(converged[:, None], theta, np.nan))
    return found[0], found[1]
