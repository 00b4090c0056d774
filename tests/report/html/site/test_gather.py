"""The data that the site gathers per study."""

from __future__ import annotations

import copy
from types import SimpleNamespace

from virtperf.report.html.site.gather import StudyFacts, repetition_counts
from virtperf.study.claim_kinds.base import Origin


def test_gathers_claims_and_verdicts_of_the_paper(facts: StudyFacts) -> None:
    assert [c.id for c in facts.data.paper_claims] == [
        "more-at-8",
        "best-at-8",
        "flat",
        "busy",
    ]  # bends-down is an assumption
    assert facts.measured == {"refuted": 1, "undecided": 1, "no measurement": 2}
    assert (facts.id, facts.title) == ("toy", "A toy study")


def test_record_links_point_to_the_report_and_all_claims(facts: StudyFacts) -> None:
    place = facts.place
    assert place.address("claim:busy", "toy") == "claims-toy.html#claim-busy"
    assert place.address("claim:other/busy", "toy") == "claims-other.html#claim-busy"
    assert place.address("exhibit:figure-2", "toy") == "toy.html#figure-2"
    assert place.address("trace:toy/figure-2/a/4", "toy") == "data-toy.html#figure-2-a-4"


def test_claim_retested_by_a_measured_study_counts_for_the_paper(facts: StudyFacts) -> None:
    claim = next(c for c in facts.data.paper_claims if c.id == "more-at-8")
    hypothesis = claim.model_copy(update={"origin": Origin(study="a-paper", claim="first")})
    other = copy.copy(facts)
    other.data = SimpleNamespace(
        paper_claims=(hypothesis,),
        result=lambda _: {"measured_verdict": "holds here", "reason": "70 of 66"},
    )
    (asked,) = repetition_counts("a-paper", [facts, other])
    assert (asked.study, dict(asked.verdicts)) == ("toy", {"holds here": 1})
    assert list(repetition_counts("another", [facts, other])) == []
