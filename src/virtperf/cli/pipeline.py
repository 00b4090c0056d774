"""`virtperf pipeline`: run the outdated stages by DVC."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from virtperf.cli._progress import progress
from virtperf.cli._terminal import warn
from virtperf.core.paths import Layout


@click.command()
@click.argument("studies", metavar="[STUDY]...", nargs=-1)
@click.option("--force", is_flag=True, help="Run every stage, out of date or not.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Studies that run at the same time; default: one per processor.",
)
@click.pass_obj
def pipeline(layout: Layout, studies: Sequence[str], force: bool, jobs: int | None) -> None:
    """Run what is out of date, as `dvc repro` does, with the studies side by side.

    Only one runs at a time in a repository: a second one waits and says for which process. DVC's
    own files that an interrupted run left broken are put back. What will run is said first, with
    how long it took the last time here; a line says when a stage begins and ends, and after some
    seconds without one what runs. On a terminal a table shows it.
    """
    from virtperf.pipeline.run import run_pipeline

    layout.require()
    with progress() as shown:
        run_pipeline(layout, studies, shown.tell, jobs=jobs or os.cpu_count() or 1, force=force)
    for study in studies or layout.studies():
        click.echo(f"report: {layout.report(study)}")
    if not studies:
        click.echo(f"report: {layout.root / 'reports' / 'index.html'} (all studies)")
    else:
        click.echo(
            "`virtperf pipeline` brings it into the pages on all studies (reports/index.html)"
        )
    if shown.stages:
        from virtperf.check.everything import placeholders

        if left := placeholders(layout, list(studies) or layout.studies()):
            warn([left])
    did = f"{shown.stages} stages ran" if shown.stages else "nothing was out of date"
    click.echo(f"{did}, {shown.elapsed_s:.0f} s")
