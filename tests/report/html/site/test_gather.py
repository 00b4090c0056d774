"""What the site knows of a study."""

from __future__ import annotations

from virtperf.report.html.site.gather import StudyFacts


def test_claims_and_verdicts_are_those_of_the_paper(facts: StudyFacts) -> None:
    assert [c.id for c in facts.data.paper_claims] == [
        "more-at-8",
        "best-at-8",
        "flat",
        "busy",
    ]  # bends-down is ours
    assert facts.text == {"corroborated": 1, "independent": 2, "contradicted": 1}
    assert facts.measured == {"refuted": 1, "undecided": 1, "no measurement": 2}
    assert (facts.id, facts.title) == ("toy", "A toy study")


def test_links_of_records_lead_to_the_report_and_to_all_claims(facts: StudyFacts) -> None:
    place = facts.place
    assert place.address("claim:busy", "toy") == "claims-toy.html#claim-busy"
    assert place.address("claim:bends-down", "toy") == "toy.html#claim-bends-down"
    assert place.address("exhibit:figure-2", "toy") == "toy.html#figure-2"
    assert place.address("trace:toy/figure-2/a/4", "toy") == "trace-toy.html#figure-2-a-4"
