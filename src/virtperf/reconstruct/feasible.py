"""Feasible set of a paper's claims: intervals of quantities, and contradictions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import product

import numpy as np

from virtperf.reconstruct.contradictions import (
    Contradictions,
    Sentences,
    find_contradictions,
    groups_sharing_keys,
    sentence_keys,
)
from virtperf.reconstruct.system import Extreme, LinearSystem
from virtperf.study.claims import Claim, Claims
from virtperf.study.constraints import Inequality, natural_rows
from virtperf.study.definition import Study
from virtperf.study.quantities import Quantity, Quotient

MERGE_TOLERANCE = 1e-6
"""Relative tolerance at which two ranges are merged: below the exported digits."""


@dataclass(frozen=True)
class Cluster:
    """Systems whose claims share sentences, with the contradictions found among these claims."""

    systems: tuple[LinearSystem, ...]
    contradictions: Contradictions


@dataclass(frozen=True)
class Solved:
    """Systems by their rows, and clusters by their systems: each is built and resolved once.

    Sets of claims that share rows share these objects, and with them every range that a system has
    computed: a range belongs to a system and a row mask, never to a set of claims.
    """

    linear: type[LinearSystem]
    systems: dict[tuple[Inequality, ...], LinearSystem] = field(default_factory=dict)
    clusters: dict[tuple[LinearSystem, ...], Cluster] = field(default_factory=dict)

    def system(self, rows: Sequence[Inequality]) -> LinearSystem:
        """The system with these rows."""
        key = tuple(rows)
        if key not in self.systems:
            self.systems[key] = self.linear(key)
        return self.systems[key]

    def cluster(
        self, systems: tuple[LinearSystem, ...], sentences: Sentences, *, explain: bool
    ) -> Cluster:
        """The cluster of these systems, with the contradictions among its claims."""
        if systems not in self.clusters:
            members = {row.claim for system in systems for row in system.rows}
            own_sentences = {c: keys for c, keys in sentences.items() if c in members}
            self.clusters[systems] = Cluster(
                systems, find_contradictions(systems, own_sentences, explain=explain)
            )
        return self.clusters[systems]


@dataclass(frozen=True)
class Feasible:
    """The consistent subset of a set of claims (`kept`) and the feasible set that it defines.

    `clusters`: their systems are the connected components of quantities and claims.
    `solved`: the systems and clusters that may be shared with other sets of claims.
    """

    study: Study
    active: tuple[Claim, ...]
    kept: tuple[Claim, ...]
    contradictions: Contradictions
    clusters: tuple[Cluster, ...]
    solved: Solved
    _resolutions: dict[LinearSystem, list[frozenset[str]]] = field(
        default_factory=dict, compare=False
    )
    _masks: dict[LinearSystem, list[np.ndarray]] = field(default_factory=dict, compare=False)

    @cached_property
    def systems(self) -> tuple[LinearSystem, ...]:
        """The systems of all clusters."""
        return tuple(system for cluster in self.clusters for system in cluster.systems)

    def resolutions(self, *systems: LinearSystem) -> list[frozenset[str]]:
        """Claims of the given systems that each smallest resolution drops.

        `kept` follows the first one.
        """
        if len(systems) == 1 and systems[0] in self._resolutions:
            return self._resolutions[systems[0]]
        combined = [frozenset[str]()]
        for cluster in self.clusters:
            owners = frozenset[str]().union(*(s.claims for s in cluster.systems if s in systems))
            if owners:
                options = dict.fromkeys(
                    owners.intersection(r) for r in cluster.contradictions.resolutions
                )
                combined = [one | other for one, other in product(combined, options)]
        if len(systems) == 1:
            self._resolutions[systems[0]] = combined
        return combined

    def system_of(self, quantity: Quantity) -> LinearSystem | None:
        """The system that contains a quantity, None if no claim names it."""
        return self._system_of.get(quantity)

    @cached_property
    def _system_of(self) -> dict[Quantity, LinearSystem]:
        return {quantity: system for system in self.systems for quantity in system.index}

    def mask(self, system: LinearSystem, without: str | None = None) -> np.ndarray:
        """Row mask of the kept claims, optionally without one of them."""
        return system.mask_of(c.id for c in self.kept if c.id != without)

    def interval(self, quantity: Quantity) -> tuple[Extreme, Extreme]:
        """Identified range of one quantity: minimum to maximum over all smallest resolutions."""
        lows, highs = zip(*self.pieces(quantity), strict=True)
        return min(lows, key=lambda end: end.value), max(highs, key=lambda end: end.value)

    def union(self, quantity: Quantity) -> list[float]:
        """Union of the intervals of one quantity over all smallest resolutions."""
        return merge_intervals((low.value, high.value) for low, high in self.pieces(quantity))

    def masks(self, *systems: LinearSystem) -> list[np.ndarray]:
        """Concatenated row masks of the given systems, one for each smallest resolution."""
        if len(systems) == 1 and systems[0] in self._masks:
            return self._masks[systems[0]]
        claims = [c.id for c in self.active]
        masks = [
            np.concatenate([s.mask_of(c for c in claims if c not in aside) for s in systems])
            for aside in self.resolutions(*systems)
        ]
        if len(systems) == 1:
            self._masks[systems[0]] = masks
        return masks

    def pieces(self, quantity: Quantity) -> list[tuple[Extreme, Extreme]]:
        """The range of one quantity under each smallest resolution."""
        system = self.system_of(quantity)
        if system is None:
            kind = self.study.quantities[quantity.name]
            return [(Extreme(kind.low, ()), Extreme(kind.high, ()))]
        return [system.ranges_of([quantity], mask)[0] for mask in self.masks(system)]

    def measure(self, quantities: Iterable[Quantity]) -> None:
        """Compute the ranges of many quantities in one batch (half the time of single calls)."""
        wanted = list(dict.fromkeys(quantities))
        for system in self.systems:
            if of_system := [q for q in wanted if q in system.index]:
                for mask in self.masks(system):
                    system.ranges_of(of_system, mask)


def merge_intervals(ranges: Iterable[tuple[float, float]]) -> list[float]:
    """Merge overlapping intervals: low1, high1, low2, high2, ... in ascending order."""
    ends: list[float] = []
    for low, high in sorted(ranges):
        if ends and low <= ends[-1] + MERGE_TOLERANCE * max(1.0, abs(ends[-1])):
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
    """Find the contradictions among the active claims, and the systems of the remaining ones.

    `explain` is passed to `find_contradictions`; `linear` is the class of the systems. Systems and
    clusters that `known` has solved are reused.
    """
    active = claims.active(off)
    solved = Solved(linear) if known is None else known.solved
    feasible = _solve_clusters(study, active, (), explain, solved)
    limits = mean_rows(feasible)
    return _solve_clusters(study, active, limits, explain, solved) if limits else feasible


def _solve_clusters(
    study: Study,
    active: tuple[Claim, ...],
    limits: Sequence[Inequality],
    explain: bool,
    solved: Solved,
) -> Feasible:
    sentences = {c.id: sentence_keys(c) for c in active}
    clusters = [
        solved.cluster(tuple(map(solved.system, groups)), sentences, explain=explain)
        for groups in _clusters(_rows(study, active, limits), sentences)
    ]
    by_cluster = [cluster.contradictions for cluster in clusters]
    dropped = {claim for f in by_cluster for claim in f.dropped}
    contradictions = Contradictions(
        tuple(c for c in sentences if c in dropped),
        tuple(conflict for f in by_cluster for conflict in f.conflicts),
        choices=tuple(choice for f in by_cluster for choice in f.choices),
        wider=any(f.wider for f in by_cluster),
    )
    remaining = tuple(c for c in active if c.id not in dropped)
    return Feasible(study, active, remaining, contradictions, tuple(clusters), solved)


def mean_rows(feasible: Feasible) -> list[Inequality]:
    """Inequalities of claims about a mean of quotients, from the ranges that the others allow.

    Relative values are quotients, so no linear relation ties the mean to its parts. The ranges of
    the parts bound the mean: exactly if the parts belong to different groups, else as an outer
    approximation. The parts keep their own ranges; claims about the mean do not narrow them.
    """
    share = cache(lambda quotient: _share(feasible, quotient))
    rows = []
    for claim in feasible.active:
        for instance in claim.instances:
            quotients = claim.mean_of(instance)
            if not quotients:
                continue
            low, high = 100.0 * np.mean([share(quotient) for quotient in quotients], axis=0)
            for sign, end in ((-1.0, low), (1.0, high)):
                if np.isfinite(end):
                    rows.append(
                        Inequality(
                            claim.id,
                            tuple((q, sign * c) for c, q in instance.parts[0].terms),
                            sign * float(end),
                        )
                    )
    return rows


def _share(feasible: Feasible, quotient: Quotient) -> tuple[float, float]:
    """Range of a quotient of two single quantities over all smallest resolutions.

    Natural lower bounds above 0 are ignored for the upper limit: a quotient by a number near 0 has
    none.
    """
    of, to = quotient.of, quotient.to
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
    """Claims of each cluster: those connected by quantities or sentences."""
    sentences = {claim.id: sentence_keys(claim) for claim in active}
    return [
        {row.claim for rows in groups for row in rows if row.claim}
        for groups in _clusters(_rows(study, active), sentences)
    ]


def _rows(
    study: Study, active: Sequence[Claim], limits: Sequence[Inequality] = ()
) -> list[Inequality]:
    """Rows of the claims, `limits`, and natural bounds of all quantities named or plotted."""
    rows = [*(row for claim in active for row in claim.rows(study)), *limits]
    named = dict.fromkeys(q for row in rows for q, _ in row.terms)
    plotted = [q for e in study.exhibits for _, _, q in study.points(e)]
    return [*rows, *natural_rows(study, [*named, *plotted])]


def _clusters(rows: Sequence[Inequality], sentences: Sentences) -> list[list[list[Inequality]]]:
    """Group rows into systems that share no quantity or claim, and systems into clusters.

    Systems whose claims share sentences form one cluster, since sentences are dropped whole. In
    stable order.
    """
    groups = groups_sharing_keys(
        rows, [[*(q for q, _ in r.terms), *((r.claim,) if r.claim else ())] for r in rows]
    )
    own_sentences = [
        [key for claim in dict.fromkeys(r.claim for r in rows) for key in sentences.get(claim, ())]
        for rows in groups
    ]
    return groups_sharing_keys(groups, own_sentences)
