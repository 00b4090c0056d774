"""`virtperf report`: the last stage of a study."""

from __future__ import annotations

import click

from virtperf.cli._shared import stage, status
from virtperf.core.paths import Layout


@stage
@click.command()
@click.option(
    "--examples",
    is_flag=True,
    help="Write reports/example-STUDY.html instead, which includes the runs below data/measured/STUDY/examples.",
)
@click.option(
    "--pdf",
    is_flag=True,
    help="Convert the existing report to reports/STUDY.pdf instead; needs Chromium.",
)
def report(layout: Layout, study_id: str, examples: bool, pdf: bool) -> None:
    """Execute a study's notebook and write its report.

    Reads notebooks/STUDY.ipynb and the outputs of the other stages. Writes build/STUDY.ipynb;
    reports/STUDY.html and the pages on claims, data quality and traces; and metrics/STUDY.json and
    .csv, key numbers for `dvc metrics` and `dvc plots`.
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
