"""The search page: an index of studies, exhibits, claims and glossary terms with links.

The page holds all entries, so that it works from a folder and, as a list, without scripts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from virtperf.report.glossary import EMPTY_GLOSSARY, Glossary
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.html.templating import page
from virtperf.report.wording import exhibit_name


@dataclass(frozen=True)
class SearchEntry:
    """A search result: its `kind`, its text, its link target."""

    kind: str
    text: str
    address: str


def search_entries(facts: StudyFacts) -> Iterator[SearchEntry]:
    """Yield the entries of one study: itself, its exhibits, its claims or hypotheses."""
    report, paper = f"{facts.id}.html", facts.data.study.kind == "paper"
    yield SearchEntry("study", facts.title, report)
    for exhibit in facts.data.study.exhibits:
        name = exhibit_name(exhibit.id, exhibit.kind)
        yield SearchEntry("exhibit", f"{name}. {exhibit.title}", f"{report}#{exhibit.id}")
    for claim in facts.data.paper_claims:
        where = f"claims-{facts.id}.html" if paper else report
        yield SearchEntry(
            "claim" if paper else "hypothesis", claim.says, f"{where}#claim-{claim.id}"
        )


def search_page(studies: Sequence[StudyFacts], glossary: Glossary = EMPTY_GLOSSARY) -> str:
    """Render the page; results are grouped by study."""
    groups = [(facts.title, list(search_entries(facts))) for facts in studies]
    words = [
        SearchEntry("term", f"{term.term}: {term.says}", f"glossary.html#{term.anchor}")
        for group in glossary.groups
        for term in group.terms
    ]
    groups += [("Glossary", words)] if words else []
    return page("search", "Search", name="search.html", scripts=("search.js",), groups=groups)
