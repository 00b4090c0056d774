"""Robust curve fits: Huber's M estimator by pseudo-values.

The estimate solves ``sum(derivative * psi(residual / s)) = 0``, where psi clips residuals at
``HUBER_THRESHOLD`` robust standard deviations s, and ``sum(psi**2) = (n - p) BETA`` (Huber's
proposal 2, whose scale is more efficient than the median absolute deviation). It equals the
ordinary fit of rows with clipped residuals. Clipped residuals multiplied by ``K / mean(psi')`` (for
n - p degrees of freedom) have the sum of squares of Huber's covariance, so the ordinary intervals
of these pseudo-values are those of the robust fit. Clipped rows carry no information on the spread,
so with few rows these intervals would be too narrow: they are widened to Student's t with the
degrees of freedom of the unclipped rows.

References
----------
Huber, P. J., Ronchetti, E. M. (2009). Robust Statistics. Sections 6.4 (proposal 2), 7.6
(covariance) and 7.8 (modified residuals).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from rawperf.core.errors import ModelError
from virtperf.core.statistics import t_quantile
from virtperf.models.checks import Array
from virtperf.models.diagnostics import Fitted, RowNote

HUBER_THRESHOLD = 1.345
"""Clipping point in robust standard deviations: 95 % efficient with normal noise."""
BETA = 0.710164548
"""Mean square of a standard normal variable clipped at that point."""
NORMAL_MAD = 0.674489750196
"""Median absolute deviation of the standard normal distribution."""
MIN_FREE_ROWS = 4
"""Minimum number of rows beyond the parameters for the detection of outliers."""
OUTLIER_DEVIATIONS = 2.7
LEVEL = 0.95
"""Level at which intervals are widened; other levels use the same factor."""
MAX_ITERATIONS, TOLERANCE = 400, 1e-8
EXTRAPOLATION_RATES = (0.5, 0.999)
"""Range of ratios of successive steps for which geometric extrapolation is applied."""


def robust_fit(fit: Callable[[Array], Fitted], y: Array, parameters: int) -> Fitted:
    """Robust version of `fit`; the result has pseudo-values in place of the data y.

    Raises
    ------
    ModelError
        Too few rows, more than half of the rows on one curve, or no convergence.
    """
    if len(y) < parameters + MIN_FREE_ROWS:
        raise ModelError(
            f"{len(y)} rows are too few to detect outliers",
            expected=f"at least {parameters + MIN_FREE_ROWS} rows",
        )
    fitted, spread, size = fit(y), 0.0, np.ones(len(y))
    steps: list[Array] = []
    for iteration in range(MAX_ITERATIONS):
        size = fitted.row_deviation()
        residual = (y - fitted.fittedvalues) / size
        scale = spread if iteration else _initial_scale(residual, fitted.df_resid)
        cut = np.clip(residual, -HUBER_THRESHOLD * scale, HUBER_THRESHOLD * scale)
        spread = float(np.sqrt(cut @ cut / (fitted.df_resid * BETA)))
        if not spread > 1e-12 * float(np.max(np.abs(y) / size)):
            raise ModelError(
                "more than half of the rows lie on one curve exactly", remedy="fit without robust"
            )
        cut = np.clip(residual, -HUBER_THRESHOLD * spread, HUBER_THRESHOLD * spread)
        before = fitted.fittedvalues
        rest = _geometric_extrapolation(steps, most=HUBER_THRESHOLD * spread * size)
        fitted = fit(before + size * cut + rest)
        moved = np.max(np.abs(fitted.fittedvalues - before) / size)
        steps = [] if rest.any() else [*steps[-2:], fitted.fittedvalues - before]
        if moved <= TOLERANCE * spread and abs(spread - scale) <= TOLERANCE * spread:
            break
    else:
        raise ModelError("the robust fit did not converge", remedy="fit without robust")
    residual = (y - fitted.fittedvalues) / size
    inside = np.abs(residual) <= HUBER_THRESHOLD * spread
    share, free = float(inside.mean()), len(y) - parameters
    of_free = max(int(inside.sum()) - parameters, 1) / free
    enlarged = (1 + parameters / len(y) * (1 - share) / share) / of_free
    enlarged *= t_quantile(max(inside.sum() - parameters, 1), LEVEL) / t_quantile(free, LEVEL)
    cut = np.clip(residual, -HUBER_THRESHOLD * spread, HUBER_THRESHOLD * spread)
    final = fit(fitted.fittedvalues + size * enlarged * cut)
    outliers = tuple(
        RowNote(
            i,
            f"(x = {final.x[i]:g}, y = {y[i]:g}) is an outlier: {abs(residual[i]) / spread:.2g} "
            "robust standard deviations from the curve (clipped at 1.345)",
        )
        for i in np.flatnonzero(np.abs(residual) > OUTLIER_DEVIATIONS * spread).tolist()
    )
    return replace(
        final,
        model=f"{final.model} (Huber's M estimator)",
        warnings=(*final.warnings, *outliers),
    )


def _geometric_extrapolation(steps: Sequence[Array], most: Array) -> Array:
    """Extrapolate the sum of all further steps if the last three form a geometric series, at most
    `most`; else 0.

    A clipped row at the end of the curve moves it by a small share of the way in each iteration.
    """
    if len(steps) < 3:
        return np.zeros_like(most)
    first, second, third = (float(np.linalg.norm(step)) for step in steps)
    if not first * second > 0:
        return np.zeros_like(most)
    rate, before = third / second, second / first
    straight = float(steps[1] @ steps[2]) > 0.99 * second * third
    if not (
        straight
        and EXTRAPOLATION_RATES[0] < rate < EXTRAPOLATION_RATES[1]
        and abs(rate - before) < 0.05
    ):
        return np.zeros_like(most)
    return np.asarray(np.clip(steps[2] * rate / (1 - rate), -most, most))


def _initial_scale(residual: Array, df: int) -> float:
    """Robust standard deviation; the median absolute residual is that of `df` free residuals."""
    ordered = np.sort(np.abs(residual))[len(residual) - df :]
    return float(np.median(ordered)) / NORMAL_MAD
