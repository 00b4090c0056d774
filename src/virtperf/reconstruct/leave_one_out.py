"""What the paper's other claims say about each claim, and how much each claim adds.

A claim is left out, the others are resolved anew (all cheapest sets of claims to set aside), and every law is enclosed
anew: nothing that was found with the claim is used without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from virtperf.reconstruct.contradictions import cheapest_resolutions, drop_cost
from virtperf.reconstruct.feasible import Feasible
from virtperf.reconstruct.system import LinearSystem
from virtperf.study.claims import Claim
from virtperf.study.quantities import Expression, Quantity

TOLERANCE = 1e-6


@dataclass(frozen=True)
class TextVerdict:
    """A claim judged by the paper's other claims.

    Attributes
    ----------
    claim : str
    verdict : str
        corroborated (the others imply it), independent (they leave it open), contradicted (they exclude it), depends
        (on which of the others are set aside, where they contradict each other), assumed (an assumption of ours, not
        judged) or off (an assumption that is switched off).
    implied : tuple of float
        What the others allow for the claim's number (its ratio, level, difference or percent change), over all
        resolutions.
    information : float
        The mean share by which the claim narrows the feasible intervals of the points that it speaks of, 0 to 1.
    """

    claim: str
    verdict: str
    implied: tuple[float, float]
    information: float


def judge(feasible: Feasible, claim: Claim) -> TextVerdict:
    """Leave the claim out and compare it with what the others imply."""
    if claim.id not in {c.id for c in feasible.active}:
        return TextVerdict(claim.id, "off", (-np.inf, np.inf), 0.0)
    system = next(s for s in feasible.systems if claim.id in set(s.owner))
    masks = list(_without(feasible, system, claim))
    spans = [_implied(system, mask, claim) for mask in masks]
    implied = min(low for low, _ in spans), max(high for _, high in spans)
    dropped = claim.id in feasible.contradictions.dropped
    if claim.assumed:
        verdict = "contradicted" if dropped else "assumed"
    else:
        verdict = verdict_of({relation(system, mask, claim.id) for mask in masks})
    return TextVerdict(claim.id, verdict, implied, 0.0 if dropped else _information(feasible, system, claim))


def _without(feasible: Feasible, system: LinearSystem, claim: Claim) -> Iterator[np.ndarray]:
    """The rows of the other claims of the group, once for each of their cheapest resolutions."""
    members = set(system.owner)
    others = {c.id: drop_cost(c) for c in feasible.active if c.id in members and c.id != claim.id}
    known = [c for c in feasible.contradictions.conflicts if claim.id not in c and set(c) <= members]
    for dropped in cheapest_resolutions(system, others, known):
        yield system.mask_of(c for c in others if c not in dropped)


def relation(system: LinearSystem, others: np.ndarray, claim: str) -> str:
    """What the (masked) rows of other claims say of a claim: contradicted, corroborated or independent."""
    if not system.feasible(others | (system.owner == claim)):
        return "contradicted"
    return "corroborated" if _is_implied(system, others, claim) else "independent"


def verdict_of(relations: set[str]) -> str:
    """The verdict over all resolutions: theirs where they agree, else depends."""
    return next(iter(relations)) if len(relations) == 1 else "depends"


def _is_implied(system: LinearSystem, others: np.ndarray, claim: str) -> bool:
    for i in np.flatnonzero(system.owner == claim):
        row = Expression(tuple((float(c), q) for c, q in zip(system.A[i], system.quantities, strict=True) if c))
        if system.maximum(row, others).value > system.b[i] + TOLERANCE * system.scale[i] * max(1.0, abs(system.b[i])):
            return False
    return True


def _implied(system: LinearSystem, others: np.ndarray, claim: Claim) -> tuple[float, float]:
    found = [_implied_by_instance(system, others, claim, instance.parts) for instance in claim.instances]
    ends = [end for end in found if end is not None]
    if not ends:
        return -np.inf, np.inf
    return min(low for low, _ in ends), max(high for _, high in ends)


def _implied_by_instance(
    system: LinearSystem, others: np.ndarray, claim: Claim, parts: tuple[Expression, ...]
) -> tuple[float, float] | None:
    if claim.kind in ("ratio", "percent_change", "equivalence"):
        low, high = system.ratio_interval(parts[0], parts[1], others)
        return (100 * (low - 1), 100 * (high - 1)) if claim.kind == "percent_change" else (low, high)
    if claim.kind in ("value", "range"):
        expression = parts[0]
    elif claim.kind in ("difference", "ordering") and len(parts) == 2:
        first, second = parts if claim.kind == "difference" else parts[::-1]
        expression = Expression(first.terms + tuple((-c, q) for c, q in second.terms))
    else:
        return None
    low_end, high_end = system.interval(expression, others)
    return low_end.value, high_end.value


def _information(feasible: Feasible, system: LinearSystem, claim: Claim) -> float:
    points: list[Quantity] = list(
        dict.fromkeys(
            q
            for exhibit in feasible.study.exhibits
            if exhibit.id in claim.exhibits or (claim.assumed and not claim.exhibits)
            for _, _, q in feasible.study.points(exhibit)
            if q in system.index
        )
    )
    gains = []
    for quantity in points:
        with_it, without = (_width(feasible, quantity, w) for w in (None, claim.id))
        if without > TOLERANCE:
            gains.append(1.0 if not np.isfinite(without) and np.isfinite(with_it) else _gain(with_it, without))
    return float(np.mean(gains)) if gains else 0.0


def _gain(with_it: float, without: float) -> float:
    if not np.isfinite(without):
        return 0.0
    gain = 1 - with_it / without
    return float(min(gain, 1.0)) if gain > TOLERANCE else 0.0


def _width(feasible: Feasible, quantity: Quantity, without: str | None) -> float:
    low, high = feasible.kept_interval(quantity, without)
    return high.value - low.value
