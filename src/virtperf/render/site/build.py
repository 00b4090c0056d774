"""The site: pages over all studies and of each study, beside the reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from virtperf.core.errors import VirtperfError
from virtperf.core.files import json_text, write_atomically
from virtperf.core.metrics import load_metrics
from virtperf.core.params import Parameters
from virtperf.core.paths import Layout
from virtperf.exhibits.trace import trails
from virtperf.render.site import trail as trail_pages
from virtperf.render.site.cards import index_page
from virtperf.render.site.claims import claims_page
from virtperf.render.site.contradictions import contradictions_page
from virtperf.render.site.gather import StudyFacts, gather
from virtperf.render.site.methods import methods_page
from virtperf.render.site.quality import address, overview_page, quality_page

LIMIT_BYTES = 2_000_000


def build_site(
    layout: Layout, parameters: Parameters, out: Path, progress: Callable[[str], None] = lambda _: None
) -> list[Path]:
    """Write the pages over all studies into the folder `out`: index, claims, contradictions, data quality, methods.

    Returns
    -------
    list of Path
        The pages, in the order of the navigation.

    Raises
    ------
    VirtperfError
        A page would be larger than `LIMIT_BYTES`, or a study's files can't be read.
    """
    studies = []
    for study in sorted(layout.studies(), key=lambda name: not layout.reconstructed(name).joinpath("runs").is_dir()):
        progress(study)
        studies.append(_facts(layout, parameters, study))
    pages = {
        "index.html": index_page(studies),
        "claims.html": claims_page(studies),
        "contradictions.html": contradictions_page(studies),
        "quality.html": overview_page(studies),
        "methods.html": methods_page(layout.root / "docs", load_metrics(layout.metrics).metrics),
    }
    return _write(pages, out)


def build_study_pages(layout: Layout, parameters: Parameters, study: str, out: Path) -> list[Path]:
    """Write one study's pages into the folder `out`: data quality, and the trail of its values, also as JSON.

    Raises as `build_site` does.
    """
    facts = _facts(layout, parameters, study)
    entries = list(trails(facts.book))
    pages = {
        address(study): quality_page(facts),
        trail_pages.address(study): trail_pages.trail_page(facts, entries),
        f"trail-{study}.json": json_text([entry.as_dict() for entry in entries]),
    }
    return _write(pages, out)


def _facts(layout: Layout, parameters: Parameters, study: str) -> StudyFacts:
    data = layout.root / "data"
    return gather(study, data, level=parameters.level, assumptions=parameters.report.assumptions)


def _write(pages: Mapping[str, str], out: Path) -> list[Path]:
    for name, text in pages.items():
        if (size := len(text.encode())) > LIMIT_BYTES:
            raise VirtperfError(
                "the page is too large", file=name, expected=f"at most {LIMIT_BYTES:,} bytes", found=f"{size:,} bytes",
                remedy="show less on it, or raise the limit.",
            )  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        write_atomically(out / name, text)
    return [out / name for name in pages]
