"""`virtperf compare`: compare two sets of runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from virtperf.cli._shared import (
    FiniteRange,
    benchmark_options,
    exit_by_verdict,
    key_option,
    level_option,
    repeatable,
    result_options,
    rows_option,
    write_and_print,
)
from virtperf.core.paths import Layout

if TYPE_CHECKING:
    from pathlib import Path


class _Percent(click.ParamType[float]):
    name = "percent"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if isinstance(value, float):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%?", str(value))
        if not match:
            self.fail(f"{value!r} is not a percentage, such as 2%", param, ctx)
        return float(match[1]) / 100


@click.command()
@click.argument("a")
@click.argument("others", nargs=-1, metavar="[B]...")
@click.option("--aa", is_flag=True, help="A/A test: compare random splits of the runs of A.")
@click.option(
    "--factor",
    multiple=True,
    metavar="NAME=LEVEL",
    help="Compare two levels of a factor, or two values (or patterns) of a fact in run.yaml, such as "
    "host; give it twice.",
)
@click.option(
    "--rev",
    "revisions",
    multiple=True,
    metavar="REV",
    help="Compare A at two git revisions (give it twice), or at one with the working tree.",
)
@benchmark_options
@key_option
@repeatable("--over", "COLUMN", "Average over the levels of this key")
@rows_option
@repeatable(
    "--percentile",
    "99.9",
    "Compare this percentile of single values or histograms instead of means",
    parameter="percentiles",
    type=FiniteRange(0, 100, min_open=True, max_open=True),
)
@click.option(
    "--margin",
    type=_Percent(),
    default=0.0,
    metavar="2%",
    help="Equivalence margin: changes up to this count as the same.",
)
@click.option("--paired", is_flag=True, help="Pair runs by name, else by position.")
@level_option("intervals, and family-wise level of the verdicts (Holm)")
@click.option(
    "--ranks",
    is_flag=True,
    help="Add Hodges and Lehmann's estimate and the Mann-Whitney test, which one run hardly changes.",
)
@click.option("--zeros", is_flag=True, help="Judge times and rates of 0 too.")
@click.option(
    "--splits",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    metavar="N",
    help="Number of random splits of an A/A test.",
)
@click.option("--all", "all_rows", is_flag=True, help="Print all rows of a long table.")
@result_options("slower", "faster", "lower", "higher", "undecided")
@click.pass_obj
def compare(
    layout: Layout,
    a: str,
    others: tuple[str, ...],
    aa: bool,
    factor: tuple[str, ...],
    output_format: str,
    output: tuple[Path, ...],
    revisions: tuple[str, ...],
    fail_on: tuple[str, ...],
    all_rows: bool,
    **options: Any,
) -> None:
    """Compare sets of runs: is B slower than A?

    A and B are folders of run folders or of raw files (one per run), files, or quoted glob patterns of
    them; no study is needed. A study's id selects its measured runs (after `virtperf runs`), REV:FOLDER
    or REV:STUDY the runs of a git revision. With A alone, --factor selects two levels of a factor (two
    kernels, two hosts), or --rev one or two git revisions. With more than two, A is the base of all.
    The statistical unit is a run.

    \b
        virtperf compare results/6.1 results/6.6 --margin 2% --fail-on slower
        virtperf compare old.json new.json --rows runs
        virtperf compare base patch-1 patch-2 --lower-is-better time
        virtperf compare STUDY --factor kernel=6.1 --factor kernel=6.6
        virtperf compare STUDY --factor host=alpha --factor host=beta
        virtperf compare STUDY OTHER-STUDY -o compared.html
        virtperf compare STUDY --rev v1.0 --rev v1.1
        virtperf compare results/6.1 results/6.6 --percentile 50 --percentile 99.9
        virtperf compare --aa results/6.1

    --fail-on slower counts more failures as slower. It exits with status 2 if no quantity has a
    direction, if a time or rate is 0, or if the input is wrong.
    """
    from virtperf.comparison.compare import compare as compare_sides

    only_compared = ("paired", "percentiles", "zeros", "ranks")
    if aa and (others or factor or revisions or any(options[name] for name in only_compared)):
        raise click.UsageError(
            "--aa takes one folder or study, and compares means: leave out --factor, --rev, "
            "--paired, --percentile, --zeros and --ranks."
        )
    if sum([aa, bool(others), bool(factor), bool(revisions)]) != 1:
        raise click.UsageError(
            "give A and B; or A alone, with --factor twice or --rev once or twice."
        )
    table = compare_sides(
        a, *others, aa=aa, factor=factor, revisions=revisions, root=layout.root, **options
    )
    write_and_print(
        lambda complete: table.shown(all_rows=complete or all_rows),
        "compare",
        output_format,
        output,
    )
    exit_by_verdict(table.verdicts, fail_on, directed=table.judges_direction)
