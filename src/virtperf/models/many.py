"""Batched fits of one model to many data sets: estimates only, without errors and intervals.

For identified ranges: the smallest and largest value over all data sets compatible with a text.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from virtperf.models.breakpoint_search import BreakpointSearch
from virtperf.models.checks import Array
from virtperf.models.irls import Family, solve
from virtperf.models.noise import NOISES
from virtperf.models.usl_result import FREE_PARAMETERS, coefficients, design_columns, least_cost

FIT_TOLERANCE = 1e-13
"""Relative tolerance within which sums of squares count as equal, relative to the data's own."""

SOLVER_TOLERANCE = 1e-6
"""Relative offset convergence criterion: below the printed digits of a range, and attainable for
nearly exact fits."""

Ends = tuple[Array, Array]
"""Smallest and largest optimal value of each data set, shape (m,) each; they differ where the
optimum is not unique."""


def usl(load: Array, throughput: Array, at: float | None = None) -> Mapping[str, Ends]:
    """Fit the Universal Scalability Law within its bounds, with proportional noise; see
    `virtperf.models.usl.fit_usl`.

    Parameters
    ----------
    load : ndarray, shape (n,)
    throughput : ndarray, shape (m, n)
        One data set per row; positive.
    at : float, optional
        Load at which to evaluate ``capacity``.

    Returns
    -------
    mapping of str to `Ends`
        ``contention``, ``coherency``, ``peak_load`` (infinite without a peak), ``peak_throughput``
        and with `at` ``capacity``; NaN where the fit does not converge.
    """
    design, free = design_columns(load), np.array(FREE_PARAMETERS["usl"])
    solution = solve(
        Family(NOISES["proportional"]),
        design,
        throughput,
        np.ones_like(throughput),
        free=free,
        tolerance=SOLVER_TOLERANCE,
    )
    b = np.where((np.isfinite(solution.deviance) & solution.converged)[:, None], solution.b, np.nan)
    contention, coherency, _ = coefficients(b).T
    d, _, k = b.T
    with np.errstate(divide="ignore", invalid="ignore"):
        peak = np.where(k == 0, np.inf, np.sqrt(d / k))
        numbers = {
            "contention": (contention, contention),
            "coherency": (coherency, coherency),
            "peak_load": (
                np.where(d == 0, 0.0, peak),
                peak,
            ),  # a constant throughput has its peak at any load
            "peak_throughput": (1 / least_cost(b),) * 2,
        }
        if at is not None:
            numbers["capacity"] = (1 / (b @ design_columns(np.array([at]))[0]),) * 2
    return numbers


def plateau_decline(x: Array, y: Array) -> Mapping[str, Ends]:
    """Fit a plateau followed by a decline, by least squares; see
    `virtperf.models.segmented.fit_segmented`.

    Parameters
    ----------
    x : ndarray, shape (n,)
    y : ndarray, shape (m, n)
        One data set per row.

    Returns
    -------
    mapping of str to `Ends`
        ``breakpoint``: range of optimal breakpoints, the whole range of x where a curve without a
        break is optimal; ``plateau``: the level before the break, at the ends of this range.
    """
    search = BreakpointSearch.of(x, y[0], np.ones(len(x)), sloped=False)
    residuals = y - y.mean(axis=1)[:, None]
    explained = search.peaks(residuals)[1].max(axis=1) - FIT_TOLERANCE * np.einsum("ij,ij->i", y, y)
    places, counting = search.accepted(residuals, explained)
    low = np.where(counting, places, np.inf).min(axis=(0, 2))
    high = np.where(counting, places, -np.inf).max(axis=(0, 2))
    # Between the last two x the break is not identified; see `BreakpointSearch.limits`.
    high = np.where(high >= search.knots[search.last], search.knots[-1], high)
    anywhere = explained <= 0
    breaks = np.where(anywhere, x.min(), low), np.where(anywhere, x.max(), high)
    levels = [
        _plateau(x, y, np.minimum(psi, search.knots[-2])) for psi in breaks
    ]  # the level is constant in the last gap
    return {"breakpoint": breaks, "plateau": (np.minimum(*levels), np.maximum(*levels))}


def _plateau(x: Array, y: Array, psi: Array) -> Array:
    """Level of the best curve of each data set with its break at psi, shape (m,)."""
    hinge = np.maximum(x - psi[:, None], 0.0)
    spread = hinge - hinge.mean(axis=1)[:, None]
    size = np.einsum("ij,ij->i", spread, spread)
    slope = np.einsum("ij,ij->i", spread, y) / np.where(size > 0, size, 1.0)
    return np.asarray(y.mean(axis=1) - slope * hinge.mean(axis=1))
