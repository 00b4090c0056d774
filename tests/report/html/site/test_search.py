"""The index of the search page."""

from __future__ import annotations

from tests.report.html.site.conftest import Parsed
from virtperf.report.glossary import Glossary
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.html.site.search import search_page, study_entries

TERMS = {"term": "balloon driver", "also": ["balloon"], "says": "A driver that returns memory."}


def test_entries_are_the_parts_of_a_study(facts: StudyFacts) -> None:
    entries = list(study_entries(facts, 0.95))
    kinds = {entry.kind for entry in entries}
    assert {"study", "exhibit", "claim"} <= kinds
    assert len({(e.kind, e.text, e.address) for e in entries}) == len(entries)


def test_spellings_of_a_term_are_kept(facts: StudyFacts) -> None:
    glossary = Glossary.model_validate({"groups": [{"title": "Memory", "terms": [TERMS]}]})
    page = Parsed(search_page([facts], glossary=glossary))
    (spellings,) = [a["data-spellings"] for _, a in page.tags if "data-spellings" in a]
    assert spellings == "balloon driver|balloon"
    assert "methods.html#term-balloon-driver" in page.links
