"""`virtperf verify`: reproduce a revision's results, and compare them with the current ones."""

from __future__ import annotations

import os

import click

from virtperf.cli._progress import progress
from virtperf.core.paths import Layout


@click.command()
@click.argument("revision", default="HEAD")
@click.option("--jobs", type=click.IntRange(1), help="Studies that run at the same time.")
@click.pass_obj
def verify(layout: Layout, revision: str, jobs: int | None) -> None:
    """Make a revision's results again, from nothing, and compare them with those here.

    The revision's files are checked out into a temporary folder (a worktree of git), its whole
    pipeline runs there, and every result is compared by its hash with the one in the working tree.
    Of tables that differ the changed cells are named, of notebooks the exhibits. Exit status 1
    where something differs, or where the revision does not give the hashes that it has committed.

    \b
    virtperf verify            do HEAD's results stand here, byte for byte?
    virtperf verify main       what does this branch change against main?
    """
    from virtperf.comparison.places import require_revisions
    from virtperf.pipeline.verify import verify as run

    require_revisions(layout, [revision])

    with progress() as shown:
        found = run(layout, revision, shown.tell, jobs=jobs or os.cpu_count() or 1)
    name = f"{revision} ({found.commit[:12]})"
    for path in found.recorded:
        click.echo(f"{name} does not give what it has committed: {path}")
    for difference in found.differences:
        click.echo(difference.path)
        for line in difference.lines:
            click.echo(f"    {line}")
    same = f"{found.equal} results have the bytes of {name}"
    click.echo(f"{same}; {len(found.differences)} differ" if found.differences else same)
    if found.differences or found.recorded:
        raise SystemExit(1)
