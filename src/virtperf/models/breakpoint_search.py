"""Global breakpoint search in two-piece lines: parametrizations, the residual sum of squares as a
piecewise closed-form function of the breakpoint, and least squares on a grid of breakpoints.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from virtperf.models.checks import Array

GRID_POINTS = 240
"""Grid size over the accepted breakpoints; limits are exact to a thousandth."""


@dataclass(frozen=True)
class TwoPieceForm:
    """Parametrization of a two-piece line.

    Parameters
    ----------
    names : tuple of str
        Parameters, the breakpoint last.
    turn : tuple of tuple of float
        Matrix from the coefficients of `design` to the parameters before the breakpoint.
    sign : {1, -1}
        Direction of the hinge: a rise to a plateau is a plateau with a decline in -x.
    """

    names: tuple[str, ...]
    formula: str
    turn: tuple[tuple[float, ...], ...]
    sign: int = 1


FORMS: Mapping[str, TwoPieceForm] = {
    "free": TwoPieceForm(
        ("intercept", "slope1", "slope2", "breakpoint"),
        "y = intercept + slope1 x + (slope2 - slope1) max(x - breakpoint, 0)",
        ((1, 0, 0), (0, 1, 0), (0, 1, 1)),
    ),
    "plateau-decline": TwoPieceForm(
        ("plateau", "slope2", "breakpoint"),
        "y = plateau + slope2 max(x - breakpoint, 0)",
        ((1, 0), (0, 1)),
    ),
    "rise-plateau": TwoPieceForm(
        ("plateau", "slope1", "breakpoint"),
        "y = plateau - slope1 max(breakpoint - x, 0)",
        ((1, 0), (0, -1)),
        -1,
    ),
}


def search(x: Array, y: Array, weights: Array, form: str) -> BreakpointSearch:
    """Return the breakpoint search, on the axis ``sign * x``."""
    return BreakpointSearch.of(FORMS[form].sign * x, y, weights, sloped=form == "free")


def design(form: str, x: Array, psi: float | Array) -> Array:
    """Return the design matrix given the breakpoint, shape (n, p)."""
    straight = (np.ones(len(x)), x) if form == "free" else (np.ones(len(x)),)
    return np.column_stack((*straight, np.maximum(FORMS[form].sign * (x - psi), 0)))


def curve(form: str, x: Array, params: Array) -> tuple[Array, Array]:
    """Return the curve at x and its Jacobian in the parameters, shapes (n,) and (n, p + 1)."""
    back = np.linalg.inv(FORMS[form].turn)
    columns, b = design(form, x, params[-1]), back @ params[:-1]
    by_break = -FORMS[form].sign * b[-1] * (columns[:, -1] > 0)
    return np.sum(columns * b, axis=1), np.column_stack((columns @ back, by_break))


@dataclass(frozen=True, eq=False)
class BreakpointSearch:
    """The model ``y = Z b + d max(x - psi, 0)`` for every psi, with Z a constant or a straight
    line.

    Between two adjacent distinct x, ``t_j <= psi <= t_{j+1}``, the hinge column is ``p - (psi -
    t_j) q`` with fixed vectors p and q, both orthogonalized against Z. The explained sum of squares
    ``(p'e - s q'e)**2 / (p'p - 2 s p'q + s**2 q'q)`` is maximised and solved for in closed form
    (Hudson 1966).

    Parameters
    ----------
    knots : ndarray, shape (k,)
        Distinct x in ascending order.
    first, last : int
        The breakpoint is searched between ``knots[first]`` and ``knots[last]``.
    p, q : ndarray, shape (k - 1, n)
        One row per gap, in weighted units.
    basis : ndarray, shape (n, 1 or 2)
        Orthonormal basis of Z.
    root : ndarray, shape (n,)
        Square roots of the weights.
    e : ndarray, shape (n,)
        Weighted residuals of y on Z.
    rank : ndarray of int, shape (n,)
        Rank of each row by x, so that simulations do not depend on the order of rows.
    """

    knots: Array
    first: int
    last: int
    p: Array
    q: Array
    basis: Array
    root: Array
    e: Array
    rank: NDArray[np.intp]

    @classmethod
    def of(cls, x: Array, y: Array, weights: Array, *, sloped: bool) -> BreakpointSearch:
        """Prepare the search; `sloped` adds a slope to the first piece."""
        knots = np.unique(x)
        root = np.sqrt(weights)
        # Each sloping piece needs two distinct x; a first piece without slope needs only one.
        first, last = (1 if sloped else 0), len(knots) - 2
        columns = [np.ones(len(x)), x - x.mean()] if sloped else [np.ones(len(x))]
        basis = np.linalg.qr(root[:, None] * np.column_stack(columns))[0]
        right = x[None, :] > knots[:-1, None]
        p = root * np.where(right, x[None, :] - knots[:-1, None], 0.0)
        q = root * right
        p, q, e = (_residual(values, basis) for values in (p, q, root * y))
        rank = np.argsort(np.lexsort((weights, x)))
        return cls(knots, first, last, p, q, basis, root, e, rank)

    def best(self) -> tuple[float, tuple[str, ...]]:
        """Return the least-squares breakpoint, and warnings about its position."""
        offset, explained = self.peaks(self.e[None, :])
        j = int(np.argmax(explained[0]))
        gap = self.first + j
        if offset[0, j] <= 0 or offset[0, j] >= self.knots[gap + 1] - self.knots[gap]:
            psi = float(self.knots[gap] + offset[0, j])
            if psi in (self.knots[self.first], self.knots[self.last]):
                return psi, ("the breakpoint is at the end of its search range",)
            return psi, ("the breakpoint is one of the x: delta intervals are unreliable there",)
        # The normal equations lose half of the digits; solve the best gap again by least squares.
        a, b = np.linalg.lstsq(np.column_stack((self.p[gap], self.q[gap])), self.e, rcond=None)[0]
        return float(self.knots[gap] - b / a), ()

    def limits(self, rss: float) -> tuple[float, float, tuple[str, ...]]:
        """Return the outermost breakpoints with a residual sum of squares of at most `rss`.

        A gap with a single distinct x outside does not identify the position: if its inner end is
        accepted, the whole gap is. If a curve without a kink inside the data is accepted, the limit
        is infinite.
        """
        need = float(self.e @ self.e) - rss
        if need <= 0:
            return -math.inf, math.inf, ("a curve without a break fits as well",)
        notes: list[str] = []
        places, counting = self.accepted(self.e[None, :], np.array([need]))
        points = np.unique(places[counting])
        if not len(points):
            return math.inf, -math.inf, ()
        low, high = float(points[0]), float(points[-1])
        between = (points[:-1] + points[1:]) / 2
        if np.any(self._explained_at(between) < need * (1 - 1e-9)):
            notes.append(
                "the confidence set of the breakpoint has gaps; its outer limits are given"
            )
        if high >= self.knots[self.last]:
            high = float(self.knots[-1])
            notes.append("the breakpoint is not identified between the last two x")
        if low <= self.knots[self.first]:
            if self.first == 0:
                low = -math.inf
                notes.append("a straight line without a plateau fits as well")
            else:
                low = float(self.knots[0])
                notes.append("the breakpoint is not identified between the first two x")
        return low, high, tuple(notes)

    def excess(self, psi: float, df: int, noise: Array | None = None) -> Array:
        """Return ``(RSS(psi) - RSS) / (RSS / df)``, the excess of the best kink at psi over the
        global optimum.

        Parameters
        ----------
        psi : float
            Clipped to the search range.
        df : int
            Residual degrees of freedom.
        noise : ndarray, shape (m, n), optional
            Standard normal numbers: return the statistics of m simulated data sets, shape (m,),
            around the best kink at psi, instead of the observed one, shape (1,).
        """
        column = self._columns(np.clip([psi], self.knots[self.first], self.knots[self.last]))[0]
        length = max(float(column @ column), np.finfo(float).tiny)
        e = self.e[None, :]
        if noise is not None:
            size = float(self.e @ column) / length
            sigma = math.sqrt(max(float(self.e @ self.e) - size * size * length, 0.0) / (df + 1))
            e = size * column + _residual(sigma * noise[:, self.rank], self.basis)
        at_psi = (e @ column) ** 2 / length
        best = np.maximum(self.peaks(e)[1].max(axis=1), at_psi)
        rss = np.einsum("ij,ij->i", e, e) - best
        with np.errstate(over="ignore"):
            return (best - at_psi) / np.maximum(rss, np.finfo(float).tiny) * df

    def accepted(self, e: Array, need: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Candidate ends of the sets where a kink explains `need` of the sum of squares, and a mask
        of the valid ones.

        Within a gap these are the s with ``(p'e - s q'e)**2 >= need |p - s q|**2``: its ends, and
        the two roots. For m residuals e, shape (m, n), both arrays have the shape (4, m, gaps).
        """
        p, q, length, (pp, pq, qq) = self._gaps()
        pe, qe, least = e @ p.T, e @ q.T, need[:, None]
        a, b, c = qe * qe - least * qq, pe * qe - least * pq, pe * pe - least * pp
        with np.errstate(divide="ignore", invalid="ignore"):
            # Numerically stable quadratic formula for a s**2 - 2 b s + c.
            big = b + np.copysign(np.sqrt(np.maximum(b * b - a * c, 0.0)), b)
            places = np.stack(
                (np.zeros_like(a), np.broadcast_to(length, a.shape), big / a, c / big)
            )
            counting = (places >= 0) & (places <= length)
            counting[:2] = (c >= 0, (a * length - 2 * b) * length + c >= 0)
            counting[2:] &= b * b >= a * c
        return self.knots[self.first : self.last] + places, counting

    def _gaps(self) -> tuple[Array, Array, Array, tuple[Array, Array, Array]]:
        """Return p, q and length of the searched gaps, and the products p'p, p'q, q'q."""
        gaps = slice(self.first, self.last)
        p, q = self.p[gaps], self.q[gaps]
        products = [np.einsum("ij,ij->i", u, v) for u, v in ((p, p), (p, q), (q, q))]
        return (
            p,
            q,
            np.diff(self.knots[self.first : self.last + 1]),
            (products[0], products[1], products[2]),
        )

    def peaks(self, e: Array) -> tuple[Array, Array]:
        """Return offset and explained sum of squares of the best kink per gap, for each row of e:
        (m, gaps).
        """
        p, q, length, (pp, pq, qq) = self._gaps()
        pe, qe = e @ p.T, e @ q.T
        alpha, beta = qq * pe - pq * qe, pp * qe - pq * pe
        det = pp * qq - pq * pq
        with np.errstate(divide="ignore", invalid="ignore"):
            offset = -beta / alpha
            best = np.where((offset > 0) & (offset < length), (alpha * pe + beta * qe) / det, -1.0)
            at_start = pe**2 / pp
            at_end = (pe - length * qe) ** 2 / (pp - 2 * length * pq + length**2 * qq)
        best, at_start, at_end = (
            np.nan_to_num(v, nan=-1.0, posinf=-1.0) for v in (best, at_start, at_end)
        )
        edge = np.where(at_start >= at_end, 0.0, length)
        inner = best >= np.maximum(at_start, at_end)
        return np.where(inner, offset, edge), np.where(inner, best, np.maximum(at_start, at_end))

    def _columns(self, psi: Array) -> Array:
        """Hinge columns orthogonalized against Z for each psi: shape (m, n)."""
        gap = np.clip(np.searchsorted(self.knots, psi, side="right") - 1, 0, len(self.knots) - 2)
        return self.p[gap] - (psi - self.knots[gap])[:, None] * self.q[gap]

    def _explained_at(self, psi: Array) -> Array:
        column = self._columns(psi)
        length = np.einsum("ij,ij->i", column, column)
        return (column @ self.e) ** 2 / np.where(length > 0, length, 1.0)


@dataclass(frozen=True, eq=False)
class BreakpointGrid:
    """Least squares fits on a grid of G accepted breakpoints.

    Given the breakpoint, a value ``row @ b`` has the sum of squares ``RSS + (value - row @ best)**2
    / (row V row)``; its profile is the minimum over all breakpoints, and the accepted values are a
    union of intervals.

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
    ) -> BreakpointGrid:
        """Build a grid between `low` and `high`, with the breakpoints of `also` in that range."""
        psi = np.unique(
            np.concatenate(
                (np.linspace(low, high, GRID_POINTS), also[(also >= low) & (also <= high)])
            )
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
        """Ends of the profile intervals of m values ``row @ b``, shape (m,): the sum of squares is
        at most `threshold`.

        `rows` has the shape (G, m, p): the row of each value at each breakpoint.
        """
        allowed = self.rss <= threshold
        rows, best, inverse = rows[allowed], self.best[allowed], self.inverse[allowed]
        centre = np.einsum("gmp,gp->gm", rows, best)
        variance = np.einsum("gmp,gpq,gmq->gm", rows, inverse, rows)
        half = np.sqrt((threshold - self.rss[allowed])[:, None] * variance)
        return np.min(centre - half, axis=0), np.max(centre + half, axis=0)


def _residual(y: Array, basis: Array) -> Array:
    return y - (y @ basis) @ basis.T
