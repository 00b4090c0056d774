"""`virtperf fit`: fit a model of `virtperf.models` to a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import click

from virtperf.cli._shared import (
    FiniteRange,
    filter_level,
    filter_numeric,
    level_option,
    print_table,
    read_table,
    repeatable,
    row_names,
    status,
    warn,
)

CURVES = {
    "usl": "Universal Scalability Law",
    "amdahl": "Amdahl's law",
    "scaling": "the simplest adequate model of linear scaling, Amdahl's law and the USL",
    "line": "straight line",
    "robust_line": "robust straight line (Huber)",
    "segmented": "two line segments and their breakpoint",
    "closed": "closed queueing network: clients with think time, one station; its service demand",
}
MANY_ROWS = 100_000
"""Number of rows above which a fit takes seconds."""
COMPARISONS = {
    "ratios": "ratio of the means of two groups of independent runs",
    "pairs": "ratio of paired runs, for example of one load or one block",
    "differences": "difference of the means of two groups of independent runs",
}


def _list_models(context: click.Context, _: click.Parameter, is_set: bool) -> None:
    if is_set:
        print_table(("model", "description"), (CURVES | COMPARISONS).items())
        context.exit()


@click.command()
@click.argument("model", type=click.Choice([*CURVES, *COMPARISONS]))
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("--x", metavar="COLUMN", help="Predictor of a curve, such as the load.")
@click.option("--y", metavar="COLUMN", required=True, help="Response: the observed values.")
@repeatable("--by", "COLUMN", "Fit each level of this column")
@click.option(
    "--noise",
    type=click.Choice(["proportional", "counts", "constant"]),
    help="Variance of y: proportional to the squared mean or to the mean (counts), or constant.",
)
@click.option("--weights", metavar="COLUMN", help="Weights, inversely proportional to variances.")
@click.option(
    "--form",
    type=click.Choice(["free", "plateau-decline", "rise-plateau"]),
    help="segmented: shape of the curve.",
)
@click.option("--robust", is_flag=True, help="usl, segmented: robust fit, for data with outliers.")
@click.option("--think", metavar="COLUMN|TIME", help="closed: think time.")
@click.option("--servers", metavar="COLUMN|N", help="closed: servers of the station, such as CPUs.")
@click.option(
    "--cv2",
    metavar="NUMBER",
    help="closed: squared coefficient of variation of service times, or 'free'; default 1.",
)
@repeatable("--at", "X", "Predict at this x", type=FiniteRange())
@click.option("--group", metavar="COLUMN", help="Column that distinguishes the two groups.")
@click.option("--of", metavar="LEVEL", help="First group (numerator of a ratio).")
@click.option("--to", metavar="LEVEL", help="Second group (denominator of a ratio).")
@repeatable("--on", "COLUMN", "Column whose value the runs of a pair share")
@repeatable("--where", "COLUMN=VALUE", "Use only these rows")
@level_option("intervals")
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_models,
    help="List the models.",
)
def fit(model: str, file: str, y: str, level: float, where: Sequence[str], **named: Any) -> None:
    """Fit a model to a table.

    FILE is CSV, Parquet or JSON; - reads CSV from standard input. Prints the summary of the function
    named MODEL in `virtperf.models`, with the same defaults. No study is needed.

    \b
        virtperf fit usl load.csv --x guests --y throughput --by system --at 48
        virtperf fit ratios load.csv --y throughput --group system --of zvm --to xen --by guests
    """
    from rawperf.core.errors import ModelError, ParameterError

    alpha, call = round(1 - level, 12), _curve if model in CURVES else _comparison
    options = {name: value for name, value in named.items() if value not in (None, (), False)}
    _check_options(model, options)
    numbers = [name for name in (options.get("x"), y, options.get("weights")) if name]
    with status(f"reading {file}"):
        frame, warnings = filter_numeric(read_table(file, where), numbers, file)
        frame = row_names(frame, file)
    warn(warnings)
    try:
        call(model, file, frame, y, alpha, options)
    except (ModelError, ParameterError) as err:
        raise err.copy_as(type(err), file=file) from err


def _progress(model: str, frame: Any) -> AbstractContextManager[Any]:
    """Status line on a terminal while a model is fitted to many rows."""

    rows = len(frame)
    return status(f"fitting {model} to {rows:,} rows") if rows > MANY_ROWS else nullcontext()


def _check_options(model: str, options: Mapping[str, Any]) -> None:
    needed = (
        ["x"] if model in CURVES else ["group", "of", "to", *(["on"] if model == "pairs" else [])]
    )
    if missing := [f"--{name}" for name in needed if name not in options]:
        raise click.UsageError(f"{model} needs {', '.join(missing)}.")
    known = {"by", *needed}
    if model == "closed":
        known |= {"think", "servers", "cv2"}
    elif model in CURVES:
        known |= {"at"} | (set() if model == "robust_line" else {"noise", "weights"})
        known |= {"form"} if model == "segmented" else set()
        known |= {"robust"} if model in ("usl", "segmented") else set()
    if unknown := [f"--{name}" for name in options if name not in known]:
        raise click.UsageError(f"{model} does not accept {', '.join(unknown)}.")
    if "noise" in options and "weights" in options:
        raise click.UsageError("--weights and --noise are mutually exclusive.")


def _curve(
    model: str, file: str, frame: Any, y: str, alpha: float, named_options: Mapping[str, Any]
) -> None:
    from rawperf.core.errors import ModelError
    from virtperf import models
    from virtperf.models import Missing

    by = list(named_options.get("by", ())) or None
    options = {
        name: named_options[name]
        for name in ("noise", "weights", "form", "robust")
        if name in named_options
    }
    if model == "closed":
        options = _closed_options(named_options)
    function: Callable[..., models.Fits] = getattr(models, model)
    with _progress(model, frame):
        fits = function(f"{y} ~ {named_options['x']}", frame, by=by, **options)
    if not any(fit.available for fit in fits.values()):
        reasons = [f"{label}: {fit.reason}" if by else fit.reason for label, fit in fits.items()]
        raise ModelError("; ".join(reasons), file=file)
    click.echo(fits.summary(alpha) if by else fits.only.summary(alpha=alpha), nl=False)
    if model == "closed":
        for fit in (fit for fit in fits.values() if fit.available):
            table = fit.table().to_string(index=False, float_format="{:.6g}".format)
            click.echo(f"\n{table}")
    # the noise of a new row is unknown if rows have weights, given or by the robust fit
    weighted = "weights" in named_options or model == "robust_line"
    intervals = ("mean",) if weighted else ("mean", "observation")
    for interval in intervals if "at" in named_options else ():
        table = fits.predict(list(named_options["at"]), interval=interval, alpha=alpha)
        warn(table.attrs["warnings"])
        if len(table):
            click.echo(
                f"\n{interval}\n{table.to_string(index=False, float_format='{:.6g}'.format)}"
            )
    for label, fit in fits.items():
        if isinstance(fit, Missing):
            click.echo(f"warning: {label}: {fit.reason}", err=True)


def _closed_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of the closed queueing network: columns or numbers."""

    values: dict[str, Any] = {}
    for name in ("think", "servers", "cv2"):
        text = options.get(name)
        if text is None:
            continue
        try:
            values[name] = float(text)
        except ValueError:
            if name == "cv2":
                if text != "free":
                    raise click.UsageError(f"--cv2 {text}: expected a number or 'free'.") from None
                values[name] = None
            else:
                values[name] = text
    return values


def _comparison(
    model: str, file: str, frame: Any, y: str, alpha: float, named_options: Mapping[str, Any]
) -> None:
    from rawperf.core.errors import ModelError
    from virtperf import models

    group, by = named_options["group"], list(named_options.get("by", ())) or None
    levels = {
        side: {group: filter_level(frame, group, named_options[side], file)[group].iloc[0]}
        for side in ("of", "to")
    }
    options: dict[str, Any] = {**levels, "by": by, "alpha": alpha}
    if model == "pairs":
        options["on"] = list(named_options["on"])
    else:
        options["check_replicates"] = True
    with _progress(model, frame):
        estimates = getattr(models, model)(y, frame, **options)
    if not any(e.available for e in estimates.values()):
        raise ModelError(
            "; ".join(f"{name}: {e.reason}" for name, e in estimates.items()), file=file
        )
    for name, e in estimates.items():
        click.echo(f"{name}: {e}")
    warnings = dict.fromkeys(w for e in estimates.values() for w in e.warnings)
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)
