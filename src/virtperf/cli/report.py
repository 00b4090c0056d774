"""`virtperf report`: the last stage of a study."""

from __future__ import annotations

import click

from virtperf.cli._stage import stage
from virtperf.cli._terminal import status
from virtperf.core.paths import Layout


@stage
@click.command()
@click.option(
    "--examples",
    is_flag=True,
    help="Write reports/example-STUDY.html instead: the report with the runs below examples/STUDY.",
)
@click.option(
    "--pdf",
    is_flag=True,
    help="Print the report as it stands to reports/STUDY.pdf instead; needs Chromium.",
)
def report(layout: Layout, study_id: str, examples: bool, pdf: bool) -> None:
    """Execute the study's notebook and write its report, its other pages and its metrics.

    Reads notebooks/STUDY.ipynb and what the other stages wrote. Writes build/STUDY.ipynb,
    reports/STUDY.html with the pages of claims, data quality and traces beside it, and
    metrics/STUDY.json and .csv, the study in a few numbers for `dvc metrics` and `dvc plots`.
    """
    if pdf:
        from virtperf.report.html.pdf import print_to_pdf

        layout.known(study_id)
        page = layout.report(f"example-{study_id}" if examples else study_id)
        with status(f"printing {page.name}"):
            print_to_pdf(page, page.with_suffix(".pdf"))
        click.echo(f"report: {page.with_suffix('.pdf')}")
        return
    from virtperf.report.stage import make_report

    with status(f"reporting {study_id}") as progress:
        make_report(layout, study_id, progress, examples=examples)
