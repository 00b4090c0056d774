"""Profile-likelihood limits: where the best fit with a given value of a quantity becomes too bad."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy import optimize

from virtperf.models.checks import Array

MAX_DOUBLINGS = 60


@dataclass(frozen=True, eq=False)
class Path:
    """The parameter vectors that give a quantity the value c: a surface with coordinates phi.

    Parameters
    ----------
    embed : callable
        ``(c, phi) -> (params, d params / d phi)``, of shapes (p,) and (p, q).
    phi : ndarray, shape (q,)
        Coordinates of the optimum.
    bounds : callable
        ``c -> (lower, upper)`` of phi.
    value : float
        c at the optimum.
    se : float
        Standard error of c by the delta method, a first guess of the width (NaN if there is none).
    domain : tuple of float
        Smallest and largest c that the model allows.
    """

    embed: Callable[[float, Array], tuple[Array, Array]]
    phi: Array
    bounds: Callable[[float], tuple[Array, Array]]
    value: float
    se: float
    domain: tuple[float, float]


def limits(
    rss_at: Callable[[float], float],
    path: Path,
    *,
    rss: float,
    scale: float,
    quantile: float,
) -> tuple[float, float]:
    """Return the ends of ``{c : rss_at(c) <= rss + quantile**2 * scale}`` around the optimum.

    The root is sought on the signed root ``sqrt((rss_at(c) - rss) / scale)``, which is nearly linear in c.

    Parameters
    ----------
    rss_at : callable
        Residual sum of squares profiled at c.
    path : Path
        Gives the optimum, a guess of the width and the domain.
    rss, scale : float
        Residual sum of squares and residual variance at the optimum.
    quantile : float
        Two-sided t quantile (its square is the F(1, df) quantile).

    Returns
    -------
    low, high : float
        The end of the domain (possibly infinite) where it is reached first.
    """
    if math.isinf(quantile) or math.isnan(scale):
        return path.domain
    if scale <= 0:
        return path.value, path.value

    def excess(c: float) -> float:
        return math.sqrt(max(rss_at(c) - rss, 0.0) / scale) - quantile

    return _limit(excess, quantile, path, -1, path.domain[0]), _limit(excess, quantile, path, 1, path.domain[1])


def _limit(excess: Callable[[float], float], quantile: float, path: Path, sign: int, end: float) -> float:
    if path.value == end:
        return end
    step = path.se if math.isfinite(path.se) and path.se > 0 else max(abs(path.value), 1e-3)
    # A standard error can be absurdly wide beside a near end of the domain; the search then starts half-way.
    width = 2 * step if math.isinf(end) else min(2 * step, abs(end - path.value) / 2)
    tolerance = 1e-10 * width
    # At the optimum the signed root is zero by definition.
    known = {path.value: -quantile}

    def once(c: float) -> float:
        if c not in known:
            known[c] = excess(c)
        return known[c]

    inner = path.value
    rise: list[float] = []
    for _ in range(MAX_DOUBLINGS):
        outer = path.value + sign * width
        if sign * (outer - end) >= 0:
            outer = end
        if once(outer) > 0:
            return float(optimize.brentq(once, *sorted((inner, outer)), xtol=tolerance, rtol=1e-12))
        if outer == end:
            return end
        rise.append(once(outer) - once(inner))
        if math.isinf(end) and _flat(rise, -once(outer)):
            break
        inner, width = outer, width * 2
    return math.copysign(math.inf, sign)


def _flat(rise: list[float], missing: float) -> bool:
    """Tell whether the signed root, whose rises over successive doublings shrink, will never rise by `missing`.

    A root that tends to a finite value c like 1/c halves its rise with each doubling; all later rises together then
    equal the last one, and four times that is taken as the most that they can bring.
    """
    if len(rise) < 8:
        return False
    shrinking = all(late <= 0.75 * early + 1e-9 for early, late in itertools.pairwise(rise[-4:]))
    return shrinking and 4 * rise[-1] < missing
