"""Glossary terms: found in texts and linked."""

from __future__ import annotations

from pathlib import Path

import pytest

from rawperf.core.errors import StudyError
from tests.report.html.site.conftest import Parsed
from virtperf.core.provenance import Provenance
from virtperf.report.glossary import EMPTY_GLOSSARY, Glossary, load_glossary
from virtperf.report.html.site.method import method_page
from virtperf.report.wording import VERDICT_MEANINGS, slug

WORDS = Glossary.model_validate(
    {
        "groups": [
            {
                "title": "Words",
                "terms": [
                    {"term": "IFL", "also": ["IFLs"], "says": "A processor for Linux."},
                    {"term": "think time", "says": "A pause between requests."},
                    {"term": "time", "says": "What a clock shows <here>."},
                ],
            }
        ]
    }
)


def test_whole_words_are_matched_longest_first() -> None:
    used = WORDS.used_in("Think time of 8.8 IFLs; timely, lifl, TIME-out")
    assert [term.term for term in used] == ["IFL", "think time"]
    assert [term.term for term in WORDS.used_in("Time and ifl")] == ["time"]
    assert EMPTY_GLOSSARY.used_in("IFL") == ()


def test_first_use_on_a_page_is_linked() -> None:
    seen: set[str] = set()
    first = WORDS.pieces("An IFL and IFLs", seen)
    assert [(text, term and term.term) for text, term in first] == [
        ("An ", None),
        ("IFL", "IFL"),
        (" and IFLs", None),
    ]
    assert seen == {"IFL"}
    assert WORDS.pieces("IFLs again", seen) == [("IFLs again", None)]
    assert EMPTY_GLOSSARY.pieces("<b>", set()) == [("<b>", None)]


def test_glossary_of_this_repository_is_rendered(root: Path) -> None:
    glossary = load_glossary(root / "docs" / "glossary.yaml")
    page = Parsed(method_page(root / "docs", {}, glossary))
    terms = [term for group in glossary.groups for term in group.terms]
    spellings = [s for term in terms for s in (term.term, *term.also)]
    assert len(set(spellings)) == len(spellings) and len(set(page.ids)) == len(page.ids)
    assert {term.anchor for term in terms} <= set(page.ids)
    for word in ("T/V ratio", "ITR", "IFL", "overcommitment ratio", "DCSS", "VDISK"):
        assert word in {term.term for term in terms}
    assert {f"verdict-{slug(word)}" for word in VERDICT_MEANINGS} <= set(page.ids)
    assert {f"provenance-{slug(kind)}" for kind in Provenance} <= set(page.ids)


def test_spelling_belongs_to_one_term() -> None:
    term = {"term": "time", "says": "What a clock shows."}
    with pytest.raises(ValueError, match="'time' is listed twice"):
        Glossary.model_validate({"groups": [{"title": "Words", "terms": [term, term]}]})


def test_mistake_is_reported_with_line_number(tmp_path: Path) -> None:
    path = tmp_path / "glossary.yaml"
    path.write_text("groups:\n  - title: Words\n    terms:\n      - {term: IFL, says: no}\n")
    with pytest.raises(StudyError) as caught:
        load_glossary(path)
    assert caught.value.line == 4
    assert load_glossary(tmp_path / "none.yaml") == EMPTY_GLOSSARY
