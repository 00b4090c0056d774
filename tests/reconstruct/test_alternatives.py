"""What each of several equally cheap ways to resolve a conflict leaves."""

from __future__ import annotations

import pytest

from tests.reconstruct.conftest import claim
from virtperf.reconstruct.feasible import merge_intervals, solve
from virtperf.reconstruct.stage import alternatives

AT = "kind: value, of: 'throughput[system=b, guests=3]', half_width: 1"
TWO = "claims:\n" + claim("low", f"{AT}, value: 40") + claim("high", f"{AT}, value: 60")


def test_each_resolution_has_its_range_of_the_points_that_differ(tiny):
    (found,) = alternatives(solve(*tiny(TWO)))
    assert found["always"] == [] and [r["aside"] for r in found["resolutions"]] == [
        ["high"],
        ["low"],
    ]
    limits = [
        [(p["series"], p["x"], p["low"], p["high"]) for p in r["points"]]
        for r in found["resolutions"]
    ]
    assert limits == [[("B", 3, 39.0, 41.0)], [("B", 3, 59.0, 61.0)]]


def test_a_limit_that_only_one_resolution_sets_comes_first(tiny):
    text = TWO + claim(
        "follows",
        "kind: ratio, of: 'throughput[system=b, guests=2]', to: 'throughput[system=b, guests=3]', high: 1",
    )
    feasible = solve(*tiny(text))
    (found,) = alternatives(feasible)
    assert [p["x"] for p in found["resolutions"][0]["points"]] == [2, 3] or [
        p["x"] for p in found["resolutions"][0]["points"]
    ] == [3, 2]
    assert feasible.union(
        feasible.study.quantity("throughput[system=b, guests=3]")
    ) == pytest.approx([39, 41, 59, 61])


def test_one_smallest_resolution_is_no_choice(tiny):
    both = "".join(claim(f"high-{k}", f"{AT}, value: 60") for k in range(2))
    text = "claims:\n" + claim("low", f"{AT}, value: 40") + both
    feasible = solve(*tiny(text))
    assert alternatives(feasible) == []
    assert feasible.contradictions.dropped == ("low",)


def test_a_sentence_counts_once_however_many_claims_it_has(tiny):
    one = "".join(claim(f"high-{k}", f"{AT}, value: 60, sentence: s") for k in range(2))
    text = "claims:\n" + claim("low", f"{AT}, value: 40") + one
    feasible = solve(*tiny(text))
    assert set(feasible.resolutions(*feasible.systems)) == {
        frozenset({"low"}),
        frozenset({"high-0", "high-1"}),
    }


@pytest.mark.parametrize(
    ("ranges", "ends"),
    [
        ([(0, 1), (1, 2)], [0, 2]),
        ([(3, 4), (0, 1)], [0, 1, 3, 4]),
        ([(0, 5), (1, 2)], [0, 5]),
        ([(float("-inf"), 0), (1, float("inf"))], [float("-inf"), 0, 1, float("inf")]),
        ([(1, 1)], [1, 1]),
    ],
)
def test_ranges_are_united(ranges, ends):
    assert merge_intervals(ranges) == ends
