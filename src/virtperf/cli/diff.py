"""`virtperf diff`: what moved between two revisions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from virtperf.cli._comparison import options, report
from virtperf.cli._terminal import status
from virtperf.core.paths import Layout


@click.command()
@click.argument("first", metavar="REV1")
@click.argument("second", metavar="REV2")
@click.argument("studies", metavar="[STUDY]...", nargs=-1)
@options
@click.pass_obj
def diff(
    layout: Layout,
    first: str,
    second: str,
    studies: Sequence[str],
    output: Path | None,
    tolerances: Path | None,
    jobs: int,
    as_json: bool,
) -> None:
    """Show which claims, tables and figures moved between two revisions, for whoever reviews the
    change.

    REV1 and REV2 are git revisions, folders of results (written with a slash, such as ./other), or
    a dot for the working tree. A revision is written out by `git worktree` into a temporary folder
    and replayed from its own inputs by its own package; a folder's results are taken as they stand.
    Measured runs that DVC keeps are taken from the working tree if it has the same ones.

    The status is 0 whether or not something moved, 1 when a replay failed.

    \b
        virtperf diff main .                     what the working tree changes
        virtperf diff HEAD~1 HEAD STUDY          what one commit changed in a study
    """
    from virtperf.verify.run import diff as run
    from virtperf.verify.run import tolerances_of

    with status("comparing") as progress:
        outcome = run(
            layout,
            first,
            second,
            studies,
            tolerances_of(layout, tolerances),
            jobs=jobs,
            progress=progress,
        )
    report(outcome, "diff", output or layout.root / "reports" / "diff.json", as_json=as_json)
