"""What the paper's other claims say about each claim, and how much each claim adds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
        corroborated (the others imply it), independent (they leave it open), contradicted (they exclude it), assumed
        (an assumption of ours, not judged) or off (an assumption that is switched off).
    implied : tuple of float
        What the others allow for the claim's number (its ratio, level, difference or percent change).
    information : float
        The mean share by which the claim narrows the feasible intervals of the points that it speaks of, 0 to 1.
    """

    claim: str
    verdict: str
    implied: tuple[float, float]
    information: float


def judge(feasible: Feasible, claim: Claim) -> TextVerdict:
    """Leave the claim out and compare it with what the kept others imply."""
    if claim.id not in {c.id for c in feasible.active}:
        return TextVerdict(claim.id, "off", (-np.inf, np.inf), 0.0)
    systems = [s for s in feasible.systems if claim.id in set(s.owner)]
    if not systems:  # no finite limit anywhere: a law without bounds
        return TextVerdict(claim.id, "assumed" if claim.assumed else "independent", (-np.inf, np.inf), 0.0)
    system = systems[0]
    others = feasible.mask(system, without=claim.id)
    implied = _implied(system, others, claim)
    if claim.assumed:
        verdict = "contradicted" if claim.id in feasible.contradictions.dropped else "assumed"
    elif claim.id in feasible.contradictions.dropped:
        verdict = "contradicted"
    else:
        verdict = "corroborated" if _is_implied(system, others, claim.id) else "independent"
    return TextVerdict(claim.id, verdict, implied, _information(feasible, system, claim))


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
    if claim.id in feasible.contradictions.dropped:
        return 0.0
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
    low, high = feasible.interval(quantity, without)
    return high.value - low.value
