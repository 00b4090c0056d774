"""Joint feasible set of several quantities, across connected components of claims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from virtperf.reconstruct.feasible import Feasible
from virtperf.reconstruct.system import LinearSystem
from virtperf.study.constraints import Inequality, combined_row, natural_rows
from virtperf.study.definition import Study
from virtperf.study.quantities import Expression, Quantity, quantities_of

LARGEST_VALUE = Expression(((1.0, Quantity("<largest>", ())),))


@dataclass(frozen=True, eq=False)
class Region:
    """A linear system, and its row masks under each smallest resolution."""

    system: LinearSystem
    masks: tuple[np.ndarray, ...]

    def limits(self, parts: Sequence[Expression]) -> list[float]:
        """Absolute values of all finite limits of the sums."""
        ends = (end for part in parts for pair in self.ranges(part) for end in pair)
        return [abs(end) for end in ends if np.isfinite(end)]

    def closed(self, parts: Sequence[Expression], most: float) -> Region:
        """The region with the upper limit `most` of every unbounded sum; itself if there is none."""
        free = [part for part in parts if any(np.isinf(high) for _, high in self.ranges(part))]
        if not free:
            return self
        return Region(*self._with([combined_row("", most, (1.0, part)) for part in free], on=True))

    def ranges(self, of: Expression) -> list[tuple[float, float]]:
        """Range of a sum under each resolution."""
        intervals = [self.system.interval(of, mask) for mask in self.masks]
        return [(low.value, high.value) for low, high in intervals]

    def ratios(self, of: Expression, to: Expression) -> list[tuple[float, float]]:
        """Range of ``of / to`` under each resolution, over the values with ``to > 0``."""
        return [self.system.ratio_interval(of, to, mask) for mask in self.masks]

    def maxima(self, parts: Sequence[Expression]) -> list[tuple[float, float]]:
        """Range of the maximum of several sums under each resolution."""
        with_it, masks = self._with(
            [combined_row("", 0.0, (1.0, part), (-1.0, LARGEST_VALUE)) for part in parts], on=True
        )
        least = [with_it.minimum(LARGEST_VALUE, mask).value for mask in masks]
        highs = [
            max(self.system.maximum(part, mask).value for part in parts) for mask in self.masks
        ]
        return list(zip(least, highs, strict=True))

    def largest(self, parts: Sequence[Expression]) -> list[int]:
        """Indices of the sums that can be the maximum (argmax) under some resolution."""
        places = range(len(parts))
        pairs = [(k, other) for k in places for other in places if other != k]
        of = np.array([k for k, _ in pairs])
        below = [combined_row("", 0.0, (1.0, parts[other]), (-1.0, parts[k])) for k, other in pairs]
        with_them, masks = self._with(below, on=False)
        outer = len(self.system.rows)
        return [
            k
            for k in places
            if any(with_them.feasible(np.concatenate((mask[:outer], of == k))) for mask in masks)
        ]

    def _with(
        self, rows: Sequence[Inequality], *, on: bool
    ) -> tuple[LinearSystem, tuple[np.ndarray, ...]]:
        """The system extended by rows, all active or all inactive, and its masks."""
        more = np.full(len(rows), on)
        return LinearSystem([*self.system.rows, *rows]), tuple(
            np.append(mask, more) for mask in self.masks
        )


class Regions:
    """Regions under several sets of claims: equal ones are one object."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Region] = {}

    def of(self, feasible: Feasible, parts: Iterable[Expression]) -> Region:
        """The region of all quantities in the sums."""
        named = quantities_of(parts)
        systems = list(dict.fromkeys(s for s in map(feasible.system_of, named) if s is not None))
        alone = tuple(q for q in named if feasible.system_of(q) is None)
        masks = feasible.masks(*systems) if systems else [np.empty(0, dtype=bool)]
        key = (*systems, *alone, *(mask.tobytes() for mask in masks))
        if key not in self._known:
            self._known[key] = _joined(feasible.study, systems, alone, masks)
        return self._known[key]


def _joined(
    study: Study,
    systems: Sequence[LinearSystem],
    alone: Sequence[Quantity],
    masks: Sequence[np.ndarray],
) -> Region:
    if len(systems) == 1 and not alone:
        return Region(systems[0], tuple(masks))
    natural = natural_rows(study, alone)
    bounds = np.ones(len(natural), dtype=bool)
    rows = [*(row for system in systems for row in system.rows), *natural]
    return Region(LinearSystem(rows), tuple(np.append(mask, bounds) for mask in masks))
