"""`virtperf diff`: what moved between two revisions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from virtperf.cli._comparison import options, progress, report, write
from virtperf.core.paths import Layout


@click.command()
@click.argument("first", metavar="REV1")
@click.argument("second", metavar="REV2")
@click.argument("studies", metavar="[STUDY]...", nargs=-1)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The page, ending in .html, with a .json file beside it; default: reports/diff.html.",
)
@options
@click.pass_obj
def diff(
    layout: Layout, first: str, second: str, studies: Sequence[str], output: Path | None, tolerances: Path | None,
    jobs: int, as_json: bool,
) -> None:  # fmt: skip
    """Show which claims, tables and figures moved between two revisions, for whoever reviews the change.

    REV1 and REV2 are git revisions, folders of results (written with a slash, such as ./other), or a dot for the
    working tree. A revision is written out by git into a temporary folder and replayed from its own inputs, by its own
    package if it has one, else by the one that runs this; a folder's results are taken as they stand. Measured runs
    that DVC keeps are taken from the working tree if it has the same ones.

    The page lists everything that moved beyond tolerance, the old interval beside the new one, in numbers and as a
    drawing; a figure that moved is shown before and after. Figures that only look different are counted apart. The
    status is 0 whether or not something moved, 1 when a replay failed.

    \b
        virtperf diff main .                     what the working tree changes
        virtperf diff HEAD~1 HEAD STUDY          what one commit changed in a study
    """
    from virtperf.verify.run import diff as run
    from virtperf.verify.run import tolerances_of

    file = output or layout.root / "reports" / "diff.html"
    if file.suffix != ".html":
        raise click.BadParameter("the page's name ends in .html", param_hint="-o")
    with progress("comparing") as told:
        outcome = run(layout, first, second, studies, tolerances_of(layout, tolerances), jobs=jobs, progress=told)
    title = f"What moved: {outcome.old.name} to {outcome.new.name}"
    lead = (
        "<p>Both sides were replayed from what people wrote, or taken as they stood where they were folders of "
        "results. Listed is whatever moved beyond tolerance.</p>"
    )
    made = write(outcome, "diff", file, layout.root / "reports", title=title, lead=lead)
    report(outcome, made, file, as_json=as_json)
