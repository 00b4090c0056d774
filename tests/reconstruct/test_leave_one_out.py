"""Leave-one-out verdicts against enumeration of all subsets of small random systems."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from tests.reconstruct.conftest import claim as entry
from virtperf.reconstruct.contradictions import sentence_keys, smallest_resolutions
from virtperf.reconstruct.feasible import solve
from virtperf.reconstruct.leave_one_out import (
    LeaveOneOut,
    claims_of_same_statement,
    relation,
    verdict_of,
)
from virtperf.reconstruct.system import LinearSystem
from virtperf.study.claims import Claims
from virtperf.study.constraints import Inequality, natural_rows
from virtperf.study.quantities import Expression, Quantity

NAMES = [Quantity(name, ()) for name in "xyz"]
PER_SEED = 8


def random_system(rng: np.random.Generator) -> tuple[LinearSystem, dict[str, frozenset[str]]]:
    """Five or six claims about three quantities with small integers, so that ties and conflicts are frequent."""
    rows = [Inequality("", ((q, -1.0),), 0.0) for q in NAMES] + [
        Inequality("", ((q, 1.0),), 12.0) for q in NAMES
    ]
    sentences = {}
    for k in range(int(rng.integers(5, 7))):
        name = f"c{k}"
        keys = rng.choice(["one", "two", name, name, "one two"])
        sentences[name] = frozenset(str(keys).split())
        a, b = rng.choice(3, 2, replace=False)
        low = float(rng.integers(0, 10))
        width = float(rng.choice([0.0, 1.0, 3.0]))
        if rng.random() < 0.5:  # a value
            terms = ((NAMES[a], 1.0),)
        else:  # a difference
            terms, low = ((NAMES[a], 1.0), (NAMES[b], -1.0)), low - 5
        rows += [
            Inequality(name, terms, low + width),
            Inequality(name, tuple((q, -c) for q, c in terms), -low),
        ]
    return LinearSystem(rows), sentences


def possible(system: LinearSystem, claims: set[str]) -> bool:
    keep = np.array([o == "" or o in claims for o in system.owner])
    found = linprog(
        np.zeros(len(system.quantities)),
        A_ub=system.A[keep],
        b_ub=system.b[keep],
        bounds=(None, None),
    )
    return found.status == 0


def largest(system: LinearSystem, row: int, claims: set[str]) -> float:
    keep = np.array([o == "" or o in claims for o in system.owner])
    found = linprog(-system.A[row], A_ub=system.A[keep], b_ub=system.b[keep], bounds=(None, None))
    return -found.fun if found.status == 0 else np.inf


def largest_of(system: LinearSystem, column: int, sign: float, claims: set[str]) -> float:
    """The largest value of one quantity or of its negative."""
    keep = np.array([o == "" or o in claims for o in system.owner])
    c = np.zeros(len(system.quantities))
    c[column] = -sign
    found = linprog(c, A_ub=system.A[keep], b_ub=system.b[keep], bounds=(None, None))
    return -found.fun


def by_enumeration(
    system: LinearSystem, sentences: dict[str, frozenset[str]]
) -> set[frozenset[str]]:
    """Dropped claims of each smallest resolution, by enumeration of all sets of sentences.

    Assumptions have no sentence; they are tried after the paper is resolved without them, and those needed by some
    conflict are dropped.
    """
    ours = [c for c, keys in sentences.items() if not keys]
    with_sentence = {c: keys for c, keys in sentences.items() if keys}
    keys = sorted(frozenset().union(*with_sentence.values()))
    found: set[frozenset[str]] = set()
    for size in range(len(keys) + 1):
        for aside in map(frozenset, combinations(keys, size)):
            gone = frozenset(c for c in with_sentence if with_sentence[c] <= aside)
            if possible(system, set(with_sentence) - gone):
                found.add(gone)
        if found:
            break
    taking_part: set[str] = set()
    for gone in found:
        kept = set(with_sentence) - gone
        # an assumption takes part in a conflict if some set is feasible only without it
        for a in ours:
            others = [c for c in ours if c != a]
            for size in range(len(others) + 1):
                for beside in combinations(others, size):
                    if possible(system, kept | set(beside)) and not possible(
                        system, kept | {a, *beside}
                    ):
                        taking_part.add(a)
    return {gone | taking_part for gone in found}


def expected_verdict(system: LinearSystem, others: dict[str, frozenset[str]], claim: str) -> str:
    found = set()
    for dropped in by_enumeration(system, others):
        kept = set(others) - dropped
        if not possible(system, kept | {claim}):
            found.add("contradicted")
        elif all(
            largest(system, i, kept) <= system.b[i] + 1e-6
            for i in np.flatnonzero(system.owner == claim)
        ):
            found.add("corroborated")
        else:
            found.add("independent")
    return found.pop() if len(found) == 1 else "depends"


@pytest.mark.parametrize("seed", range(3))
def test_all_smallest_resolutions_are_found(seed):
    rng = np.random.default_rng([1, seed])
    for _ in range(PER_SEED):
        system, sentences = random_system(rng)
        sentences |= {c: frozenset() for c in sentences if rng.random() < 0.3}
        found = smallest_resolutions([system], sentences, [])
        expected = by_enumeration(system, sentences)
        assert not found.wider
        assert {frozenset(r) for r in found.dropped} == expected
        assert len(found.dropped) == len(expected)
        for k, quantity in enumerate(NAMES):
            if quantity not in system.index:
                continue
            of = Expression(((1.0, quantity),))
            spans = [
                tuple(
                    end.value
                    for end in system.interval(of, system.mask_of(set(sentences) - set(r)))
                )
                for r in found.dropped
            ]
            column = system.index[quantity]
            low = min(-largest_of(system, column, -1.0, set(sentences) - r) for r in expected)
            high = max(largest_of(system, column, 1.0, set(sentences) - r) for r in expected)
            assert min(low for low, _ in spans) == pytest.approx(low, abs=1e-6), k
            assert max(high for _, high in spans) == pytest.approx(high, abs=1e-6), k


@pytest.mark.parametrize("seed", range(2))
def test_verdicts_equal_enumeration(seed):
    rng = np.random.default_rng([2, seed])
    seen = set()
    for _ in range(PER_SEED):
        system, sentences = random_system(rng)
        for claim in sentences:
            others = {c: keys for c, keys in sentences.items() if c != claim}
            masks = [
                system.mask_of(c for c in others if c not in dropped)
                for dropped in smallest_resolutions([system], others, []).dropped
            ]
            verdict = verdict_of(system, masks, claim)
            assert verdict == expected_verdict(system, others, claim)
            seen.add(verdict)
    assert {"contradicted", "corroborated", "independent"} <= seen


def test_verdict_depends_on_the_dropped_claim():
    x = NAMES[0]

    def value(name: str, v: float) -> list[Inequality]:
        return [Inequality(name, ((x, 1.0),), v), Inequality(name, ((x, -1.0),), -v)]

    system = LinearSystem(
        [
            *value("two", 2.0),
            *value("three", 3.0),
            *value("also-two", 2.0),
            Inequality("", ((x, -1.0),), 0.0),
        ]
    )
    # without "also-two" one of the other two is dropped: one resolution implies it, the other excludes it
    masks = [
        system.mask_of({"two", "three"} - set(r))
        for r in smallest_resolutions(
            [system], {"two": frozenset({"two"}), "three": frozenset({"three"})}, []
        ).dropped
    ]
    assert {relation(system, mask, "also-two") for mask in masks} == {
        "corroborated",
        "contradicted",
    }
    assert verdict_of(system, masks, "also-two") == "depends"


def random_entries(rng: np.random.Generator) -> str:
    """Entries of claims.yaml, some sharing a sentence, some stated in two sentences."""
    points = [f"throughput[system=b, guests={n}]" for n in (1, 2, 3)]
    keys = [str(rng.choice(["", "[k]", "[l]", "[k, l]"])) for _ in range(5)]
    keys[:2] = ["[k, l]", "[k, l]"]  # no sentence key occurs alone
    text = "claims:\n"
    for k, key in enumerate(keys):
        a, b = rng.choice(points, 2, replace=False)
        value = int(rng.integers(0, 4))
        body = (
            f"kind: value, of: '{a}', value: {value}"
            if rng.random() < 0.6
            else (f"kind: difference, of: '{a}', to: '{b}', value: {value - 2}")
        )
        body += f", half_width: {rng.choice([0.0, 1.0])}" + (f", sentence: {key}" if key else "")
        text += entry(f"c{k}", body, str(rng.choice(["x", "[x, y]"])))
    return text


def by_brute_force(system: LinearSystem, claims: Claims, name: str) -> tuple[str, bool]:
    """Enumerated verdict without the statements of the claim's own sentences; whether that matters."""
    own = set(claims[name].sentences)
    sentences = {c.id: sentence_keys(c) for c in claims if c.id != name}
    apart = {
        c: keys
        for c, keys in sentences.items()
        if not claims[c].sentences or set(claims[c].sentences) - own
    }
    verdict = expected_verdict(system, apart, name)
    matters = verdict != expected_verdict(system, sentences, name)
    return verdict, len(apart) < len(sentences) and matters


@pytest.mark.parametrize("seed", range(2))
def test_sentence_does_not_support_itself(tiny, seed):
    rng = np.random.default_rng([3, seed])
    changed = 0
    for _ in range(PER_SEED):
        study, claims = tiny(random_entries(rng))
        rows = [row for c in claims for row in c.rows(study)]
        every = LinearSystem(
            [*rows, *natural_rows(study, {q for row in rows for q, _ in row.terms})]
        )
        judged = LeaveOneOut(solve(study, claims))
        for claim in claims:
            expected, matters = by_brute_force(every, claims, claim.id)
            assert judged.judge(claim).verdict == judged.verdict(claim) == expected, claim.id
            changed += matters
    assert changed


def test_claim_repeated_elsewhere_still_counts(tiny):
    _, claims = tiny(
        "claims:\n"
        + "".join(
            entry(
                name,
                f"kind: value, of: 'throughput[system=b, guests=1]', value: 5, half_width: 1, sentence: {keys}",
            )
            for name, keys in (
                ("here", "here"),
                ("here-too", "here"),
                ("here-and-there", "[here, there]"),
                ("there", "there"),
            )
        )
    )
    assert claims_of_same_statement(claims["here"], claims) == {"here", "here-too"}
    assert claims_of_same_statement(claims["here-and-there"], claims) == {c.id for c in claims}


def test_consequences_of_the_scale_are_not_judged(tiny):
    text = "claims:\n"
    for name, value in (("the-scale", 100), ("not-the-scale", 90)):
        text += entry(
            name, f"kind: value, of: 'throughput[guests=3]', value: {value}, half_width: 0.5"
        )
    study, claims = tiny(text)
    feasible = solve(study, claims)
    assert LeaveOneOut(feasible).judge(claims["the-scale"]).verdict == "convention"
    assert LeaveOneOut(feasible).judge(claims["not-the-scale"]).verdict == "contradicted"


def test_scale_still_defines_levels(tiny):
    text = "claims:\n" + entry(
        "level", "kind: value, of: 'throughput[guests=2]', value: 50, half_width: 1"
    )
    text += entry(
        "ratio",
        "kind: ratio, of: 'throughput[guests=2]', to: 'throughput[guests=3]', value: 0.5, half_width: 0.005",
    )
    study, claims = tiny(text)
    # half of the arbitrary 100
    assert LeaveOneOut(solve(study, claims)).judge(claims["level"]).verdict == "corroborated"


def test_truncated_resolution_search_gives_conservative_ranges():
    names = [Quantity(f"x{k}", ()) for k in range(9)]
    total = Quantity("total", ())
    terms = tuple((q, 1.0) for q in names)
    rows = [
        Inequality("sum", (*terms, (total, -1.0)), 0.0),
        Inequality("sum", (*((q, -1.0) for q in names), (total, 1.0)), 0.0),
    ]
    for q in names:
        for value in (10.0, 20.0):
            name = f"{q.name}-{value:g}"
            rows += [Inequality(name, ((q, 1.0),), value), Inequality(name, ((q, -1.0),), -value)]
    rows += [Inequality("", ((q, -1.0),), 0.0) for q in (*names, total)]
    system = LinearSystem(rows)
    sentences = {row.claim: frozenset({row.claim}) for row in rows if row.claim}
    found = smallest_resolutions([system], sentences, [])
    assert found.wider and len(found.choices) == 9
    masks = [system.mask_of(set(sentences) - set(gone)) for gone in found.dropped]
    for quantity, low, high in [(q, 10, 20) for q in names] + [(total, 90, 180)]:
        spans = [system.interval(Expression(((1.0, quantity),)), mask) for mask in masks]
        assert min(ends[0].value for ends in spans) <= low
        assert max(ends[1].value for ends in spans) >= high
