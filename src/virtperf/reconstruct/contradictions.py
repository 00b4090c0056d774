"""Claims that cannot all hold: the smallest set to drop, and which claims stand against each
other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from virtperf.reconstruct.system import LinearSystem
from virtperf.study.claims import Claim

ASSUMPTION_COST, VAGUE_COST, EXACT_COST = 0.25, 0.5, 1.0
"""What dropping costs, each time the paper says it: an assumption of ours goes first, then a
wording that had to be read as a number ("almost half"), then a printed number."""

SAME_COST = 1e-2
"""Costs are multiples of a quarter: what differs by less is the same cost."""

MOST_RESOLUTIONS = 256
"""How many equally cheap sets are looked at in one group of claims."""

MOST_SEARCHED, MOST_CONFLICTS = 8, 4
"""How many different conflicts are searched for one dropped claim, and how many of them, the
smallest, are listed.
"""


@dataclass(frozen=True)
class Contradictions:
    """What had to be dropped so that the rest can hold, and the minimal conflicts that show why.

    `dropped`: the cheapest set of claims without which the others are consistent: the first of all
        `resolutions`.
    `conflicts`: irreducible sets of claims that cannot hold together: without any one of them the
        others can.
    `choices`: for each group of conflicts that several cheapest sets resolve: those sets, of the
        group's claims alone. One of each group together with what has no choice is one of
        `resolutions`.
    """

    dropped: tuple[str, ...]
    conflicts: tuple[tuple[str, ...], ...]
    resolutions: tuple[tuple[str, ...], ...] = ((),)
    choices: tuple[tuple[tuple[str, ...], ...], ...] = ()


def drop_cost(claim: Claim) -> float:
    """What it costs to give up a claim."""
    if claim.assumed:
        return ASSUMPTION_COST
    return claim.times_said * (VAGUE_COST if claim.reading else EXACT_COST)


def find_contradictions(
    system: LinearSystem, costs: Mapping[str, float], *, explain: bool = True
) -> Contradictions:
    """Find the cheapest claims to drop by implicit hitting sets.

    Repeat: choose the cheapest set that hits every known conflict; when the other claims are
    consistent, it is the answer, since any answer must hit every conflict; otherwise extract one
    more irreducible conflict from them and add it. (Moreno-Centeno and Karp, Operations Research 61
    (2013) 453.)

    `costs`: by claim; their order decides between equally cheap sets: the later claim goes.
    `explain`: search for more conflicts of each dropped claim than the proof needed; it takes most
        of the time.
    """
    claims = list(costs)
    conflicts: list[tuple[str, ...]] = []
    resolutions = cheapest_resolutions(system, costs, conflicts)
    dropped = resolutions[0]
    kept = [c for c in claims if c not in dropped]
    named: dict[tuple[str, ...], None] = {}
    for claim in dropped:
        others = [
            c
            for c in claims
            if c in kept or (c in dropped and costs[c] == ASSUMPTION_COST and c != claim)
        ]
        more = _conflicts_with(system, claim, others) if explain else []
        found = {tuple(sorted(c)) for c in (*conflicts, *more) if claim in c}
        named |= dict.fromkeys(sorted(found, key=lambda c: (len(c), c))[:MOST_CONFLICTS])
    groups = [{c for conflict in group for c in conflict} for group in _connected(conflicts)]
    options = [
        tuple(dict.fromkeys(tuple(c for c in r if c in group) for r in resolutions))
        for group in groups
    ]
    choices = tuple(option for option in options if len(option) > 1)
    return Contradictions(dropped, tuple(named), tuple(resolutions), choices)


def cheapest_resolutions(
    system: LinearSystem, costs: Mapping[str, float], conflicts: list[tuple[str, ...]]
) -> list[tuple[str, ...]]:
    """All sets of claims of the smallest cost without which the others are consistent; new
    conflicts are added.

    Each is in the order of `costs`; the first is the one in which later claims go. At most
    `MOST_RESOLUTIONS`.
    """
    claims = list(costs)
    while True:
        sure: list[frozenset[str]] = []
        before = len(conflicts)
        for dropped in cheapest_hitting_sets(conflicts, costs)[:MOST_RESOLUTIONS]:
            kept = [c for c in claims if c not in dropped]
            if system.feasible(system.mask_of(kept)):
                sure.append(dropped)
                continue
            conflicts.append(irreducible_conflict(system, kept))
            if not sure:  # the new conflict may make all others dearer
                break
        if len(conflicts) == before:
            return [tuple(c for c in claims if c in dropped) for dropped in sure]


def irreducible_conflict(system: LinearSystem, claims: list[str]) -> tuple[str, ...]:
    """A conflict within `claims` none of whose members can be left out (deletion filter; Chinneck
    2008).
    """
    rows = system.infeasible_rows(system.mask_of(claims))
    suspects = list(dict.fromkeys(o for o in system.owner[rows] if o))
    if system.feasible(system.mask_of(suspects)):  # the duals' proof can be cut short by tolerances
        suspects = list(claims)
    for claim in list(suspects):
        rest = [c for c in suspects if c != claim]
        if not system.feasible(system.mask_of(rest)):
            suspects = rest
    return tuple(suspects)


def cheapest_hitting_sets(
    conflicts: list[tuple[str, ...]], costs: Mapping[str, float]
) -> list[frozenset[str]]:
    """All cheapest sets of claims that have a member of every conflict, those of later claims
    first.
    """
    whole: list[frozenset[str]] = [frozenset()]
    order = {claim: k for k, claim in enumerate(costs)}
    for group in _connected(conflicts):
        names = frozenset(c for conflict in group for c in conflict)
        parts = _hitting_sets(
            tuple(map(frozenset, group)), tuple((c, costs[c]) for c in order if c in names)
        )
        whole = [a | b for a in whole for b in parts][: 4 * MOST_RESOLUTIONS]
    return sorted(whole, key=lambda s: (len(s), sorted(-order[c] for c in s)))


def _connected(conflicts: list[tuple[str, ...]]) -> list[list[tuple[str, ...]]]:
    groups: list[tuple[set[str], list[tuple[str, ...]]]] = []
    for conflict in conflicts:
        near = [group for group in groups if not group[0].isdisjoint(conflict)]
        groups = [group for group in groups if group[0].isdisjoint(conflict)]
        groups.append(
            (
                set(conflict).union(*(m for m, _ in near)),
                [*(c for _, cs in near for c in cs), conflict],
            )
        )
    return [group for _, group in groups]


@lru_cache(maxsize=4096)  # of many groups one grows at a time
def _hitting_sets(
    conflicts: tuple[frozenset[str], ...], costs: tuple[tuple[str, float], ...]
) -> tuple[frozenset[str], ...]:
    """All cheapest hitting sets by depth-first search; disjoint open conflicts bound the cost from
    below.

    Sets of claims are bits of a whole number: the search visits thousands of them for one claim
    that is left out.
    """
    names, cost = [name for name, _ in costs], [value for _, value in costs]
    bit = {name: 1 << k for k, name in enumerate(names)}
    whole = sorted(
        {sum(bit[name] for name in conflict) for conflict in conflicts},
        key=lambda m: (m.bit_count(), m),
    )
    minimal: list[int] = []
    for mask in whole:  # what hits a part of a conflict hits the conflict
        if not any(part & mask == part for part in minimal):
            minimal.append(mask)
    members: dict[int, list[int]] = {}
    found: list[tuple[float, int]] = []
    best = sum(cost)

    def of(mask: int) -> list[int]:
        """Places of the claims in a set, cheapest first."""
        if mask not in members:
            inside = (k for k in range(len(names)) if mask >> k & 1)
            members[mask] = sorted(inside, key=lambda k: (cost[k], names[k]))
        return members[mask]

    def search(chosen: int, spent: float, barred: int, above: list[int]) -> None:
        nonlocal best
        still = sorted((mask & ~barred for mask in above if not mask & chosen), key=int.bit_count)
        if not still:
            best = min(best, spent)
            found.append((spent, chosen))
            return
        apart, least = 0, spent
        for mask in still:
            if not mask & apart:
                if not mask:
                    return
                apart |= mask
                least += cost[of(mask)[0]]
        if least > best + SAME_COST:
            return
        for k in of(still[0]):
            search(chosen | 1 << k, spent + cost[k], barred, still)
            barred |= 1 << k

    search(0, 0.0, 0, minimal)
    return tuple(
        frozenset(names[k] for k in of(mask)) for spent, mask in found if spent <= best + SAME_COST
    )


def _conflicts_with(system: LinearSystem, claim: str, others: list[str]) -> list[tuple[str, ...]]:
    """Different irreducible conflicts between one dropped claim and other claims, by removing
    partners in turn.
    """
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
