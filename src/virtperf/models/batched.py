"""Scalability curves fitted to many data sets at once: bounded Levenberg-Marquardt on arrays instead of a loop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from virtperf.models.checks import Array
from virtperf.models.usl_law import PLACES, curve

ITERATIONS = 200
TOLERANCE = 1e-7
"""Relative offset at which a fit stops; it leaves 1e-14 of the sum of squares, and 1e-7 standard errors."""


@dataclass(frozen=True, eq=False)
class Refits:
    """Fits of one curve to B data sets.

    Parameters
    ----------
    coefficients : ndarray, shape (B, 3)
        (alpha, beta, gamma), zero where the kind has no such coefficient.
    rss : ndarray, shape (B,)
        Weighted residual sums of squares.
    converged : ndarray of bool, shape (B,)
    """

    coefficients: Array
    rss: Array
    converged: NDArray[np.bool_]


def refit_many(
    kind: str,
    load: Array,
    y: Array,
    start: Array,
    *,
    weights: Array | None = None,
    bounded: bool = True,
    tolerance: float = TOLERANCE,
) -> Refits:
    """Fit a scalability curve to each row of `y` by (weighted) least squares.

    The steps are those of `levenberg.minimise`, taken by all data sets together: a coefficient on its bound is left out
    while the gradient pushes it outwards, and a fit stops at a relative offset of `tolerance`. Three things differ. The
    normal equations are solved instead of a singular value decomposition (the gradient decides where a fit stops, so
    they cost steps, not digits). A step is undamped until one fails. There is one start, so of two optima (which
    wild resamples can have) it may find the nearer one.

    Parameters
    ----------
    kind : {"usl", "amdahl", "linear"}
    load : ndarray, shape (n,)
        Positive.
    y : ndarray, shape (B, n)
        Throughputs.
    start : ndarray, shape (3,) or (B, 3)
        (alpha, beta, gamma) to begin with: one's own fit, for resamples of it.
    weights : ndarray, shape (n,) or (B, n), optional
        Zero leaves a row out.
    bounded : bool
        As in `fit_usl`.
    """
    lower, upper = _box(kind, bounded)
    size = len(y)
    theta = np.clip(np.broadcast_to(start, (size, 3)).T, lower, upper)
    root = np.ones((len(load), 1)) if weights is None else np.sqrt(np.atleast_2d(weights)).T
    root = np.broadcast_to(root, (len(load), size))
    found = np.empty((3, size))
    rss, converged = np.empty(size), np.zeros(size, dtype=bool)
    place = np.arange(size)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        batch = _Batch(load, root, root * y.T, theta, lower, upper)
        for _ in range(ITERATIONS):
            done = batch.offset() <= tolerance
            if done.any():
                found[:, place[done]], rss[place[done]] = batch.theta[:, done], batch.rss[done]
                converged[place[done]] = True
                place = place[~done]
                batch = batch.part(~done)
            if not len(place):
                break
            batch.step()
        found[:, place], rss[place] = batch.theta, batch.rss
    return Refits(found.T, rss, converged)


def _box(kind: str, bounded: bool) -> tuple[Array, Array]:
    """Bounds of (alpha, beta, gamma), shape (3, 1); both are zero for a coefficient that the kind lacks."""
    lower, upper = np.zeros((3, 1)), np.zeros((3, 1))
    lower[list(PLACES[kind]), 0], upper[list(PLACES[kind]), 0] = curve(kind, bounded).bounds
    return lower, upper


class _Batch:
    """Data sets that have not converged yet, in columns: shapes (n, B), (3, B) and (B,)."""

    def __init__(self, load: Array, root: Array, y: Array, theta: Array, lower: Array, upper: Array) -> None:
        self.load, self.root, self.y, self.theta, self.lower, self.upper = load, root, y, theta, lower, upper
        self.damping = np.zeros(theta.shape[1])
        self.rss, self.gradient, self.gram = self._normal(theta, root, y)

    def part(self, kept: NDArray[np.bool_]) -> _Batch:
        """The data sets that are `kept`."""
        other = object.__new__(_Batch)
        other.load, other.lower, other.upper = self.load, self.lower, self.upper
        for name in ("root", "y", "theta", "damping", "rss", "gradient", "gram"):
            setattr(other, name, getattr(self, name)[..., kept])
        return other

    def _normal(self, theta: Array, root: Array, y: Array) -> tuple[Array, Array, Array]:
        """Sum of squares, gradient (3, B) and J'J as (6, B): its elements aa, ab, ag, bb, bg, gg."""
        alpha, beta, gamma = theta
        load = self.load[:, None]
        more = load - 1
        below = 1 + more * (alpha + beta * load)
        by_gamma = root * load / below
        resid = gamma * by_gamma - y
        by_alpha = -gamma * by_gamma * (more / below)
        by_beta = by_alpha * load
        columns = (by_alpha, by_beta, by_gamma)
        rss = _dot(resid, resid)
        rss = np.where((below.min(axis=0) > 0) & np.isfinite(rss), rss, np.inf)
        gram = [_dot(columns[i], columns[j]) for i in range(3) for j in range(i, 3)]
        return rss, np.array([_dot(c, resid) for c in columns]), np.array(gram)

    def _move(self, damping: Array) -> tuple[Array, Array]:
        """The damped Gauss-Newton step, shape (3, B), and the sum of squares that it takes off the linear model."""
        aa, ab, ag, bb, bg, gg = self.gram
        held = ((self.theta <= self.lower) & (self.gradient >= 0)) | ((self.theta >= self.upper) & (self.gradient <= 0))
        free = ~held & (np.array([aa, bb, gg]) > 0)
        # Columns of length one; a coefficient that is held becomes an equation of its own with the solution zero.
        scale = np.where(free, 1 / np.sqrt(np.array([aa, bb, gg])), 0.0)
        ra, rb, rg = scale
        ga, gb, gg = self.gradient * scale
        ab, ag, bg = ab * ra * rb, ag * ra * rg, bg * rb * rg
        # Cholesky's decomposition of [[d, ab, ag], [ab, d, bg], [ag, bg, d]] with d = 1 + damping.
        d = 1 + damping
        l11 = np.sqrt(d)
        l21, l31 = ab / l11, ag / l11
        l22 = np.sqrt(np.maximum(d - l21 * l21, 1e-14))
        l32 = (bg - l31 * l21) / l22
        l33 = np.sqrt(np.maximum(d - l31 * l31 - l32 * l32, 1e-14))
        z1 = ga / l11
        z2 = (gb - l21 * z1) / l22
        z3 = (gg - l31 * z1 - l32 * z2) / l33
        w3 = z3 / l33
        w2 = (z2 - l32 * w3) / l22
        w1 = (z1 - l21 * w2 - l31 * w3) / l11
        return -scale * np.array([w1, w2, w3]), z1 * z1 + z2 * z2 + z3 * z3

    def offset(self) -> Array:
        """Relative offset: the residual's projection on the tangent plane over its length, 0 for an exact fit."""
        size = np.einsum("ij,ij->j", self.y, self.y)
        gain = self._move(np.zeros_like(self.damping))[1]
        return np.where(self.rss <= 1e-28 * size, 0.0, np.sqrt(gain / self.rss))

    def step(self) -> None:
        """One step of every data set; one that makes the fit worse is undone and the next is damped more."""
        new = np.clip(self.theta + self._move(self.damping)[0], self.lower, self.upper)
        rss, gradient, gram = self._normal(new, self.root, self.y)
        # At the optimum rounding decides between two sums of squares: no reason to refuse a step.
        better = rss <= self.rss * (1 + 1e-13)
        self.theta = np.where(better, new, self.theta)
        self.rss = np.where(better, rss, self.rss)
        self.gradient = np.where(better, gradient, self.gradient)
        self.gram = np.where(better, gram, self.gram)
        milder = np.where(self.damping > 1e-6, self.damping / 10, 0.0)
        self.damping = np.where(better, milder, np.maximum(10 * self.damping, 1e-4))


def _dot(a: Array, b: Array) -> Array:
    return np.einsum("ij,ij->j", a, b)
