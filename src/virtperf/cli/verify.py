"""`virtperf verify`: reproduce a revision's results, and compare them with the current ones."""

from __future__ import annotations

import os

import click

from virtperf.cli._progress import progress
from virtperf.core.paths import Layout


@click.command()
@click.argument("revision", default="HEAD")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Number of studies run in parallel; default: number of processors.",
)
@click.pass_obj
def verify(layout: Layout, revision: str, jobs: int | None) -> None:
    """Reproduce a revision's results and compare them.

    Checks out the revision into a temporary git worktree, runs its whole pipeline there, and compares
    the hash of every result with the one in the working tree. Lists the changed cells of tables and
    the changed exhibits of notebooks. Exits with status 1 if a result differs, or if the revision does
    not reproduce its committed hashes.

    \b
    virtperf verify            are the results here those of HEAD, byte for byte?
    virtperf verify main       which results does this branch change?
    """
    from virtperf.comparison.places import require_revisions
    from virtperf.pipeline.verify import verify as run

    require_revisions(layout, [revision])

    with progress() as display:
        result = run(layout, revision, display.tell, jobs=jobs or os.cpu_count() or 1)
    name = f"{revision} ({result.commit[:12]})"
    for path in result.recorded:
        click.echo(f"{name} does not reproduce its committed {path}")
    for difference in result.differences:
        click.echo(difference.path)
        for line in difference.lines:
            click.echo(f"    {line}")
    same = f"{result.equal} results are identical to those of {name}"
    click.echo(f"{same}; {len(result.differences)} differ" if result.differences else same)
    if result.differences or result.recorded:
        raise SystemExit(1)
