"""Least squares in a box: Levenberg-Marquardt with an active set, a Gauss-Newton finish, a detour for lost starts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from virtperf.models.checks import Array

RANK_TOLERANCE = 1e-13  # relative to the largest singular value of the scaled Jacobian
HUGE = 1e100  # stands for a value that is not finite where infinity would stop the search
DETOUR_EVALUATIONS = 5000


@dataclass(frozen=True, eq=False)
class Minimum:
    """A local minimum of ``sum(residuals**2)``.

    Parameters
    ----------
    params : ndarray, shape (p,)
    resid : ndarray, shape (n,)
    jacobian : ndarray, shape (n, p)
    free : ndarray of bool, shape (p,)
        False for a parameter that is held by its bound.
    converged : bool
    """

    params: Array
    resid: Array
    jacobian: Array
    free: NDArray[np.bool_]
    converged: bool

    @property
    def rss(self) -> float:
        """Residual sum of squares."""
        return float(self.resid @ self.resid)


def minimise(
    residuals: Callable[[Array], Array],
    jacobian: Callable[[Array], Array],
    start: Array,
    lower: Array,
    upper: Array,
    *,
    size: float,
    tolerance: float = 1e-12,
    reach: float = 1.0,
    iterations: int = 500,
) -> Minimum:
    """Minimise ``sum(residuals(params)**2)`` over ``lower <= params <= upper``.

    Each step solves the damped linear problem in the parameters that no bound holds, scaled by the largest column
    norms met so far (More 1978), with the damping rule of Nielsen (1999); it is then clipped to the box. Progress is
    measured by the relative offset of Bates and Watts (1981): the length of the residual's projection on the tangent
    plane over the residual's length. Once the sum of squares can no longer tell two steps apart, undamped steps are
    judged by the offset instead, which gives the last digits. Where the projection is no longer than the rounding of
    the observations there are none to gain.

    Parameters
    ----------
    residuals, jacobian : callable
        Functions of the parameters with values of shape (n,) and (n, p). Values that are not finite refuse a step.
    start, lower, upper : ndarray, shape (p,)
    size : float
        Length of the (weighted) observations: residuals shorter than 1e-14 of it are zero.
    tolerance : float
        Relative offset at which to stop.
    reach : float
        No damped step is longer than this multiple of the parameters, in scaled units: a first step into a flat region
        could not return.
    iterations : int
        Most steps to take.
    """
    # A step too far may overflow: that only refuses it.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return _minimise(
            residuals, jacobian, np.clip(start, lower, upper), lower, upper, size, tolerance, reach, iterations
        )


def _minimise(
    residuals: Callable[[Array], Array],
    jacobian: Callable[[Array], Array],
    theta: Array,
    lower: Array,
    upper: Array,
    size: float,
    tolerance: float,
    reach: float,
    iterations: int,
) -> Minimum:
    resid = residuals(theta)
    rss = float(resid @ resid)
    jac = jacobian(theta) if math.isfinite(rss) else np.full((len(resid), len(theta)), math.nan)
    if not _finite(jac):
        return Minimum(theta, resid, np.zeros_like(jac), np.ones(len(theta), bool), False)
    scaling = np.zeros(len(theta))
    damping, growth = 1e-3, 2.0
    floor = (1e-14 * size) ** 2
    finishing, best_offset, best_rss = False, math.inf, math.inf
    best = (theta, resid, jac)
    for _ in range(iterations):
        scaling = np.maximum(scaling, np.sqrt(np.einsum("ij,ij->j", jac, jac)))
        scale = np.where(scaling > 0, scaling, 1.0)
        free = _free(theta, jac.T @ resid, lower, upper)
        u, s, vt = np.linalg.svd(jac[:, free] / scale[free], full_matrices=False)
        along = u.T @ resid
        known = s > RANK_TOLERANCE * s[0] if s.size and s[0] > 0 else np.zeros(s.size, bool)
        offset = math.sqrt(float(along[known] @ along[known]) / rss) if rss > 0 else 0.0
        if rss <= floor or offset <= tolerance:
            return Minimum(theta, resid, jac, free, True)
        # The sum of squares differs by less than 1e-12 of itself here, so it can't judge a step any more.
        finishing = finishing or offset < 1e-6
        if finishing:
            if offset >= best_offset or rss > 2 * best_rss:
                theta, resid, jac = best
                return Minimum(theta, resid, jac, _free(theta, jac.T @ resid, lower, upper), True)
            best_offset, best_rss, best = offset, rss, (theta, resid, jac)
            shrunk = np.where(known, along / np.where(known, s, 1.0), 0.0)
            theta = _step(theta, free, -(shrunk @ vt) / scale[free], lower, upper)
            resid = residuals(theta)
            rss = float(resid @ resid)
            jac = jacobian(theta)
            if not (math.isfinite(rss) and _finite(jac)):
                return Minimum(*best, free, True)
            continue
        while True:
            shrunk = s * along / (s * s + damping)
            length = float(np.linalg.norm(shrunk))
            if length > (longest := reach * float(np.linalg.norm(scale * theta))) > 0:
                shrunk *= longest / length
            new = _step(theta, free, -(shrunk @ vt) / scale[free], lower, upper)
            move = new - theta
            trial = residuals(new)
            trial_rss = float(trial @ trial)
            if trial_rss < rss and _finite(slope := jacobian(new)):
                expected = resid + jac @ move
                # Clipping to the box can spoil the prediction: a gain above 1 says no more than 1.
                gain = min((rss - trial_rss) / max(rss - float(expected @ expected), 1e-300), 1.0)
                damping *= max(1 / 3, 1 - (2 * gain - 1) ** 3)
                growth = 2.0
                theta, resid, rss, jac = new, trial, trial_rss, slope
                break
            damping, growth = damping * growth, growth * 2
            if float(np.linalg.norm(scale * move)) <= 1e-15 * float(np.linalg.norm(scale * theta)) or damping > 1e60:
                finishing = offset < 1e-4 or offset * offset * rss <= floor
                if not finishing:
                    return Minimum(theta, resid, jac, free, False)
                break
    return Minimum(theta, resid, jac, free, False)


def detour(
    residuals: Callable[[Array], Array], jacobian: Callable[[Array], Array], start: Array, lower: Array, upper: Array
) -> Array:
    """Return parameters near a minimum by another way than `minimise`, for a start from which it did not arrive.

    MINPACK's trust region (More 1978) without bounds, else SciPy's reflective one: both take longer first steps, which
    leads round some flat valleys that damping follows without end. The result is a start again.
    """

    def finite(theta: Array) -> Array:
        return np.nan_to_num(residuals(theta), nan=HUGE, posinf=HUGE, neginf=-HUGE)

    start = np.clip(start, lower, upper)
    if np.any(lower >= upper):
        return start
    unbounded = not (np.isfinite(lower).any() or np.isfinite(upper).any())
    method = "lm" if unbounded and len(residuals(start)) >= len(start) else "trf"
    with np.errstate(all="ignore"):
        found = optimize.least_squares(
            finite,
            start,
            jac=lambda theta: np.nan_to_num(jacobian(theta), nan=0.0, posinf=HUGE, neginf=-HUGE),
            bounds=(lower, upper),
            method=method,
            x_scale="jac",
            ftol=1e-12,
            xtol=1e-12,
            gtol=1e-15,
            max_nfev=DETOUR_EVALUATIONS,
        )
    return np.asarray(found.x, dtype=float)


def _finite(matrix: Array) -> bool:
    return math.isfinite(float(np.vdot(matrix, matrix)))


def _free(theta: Array, gradient: Array, lower: Array, upper: Array) -> NDArray[np.bool_]:
    held = ((theta <= lower) & (gradient >= 0)) | ((theta >= upper) & (gradient <= 0))
    return ~held


def _step(theta: Array, free: NDArray[np.bool_], move: Array, lower: Array, upper: Array) -> Array:
    new = theta.copy()
    new[free] += move
    return np.clip(new, lower, upper)
