"""A two-piece line whose breakpoint is given, a linear model: its forms, and least squares at many
breakpoints.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from virtperf.models.breakpoint_search import Kinks
from virtperf.models.checks import Array

POINTS = 240  # breakpoints that the data allow, among which the best one is sought: limits are exact to a thousandth


@dataclass(frozen=True)
class Form:
    """A form of a two-piece line.

    Parameters
    ----------
    names : tuple of str
        Parameters, the breakpoint last.
    turn : tuple of tuple of float
        Matrix from the coefficients of `design` to the parameters before the breakpoint.
    sign : {1, -1}
        Direction of the hinge: a rise to a plateau is a decline from it, seen in -x.
    """

    names: tuple[str, ...]
    formula: str
    turn: tuple[tuple[float, ...], ...]
    sign: int = 1


FORMS: Mapping[str, Form] = {
    "free": Form(
        ("intercept", "slope1", "slope2", "breakpoint"),
        "y = intercept + slope1 x + (slope2 - slope1) max(x - breakpoint, 0)",
        ((1, 0, 0), (0, 1, 0), (0, 1, 1)),
    ),
    "plateau-decline": Form(
        ("plateau", "slope2", "breakpoint"),
        "y = plateau + slope2 max(x - breakpoint, 0)",
        ((1, 0), (0, 1)),
    ),
    "rise-plateau": Form(
        ("plateau", "slope1", "breakpoint"),
        "y = plateau - slope1 max(breakpoint - x, 0)",
        ((1, 0), (0, -1)),
        -1,
    ),
}


def search(x: Array, y: Array, weights: Array, form: str) -> Kinks:
    """Return the search of the breakpoint, on the axis ``sign * x``."""
    return Kinks.of(FORMS[form].sign * x, y, weights, sloped=form == "free")


def design(form: str, x: Array, psi: float | Array) -> Array:
    """Return the columns of the model given the breakpoint, shape (n, p)."""
    straight = (np.ones(len(x)), x) if form == "free" else (np.ones(len(x)),)
    return np.column_stack((*straight, np.maximum(FORMS[form].sign * (x - psi), 0)))


def curve(form: str, x: Array, params: Array) -> tuple[Array, Array]:
    """Return the values at x and their derivatives in the parameters, shapes (n,) and (n, p +
    1).
    """
    back = np.linalg.inv(FORMS[form].turn)
    columns, b = design(form, x, params[-1]), back @ params[:-1]
    by_break = -FORMS[form].sign * b[-1] * (columns[:, -1] > 0)
    return np.sum(columns * b, axis=1), np.column_stack((columns @ back, by_break))


@dataclass(frozen=True, eq=False)
class Places:
    """Least squares at each of G breakpoints that the data allow.

    Given the breakpoint, a value ``row @ b`` has the sum of squares ``RSS + (value - row @ best)**2
    / (row V row)``; the profile is the least of these over all breakpoints, and the accepted values
    are a union of intervals.

    Parameters
    ----------
    psi, rss : ndarray, shape (G,)
    best : ndarray, shape (G, p)
        Coefficients of `design`.
    inverse : ndarray, shape (G, p, p)
        V, the inverse of X'WX.
    """

    psi: Array
    rss: Array
    best: Array
    inverse: Array

    @classmethod
    def of(
        cls, form: str, x: Array, y: Array, weights: Array, low: float, high: float, also: Array
    ) -> Places:
        """Prepare breakpoints between `low` and `high`, and those of `also` that lie there."""
        psi = np.unique(
            np.concatenate((np.linspace(low, high, POINTS), also[(also >= low) & (also <= high)]))
        )
        root = np.sqrt(weights)
        columns = np.array([root[:, None] * design(form, x, float(p)) for p in psi])
        q, r = np.linalg.qr(columns)
        with np.errstate(all="ignore"):
            known = np.abs(np.einsum("gii->gi", r)).min(axis=1) > 1e-12 * np.abs(r).max(axis=(1, 2))
        psi, q, r = psi[known], q[known], r[known]
        inverse = np.linalg.inv(r)
        turned = np.einsum("gni,n->gi", q, root * y)
        rest = root * y - np.einsum("gni,gi->gn", q, turned)
        best = np.einsum("gij,gj->gi", inverse, turned)
        return cls(
            psi, np.einsum("gn,gn->g", rest, rest), best, inverse @ np.swapaxes(inverse, 1, 2)
        )

    def interval(self, rows: Array, threshold: float) -> tuple[Array, Array]:
        """Ends of the m values ``row @ b``, shape (m,), whose profiled sum of squares is at most
        `threshold`.

        `rows` has the shape (G, m, p): the row of each value at each breakpoint.
        """
        allowed = self.rss <= threshold
        rows, best, inverse = rows[allowed], self.best[allowed], self.inverse[allowed]
        centre = np.einsum("gmp,gp->gm", rows, best)
        variance = np.einsum("gmp,gpq,gmq->gm", rows, inverse, rows)
        half = np.sqrt((threshold - self.rss[allowed])[:, None] * variance)
        return np.min(centre - half, axis=0), np.max(centre + half, axis=0)

    def least(self, rows: Array) -> Array:
        """Smallest sum of squares with ``row @ b == 0``, shape (m,); rows as in `interval`."""
        gap = np.einsum("gmp,gp->gm", rows, self.best)
        variance = np.einsum("gmp,gpq,gmq->gm", rows, self.inverse, rows)
        with np.errstate(all="ignore"):
            found = self.rss[:, None] + np.where(gap == 0, 0.0, gap**2 / variance)
        return np.asarray(np.min(np.where(np.isnan(found), math.inf, found), axis=0))
