"""`virtperf power`: sample size for a question about two conditions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from virtperf.cli._shared import (
    FiniteRange,
    filter_numeric,
    level_option,
    print_shown,
    read_table,
    repeatable,
    warn,
)

if TYPE_CHECKING:
    import pandas as pd

MAX_PERCENT = 10_000
LISTED_RUNS = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30)


@click.command()
@click.argument("file", type=click.Path(allow_dash=True), required=False)
@click.option("--y", metavar="COLUMN", help="Observed values of the pilot runs.")
@click.option("--group", metavar="COLUMN", help="Condition of each pilot run.")
@repeatable("--where", "COLUMN=VALUE", "Use only these pilot runs")
@click.option(
    "--cv",
    type=FiniteRange(0, MAX_PERCENT, min_open=True),
    metavar="PERCENT",
    help="Coefficient of variation between runs; instead of pilot runs.",
)
@click.option(
    "--effect",
    type=FiniteRange(-100, MAX_PERCENT, min_open=True),
    metavar="PERCENT",
    help="Assumed true change between the two conditions; default with --margin: 0.",
)
@click.option(
    "--margin",
    type=FiniteRange(0, MAX_PERCENT, min_open=True),
    metavar="PERCENT",
    help="Equivalence margin: show that the change is smaller than this.",
)
@click.option(
    "--low",
    type=FiniteRange(0),
    metavar="RATIO",
    help="Lower limit of the claimed ratio.",
)
@click.option(
    "--high",
    type=FiniteRange(0),
    metavar="RATIO",
    help="Upper limit of the claimed ratio.",
)
@click.option(
    "--power",
    "target",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="Required statistical power.",
)
@level_option("the interval")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Plot the power against the number of runs to a file (SVG, PDF or PNG).",
)
def power(
    file: str | None,
    y: str | None,
    group: str | None,
    where: tuple[str, ...],
    cv: float | None,
    effect: float | None,
    margin: float | None,
    low: float | None,
    high: float | None,
    target: float,
    level: float,
    output: Path | None,
) -> None:
    """Compute the sample size for a comparison of two conditions.

    Prints the number of runs of each condition that a question about the ratio of their means needs.
    The coefficient of variation between runs is estimated from pilot runs (FILE: CSV, Parquet or
    JSON) or given by --cv.

    \b
        virtperf power --cv 3 --effect 5
        virtperf power pilot.csv --y throughput --group guests --margin 3
        virtperf power --cv 3 --effect -18 --low 0.80 --high 0.84
    """
    from virtperf.core.numbers import number
    from virtperf.core.shown import Grid, Shown
    from virtperf.models.power import power_table, runs_needed

    spread, source = _estimate_spread(file, y, group, where, cv)
    question, question_text = _question(effect, margin, low, high)
    options: dict[str, Any] = {"cv": spread, "alpha": 1 - level, **question}
    needed = runs_needed(target=target, **options)
    counts = sorted({*LISTED_RUNS, *([needed] if needed else [])})
    table = power_table([n for n in counts if needed is None or n <= 2 * needed + 2], **options)
    sentences = (
        question_text,
        f"coefficient of variation between runs: {number(100 * spread)} % ({source})",
        f"a power of {100 * target:g} % needs {needed or 'more than 1000'} runs per condition",
    )
    rows = tuple((str(n), f"{100 * p:.1f} %") for n, p in table.itertuples(index=False))
    grid = Grid(columns=("runs per condition", "power"), rows=rows, numeric=(0, 1))
    print_shown(Shown("", sentences, (grid,), ()))
    if output is not None:
        _draw(
            power_table(range(2, max(10, 2 * (needed or 50)) + 1), **options),
            target,
            question_text,
            output,
        )


def _estimate_spread(
    file: str | None, y: str | None, group: str | None, where: tuple[str, ...], cv: float | None
) -> tuple[float, str]:
    from virtperf.core.schema import require_columns
    from virtperf.models.power import relative_spread
    from virtperf.models.replication import explaining_column

    if (file is None) == (cv is None):
        raise click.UsageError("give either pilot runs (FILE) or --cv.")
    if cv is not None:
        return cv / 100, "given"
    if y is None:
        raise click.UsageError("pilot runs need --y, the column of observed values.")
    frame, _ = filter_numeric(read_table(str(file), where), [y], str(file))
    require_columns(frame, [group] if group else [], name="the table", file=file)
    parts = [rows for _, rows in frame.groupby(group, sort=False)] if group else [frame]
    samples = [rows[y] for rows in parts]
    deviation, df = relative_spread(*samples)
    others = [name for name in frame.columns if name not in (y, group, "provenance", "file")]
    column = explaining_column(parts, y, others, log=True)
    if column is not None:
        remedies = [f"select one level: --where {column.name}=LEVEL"]
        if group is None:
            remedies.insert(0, f"name the column of conditions: --group {column.name}")
        warn([column.warning(", or ".join(remedies))])
    return (
        deviation,
        f"{df + len(samples)} pilot runs of {len(samples)} condition{'s' if len(samples) > 1 else ''}",
    )


def _question(
    effect: float | None, margin: float | None, low: float | None, high: float | None
) -> tuple[dict[str, object], str]:
    if margin is not None and (low is not None or high is not None):
        raise click.UsageError(
            "--margin is for an equivalence, --low and --high for a claim: choose one."
        )
    if margin is not None:
        change = effect or 0.0
        if not 1 / (1 + margin / 100) < 1 + change / 100 < 1 + margin / 100:
            raise click.UsageError(
                f"a change of {change:g} % is outside the margin of {margin:g} %, ratios from "
                f"{1 / (1 + margin / 100):.4g} to {1 + margin / 100:.4g}: give an --effect within it."
            )
        text = f"to show that a change of {change:g} % is smaller than {margin:g} %"
        return {"question": "equivalence", "effect": change / 100, "margin": margin / 100}, text
    if effect is None:
        raise click.UsageError(
            "give --effect, the change to detect, or --margin, the equivalence margin."
        )
    if low is None and high is None:
        if effect == 0:
            raise click.UsageError(
                "--effect 0 can't be detected; for an equivalence, give --margin."
            )
        return {
            "question": "difference",
            "effect": effect / 100,
        }, f"to detect a change of {effect:g} %"
    least, most = low or 0.0, float("inf") if high is None else high
    text = (
        f"to decide the claim of a ratio from {least:g} to {most:g}, if it is {1 + effect / 100:g}"
    )
    return {"question": "claim", "effect": effect / 100, "low": least, "high": most}, text


def _draw(table: pd.DataFrame, target: float, title: str, output: Path) -> None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from virtperf.report.palette import MUTED, SERIES_COLOURS

    line = SERIES_COLOURS[0].light
    with mpl.rc_context({"svg.hashsalt": "power", "font.size": 11}):
        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.add_subplot(
            xlabel="runs per condition", ylabel="power, %", title=f"Runs {title}"
        )
        axes.plot(table["runs"], 100 * table["power"], marker="o", markersize=3, color=line)
        axes.axhline(100 * target, color=MUTED.light, linestyle="--", linewidth=1)
        axes.set_ylim(0, 102)
        output.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(output, metadata={"Date": None} if output.suffix == ".svg" else None)
