"""The search page: an index of answers, findings, studies, exhibits, claims and glossary terms.

The page holds all entries, so that it works from a folder and, as a list, without scripts; a script
ranks them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from virtperf.report.findings import state, title
from virtperf.report.glossary import EMPTY_GLOSSARY, Glossary
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.html.templating import page
from virtperf.report.synthesis.definition import SynthesisFile
from virtperf.report.wording import exhibit_name


@dataclass(frozen=True)
class SearchEntry:
    """A search result: its `kind`, its text, its link target; further `words` by which it is found,
    and `spellings` that mean the same.
    """

    kind: str
    text: str
    address: str
    words: str = ""
    spellings: tuple[str, ...] = ()


def study_entries(facts: StudyFacts, level: float) -> Iterator[SearchEntry]:
    """Yield the entries of one study: itself, what was found, its exhibits, claims or hypotheses."""
    report, study = f"{facts.id}.html", facts.data.study
    paper = study.kind == "paper"
    yield SearchEntry("study", facts.title, report, " ".join(study.systems.values()))
    if paper or not facts.data.observations.empty:
        for finding in study.findings:
            place = f"{report}#{finding.figure}" if finding.figure else report
            yield SearchEntry("finding", state(facts.data, finding, level).sentence, place)
    if study.caveat:
        yield SearchEntry("limit of a study", " ".join(study.caveat.split()), report)
    for exhibit in study.exhibits:
        name = exhibit_name(exhibit.id, exhibit.kind)
        shown = title(facts.data, exhibit, level)
        caption = f"{name}. {exhibit.title}"
        text = (
            f"{caption}: {shown}" if exhibit.shows and shown else caption
        )  # else a finding of its own
        words = " ".join([exhibit.section, str(exhibit.spec.get("note", ""))])
        yield SearchEntry("exhibit", text, f"{report}#{exhibit.id}", words.strip())
    for claim in facts.data.paper_claims:
        where = f"claims-{facts.id}.html#claim-{claim.id}"
        yield SearchEntry("claim" if paper else "hypothesis", claim.says, where)


def search_page(
    studies: Sequence[StudyFacts],
    level: float = 0.95,
    file: SynthesisFile | None = None,
    glossary: Glossary = EMPTY_GLOSSARY,
) -> str:
    """Render the page; without a script, entries are grouped by study."""
    answers = [
        SearchEntry(
            "answer",
            f"{question.label}: {question.asks}",
            f"synthesis.html#{question.id}",
            " ".join([*question.words, *(row.says for row in question.rows)]),
        )
        for question in (file.questions if file is not None else ())
    ]
    terms = [
        SearchEntry(
            "term",
            f"{term.term}: {term.says}",
            f"methods.html#{term.anchor}",
            spellings=(term.term, *term.also),
        )
        for group in glossary.groups
        for term in group.terms
    ]
    groups = [
        ("Answers", answers),
        *((facts.title, list(study_entries(facts, level))) for facts in studies),
        ("Glossary", terms),
    ]
    return page("search", "Search", name="search.html", scripts=("search.js",), groups=groups)
