"""Profile-likelihood intervals: the values c of a quantity at which the best fit subject to
``row(c) @ b == target(c)`` is not significantly worse than the global optimum.
References
----------
Bates, D. M., Watts, D. G. (1988). Nonlinear Regression Analysis and Its Applications. Section 6.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from virtperf.models.checks import Array

MAX_DOUBLINGS = 40
"""Doublings of the distance from the optimum after which a limit is infinite."""
EXCESS_CAP = 1e6  # finite stand-in for infinity in root brackets

Excess = Callable[[Array, Array], Array]
"""``(c, k) -> sqrt((deviance(c) - deviance) / scale)`` for the quantities of index k, both of shape
(m,)."""


@dataclass(frozen=True)
class ProfileConstraint:
    """A quantity c of a curve as a linear constraint on its coefficients b: ``over @ b = c``, or
    ``over @ b = c (under @ b)``.

    Parameters
    ----------
    over, under : tuple of float, length p
    value : float
        Value of c for the fitted curve.
    domain : tuple of float
        Smallest and largest c allowed by the model.
    transform : callable
        From c to the reported quantity; monotone.
    """

    over: tuple[float, ...]
    value: float
    under: tuple[float, ...] | None = None
    domain: tuple[float, float] = (0.0, math.inf)
    transform: Callable[[float], float] = float

    def row(self, c: Array) -> Array:
        """Coefficients of b at values c of shape (m,), shape (m, p)."""
        fixed = np.tile(np.array(self.over, dtype=float), (len(c), 1))
        return fixed if self.under is None else fixed - np.outer(c, self.under)

    def target(self, c: Array) -> Array:
        """Right-hand side at values c, shape (m,)."""
        return c if self.under is None else np.zeros_like(c)

    def se(self, b: Array, covariance: Array) -> float:
        """Standard error of c from that of b, by implicit differentiation."""
        row = self.row(np.array([self.value]))[0]
        slope = 1.0 if self.under is None else abs(float(np.array(self.under) @ b))
        return math.sqrt(max(float(row @ covariance @ row), 0.0)) / slope if slope else math.nan


def inverse_of(value: float) -> float:
    """Reciprocal of a nonnegative value; infinite for zero."""
    return 1 / value if value > 0 else math.inf


def limits(
    excess: Excess,
    value: Array,
    se: Array,
    domain: tuple[Array, Array],
    quantile: float,
    tolerance: float = 1e-11,
) -> tuple[Array, Array]:
    """Return the ends of ``{c : excess(c) <= quantile}`` around the optimum for each of m
    quantities.

    The signed root of the deviance excess is nearly linear in c; it is bracketed by doubling steps
    outwards, and solved within the bracket.

    Parameters
    ----------
    excess : callable
        See `Excess`; vectorized over the quantities.
    value : ndarray, shape (m,)
        c at the optimum.
    se : ndarray, shape (m,)
        Initial scale of the search, in units of c (NaN if there is none).
    domain : pair of ndarray, shape (m,)
        Smallest and largest c allowed by the model.
    quantile : float
        Two-sided t quantile (its square is the F(1, df) quantile).
    tolerance : float
        Relative tolerance of the ends.

    Returns
    -------
    low, high : ndarray, shape (m,)
        The end of the domain (possibly infinite) where it is reached first.
    """
    from scipy.optimize import elementwise  # most commands need no root

    m = len(value)
    sign = np.repeat([-1.0, 1.0], m)
    start, end, which = np.tile(value, 2), np.concatenate(domain), np.tile(np.arange(m), 2)

    def gap(c: Array, k: Any) -> Array:
        return (
            np.minimum(
                np.nan_to_num(excess(c, which[k]), nan=EXCESS_CAP, posinf=EXCESS_CAP), EXCESS_CAP
            )
            - quantile
        )

    step = np.where(np.isfinite(se) & (se > 0), se, np.maximum(np.abs(value), 1e-3))
    # A standard error can be far too large near an end of the domain; then start half-way to it.
    width = np.minimum(
        2 * np.tile(step, 2), np.where(np.isinf(end), np.inf, np.abs(end - start) / 2)
    )
    inner, outer = start.copy(), start.copy()
    limits = np.where(start == end, end, sign * np.inf)
    bracketed = np.zeros(2 * m, dtype=bool)
    live = np.flatnonzero(start != end)
    for _ in range(MAX_DOUBLINGS):
        if not len(live):
            break
        outer[live] = start[live] + sign[live] * width[live]
        crossed = live[sign[live] * (outer[live] - end[live]) >= 0]
        outer[crossed] = end[crossed]
        here = gap(outer[live], live)
        bracketed[live[here > 0]] = True
        rest = live[here <= 0]
        at_end = outer[rest] == end[rest]
        limits[rest[at_end]] = end[rest[at_end]]
        rest = rest[~at_end]
        inner[rest], width[rest] = outer[rest], 2 * width[rest]
        live = rest
    k = np.flatnonzero(bracketed)
    if len(k):
        ends = np.sort(np.array([inner[k], outer[k]]), axis=0)
        solved = elementwise.find_root(
            gap,
            (ends[0], ends[1]),
            args=(k,),
            tolerances={
                "xatol": 1e-14 * float(np.min(width[k])),
                "xrtol": tolerance,
                "fatol": 10 * tolerance,
                "frtol": 0.0,
            },
        )
        limits[k] = solved.x
    return limits[:m], limits[m:]
