"""A claim's range as a small SVG."""

from __future__ import annotations

import math

import pytest

from virtperf.report.html.site.claims import EDGE, WIDTH, claim_interval
from virtperf.report.html.site.gather import StudyFacts

ENDS = (EDGE, WIDTH - EDGE)


@pytest.fixture
def more(facts: StudyFacts):
    return next(c for c in facts.data.paper_claims if c.id == "more-at-8")  # prints 65.5 to 66.5


def test_positions_are_proportional(more) -> None:
    drawn = claim_interval(more, {"implied_low": 60.0, "implied_high": 70.0})
    assert drawn.line == ENDS and not drawn.open_low and not drawn.open_high
    begin, width = drawn.bar
    # 65.5 of 60 to 70 is at 0.55 of the 120 units between the edges; the bar has one unit more on each side.
    assert begin == pytest.approx(EDGE + 0.55 * 120 - 1) and width == pytest.approx(0.1 * 120 + 2)
    assert drawn.measured is None and drawn.whisker is None


def test_missing_limit_is_an_arrow(more) -> None:
    drawn = claim_interval(more, {"implied_low": 60.0, "implied_high": math.inf})
    assert (drawn.open_low, drawn.open_high) == (False, True) and drawn.line[1] == ENDS[1]


def test_measured_runs_have_a_mark_and_interval(more) -> None:
    drawn = claim_interval(more, {"estimate": 52.0, "estimate_low": 48.0, "estimate_high": 56.0})
    assert drawn.whisker[0] == ENDS[0] < drawn.measured < drawn.whisker[1] < drawn.bar[0]
    one = claim_interval(more, {"estimate": 52.0, "estimate_low": 52.0, "estimate_high": 52.0})
    assert one.measured == ENDS[0] and one.whisker is None


def test_claim_without_a_number_has_no_drawing(facts: StudyFacts) -> None:
    order = next(c for c in facts.data.paper_claims if c.id == "best-at-8")
    assert claim_interval(order, {"implied_low": 1.0, "implied_high": 2.0}) is None
