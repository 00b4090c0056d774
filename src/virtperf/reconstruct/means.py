"""What a mean of parts, each relative to a reference condition of its own, lies between.

Relative values are quotients, so that no linear relation ties the mean to its parts. Their ranges give limits of it: no
value between them is excluded where the parts belong to different groups, and none outside is possible. The parts keep
their own ranges; what is said of the mean does not narrow them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from virtperf.reconstruct.constraints import Row
from virtperf.study.quantities import Expression

if TYPE_CHECKING:
    from virtperf.reconstruct.feasible import Feasible

PERCENT = 100.0


def mean_rows(feasible: Feasible) -> list[Row]:
    """The limits of all claims of the kind `relative_mean`, from the ranges that the other claims allow."""
    known: dict[tuple[Expression, Expression], tuple[float, float]] = {}

    def share(of: Expression, to: Expression) -> tuple[float, float]:
        if (of, to) not in known:
            known[of, to] = _share(feasible, of, to)
        return known[of, to]

    rows = []
    for claim in feasible.active:
        for instance in claim.instances if claim.kind == "relative_mean" else ():
            whole, *parts = instance.parts
            low, high = PERCENT * np.mean([share(*pair) for pair in _pairs(parts)], axis=0)
            for sign, end in ((-1.0, low), (1.0, high)):
                if np.isfinite(end):
                    rows.append(Row(claim.id, tuple((q, sign * c) for c, q in whole.terms), sign * float(end)))
    return rows


def _pairs(parts: Sequence[Expression]) -> list[tuple[Expression, Expression]]:
    return list(zip(parts[::2], parts[1::2], strict=True))


def _share(feasible: Feasible, of: Expression, to: Expression) -> tuple[float, float]:
    """The range of ``of / to`` over all cheapest resolutions; both are one quantity each.

    Natural bounds that keep quantities above 0 set no upper limit: a quotient by a number near 0 has none.
    """
    ((_, part),), ((_, reference),) = of.terms, to.terms
    bottom, top = (end.value for end in feasible.interval(reference))
    if bottom == top > 0:
        low, high = feasible.interval(part)
        return low.value / top, high.value / top
    system = feasible.system_of(part)
    if system is None or reference not in system.index:
        least = feasible.interval(part)[0].value
        return (least / top if least >= 0 else -np.inf), np.inf
    above_0 = np.array(
        [not row.claim and len(row.terms) == 1 and row.terms[0][1] < 0 > row.bound for row in system.rows]
    )
    masks = feasible.masks(system)
    lows = [system.ratio_interval(of, to, mask)[0] for mask in masks]
    return min(lows), max(system.ratio_interval(of, to, mask & ~above_0)[1] for mask in masks)
