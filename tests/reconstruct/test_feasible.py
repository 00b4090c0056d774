"""Feasible intervals, contradictions, centre and verdicts on cases solved by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reconstruct.conftest import claim
from virtperf.reconstruct.feasible import solve
from virtperf.reconstruct.leave_one_out import LeaveOneOut
from virtperf.study.quantities import Expression


def interval(feasible, text):
    low, high = feasible.interval(feasible.study.quantity(text))
    return low.value, high.value


RATIO = claim(
    "b-half",
    "kind: ratio, of: 'throughput[system=b, guests=3]', to: 'throughput[guests=3]', value: 0.5, half_width: 0.05",
)
PEAK = claim("peak", "kind: argmax, of: throughput, over: guests, levels: [1, 2, 3, 4], at: 3")


def test_reference_is_a_single_value(tiny):
    feasible = solve(*tiny("claims:\n" + PEAK))
    assert interval(feasible, "throughput[guests=3]") == (100, 100)


def test_ratio_interval_has_the_printed_precision(tiny):
    feasible = solve(*tiny("claims:\n" + RATIO))
    # 0.5 +- 0.05 of 100
    assert interval(feasible, "throughput[system=b, guests=3]") == pytest.approx((45, 55))


def test_peak_bounds_other_points_up_to_the_resolution(tiny):
    feasible = solve(*tiny("claims:\n" + PEAK))
    assert interval(feasible, "throughput[guests=4]") == pytest.approx((0, 99.9))


def test_point_without_claims_is_unbounded(tiny):
    feasible = solve(*tiny("claims:\n" + PEAK))
    assert interval(feasible, "throughput[system=b, guests=1]") == (0, np.inf)


def test_limits_list_their_claims(tiny):
    feasible = solve(*tiny("claims:\n" + RATIO + PEAK))
    low, high = feasible.interval(feasible.study.quantity("throughput[system=b, guests=3]"))
    assert low.binding_claims == ("b-half",)
    assert high.binding_claims == ("b-half",)


def test_repeated_statement_has_no_extra_weight(tiny):
    other = claim(
        "peak-4",
        "kind: argmax, of: throughput, over: guests, levels: [1, 2, 3, 4], at: 4",
        "[y, z]",
    )
    feasible = solve(*tiny("claims:\n" + PEAK + other))
    assert set(feasible.resolutions(*feasible.systems)) == {
        frozenset({"peak"}),
        frozenset({"peak-4"}),
    }
    assert feasible.contradictions.conflicts == (("peak", "peak-4"),)
    # each excludes the other
    assert [LeaveOneOut(feasible).judge(c).verdict for c in feasible.active] == ["contradicted"] * 2


def test_three_inconsistent_percentages_are_one_conflict(tiny):
    # 0.985 * 0.958 = 0.94363, so a fall of 5.8 % (0.942 +- 0.0005) is out of reach
    claims = "claims:\n" + "".join(
        claim(
            name,
            f"kind: percent_change, of: 'throughput[guests={of}]', to: 'throughput[guests={to}]', value: {v}, half_width: 0.05",
        )
        for name, of, to, v in [("first", 2, 3, -1.5), ("second", 4, 2, -4.2), ("both", 4, 3, -5.8)]
    )
    contradictions = solve(*tiny(claims)).contradictions
    assert contradictions.conflicts == (("both", "first", "second"),)
    assert len(contradictions.dropped) == 1


def test_assumptions_are_dropped_first_and_can_be_disabled(tiny):
    text = "claims:\n" + PEAK
    text += "assumptions:\n  - {id: rising, says: always rising, why: a guess, kind: monotone, of: throughput, over: guests, levels: [3, 4], direction: increasing}\n"
    study, claims = tiny(text)
    assert solve(study, claims).contradictions.dropped == ("rising",)
    assert solve(study, claims, off=("rising",)).contradictions.dropped == ()


def test_repeated_relation_is_corroborated_without_narrowing(tiny):
    wider = claim(
        "b-about-half",
        "kind: ratio, of: 'throughput[system=b, guests=3]', to: 'throughput[guests=3]', low: 0.4, high: 0.6",
    )
    study, claims = tiny("claims:\n" + RATIO + wider)
    feasible = solve(study, claims)
    verdict = LeaveOneOut(feasible).judge(claims["b-about-half"])
    assert (verdict.verdict, verdict.information) == ("corroborated", 0)
    assert verdict.implied == pytest.approx((0.45, 0.55))
    narrower = LeaveOneOut(feasible).judge(claims["b-half"])
    assert narrower.verdict == "independent"
    assert narrower.implied == pytest.approx((0.4, 0.6))
    # of seven points one narrows, from 20 to 10; four of A are unbounded or fixed either way
    assert 0 < narrower.information < 1


def test_ratio_interval_equals_a_search(tiny):
    study, claims = tiny("claims:\n" + RATIO + PEAK)
    feasible = solve(study, claims)
    a, b = study.quantity("throughput[guests=3]"), study.quantity("throughput[system=b, guests=3]")
    system = feasible.system_of(a)
    assert system is not None
    low, high = system.ratio_interval(Expression(((1.0, a),)), Expression(((1.0, b),)))
    assert (low, high) == pytest.approx((1 / 0.55, 1 / 0.45))
