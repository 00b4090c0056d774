"""`virtperf why`: what makes a stage run."""

from __future__ import annotations

import click

from virtperf.cli._terminal import clean, status
from virtperf.core.paths import Layout


@click.command()
@click.argument("stage")
@click.option("--diff/--no-diff", "with_diff", default=True, help="Show the difference of text files.")
@click.pass_obj
def why(layout: Layout, stage: str, with_diff: bool) -> None:
    """Say which inputs of STAGE changed since it ran last; STAGE is written as dvc does, such as judge@STUDY.

    Parameters are shown with the value of the last run and the present one, files under version control with their
    difference since the commit of the last run. Nothing is run, and inputs are taken as they stand now: what another
    stage would change first is not foreseen.
    """
    from virtperf.changes import changes

    with status("asking DVC"):
        found = changes(layout.root, stage)
    if not found:
        click.echo(f"{stage}: nothing has changed since it ran last")
        return
    click.echo(f"{stage} would run, since these changed:")
    for change in found:
        click.echo(clean(f"  {change.what}: {change.how}"))
    for change in found:
        if with_diff and change.diff:
            click.echo("\n" + "\n".join(clean(line.replace("\t", "    ")) for line in change.diff.split("\n")))
