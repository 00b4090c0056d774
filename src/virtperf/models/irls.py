"""Batched iteratively reweighted least squares with bounds and one linear equality constraint.

statsmodels fits one generalized linear model at a time, without bounds, without equality
constraints that change with each point of a profile, and without step halving at the edge of the
model's domain. Profile likelihoods and identified ranges need all four; the coefficients agree with
`statsmodels.GLM` to the last digits (tests).

References
----------
McCullagh, P., Nelder, J. A. (1989). Generalized Linear Models. Section 2.5.
Nocedal, J., Wright, S. J. (2006). Numerical Optimization. Sections 16.2 (equality constraints),
16.5 (active sets).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from virtperf.models.checks import Array

ITERATIONS, HALVINGS = 60, 30
NEGLIGIBLE_SHARE = 1e-12
"""Share of the largest term of eta below which a coefficient on a bound is rounding error."""
ROUNDING_SHARE = 1e-26  # relative to the data's size: smaller deviances are rounding error


@dataclass(frozen=True)
class Family:
    """A GLM family with inverse link: the mean is ``1 / eta``, the variance a power of the mean.

    Parameters
    ----------
    power : {0, 1, 2}
        Variance ``scale * mean**power / weight``: Gaussian, (quasi-)Poisson or Gamma.
    """

    power: int

    def deviance(self, y: Array, weights: Array, eta: Array) -> Array:
        """Deviance of each data set, shape (B,), for arrays (n, B); infinite if a mean is not
        positive.
        """
        with np.errstate(all="ignore"):
            if self.power == 0:
                gap = y - 1 / eta
                deviance = np.einsum("ij,ij->j", weights, gap * gap)
            elif self.power == 1:
                deviance = 2 * np.einsum(
                    "ij,ij->j", weights, special.xlogy(y, y * eta) - y + 1 / eta
                )
            else:
                more = y * eta - 1
                deviance = 2 * np.einsum("ij,ij->j", weights, more - np.log1p(more))
        bad = ~np.isfinite(deviance) | (eta.min(axis=0) <= 0)
        return np.where(bad, np.inf, deviance)

    def score(self, y: Array, weights: Array, eta: Array) -> tuple[Array, Array]:
        """Derivative and expected second derivative of half the deviance in eta, both (n, B)."""
        mu = 1 / eta
        square = mu * mu
        if self.power == 2:
            return weights * (y - mu), weights * square
        if self.power == 1:
            return weights * (y - mu) * mu, weights * (square * mu)
        return weights * (y - mu) * square, weights * (square * square)  # numpy's mu**4 is slow

    def size(self, y: Array, weights: Array) -> Array:
        """Magnitude of the data, the reference for rounding errors of a deviance, shape (B,)."""
        return np.einsum("ij,ij->j", weights, y ** (2 - self.power))


@dataclass(frozen=True, eq=False)
class Solution:
    """Optimal coefficients of each data set, shape (B, p), their deviance (infinite: no fit), and
    convergence.
    """

    b: Array
    deviance: Array
    converged: NDArray[np.bool_]


def solve(
    family: Family,
    design: Array,
    y: Array,
    weights: Array,
    *,
    free: NDArray[np.bool_],
    bounded: bool = True,
    row: Array | None = None,
    target: Array | None = None,
    tolerance: float = 1e-10,
) -> Solution:
    """Minimise the deviance of each data set, with ``row @ b == target`` and, if `bounded`, ``b >=
    0``.

    The optimum without bounds is tried first. If it has a negative coefficient, the active sets
    (faces with some coefficients at zero) are enumerated: the deviance is convex for the Gamma
    family, so the optimum under the bounds is on one of these faces.

    Parameters
    ----------
    design : ndarray, shape (n, p)
    y, weights : ndarray, shape (B, n)
    free : ndarray of bool, shape (p,)
        Coefficients of the model; the others are zero.
    row : ndarray, shape (B, p), optional
    target : ndarray, shape (B,)
    tolerance : float
        Relative offset convergence criterion (Bates and Watts 1981).
    """

    def face(used: NDArray[np.bool_], items: NDArray[np.intp]) -> Solution:
        limit = None if row is None or target is None else (row[items].T, target[items])
        return _newton(
            family, design, y[items].T, weights[items].T, used, limit, tolerance, bounded
        )

    first = face(free, np.arange(len(y)))
    if not bounded:
        return first
    b, deviance, converged = first.b.copy(), first.deviance.copy(), first.converged.copy()
    outside = np.flatnonzero(~_feasible(first))
    deviance[outside] = np.inf
    places = np.flatnonzero(free)
    for zeros in range(1, len(places)):
        for out in combinations(places, zeros):
            if not len(outside):
                break
            used = free.copy()
            used[list(out)] = False
            constrained = face(used, outside)
            better = _feasible(constrained) & (constrained.deviance < deviance[outside])
            improved = outside[better]
            b[improved], deviance[improved], converged[improved] = (
                constrained.b[better],
                constrained.deviance[better],
                constrained.converged[better],
            )
            slope = family.score(y[improved].T, weights[improved].T, design @ b[improved].T)[0]
            best = _kkt_satisfied(
                design, slope, used, free & ~used, None if row is None else row[improved].T
            )
            outside = np.setdiff1d(outside, improved[best], assume_unique=True)
    reach = b * np.abs(design).max(axis=0)
    b[(reach <= NEGLIGIBLE_SHARE * reach.max(axis=1, keepdims=True)) & np.isfinite(b)] = 0.0
    return Solution(b, deviance, converged)


def _feasible(solution: Solution) -> NDArray[np.bool_]:
    # A constraint may require zero, which rounding makes slightly negative.
    slack = -1e-12 * np.abs(solution.b).max(axis=1, keepdims=True)
    return np.isfinite(solution.deviance) & np.all(solution.b >= slack, axis=1)


def _kkt_satisfied(
    design: Array, slope: Array, used: NDArray[np.bool_], zero: NDArray[np.bool_], row: Array | None
) -> NDArray[np.bool_]:
    """Check the KKT conditions: whether no zero coefficient lowers the deviance if made positive."""
    gradient, size = design.T @ slope, np.abs(design).T @ np.abs(slope)
    if row is not None:
        with np.errstate(all="ignore"):
            at = np.argmax(np.abs(row[used]) / size[used], axis=0)[None, :]
            price = np.take_along_axis(gradient[used], at, 0) / np.take_along_axis(row[used], at, 0)
            size, gradient = size + np.abs(price * row), gradient - price * row
    return np.asarray(np.all(gradient[zero] >= 1e-9 * size[zero], axis=0))


def _newton(
    family: Family,
    design: Array,
    y: Array,
    weights: Array,
    used: NDArray[np.bool_],
    limit: tuple[Array, Array] | None,
    tolerance: float,
    bounded: bool,
) -> Solution:
    """Fisher scoring from the least-squares line, with step halving; arrays (n, B), b as (q, B)."""
    size, z = y.shape[1], design[:, used]
    if limit is not None:
        limit = limit[0][used], limit[1]
    b = _start(family, z, y, weights, limit, bounded)
    deviance = family.deviance(y, weights, z @ b)
    negligible = ROUNDING_SHARE * family.size(y, weights)
    converged, active = np.zeros(size, dtype=bool), np.arange(size)
    with np.errstate(all="ignore"):
        for _ in range(ITERATIONS):
            here = b[:, active]
            slope, curvature = family.score(y[:, active], weights[:, active], z @ here)
            gradient = z.T @ slope
            at = None if limit is None else (limit[0][:, active], limit[1][active])
            step = _constrained_step(z, curvature, -gradient, at, here)
            gain = -np.einsum("ij,ij->j", step, gradient)
            small = gain <= tolerance**2 * deviance[active] + negligible[active]
            done = small | ~np.isfinite(gain) | ~np.isfinite(deviance[active])
            converged[active[done]] = True
            active, here, step = active[~done], here[:, ~done], step[:, ~done]
            tried = active
            for _ in range(HALVINGS):
                if not len(tried):
                    break
                new = here + step
                reached = family.deviance(y[:, tried], weights[:, tried], z @ new)
                fits = reached <= deviance[tried] * (1 + 1e-12)
                b[:, tried[fits]], deviance[tried[fits]] = new[:, fits], reached[fits]
                tried, here, step = tried[~fits], here[:, ~fits], step[:, ~fits] / 2
            # Where no step is short enough, the next one would be the same.
            active = np.setdiff1d(active, tried, assume_unique=True)
            if not len(active):
                break
    coefficients = np.zeros((size, len(used)))
    coefficients[:, used] = b.T
    return Solution(coefficients, deviance, converged)


def _start(
    family: Family,
    z: Array,
    y: Array,
    weights: Array,
    limit: tuple[Array, Array] | None,
    bounded: bool,
) -> Array:
    """Starting values: the (constrained) least-squares line of 1/y, or a positive feasible point
    where that has no finite deviance.
    """
    # A throughput of zero has no finite 1/y: use half of the smallest positive one.
    floor = np.where(y > 0, y, np.inf).min(axis=0) / 2
    aim = 1 / np.where(y > 0, y, floor)
    _, curvature = family.score(y, weights, aim)
    b = np.zeros((z.shape[1], y.shape[1]))
    with np.errstate(all="ignore"):
        b = _constrained_step(z, curvature, z.T @ (curvature * aim), limit, b)
    bad = ~np.isfinite(family.deviance(y, weights, z @ b))
    if bad.any() and bounded:
        b[:, bad] = _feasible_start(
            z, aim[:, bad], None if limit is None else (limit[0][:, bad], limit[1][bad])
        )
    return b


def _feasible_start(z: Array, aim: Array, limit: tuple[Array, Array] | None) -> Array:
    """Return a positive feasible b of the data's magnitude; NaN where there is none."""
    with np.errstate(all="ignore"):
        unit = np.array(
            [np.min(np.where(column > 0, aim.T / column, np.inf), axis=1) for column in z.T]
        ) / len(z.T)
    unit = np.where(np.isfinite(unit) & (unit > 0), unit, aim.mean(axis=0))
    if limit is None:
        return unit
    row, target = limit[0] * unit, limit[1]
    up, down = row > 0, row < 0
    with np.errstate(all="ignore"):
        share = np.where(
            up, 1 / row / up.sum(axis=0), np.where(down, -1 / row / down.sum(axis=0), np.nan)
        )
        together = up.any(axis=0) & down.any(axis=0)
        level = np.where(
            target == 0, np.where(together, 1 / np.nanmax(share, axis=0, initial=0), np.nan), target
        )
        moved = np.where(
            up, share * level, np.where(down, np.where(target == 0, share * level, 0.0), 1.0)
        )
    moved = np.where(up.any(axis=0), moved, np.nan)
    return moved * unit


def _constrained_step(
    z: Array, weights: Array, right: Array, limit: tuple[Array, Array] | None, b: Array
) -> Array:
    """Solve ``z' diag(weights) z @ step == right`` for each data set, on the constraint
    ``row @ (b + step) == target``.
    """
    q = z.shape[1]
    products = (z[:, :, None] * z[:, None, :]).reshape(len(z), -1)
    gram = (products.T @ weights).T.reshape(-1, q, q)
    scale = 1 / np.sqrt(np.maximum(np.einsum("bii->bi", gram), 1e-300))
    gram = gram * scale[:, :, None] * scale[:, None, :] + 1e-15 * np.eye(q)
    scale = scale.T
    if limit is None:
        return np.asarray(np.linalg.solve(gram, (right * scale).T[:, :, None])[:, :, 0].T * scale)
    row = limit[0] * scale
    solved = np.linalg.solve(gram, np.stack([(right * scale).T, row.T], axis=2))
    step, along = solved[:, :, 0].T, solved[:, :, 1].T
    missing = limit[1] - np.einsum("ij,ij->j", limit[0], b)
    share = (missing - np.einsum("ij,ij->j", row, step)) / np.einsum("ij,ij->j", row, along)
    return np.asarray((step + along * share) * scale)
