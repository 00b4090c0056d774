"""Verdicts of left-out claims against an enumeration of every subset of small random systems."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from virtperf.reconstruct.constraints import Row
from virtperf.reconstruct.contradictions import cheapest_resolutions
from virtperf.reconstruct.leave_one_out import relation, verdict_of
from virtperf.reconstruct.system import LinearSystem
from virtperf.study.quantities import Quantity

NAMES = [Quantity(name, ()) for name in "xyz"]
PER_SEED = 8


def random_system(rng: np.random.Generator) -> tuple[LinearSystem, dict[str, float]]:
    """Five or six claims between three quantities with small whole numbers, so that ties and conflicts are frequent."""
    rows = [Row("", ((q, -1.0),), 0.0) for q in NAMES] + [Row("", ((q, 1.0),), 12.0) for q in NAMES]
    costs = {}
    for k in range(int(rng.integers(5, 7))):
        name = f"c{k}"
        costs[name] = float(rng.choice([0.5, 1.0, 1.0, 2.0]))
        a, b = rng.choice(3, 2, replace=False)
        low = float(rng.integers(0, 10))
        width = float(rng.choice([0.0, 1.0, 3.0]))
        if rng.random() < 0.5:  # a value
            terms = ((NAMES[a], 1.0),)
        else:  # a difference
            terms, low = ((NAMES[a], 1.0), (NAMES[b], -1.0)), low - 5
        rows += [Row(name, terms, low + width), Row(name, tuple((q, -c) for q, c in terms), -low)]
    return LinearSystem(rows), costs


def possible(system: LinearSystem, claims: set[str]) -> bool:
    keep = np.array([o == "" or o in claims for o in system.owner])
    found = linprog(np.zeros(len(system.quantities)), A_ub=system.A[keep], b_ub=system.b[keep], bounds=(None, None))
    return found.status == 0


def largest(system: LinearSystem, row: int, claims: set[str]) -> float:
    keep = np.array([o == "" or o in claims for o in system.owner])
    return -linprog(-system.A[row], A_ub=system.A[keep], b_ub=system.b[keep], bounds=(None, None)).fun


def by_enumeration(system: LinearSystem, costs: dict[str, float]) -> set[frozenset[str]]:
    """All cheapest sets to set aside, every subset tried."""
    names = list(costs)
    fits = [
        frozenset(names) - set(kept)
        for size in range(len(names) + 1)
        for kept in combinations(names, size)
        if possible(system, set(kept))
    ]
    least = min(sum(costs[c] for c in dropped) for dropped in fits)
    return {dropped for dropped in fits if sum(costs[c] for c in dropped) <= least + 1e-9}


@pytest.mark.parametrize("seed", range(8))
def test_all_cheapest_resolutions_are_found(seed):
    rng = np.random.default_rng([1, seed])
    for _ in range(PER_SEED):
        system, costs = random_system(rng)
        found = cheapest_resolutions(system, costs, [])
        assert {frozenset(r) for r in found} == by_enumeration(system, costs)
        assert len(found) == len(set(found))


@pytest.mark.parametrize("seed", range(4))
def test_verdicts_are_those_of_an_enumeration(seed):
    rng = np.random.default_rng([2, seed])
    seen = set()
    for _ in range(PER_SEED):
        system, costs = random_system(rng)
        for claim in costs:
            others = {c: cost for c, cost in costs.items() if c != claim}
            expected = set()
            for dropped in by_enumeration(system, others):
                kept = set(others) - dropped
                own = np.flatnonzero(system.owner == claim)
                if not possible(system, kept | {claim}):
                    expected.add("contradicted")
                elif all(largest(system, i, kept) <= system.b[i] + 1e-6 for i in own):
                    expected.add("corroborated")
                else:
                    expected.add("independent")
            masks = [
                system.mask_of(c for c in others if c not in dropped)
                for dropped in cheapest_resolutions(system, others, [])
            ]
            verdict = verdict_of({relation(system, mask, claim) for mask in masks})
            assert verdict == (expected.pop() if len(expected) == 1 else "depends")
            seen.add(verdict)
    assert {"contradicted", "corroborated", "independent"} <= seen


def test_what_the_verdict_depends_on_is_which_claim_goes():
    x = NAMES[0]

    def value(name: str, v: float) -> list[Row]:
        return [Row(name, ((x, 1.0),), v), Row(name, ((x, -1.0),), -v)]

    system = LinearSystem(
        [*value("two", 2.0), *value("three", 3.0), *value("also-two", 2.0), Row("", ((x, -1.0),), 0.0)]
    )
    # without "also-two" either of the others goes: one resolution implies it, the other excludes it
    masks = [
        system.mask_of({"two", "three"} - set(r)) for r in cheapest_resolutions(system, {"two": 1, "three": 1}, [])
    ]
    assert {relation(system, mask, "also-two") for mask in masks} == {"corroborated", "contradicted"}
    assert verdict_of({"corroborated", "contradicted"}) == "depends"
