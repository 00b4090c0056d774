"""`virtperf pipeline`: run the outdated stages by DVC."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from virtperf.cli._progress import progress
from virtperf.cli._shared import warn
from virtperf.core.paths import Layout


@click.command()
@click.argument("studies", metavar="[STUDY]...", nargs=-1)
@click.option("--force", is_flag=True, help="Run all stages, even if up to date.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Number of studies run in parallel; default: number of processors.",
)
@click.pass_obj
def pipeline(layout: Layout, studies: Sequence[str], force: bool, jobs: int | None) -> None:
    """Run the outdated stages of studies in parallel.

    Like `dvc repro`, but with one process per study. Only one pipeline runs at a time in a
    repository; a second one waits. DVC files damaged by an interrupted run are repaired first.
    Without STUDY, prints the stages to run with an estimate of their duration; then progress
    messages; on a terminal, a live table.
    """
    from virtperf.pipeline.runner import run_pipeline

    layout.require()
    with progress() as shown:
        run_pipeline(layout, studies, shown.tell, jobs=jobs or os.cpu_count() or 1, force=force)
    for study in studies or layout.studies():
        click.echo(f"report: {layout.report(study)}")
    if not studies:
        click.echo(f"report: {layout.root / 'reports' / 'index.html'} (all studies)")
    else:
        click.echo("To update the pages over all studies (reports/index.html): virtperf pipeline")
    if shown.stages:
        from virtperf.check.everything import placeholders

        if placeholder_lines := placeholders(layout, list(studies) or layout.studies()):
            warn([placeholder_lines])
    count = f"{shown.stages} stages ran" if shown.stages else "everything is up to date"
    click.echo(f"{count}, {shown.elapsed_s:.0f} s")
