"""The site's first page."""

from __future__ import annotations

from tests.report.html.site.conftest import Parsed
from tests.report.toy import HOSTILE
from virtperf.core.provenance import Provenance
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.html.site.overview import index_page


def test_a_card_shows_the_telling_drawing_and_leads_to_it(facts: StudyFacts) -> None:
    page = index_page([facts])
    assert "each with a reason</dt><dd>1</dd>" in page  # a note that is no claim
    drawing = facts.headline_figure.drawing
    assert page.count(drawing.svg) == 1
    assert {"toy.html", "toy.html#figure-4"} <= set(Parsed(page).links)
    described = [
        attrs.get("aria-label") for tag, attrs in Parsed(page).tags if attrs.get("role") == "img"
    ]
    assert drawing.description in described
    assert HOSTILE not in page


def test_counts_lead_to_the_claims_that_they_count(facts: StudyFacts) -> None:
    parsed = Parsed(index_page([facts]))
    assert "claims-toy.html#verdict=contradicted" in parsed.links
    assert "claims-toy.html#verdict=refuted" in parsed.links
    assert "claims-toy.html#verdict=reproduced" not in parsed.links  # there is none
    assert "8 of 16" in parsed.text


def test_a_picture_whose_ids_are_on_the_page_already_becomes_an_image(facts: StudyFacts) -> None:
    page = index_page([facts, facts])
    assert page.count(facts.headline_figure.drawing.svg) == 1
    (image,) = [attrs for tag, attrs in Parsed(page).tags if tag == "img"]
    assert (
        image["src"].startswith("data:image/svg+xml;base64,")
        and image["alt"] == facts.headline_figure.drawing.description
    )


def test_it_explains_every_provenance_of_a_paper_and_every_verdict(facts: StudyFacts) -> None:
    text = Parsed(index_page([facts])).text
    for kind in (Provenance.PUBLISHED, Provenance.RECONSTRUCTED, Provenance.MEASURED):
        assert kind.words in text
    for word in (
        "corroborated",
        "independent",
        "contradicted",
        "reproduced",
        "refuted",
        "undecided",
    ):
        assert word in text
