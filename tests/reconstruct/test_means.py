"""The mean of parts relative to themselves in a reference condition, by hand."""

from __future__ import annotations

import pytest

from rawperf.core.errors import RawperfError
from tests.reconstruct.conftest import claim
from virtperf.reconstruct.feasible import solve
from virtperf.reconstruct.leave_one_out import LeaveOneOut

MEAN = claim(
    "mean",
    "kind: relative_mean, of: response_time, parts: [throughput, 'throughput[system=b]'], relative_to: {guests: 3}, "
    "for_each: {guests: [1, 2]}",
)
A = claim("a", "kind: value, of: 'throughput[guests=1]', value: 40, half_width: 2")  # of 100
B = claim(
    "b",
    "kind: ratio, of: 'throughput[system=b, guests=1]', to: 'throughput[system=b, guests=3]', value: 0.5, half_width: 0.05",
)
B_AT_3 = claim(
    "b-at-3", "kind: value, of: 'throughput[system=b, guests=3]', value: 20, half_width: 10"
)


def interval(feasible, text):
    low, high = feasible.interval(feasible.study.quantity(text))
    return low.value, high.value


@pytest.mark.parametrize("more", ["", B_AT_3], ids=["no size", "a size"])
def test_mean_is_bounded_by_the_ranges_of_its_parts(tiny, more):
    feasible = solve(*tiny("claims:\n" + MEAN + A + B + more))
    assert interval(feasible, "response_time[guests=1]") == pytest.approx(
        ((38 + 45) / 2, (42 + 55) / 2)
    )
    assert feasible.interval(feasible.study.quantity("response_time[guests=1]"))[
        0
    ].binding_claims == ("mean",)
    low, high = interval(feasible, "response_time[guests=2]")
    assert low == pytest.approx(0) and high == float("inf")  # no claims about the parts


def test_claims_about_the_mean_do_not_narrow_the_parts(tiny):
    statement = claim(
        "said", "kind: value, of: 'response_time[guests=1]', value: 42, half_width: 0.5"
    )
    feasible = solve(*tiny("claims:\n" + MEAN + A + B + B_AT_3 + statement))
    assert interval(feasible, "response_time[guests=1]") == pytest.approx((41.5, 42.5))
    assert interval(feasible, "throughput[guests=1]") == pytest.approx((38, 42))


def test_verdicts_of_the_mean_and_its_contradictions(tiny):
    above = claim("above", "kind: range, of: 'response_time[guests=1]', low: 41")
    feasible = solve(*tiny("claims:\n" + MEAN + A + B + above))
    verdicts = {c.id: LeaveOneOut(feasible).judge(c).verdict for c in feasible.active}
    assert verdicts == {
        "mean": "independent",
        "a": "independent",
        "b": "independent",
        "above": "corroborated",
    }
    wrong = claim("wrong", "kind: value, of: 'response_time[guests=1]', value: 60, half_width: 1")
    feasible = solve(*tiny("claims:\n" + MEAN + A + B + wrong))
    assert feasible.contradictions.conflicts == (("mean", "wrong"),)


def test_with_and_without_assumptions(tiny):
    study, claims = tiny("claims:\n" + MEAN + A + B)
    feasible = solve(study, claims)
    alone = solve(study, claims, ("all",), known=feasible)
    for guests in (1, 2, 3, 4):
        text = f"response_time[guests={guests}]"
        assert interval(alone, text) == pytest.approx(interval(feasible, text))


@pytest.mark.parametrize("wrong", ["relative_to: {guests: 9}", "relative_to: {host: 1}"])
def test_unknown_reference_is_rejected(tiny, wrong):
    with pytest.raises(RawperfError, match=r"guests|host"):
        tiny("claims:\n" + MEAN.replace("relative_to: {guests: 3}", wrong))


def test_number_of_repetitions_does_not_decide(tiny):
    peak = "kind: argmax, of: throughput, over: guests, levels: [1, 2, 3, 4], at:"
    text = "claims:\n" + claim("at-3", f"{peak} 3") + claim("at-4", f"{peak} 4", "[y, z]")
    feasible = solve(*tiny(text))
    assert set(feasible.resolutions(*feasible.systems)) == {
        frozenset({"at-3"}),
        frozenset({"at-4"}),
    }
