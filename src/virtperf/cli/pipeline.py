"""`virtperf pipeline`: everything that is out of date, by DVC."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from virtperf.cli._terminal import say
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
    own files that an interrupted run left broken are put back. Nothing is printed but what went
    wrong.
    """
    from virtperf.pipeline.run import run

    run(
        layout,
        studies,
        lambda line: say(line, err=True),
        jobs=jobs or os.cpu_count() or 1,
        force=force,
    )
