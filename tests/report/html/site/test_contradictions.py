"""The page of contradictions over all papers."""

from __future__ import annotations

from tests.report.html.site.conftest import Parsed
from tests.report.toy import HOSTILE
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.html.site.overview import contradictions_page


def test_claim_links_to_its_row_in_all_claims(facts: StudyFacts) -> None:
    page = Parsed(contradictions_page([facts]))
    assert {"claims-toy.html#claim-flat", "claims-toy.html#claim-more-at-8"} <= set(page.links)
    assert "1 contradiction of the paper." in page.text and f"{HOSTILE} gains 66 %" in page.text


def test_ids_of_several_studies_are_distinct(facts: StudyFacts) -> None:
    ids = Parsed(contradictions_page([facts])).ids
    assert {"toy", "contradictions", "contradiction-1"} <= set(ids)
    twice = [
        i for i in Parsed(contradictions_page([facts, facts])).ids if i != "toy"
    ]  # ids within the studies differ
    assert len(twice) == len(set(twice))
