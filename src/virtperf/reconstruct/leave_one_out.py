"""Leave-one-out verdicts: each claim tested against the paper's other claims.

A claim is left out together with the claims that only its own statement makes: other parts of the
same sentence, other cells of the same row. The contradictions of the rest are resolved anew (all
smallest sets of claims to drop), so that no conflict that involves the claim is reused. The verdict
is about the claim alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from rawperf.core.table_columns import round_digits
from virtperf.core.verdicts import Verdict
from virtperf.reconstruct.contradictions import sentence_keys, smallest_resolutions
from virtperf.reconstruct.feasible import Cluster, Feasible
from virtperf.reconstruct.lp_cache import CachedLinearSystem
from virtperf.reconstruct.system import Extreme, LinearSystem
from virtperf.study.claims import Claim
from virtperf.study.definition import Study
from virtperf.study.quantities import Expression, Instance, Quotient

LP_TOLERANCE = 1e-6
EXPORT_TOLERANCE = 1e-10
"""Tolerance below the exported digits."""

STABLE_DIGITS = 12
"""Significant digits to which two solution paths to the same vertex agree."""


@dataclass(frozen=True)
class TextVerdict:
    """Verdict on a claim by the paper's other claims.

    `verdict`: by the other claims, or that of an assumption.
    `implied`: range of the claim's number that the others allow, over all resolutions; for a
        contradicted claim with several instances, only over the instances that the others exclude.
    `information`: mean share, 0 to 1, by which the claim narrows the intervals of the points in its
        exhibits.
    """

    verdict: Verdict
    implied: tuple[float, float]
    information: float


class LeaveOneOut:
    """Judges claims by leaving out one at a time; conflicts found for one claim are reused."""

    def __init__(self, feasible: Feasible) -> None:
        self.feasible = feasible
        self._active = {c.id: c for c in feasible.active}
        self._clusters = [_ResolvedCluster(cluster, self._active) for cluster in feasible.clusters]

    def judge(self, claim: Claim) -> TextVerdict:
        """Leave out the claim and its statement, and compare it with the range the rest implies."""
        if claim.id not in self._active:
            return TextVerdict(Verdict.OFF, (-np.inf, np.inf), 0.0)
        cluster = self._cluster(claim)
        system = cluster.system_of(claim)
        masks = list(cluster.without(claim))
        least = _natural_lower_bound(self.feasible.study, claim)
        verdict = self._verdict(claim, system, masks)
        find = _implied_where_excluded if verdict == Verdict.CONTRADICTED else _implied
        spans = [find(system, mask, claim, least) for mask in masks]
        # round first: solver noise must not flip the exported digit
        low, high = round_digits(
            (min(low for low, _ in spans), max(high for _, high in spans)), STABLE_DIGITS
        )
        if low > high:  # a ratio whose divisor is 0 under every resolution
            low, high = least, np.inf
        dropped = claim.id in self.feasible.contradictions.dropped
        information = 0.0 if dropped else self._information(system, claim)
        return TextVerdict(verdict, (float(low), float(high)), information)

    def verdict(self, claim: Claim) -> Verdict:
        """Verdict of `judge` without range and information, in half the time."""
        if claim.id not in self._active:
            return Verdict.OFF
        cluster = self._cluster(claim)
        return self._verdict(claim, cluster.system_of(claim), cluster.without(claim))

    def _verdict(self, claim: Claim, system: LinearSystem, masks: Iterable[np.ndarray]) -> Verdict:
        if claim.assumed:
            return (
                Verdict.CONTRADICTED
                if claim.id in self.feasible.contradictions.dropped
                else Verdict.ASSUMED
            )
        if _implied_by_bounds(system, claim.id):
            return Verdict.CONVENTION
        return verdict_of(system, masks, claim.id)

    def assumes(self, claim: Claim) -> bool:
        """Whether an assumption of ours is connected to the claim, directly or indirectly."""
        return claim.id in self._active and any(
            not keys for keys in self._cluster(claim).sentences.values()
        )

    def _cluster(self, claim: Claim) -> _ResolvedCluster:
        return next(cluster for cluster in self._clusters if claim.id in cluster.sentences)

    def _information(self, system: LinearSystem, claim: Claim) -> float:
        study = self.feasible.study
        about = [
            e
            for e in study.exhibits
            if e.id in claim.exhibits or (claim.assumed and not claim.exhibits)
        ]
        named = dict.fromkeys(q for e in about for _, _, q in study.points(e) if q in system.index)
        with_it = {
            q: self.feasible.pieces(q)[0] for q in named
        }  # by the first resolution, as `kept`
        bounded = [
            q for q, ends in with_it.items() if any(claim.id in end.binding_claims for end in ends)
        ]
        single = [Expression(((1.0, q),)) for q in bounded]
        others = system.intervals(single, self.feasible.mask(system, claim.id))
        without = {**with_it, **dict(zip(bounded, others, strict=True))}
        gains = [
            _gain(_width(with_it[q]), _width(ends))
            for q, ends in without.items()
            if _width(ends) > LP_TOLERANCE
        ]
        return float(np.mean(gains)) if gains else 0.0


class _ResolvedCluster:
    """A cluster of systems with a cache of the known conflicts among its claims.

    `sentences`: by claim of the cluster, the sentences that state it.
    """

    def __init__(self, cluster: Cluster, active: Mapping[str, Claim]) -> None:
        # successive leave-one-out masks differ in few rows, so that cached solutions are reused
        self._systems = [
            s if isinstance(s, CachedLinearSystem) else CachedLinearSystem(s.rows)
            for s in cluster.systems
        ]
        members = set().union(*(system.claims for system in self._systems))
        self._claims = [claim for claim in active.values() if claim.id in members]
        self.sentences = {claim.id: sentence_keys(claim) for claim in self._claims}
        self._conflicts = list(cluster.contradictions.conflicts)

    def system_of(self, claim: Claim) -> LinearSystem:
        """The system that contains the rows of a claim."""
        return next(system for system in self._systems if claim.id in system.claims)

    def without(self, claim: Claim) -> Iterator[np.ndarray]:
        """Row masks of the system's other claims, one for each of their smallest resolutions."""
        system = self.system_of(claim)
        left_out = claims_of_same_statement(claim, self._claims)
        others = {c: keys for c, keys in self.sentences.items() if c not in left_out}
        known = [c for c in self._conflicts if left_out.isdisjoint(c)]
        before = len(known)
        resolutions = smallest_resolutions(self._systems, others, known)
        self._conflicts += known[before:]
        for aside in dict.fromkeys(system.claims.intersection(one) for one in resolutions.dropped):
            yield system.mask_of(c for c in others if c not in aside)


def _width(ends: tuple[Extreme, Extreme]) -> float:
    return ends[1].value - ends[0].value


def claims_of_same_statement(claim: Claim, claims: Iterable[Claim]) -> set[str]:
    """Ids of the claim and of the claims made only by its own sentences (or row of a table)."""
    sentences = set(claim.sentences)
    return {claim.id} | {c.id for c in claims if c.sentences and sentences.issuperset(c.sentences)}


def relation(system: LinearSystem, others: np.ndarray, claim: str) -> Verdict:
    """Relation of a claim to the (masked) rows: contradicted, corroborated or independent."""
    if not system.feasible(others | system.rows_of(claim)):
        return Verdict.CONTRADICTED
    return Verdict.CORROBORATED if is_implied(system, others, claim) else Verdict.INDEPENDENT


def verdict_of(system: LinearSystem, masks: Iterable[np.ndarray], claim: str) -> Verdict:
    """Relation of a claim to others over all their resolutions; depends if it is not unique."""
    relations: set[Verdict] = set()
    for mask in masks:
        relations.add(relation(system, mask, claim))
        if len(relations) > 1:
            return Verdict.DEPENDS
    return relations.pop()


def is_implied(system: LinearSystem, others: np.ndarray, claim: str) -> bool:
    """Whether the (masked) rows imply the claim: no feasible point violates it."""
    return not any(
        system.can_exceed(c, limit, others) for c, limit in _tolerant_rows(system, claim)
    )


def _implied_by_bounds(system: LinearSystem, claim: str) -> bool:
    """Whether the natural bounds of the claim's own quantities imply it."""
    low, high = system.natural_bounds
    for c, limit in _tolerant_rows(system, claim):
        named = np.flatnonzero(c)
        if np.maximum(c[named] * low[named], c[named] * high[named]).sum() > limit:
            return False
    return True


def _tolerant_rows(system: LinearSystem, claim: str) -> Iterator[tuple[np.ndarray, float]]:
    """Coefficients and bound of each row of a claim; the bound has the solver's tolerance."""
    for i in np.flatnonzero(system.rows_of(claim)):
        bound = system.b[i]
        yield system.A[i], bound + LP_TOLERANCE * system.scale[i] * max(1.0, abs(bound))


def _implied(
    system: LinearSystem, others: np.ndarray, claim: Claim, least: float
) -> tuple[float, float]:
    """Union of the implied ranges over the claim's instances, clipped below at `least`."""
    low, high = np.inf, -np.inf
    for instance in claim.instances:
        bounds = _implied_by_instance(system, others, claim, instance)
        if bounds is None:
            return -np.inf, np.inf
        # a divisor that is never above 0 gives (inf, -inf), the neutral element of the union
        low, high = min(low, max(bounds[0], least)), max(high, bounds[1])
        if low <= least + EXPORT_TOLERANCE and high == np.inf:  # other instances can't widen it
            break
    return low, high


def _implied_where_excluded(
    system: LinearSystem, others: np.ndarray, claim: Claim, least: float
) -> tuple[float, float]:
    """Union of the implied ranges over the instances that the others exclude individually.

    Over all instances if the others exclude only several of them jointly.
    """
    limits = claim.stated_limits
    if limits is None:
        return _implied(system, others, claim, least)
    bounds = [_implied_by_instance(system, others, claim, at) for at in claim.instances]
    excluded = [
        (max(span[0], least), span[1]) for span in bounds if span and _disjoint(span, limits)
    ]
    if not excluded:
        return _implied(system, others, claim, least)
    return min(low for low, _ in excluded), max(high for _, high in excluded)


def _disjoint(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two non-empty ranges are disjoint."""
    room = LP_TOLERANCE * max(1.0, *(abs(end) for end in other if np.isfinite(end)))
    return one[0] <= one[1] and (one[0] > other[1] + room or one[1] < other[0] - room)


def _natural_lower_bound(study: Study, claim: Claim) -> float:
    """Natural lower bound of the claim's number, independent of all claims."""
    terms = [term for instance in claim.instances for part in instance.parts for term in part.terms]
    if any(c < 0 or study.quantities[q.name].low < 0 for c, q in terms):
        return -np.inf
    return claim.natural_least


def _implied_by_instance(
    system: LinearSystem, others: np.ndarray, claim: Claim, instance: Instance
) -> tuple[float, float] | None:
    number = claim.stated_number(instance)
    if number is None:
        return None
    if isinstance(number, Quotient):
        low, high = system.ratio_interval(number.of, number.to, others)
        return claim.of_quotient(low), claim.of_quotient(high)
    low_end, high_end = system.interval(number, others)
    return low_end.value, high_end.value


def _gain(with_it: float, without: float) -> float:
    """Relative reduction of a range's width by a claim, given the widths with and without it."""
    if not np.isfinite(without):
        return float(np.isfinite(with_it))
    gain = 1 - with_it / without
    return float(min(gain, 1.0)) if gain > LP_TOLERANCE else 0.0
