"""Builds the site: pages over all studies and of each study, beside the reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from rawperf.core.files import json_text, write_atomically
from rawperf.core.metrics import load_metrics
from virtperf.core.params import Parameters
from virtperf.core.paths import Layout
from virtperf.report.glossary import load_glossary
from virtperf.report.html.site import claims, overview, quality, trace
from virtperf.report.html.site.front import front_page
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.html.site.search import search_page
from virtperf.report.html.templating import refuse_large
from virtperf.report.synthesis.definition import SYNTHESIS_FILE, load_file
from virtperf.report.trace import raw_lines, traces


def build_site(
    layout: Layout,
    parameters: Parameters,
    out: Path,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Write the pages over all studies into the folder `out`: index, claims, contradictions, data
    quality, methods, glossary, search.

    Raises `RawperfError` if a page is too large for a browser, or a study's files can't be read.
    """
    studies = []
    for study in layout.studies():
        progress(study)
        studies.append(StudyFacts(layout, parameters, study))
    papers = [facts for facts in studies if facts.data.study.kind == "paper"]
    questions = layout.root / "data" / SYNTHESIS_FILE
    synthesis = load_file(questions) if questions.is_file() else None
    glossary = load_glossary(layout.glossary)
    pages = {
        "index.html": front_page(studies, synthesis, parameters.level, glossary),
        "claims.html": claims.overview_page(studies, synthesis),
        "contradictions.html": overview.contradictions_page(papers, glossary),
        "quality.html": quality.overview_page(studies),
        "methods.html": overview.methods_page(
            layout.root / "docs", load_metrics(layout.metrics).metrics
        ),
        "glossary.html": overview.glossary_page(glossary),
        "search.html": search_page(studies, glossary),
    }
    return _write(pages, out)


def build_study_pages(layout: Layout, facts: StudyFacts, out: Path) -> list[Path]:
    """Write one study's pages into the folder `out`: claims, data quality, traces (also as JSON);
    with a prefix in `facts`, only the pages that depend on runs.

    Raises as `build_site` does.
    """
    study, prefix = facts.id, facts.prefix
    glossary = load_glossary(layout.glossary)
    entries = list(traces(facts.data, assumptions=facts.context.assumptions))
    pages = {
        f"quality-{prefix}{study}.html": quality.study_page(facts),
        f"trace-{prefix}{study}.html": trace.trace_page(facts, entries, glossary),
    }
    if not prefix:
        found = {"traces": [asdict(entry) for entry in entries], "raw_lines": raw_lines(facts.data)}
        pages[f"trace-{study}.json"] = json_text(found)
    if facts.data.study.kind == "paper" and not prefix:
        pages[f"claims-{study}.html"] = claims.study_page(facts, glossary)
    return _write(pages, out)


def _write(pages: Mapping[str, str], out: Path) -> list[Path]:
    for name, text in pages.items():
        if name.endswith(".html"):  # traces as JSON have all runs, for programs
            refuse_large(text, name)
    out.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        write_atomically(out / name, text)
    return [out / name for name in pages]
