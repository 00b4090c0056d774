"""`virtperf check`: validate hand-written files before any computation."""

from __future__ import annotations

from pathlib import Path

import click

from virtperf.core.paths import Layout


@click.command()
@click.argument("studies", nargs=-1, metavar="[STUDY]...")
@click.option(
    "--final",
    is_flag=True,
    help="Also exit with status 1 if EXAMPLE placeholders are left; for use before publishing.",
)
@click.option(
    "--schemas",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the JSON Schemas of all hand-written files to this folder, and check nothing.",
)
@click.pass_obj
def check(layout: Layout, studies: tuple[str, ...], final: bool, schemas: Path | None) -> None:
    """Validate all hand-written files.

    Lists all problems, each with file, line and remedy. Checks definitions, claims, tables, notebooks
    and the run.yaml of measured runs, of the given studies or of all; also
    src/rawperf/metrics.yaml, data/readings.yaml and params.yaml. Nothing is computed or
    changed; raw files are not read.

    Exits with status 1 if there is a problem. EXAMPLE placeholders of new studies are counted; with
    --final they are an error. Findings whose evidence has changed since they were written are listed:
    review them, then run `virtperf keep-findings`.
    """
    from virtperf.check.everything import changed_findings, check_everything, placeholders

    if schemas is not None:
        from virtperf.check.schemas import write_schemas

        for path in write_schemas(schemas):
            click.echo(str(path))
        return
    layout.require()
    problems, scope = check_everything(layout, studies)
    for problem in problems:
        click.echo(str(problem))
    count = len(problems)
    click.echo(f"{count or 'no'} problem{'' if count == 1 else 's'} in {scope}.")
    placeholder_lines = placeholders(layout, list(studies) or layout.studies())
    if placeholder_lines:
        click.echo(placeholder_lines)
    changed = changed_findings(layout, studies or layout.studies())
    for line in changed:
        click.echo(line)
    if changed:
        click.echo("Review these findings; if they still hold, run `virtperf keep-findings`.")
    if count or (placeholder_lines and final):
        raise SystemExit(1)
