"""Inconsistent claims: minimum sets of sentences to drop, and irreducible conflicts.

Our assumptions that take part in a conflict are dropped first. Among the paper's statements, all
minimum sets of sentences count equally; no weights decide between them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from math import prod
from typing import TypeVar

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from virtperf.core.grouping import grouped
from virtperf.reconstruct.system import LinearSystem
from virtperf.study.claims import TABLE_ROW, Claim

Item = TypeVar("Item")

MAX_COMBINATIONS = 256
"""Maximum number of resolutions of one group of claims that are enumerated.

Beyond it, all alternatives of a group are dropped at once: ranges are then conservative, that is,
possibly too wide, never too narrow.
"""

MAX_CONFLICTS_SEARCHED, MAX_LISTED_CONFLICTS = 8, 4
"""Number of different conflicts searched per dropped claim, and of the smallest ones listed."""

Sentences = Mapping[str, frozenset[str]]
"""Mapping from claim to the sentences that state it; empty for an assumption of ours."""


@dataclass(frozen=True)
class Contradictions:
    """Claims dropped to restore consistency, and the irreducible conflicts that show why.

    `dropped`: claims without which the others are consistent: the first of all `resolutions`.
    `conflicts`: irreducible infeasible sets of claims: any proper subset is consistent.
    `choices`: for each group of conflicts with several minimum sets of sentences: the claims that
        each set drops. One set of each group, together with the claims that have no alternative, is
        one of `resolutions`.
    `wider`: whether ranges may be too wide because there are more than `MAX_COMBINATIONS`
        resolutions.
    """

    dropped: tuple[str, ...]
    conflicts: tuple[tuple[str, ...], ...]
    resolutions: tuple[tuple[str, ...], ...] = ((),)
    choices: tuple[tuple[tuple[str, ...], ...], ...] = ()
    wider: bool = False


@dataclass(frozen=True)
class Resolutions:
    """All minimum-cardinality sets of sentences to drop.

    `dropped`: the claims that each resolution drops, including our assumptions.
    `choices`, `wider`: as in `Contradictions`, but groups with a single option are included.
    """

    dropped: tuple[tuple[str, ...], ...]
    choices: tuple[tuple[tuple[str, ...], ...], ...]
    wider: bool


def sentence_keys(claim: Claim) -> frozenset[str]:
    """Keys of the statements that make a claim: its sentences, or the claim itself if it has none.

    A claim from a table row has a key of its own in that row. Empty for an assumption of ours.
    """
    if claim.assumed:
        return frozenset()
    keys = (f"{claim.id} in {k}" if TABLE_ROW.search(k) else k for k in claim.sentences)
    return frozenset(keys) or frozenset({claim.id})


def find_contradictions(
    systems: Sequence[LinearSystem], sentences: Sentences, *, explain: bool = True
) -> Contradictions:
    """Find all minimum sets of sentences to drop, by implicit hitting sets.

    `systems`: systems whose claims share sentences; they share no quantity.

    Repeat: compute a minimum hitting set of the known conflicts. If the other claims are
    consistent, it is an answer, since any answer must hit every conflict; otherwise extract one
    more irreducible conflict from them and add it. (Moreno-Centeno and Karp, Operations Research 61
    (2013) 453.)

    `explain`: search for more conflicts of each dropped claim than the proof needs; this takes most
        of the time.
    """
    conflicts: list[tuple[str, ...]] = []
    resolutions = smallest_resolutions(systems, sentences, conflicts)
    dropped = resolutions.dropped[0]
    named: dict[tuple[str, ...], None] = {}
    for claim in dropped:
        others = [c for c in sentences if c != claim and (c not in dropped or not sentences[c])]
        more = _conflicts_with(systems, claim, others) if explain else []
        conflicts_of_claim = {tuple(sorted(c)) for c in (*conflicts, *more) if claim in c}
        named |= dict.fromkeys(
            sorted(conflicts_of_claim, key=lambda c: (len(c), c))[:MAX_LISTED_CONFLICTS]
        )
    choices = tuple(options for options in resolutions.choices if len(options) > 1)
    return Contradictions(dropped, tuple(named), resolutions.dropped, choices, resolutions.wider)


def smallest_resolutions(
    systems: Sequence[LinearSystem], sentences: Sentences, conflicts: list[tuple[str, ...]]
) -> Resolutions:
    """Find all minimum sets of sentences whose removal makes the other claims consistent.

    New conflicts are added to `conflicts`. Groups of conflicts that share no sentence are resolved
    independently. Our assumptions are dropped if they take part in a conflict under any of the
    resolutions.
    """
    order = {c: k for k, c in enumerate(sentences)}
    stated = frozenset(c for c in sentences if sentences[c])
    stated_by = grouped((key, c) for c, keys in sentences.items() for key in keys)
    known_feasible: dict[tuple[int, frozenset[str]], bool] = {}

    def without(aside: frozenset[str]) -> tuple[str, ...]:
        named = {c for key in aside for c in stated_by[key] if sentences[c] <= aside}
        return tuple(sorted(named, key=order.__getitem__))

    def is_consistent_without(dropped: Set[str]) -> bool:
        """Whether the other stated claims are; asks each system once for each part of its claims."""
        for k, system in enumerate(systems):
            own = system.claims.intersection(dropped)
            if (k, own) not in known_feasible:
                known_feasible[k, own] = system.feasible(system.mask_of(stated - own))
            if not known_feasible[k, own]:
                return False
        return True

    while True:
        known = [c for c in conflicts if all(sentences.get(claim) for claim in c)]
        parts = [
            _smallest_hitting_sets(tuple(frozenset(sentences[c] for c in one) for one in group))
            for group in groups_sharing_keys(
                known, [[k for c in one for k in sentences[c]] for one in known]
            )
        ]
        wider = prod(map(len, parts)) > MAX_COMBINATIONS
        if wider:  # merge the options of some groups: conservative, no range is too narrow
            tried, open_ = [], 1
            for part in sorted(parts, key=len):
                open_ *= len(part)
                tried.append(part if open_ <= MAX_COMBINATIONS else (frozenset().union(*part),))
        else:
            tried = parts
        before = len(conflicts)
        answers = []
        # the first combination of real resolutions proves the minimum number of sentences
        first = [frozenset().union(*(part[0] for part in parts))] if wider else []
        combinations = (frozenset().union(*one) for one in product(*tried))
        for aside in (*first, *islice(combinations, MAX_COMBINATIONS)):
            dropped_claims = without(aside)
            if is_consistent_without(set(dropped_claims)):
                answers.append(dropped_claims)
                continue
            remaining = [c for c in order if c in stated and c not in dropped_claims]
            conflicts.append(irreducible_conflict(systems, remaining))
            if not answers:
                break
        if len(conflicts) == before:
            break
    answers = list(dict.fromkeys(answers))
    ours = _assumptions_in_conflict(systems, sentences, answers, conflicts)
    dropped = tuple(
        tuple(sorted({*dropped_claims, *ours}, key=order.__getitem__)) for dropped_claims in answers
    )
    choices = tuple(tuple(map(without, part)) for part in parts)
    return Resolutions(dropped, choices, wider)


def _assumptions_in_conflict(
    systems: Sequence[LinearSystem],
    sentences: Sentences,
    answers: Iterable[tuple[str, ...]],
    conflicts: list[tuple[str, ...]],
) -> set[str]:
    """Our assumptions that conflict with each other or with the paper's kept claims.

    The hitting-set tree of Reiter (1987), Artificial Intelligence 32: branch on removing each
    member of a conflict until the rest is consistent.
    """
    assumed = [c for c in sentences if not sentences[c]]
    assumptions: set[str] = set()
    for dropped_claims in answers if assumed else ():
        queue: list[frozenset[str]] = [frozenset()]
        seen: set[frozenset[str]] = set()
        while queue:
            aside = queue.pop(0)
            if aside in seen:
                continue
            seen.add(aside)
            remaining = [c for c in sentences if c not in dropped_claims and c not in aside]
            if consistent(systems, remaining):
                continue
            for ours in [
                c for c in remaining if not sentences[c]
            ]:  # deletion filter, assumptions only
                rest = [c for c in remaining if c != ours]
                if not consistent(systems, rest):
                    remaining = rest
            conflict = irreducible_conflict(systems, remaining)
            if conflict not in conflicts:
                conflicts.append(conflict)
            members = [c for c in conflict if not sentences[c]]
            assumptions.update(members)
            if len(seen) < MAX_COMBINATIONS:
                queue += [aside | {c} for c in members]
            else:
                queue.append(aside | set(members))
    return assumptions


def consistent(systems: Iterable[LinearSystem], claims: Sequence[str]) -> bool:
    """Whether claims are jointly feasible."""
    active = {*claims}
    return all(system.feasible(system.mask_of(active)) for system in systems)


def irreducible_conflict(systems: Iterable[LinearSystem], claims: Sequence[str]) -> tuple[str, ...]:
    """Extract an irreducible infeasible subset of `claims` (deletion filter; Chinneck 2008).

    Raises: StopIteration where the claims are consistent.
    """
    system = next(s for s in systems if not s.feasible(s.mask_of(claims)))
    rows = system.infeasible_rows(system.mask_of(claims))
    suspects = list(dict.fromkeys(o for o in system.owner[rows] if o))
    if system.feasible(system.mask_of(suspects)):  # solver tolerances can truncate the dual proof
        suspects = [c for c in claims if c in system.claims]
    for claim in list(suspects):
        rest = [c for c in suspects if c != claim]
        if not system.feasible(system.mask_of(rest)):
            suspects = rest
    return tuple(suspects)


def groups_sharing_keys(
    items: Sequence[Item], keys: Sequence[Iterable[Hashable]]
) -> list[list[Item]]:
    """Partition items into connected components by shared keys, in stable order."""
    number: dict[Hashable, int] = {}
    edges = [
        (place, len(items) + number.setdefault(key, len(number)))
        for place, keys_of_place in enumerate(keys)
        for key in keys_of_place
    ]
    size = len(items) + len(number)
    graph = coo_array(
        (np.ones(len(edges)), np.array(edges, dtype=int).reshape(-1, 2).T), shape=(size, size)
    )
    of = connected_components(graph, directed=False)[1].tolist()
    return list(grouped(zip(of, items, strict=False)).values())


@lru_cache(maxsize=4096)  # groups grow one at a time; the others recur unchanged
def _smallest_hitting_sets(
    conflicts: tuple[frozenset[frozenset[str]], ...],
) -> tuple[frozenset[str], ...]:
    """All minimum hitting sets of sentences (branch and bound).

    A set hits a conflict if it contains all sentences of at least one of its claims.
    """
    best = len(frozenset().union(*(keys for conflict in conflicts for keys in conflict)))
    smallest: set[frozenset[str]] = set()
    seen: set[frozenset[str]] = set()

    def search(hitting_set: frozenset[str], not_hit: Sequence[frozenset[frozenset[str]]]) -> None:
        nonlocal best
        if hitting_set in seen:
            return
        seen.add(hitting_set)
        still = [c for c in not_hit if not any(keys <= hitting_set for keys in c)]
        if not still:
            if len(hitting_set) < best:
                smallest.clear()
            best = min(best, len(hitting_set))
            if len(hitting_set) == best:
                smallest.add(hitting_set)
            return
        used: frozenset[str] = frozenset()
        least = len(hitting_set)
        for conflict in still:
            keys = frozenset().union(*conflict) - hitting_set
            if keys.isdisjoint(used):
                used |= keys
                least += min(len(member - hitting_set) for member in conflict)
        if least > best:
            return
        for more in sorted(
            {keys | hitting_set for keys in still[0]}, key=lambda s: (len(s), sorted(s))
        ):
            search(more, still)

    search(frozenset(), sorted(conflicts, key=lambda c: (len(c), sorted(map(sorted, c)))))
    return tuple(sorted(smallest, key=sorted))


def _conflicts_with(
    systems: Sequence[LinearSystem], claim: str, others: list[str]
) -> list[tuple[str, ...]]:
    """Enumerate irreducible conflicts of one dropped claim, by removing partners in turn."""
    systems = [s for s in systems if claim in s.claims]
    conflicts: list[tuple[str, ...]] = []
    queue: list[frozenset[str]] = [frozenset()]
    seen: set[frozenset[str]] = set()
    while (
        queue and len(conflicts) < MAX_CONFLICTS_SEARCHED and len(seen) < 2 * MAX_CONFLICTS_SEARCHED
    ):
        without = queue.pop(0)
        if without in seen:
            continue
        seen.add(without)
        pool = [claim, *(c for c in others if c not in without)]
        if consistent(systems, pool):
            continue
        conflict = irreducible_conflict(systems, pool)
        if claim in conflict and set(conflict) not in [set(f) for f in conflicts]:
            conflicts.append(conflict)
        queue += [without | {partner} for partner in conflict if partner != claim]
    return conflicts
