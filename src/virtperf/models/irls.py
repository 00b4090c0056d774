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
HALVED = np.split(0.5 ** np.arange(1, HALVINGS + 1), [1, 2])
"""Lengths of a halved step, as shares of it, in the order in which they are tried."""
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
    return Solution(
        np.where(np.isfinite(deviance)[:, None], np.maximum(b, 0.0), b), deviance, converged
    )


def along(
    family: Family,
    y: Array,
    weights: Array,
    start: Array,
    direction: Array,
    most: Array,
    tolerance: float,
) -> Array:
    """Return the minimal deviance, to `tolerance`, on the line ``eta = start + a direction`` with
    ``0 <= a <= most``, shape (B,).

    Safeguarded Newton's method: steps stay within a bracket on which the slope changes sign.

    Parameters
    ----------
    y, weights : ndarray, shape (n, 1)
    start, most : ndarray, shape (B,)
    direction : ndarray, shape (n, B)
    """
    squared = direction * direction

    def slope(a: Array) -> tuple[Array, Array]:
        eta = start + a * direction
        score, curvature = family.score(y, weights, eta)
        total = np.einsum("ij,ij->j", score, direction)
        expected = np.einsum("ij,ij->j", curvature, squared)
        bend = expected
        if family.power < 2:
            bend = expected - (2 - family.power) * np.einsum("ij,ij->j", score / eta, squared)
        return np.where(eta.min(axis=0) > 0, total, np.inf), np.where(bend > 0, bend, expected)

    with np.errstate(all="ignore"):
        aim = 1 / np.where(y > 0, y, y[y > 0].min() / 2)
        _, curvature = family.score(y, weights, aim)
        curvature = curvature * direction
        a = (curvature * (aim - start)).sum(axis=0) / (curvature * direction).sum(axis=0)
        low, high = np.zeros_like(most), most.copy()
        falling = np.isfinite(most) & (slope(most)[0] <= 0)
        low[falling] = high[falling]
        rising = (start > 0) & (slope(low)[0] >= 0)  # at eta = 0 the deviance is infinite
        high[rising] = low[rising]
        for _ in range(ITERATIONS):
            half = np.where(np.isinf(high), 2 * a, (low + high) / 2)
            a = np.where((a >= low) & (a <= high), a, half)
            steep, bend = slope(a)
            step = -steep / bend
            if np.all(np.abs(step * steep)[low < high] <= tolerance):
                break
            low, high = np.where(steep < 0, a, low), np.where(steep > 0, a, high)
            a = a + step
        return family.deviance(y, weights, start + np.clip(a, low, high) * direction)


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
    solution = Solution(
        np.zeros((size, len(used))), np.full(size, np.inf), np.zeros(size, dtype=bool)
    )
    b = _start(family, z, y, weights, limit, bounded)
    place = np.arange(size)
    deviance = family.deviance(y, weights, z @ b)
    negligible = ROUNDING_SHARE * family.size(y, weights)

    def keep(rows: NDArray[np.bool_], converged: bool) -> None:
        at = place[rows]
        solution.b[np.ix_(at, used)], solution.deviance[at], solution.converged[at] = (
            b[:, rows].T,
            deviance[rows],
            converged,
        )

    stuck = np.zeros(size, dtype=bool)
    with np.errstate(all="ignore"):
        for _ in range(ITERATIONS):
            slope, curvature = family.score(y, weights, z @ b)
            gradient = z.T @ slope
            step = _solve_constrained(_gram(z, curvature), -gradient, limit, b)
            gain = -np.einsum("ij,ij->j", step, gradient)
            done = (
                ~np.isfinite(gain)
                | (gain <= tolerance**2 * deviance + negligible)
                | ~np.isfinite(deviance)
            )
            if done.any() or stuck.any():
                keep(stuck & ~done, False)
                keep(done, True)
                is_active = ~(done | stuck)
                if not is_active.any():
                    return solution
                y, weights, b, deviance, negligible, place = (
                    y[:, is_active],
                    weights[:, is_active],
                    b[:, is_active],
                    deviance[is_active],
                    negligible[is_active],
                    place[is_active],
                )
                step = step[:, is_active]
                limit = None if limit is None else (limit[0][:, is_active], limit[1][is_active])
            new = b + step
            reached = family.deviance(y, weights, z @ new)
            worse = ~(reached <= deviance * (1 + 1e-12))
            if worse.any():
                columns = np.flatnonzero(worse)
                new[:, columns], reached[columns], worse[columns] = _halved(
                    family,
                    (z, y[:, columns], weights[:, columns]),
                    b[:, columns],
                    step[:, columns],
                    deviance[columns] * (1 + 1e-12),
                )
            b, deviance = np.where(worse, b, new), np.where(worse, deviance, reached)
            stuck = worse  # the next step would be the same
    keep(np.ones(len(place), dtype=bool), False)
    return solution


def _halved(
    family: Family, data: tuple[Array, Array, Array], b: Array, step: Array, most: Array
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Halve each step until its deviance is at most `most`: the new b, its deviance, and whether no
    length was short enough.

    `data` are the design, the values and their weights. Most steps are halved once or twice, or in
    vain: then all further lengths are tried at once.
    """
    z, y, weights = data
    size = step.shape[1]
    new, reached, worse = b.copy(), np.full(size, np.inf), np.ones(size, dtype=bool)
    for lengths in HALVED:
        at = np.flatnonzero(worse)
        if not len(at):
            break
        tried = (b[:, at, None] + lengths * step[:, at, None]).reshape(len(b), -1)
        many = np.repeat(at, len(lengths))
        found = family.deviance(y[:, many], weights[:, many], z @ tried).reshape(len(at), -1)
        fits = found <= most[at, None]
        is_short = fits.any(axis=1)
        first = fits.argmax(axis=1)[is_short]
        rows = np.flatnonzero(is_short)
        new[:, at[rows]] = tried[:, rows * len(lengths) + first]
        reached[at[rows]] = found[rows, first]
        worse[at[rows]] = False
    return new, reached, worse


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
        b = _solve_constrained(_gram(z, curvature), z.T @ (curvature * aim), limit, b)
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


def _gram(z: Array, weights: Array) -> list[list[Array]]:
    """Lower triangle of ``z' diag(weights) z`` for each data set, as lists of arrays of shape (B,)."""
    return [[(z[:, i] * z[:, j]) @ weights for j in range(i + 1)] for i in range(z.shape[1])]


def _solve_constrained(
    gram: list[list[Array]], right: Array, limit: tuple[Array, Array] | None, b: Array
) -> Array:
    """Solve ``gram @ step == right`` on the constraint ``row @ (b + step) == target``."""
    scale = np.array([1 / np.sqrt(np.maximum(gram[i][i], 1e-300)) for i in range(len(gram))])
    factor = _cholesky(
        [[gram[i][j] * scale[i] * scale[j] for j in range(i + 1)] for i in range(len(gram))]
    )
    step = _solve(factor, right * scale)
    if limit is not None:
        row = limit[0] * scale
        missing = limit[1] - np.einsum("ij,ij->j", limit[0], b)
        along = _solve(factor, row)
        step = step + along * (
            (missing - np.einsum("ij,ij->j", row, step)) / np.einsum("ij,ij->j", row, along)
        )
    return step * scale


def _cholesky(matrix: list[list[Array]]) -> list[list[Array]]:
    factor: list[list[Array]] = []
    for i, line in enumerate(matrix):
        done: list[Array] = []
        for j in range(i + 1):
            rest = line[j]
            for k in range(j):
                rest = rest - done[k] * (done[k] if i == j else factor[j][k])
            done.append(np.sqrt(np.maximum(rest, 1e-15)) if i == j else rest / factor[j][j])
        factor.append(done)
    return factor


def _solve(factor: list[list[Array]], right: Array) -> Array:
    size = len(factor)
    x = list(right)
    for i in range(size):
        for k in range(i):
            x[i] = x[i] - factor[i][k] * x[k]
        x[i] = x[i] / factor[i][i]
    for i in reversed(range(size)):
        for k in range(i + 1, size):
            x[i] = x[i] - factor[k][i] * x[k]
        x[i] = x[i] / factor[i][i]
    return np.array(x)
