"""The pages of claims: overview, and one page per paper."""

from __future__ import annotations

import copy
import csv
import io
from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import unquote

import pandas as pd
import pytest

from tests.report.html.site.conftest import Parsed
from tests.report.toy import HOSTILE
from virtperf.core import stage_tables
from virtperf.report.claim_words import sections_sentence
from virtperf.report.html.site.claims import excluded_claims, overview_page, study_page
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.synthesis.definition import SynthesisFile
from virtperf.study.claim_kinds.base import Origin


@pytest.fixture(scope="module")
def page(facts: StudyFacts) -> Parsed:
    return Parsed(study_page(facts))


def rows(page: Parsed) -> dict[str, dict[str, str]]:
    return {attrs["id"]: attrs for tag, attrs in page.tags if tag == "tr" and "id" in attrs}


def test_rows_have_the_attributes_of_the_filters(page: Parsed) -> None:
    found = rows(page)
    # contradicted first, then by how much they narrow ranges
    assert list(found) == ["claim-more-at-8", "claim-flat", "claim-best-at-8", "claim-busy"]
    more = found["claim-more-at-8"]
    assert (more["data-exhibit"], more["data-kind"]) == ("figure-2", "percent_change")
    assert more["data-verdict"] == "follows from others|refuted"
    assert more["data-printed"] == "66.0" and found["claim-flat"]["data-printed"] == ""


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


def test_overview_counts_verdicts_and_links_to_the_claims(
    facts: StudyFacts,
) -> None:
    page = Parsed(overview_page([facts]))
    assert "2 stated once" in page.text and "1 refuted" in page.text
    assert {
        "claims-toy.html",
        "claims-toy.html#verdict=stated%20once",
        "claims-toy.html#verdict=refuted",
    } <= set(page.links)
    assert (
        "claims-toy.html#claim-flat" in page.links
        and "1 claim excluded by other claims of the same paper" in page.text
    )


def test_overview_shows_results_of_measured_studies_per_paper(facts: StudyFacts) -> None:
    claim = next(c for c in facts.data.paper_claims if c.id == "more-at-8")
    hypothesis = claim.model_copy(
        update={
            "id": "more-today",
            "origin": Origin(study="toy", claim="more-at-8"),
            "repeats": "Eight guests gain 66 %.",
        }
    )
    other = copy.copy(facts)
    other.id = "toy-today"
    other.data = SimpleNamespace(
        study=SimpleNamespace(kind="measured"),
        paper_claims=(hypothesis,),
        result=lambda _: {"measured_verdict": "does not hold here", "reason": "it is 12 %"},
    )
    cells = [{"study": name, "claim": "more-at-8", "label": "a"} for name in ("toy", "toy-today")]
    question = {"label": "Guests", "asks": "How many?"}
    rows = [{"id": "gain", "says": "gain", "cells": cells}]
    asked = [
        {**question, "id": "both", "rows": rows},
        {**question, "id": "paper-alone", "rows": [{**rows[0], "id": "own", "cells": cells[:1]}]},
    ]
    sentence = {"about": "All", "says": "words", "rests_on": ["gain"]}
    file = SynthesisFile.model_validate(
        {"title": "All", "sentences": [sentence], "questions": asked}
    )
    page = Parsed(overview_page([facts, other], file))
    assert "measured-toy" in page.ids
    assert {"claims-toy.html#claim-more-at-8", "toy-today.html#claim-more-today"} <= set(page.links)
    assert "does not hold here" in page.text and "it is 12 %" in page.text
    assert "synthesis.html#both" in page.links and "synthesis.html#paper-alone" not in page.links
    alone = Parsed(overview_page([facts]))
    assert "measured-toy" in alone.ids and "No measured study tests its claims again" in alone.text


def test_contradiction_resolved_by_another_reading_is_uncertain(facts: StudyFacts) -> None:
    assert [claim.id for claim in excluded_claims(facts)] == ["flat"]
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
    assert list(excluded_claims(changed)) == []


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
