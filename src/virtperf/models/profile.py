"""Profile-likelihood intervals: the values c of a quantity for which the best fit with
``row(c) @ b == target(c)`` is not significantly worse than the best fit of all.

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
from scipy.optimize import elementwise

from virtperf.models.checks import Array

MAX_DOUBLINGS = 60
EXCESS_CAP = 1e6  # stands for "infinitely worse" where a root is bracketed

Excess = Callable[[Array, Array], Array]
"""``(c, k) -> sqrt((deviance(c) - deviance) / scale)`` of the quantities of index k, both of shape
(m,).
"""


@dataclass(frozen=True)
class ProfileConstraint:
    """A quantity of a curve as a linear constraint on its coefficients, ``row(c) @ b = target(c)``.

    Parameters
    ----------
    row, target : callable
        c of shape (m,) to ndarray of shape (m, p), or (m,).
    value : float
        c of the fitted curve.
    domain : tuple of float
        Smallest and largest c that the model allows.
    transform : callable
        From c to the quantity that is reported; monotone.
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
        """``row @ b = c``."""
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
        """``row @ b = c * of @ b``."""
        fixed, times = np.array(row, dtype=float), np.array(of, dtype=float)
        return cls(lambda c: fixed - np.outer(c, times), np.zeros_like, value, domain, transform)


def inverse_of(value: float) -> float:
    """One over a value of zero or more."""
    return 1 / value if value > 0 else math.inf


def limits(
    excess: Excess,
    value: Array,
    se: Array,
    domain: tuple[Array, Array],
    quantile: float,
    tolerance: float = 1e-11,
) -> tuple[Array, Array]:
    """Return the ends of ``{c : excess(c) <= quantile}`` around the optimum of each of m
    quantities.

    The signed root is nearly linear in c; it is followed outwards in doubled steps, and solved
    between two of them.

    Parameters
    ----------
    excess : callable
        See `Excess`; the quantities are handled together.
    value : ndarray, shape (m,)
        c at the optimum.
    se : ndarray, shape (m,)
        A first guess of the width, in units of c (NaN if there is none).
    domain : pair of ndarray, shape (m,)
        Smallest and largest c that the model allows.
    quantile : float
        Two-sided t quantile (its square is the F(1, df) quantile).
    tolerance : float
        Relative, of the ends.

    Returns
    -------
    low, high : ndarray, shape (m,)
        The end of the domain (possibly infinite) where it is reached first.
    """
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
    # A standard error can be absurdly wide beside a near end of the domain; the search then starts
    # half-way.
    width = np.minimum(
        2 * np.tile(step, 2), np.where(np.isinf(end), np.inf, np.abs(end - start) / 2)
    )
    inner, outer = start.copy(), start.copy()
    found = np.where(start == end, end, sign * np.inf)
    bracketed = np.zeros(2 * m, dtype=bool)
    live = np.flatnonzero(start != end)
    rises: list[Array] = []
    last = np.full(2 * m, -quantile)  # at the optimum the signed root is zero by definition
    for _ in range(MAX_DOUBLINGS):
        if not len(live):
            break
        outer[live] = start[live] + sign[live] * width[live]
        beyond = live[sign[live] * (outer[live] - end[live]) >= 0]
        outer[beyond] = end[beyond]
        here = gap(outer[live], live)
        rise = np.zeros(2 * m)
        rise[live], last[live] = here - last[live], here
        rises.append(rise)
        bracketed[live[here > 0]] = True
        rest = live[here <= 0]
        at_end = outer[rest] == end[rest]
        found[rest[at_end]] = end[rest[at_end]]
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
        found[k] = solved.x
    return found[:m], found[m:]


def _flat(rise: Array, missing: Array) -> Array:
    """Tell whether the signed root, whose rises over successive doublings shrink, will never rise
    by `missing`.

    A root that tends to a finite value c like 1/c halves its rise with each doubling; all later
    rises together then equal the last one, and four times that is taken as the most that they can
    bring.
    """
    shrinking = np.all(rise[1:] <= 0.75 * rise[:-1] + 1e-9, axis=0)
    return np.asarray(shrinking & (4 * rise[-1] < missing))
