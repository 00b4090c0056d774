"""Contradictions of all papers on one page."""

from __future__ import annotations

from tests.report.html.site.conftest import Parsed
from tests.report.toy import HOSTILE
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.html.site.overview import contradictions_page


def test_a_claim_leads_to_its_row_among_all_claims(facts: StudyFacts) -> None:
    page = Parsed(contradictions_page([facts]))
    assert {"claims-toy.html#claim-flat", "claims-toy.html#claim-more-at-8"} <= set(page.links)
    assert "1 contradiction of the paper." in page.text and f"{HOSTILE} gains 66 %" in page.text


def test_ids_of_several_studies_are_kept_apart(facts: StudyFacts) -> None:
    ids = Parsed(contradictions_page([facts])).ids
    assert {"toy", "contradictions", "contradiction-1"} <= set(ids)
    twice = [
        i for i in Parsed(contradictions_page([facts, facts])).ids if i != "toy"
    ]  # the studies' own differ
    assert len(twice) == len(set(twice))
