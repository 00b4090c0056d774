"""Restricted maximum likelihood for a treatment crossed with a random group, with Kenward and Roger's correction.

The model is ``y = treatment mean + group + treatment x group + residual``, the last three random and independent. Rows
of one cell share all but the residual, so the cell means and the sum of squares within the cells carry all there is
to know: the matrices have one row a cell, not one a measurement.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize

from virtperf.models.checks import Array

NAMES = ("group", "treatment x group", "residual")


@dataclass(frozen=True, eq=False)
class CellMeans:
    """Means of the cells that have rows.

    Parameters
    ----------
    mean, n : ndarray, shape (c,)
        Mean, best as the deviation from a value of the sample, and number of rows.
    treatment, group : ndarray of int, shape (c,)
        Positions of their levels.
    within_ss : float
        Sum of squares around the means of the cells.
    """

    mean: Array
    n: Array
    treatment: NDArray[np.intp]
    group: NDArray[np.intp]
    within_ss: float

    @property
    def within_df(self) -> int:
        """Rows minus cells; if 0, the residual can't be told from the interaction, and stands for both."""
        return int(self.n.sum()) - len(self.n)

    @cached_property
    def design(self) -> Array:
        """Indicators of the treatments, shape (c, k)."""
        return np.eye(int(self.treatment.max()) + 1)[self.treatment]

    @cached_property
    def parts(self) -> list[Array]:
        """Covariance of the means for each component of variance of 1."""
        same = np.equal.outer(self.group, self.group).astype(float)
        own = [np.eye(len(self.n))] if self.within_df else []
        return [same, *own, np.diag(1 / self.n)]


@dataclass(frozen=True, eq=False)
class Point:
    """The restricted likelihood at given components of variance.

    Parameters
    ----------
    loglik : float
        Without its constant.
    score : ndarray, shape (v,)
    information : ndarray, shape (v, v)
        Expected information.
    beta, covariance : ndarray, shapes (k,) and (k, k)
        Treatment means by generalized least squares, and their covariance at these components.
    half : ndarray, shape (c, k)
        ``inv(V) X``.
    inverse : ndarray, shape (c, c)
        ``inv(V)``.
    """

    loglik: float
    score: Array
    information: Array
    beta: Array
    covariance: Array
    half: Array
    inverse: Array


def evaluate(cells: CellMeans, components: Array) -> Point:
    """Evaluate the restricted likelihood, its score and expected information (Searle, Casella and McCulloch 1992)."""
    x, y, noise = cells.design, cells.mean, float(components[-1])
    v = sum(c * part for c, part in zip(components, cells.parts, strict=True))
    factor = linalg.cho_factor(v, lower=True)
    inverse = linalg.cho_solve(factor, np.eye(len(y)))
    half = inverse @ x
    gram = x.T @ half
    covariance = np.linalg.inv(gram)
    beta = covariance @ (half.T @ y)
    projection = inverse - half @ covariance @ half.T
    py = projection @ y
    pv = [projection @ part for part in cells.parts]
    score = np.array([-0.5 * (np.trace(m) - py @ part @ py) for m, part in zip(pv, cells.parts, strict=True)])
    information = np.array([[0.5 * float(np.sum(a * b.T)) for b in pv] for a in pv])
    log_det = 2 * float(np.log(np.diag(factor[0])).sum()) + float(np.linalg.slogdet(gram)[1])
    loglik = -0.5 * (log_det + float(y @ py))
    if df := cells.within_df:
        loglik -= 0.5 * (df * np.log(noise) + cells.within_ss / noise)
        score[-1] -= 0.5 * (df / noise - cells.within_ss / noise**2)
        information[-1, -1] += 0.5 * df / noise**2
    return Point(loglik, score, information, beta, covariance, half, inverse)


@dataclass(frozen=True, eq=False)
class RemlFit:
    """The optimum.

    Parameters
    ----------
    components : dict of str to float
        Variances; none is negative.
    beta : ndarray, shape (k,)
        Treatment means.
    covariance, adjusted : ndarray, shape (k, k)
        Their covariance at the estimated components, and with Kenward and Roger's addition for having estimated them.
    gradient : ndarray, shape (v, k, k)
        Derivatives of the covariance in the components.
    uncertainty : ndarray, shape (v, v)
        Covariance of the components: the inverse of the expected information.
    """

    components: dict[str, float]
    beta: Array
    covariance: Array
    adjusted: Array
    gradient: Array
    uncertainty: Array

    def df(self, weights: Array) -> float:
        """Return the degrees of freedom of a contrast: ``2 v**2 / var(v)`` of its variance v.

        For a single contrast Kenward and Roger's (1997) are the same as Satterthwaite's.
        """
        value = float(weights @ self.covariance @ weights)
        slope = np.einsum("i,vij,j->v", weights, self.gradient, weights)
        return float(2 * value**2 / (slope @ self.uncertainty @ slope))


def fit_reml(cells: CellMeans) -> RemlFit:
    """Maximize the restricted likelihood over components that are not negative.

    Several starts, because a component may or may not vanish; Fisher's scoring gives the last digits.
    """
    spread = float(np.var(cells.mean)) + (cells.within_ss / cells.within_df if cells.within_df else 0.0)
    scaled = replace(cells, mean=cells.mean / np.sqrt(spread), within_ss=cells.within_ss / spread)
    v = len(scaled.parts)
    # In units of the spread; further apart, rounding errors would make the covariance indefinite.
    least, most = np.append(np.zeros(v - 1), 1e-8), 1e4

    def cost(components: Array) -> tuple[float, Array]:
        at = evaluate(scaled, components)
        return -at.loglik, -at.score

    starts = [np.append(np.where(small, 1e-3, 0.5), 0.5) for small in np.ndindex(*(2,) * (v - 1))]
    bounds = [(low, most) for low in least]
    found = [optimize.minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds) for start in starts]
    components = _polish(scaled, min(found, key=lambda end: end.fun).x, least)
    at = evaluate(scaled, components)
    phi, w = at.covariance, np.asarray(np.linalg.inv(at.information), dtype=np.float64)
    products = [part @ at.half for part in scaled.parts]
    slopes = [m.T @ at.half for m in products]
    added = np.zeros_like(phi)
    for j in range(v):
        for k in range(v):
            added += w[j, k] * (products[j].T @ at.inverse @ products[k] - slopes[j] @ phi @ slopes[k])
    names = NAMES if v == 3 else (NAMES[0], NAMES[2])
    return RemlFit(
        components={name: float(c * spread) for name, c in zip(names, components, strict=True)},
        beta=at.beta * np.sqrt(spread),
        covariance=phi * spread,
        adjusted=(phi + 2 * phi @ added @ phi) * spread,
        gradient=np.array([phi @ slope @ phi for slope in slopes]),
        uncertainty=np.asarray(w * spread**2),
    )


def _polish(cells: CellMeans, components: Array, least: Array) -> Array:
    at = evaluate(cells, components)
    for _ in range(50):
        free = (components > least) | (at.score > 0)
        step = np.zeros(len(components))
        step[free] = np.linalg.solve(at.information[np.ix_(free, free)], at.score[free])
        new = np.maximum(components + step, least)
        if np.abs(new - components).max() <= 1e-13:
            break
        then = evaluate(cells, new)
        if then.loglik < at.loglik - 1e-12:
            break
        components, at = new, then
    return components
