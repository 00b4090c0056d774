"""Where two fitted curves meet: below it one system is better, above it the other."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from virtperf.core.errors import ModelError
from virtperf.core.mean import satterthwaite
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.linear import LineResult
from virtperf.models.ratio import fieller
from virtperf.models.result import Estimate, inverse_gram, t_interval

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
    low, high = common_domain(first.x, second.x, domain)
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
        df = satterthwaite([float(at @ part @ at) for part in parts], (first.df_resid, second.df_resid))
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


def common_domain(a: Array, b: Array, domain: tuple[float, float] | None) -> tuple[float, float]:
    """The range in which a crossing is sought: as given, or the range of both fits' x."""
    if domain is None:
        return float(min(a.min(), b.min())), float(max(a.max(), b.max()))
    if not domain[0] < domain[1]:
        raise ModelError("the domain is empty", expected="low < high", found=f"{domain[0]!r}, {domain[1]!r}")
    return float(domain[0]), float(domain[1])


def _unscaled(fit: LineResult) -> Array:
    """Return ``inv(X'WX)``, which a line through two points has too."""
    design = np.column_stack((np.ones(fit.nobs), fit.x))
    return inverse_gram(design * np.sqrt(fit.weights)[:, None])[0]
