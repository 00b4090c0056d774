"""Feasible set of a paper's claims: intervals of quantities, and contradictions."""

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

MERGE_TOLERANCE = 1e-6
"""Relative tolerance at which two ranges are merged: below the exported digits."""


@dataclass(frozen=True)
class Cluster:
    """Systems whose claims share sentences, with the contradictions found among these claims."""

    systems: tuple[LinearSystem, ...]
    contradictions: Contradictions


@dataclass(frozen=True)
class Feasible:
    """The consistent subset of a set of claims (`kept`) and the feasible set that it defines.

    `clusters`: their systems are the connected components of quantities and claims.
    `known`: the result for another set of claims, which shares some of the systems.
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
        """Claims of the given systems that each smallest resolution drops.

        `kept` follows the first one.
        """
        if len(systems) == 1 and systems[0] in self._resolutions:
            return self._resolutions[systems[0]]
        combined = [frozenset[str]()]
        for cluster in self.clusters:
            owners = frozenset(o for s in cluster.systems if s in systems for o in s.owner)
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
        claims = [c.id for c in self.active]
        return [
            np.concatenate([s.mask_of(c for c in claims if c not in aside) for s in systems])
            for aside in self.resolutions(*systems)
        ]

    def shares(self, quantity: Quantity) -> bool:
        """Whether `known` has the same system and the same resolutions for a quantity."""
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
        """Compute the ranges of many quantities in one batch (half the time of single calls)."""
        unmeasured = [q for q in quantities if q not in self._pieces and not self.shares(q)]
        for quantity in unmeasured:
            if self.system_of(quantity) is None:
                kind = self.study.quantities[quantity.name]
                self._pieces[quantity] = [(Extreme(kind.low, ()), Extreme(kind.high, ()))]
        for system in self.systems:
            of_system = [q for q in unmeasured if q in system.index]
            single = [Expression(((1.0, q),)) for q in of_system]
            ranges = (
                [system.intervals(single, mask) for mask in self.masks(system)] if of_system else []
            )
            self._pieces.update(zip(of_system, map(list, zip(*ranges, strict=True)), strict=True))


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
    clusters that `known` shares are reused.
    """
    active = claims.active(off)
    feasible = _solve_clusters(study, active, (), explain, linear, known)
    limits = mean_rows(feasible)
    return _solve_clusters(study, active, limits, explain, linear, feasible) if limits else feasible


def _solve_clusters(
    study: Study,
    active: tuple[Claim, ...],
    limits: Sequence[Inequality],
    explain: bool,
    linear: type[LinearSystem],
    known: Feasible | None,
) -> Feasible:
    sentences = {c.id: sentence_keys(c) for c in active}
    known_clusters = (
        {} if known is None else {cluster.systems: cluster for cluster in known.clusters}
    )
    known_systems = {} if known is None else {system.rows: system for system in known.systems}
    clusters: list[Cluster] = []
    for groups in _clusters(_rows(study, active, limits), sentences):
        systems = tuple(known_systems.get(tuple(rows)) or linear(rows) for rows in groups)
        if systems not in known_clusters:
            claim_ids = {row.claim for rows in groups for row in rows}
            own_sentences = {c: keys for c, keys in sentences.items() if c in claim_ids}
            known_clusters[systems] = Cluster(
                systems, find_contradictions(systems, own_sentences, explain=explain)
            )
        clusters.append(known_clusters[systems])
    by_cluster = [cluster.contradictions for cluster in clusters]
    dropped = {claim for f in by_cluster for claim in f.dropped}
    contradictions = Contradictions(
        tuple(c for c in sentences if c in dropped),
        tuple(conflict for f in by_cluster for conflict in f.conflicts),
        choices=tuple(choice for f in by_cluster for choice in f.choices),
        wider=any(f.wider for f in by_cluster),
    )
    remaining = tuple(c for c in active if c.id not in dropped)
    return Feasible(study, active, remaining, contradictions, tuple(clusters), known)


def mean_rows(feasible: Feasible) -> list[Inequality]:
    """Inequalities of all `relative_mean` claims, from the ranges that the other claims allow.

    Relative values are quotients, so no linear relation ties the mean to its parts. The ranges of
    the parts bound the mean: exactly if the parts belong to different groups, else as an outer
    approximation. The parts keep their own ranges; claims about the mean do not narrow them.
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
    """Range of ``of / to`` over all smallest resolutions; both are single quantities.

    Natural lower bounds above 0 are ignored for the upper limit: a quotient by a number near 0 has
    none.
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
    rows = [*(row for claim in active for row in claim_rows(study, claim)), *limits]
    named = dict.fromkeys(q for row in rows for q, _ in row.terms)
    plotted = [q for e in study.exhibits for _, _, q in study.points(e)]
    return [*rows, *natural_rows(study, [*named, *plotted])]


def _clusters(
    rows: Sequence[Inequality], sentences: Mapping[str, frozenset[str]]
) -> list[list[list[Inequality]]]:
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
