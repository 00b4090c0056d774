"""What a paper's text pins down: feasible intervals, contradictions, leave-one-out
verdicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import product

import numpy as np

from virtperf.reconstruct.contradictions import (
    Contradictions,
    find_contradictions,
    groups_sharing_keys,
    sentence_keys,
)
from virtperf.reconstruct.system import Extreme, LinearSystem
from virtperf.study.claims import Claim, Claims
from virtperf.study.constraints import Inequality, claim_rows, natural_rows
from virtperf.study.definition import Study
from virtperf.study.quantities import Expression, Quantity

TOUCHING = 1e-6
"""Relative distance at which two ranges count as one: below the digits that are exported."""


@dataclass(frozen=True)
class Cluster:
    """Systems whose claims share sentences, with what is set aside so that they can all hold."""

    systems: tuple[LinearSystem, ...]
    found: Contradictions


@dataclass(frozen=True)
class Feasible:
    """The consistent part of a set of claims (`kept`) and what it implies.

    `clusters`: their systems are one per group of quantities that no claim connects with another
        group.
    `known`: of other claims, which has some of the same systems.
    """

    study: Study
    active: tuple[Claim, ...]
    kept: tuple[Claim, ...]
    contradictions: Contradictions
    clusters: tuple[Cluster, ...]
    known: Feasible | None = None
    _pieces: dict[Quantity, list[tuple[Extreme, Extreme]]] = field(
        default_factory=dict, compare=False
    )
    _resolutions: dict[LinearSystem, list[frozenset[str]]] = field(
        default_factory=dict, compare=False
    )

    @cached_property
    def systems(self) -> tuple[LinearSystem, ...]:
        """The systems of all clusters."""
        return tuple(system for cluster in self.clusters for system in cluster.systems)

    def resolutions(self, *systems: LinearSystem) -> list[frozenset[str]]:
        """What all smallest resolutions set aside of the claims of some systems; `kept` has gone by
        the first.
        """
        if len(systems) == 1 and systems[0] in self._resolutions:
            return self._resolutions[systems[0]]
        combined = [frozenset[str]()]
        for cluster in self.clusters:
            owners = frozenset(o for s in cluster.systems if s in systems for o in s.owner)
            if owners:
                own = dict.fromkeys(owners.intersection(r) for r in cluster.found.resolutions)
                combined = [one | other for one, other in product(combined, own)]
        if len(systems) == 1:
            self._resolutions[systems[0]] = combined
        return combined

    def system_of(self, quantity: Quantity) -> LinearSystem | None:
        """The group that a quantity belongs to, None when no claim is about it."""
        return self._system_of.get(quantity)

    @cached_property
    def _system_of(self) -> dict[Quantity, LinearSystem]:
        return {quantity: system for system in self.systems for quantity in system.index}

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

    def masks(self, *systems: LinearSystem) -> list[np.ndarray]:
        """The rows of some systems, one after the other, that hold under each smallest
        resolution.
        """
        claims = [c.id for c in self.active]
        return [
            np.concatenate([s.mask_of(c for c in claims if c not in aside) for s in systems])
            for aside in self.resolutions(*systems)
        ]

    def shares(self, quantity: Quantity) -> bool:
        """Whether everything that is said of a quantity is what `known` has of it."""
        if self.known is None:
            return False
        system = self.system_of(quantity)
        if system is not self.known.system_of(quantity):
            return False
        return system is None or self.resolutions(system) == self.known.resolutions(system)

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

    `explain` is passed on to `find_contradictions`; `linear` is what the systems are; those that
    `known` has too are its own.
    """
    active = claims.active(off)
    found = _solved(study, active, (), explain, linear, known)
    limits = mean_rows(found)
    return _solved(study, active, limits, explain, linear, found) if limits else found


def _solved(
    study: Study,
    active: tuple[Claim, ...],
    limits: Sequence[Inequality],
    explain: bool,
    linear: type[LinearSystem],
    known: Feasible | None,
) -> Feasible:
    sentences = {c.id: sentence_keys(c) for c in active}
    before = {} if known is None else {cluster.systems: cluster for cluster in known.clusters}
    same = {} if known is None else {system.rows: system for system in known.systems}
    clusters: list[Cluster] = []
    for groups in _clusters(_rows(study, active, limits), sentences):
        systems = tuple(same.get(tuple(rows)) or linear(rows) for rows in groups)
        if systems not in before:
            own = {row.claim for rows in groups for row in rows}
            said = {c: keys for c, keys in sentences.items() if c in own}
            before[systems] = Cluster(systems, find_contradictions(systems, said, explain=explain))
        clusters.append(before[systems])
    found = [cluster.found for cluster in clusters]
    dropped = {claim for f in found for claim in f.dropped}
    contradictions = Contradictions(
        tuple(c for c in sentences if c in dropped),
        tuple(conflict for f in found for conflict in f.conflicts),
        choices=tuple(choice for f in found for choice in f.choices),
        wider=any(f.wider for f in found),
    )
    kept = tuple(c for c in active if c.id not in dropped)
    return Feasible(study, active, kept, contradictions, tuple(clusters), known)


def mean_rows(feasible: Feasible) -> list[Inequality]:
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
                        Inequality(
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
    least = min(lows)
    most = max(system.ratio_interval(of, to, mask & ~above_0)[1] for mask in masks)
    return (least, most) if least <= most else (-np.inf, np.inf)


def connected_claims(study: Study, active: Sequence[Claim]) -> list[set[str]]:
    """The claims of each cluster: those that quantities or sentences connect."""
    sentences = {claim.id: sentence_keys(claim) for claim in active}
    return [
        {row.claim for rows in groups for row in rows if row.claim}
        for groups in _clusters(_rows(study, active), sentences)
    ]


def _rows(
    study: Study, active: Sequence[Claim], limits: Sequence[Inequality] = ()
) -> list[Inequality]:
    """The rows of claims, `limits`, and the natural bounds of all quantities that they name or that
    are plotted.
    """
    rows = [*(row for claim in active for row in claim_rows(study, claim)), *limits]
    named = dict.fromkeys(q for row in rows for q, _ in row.terms)
    plotted = [q for e in study.exhibits for _, _, q in study.points(e)]
    return [*rows, *natural_rows(study, [*named, *plotted])]


def _clusters(
    rows: Sequence[Inequality], sentences: Mapping[str, frozenset[str]]
) -> list[list[list[Inequality]]]:
    """Rows in groups that share no quantity and no claim; groups that share sentences, which are
    set aside whole, together. In stable order.
    """
    groups = groups_sharing_keys(
        rows, [[*(q for q, _ in r.terms), *((r.claim,) if r.claim else ())] for r in rows]
    )
    said = [
        [key for claim in dict.fromkeys(r.claim for r in rows) for key in sentences.get(claim, ())]
        for rows in groups
    ]
    return groups_sharing_keys(groups, said)
