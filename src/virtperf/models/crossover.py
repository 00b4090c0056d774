"""Where two fitted curves meet: below it one system is better, above it the other."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from virtperf.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.linear import LineResult
from virtperf.models.ratio import fieller, welch_df
from virtperf.models.result import Estimate, inverse_gram, t_interval
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
    domain: tuple[float, float] | None = None,
    alpha: float = 0.05,
    n_boot: int = 499,
    seed: int = 20,
) -> Crossover:
    """Find the load at which two scalability curves cross.

    ``X1(N) = X2(N)`` is a quadratic equation in N. The interval is a parametric bootstrap percentile interval: both
    curves are refitted to normal noise around them. The noise variance is itself drawn, as rss over a chi-squared
    number, so that a fit of few points does not pretend to know it.

    Parameters
    ----------
    first, second : USLResult
        Independent fits, of any kind.
    domain : (low, high), optional
        Default: the range of both fits' loads.
    alpha : float
    n_boot, seed : int

    Returns
    -------
    Crossover
        "not identified" if more than alpha of the refits contradict the fitted curves on whether there is a crossing.
    """
    low, high = _domain(first.x, second.x, domain)
    for fit in (first, second):
        if fit.df_resid < 1:
            raise ModelError("a curve through as many points as parameters has no error", remedy="measure more loads")
    roots = _roots(first.coefficients, second.coefficients, low, high)
    rng = np.random.default_rng(seed)
    draws = np.array([_redraw(first, second, rng, low, high, roots) for _ in range(n_boot)])
    crossed = np.isfinite(draws)
    share = float(np.mean(crossed))
    if len(roots) == 0:
        return Crossover(NONE if share <= alpha else UNKNOWN, None, (low, high))
    notes: list[str] = []
    if len(roots) > 1:
        notes.append(f"the curves also cross at {', '.join(f'{r:.6g}' for r in roots[1:])}")
    if 1 - share > alpha:
        notes.append(f"{100 * (1 - share):.0f} % of the refitted curves do not cross in the domain")
        return Crossover(
            UNKNOWN,
            Estimate(float(roots[0]), -math.inf, math.inf, 1 - alpha, "bootstrap", tuple(notes)),
            (low, high),
        )
    ends = np.quantile(draws[crossed], [alpha / 2, 1 - alpha / 2])
    found = Estimate(float(roots[0]), float(ends[0]), float(ends[1]), 1 - alpha, "bootstrap", tuple(notes))
    return Crossover(CROSSING, found, (low, high))


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


def _roots(first: Array, second: Array, low: float, high: float) -> Array:
    """Return the loads in [low, high] at which two curves (alpha, beta, gamma) have the same throughput."""
    (a1, b1, g1), (a2, b2, g2) = first, second
    # X(N) = gamma N / (1 - alpha + (alpha - beta) N + beta N**2): the factor N cancels.
    square = g1 * b2 - g2 * b1
    linear = g1 * (a2 - b2) - g2 * (a1 - b1)
    constant = g1 * (1 - a2) - g2 * (1 - a1)
    found = np.roots([square, linear, constant])
    real = np.array(sorted(r.real for r in found if abs(r.imag) <= 1e-9 * (1 + abs(r.real))), dtype=np.float64)
    return real[(real >= low) & (real <= high)]


def _redraw(
    first: USLResult, second: USLResult, rng: np.random.Generator, low: float, high: float, roots: Array
) -> float:
    """Return the crossing of refitted curves that is nearest to the first one found, or NaN without one."""
    theta = []
    for fit in (first, second):
        sd = np.sqrt(fit.rss / rng.chisquare(fit.df_resid) / fit.weights)
        try:
            theta.append(fit.coefficients_of(fit.refit(fit.fittedvalues + sd * rng.standard_normal(fit.nobs))))
        except ModelError:
            return math.nan
    again = _roots(theta[0], theta[1], low, high)
    if len(again) == 0:
        return math.nan
    return float(again[np.argmin(np.abs(again - roots[0]))]) if len(roots) else float(again[0])
