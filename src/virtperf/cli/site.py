"""`virtperf site`: the pages over all studies."""

from __future__ import annotations

from pathlib import Path

import click

from virtperf.cli._shared import checked, status
from virtperf.core.paths import Layout


@checked
@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Output folder; default: reports/.",
)
def site(layout: Layout, output: Path | None) -> None:
    """Write the pages over all studies.

    Studies, claims, contradictions, data quality, methods and glossary, from the outputs of the
    stages. The pages link to the reports in the same folder, work from file:// and make no network
    requests.
    """
    from virtperf.core.params import load_parameters
    from virtperf.report.html.site.build import build_site

    parameters, out = load_parameters(layout.parameters), output or layout.root / "reports"
    with status("building the site") as progress:
        build_site(layout, parameters, out, progress)
