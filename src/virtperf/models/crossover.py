"""Where two fitted curves meet: below it one system is better, above it the other."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.linear import LineResult
from virtperf.models.meeting import Pair, draw_pairs, meetings
from virtperf.models.ratio import fieller, welch_df
from virtperf.models.result import Estimate, inverse_gram, t_interval, t_quantile
from virtperf.models.usl import USLResult

CROSSING = "crossing"
NONE = "no crossing"
UNKNOWN = "not identified"


@dataclass(frozen=True)
class Crossover:
    """Where two curves meet.

    Parameters
    ----------
    status : {"crossing", "no crossing", "not identified"}
        A meeting point inside the domain; none there at the stated level; or the data do not tell.
    estimate : Estimate or None
        The meeting point in units of x; None if the fitted curves do not meet.
    domain : tuple of float
        Range of x in which a crossing was sought.
    """

    status: str
    estimate: Estimate | None
    domain: tuple[float, float]


def line_crossover(
    first: LineResult,
    second: LineResult,
    *,
    method: str = "fieller",
    pooled: bool = True,
    domain: tuple[float, float] | None = None,
    alpha: float = 0.05,
) -> Crossover:
    """Find where two straight lines cross, ``x0 = -(a2 - a1) / (b2 - b1)``.

    Parameters
    ----------
    first, second : LineResult
        Independent fits.
    method : {"fieller", "delta"}
        Fieller's interval knows slopes that can't be told apart; the delta method does not.
    pooled : bool
        One residual variance for both lines; otherwise Satterthwaite's degrees of freedom. Fits with a robust
        covariance are never pooled.
    domain : (low, high), optional
        Default: the range of both fits' x.
    alpha : float

    Returns
    -------
    Crossover
        "not identified" if the interval is unbounded, or reaches into the domain from a point outside it; "no
        crossing" if it lies outside.
    """
    checks.one_of(method, ("fieller", "delta"), "interval method")
    low, high = _domain(first.x, second.x, domain)
    pooled = pooled and first.cov_type == second.cov_type == "nonrobust"
    if min(first.df_resid, second.df_resid) < 1 and not (pooled and first.df_resid + second.df_resid > 0):
        raise ModelError("a line through two points has no error", remedy="measure at a third x or replicate")
    gap = second.params - first.params
    if gap[1] == 0:
        return Crossover(UNKNOWN if gap[0] == 0 else NONE, None, (low, high))
    if pooled:
        df: float = first.df_resid + second.df_resid
        scale = (first.rss + second.rss) / df
        parts = [_unscaled(fit) * scale for fit in (first, second)]
    else:
        parts = [first.covariance, second.covariance]
        at = np.array([1.0, -gap[0] / gap[1]])
        df = welch_df(
            (float(at @ parts[0] @ at), float(at @ parts[1] @ at)), (float(first.df_resid), float(second.df_resid))
        )
    v = parts[0] + parts[1]
    if method == "fieller":
        found = fieller(-float(gap[0]), float(gap[1]), float(v[0, 0]), float(v[1, 1]), -float(v[0, 1]), df, alpha)
    else:
        x0 = -float(gap[0] / gap[1])
        slope = np.array([1.0, x0]) / gap[1]
        found = t_interval(x0, math.sqrt(slope @ v @ slope), df, alpha, "delta")
    if math.isinf(found.low) or math.isinf(found.high):
        status = UNKNOWN
    elif found.high < low or found.low > high:
        status = NONE
    else:
        status = CROSSING if low <= found.value <= high else UNKNOWN
    return Crossover(status, found, (low, high))


def usl_crossover(
    first: USLResult,
    second: USLResult,
    *,
    method: str = "profile",
    pooled: bool = True,
    domain: tuple[float, float] | None = None,
    alpha: float = 0.05,
    n_boot: int = 1999,
    seed: int = 20,
) -> Crossover:
    """Find the load at which two scalability curves cross.

    ``X1(N) = X2(N)`` is a quadratic equation in N.

    Parameters
    ----------
    first, second : USLResult
        Independent fits, of any kind.
    method : {"profile", "bootstrap"}
        "profile": the loads c at which the best pair of curves that meet at c has a joint residual sum of squares of at
        most ``RSS + s**2 F(1 - alpha; 1, df)``. "bootstrap": percentiles of the crossings of `n_boot` refitted pairs
        (`meeting.draw_pairs`), which also allows a residual variance for each curve.
    pooled : bool
        One residual variance for both curves; with False, only "bootstrap".
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
        raise ModelError("a joint profile has one residual variance", remedy='use method="bootstrap" or pool')
    low, high = _domain(first.x, second.x, domain)
    if min(first.df_resid, second.df_resid) < 1 and not (pooled and first.df_resid + second.df_resid > 0):
        raise ModelError("a curve through as many points as parameters has no error", remedy="measure more loads")
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
        limit = pair.fit.rss + t_quantile(pair.fit.df_resid, alpha) ** 2 * pair.fit.scale
        loads = np.unique(np.clip(np.append(pair.fit.x, domain), *domain))
        possible = any(pair.rss_at(float(c)) <= limit for c in loads)
        return Crossover(UNKNOWN if possible else NONE, None, domain)
    found = pair.fit.profile(pair.path(float(roots[0])), alpha, "the crossing")
    found = replace(found, warnings=(*found.warnings, *notes))
    limited = found.low > 0 and math.isfinite(found.high)
    return Crossover(CROSSING if limited else UNKNOWN, found, domain)


def _domain(a: Array, b: Array, domain: tuple[float, float] | None) -> tuple[float, float]:
    if domain is None:
        return float(min(a.min(), b.min())), float(max(a.max(), b.max()))
    if not domain[0] < domain[1]:
        raise ModelError("the domain is empty", expected="low < high", found=f"{domain[0]!r}, {domain[1]!r}")
    return float(domain[0]), float(domain[1])


def _unscaled(fit: LineResult) -> Array:
    """Return ``inv(X'WX)``, which a line through two points has too."""
    design = np.column_stack((np.ones(fit.nobs), fit.x))
    return inverse_gram(design * np.sqrt(fit.weights)[:, None])[0]
