"""Wording of verdicts: the same on all pages; tables and downloads use other words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.report.toy import build
from virtperf.core.params import Parameters
from virtperf.core.paths import Layout
from virtperf.report.claim_words import compared_sides
from virtperf.report.html.site.claims import claims_page
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.html.templating import TEMPLATES
from virtperf.report.key_numbers import TEXT_VERDICTS
from virtperf.report.kinds.summary import VERDICT_WORDS, certainty
from virtperf.report.loaded import LoadedStudy, load_study
from virtperf.report.wording import (
    FOLLOWS,
    IN_CONFLICT,
    OTHERS_IN_CONFLICT,
    STATED_ONCE,
    STATED_REPEATEDLY,
    VERDICT_MEANINGS,
    placed_verdict,
    shown_verdict,
    slug,
    verdict_kind,
)
from virtperf.study.claim_kinds import parse_claim

BY_TEXT = {FOLLOWS, STATED_ONCE, STATED_REPEATEDLY, OTHERS_IN_CONFLICT, IN_CONFLICT, "convention"}


def test_every_verdict_has_a_word_and_an_explanation() -> None:
    exhibit = {shown_verdict(v, n) for v in TEXT_VERDICTS for n in (1, 2)}
    assert exhibit == BY_TEXT <= set(VERDICT_MEANINGS)
    changed = exhibit & set(TEXT_VERDICTS)
    assert changed == {"convention"}  # the words are unique


@pytest.mark.parametrize(
    ("verdict", "places", "words"),
    [
        ("independent", 1, "stated once"),
        ("independent", 3, "stated repeatedly (3 places)"),
        ("contradicted", 3, "in conflict"),
        ("depends", 1, "others in conflict"),
        ("corroborated", 2, "follows from others"),
        ("assumed", 1, "assumed"),
    ],
)
def test_verdict_of_a_claim_lists_its_conditions(verdict: str, places: int, words: str) -> None:
    assert placed_verdict(verdict, places) == words
    assert verdict_kind(words) == shown_verdict(verdict, places)


def test_plural_word_denotes_the_same_verdict() -> None:
    assert verdict_kind("follow from others") == "follows from others"
    assert verdict_kind("do not hold here") == "does not hold here"


def test_pages_do_not_use_table_words(tmp_path: Path) -> None:
    build(tmp_path)
    facts = StudyFacts(Layout(tmp_path), Parameters(seed=1), "toy")
    html = claims_page(facts)
    badges = re.findall(r'class="vp-verdict vp-([a-z-]+)"', html)
    options = re.findall(r'<option value="([^"]*)"', html)
    assert badges
    assert not (set(TEXT_VERDICTS) - {"convention"}) & {*badges, *options}
    assert "corroborated" in html.partition("data:text/csv")[2]  # the download


def test_findings_use_the_same_words(tmp_path: Path) -> None:
    data = load_study("toy", build(tmp_path)).data
    claims = [claim for claim in data.claims or () if claim.id in ("busy", "best-at-8")]
    assert certainty(data, claims) == ("independent", VERDICT_WORDS["independent"])


def test_good_and_bad_verdicts_have_colours() -> None:
    css = (TEMPLATES / "page.css").read_text("utf-8")
    for word in (FOLLOWS, STATED_ONCE, STATED_REPEATEDLY, IN_CONFLICT):
        assert f".vp-{slug(word)}" in css, word


def test_the_ratio_of_an_order_names_its_sides(loaded: LoadedStudy) -> None:
    order = ["throughput[guests=2]", "throughput[guests=8]"]
    claim = parse_claim({"id": "a", "kind": "ordering", "order": order, "says": "It grows."})
    claim = claim.model_copy(update={"instances": claim.expand(loaded.study)})
    assert compared_sides(claim, loaded.study) == ", 8 guests / 2 guests"
