"""A linear system with a cache of LP solutions, reused where they prove the new optimum.

The minimum of an objective under some rows is known if two facts are cached: a feasible point, and
a subset of the rows whose duals bound the objective from below by its value there. Both come with
every solved program: its solution, and the rows with non-zero dual values (weak duality: these rows
alone give the bound, whatever other rows there are).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from virtperf.reconstruct.system import INFEASIBLE, OPTIMAL, UNBOUNDED, LinearSystem, LPResult
from virtperf.study.constraints import Inequality

RELATIVE_TOLERANCE = 1e-9
"""Relative tolerance for a point's violation of a row and for equal values.

Far below the tolerances of solvers.
"""


@dataclass
class _ObjectiveCache:
    """Solved programs of one objective: optima with their binding rows, and unbounded row sets."""

    solved: list[tuple[LPResult, np.ndarray]] = field(default_factory=list)
    unbounded: list[np.ndarray] = field(default_factory=list)


class CachedLinearSystem(LinearSystem):
    """A linear system for many queries on the same quantities under different row masks.

    Its values are those of a `LinearSystem`; among several optimal points, or several dual proofs,
    it may return others. Row masks are bit sets, packed into integers.
    """

    def __init__(self, rows: Sequence[Inequality]) -> None:
        super().__init__(rows)
        self._sparse = csr_array(self._scaled[0])
        self._tolerant_bounds = self._scaled[1] + RELATIVE_TOLERANCE * np.maximum(
            1.0, np.abs(self._scaled[1])
        )
        self._points = np.empty((len(self.quantities), 16))  # one column per point
        self._violated = np.empty((len(self._bits(None)), 16), dtype=np.uint64)
        self._count = 0
        self._cache: dict[bytes, _ObjectiveCache] = {}
        self._infeasible_masks = np.empty((0, len(self._violated)), dtype=np.uint64)

    def feasible(self, mask: np.ndarray | None = None) -> bool:
        return bool(self._satisfying(self._bits(mask)).any()) or super().feasible(mask)

    def can_exceed(self, c: np.ndarray, limit: float, mask: np.ndarray | None = None) -> bool:
        satisfying = self._satisfying(self._bits(mask))
        return bool((self._values(c)[satisfying] > limit).any()) or super().can_exceed(
            c, limit, mask
        )

    def _solve(self, c: np.ndarray, mask: np.ndarray | None) -> LPResult:
        on = self._bits(mask)
        c = c + 0.0  # no negative zeros: equal objectives have equal bytes
        result = self._lookup(c.tobytes(), on, self._values(c))
        if result is None:
            result = super()._solve(c, mask)
            self._store_result(c.tobytes(), on, result)
            if result.status == INFEASIBLE:
                self._infeasible_masks = np.vstack([self._infeasible_masks, on])
            elif result.status == OPTIMAL:
                self._store_point(result.x)
        return result

    def _ratio(self, c: np.ndarray, d: np.ndarray, mask: np.ndarray | None) -> LPResult:
        on = self._bits(mask)
        key = (c + 0.0).tobytes() + (d + 0.0).tobytes()
        above, below = self._values(c), self._values(d)
        ratios = np.divide(
            above, below, out=np.full(self._count, np.inf), where=below > RELATIVE_TOLERANCE
        )
        result = self._lookup(key, on, ratios)
        if result is None:
            result = super()._ratio(c, d, mask)
            self._store_result(key, on, result)
            if result.status == OPTIMAL and result.x[-1] > RELATIVE_TOLERANCE:
                self._store_point(result.x[:-1] / result.x[-1])
        return result

    def _bits(self, mask: np.ndarray | None) -> np.ndarray:
        padded = np.zeros(-(-len(self.rows) // 64) * 64, dtype=bool)
        padded[: len(self.rows)] = True if mask is None else mask
        return np.packbits(padded).view(np.uint64)

    def _satisfying(self, on: np.ndarray) -> np.ndarray:
        """Boolean mask of the cached points that satisfy the given rows."""
        return ~(self._violated[:, : self._count] & on[:, None]).any(axis=0)

    def _values(self, c: np.ndarray) -> np.ndarray:
        """Values of the objective at the cached points."""
        named = np.flatnonzero(c)
        return c[named] @ self._points[named, : self._count]

    def _lookup(self, key: bytes, on: np.ndarray, values: np.ndarray) -> LPResult | None:
        """Cached result for an objective with these values at the cached points, or None."""
        if not (self._infeasible_masks & ~on).any(axis=1).all():
            return LPResult(INFEASIBLE, np.inf, np.zeros(0), ())
        cached = self._cache.get(key)
        if cached is None:
            return None
        values = np.where(self._satisfying(on), values, np.inf)
        minimum = float(values.min(initial=np.inf))
        if minimum < np.inf and any(not (on & ~rows).any() for rows in cached.unbounded):
            return LPResult(UNBOUNDED, -np.inf, np.zeros(0), ())
        for optimum, rows in cached.solved:
            if (
                minimum <= optimum.value + RELATIVE_TOLERANCE * max(1.0, abs(optimum.value))
                and not (rows & ~on).any()
            ):
                return LPResult(
                    OPTIMAL, optimum.value, self._points[:, values.argmin()].copy(), optimum.binding
                )
        return None

    def _store_result(self, key: bytes, on: np.ndarray, result: LPResult) -> None:
        cached = self._cache.setdefault(key, _ObjectiveCache())
        if result.status == UNBOUNDED:
            cached.unbounded.append(on)
        elif result.status == OPTIMAL:
            binding = np.zeros(len(self.rows), dtype=bool)
            binding[list(result.binding)] = True
            cached.solved.append((result, self._bits(binding)))

    def _store_point(self, x: np.ndarray) -> None:
        if self._count == self._points.shape[1]:
            self._points = np.hstack([self._points, np.empty_like(self._points)])
            self._violated = np.hstack([self._violated, np.empty_like(self._violated)])
        self._points[:, self._count] = x
        self._violated[:, self._count] = self._bits(self._sparse @ x > self._tolerant_bounds)
        self._count += 1
