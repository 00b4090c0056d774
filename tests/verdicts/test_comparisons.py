"""Compared numbers and allowed ranges of claims, against the claims' text."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.cases import each_case
from tests.intervals import ends
from tests.reconstruct.conftest import claim
from tests.reconstruct.conftest import tiny as tiny
from tools.validation.verdicts import TRUTHS, verdict_study
from virtperf.core.contrasts import Replicates
from virtperf.study.study_samples import StudySamples
from virtperf.verdicts.judgement import LIMIT_TOLERANCE, MORE_THAN_ONE, comparisons

INF = math.inf


@pytest.fixture
def compared(tiny):
    """Builds the comparisons of one claim; `seen` maps quantities, as written in claims, to values of runs."""

    def build(body: str, seen: dict[str, float]):
        study, claims = tiny("claims:\n" + claim("one", body))
        means = {
            study.quantity(text): Replicates(np.array([v, 1.01 * v, 0.99 * v]), ("",) * 3)
            for text, v in seen.items()
        }
        return comparisons(study, claims["one"], StudySamples(means))

    return build


A, B = "throughput[guests=1]", "throughput[guests=2]"
REFERENCE = "throughput[guests=3]"  # 100 by convention
TWO = {A: 300.0, B: 200.0}
THREE = {**TWO, REFERENCE: 400.0}


@pytest.mark.parametrize(
    ("body", "value", "low", "high"),
    [
        (
            f"kind: ratio, of: '{A}', to: '{B}', value: 2, half_width: 0.1",
            1.5,
            1.9 * 0.98,
            2.1 * 1.02,
        ),
        (
            f"kind: percent_change, of: '{A}', to: '{B}', value: 66, half_width: 0.5",
            50,
            165.5 * 0.98 - 100,
            166.5 * 1.02 - 100,
        ),
        (f"kind: equivalence, of: '{A}', to: '{B}', margin: 0", 1.5, 0.98, 1.02),
        (f"kind: ordering, order: ['{B}', '{A}'], strict: false", 1.5, 1, INF),
        (
            "kind: argmax, of: throughput, over: guests, levels: [1, 2], at: 1",
            1.5,
            MORE_THAN_ONE,
            INF,
        ),
    ],
)
def test_ratios_and_orders_need_no_scale(compared, body, value, low, high):
    (found,), total = compared(body, TWO)
    assert total == 1
    assert found.value == pytest.approx(value)
    assert (found.low, found.high) == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("body", "value", "low", "high"),
    [
        (f"kind: value, of: '{A}', value: 80, half_width: 0.5", 75, 79.5 * 0.98, 80.5 * 1.02),
        (f"kind: range, of: '{A}', high: 80", 75, -INF, 80),
        (
            f"kind: difference, of: '{A}', to: '{B}', value: 20, half_width: 1",
            25,
            19 * 0.98,
            21 * 1.02,
        ),
        (f"kind: sum, of: '{A}', parts: ['{B}', '{REFERENCE}']", -75, -0.01 * 225, 0.01 * 225),
    ],
)
def test_levels_and_differences_are_relative_to_the_reference(compared, body, value, low, high):
    (found,), _ = compared(body, THREE)
    assert found.value == pytest.approx(value)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.unit == " % of reference"


def test_strict_order_requires_the_resolution_of_its_scale(compared):
    (found,), _ = compared(f"kind: ordering, order: ['{B}', '{A}']", THREE)
    # 0.1 % of the reference, which is 400, over 200
    assert (found.value, found.low, found.high) == pytest.approx((1.5, 1.002, INF))


def test_relative_level_includes_the_error_of_its_reference(compared):
    (found,), _ = compared(f"kind: value, of: '{A}', value: 80, half_width: 0.5", THREE)
    low, high = ends(found, 0.95)
    # both sides deviate by 1 %, so the ratio by sqrt(2) %, over three runs;
    # the three conditions of three runs have six degrees of freedom
    assert (high - low) / 2 / found.value == pytest.approx(
        2.447 * 0.01 * math.sqrt(2 / 3), rel=0.01
    )


def test_level_without_reference_is_not_measured_but_an_order_is(compared):
    assert compared(f"kind: value, of: '{A}', value: 80, half_width: 0.5", TWO) == ([], 1)
    (found,), _ = compared(f"kind: ordering, order: ['{B}', '{A}']", TWO)
    assert (found.value, found.low) == pytest.approx((1.5, MORE_THAN_ONE))


def test_margin_of_a_claim_gets_no_tolerance(compared):
    (found,), _ = compared(f"kind: equivalence, of: '{A}', to: '{B}', margin: 0.1", TWO)
    assert (1 - found.low, found.high - 1) == pytest.approx((0.1, 0.1), abs=0.011)
    assert not found.remark
    (printed,), _ = compared(f"kind: ratio, of: '{A}', to: '{B}', value: 2, half_width: 0.1", TWO)
    assert printed.remark == f"with {100 * LIMIT_TOLERANCE:g} % tolerance"


def test_measured_part_of_a_chain_is_compared_and_reported(compared):
    seen = {f"throughput[guests={g}]": 100.0 * g for g in (1, 2, 4)}
    found, total = compared(
        "kind: monotone, of: throughput, over: guests, levels: [1, 2, 3, 4], direction: increasing",
        seen,
    )
    assert total == 3
    assert [c.label for c in found] == ["2 guests to 1 guest"]
    found, _ = compared(
        "kind: range, of: throughput, high: 1000, for_each: {system: [a, b], guests: [1, 3]}", THREE
    )
    assert [c.label for c in found] == ["a, 1 guest", "a, 3 guests"]
    found, _ = compared(
        "kind: ratio, of: throughput, to: 'throughput[guests=3]', low: 0, high: 2, for_each: {guests: [1, 2]}",
        THREE,
    )
    assert [c.label for c in found] == ["1 guest to 3 guests", "2 guests to 3 guests"]


def test_line_claim_gives_two_limits_per_bend(compared):
    seen = {f"throughput[guests={g}]": 10.0 * g for g in (1, 2, 3)}
    found, total = compared(
        "kind: linear, of: throughput, over: guests, levels: [1, 2, 3], margin: 0.1", seen
    )
    assert total == len(found) == 2
    assert all(c.low <= c.value <= c.high for c in found)


@pytest.mark.parametrize(
    ("body", "low", "high"),
    [
        # printed just above no change, where the tolerance ends
        (f"kind: ratio, of: '{A}', to: '{B}', value: 1.01, half_width: 0.005", 1, 1.015 * 1.02),
        (
            f"kind: percent_change, of: '{A}', to: '{B}', value: -1, half_width: 0.5",
            -100 + 98.5 * 0.98,
            0,
        ),
        # limits of a word or of the claim
        (f"kind: ratio, of: '{A}', to: '{B}', low: 1", 1, INF),
        (f"kind: ratio, of: '{A}', to: '{B}', high: 1", -INF, 1),
        (f"kind: ratio, of: '{A}', to: '{B}', low: 1.02, high: 1.1", 1.02, 1.1),
    ],
)
def test_tolerance_does_not_relax_directions(compared, body, low, high):
    (found,), _ = compared(body, TWO)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_nonpositive_values_are_compared_by_differences(compared):
    (found,), _ = compared(f"kind: ordering, order: ['{B}', '{A}']", {A: -200.0, B: -300.0})
    assert (found.value, found.label) == (pytest.approx(100), "1 guest minus 2 guests")
    assert not found.relative


@each_case("claim_id", sorted(TRUTHS))
def test_comparison_agrees_with_the_rows_of_its_claim(claim_id):
    # the solver's rows and these numbers are two interpretations of one claim
    study, claims = verdict_study()
    one = claims[claim_id]
    rows = one.rows(study)
    rng = np.random.default_rng(11)
    allowed = []
    for _ in range(300):
        base = TRUTHS[claim_id][rng.integers(3)]
        values = {
            q: base[int(q.level("load")) - 1] * rng.choice([1.0, 1.0, 0.9, 1.02, 1.001, 1 / 1.0202])
            for q in {q for row in rows for q, _ in row.terms}
        }
        samples = StudySamples({q: Replicates(np.full(2, v), ("",) * 2) for q, v in values.items()})
        compared, total = comparisons(study, one, samples)
        assert len(compared) == total
        by_rows = all(sum(c * values[q] for q, c in r.terms) <= r.bound + 1e-9 for r in rows)
        inside = all(c.low - 1e-9 <= c.value <= c.high + 1e-9 for c in compared)
        assert inside or not by_rows  # the tolerance only allows more
        if not any(c.remark for c in compared):
            assert inside == by_rows
        allowed.append(by_rows)
    assert 0 < sum(allowed) < len(allowed)


def test_only_two_sided_numbers_have_a_tolerance():
    _, claims = verdict_study()
    samples = StudySamples(
        {
            q: Replicates(np.full(3, 10.0 + 0.01 * k), ("",) * 3)
            for k, q in enumerate(quantities_of(claims))
        }
    )
    study, _ = verdict_study()
    widened = {
        claim.id for claim in claims if any(c.remark for c in comparisons(study, claim, samples)[0])
    }
    assert widened == {"ratio", "about", "percent", "level", "difference", "sum"}


def quantities_of(claims):
    """All quantities in the claims."""
    parts = (part for claim in claims for one in claim.instances for part in one.parts)
    return sorted({q for part in parts for _, q in part.terms})


def test_limit_at_a_natural_bound_excludes_nothing(compared):
    (found,), _ = compared(f"kind: range, of: '{A}', low: 0, high: 80", THREE)
    assert (found.low, found.high) == (-INF, 80)
