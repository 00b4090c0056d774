"""Claims that cannot all hold: the smallest set to drop, and which claims stand against each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from virtperf.reconstruct.system import LinearSystem
from virtperf.study.claims import Claim

ASSUMPTION_COST, VAGUE_COST, EXACT_COST = 0.25, 0.5, 1.0
"""What dropping costs, each time the paper says it: an assumption of ours goes first, then a wording that had to be
read as a number ("almost half"), then a printed number."""

MOST_SEARCHED, MOST_CONFLICTS = 8, 4
"""How many different conflicts are searched for one dropped claim, and how many of them, the smallest, are listed."""


@dataclass(frozen=True)
class Contradictions:
    """What had to be dropped so that the rest can hold, and the minimal conflicts that show why.

    Attributes
    ----------
    dropped : tuple of str
        The cheapest set of claims without which the others are consistent.
    conflicts : tuple of tuple of str
        Irreducible sets of claims that cannot hold together: without any one of them the others can.
    """

    dropped: tuple[str, ...]
    conflicts: tuple[tuple[str, ...], ...]


def drop_cost(claim: Claim) -> float:
    """What it costs to give up a claim."""
    if claim.assumed:
        return ASSUMPTION_COST
    return claim.times_said * (VAGUE_COST if claim.reading else EXACT_COST)


def find_contradictions(system: LinearSystem, costs: Mapping[str, float], *, explain: bool = True) -> Contradictions:
    """Find the cheapest claims to drop by implicit hitting sets.

    Repeat: choose the cheapest set that hits every known conflict (an integer program); when the other claims are
    consistent, it is the answer, since any answer must hit every conflict; otherwise extract one more irreducible
    conflict from them and add it. (Moreno-Centeno and Karp, Operations Research 61 (2013) 453.)

    Parameters
    ----------
    system : LinearSystem
    costs : mapping of claim id to cost
        In a stable order, which decides between equally cheap sets: the later claim goes.
    explain : bool
        Whether to search for more conflicts of each dropped claim than the proof needed; it takes most of the time.
    """
    claims = list(costs)
    conflicts: list[tuple[str, ...]] = []
    while True:
        dropped = _cheapest_hitting_set(conflicts, claims, costs)
        kept = [c for c in claims if c not in dropped]
        if system.feasible(system.mask_of(kept)):
            break
        conflicts.append(irreducible_conflict(system, kept))
    named: dict[tuple[str, ...], None] = {}
    for claim in (c for c in claims if c in dropped):
        others = [c for c in claims if c in kept or (c in dropped and costs[c] == ASSUMPTION_COST and c != claim)]
        more = _conflicts_with(system, claim, others) if explain else []
        found = {tuple(sorted(c)) for c in (*conflicts, *more) if claim in c}
        named |= dict.fromkeys(sorted(found, key=lambda c: (len(c), c))[:MOST_CONFLICTS])
    return Contradictions(tuple(c for c in claims if c in dropped), tuple(named))


def irreducible_conflict(system: LinearSystem, claims: list[str]) -> tuple[str, ...]:
    """A conflict within `claims` none of whose members can be left out (deletion filter; Chinneck 2008)."""
    rows = system.infeasible_rows(system.mask_of(claims))
    suspects = list(dict.fromkeys(o for o in system.owner[rows] if o))
    if system.feasible(system.mask_of(suspects)):  # the duals' proof can be cut short by tolerances
        suspects = list(claims)
    for claim in list(suspects):
        rest = [c for c in suspects if c != claim]
        if not system.feasible(system.mask_of(rest)):
            suspects = rest
    return tuple(suspects)


def _cheapest_hitting_set(
    conflicts: list[tuple[str, ...]], claims: list[str], costs: Mapping[str, float]
) -> frozenset[str]:
    """The cheapest claims that hit every conflict; conflicts without a common claim, not even by others, are apart."""
    chosen: frozenset[str] = frozenset()
    for group in _connected(conflicts):
        members = {claim for conflict in group for claim in conflict}
        chosen |= _hit(tuple(group), tuple((c, costs[c]) for c in claims if c in members))
    return chosen


def _connected(conflicts: list[tuple[str, ...]]) -> list[list[tuple[str, ...]]]:
    groups: list[tuple[set[str], list[tuple[str, ...]]]] = []
    for conflict in conflicts:
        near = [group for group in groups if not group[0].isdisjoint(conflict)]
        groups = [group for group in groups if group[0].isdisjoint(conflict)]
        groups.append((set(conflict).union(*(m for m, _ in near)), [*(c for _, cs in near for c in cs), conflict]))
    return [group for _, group in groups]


@lru_cache(maxsize=4096)  # of many groups one grows at a time
def _hit(conflicts: tuple[tuple[str, ...], ...], costs: tuple[tuple[str, float], ...]) -> frozenset[str]:
    # far below any difference of costs, so that it only decides between equal ones
    tie = np.linspace(1e-4, 0, len(costs))
    result = milp(
        np.array([cost for _, cost in costs]) + tie,
        constraints=LinearConstraint(np.array([[float(c in conflict) for c, _ in costs] for conflict in conflicts]), 1),
        integrality=np.ones(len(costs)),
        bounds=Bounds(0, 1),
    )
    return frozenset(c for (c, _), chosen in zip(costs, result.x, strict=True) if chosen > 0.5)


def _conflicts_with(system: LinearSystem, claim: str, others: list[str]) -> list[tuple[str, ...]]:
    """Different irreducible conflicts between one dropped claim and other claims, by removing partners in turn."""
    found: list[tuple[str, ...]] = []
    queue: list[frozenset[str]] = [frozenset()]
    seen: set[frozenset[str]] = set()
    while queue and len(found) < MOST_SEARCHED and len(seen) < 2 * MOST_SEARCHED:
        without = queue.pop(0)
        if without in seen:
            continue
        seen.add(without)
        pool = [claim, *(c for c in others if c not in without)]
        if system.feasible(system.mask_of(pool)):
            continue
        conflict = irreducible_conflict(system, pool)
        if claim in conflict and set(conflict) not in [set(f) for f in found]:
            found.append(conflict)
        queue += [without | {partner} for partner in conflict if partner != claim]
    return found
