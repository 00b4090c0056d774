"""`virtperf claim`: does a paper's claim hold on one's own machine?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from virtperf.cli._shared import (
    exit_by_verdict,
    input_format_option,
    key_option,
    level_option,
    levels_option,
    result_options,
    rows_option,
    write_and_print,
)
from virtperf.core.levels import Level
from virtperf.core.paths import Layout

at_option = levels_option(
    "--at", "Which of the paper's conditions: a level of a factor that its claim is stated for"
)


@click.group()
def claim() -> None:
    """Test a paper's claim on runs of one's own.

    \b
        virtperf claim list encryption throughput
        virtperf claim show PAPER/CLAIM
        virtperf claim test PAPER/CLAIM 'with-tls/*.txt' 'without-tls/*.txt' --quantity throughput
        virtperf claim plan PAPER/CLAIM STUDY
    """


@claim.command("list")
@click.argument("words", nargs=-1)
@result_options()
@click.pass_obj
def list_(
    layout: Layout, words: tuple[str, ...], output_format: str, output: tuple[Path, ...]
) -> None:
    """List the claims of all papers that have all of WORDS in their name, statement, section or quantities.

    The name of a tool finds the claims about quantities that its files have: `virtperf claim list fio`.
    """
    from virtperf.comparison.claim import listed

    found = listed(layout, words)
    write_and_print(lambda _: found, "claim", output_format, output)


@claim.command()
@click.argument("name", metavar="PAPER/CLAIM")
@result_options()
@click.pass_obj
def show(layout: Layout, name: str, output_format: str, output: tuple[Path, ...]) -> None:
    """Show what a claim says, where it stands, and which runs a test of it needs."""
    from virtperf.comparison.claim import described, find_claim

    found = described(find_claim(layout, name))
    write_and_print(lambda _: found, "claim", output_format, output)


@claim.command()
@click.argument("name", metavar="PAPER/CLAIM|FILE.yaml")
@click.argument("runs", nargs=-1)
@at_option
@click.option(
    "--quantity",
    default="",
    metavar="NAME",
    help="Quantity of your runs that corresponds to the paper's; default: the one of the same name.",
)
@levels_option(
    "--where",
    "Use only rows or runs at this level; given once for each condition, in the claim's order, it tells "
    "the conditions apart in one file or folder",
    several=True,
)
@key_option
@input_format_option("input_format")
@rows_option
@click.option(
    "--keep",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.yaml",
    help="Write the claim, its conditions and the runs for each to this file, which `claim test` takes later.",
)
@level_option("the verdict")
@result_options("fails", "undecided")
@click.pass_obj
def test(
    layout: Layout,
    name: str,
    runs: tuple[str, ...],
    keep: Path | None,
    level: float,
    output_format: str,
    output: tuple[Path, ...],
    fail_on: tuple[str, ...],
    **settings: Any,
) -> None:
    """Test a claim on your runs: holds here, does not hold here, or undecided.

    RUNS are folders of run folders or raw files, files, or quoted patterns: one for each condition of the
    claim, in its order (`virtperf claim show`); or one with the runs of all, which --where tells apart:

    \b
        virtperf claim test PAPER/CLAIM results.csv --where tls=on --where tls=off

    The verdict is by the rule and the error rates of the
    studies' own verdicts. That your conditions correspond to the paper's is your assumption. With --keep
    the correspondence is written to a file, and `virtperf claim test FILE.yaml` tests the claim again.
    """
    from virtperf.comparison import claim as claims

    if name.endswith(".yaml"):
        if runs:
            raise click.UsageError(f"{name} names the runs: give no others")
        test = claims.load_test(Path(name))
    else:
        test = claims.ClaimTest(claim=name, runs=runs, **settings)
    result = claims.claim(test.claim, *test.runs, **test.settings, level=level, root=layout.root)
    if keep is not None:
        test.write(keep)
    write_and_print(lambda _: result.shown(), "claim", output_format, output)
    exit_by_verdict({result.decision.value}, fail_on, directed=True)


@claim.command()
@click.argument("name", metavar="PAPER/CLAIM")
@click.argument("study_id", metavar="STUDY")
@at_option
@click.pass_obj
def plan(layout: Layout, name: str, study_id: str, at: dict[str, Level]) -> None:
    """Write a study that measures the conditions of a claim.

    Creates the measured study STUDY in the repository: the claim is its hypothesis, and work.py is to be
    filled in with what produces one value of each condition. Then `virtperf measure STUDY` measures
    the runs, and `virtperf pipeline STUDY` gives the verdict.
    """
    from virtperf.comparison.claim import find_claim
    from virtperf.comparison.claim_plan import plan as written

    found = find_claim(layout, name)
    for path in written(layout, found.at(at) if at else found, study_id):
        click.echo(path.relative_to(layout.root))
    click.echo(
        f"\nWrite in work.py how a condition is measured, then: virtperf check {study_id}; "
        f"virtperf measure {study_id}; virtperf pipeline {study_id}"
    )
