"""Range of a nonlinear number, by random search over the feasible data sets.

Data sets are vertices of the feasible set in random directions, and points between them by
hit-and-run (Smith 1984, Operations Research 32). A local search starts from the best data sets of
each number: towards the vertex in the direction of the gradient, and points on the way to it (Frank
and Wolfe 1956, Naval Research Logistics Quarterly 3); then, since numbers of bounded models have
kinks, random steps of log-uniform length towards other data sets. The result is an inner
approximation: nothing proves that the number takes no value beyond.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from virtperf.reconstruct.region import Region
from virtperf.reconstruct.system import FEASIBILITY_TOLERANCE, LinearSystem
from virtperf.study.constraints import combined_row
from virtperf.study.quantities import Expression, Quantity

VERTEX_DIRECTIONS, HIT_AND_RUN_STEPS = 48, 160
"""Random directions for vertices, and hit-and-run steps."""

LOCAL_STARTS, LOCAL_STEPS = 2, 6
"""Start points of the local search of one end, and its maximum number of steps."""

RANDOM_ROUNDS, STEPS_PER_ROUND, MIN_STEP = 12, 48, 1e-4
"""Rounds of random steps, steps per round, and the shortest step, as a share of the way to another
data set.
"""

STEP_SIZES = np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98, 1.0])
"""Step sizes tried between a data set and the next vertex."""

MIN_GAIN = 1e-4
"""Relative improvement below which the local search stops."""

ZERO_SHARE = 1e-6
"""Values below this share of a data set's largest value count as zero; models of positive values
exclude such data sets.
"""

MinMaxByName = Mapping[str, tuple[np.ndarray, np.ndarray]]
Function = Callable[[np.ndarray], MinMaxByName]
"""Function of data sets, shape (m, n): maps each name to the minimum and maximum per data set, NaN
where undefined.
"""


DataSet = Mapping[Quantity, float]
"""A value of every quantity of a region."""


@dataclass
class SearchResult:
    """Ranges of numbers over the tried data sets, and the data sets at their ends.

    Numbers without a value are absent.
    """

    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    best: list[DataSet] = field(default_factory=list)
    data_sets: int = 0


def search_ranges(
    regions: Sequence[Region],
    parts: Sequence[Expression],
    names: Sequence[str],
    function: Function,
    seed: int,
) -> list[list[SearchResult]]:
    """Search the ranges of the numbers `names` in each region, one result per resolution of it.

    Each search starts from the data sets that those before it found, where they satisfy its rows.
    Afterwards every range is extended to all data sets at the ends of the others' ranges that its
    rows allow: of two regions, the one that contains the other has the wider range.
    """
    results: list[list[SearchResult]] = []
    searches = [
        [_Search(region, mask, parts, function, seed) for mask in region.masks]
        for region in regions
    ]
    found: list[DataSet] = []
    for of_region in searches:
        results.append([search.run(names, found) for search in of_region])
        found += [x for result in results[-1] for x in result.best]
    for of_region, of_result in zip(searches, results, strict=True):
        for search, result in zip(of_region, of_result, strict=True):
            search.extend(result, names, [x for x in found if x not in result.best])
    return results


class _Search:
    def __init__(
        self,
        region: Region,
        mask: np.ndarray,
        parts: Sequence[Expression],
        function: Function,
        seed: int,
    ) -> None:
        self.system, self.mask = region.system, mask
        self.parts, self.function = parts, function
        vectors = [self.system.vector(part) for part in parts]
        self.known = all(v is not None for v in vectors)
        self.E = np.array(
            [np.zeros(len(self.system.quantities)) if v is None else v for v in vectors]
        )
        self.rng = np.random.default_rng(seed)
        self.tried = 0

    def run(self, names: Sequence[str], also: Sequence[DataSet]) -> SearchResult:
        vertices = self._vertices() if self.known else np.empty((0, self.E.shape[1]))
        if not len(vertices):
            return SearchResult()
        points, ends = self._evaluate(
            np.vstack([self._initial_points(also), vertices, self._hit_and_run(vertices)])
        )
        result = SearchResult()
        for name in names if len(points) else ():
            low, first = self._extreme(points, ends, name, 0)
            high, last = self._extreme(points, ends, name, 1)
            if low <= high:
                result.ranges[name] = (low, high)
                result.best += [
                    dict(zip(self.system.quantities, map(float, x), strict=True))
                    for x in (first, last)
                ]
        result.data_sets = self.tried
        return result

    def _evaluate(self, points: np.ndarray) -> tuple[np.ndarray, MinMaxByName]:
        """The points with all values positive, and their numbers."""
        values = points @ self.E.T
        is_positive = values.min(axis=1) > ZERO_SHARE * np.abs(values).max(axis=1)
        self.tried += int(is_positive.sum())
        return points[is_positive], self.function(values[is_positive]) if is_positive.any() else {}

    def extend(
        self, result: SearchResult, names: Sequence[str], data_sets: Sequence[DataSet]
    ) -> None:
        """Extend the ranges of a result to further data sets, where they satisfy the rows."""
        points, ends = self._evaluate(self._initial_points(data_sets))
        for name in names if len(points) else ():
            least, most = ends[name]
            low, high = result.ranges.get(name, (np.inf, -np.inf))
            low = float(np.nanmin(least, initial=low))
            high = float(np.nanmax(most, initial=high))
            if low <= high:
                result.ranges[name] = (low, high)

    def _initial_points(self, data_sets: Sequence[DataSet]) -> np.ndarray:
        """The data sets that satisfy the rows, shape (m, n).

        Quantities that a data set does not have get any values with which it satisfies them.
        """
        quantities = self.system.quantities
        points: list[Sequence[float] | np.ndarray] = []
        for x in data_sets if self.known else ():
            if all(q in x for q in quantities):
                points.append([x[q] for q in quantities])
            elif (completed := self._completed(x)) is not None:
                points.append(completed)
        return self.system.feasible_points(np.array(points).reshape(-1, len(quantities)), self.mask)

    def _completed(self, x: DataSet) -> np.ndarray | None:
        """A point that satisfies the rows and has the sums of a data set; None if there is none."""
        values = [sum(c * x[q] for c, q in part.terms) for part in self.parts]
        rows = [
            combined_row(
                "", sign * value + FEASIBILITY_TOLERANCE * max(1.0, abs(value)), (sign, part)
            )
            for part, value in zip(self.parts, values, strict=True)
            for sign in (1.0, -1.0)
        ]
        system = LinearSystem([*self.system.rows, *rows])
        mask = np.append(self.mask, np.ones(len(rows), dtype=bool))
        return system.vertex(np.zeros(len(system.quantities)), mask)

    def _vertices(self) -> np.ndarray:
        """Vertices of the feasible set: along each axis, both ways, and in random directions."""
        n = len(self.E)
        directions = np.vstack(
            [np.eye(n), -np.eye(n), self.rng.standard_normal((VERTEX_DIRECTIONS, n))]
        )
        vertices = [self.system.vertex(direction @ self.E, self.mask) for direction in directions]
        return np.array([x for x in vertices if x is not None]).reshape(-1, self.E.shape[1])

    def _hit_and_run(self, vertices: np.ndarray) -> np.ndarray:
        """Hit-and-run samples: a random direction, then a uniform step within the rows."""
        A, b = (part[self.mask] for part in (self.system.A, self.system.b))
        x = vertices.mean(axis=0)
        spread = vertices - x
        points = []
        for weights in self.rng.standard_normal((HIT_AND_RUN_STEPS, len(vertices))):
            step = weights @ spread
            along, room = A @ step, np.maximum(b - A @ x, 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                most = np.min(np.where(along > 1e-12, room / along, np.inf), initial=1.0)
                least = np.max(np.where(along < -1e-12, room / along, -np.inf), initial=-1.0)
            x = x + self.rng.uniform(least, most) * step
            points.append(x)
        return np.array(points)

    def _extreme(
        self, points: np.ndarray, ends: MinMaxByName, name: str, k: int
    ) -> tuple[float, np.ndarray]:
        """Minimum (k = 0) or maximum (k = 1) of a number, after local search, and its data set."""
        values = _signed_objective(ends, name, k)
        order = np.argsort(values, kind="stable")
        best, x = values[order[0]], points[order[0]]
        for place in order[:LOCAL_STARTS]:
            if np.isfinite(values[place]) and np.isfinite(best):
                value, at = self._frank_wolfe(points[place], values[place], name, k)
                best, x = min((best, x), (value, at), key=lambda pair: pair[0])
        if np.isfinite(best):
            best, x = self._random_steps(x, best, points, name, k)
        return float(-best if k else best), x

    def _frank_wolfe(
        self, x: np.ndarray, best: float, name: str, k: int
    ) -> tuple[float, np.ndarray]:
        """Frank-Wolfe steps: towards the vertex in the direction of the gradient."""
        for _ in range(LOCAL_STEPS):
            vertex = self.system.vertex(self._gradient(x, name, k) @ self.E, self.mask)
            if vertex is None:
                break
            value, at = self._best_of(x + STEP_SIZES[:, None] * (vertex - x), name, k)
            if not value < best:
                break
            gain, best, x = best - value, value, at
            if not gain > MIN_GAIN * max(abs(best), ZERO_SHARE):
                break
        return best, x

    def _random_steps(
        self, x: np.ndarray, best: float, points: np.ndarray, name: str, k: int
    ) -> tuple[float, np.ndarray]:
        """Random steps towards other data sets, starting from the best one so far."""
        for _ in range(RANDOM_ROUNDS):
            share = MIN_STEP ** self.rng.uniform(size=(STEPS_PER_ROUND, 1))
            value, at = self._best_of(
                x + share * (points[self.rng.integers(len(points), size=STEPS_PER_ROUND)] - x),
                name,
                k,
            )
            if value < best:
                best, x = value, at
        return best, x

    def _best_of(self, points: np.ndarray, name: str, k: int) -> tuple[float, np.ndarray]:
        points, ends = self._evaluate(points)
        if not len(points):
            return np.inf, np.empty(0)
        values = _signed_objective(ends, name, k)
        at = int(np.argmin(values))
        return float(values[at]), points[at]

    def _gradient(self, x: np.ndarray, name: str, k: int) -> np.ndarray:
        """Gradient of the signed number by central differences."""
        values = self.E @ x
        step = 1e-5 * np.abs(values).max()
        near = values + step * np.vstack([np.eye(len(values)), -np.eye(len(values))])
        ends = _signed_objective(
            self.function(np.maximum(near, ZERO_SHARE * values.max())), name, k
        )
        with np.errstate(invalid="ignore"):
            slope = (ends[: len(values)] - ends[len(values) :]) / (2 * step)
        return np.where(np.isfinite(slope), slope, 0.0)


def _signed_objective(ends: MinMaxByName, name: str, k: int) -> np.ndarray:
    """Objective to minimise: the minimum, or the negated maximum (k = 1); NaN becomes inf."""
    values = -ends[name][1] if k else ends[name][0]
    return np.where(np.isnan(values), np.inf, values)
