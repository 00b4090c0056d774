"""`virtperf compare`: compare two sets of runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from virtperf.cli._levels import parse_levels
from virtperf.cli._numbers import FiniteRange
from virtperf.cli._results import benchmark_options, result_options, usage_errors, write_and_print
from virtperf.core.paths import Layout

if TYPE_CHECKING:
    from pathlib import Path

    from virtperf.comparison.compare import ComparisonTable


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
@click.argument("b", required=False)
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
@click.option(
    "--percentile",
    "percentiles",
    multiple=True,
    type=FiniteRange(0, 100, min_open=True, max_open=True),
    metavar="99.9",
    help="Compare this percentile of single values or histograms instead of means; repeatable.",
)
@click.option(
    "--margin",
    type=_Percent(),
    default=0.0,
    metavar="2%",
    help="Equivalence margin: changes up to this count as the same.",
)
@click.option("--paired", is_flag=True, help="Pair runs by name, else by position.")
@click.option(
    "--level",
    type=FiniteRange(0.5, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of intervals, and family-wise level of the verdicts (Holm).",
)
@click.option(
    "--splits",
    type=click.IntRange(0),
    default=200,
    show_default=True,
    help="Number of random splits for A/A tests.",
)
@result_options("slower", "faster", "lower", "higher", "undecided")
@click.pass_obj
def compare(
    layout: Layout,
    a: str,
    b: str | None,
    aa: bool,
    factor: tuple[str, ...],
    where: tuple[str, ...],
    quantity: tuple[str, ...],
    lower_is_better: tuple[str, ...],
    higher_is_better: tuple[str, ...],
    input_format: str | None,
    output_format: str,
    output: tuple[Path, ...],
    revisions: tuple[str, ...],
    fail_on: tuple[str, ...],
    paired: bool,
    **options: Any,
) -> None:
    """Compare two sets of runs: is B slower than A?

    A and B are folders of run folders or of raw files (one per run), or quoted glob patterns of them;
    no study is needed. A study's id selects its measured runs (after `virtperf runs`), REV:FOLDER or
    REV:STUDY the runs of a git revision. With A alone, --factor selects two levels of a factor (two
    kernels, two hosts), or --rev one or two git revisions. The statistical unit is a run.

    \b
        virtperf compare results/6.1 results/6.6 --margin 2% --fail-on slower
        virtperf compare STUDY --factor kernel=6.1 --factor kernel=6.6
        virtperf compare STUDY --factor host=alpha --factor host=beta
        virtperf compare STUDY OTHER-STUDY -o compared.html
        virtperf compare STUDY --rev v1.0 --rev v1.1
        virtperf compare results/6.1 results/6.6 --percentile 50 --percentile 99.9
        virtperf compare --aa results/6.1
    """
    from virtperf.comparison.compare import compare as compare_sides
    from virtperf.comparison.compare import compare_equal

    options |= {
        "where": parse_levels(where),
        "quantities": quantity,
        "lower": lower_is_better,
        "higher": higher_is_better,
        "format": input_format,
        "root": layout.root,
    }
    if aa:
        if b or factor or paired or revisions:
            raise click.UsageError(
                "--aa takes one folder or study, without --factor, --rev and --paired."
            )
        if options.pop("percentiles"):
            raise click.UsageError("--aa compares means only: leave out --percentile.")
        with usage_errors():
            table = compare_equal(a, **options)
    else:
        if sum([b is not None, bool(factor), bool(revisions)]) != 1:
            raise click.UsageError(
                "give A and B; or A alone, with --factor twice or --rev once or twice."
            )
        with usage_errors():
            table = compare_sides(
                a, b, factor=factor, revisions=revisions, paired=paired, **options
            )
    write_and_print(lambda form: _render(table, form), lambda: _print(table), output_format, output)
    if table.verdicts & {*fail_on}:
        raise SystemExit(1)


def _render(table: ComparisonTable, output_format: str) -> str:
    from rawperf.core.files import json_text
    from virtperf.comparison.compare import COLUMNS
    from virtperf.report.html.compared import comparison_page

    if output_format == "json":
        return json_text(table.to_dict())
    if output_format == "markdown":
        return table.to_markdown() + "\n"
    values = {
        **table.to_dict(),
        "fact_cells": table.fact_cells(),
        "remarks": table.remarks(),
    }
    return comparison_page(values, COLUMNS, table.cells())


def _print(table: ComparisonTable) -> None:
    from virtperf.cli._terminal import print_line, print_table
    from virtperf.comparison.compare import COLUMNS

    for sentence in table.sentences:
        print_line(sentence, style="bold")
    if table.rows:
        print_line(f"A is {table.a}, B is {table.b}; change of B against A", before=1)
        print_table(COLUMNS, table.cells(), right=("A", "B", "change", "interval", "p (Holm)"))
    if table.facts:
        print_table(("differs", "A", "B"), table.fact_cells(), title="Machine and tools")
    for note in table.remarks():
        print_line(f"note: {note}")
