"""Profile intervals of slopes and values of a two-piece line, with the breakpoint free."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from virtperf.models.checks import Array

POINTS = 240  # breakpoints that the data allow, among which the best one is sought: limits are exact to a thousandth

Design = Callable[[Array, float], Array]
"""``(x, psi) -> columns``: the linear part of the model, shape (n, p), given the breakpoint."""


@dataclass(frozen=True, eq=False)
class Places:
    """Least squares at each of G breakpoints that the data allow.

    Given the breakpoint, a value ``row @ b`` has the sum of squares ``RSS + (value - row @ best)**2 / (row V row)``;
    the profile is the least of these over all breakpoints, and the accepted values are a union of intervals.

    Parameters
    ----------
    psi, rss : ndarray, shape (G,)
    best : ndarray, shape (G, p)
        Linear parameters.
    inverse : ndarray, shape (G, p, p)
        V, the inverse of X'WX.
    """

    psi: Array
    rss: Array
    best: Array
    inverse: Array

    @classmethod
    def of(cls, design: Design, x: Array, y: Array, weights: Array, low: float, high: float, also: Array) -> Places:
        """Prepare breakpoints between `low` and `high`, and those of `also` that lie there."""
        psi = np.unique(np.concatenate((np.linspace(low, high, POINTS), also[(also >= low) & (also <= high)])))
        root = np.sqrt(weights)
        columns = np.array([root[:, None] * design(x, float(p)) for p in psi])
        q, r = np.linalg.qr(columns)
        with np.errstate(all="ignore"):
            known = np.abs(np.einsum("gii->gi", r)).min(axis=1) > 1e-12 * np.abs(r).max(axis=(1, 2))
        psi, q, r = psi[known], q[known], r[known]
        inverse = np.linalg.inv(r)
        turned = np.einsum("gni,n->gi", q, root * y)
        rest = root * y - np.einsum("gni,gi->gn", q, turned)
        best = np.einsum("gij,gj->gi", inverse, turned)
        return cls(psi, np.einsum("gn,gn->g", rest, rest), best, inverse @ np.swapaxes(inverse, 1, 2))

    def interval(self, rows: Array, threshold: float) -> tuple[Array, Array]:
        """Ends of the values whose profiled sum of squares is at most `threshold`.

        Parameters
        ----------
        rows : ndarray, shape (G, m, p)
            ``row @ b`` is the value, for each breakpoint and each of m quantities.
        threshold : float

        Returns
        -------
        low, high : ndarray, shape (m,)
        """
        allowed = self.rss <= threshold
        rows, best, inverse = rows[allowed], self.best[allowed], self.inverse[allowed]
        centre = np.einsum("gmp,gp->gm", rows, best)
        variance = np.einsum("gmp,gpq,gmq->gm", rows, inverse, rows)
        half = np.sqrt((threshold - self.rss[allowed])[:, None] * variance)
        return np.min(centre - half, axis=0), np.max(centre + half, axis=0)

    def least(self, rows: Array, values: Array) -> Array:
        """Smallest sum of squares with ``rows @ b == values``, shape (m,); rows as in `interval`, values (m,)."""
        gap = np.einsum("gmp,gp->gm", rows, self.best) - values
        variance = np.einsum("gmp,gpq,gmq->gm", rows, self.inverse, rows)
        with np.errstate(all="ignore"):
            found = self.rss[:, None] + np.where(gap == 0, 0.0, gap**2 / variance)
        return np.asarray(np.min(np.where(np.isnan(found), math.inf, found), axis=0))
