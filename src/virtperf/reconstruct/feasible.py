"""What a paper's text pins down: feasible intervals, contradictions, leave-one-out
verdicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from virtperf.reconstruct.contradictions import (
    Contradictions,
    find_contradictions,
    sentence_keys,
)
from virtperf.reconstruct.system import Extreme, LinearSystem
from virtperf.study.claims import Claim, Claims
from virtperf.study.constraints import Row, claim_rows, natural_rows
from virtperf.study.definition import Study
from virtperf.study.quantities import Expression, Quantity

TOUCHING = 1e-6
"""Relative distance at which two ranges count as one: below the digits that are exported."""


@dataclass(frozen=True)
class Feasible:
    """The consistent part of a set of claims (`kept`) and what it implies.

    `systems`: one per group of quantities that no claim connects with another group; `found`: the
        same in each.
    `known`: of other claims, which has some of the same systems.
    """

    study: Study
    active: tuple[Claim, ...]
    kept: tuple[Claim, ...]
    contradictions: Contradictions
    systems: tuple[LinearSystem, ...]
    found: tuple[Contradictions, ...]
    known: Feasible | None = None
    _pieces: dict[Quantity, list[tuple[Extreme, Extreme]]] = field(
        default_factory=dict, compare=False
    )

    @property
    def resolutions(self) -> tuple[tuple[tuple[str, ...], ...], ...]:
        """For each system all smallest sets of claims to set aside; `kept` has gone by the first of
        each.
        """
        return tuple(found.resolutions for found in self.found)

    def system_of(self, quantity: Quantity) -> LinearSystem | None:
        """The group that a quantity belongs to, None when no claim is about it."""
        return next((s for s in self.systems if quantity in s.index), None)

    def mask(self, system: LinearSystem, without: str | None = None) -> np.ndarray:
        """The rows of the kept claims, perhaps without one of them."""
        return system.mask_of(c.id for c in self.kept if c.id != without)

    def interval(self, quantity: Quantity) -> tuple[Extreme, Extreme]:
        """The range of one quantity: from the smallest to the largest value over all smallest
        resolutions.
        """
        lows, highs = zip(*self.pieces(quantity), strict=True)
        return min(lows, key=lambda end: end.value), max(highs, key=lambda end: end.value)

    def union(self, quantity: Quantity) -> list[float]:
        """The range of one quantity with its gaps, over all smallest resolutions; see `merge_intervals`."""
        return merge_intervals((low.value, high.value) for low, high in self.pieces(quantity))

    def masks(self, system: LinearSystem) -> list[np.ndarray]:
        """The rows of a system that hold under each smallest resolution."""
        claims = [c.id for c in self.active]
        resolutions = self.resolutions[self.systems.index(system)]
        return [system.mask_of(c for c in claims if c not in dropped) for dropped in resolutions]

    def shares(self, quantity: Quantity) -> bool:
        """Whether everything that is said of a quantity is what `known` has of it."""
        return self.known is not None and self.system_of(quantity) is self.known.system_of(quantity)

    def pieces(self, quantity: Quantity) -> list[tuple[Extreme, Extreme]]:
        """The range of one quantity under each smallest resolution."""
        if self.known is not None and self.shares(quantity):
            return self.known.pieces(quantity)
        if quantity not in self._pieces:
            self.measure([quantity])
        return self._pieces[quantity]

    def measure(self, quantities: Iterable[Quantity]) -> None:
        """Find the ranges of many quantities, which takes half as long as one by one."""
        asked = [q for q in quantities if q not in self._pieces and not self.shares(q)]
        for quantity in asked:
            if self.system_of(quantity) is None:
                kind = self.study.quantities[quantity.name]
                self._pieces[quantity] = [(Extreme(kind.low, ()), Extreme(kind.high, ()))]
        for system in self.systems:
            own = [q for q in asked if q in system.index]
            single = [Expression(((1.0, q),)) for q in own]
            ranges = [system.intervals(single, mask) for mask in self.masks(system)] if own else []
            self._pieces.update(zip(own, map(list, zip(*ranges, strict=True)), strict=True))


def merge_intervals(ranges: Iterable[tuple[float, float]]) -> list[float]:
    """Ranges as one, with its gaps: low1, high1, low2, high2, ... in ascending order."""
    ends: list[float] = []
    for low, high in sorted(ranges):
        if ends and low <= ends[-1] + TOUCHING * max(1.0, abs(ends[-1])):
            ends[-1] = max(ends[-1], high)
        else:
            ends += [low, high]
    return ends


def solve(
    study: Study,
    claims: Claims,
    off: tuple[str, ...] = (),
    *,
    explain: bool = True,
    linear: type[LinearSystem] = LinearSystem,
    known: Feasible | None = None,
) -> Feasible:
    """Find the contradictions among the active claims and the system that the others form.

    `explain` is passed on to `find_contradictions`, `linear` to `systems_of`; systems that `known`
        has too are its own.
    """
    active = claims.active(off)
    found = _solved(study, active, (), explain, linear, known)
    limits = mean_rows(found)
    return _solved(study, active, limits, explain, linear, found) if limits else found


def _solved(
    study: Study,
    active: tuple[Claim, ...],
    limits: Sequence[Row],
    explain: bool,
    linear: type[LinearSystem],
    known: Feasible | None,
) -> Feasible:
    sentences = {c.id: sentence_keys(c) for c in active}
    before = (
        {}
        if known is None
        else dict(zip((s.rows for s in known.systems), range(len(known.systems)), strict=True))
    )
    systems: list[LinearSystem] = []
    found: list[Contradictions] = []
    for system in systems_of(study, active, linear, limits):
        if known is not None and system.rows in before:
            place = before[system.rows]
            systems.append(known.systems[place])
            found.append(known.found[place])
        else:
            own = set(system.owner)
            systems.append(system)
            found.append(
                find_contradictions(
                    system,
                    {c: keys for c, keys in sentences.items() if c in own},
                    explain=explain,
                )
            )
    dropped = {claim for f in found for claim in f.dropped}
    contradictions = Contradictions(
        tuple(c for c in sentences if c in dropped),
        tuple(conflict for f in found for conflict in f.conflicts),
        choices=tuple(choice for f in found for choice in f.choices),
        wider=any(f.wider for f in found),
    )
    kept = tuple(c for c in active if c.id not in dropped)
    return Feasible(study, active, kept, contradictions, tuple(systems), tuple(found), known)


def mean_rows(feasible: Feasible) -> list[Row]:
    """The limits of all claims of the kind `relative_mean`, from the ranges that the other claims
    allow.

    Relative values are quotients, so that no linear relation ties the mean to its parts. Their
    ranges give limits of it: no value between them is excluded where the parts belong to different
    groups, and none outside is possible. The parts keep their own ranges; what is said of the mean
    does not narrow them.
    """
    share = cache(lambda of, to: _share(feasible, of, to))
    rows = []
    for claim in feasible.active:
        for instance in claim.instances if claim.kind == "relative_mean" else ():
            whole, *parts = instance.parts
            pairs = zip(parts[::2], parts[1::2], strict=True)
            low, high = 100.0 * np.mean([share(*pair) for pair in pairs], axis=0)
            for sign, end in ((-1.0, low), (1.0, high)):
                if np.isfinite(end):
                    rows.append(
                        Row(
                            claim.id,
                            tuple((q, sign * c) for c, q in whole.terms),
                            sign * float(end),
                        )
                    )
    return rows


def _share(feasible: Feasible, of: Expression, to: Expression) -> tuple[float, float]:
    """The range of ``of / to`` over all smallest resolutions; both are one quantity each.

    Natural bounds that keep quantities above 0 set no upper limit: a quotient by a number near 0
    has none.
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
        [
            not row.claim and len(row.terms) == 1 and row.terms[0][1] < 0 > row.bound
            for row in system.rows
        ]
    )
    masks = feasible.masks(system)
    lows = [system.ratio_interval(of, to, mask)[0] for mask in masks]
    low = min(lows)
    high = max(system.ratio_interval(of, to, mask & ~above_0)[1] for mask in masks)
    return (low, high) if low <= high else (-np.inf, np.inf)


def systems_of(
    study: Study,
    active: Sequence[Claim],
    linear: type[LinearSystem] = LinearSystem,
    limits: Sequence[Row] = (),
) -> tuple[LinearSystem, ...]:
    """One system for each group of quantities that the claims connect, the plotted points among
    them.

    `linear` is what the systems are; `limits` are rows beside those of the claims.
    """
    rows = [*(row for claim in active for row in claim_rows(study, claim)), *limits]
    named = dict.fromkeys(q for row in rows for q, _ in row.terms)
    plotted = [q for e in study.exhibits for _, _, q in study.points(e)]
    keys = {claim.id: sentence_keys(claim) for claim in active}
    return tuple(map(linear, _groups([*rows, *natural_rows(study, [*named, *plotted])], keys)))


def _groups(rows: Sequence[Row], sentences: Mapping[str, frozenset[str]]) -> list[list[Row]]:
    """Rows grouped by connected quantities, in stable order; the rows of a claim, and of a
    sentence, which are set aside whole, together.
    """
    number: dict[object, int] = {}
    edges = [
        (place, len(rows) + number.setdefault(name, len(number)))
        for place, row in enumerate(rows)
        for name in (
            *(quantity for quantity, _ in row.terms),
            *((("claim", row.claim),) if row.claim else ()),
            *(("sentence", key) for key in sentences.get(row.claim, ())),
        )
    ]
    size = len(rows) + len(number)
    graph = coo_array(
        (np.ones(len(edges)), np.array(edges, dtype=int).reshape(-1, 2).T), shape=(size, size)
    )
    groups: dict[int, list[Row]] = {}
    for row, group in zip(
        rows, connected_components(graph, directed=False)[1].tolist(), strict=False
    ):
        groups.setdefault(group, []).append(row)
    return list(groups.values())
