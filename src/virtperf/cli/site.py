"""`virtperf site`: the pages beside the reports."""

from __future__ import annotations

from pathlib import Path

import click

from virtperf.cli._terminal import status
from virtperf.core.paths import Layout


@click.command()
@click.argument("study_id", metavar="[STUDY]", required=False)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder; default: reports/.",
)
@click.pass_obj
def site(layout: Layout, study_id: str | None, output: Path | None) -> None:
    """Write the site: studies, claims, contradictions, data quality and methods; with STUDY, that
    study's pages.

    A study's pages are its claims, its data quality and the traces of its values to raw lines. All
    pages stand beside the reports, link to them, work from file:// and make no request. They show
    what the stages have written.
    """
    from virtperf.core.params import load_parameters
    from virtperf.report.html.site.build import build_site, build_study_pages

    parameters, out = load_parameters(layout.parameters), output or layout.root / "reports"
    with status("building the site") as progress:
        if study_id is None:
            build_site(layout, parameters, out, progress)
        else:
            layout.known(study_id)
            build_study_pages(layout, parameters, study_id, out)
