"""`virtperf history`: change points in a history of benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from virtperf.cli._levels import parse_levels
from virtperf.cli._results import (
    benchmark_options,
    exit_by_verdict,
    result_options,
    usage_errors,
    write_and_print,
)
from virtperf.core.paths import Layout

if TYPE_CHECKING:
    from pathlib import Path

    from virtperf.core.shown import Shown


@click.command()
@click.argument("place")
@click.option(
    "--revision",
    default="revision",
    show_default=True,
    metavar="NAME",
    help="Column, factor or fact with the name of the revision.",
)
@click.option(
    "--date",
    default="date",
    show_default=True,
    metavar="NAME",
    help="Column, factor or fact with the date of the revision; without it, runs are dated by the day "
    "they were made.",
)
@benchmark_options
@result_options("slower", "faster", "lower", "higher")
@click.pass_obj
def history(
    layout: Layout,
    place: str,
    revision: str,
    date: str,
    where: tuple[str, ...],
    quantity: tuple[str, ...],
    lower_is_better: tuple[str, ...],
    higher_is_better: tuple[str, ...],
    input_format: str | None,
    output_format: str,
    output: tuple[Path, ...],
    fail_on: tuple[str, ...],
) -> None:
    """Detect changes in a history of benchmark results.

    Tests whether the newest revisions differ from earlier ones, and finds earlier change points.
    PLACE is a table with one row per run (revision, date, one number per benchmark); or a folder with
    one folder of runs per revision, named DATE-REVISION; or a study or a folder of run folders, whose
    run.yaml has the revision as a factor or under tools.

    \b
        virtperf history results.csv --lower-is-better '*' --fail-on slower
        virtperf history nightly/ -o history.html
        virtperf history STUDY --revision kernel

    The value of a revision is the geometric mean of its runs. A change is reported at the 5 % level:
    fewer than 5 of 100 histories with the same autocorrelation and no change have one as clear.
    docs/compare.md gives the power. Ratios have 95 % confidence intervals.
    """
    from virtperf.comparison.history import history as histories

    with usage_errors():
        table = histories(
            place,
            revision=revision,
            date=date,
            where=parse_levels(where),
            quantities=quantity,
            higher=higher_is_better,
            lower=lower_is_better,
            format=input_format,
            root=layout.root,
        )
    write_and_print(lambda _: table.shown(), _page, output_format, output)
    directed = any(row.better for row in table.rows)
    exit_by_verdict(table.verdicts, fail_on, directed=directed)


def _page(shown: Shown) -> str:
    from virtperf.report.html.panels import history_page

    return history_page(shown)
