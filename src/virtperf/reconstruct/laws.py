"""Systems in which a product of two quantities is constant: ``response time x throughput =
clients``.

The linear rows are exact; a law is enclosed between tangents of the curve ``k / x`` (it is convex)
and, where the interval of x is known, its secant. Intervals are split until the enclosure is as
narrow as the printed digits need (spatial branch and bound; Horst and Tuy, Global Optimization,
1996). Every bound holds for the claims that are switched on in that very question, and for no
others: nothing that was left out comes back through the law.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from virtperf.reconstruct.constraints import Row
from virtperf.reconstruct.system import INFEASIBLE, OPTIMAL, UNBOUNDED, LinearSystem, Outcome
from virtperf.study.claims import Claim
from virtperf.study.quantities import Expression, Quantity

PRECISE = 1e-5
"""Relative distance from a law, and from the best value known, that counts as none: finer than any
printed digit.
"""

MOST_BOXES = 400
"""Boxes that one question may look at; beyond it the enclosure stands, which excludes nothing that
is allowed.
"""

MOST_TANGENTS = 50
"""How many times the tangents of one box are added to."""

ROUNDS = 2
"""How often the intervals of throughput are found anew with those that the round before gave."""

Box = dict[int, tuple[float, float]]
"""Intervals of throughput by the number of the law."""


@dataclass(frozen=True)
class Law:
    """``response x throughput = constant``, as a claim says; both are positive."""

    claim: str
    response: Quantity
    throughput: Quantity
    constant: float


def laws_of(claims: Sequence[Claim]) -> list[Law]:
    """The laws that the claims state."""
    return [
        Law(c.id, i.parts[0].terms[0][1], i.parts[1].terms[0][1], c.constant * i.axis[0])
        for c in claims
        if c.kind == "response_law"
        for i in c.instances
    ]


class LawSystem(LinearSystem):
    """A linear system with laws, each with a row that bounds nothing; it counts where the mask
    holds that row.
    """

    def __init__(self, rows: Sequence[Row], laws: Sequence[Law]) -> None:
        super().__init__(rows)
        self.laws = tuple(laws)
        self._columns = [(self.index[law.response], self.index[law.throughput]) for law in laws]
        self._marker = [int(np.flatnonzero(self.owner == law.claim)[0]) for law in laws]
        self._tangents: list[tuple[int, int, float]] = []  # law, row of the model, right-hand side
        self._secant: list[int] = []
        self._boxes: dict[bytes, Box | None] = {}

    def _solve(self, c: np.ndarray, mask: np.ndarray | None) -> Outcome:
        self._program.switch(mask)
        model = self._program.model
        if not self._secant:
            for response, throughput in self._columns:
                self._secant.append(model.getNumRow())
                model.addRow(
                    -np.inf,
                    np.inf,
                    2,
                    np.array([response, throughput], dtype=np.int32),
                    np.array([1.0, 0.0]),
                )
        on = [k for k in range(len(self.laws)) if mask is None or mask[self._marker[k]]]
        for k, row, bound in self._tangents:
            model.changeRowBounds(row, -np.inf, bound if k in on else np.inf)
        for k in set(range(len(self.laws))) - set(on):
            self._confine(k, -np.inf, np.inf)
        if not on:
            return self._program.minimum(c)
        key = self._program.on.tobytes()
        if key not in self._boxes:
            self._boxes[key] = self._box(on)
        box = self._boxes[key]
        return Outcome(INFEASIBLE, np.inf, np.zeros(0), ()) if box is None else self._branch(c, box)

    def _box(self, on: list[int]) -> Box | None:
        """The intervals of throughput that the rows leave, found in rounds; None where they leave
        nothing.
        """
        box: Box = dict.fromkeys(on, (0.0, np.inf))
        for _ in range(ROUNDS):
            for k in on:
                c = np.zeros(len(self.quantities))
                c[self._columns[k][1]] = 1.0
                low, high = self._enclosed(c, box), self._enclosed(-c, box)
                if INFEASIBLE in (low.status, high.status):
                    return None
                box[k] = (
                    max(low.value, 0.0) if low.status == OPTIMAL else box[k][0],
                    -high.value if high.status == OPTIMAL else box[k][1],
                )
        return {k: (low * (1 - PRECISE), high * (1 + PRECISE)) for k, (low, high) in box.items()}

    def _confine(self, k: int, low: float, high: float) -> None:
        """Set the interval of a law's throughput, and the secant above its curve there."""
        model, constant = self._program.model, self.laws[k].constant
        throughput = self._columns[k][1]
        model.changeColBounds(throughput, low, high)
        slope = constant / (low * high) if low > 0 and np.isfinite(high) else 0.0
        most = constant / low + slope * low if low > 0 else np.inf
        model.changeCoeff(self._secant[k], throughput, slope)
        model.changeRowBounds(self._secant[k], -np.inf, most)

    def _branch(self, c: np.ndarray, root: Box) -> Outcome:
        """Depth first; only points that obey every law count as found."""
        best = Outcome(INFEASIBLE, np.inf, np.zeros(0), ())
        boxes: list[tuple[float, Box]] = [(-np.inf, root)]
        looked = 0
        while boxes:
            promised, box = boxes.pop()
            if not self._better(promised, best):
                continue
            found = self._enclosed(c, box)
            looked += 1
            if found.status == UNBOUNDED:
                return found
            if found.status != OPTIMAL or not self._better(found.value, best):
                continue
            gaps = {k: self._gap(found.x, k) for k in box}
            widest = max(gaps, key=lambda k: gaps[k])
            if gaps[widest] <= PRECISE or looked >= MOST_BOXES:
                best = found
                if not c.any():
                    return best
                continue
            low, high = box[widest]
            at = float(found.x[self._columns[widest][1]])
            if low > 0 and np.isfinite(high):  # away from the ends, so that both halves shrink
                at = min(max(at, low + 0.1 * (high - low)), high - 0.1 * (high - low))
            boxes += [(found.value, {**box, widest: half}) for half in ((low, at), (at, high))]
        return best

    @staticmethod
    def _better(value: float, best: Outcome) -> bool:
        return (
            value < best.value - PRECISE * max(1.0, abs(best.value))
            if np.isfinite(best.value)
            else True
        )

    def _enclosed(self, c: np.ndarray, box: Box) -> Outcome:
        """The linear program of one box; tangents that cut its solution off are added until none
        does.
        """
        for k, (low, high) in box.items():
            self._confine(k, low, high)
        for _ in range(MOST_TANGENTS):
            found = self._program.minimum(c)
            below = [k for k in box if found.status == OPTIMAL and self._gap(found.x, k) < -PRECISE]
            if not below:
                break
            for k in below:
                self._touch(k, float(found.x[self._columns[k][1]]))
        return found

    def _touch(self, k: int, at: float) -> None:
        """Add the tangent of a law's curve at a throughput, or at the least that counts."""
        model, constant = self._program.model, self.laws[k].constant
        at = max(at, self._least(k))
        bound = -2 * constant / at
        columns = np.array(self._columns[k], dtype=np.int32)
        self._tangents.append((k, model.getNumRow(), bound))
        model.addRow(-np.inf, bound, 2, columns, np.array([-1.0, -constant / at**2]))

    def _gap(self, x: np.ndarray, k: int) -> float:
        """How far a point lies above the law's curve, relative to it; negative below."""
        response, throughput = (float(x[column]) for column in self._columns[k])
        return response * max(throughput, self._least(k)) / self.laws[k].constant - 1

    def _least(self, k: int) -> float:
        """A throughput so small that nothing more is asked of the law below it."""
        return 1e-3 * self.laws[k].constant ** 0.5

    def settled(self, points: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
        """As for linear rows, once the response times have been moved onto the laws."""
        moved = points.copy()
        for k, law in enumerate(self.laws):
            if mask is None or mask[self._marker[k]]:
                response, throughput = self._columns[k]
                moved[:, response] = law.constant / np.maximum(moved[:, throughput], self._least(k))
        return self.obeying(moved, mask)

    def ratio_interval(
        self, of: Expression, to: Expression, mask: np.ndarray | None = None
    ) -> tuple[float, float]:
        """Smallest and largest value of ``of / to`` for ``to > 0``: Dinkelbach (1967), Management
        Science 13.
        """
        c, d = self.vector(of), self.vector(to)
        outer = super().ratio_interval(of, to, mask)
        if c is None or d is None or not any(mask is None or mask[m] for m in self._marker):
            return outer
        ends = []
        for sign, end in zip((1.0, -1.0), outer, strict=True):
            ratio, point = np.inf, self._solve(np.zeros(len(c)), mask)
            while point.status == OPTIMAL and float(d @ point.x) > 0:
                now = sign * float(c @ point.x) / float(d @ point.x)
                if now > ratio - PRECISE * max(1.0, abs(now)):
                    break
                ratio, point = now, self._solve(sign * c - now * d, mask)
            ends.append(sign * ratio if np.isfinite(ratio) and point.status == OPTIMAL else end)
        return ends[0], ends[1]

    def infeasible_rows(self, mask: np.ndarray) -> np.ndarray:
        """Rows of a small conflict: that of the linear rows alone where they have one, else found
        by halving.
        """
        linear = mask & ~np.isin(self.owner, [law.claim for law in self.laws])
        if not self.feasible(linear):
            return super().infeasible_rows(linear)
        claims = list(dict.fromkeys(o for o in self.owner[mask] if o))
        return np.flatnonzero(self.mask_of(self._conflict([], claims)) & (self.owner != ""))

    def _conflict(self, sure: list[str], claims: list[str]) -> list[str]:
        """The claims of an irreducible conflict that are needed beside `sure` (QuickXplain; Junker,
        AAAI 2004).
        """
        if len(claims) <= 1:
            return claims
        first, second = claims[: len(claims) // 2], claims[len(claims) // 2 :]
        if not self.feasible(self.mask_of([*sure, *first])):
            return self._conflict(sure, first)
        if not self.feasible(self.mask_of([*sure, *second])):
            return self._conflict(sure, second)
        late = self._conflict([*sure, *first], second)
        return [*self._conflict([*sure, *late], first), *late]
