"""`virtperf check`: every hand-written file, before anything is computed from it."""

from __future__ import annotations

import click

from virtperf.paths import Layout


@click.command()
@click.argument("studies", nargs=-1, metavar="[STUDY]...")
@click.pass_obj
def check(layout: Layout, studies: tuple[str, ...]) -> None:
    """Check everything that people write by hand: all problems at once, each with file, line and remedy.

    Definitions, statements, tables, notebooks and the run.yaml of measured runs, of the given studies or of all; and
    data/metrics.yaml, params.yaml and dvc.yaml. Nothing is computed and nothing is changed; raw files are not read.
    Ends with status 1 if there is a problem.
    """
    from virtperf.validate.everything import check_everything

    problems, what = check_everything(layout, studies)
    for problem in problems:
        click.echo(str(problem))
    count = len(problems)
    click.echo(f"{count or 'no'} problem{'' if count == 1 else 's'} in {what}.")
    if count:
        raise SystemExit(1)
