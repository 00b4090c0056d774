"""`virtperf history`: change points in a history of benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from virtperf.cli._shared import (
    benchmark_options,
    exit_by_verdict,
    result_options,
    write_and_print,
)
from virtperf.core.paths import Layout

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("place")
@click.option(
    "--revision",
    metavar="NAME",
    help="Column, factor or fact with the name of the revision.  [default: revision; of a table "
    "without it, the text column with the most different cells]",
)
@click.option(
    "--date",
    default="date",
    show_default=True,
    metavar="NAME",
    help="Column, factor or fact with the date of the revision; without it, runs are dated by the day "
    "they were made.",
)
@click.option(
    "--by-date",
    is_flag=True,
    help="Sort the revisions of a table by date; default: the order of its rows.",
)
@click.option(
    "--accept",
    metavar="REVISION",
    help="Accept the changes up to this revision: later runs do not report them.",
)
@click.option(
    "--accepted",
    metavar="FILE",
    help="File of accepted changes.  [default: NAME.accepted.json beside PLACE]",
)
@benchmark_options
@result_options("slower", "faster", "lower", "higher", "drifts", "not-tested")
@click.pass_obj
def history(
    layout: Layout,
    place: str,
    output_format: str,
    output: tuple[Path, ...],
    fail_on: tuple[str, ...],
    **options: Any,
) -> None:
    """Detect changes in a history of benchmark results.

    Finds changes of level that still hold, and names the revisions since which they do; a single
    revision apart from its neighbours is a noisy one.
    PLACE is a table with one row per run (revision, date, one number per benchmark; further text
    columns and settings, such as a load, tell benchmarks apart); or a folder with one folder of runs
    per revision, named DATE-REVISION; or a study or a folder of run folders, whose run.yaml has the
    revision as a factor or under tools.

    \b
        virtperf history results.csv --lower-is-better '*' --fail-on slower
        virtperf history results.csv --accept r14
        virtperf history nightly/ -o history.html
        virtperf history STUDY --revision kernel

    The value of a revision is the geometric mean of its runs; values that are not all positive are
    compared by differences. Changes are reported until they are undone or accepted; the file of
    accepted changes belongs under version control. docs/compare.md gives false alarm rates and power.
    Intervals have a confidence level of 95 %.
    """
    from virtperf.comparison.history import history as histories

    table = histories(place, root=layout.root, **options)
    write_and_print(lambda _: table.shown(), "history", output_format, output)
    exit_by_verdict(
        {verdict.replace(" ", "-") for verdict in table.verdicts},
        fail_on,
        directed=table.judges_direction,
    )
