"""Builds the site: pages over all studies and of each study, beside the reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from rawperf.core.files import json_text, write_atomically
from rawperf.core.metrics import load_metrics
from virtperf.core.params import Parameters
from virtperf.core.paths import Layout
from virtperf.report.glossary import Glossary, load_glossary
from virtperf.report.html.site.claims import claims_page
from virtperf.report.html.site.front import front_page
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.html.site.method import method_page
from virtperf.report.html.site.runs import run_values
from virtperf.report.html.site.search import search_page
from virtperf.report.html.site.traces import trace_values
from virtperf.report.html.templating import page, refuse_large
from virtperf.report.synthesis.definition import SYNTHESIS_FILE, load_file
from virtperf.report.trace import Trace, raw_lines, traces


def build_site(
    layout: Layout,
    parameters: Parameters,
    out: Path,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Write the pages over all studies into the folder `out`: studies, method, search.

    Raises `RawperfError` if a page is too large for a browser, or a study's files can't be read.
    """
    studies = []
    for study in layout.studies():
        progress(study)
        studies.append(StudyFacts(layout, parameters, study))
    questions = layout.root / "data" / SYNTHESIS_FILE
    synthesis = load_file(questions) if questions.is_file() else None
    glossary = load_glossary(layout.glossary)
    metrics = load_metrics(layout.metrics).metrics
    pages = {
        "index.html": front_page(
            studies, parameters.level, glossary, synthesis.questions if synthesis else ()
        ),
        "methods.html": method_page(layout.root / "docs", metrics, glossary),
        "search.html": search_page(studies, parameters.level, synthesis, glossary),
    }
    return _write(pages, out)


def build_study_pages(layout: Layout, facts: StudyFacts, out: Path) -> list[Path]:
    """Write one study's pages into the folder `out`: claims, and data with the traces of all values
    (also as JSON); with a prefix in `facts`, only the page of data.

    Raises as `build_site` does.
    """
    study, prefix = facts.id, facts.prefix
    glossary = load_glossary(layout.glossary)
    entries = list(traces(facts.data, assumptions=facts.context.assumptions))
    pages = {f"data-{prefix}{study}.html": data_page(facts, entries, glossary)}
    if not prefix:
        found = {
            "traces": [entry.to_dict() for entry in entries],
            "raw_lines": raw_lines(facts.data),
        }
        pages[f"trace-{study}.json"] = json_text(found)
        pages[f"claims-{study}.html"] = claims_page(facts, glossary)
    return _write(pages, out)


def data_page(facts: StudyFacts, entries: list[Trace], glossary: Glossary) -> str:
    """Render the runs of a study with their quality, and the trace of each of its values."""
    titles = [exhibit.title for exhibit in facts.data.study.exhibits]
    return page(
        "study_data",
        f"Data: {facts.title}",
        parent="index.html",
        wide=True,
        facts=facts,
        words=glossary.used_in(" ".join([*titles, *(entry.words for entry in entries)])),
        **run_values(facts),
        **trace_values(facts, entries),
    )


def _write(pages: Mapping[str, str], out: Path) -> list[Path]:
    for name, text in pages.items():
        if name.endswith(".html"):  # traces as JSON have all runs, for programs
            refuse_large(text, name)
    out.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        write_atomically(out / name, text)
    return [out / name for name in pages]
