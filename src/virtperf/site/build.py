"""The site: pages over all studies, beside the reports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from virtperf.errors import VirtperfError
from virtperf.files import json_text, write_atomically
from virtperf.metrics import load_metrics
from virtperf.params import Parameters
from virtperf.paths import Layout
from virtperf.site import trail as trail_pages
from virtperf.site.cards import index_page
from virtperf.site.claims import claims_page
from virtperf.site.contradictions import contradictions_page
from virtperf.site.gather import gather
from virtperf.site.methods import methods_page
from virtperf.site.quality import address, overview_page, quality_page
from virtperf.trail.entries import trails

LIMIT_BYTES = 2_000_000


def build_site(
    layout: Layout, parameters: Parameters, out: Path, progress: Callable[[str], None] = lambda _: None
) -> list[Path]:
    """Write index, claims, contradictions, data-quality and methods pages into the folder `out`.

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
        studies.append(
            gather(study, layout.root / "data", level=parameters.level, assumptions=parameters.report.assumptions)
        )
    pages = {
        "index.html": index_page(studies),
        "claims.html": claims_page(studies),
        "contradictions.html": contradictions_page(studies),
        "quality.html": overview_page(studies),
        **{address(facts.id): quality_page(facts) for facts in studies},
        "methods.html": methods_page(layout.root / "docs", load_metrics(layout.metrics).metrics),
    }
    for facts in studies:
        progress(f"trail of {facts.id}")
        entries = list(trails(facts.book))
        pages[trail_pages.address(facts.id)] = trail_pages.trail_page(facts, entries)
        pages[f"trail-{facts.id}.json"] = json_text([entry.as_dict() for entry in entries])
    for name, html in pages.items():
        if (size := len(html.encode())) > LIMIT_BYTES:
            raise VirtperfError(
                "the page is too large", file=name, expected=f"at most {LIMIT_BYTES:,} bytes", found=f"{size:,} bytes",
                remedy="show less on it, or raise the limit.",
            )  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    for name, html in pages.items():
        write_atomically(out / name, html)
    return [out / name for name in pages]
