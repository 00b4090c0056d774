"""The site: pages over all studies and of each study, beside the reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from virtperf.core.files import json_text, write_atomically
from virtperf.core.metrics import load_metrics
from virtperf.core.params import Parameters
from virtperf.core.paths import Layout
from virtperf.exhibits.data import load
from virtperf.exhibits.records import Record
from virtperf.exhibits.trace import traces
from virtperf.render.outputs import records_of
from virtperf.render.places import claims_page, quality_page, rehearsal_page, trace_page
from virtperf.render.site import claims, contradictions, index, methods, quality, rehearsal, trace
from virtperf.render.site.gather import gather
from virtperf.render.templating import refuse_large


def build_site(
    layout: Layout, parameters: Parameters, out: Path, progress: Callable[[str], None] = lambda _: None
) -> list[Path]:
    """Write the pages over all studies into the folder `out`: index, claims, contradictions, data quality, methods.

    Raises
    ------
    VirtperfError
        A page would be too large for a browser, or a study's files can't be read.
    """
    studies = []
    for study in sorted(layout.studies(), key=lambda name: not layout.reconstructed(name).joinpath("runs").is_dir()):
        progress(study)
        studies.append(gather(layout, parameters, study))
    papers = [facts for facts in studies if facts.data.study.kind == "paper"]
    pages = {
        "index.html": index.index_page(studies, _together(layout)),
        "claims.html": claims.overview_page(papers),
        "contradictions.html": contradictions.contradictions_page(papers),
        "quality.html": quality.overview_page(studies),
        "methods.html": methods.methods_page(layout.root / "docs", load_metrics(layout.metrics).metrics),
    }
    return _write(pages, out)


def _together(layout: Layout) -> Record | None:
    """The head of the synthesis; None where the repository has none, or it has not been executed yet."""
    return next((made for made in records_of(layout.executed("synthesis")) if made.id == "summary"), None)


def build_study_pages(layout: Layout, parameters: Parameters, study: str, out: Path) -> list[Path]:
    """Write one study's pages into the folder `out`: claims, data quality, rehearsal, traces (also as JSON).

    Raises as `build_site` does.
    """
    facts = gather(layout, parameters, study)
    entries = list(traces(facts.data, assumptions=facts.context.assumptions))
    pages = {
        quality_page(study): quality.study_page(facts),
        trace_page(study): trace.trace_page(facts, entries),
        f"trace-{study}.json": json_text([entry.as_dict() for entry in entries]),
    }
    if facts.data.study.kind == "paper":
        simulated = load(study, layout.root / "data", rehearsal=True)
        pages[claims_page(study)] = claims.study_page(facts)
        pages[rehearsal_page(study)] = rehearsal.rehearsal_page(facts, simulated)
    return _write(pages, out)


def _write(pages: Mapping[str, str], out: Path) -> list[Path]:
    for name, text in pages.items():
        if name.endswith(".html"):  # traces as JSON have all runs, for programs
            refuse_large(text, name)
    out.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        write_atomically(out / name, text)
    return [out / name for name in pages]
