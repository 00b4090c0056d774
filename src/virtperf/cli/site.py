"""`virtperf site`: the pages over all studies."""

from __future__ import annotations

from pathlib import Path

import click

from virtperf.cli._stage import checked
from virtperf.cli._terminal import status
from virtperf.core.paths import Layout


@checked
@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder; default: reports/.",
)
def site(layout: Layout, output: Path | None) -> None:
    """Write the pages over all studies: studies, claims, contradictions, data quality, methods, glossary.

    The pages stand beside the reports, link to them, work from file:// and make no request. They
    show what the stages have written.
    """
    from virtperf.core.params import load_parameters
    from virtperf.report.html.site.build import build_site

    parameters, out = load_parameters(layout.parameters), output or layout.root / "reports"
    with status("building the site") as progress:
        build_site(layout, parameters, out, progress)
