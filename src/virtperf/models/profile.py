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
from numpy.typing import ArrayLike

from virtperf.models.checks import Array

MAX_DOUBLINGS = 60
EXCESS_CAP = 1e6  # finite stand-in for infinity in root brackets

Excess = Callable[[Array, Array], Array]
"""``(c, k) -> sqrt((deviance(c) - deviance) / scale)`` for the quantities of index k, both of shape
(m,)."""


@dataclass(frozen=True)
class ProfileConstraint:
    """A quantity of a curve as a linear constraint on its coefficients, ``row(c) @ b = target(c)``.

    Parameters
    ----------
    row, target : callable
        c of shape (m,) to ndarray of shape (m, p), or (m,).
    value : float
        Value of c for the fitted curve.
    domain : tuple of float
        Smallest and largest c allowed by the model.
    transform : callable
        From c to the reported quantity; monotone.
    """

    row: Callable[[Array], Array]
    target: Callable[[Array], Array]
    value: float
    domain: tuple[float, float] = (0.0, math.inf)
    transform: Callable[[float], float] = float

    @classmethod
    def linear(
        cls, row: ArrayLike, value: float, transform: Callable[[float], float] = float
    ) -> ProfileConstraint:
        """Constraint ``row @ b = c``."""
        fixed = np.array(row, dtype=float)
        return cls(lambda c: np.tile(fixed, (len(c), 1)), lambda c: c, value, transform=transform)

    @classmethod
    def quotient(
        cls,
        row: ArrayLike,
        of: ArrayLike,
        value: float,
        domain: tuple[float, float] = (0.0, math.inf),
        transform: Callable[[float], float] = float,
    ) -> ProfileConstraint:
        """Constraint ``row @ b = c * of @ b``."""
        fixed, times = np.array(row, dtype=float), np.array(of, dtype=float)
        return cls(lambda c: fixed - np.outer(c, times), np.zeros_like, value, domain, transform)


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
    rises: list[Array] = []
    last = np.full(2 * m, -quantile)  # the signed root is zero at the optimum
    for _ in range(MAX_DOUBLINGS):
        if not len(live):
            break
        outer[live] = start[live] + sign[live] * width[live]
        crossed = live[sign[live] * (outer[live] - end[live]) >= 0]
        outer[crossed] = end[crossed]
        here = gap(outer[live], live)
        rise = np.zeros(2 * m)
        rise[live], last[live] = here - last[live], here
        rises.append(rise)
        bracketed[live[here > 0]] = True
        rest = live[here <= 0]
        at_end = outer[rest] == end[rest]
        limits[rest[at_end]] = end[rest[at_end]]
        rest = rest[~at_end]
        if len(rises) >= 8:
            rest = rest[~(np.isinf(end[rest]) & _flat(np.array(rises[-4:])[:, rest], -last[rest]))]
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


def _flat(rise: Array, missing: Array) -> Array:
    """Whether the signed root has a finite asymptote below the quantile: its increments over
    successive doublings shrink too fast to sum to `missing`.

    A root that approaches its limit like 1/c halves its increment with each doubling; all later
    increments then sum to the last one, and four times that is taken as an upper bound.
    """
    shrinking = np.all(rise[1:] <= 0.75 * rise[:-1] + 1e-9, axis=0)
    return np.asarray(shrinking & (4 * rise[-1] < missing))
