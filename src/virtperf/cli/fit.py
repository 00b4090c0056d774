"""`virtperf fit`: any model on any table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from virtperf.cli._columns import Columns
    from virtperf.models.catalog import Options, Sample
    from virtperf.models.reports import Report
    from virtperf.models.result import Estimate

SCHEMA = "virtperf-fit/2"
DIGITS = 10
"""Significant digits in JSON: fewer than where processors may differ."""
SHARE = click.FloatRange(0, 1, True, True)


@click.command()
@click.argument("model", required=False)
@click.argument("file", type=click.Path(allow_dash=True), required=False)
@click.option("--x", metavar="COLUMN", help="Load, time, size: what the curve is over.")
@click.option("--y", metavar="COLUMN", help="What was observed.")
@click.option(
    "--weights", metavar="COLUMN", help="Proportional to one over the variance of each row."
)
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="COLUMN",
    help="One fit a group; or the column that tells groups apart; or a factor, up to two.",
)
@click.option(
    "--of", "first", metavar="GROUP", help="The first of two groups (a ratio's numerator)."
)
@click.option("--to", "second", metavar="GROUP", help="The second one.")
@click.option(
    "--noise",
    type=click.Choice(["proportional", "constant"]),
    default="proportional",
    show_default=True,
    help="Deviations between runs: a share of the mean, or the same everywhere.",
)
@click.option(
    "--at",
    multiple=True,
    type=float,
    metavar="X",
    help="Predict there; may be given several times.",
)
@click.option(
    "--processors", type=click.FloatRange(0, min_open=True), help="How many there are (model cost)."
)
@click.option(
    "--response",
    type=click.FloatRange(0, min_open=True),
    help="The largest load whose response time is not longer (scaling laws).",
)
@click.option("--think", type=click.FloatRange(0), default=0.0, help="Think time of each load.")
@click.option(
    "--efficiency",
    type=SHARE,
    help="The load at which efficiency has fallen so far (scaling laws).",
)
@click.option(
    "--loss",
    type=SHARE,
    help="The x at which this share of the value at the break is lost (two pieces).",
)
@click.option(
    "--where",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Only these rows; may be given several times.",
)
@click.option("--margin", type=float, help="Of an equivalence, declared beforehand.")
@click.option("--paired", is_flag=True, help="Rows of the two groups belong together, in order.")
@click.option(
    "--level",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of intervals.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document, whose layout is stable."
)
@click.option("--list", "list_models", is_flag=True, help="List the models.")
def fit(
    model: str | None,
    file: str | None,
    x: str | None,
    y: str | None,
    weights: str | None,
    groups: Sequence[str],
    first: str | None,
    second: str | None,
    noise: str,
    at: tuple[float, ...],
    processors: float | None,
    response: float | None,
    think: float,
    efficiency: float | None,
    loss: float | None,
    where: Sequence[str],
    margin: float | None,
    paired: bool,
    level: float,
    as_json: bool,
    list_models: bool,
) -> None:
    """Fit MODEL to the table FILE (CSV, Parquet or JSON; - is standard input).

    Prints parameters and derived quantities with their intervals, tests and warnings. `virtperf fit
    --list` names the models. Works anywhere; no study is needed.

    \b
        virtperf fit usl load.csv --x guests --y throughput --group system --at 48 --at 64
        virtperf fit ratio load.csv --y throughput --group system --of zvm --to xen
    """
    from rawperf.core.near import near
    from virtperf.models.catalog import CATALOG, FACTORS, MEANS, SERIES, TAKES, Options

    if list_models:
        from virtperf.cli._terminal import show

        show(
            ("model", "takes", "what it is"),
            [(name, _takes(m), m.title) for name, m in CATALOG.items()],
        )
        return
    if model is None or file is None:
        raise click.UsageError(
            "a model and a table are needed: virtperf fit MODEL FILE; --list names the models."
        )
    if model not in CATALOG:
        raise click.UsageError(
            f"there is no model {model!r}; {near(model, CATALOG)} --list names them all."
        )
    chosen = CATALOG[model]
    takes_x, fewest, most = TAKES[chosen.takes]
    missing = [*([] if y else ["--y"]), *(["--x"] if takes_x and x is None else [])]
    missing += ["--group"] * max(0, fewest - len(groups))
    if missing:
        raise click.UsageError(f"{model} needs {', '.join(missing)}.")
    if len(groups) > most:
        raise click.UsageError(f"{model} takes --group at most {'once' if most == 1 else 'twice'}.")
    assert y is not None
    used_x = x if takes_x else None
    series = chosen.takes == SERIES
    table, warnings = _whole(
        _table(file, where), [n for n in (None if series else used_x, y, weights) if n]
    )
    asked: list[tuple[str, tuple[float, ...]]]
    asked = [("load_within_response", (response, think))] if response is not None else []
    asked += [
        (name, (v,))
        for name, v in (("load_at_efficiency", efficiency), ("loss", loss))
        if v is not None
    ]
    options = Options(
        1 - level,
        noise,
        margin,
        paired,
        at,
        processors,
        tuple(asked),
        {MEANS: second}.get(chosen.takes),
    )
    if chosen.takes == FACTORS:
        jobs = [[_all_rows(table, y, groups)]]
    else:
        samples = _samples(table, used_x, y, weights, groups[0] if groups else None, series)
        if chosen.takes == MEANS:
            jobs = [samples]
        else:
            jobs = (
                [_pair(samples, first, second, groups[0], file)]
                if fewest
                else [[s] for s in samples]
            )
    reports = [_named(model, job, options) for job in jobs]
    if as_json:
        head = {
            "schema": SCHEMA,
            "file": file,
            "model": model,
            "title": chosen.title,
            "x": used_x,
            "y": y,
            "weights": weights,
            "noise": noise,
            "group": list(groups),
            "level": level,
        }
        _print_json({**head, "fits": [_document(r) for r in reports], "warnings": warnings})
    else:
        _print(reports, chosen.title, warnings)


def _takes(model: Any) -> str:
    from virtperf.models.catalog import TAKES

    takes_x, fewest, most = TAKES[model.takes]
    groups = ["--group"] * fewest + ["[--group]"] * (most - fewest)
    return " ".join(
        [*(["--x"] if takes_x else []), "--y", *groups, *(["--margin"] if model.margin else [])]
    )


def _table(file: str, where: Sequence[str]) -> Columns:
    from virtperf.cli._columns import parse_columns
    from virtperf.runs.ingest.tidy import file_bytes

    table = parse_columns(file_bytes(file), file=file)
    for condition in where:
        name, equals, level = condition.partition("=")
        if not equals:
            raise click.UsageError(f"--where {condition}: expected COLUMN=VALUE.")
        table = table.where(name, level)
    return table


def read_samples(
    file: str, y: str, group: str | None, where: Sequence[str], x: str | None = None
) -> tuple[list[Sample], list[str]]:
    """The rows of each group that have a number in y (and x), and what was left out."""
    table, warnings = _whole(_table(file, where), [name for name in (x, y) if name])
    return _samples(table, x, y, None, group, False), warnings


def _whole(table: Columns, names: Sequence[str]) -> tuple[Columns, list[str]]:
    """The rows that have a number in each of these columns, and what was left out."""
    import numpy as np

    from rawperf.core.errors import VirtperfError

    whole = np.all([np.isfinite(table.numbers(name)) for name in names], axis=0)
    if whole.all():
        return table, []
    if not whole.any():
        raise VirtperfError(f"no row has a number in {' and '.join(names)}", file=table.file)
    places = [table.lines[i] for i in np.flatnonzero(~whole).tolist()]
    shown = ", ".join(map(str, places[:10])) + (", ..." if len(places) > 10 else "")
    return table.rows(whole), [
        f"{len(places)} row(s) without a number were left out: {table.unit} {shown}"
    ]


def _samples(
    table: Columns, x: str | None, y: str, weights: str | None, group: str | None, series: bool
) -> list[Sample]:
    """The rows of each group, in the order of the file; the x of a series only names its values."""
    import numpy as np

    from virtperf.models.catalog import Sample

    labels = np.array(table.labels(group) if group else [""] * len(table), dtype=object)
    names = np.array(table.labels(x) if x and series else [""] * len(table), dtype=object)
    roles = (("y", y), ("x", None if series else x), ("weights", weights))
    columns = {role: table.numbers(name) for role, name in roles if name}
    return [
        Sample(
            label,
            name=y,
            order=names[labels == label].tolist(),
            **{role: values[labels == label] for role, values in columns.items()},
        )
        for label in dict.fromkeys(labels.tolist())
    ]


def _all_rows(table: Columns, y: str, factors: Sequence[str]) -> Sample:
    """All rows together, each with its levels."""
    from virtperf.models.catalog import Sample
    from virtperf.study.quantities import parse_level

    levels = {name: [parse_level(level) for level in table.labels(name)] for name in factors}
    return Sample("", table.numbers(y), factors=levels, name=y)


def _pair(
    samples: list[Sample], first: str | None, second: str | None, group: str, file: str
) -> list[Sample]:
    from rawperf.core.errors import VirtperfError

    by_label = {s.label: s for s in samples}
    wanted = (first, second)
    if first is None and second is None and len(samples) == 2:
        return samples
    if first is None or second is None or first == second or not {first, second} <= set(by_label):
        raise VirtperfError(
            f"two groups of {group} are compared",
            file=file,
            expected=f"--of and --to, two of {', '.join(by_label)}",
            found=", ".join(str(w) for w in wanted if w is not None) or f"{len(samples)} groups",
        )
    return [by_label[first], by_label[second]]


def _named(model: str, job: list[Sample], options: Options) -> Report:
    """Run a model; its errors say of which group they are."""
    from rawperf.core.errors import ModelError
    from virtperf.models.reports import run

    try:
        return run(model, job, options)
    except ModelError as err:
        label = " and ".join(s.label for s in job if s.label) if len(job) <= 2 else ""
        raise err.restated(
            ModelError, problem=f"{label}: {err.problem}" if label else err.problem
        ) from err


def _number(value: float) -> float | None:
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def _estimate(name: str, found: Estimate, se: float | None = None) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": name, "value": _number(found.value)}
    entry |= {} if se is None else {"se": _number(se)}
    low, high = _number(found.low), _number(found.high)
    return entry | {
        "low": low,
        "high": high,
        "method": found.method,
        "warnings": list(found.warnings),
    }


def _document(report: Report) -> dict[str, Any]:
    plain = {
        name: {k: _number(float(v)) if isinstance(v, int | float) else v for k, v in test.items()}
        for name, test in report.tests.items()
    }
    return {
        "groups": list(report.groups),
        "rows": report.rows,
        "formula": report.formula,
        "parameters": [_estimate(n, e, report.errors[n]) for n, e in report.parameters.items()],
        "quantities": [_estimate(n, e) for n, e in report.quantities.items()],
        "tests": [{"name": name, **test} for name, test in plain.items()],
        "measures": {name: _number(float(v)) for name, v in report.measures.items()},
        "table": [{k: _plain(v) for k, v in row.items()} for row in report.table],
        "verdict": report.verdict,
        "warnings": list(report.warnings),
    }


def _plain(value: Any) -> Any:
    return (
        _number(float(value))
        if isinstance(value, int | float) and not isinstance(value, bool)
        else str(value)
    )


def _print_json(document: dict[str, Any]) -> None:
    from rawperf.core.files import json_text

    click.echo(json_text(document), nl=False)


def _print(reports: Sequence[Report], title: str, warnings: Sequence[str]) -> None:
    from virtperf.cli._terminal import say, show, warn
    from virtperf.report.wording import number

    say(title, style="bold")
    warn(warnings)
    for report in reports:
        where = " and ".join(report.groups) if len(report.groups) <= 2 else ", ".join(report.groups)
        formula = report.formula if report.formula != title else ""
        if where or formula:
            say(": ".join(part for part in (where, formula) if part), before=1 if where else 0)
        facts = ", ".join(f"{name} {number(float(v))}" for name, v in report.measures.items())
        say(f"{report.rows} rows; {facts}" if facts else f"{report.rows} rows")
        rows = [_line(n, e, number(report.errors[n])) for n, e in report.parameters.items()]
        rows += [_line(n, e, "") for n, e in report.quantities.items()]
        if rows:
            right = ("estimate", "std err", "low", "high")
            show(("", *right, "interval"), rows, right=right)
        if report.table:
            names = list(report.table[0])
            show(
                names,
                [[_cell(row.get(name)) for name in names] for row in report.table],
                right=names[1:],
            )
        for name, test in report.tests.items():
            say(f"test of {name}: p = {number(test['pvalue'])}{_speaks(test)}")
        if report.verdict:
            say(f"verdict: {report.verdict}", style="bold")
        warn(report.warnings)
        warn(
            f"{n}: {w}"
            for n, e in (report.parameters | report.quantities).items()
            for w in e.warnings
        )


def _speaks(test: dict[str, Any]) -> str:
    """What a p-value says of its null hypothesis, at the usual 5 %."""
    if "null" not in test:
        return ""
    return (
        f"; it {'speaks' if test['pvalue'] < 0.05 else 'does not speak'} against {test['null']!r}"
    )


def _cell(value: Any) -> str:
    from virtperf.report.wording import number

    return number(float(value)) if isinstance(value, int | float) else str(value or "")


def _line(name: str, found: Estimate, se: str) -> tuple[str, ...]:
    from virtperf.report.wording import number

    ends = ["none" if math.isinf(v) else number(v) for v in (found.low, found.high)]
    return (name, number(found.value), se, *ends, f"{100 * found.level:g} % {found.method}")
