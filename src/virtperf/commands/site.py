"""`virtperf site`: the pages over all studies."""

from __future__ import annotations

from pathlib import Path

import click

from virtperf.commands._terminal import status
from virtperf.paths import Layout


@click.command()
@click.option(
    "-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="The folder; default: reports/."
)  # fmt: skip
@click.pass_obj
def site(layout: Layout, output: Path | None) -> None:
    """Write the site: studies, claims, contradictions, data quality, methods, and the trail of every value.

    Reads what the stages have written of all studies. The pages stand beside the reports, link to them, work from
    file:// and make no request.
    """
    from virtperf.params import load_parameters
    from virtperf.site.build import build_site

    parameters = load_parameters(layout.parameters)
    with status("building the site") as progress:
        build_site(layout, parameters, output or layout.root / "reports", progress)
