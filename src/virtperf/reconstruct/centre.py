"""One representative data set inside all feasible intervals."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Sequence
from typing import Any

import cvxpy as cp
import numpy as np

from rawperf.core.errors import VirtperfError
from virtperf.reconstruct.system import LinearSystem
from virtperf.study.quantities import Expression, Quantity

INTERIOR = 1e-7
"""Rows whose largest slack (relative to the row's size) is below this hold with equality in every
data set.
"""

SCALINGS: tuple[dict[str, Any], ...] = (
    {},
    {"equilibrate_max_iter": 50},
    {"equilibrate_enable": False},
)
"""Options of the solver, tried in turn: ours keeps the numbers near one, so that it can do without
its own.
"""

SMOOTHNESS = 0.02
"""Weight of the squared second differences against the barrier: mild, so that it only breaks
indifference.
"""


def analytic_centre(
    system: LinearSystem,
    mask: np.ndarray,
    intervals: dict[Quantity, tuple[float, float]],
    curves: Sequence[tuple[Sequence[float], Sequence[Quantity]]],
) -> dict[Quantity, float]:
    """The analytic centre of the (masked) rows, with a mild preference for smooth curves.

    Maximises ``sum log(slack) - SMOOTHNESS * sum (second difference / scale)^2`` over the rows that
    have an interior, the others held as equalities (Boyd and Vandenberghe, Convex Optimization,
    2004, section 8.5.3). It lies strictly inside every interval that is not a single value, so no
    point is a corner of what the text allows.

    `intervals`: feasible ones; an unbounded end is closed, for the centre only, at twice the finite
        end.
    `curves`: axis positions and quantities of what is drawn as a line.
    """
    A, b = system.A[mask] / system.scale[mask, None], system.b[mask] / system.scale[mask]
    low, high = _box(system, intervals)
    size = np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
    slack_most = np.array(
        [_largest_slack(system, mask, row, bound) for row, bound in zip(A, b, strict=True)]
    )
    with_interior = slack_most > INTERIOR * np.maximum(1.0, np.abs(b))
    fixed = high - low <= INTERIOR * size

    x = cp.Variable(len(low))  # in units of `size`, which keeps the solver's numbers near one
    value = cp.multiply(size, x)
    constraints = [A[~with_interior] @ value == b[~with_interior]] if (~with_interior).any() else []
    if fixed.any():
        constraints.append(x[fixed] == (low / size)[fixed])
    slack = b[with_interior] - A[with_interior] @ value
    objective = cp.sum(cp.log(slack / slack_most[with_interior])) if with_interior.any() else 0
    free = ~fixed
    if free.any():
        width = np.maximum(high - low, 1e-12)[free]
        objective += cp.sum(cp.log(cp.multiply(size[free] / width, x[free]) - (low[free] / width)))
        objective += cp.sum(cp.log((high[free] / width) - cp.multiply(size[free] / width, x[free])))
    objective -= SMOOTHNESS * sum(
        (_roughness(system, value, axis, quantities) for axis, quantities in curves), 0
    )
    problem = cp.Problem(cp.Maximize(objective), constraints)
    _solve(problem)
    found = np.clip(x.value * size, low, high)
    return {quantity: float(found[i]) for quantity, i in system.index.items()}


def _solve(problem: cp.Problem) -> None:
    """Solve it; where the solver stalls, once more with more steps of its own scaling, or with
    none.
    """
    for options in SCALINGS:
        with contextlib.suppress(cp.SolverError), warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", UserWarning
            )  # "may be inaccurate" is what the status says
            problem.solve(solver=cp.CLARABEL, **options)
            if problem.status == cp.OPTIMAL:
                return
    if problem.status != cp.OPTIMAL_INACCURATE:
        raise VirtperfError(
            "no values were found that lie inside all limits",
            found=f"the solver says {problem.status}",
            remedy="report it as an error of virtperf, with the study.",
        )


def _box(
    system: LinearSystem, intervals: dict[Quantity, tuple[float, float]]
) -> tuple[np.ndarray, np.ndarray]:
    low = np.array([intervals[q][0] for q in system.quantities])
    high = np.array([intervals[q][1] for q in system.quantities])
    low = np.where(
        np.isfinite(low), low, np.where(np.isfinite(high), np.minimum(0.0, 2 * high), 0.0)
    )
    typical = np.median(high[np.isfinite(high)]) if np.isfinite(high).any() else 100.0
    return low, np.where(np.isfinite(high), high, np.maximum(2 * low, typical))


def _largest_slack(system: LinearSystem, mask: np.ndarray, row: np.ndarray, bound: float) -> float:
    expression = Expression(
        tuple((float(c), q) for c, q in zip(row, system.quantities, strict=True) if c)
    )
    slack = bound - system.minimum(expression, mask).value
    return min(slack, max(1.0, abs(bound)))


def _roughness(
    system: LinearSystem,
    value: cp.Expression,
    axis: Sequence[float],
    quantities: Sequence[Quantity],
) -> cp.Expression:
    """Squared second differences of a curve, relative to 100 units."""
    if len(quantities) < 3 or any(q not in system.index for q in quantities):
        return cp.Constant(0)
    order = np.argsort(axis)
    y = value[[system.index[quantities[i]] for i in order]]
    slopes = cp.multiply(1 / np.diff(np.asarray(axis, dtype=float)[order]), cp.diff(y))
    span = float(np.ptp(axis)) / (len(axis) - 1)
    return cp.sum_squares(cp.diff(slopes) * span / 100)
