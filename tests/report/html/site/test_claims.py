"""The page of a study's claims."""

from __future__ import annotations

import copy
import csv
import io
from dataclasses import replace
from urllib.parse import unquote

import pandas as pd
import pytest

from tests.report.html.site.conftest import Parsed
from tests.report.toy import HOSTILE
from virtperf.core import stage_tables
from virtperf.report.claim_words import sections_sentence
from virtperf.report.html.site.claims import (
    as_printed,
    claims_page,
    public_address,
    robust_conflicts,
)
from virtperf.report.html.site.gather import StudyFacts
from virtperf.study.claim_kinds.base import Origin


@pytest.fixture(scope="module")
def page(facts: StudyFacts) -> Parsed:
    return Parsed(claims_page(facts))


def rows(page: Parsed) -> dict[str, dict[str, str]]:
    return {attrs["id"]: attrs for tag, attrs in page.tags if tag == "tr" and "id" in attrs}


def test_rows_have_the_attributes_of_the_filters(page: Parsed) -> None:
    found = rows(page)
    names = ["more-at-8", "flat", "best-at-8", "busy", "bends-down"]
    assert sorted(found) == sorted(f"claim-{name}" for name in names)
    assert list(found)[-1] == "claim-bends-down"  # our assumptions are last
    more = found["claim-more-at-8"]
    assert (more["data-exhibit"], more["data-kind"]) == ("figure-2", "percent_change")
    assert more["data-verdict"] == "follows from others|refuted"


def test_filters_show_their_counts(page: Parsed) -> None:
    for choice in ("Figure 2", "stated once (2)", "percent change (1)", "refuted (1)"):
        assert choice in page.text
    options = [attrs["value"] for tag, attrs in page.tags if tag == "option"]
    assert options.index("figure-2") < options.index("figure-3")


def test_claim_lists_supporting_and_conflicting_claims(page: Parsed) -> None:
    assert f"{HOSTILE} gains 66 %" in page.text
    assert " 52 (48 to 56) " in page.text and "66.0 (64.0 to 68.0)" not in page.text
    assert "the interval lies below the printed limits" in page.text
    assert "with another" in page.text and "claims-toy.html#claim-more-at-8" in page.links
    assert {"toy.html#figure-2", "toy.html#figure-3", "#claim-busy"} <= set(page.links)


def test_claims_are_grouped_by_chapter(facts: StudyFacts) -> None:
    claims = [
        c.model_copy(update={"sections": ("Results / CPU",) if k else ("Set-up",)})
        for k, c in enumerate(facts.data.paper_claims)
    ]
    changed = copy.copy(facts)
    assumed = [claim for claim in facts.data.claims or () if claim.assumed]
    changed.data = replace(facts.data, claims=[*claims, *assumed])
    text = Parsed(claims_page(changed)).text
    assert "Set-up 1 claim" in text and "Results 3 claims, 1 in conflict" in text
    assert "Assumptions of ours 1 claim" in text


def test_number_to_search_for_is_the_one_of_the_statement(facts: StudyFacts) -> None:
    claim = facts.data.paper_claims[0]

    def printed(says: str, value: float | None, half_width: float | None) -> str:
        fields = {"says": says, "value": value, "half_width": half_width}
        return as_printed(claim.model_copy(update=fields))

    assert printed("It grows.", None, None) == ""
    assert printed("It gains 66 %.", 66.0, 0.5) == "66"
    assert printed("The ratio is 1.0:1 at 6 guests.", 1.0, 0.05) == "1.0"
    assert printed("It loses 18 %.", -18.0, 0.5) == "18"
    assert printed("It has 4598 MB.", 4598.0, 0.0) == "4598"
    assert printed("It has 22,990 MB.", 22990.0, 0.5) == "22,990"
    assert printed("More than one of eight CPUs is idle.", 87.5, 0.0) == ""
    assert printed("It takes 1660 s.", 66.0, 0.5) == ""


def test_public_page_is_linked_if_the_study_names_one(facts: StudyFacts, page: Parsed) -> None:
    assert public_address(facts.data.study) == "" and "public page" not in page.text
    named = {"bibliography": {"number": "ZSW1; online edition, https://example.org/a?b=c"}}
    changed = copy.copy(facts)
    changed.data = replace(facts.data, study=facts.data.study.model_copy(update=named))
    assert "https://example.org/a?b=c" in Parsed(claims_page(changed)).links


def test_claims_are_downloadable(page: Parsed) -> None:
    address = next(link for link in page.links if link.startswith("data:text/csv"))
    table = list(csv.DictReader(io.StringIO(unquote(address.partition(",")[2]))))
    assert sorted(row["claim"] for row in table) == ["best-at-8", "busy", "flat", "more-at-8"]
    table.sort(key=lambda row: ["more-at-8", "best-at-8", "flat", "busy"].index(row["claim"]))
    assert (table[0]["printed"], table[0]["estimate"], table[0]["measured_verdict"]) == (
        "66",
        "52",
        "refuted",
    )
    assert table[1]["printed"] == table[1]["printed_low"] == table[3]["implied_high"] == ""


def test_hypothesis_links_to_the_claim_that_it_repeats(facts: StudyFacts) -> None:
    claim = next(c for c in facts.data.paper_claims if c.id == "more-at-8")
    hypothesis = claim.model_copy(
        update={
            "id": "more-today",
            "origin": Origin(study="a-paper", claim="first"),
            "repeats": "Eight guests gain 66 %.",
        }
    )
    changed = copy.copy(facts)
    study = facts.data.study.model_copy(update={"kind": "measured"})
    changed.data = replace(facts.data, study=study, claims=[hypothesis])
    page = Parsed(claims_page(changed))
    assert "claims-a-paper.html#claim-first" in page.links
    assert "Repeats a claim of a-paper: Eight guests gain 66 %." in page.text
    assert "Implied by other claims" not in page.text and "refuted" in page.text


def test_contradiction_resolved_by_another_reading_is_uncertain(facts: StudyFacts) -> None:
    assert robust_conflicts(facts) == {"flat"}
    assert "however words are read" in Parsed(claims_page(facts)).text
    row = {
        "reading": "lenient",
        "kind": "verdict",
        "name": "flat",
        "verdict": "contradicted",
        "verdict_read": "independent",
    }
    readings = pd.DataFrame([row]).reindex(columns=list(stage_tables.READINGS.columns))
    changed = copy.copy(facts)
    changed.data = replace(facts.data, readings=readings)
    assert robust_conflicts(changed) == set()


@pytest.mark.parametrize(
    ("sections", "sentence"),
    [
        ((), ""),
        (("Summary",), "Summary."),
        (("Summary", "Of What, Exactly?"), "Summary; Of What, Exactly?"),
    ],
)
def test_titles_of_sections_end_with_one_punctuation_mark(
    facts: StudyFacts, sections: tuple[str, ...], sentence: str
) -> None:
    claim = facts.data.paper_claims[0]
    assert sections_sentence(claim.model_copy(update={"sections": sections})) == sentence
