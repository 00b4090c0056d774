"""Contradictions by cause, and the ranges under each smallest resolution."""

from __future__ import annotations

import pytest

from tests.cases import each_case
from tests.conftest import ROOT
from tests.reconstruct.conftest import claim
from virtperf.reconstruct.causes import contradictions_by_cause
from virtperf.reconstruct.feasible import merge_intervals, solve
from virtperf.study.readings import load_readings

LENIENT = load_readings(ROOT / "data" / "readings.yaml", "lenient")


def causes(feasible):
    return contradictions_by_cause(feasible, LENIENT)


AT = "kind: value, of: 'throughput[system=b, guests=3]', half_width: 1"
TWO = "claims:\n" + claim("low", f"{AT}, value: 40") + claim("high", f"{AT}, value: 60")


def test_each_resolution_has_ranges_of_the_affected_points(tiny):
    (entry,) = causes(solve(*tiny(TWO)))["contradictions"]
    (options,) = entry["choices"]
    assert entry["always"] == [] and [o["aside"] for o in options] == [["high"], ["low"]]
    limits = [[(p["series"], p["x"], p["low"], p["high"]) for p in o["points"]] for o in options]
    assert limits == [[("B", 3, 39.0, 41.0)], [("B", 3, 59.0, 61.0)]]


def test_limit_set_by_only_one_resolution_comes_first(tiny):
    text = TWO + claim(
        "follows",
        "kind: ratio, of: 'throughput[system=b, guests=2]', to: 'throughput[system=b, guests=3]', high: 1",
    )
    feasible = solve(*tiny(text))
    (entry,) = causes(feasible)["contradictions"]
    assert {p["x"] for p in entry["choices"][0][0]["points"]} == {2, 3}
    assert feasible.union(
        feasible.study.quantity("throughput[system=b, guests=3]")
    ) == pytest.approx([39, 41, 59, 61])


def test_unique_resolution_gives_one_entry_without_choice(tiny):
    both = "".join(claim(f"high-{k}", f"{AT}, value: 60") for k in range(2))
    text = "claims:\n" + claim("low", f"{AT}, value: 40") + both
    feasible = solve(*tiny(text))
    (entry,) = causes(feasible)["contradictions"]
    assert (entry["always"], entry["choices"]) == (["low"], [])
    assert [set(c) for c in entry["conflicts"]] == [{"low", "high-0"}, {"low", "high-1"}]
    assert feasible.contradictions.dropped == ("low",)


def test_conflicts_with_common_claims_have_one_cause(tiny):
    at = "kind: value, of: 'throughput[system=b, guests={n}]', value: {v}, half_width: 1"
    equal = (
        "kind: ratio, of: 'throughput[system=b, guests={n}]', to: 'throughput[system=b, guests=4]'"
    )
    text = "claims:\n" + claim("all-40", at.format(n=4, v=40), "[x, y]")
    for n in (1, 2):
        text += claim(f"at-{n}", at.format(n=n, v=80))
    text += claim("half", equal.format(n=1) + ", value: 1, half_width: 0.1", "[x, y]")
    found = causes(solve(*tiny(text)))["contradictions"]
    assert len(found) == 1 and "at-2" not in {c for e in found for x in e["conflicts"] for c in x}


def test_what_is_set_aside_is_the_cause(tiny):
    at = "kind: value, of: 'throughput[system=b, guests=3]', half_width: 1"
    stated = "".join(claim(f"is-40-{k}", f"{at}, value: 40") for k in range(3))
    wrong = "".join(claim(f"is-{v}", f"{at}, value: {v}") for v in (60, 80))
    found = causes(solve(*tiny("claims:\n" + stated + wrong)))["contradictions"]
    # the same three claims remain of both
    assert [entry["always"] for entry in found] == [["is-60"], ["is-80"]]
    assert [len(entry["conflicts"]) for entry in found] == [3, 3]
    one = wrong.replace("}", ", sentence: both}")
    found = causes(solve(*tiny("claims:\n" + stated + one)))["contradictions"]
    assert [entry["always"] for entry in found] == [["is-60", "is-80"]]


def test_independent_choices_beside_a_certain_misprint_are_entries_of_their_own(tiny):
    at = "kind: value, of: 'throughput[system=b, guests={g}]', half_width: 1, value: {v}"
    text = "claims:\n"
    for g in (1, 2):
        text += claim(f"low-{g}", at.format(g=g, v=40)) + claim(f"high-{g}", at.format(g=g, v=60))
    for k in range(2):
        order = "kind: ordering, order: ['throughput[system=b, guests={}]', 'throughput[system=b, guests={}]']"
        text += claim(f"up-{k}", order.format(3, 4))
    text += claim("down", order.format(4, 3))
    found = causes(solve(*tiny(text)))["contradictions"]
    assert [entry["always"] for entry in found] == [["down"], [], []]
    asides = [[o["aside"] for o in entry["choices"][0]] for entry in found[1:]]
    assert sorted(map(sorted, asides)) == [
        [["high-1"], ["low-1"]],
        [["high-2"], ["low-2"]],
    ]


@each_case(
    ("relation", "follows", "lenient"),
    [
        ("kind: equivalence, {pair}, word: very similar", ["words"], False),  # lenient: 7.5 %
        ("kind: equivalence, {pair}, word: same", ["words"], True),
        ("kind: ratio, {pair}, word: slightly less", [], True),  # not less, however little
        ("kind: ratio, {pair}, word: slightly more, for_each: {system: [a]}", None, None),
        ("kind: equivalence, {pair}, margin: 0.05", [], True),
        ("kind: ratio, {pair}, value: 2, word: nearly", [], True),
        ("kind: ratio, {pair}, value: 1.01, word: about, half_width: 0.005", ["words"], False),
    ],
)
def test_contradictions_by_a_reading_name_their_words(tiny, relation, follows, lenient):
    pair = "of: 'throughput[guests=4]', to: 'throughput[guests=3]'"
    text = "claims:\n" + claim(
        "six-percent", "kind: value, of: 'throughput[guests=4]', value: 106.5, half_width: 0.1"
    )
    text += claim("words", relation.replace("{pair}", pair))
    found = causes(solve(*tiny(text)))["contradictions"]
    assert [(e["readings"], e["lenient"]) for e in found] == (
        [] if follows is None else [(follows, lenient)]
    )


def test_independent_contradictions_are_separate_entries(tiny):
    other = "kind: value, of: 'throughput[system=b, guests=1]', half_width: 1"
    text = TWO + claim("less", f"{other}, value: 10") + claim("more", f"{other}, value: 20")
    found = causes(solve(*tiny(text)))["contradictions"]
    assert [len(e["choices"]) for e in found] == [1, 1]


def test_sentence_with_several_claims_counts_once(tiny):
    one = "".join(claim(f"high-{k}", f"{AT}, value: 60, sentence: s") for k in range(2))
    text = "claims:\n" + claim("low", f"{AT}, value: 40") + one
    feasible = solve(*tiny(text))
    assert set(feasible.resolutions(*feasible.systems)) == {
        frozenset({"low"}),
        frozenset({"high-0", "high-1"}),
    }


@each_case(
    ("ranges", "ends"),
    [
        ([(0, 1), (1, 2)], [0, 2]),
        ([(3, 4), (0, 1)], [0, 1, 3, 4]),
        ([(0, 5), (1, 2)], [0, 5]),
        ([(float("-inf"), 0), (1, float("inf"))], [float("-inf"), 0, 1, float("inf")]),
        ([(1, 1)], [1, 1]),
    ],
)
def test_ranges_are_merged(ranges, ends):
    assert merge_intervals(ranges) == ends
