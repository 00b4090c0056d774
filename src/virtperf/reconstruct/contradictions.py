"""Claims that cannot all hold: the fewest sentences to set aside, and which claims stand against
each other.

Our assumptions that take part in a conflict are set aside first. Among the paper's statements every
way counts that sets aside the fewest sentences; no weight of ours decides between them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from math import prod
from typing import TypeVar

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from virtperf.reconstruct.system import LinearSystem
from virtperf.study.claims import TABLE_ROW, Claim

Item = TypeVar("Item")

MAX_COMBINATIONS = 256
"""How many resolutions of one group of claims are tried one by one. Of what goes beyond, the
alternatives are set aside all at once: ranges are then wider than need be, never too narrow.
"""

MAX_SEARCHED, MAX_LISTED_CONFLICTS = 8, 4
"""How many different conflicts are searched for one dropped claim, and how many of them, the
smallest, are listed.
"""

Sentences = Mapping[str, frozenset[str]]
"""By claim, the sentences that say it; none for an assumption of ours."""


@dataclass(frozen=True)
class Contradictions:
    """What had to be dropped so that the rest can hold, and the minimal conflicts that show why.

    `dropped`: claims without which the others are consistent: the first of all `resolutions`.
    `conflicts`: irreducible sets of claims that cannot hold together: without any one of them the
        others can.
    `choices`: for each group of conflicts that several smallest sets of sentences resolve: the
        claims that each sets aside. One of each group together with what has no choice is one of
        `resolutions`.
    `wider`: whether ranges may be wider than need be, since there are more than
        `MAX_COMBINATIONS` resolutions.
    """

    dropped: tuple[str, ...]
    conflicts: tuple[tuple[str, ...], ...]
    resolutions: tuple[tuple[str, ...], ...] = ((),)
    choices: tuple[tuple[tuple[str, ...], ...], ...] = ()
    wider: bool = False


@dataclass(frozen=True)
class Resolutions:
    """All ways to set aside the fewest sentences.

    `dropped`: the claims that each sets aside, our assumptions among them.
    `choices`, `wider`: as in `Contradictions`; groups with one way are among `choices`.
    """

    dropped: tuple[tuple[str, ...], ...]
    choices: tuple[tuple[tuple[str, ...], ...], ...]
    wider: bool


def sentence_keys(claim: Claim) -> frozenset[str]:
    """The statements that say a claim: its sentences, or the claim itself where it has none; of a
    row of a table the claim's own cells. Empty for an assumption of ours.
    """
    if claim.assumed:
        return frozenset()
    keys = (f"{claim.id} in {k}" if TABLE_ROW.search(k) else k for k in claim.sentences)
    return frozenset(keys) or frozenset({claim.id})


def find_contradictions(
    systems: Sequence[LinearSystem], sentences: Sentences, *, explain: bool = True
) -> Contradictions:
    """Find all smallest sets of sentences to set aside, by implicit hitting sets.

    `systems`: those whose claims share sentences; they share no quantity.

    Repeat: choose a smallest set that hits every known conflict; when the other claims are
    consistent, it is an answer, since any answer must hit every conflict; otherwise extract one
    more irreducible conflict from them and add it. (Moreno-Centeno and Karp, Operations Research 61
    (2013) 453.)

    `explain`: search for more conflicts of each dropped claim than the proof needed; it takes most
        of the time.
    """
    conflicts: list[tuple[str, ...]] = []
    found = smallest_resolutions(systems, sentences, conflicts)
    dropped = found.dropped[0]
    named: dict[tuple[str, ...], None] = {}
    for claim in dropped:
        others = [c for c in sentences if c != claim and (c not in dropped or not sentences[c])]
        more = _conflicts_with(systems, claim, others) if explain else []
        own = {tuple(sorted(c)) for c in (*conflicts, *more) if claim in c}
        named |= dict.fromkeys(sorted(own, key=lambda c: (len(c), c))[:MAX_LISTED_CONFLICTS])
    choices = tuple(options for options in found.choices if len(options) > 1)
    return Contradictions(dropped, tuple(named), found.dropped, choices, found.wider)


def smallest_resolutions(
    systems: Sequence[LinearSystem], sentences: Sentences, conflicts: list[tuple[str, ...]]
) -> Resolutions:
    """All sets of claims, of the fewest sentences, without which the others are consistent; new
    conflicts are added to `conflicts`.

    Groups of conflicts that share no sentence are resolved each for itself. Our assumptions are
    set aside where they take part in a conflict under any of the resolutions.
    """
    said = [c for c in sentences if sentences[c]]

    def without(aside: frozenset[str]) -> tuple[str, ...]:
        return tuple(c for c in said if sentences[c] <= aside)

    while True:
        known = [c for c in conflicts if all(sentences.get(claim) for claim in c)]
        parts = [
            _smallest_hitting_sets(tuple(frozenset(sentences[c] for c in one) for one in group))
            for group in groups_sharing_keys(
                known, [[k for c in one for k in sentences[c]] for one in known]
            )
        ]
        wider = prod(map(len, parts)) > MAX_COMBINATIONS
        if wider:  # some groups whole: no range is too narrow
            tried, open_ = [], 1
            for part in sorted(parts, key=len):
                open_ *= len(part)
                tried.append(part if open_ <= MAX_COMBINATIONS else (frozenset().union(*part),))
        else:
            tried = parts
        before = len(conflicts)
        answers = []
        # the first combination of real resolutions proves how many sentences have to go
        first = [frozenset().union(*(part[0] for part in parts))] if wider else []
        combinations = (frozenset().union(*one) for one in product(*tried))
        for aside in (*first, *islice(combinations, MAX_COMBINATIONS)):
            gone = without(aside)
            kept = [c for c in said if c not in gone]
            if consistent(systems, kept):
                answers.append(gone)
                continue
            conflicts.append(irreducible_conflict(systems, kept))
            if not answers:
                break
        if len(conflicts) == before:
            break
    answers = list(dict.fromkeys(answers))
    ours = _assumptions_in_conflict(systems, sentences, answers, conflicts)
    order = {c: k for k, c in enumerate(sentences)}
    dropped = tuple(tuple(sorted({*gone, *ours}, key=order.__getitem__)) for gone in answers)
    choices = tuple(tuple(map(without, part)) for part in parts)
    return Resolutions(dropped, choices, wider)


def _assumptions_in_conflict(
    systems: Sequence[LinearSystem],
    sentences: Sentences,
    answers: Iterable[tuple[str, ...]],
    conflicts: list[tuple[str, ...]],
) -> set[str]:
    """Our assumptions that take part in a conflict, each other's or with what is kept of the paper.

    The tree of Reiter (1987), Artificial Intelligence 32: without each member of a conflict in
    turn, until nothing is left that contradicts.
    """
    assumed = [c for c in sentences if not sentences[c]]
    found: set[str] = set()
    for gone in answers if assumed else ():
        queue: list[frozenset[str]] = [frozenset()]
        seen: set[frozenset[str]] = set()
        while queue:
            aside = queue.pop(0)
            if aside in seen:
                continue
            seen.add(aside)
            kept = [c for c in sentences if c not in gone and c not in aside]
            if consistent(systems, kept):
                continue
            for ours in [c for c in kept if not sentences[c]]:  # as few of ours as contradict
                rest = [c for c in kept if c != ours]
                if not consistent(systems, rest):
                    kept = rest
            conflict = irreducible_conflict(systems, kept)
            if conflict not in conflicts:
                conflicts.append(conflict)
            members = [c for c in conflict if not sentences[c]]
            found.update(members)
            if len(seen) < MAX_COMBINATIONS:
                queue += [aside | {c} for c in members]
            else:
                queue.append(aside | set(members))
    return found


def consistent(systems: Iterable[LinearSystem], claims: Sequence[str]) -> bool:
    """Whether claims can all hold."""
    return all(system.feasible(system.mask_of(claims)) for system in systems)


def irreducible_conflict(systems: Iterable[LinearSystem], claims: Sequence[str]) -> tuple[str, ...]:
    """A conflict within `claims` none of whose members can be left out (deletion filter; Chinneck
    2008).

    Raises: StopIteration where the claims do not contradict each other.
    """
    system = next(s for s in systems if not s.feasible(s.mask_of(claims)))
    rows = system.infeasible_rows(system.mask_of(claims))
    suspects = list(dict.fromkeys(o for o in system.owner[rows] if o))
    if system.feasible(system.mask_of(suspects)):  # the duals' proof can be cut short by tolerances
        owners = set(system.owner)
        suspects = [c for c in claims if c in owners]
    for claim in list(suspects):
        rest = [c for c in suspects if c != claim]
        if not system.feasible(system.mask_of(rest)):
            suspects = rest
    return tuple(suspects)


def groups_sharing_keys(
    items: Sequence[Item], keys: Sequence[Iterable[Hashable]]
) -> list[list[Item]]:
    """Items in groups that share no key, in stable order."""
    number: dict[Hashable, int] = {}
    edges = [
        (place, len(items) + number.setdefault(key, len(number)))
        for place, own in enumerate(keys)
        for key in own
    ]
    size = len(items) + len(number)
    graph = coo_array(
        (np.ones(len(edges)), np.array(edges, dtype=int).reshape(-1, 2).T), shape=(size, size)
    )
    groups: dict[int, list[Item]] = {}
    of = connected_components(graph, directed=False)[1].tolist()
    for item, group in zip(items, of, strict=False):
        groups.setdefault(group, []).append(item)
    return list(groups.values())


@lru_cache(maxsize=4096)  # of many groups one grows at a time
def _smallest_hitting_sets(
    conflicts: tuple[frozenset[frozenset[str]], ...],
) -> tuple[frozenset[str], ...]:
    """All smallest sets of sentences that say all of at least one member of every conflict."""
    best = len(frozenset().union(*(keys for conflict in conflicts for keys in conflict)))
    found: set[frozenset[str]] = set()
    seen: set[frozenset[str]] = set()

    def search(chosen: frozenset[str]) -> None:
        nonlocal best
        if chosen in seen:
            return
        seen.add(chosen)
        still = [c for c in conflicts if not any(keys <= chosen for keys in c)]
        if not still:
            if len(chosen) < best:
                found.clear()
            best = min(best, len(chosen))
            if len(chosen) == best:
                found.add(chosen)
            return
        used: frozenset[str] = frozenset()
        least = len(chosen)
        for conflict in sorted(still, key=lambda c: (len(c), sorted(map(sorted, c)))):
            keys = frozenset().union(*conflict) - chosen
            if keys.isdisjoint(used):
                used |= keys
                least += min(len(member - chosen) for member in conflict)
        if least > best:
            return
        shortest = min(still, key=lambda c: (len(c), sorted(map(sorted, c))))
        for more in sorted({keys | chosen for keys in shortest}, key=lambda s: (len(s), sorted(s))):
            search(more)

    search(frozenset())
    return tuple(sorted(found, key=sorted))


def _conflicts_with(
    systems: Sequence[LinearSystem], claim: str, others: list[str]
) -> list[tuple[str, ...]]:
    """Different irreducible conflicts between one dropped claim and other claims, by removing
    partners in turn.
    """
    systems = [s for s in systems if claim in s.owner]
    found: list[tuple[str, ...]] = []
    queue: list[frozenset[str]] = [frozenset()]
    seen: set[frozenset[str]] = set()
    while queue and len(found) < MAX_SEARCHED and len(seen) < 2 * MAX_SEARCHED:
        without = queue.pop(0)
        if without in seen:
            continue
        seen.add(without)
        pool = [claim, *(c for c in others if c not in without)]
        if consistent(systems, pool):
            continue
        conflict = irreducible_conflict(systems, pool)
        if claim in conflict and set(conflict) not in [set(f) for f in found]:
            found.append(conflict)
        queue += [without | {partner} for partner in conflict if partner != claim]
    return found
