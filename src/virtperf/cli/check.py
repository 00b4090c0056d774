"""`virtperf check`: validate hand-written files before any computation."""

from __future__ import annotations

import click

from virtperf.core.paths import Layout


@click.command()
@click.argument("studies", nargs=-1, metavar="[STUDY]...")
@click.option(
    "--final", is_flag=True, help="Lines that still say EXAMPLE are an error, as before publishing."
)
@click.pass_obj
def check(layout: Layout, studies: tuple[str, ...], final: bool) -> None:
    """Check everything that people write by hand: all problems at once, each with file, line and
    remedy.

    Definitions, claims, tables, notebooks and the run.yaml of measured runs, of the given studies
    or of all; and src/rawperf/metrics.yaml, data/readings.yaml, params.yaml and pipelines. Nothing is
    computed and nothing is changed; raw files are not read.
    Ends with status 1 if there is a problem. What a new study's files still say in place of the
    paper is counted; with --final it ends with status 1, too. Findings that rest on something that
    changed since they were written are named: read them again, then `virtperf keep-findings`.
    """
    from virtperf.check.everything import changed_findings, check_everything, placeholders

    layout.require()
    problems, what = check_everything(layout, studies)
    for problem in problems:
        click.echo(str(problem))
    count = len(problems)
    click.echo(f"{count or 'no'} problem{'' if count == 1 else 's'} in {what}.")
    left = placeholders(layout, list(studies) or layout.studies())
    if left:
        click.echo(left)
    changed = changed_findings(layout, studies or layout.studies())
    for line in changed:
        click.echo(line)
    if changed:
        click.echo("Findings to be read again; `virtperf keep-findings` says that they are right.")
    if count or (left and final):
        raise SystemExit(1)
