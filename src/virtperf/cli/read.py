"""`virtperf read`: any raw file that a format knows, as a tidy table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from virtperf.core.paths import Layout

if TYPE_CHECKING:
    from virtperf.ingest.tidy import RawTable

SUFFIXES = (".csv", ".parquet", ".json")
FIRST_RECORDS = 5
MOST_FIELDS = 30
MEANING = {
    "time-of-day": "seconds since midnight", "elapsed": "seconds since the tool began",
    "sample": "the sample's number", "interval": "seconds since the first sample", "none": "not given",
}  # fmt: skip


@click.command()
@click.argument("file", type=click.Path(allow_dash=True))
@click.option(
    "--format", "format_name", metavar="NAME|FILE.yaml",
    help="Name of the format, or a file that declares one; default: recognised by content.",
)  # fmt: skip
@click.option("--study", "study_id", metavar="STUDY", help="A study whose declared inputs come first.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, allow_dash=True),
    help="The table's file: .csv, .parquet or .json; - writes CSV to standard output.",
)  # fmt: skip
@click.option(
    "--metrics", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A metric dictionary; default: data/metrics.yaml of the repository, if there is one.",
)  # fmt: skip
@click.option(
    "--interval", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
    help="Time between samples, for files that only number them.",
)  # fmt: skip
@click.pass_obj
def read(
    layout: Layout, file: str, format_name: str | None, study_id: str | None, output: str | None, metrics: Path | None,
    interval: float | None,
) -> None:  # fmt: skip
    """Read one raw file as a tidy table: FILE is a path, or - for standard input.

    A row is one number: report, entity_kind, entity, field, t and value are the tool's own, line is where it stands;
    metric, metric_value and metric_unit are what the metric dictionary makes of it, counters as rates a second. Without
    -o a preview and a summary are shown. Works anywhere; no study is needed. A file of your own format is read by a
    declaration of a few lines (docs/formats/declared.md): try it by --format FILE.yaml.
    """
    from virtperf.ingest.inputs import declared_inputs, dictionary_of
    from virtperf.ingest.tidy import file_bytes, read_raw

    if output not in (None, "-") and Path(output).suffix not in SUFFIXES:
        raise click.UsageError(f"-o {output}: the name must end in {', '.join(SUFFIXES)}")
    if output not in (None, "-") and not Path(output).parent.is_dir():
        raise click.UsageError(f"-o {output}: there is no folder {Path(output).parent}")
    dictionary = metrics or (layout.metrics if layout.metrics.is_file() else None)
    inputs, format_name = declared_inputs(layout, study_id, format_name)
    raw = read_raw(
        file_bytes(file), file=file, format_name=format_name, interval_s=interval, inputs=inputs,
        dictionary=None if dictionary is None else dictionary_of(dictionary, inputs),
    )  # fmt: skip
    _write(raw, file, output) if output else _preview(raw, file, dictionary is not None)


def _write(raw: RawTable, file: str, output: str) -> None:
    from virtperf.cli._terminal import say, warn
    from virtperf.core.files import json_text, write_atomically
    from virtperf.ingest.tidy import TABLE, document

    warn(raw.warnings)
    suffix = Path(output).suffix
    if output == "-" or suffix == ".csv":
        text = raw.table.to_csv(index=False, lineterminator="\n")
        if output == "-":
            click.echo(text, nl=False)
            return
        write_atomically(Path(output), text)
    elif suffix == ".json":
        write_atomically(Path(output), json_text(document(raw, file)))
    else:
        write_atomically(Path(output), TABLE.data(raw.table))
    say(f"{output}: {len(raw.table)} records of {file}, read as {raw.format}")


def _preview(raw: RawTable, file: str, translated: bool) -> None:
    from virtperf.cli._terminal import say, show, warn
    from virtperf.exhibits.wording import number, plural

    table = raw.table
    say(f"{file}: {raw.title} (format {raw.format}{_certainty(raw)})")
    entities = len(table[["entity_kind", "entity"]].drop_duplicates())
    say(f"{plural(len(table), 'record')} of {plural(entities, 'entity', 'entities')}; {_span(raw)}")
    for name, value in raw.reading.info.items():
        say(f"  {name}: {value}")
    warn(raw.warnings)
    if not translated:
        say("No metric dictionary here, so the tool's own fields only (--metrics names one).")
    first = table.head(FIRST_RECORDS)
    always = ("entity_kind", "entity", "field", "value")
    columns = [c for c in table.columns if c in always or (first[c].notna() & ~first[c].isin(["", 0])).any()]
    numeric = ("t", "value", "line", "metric_value", "samples", "mean", "lowest", "highest")
    rows = [[_cell(v) for v in row] for row in first[columns].itertuples(index=False)]
    show(columns, rows, title=f"The first of {plural(len(table), 'record')}", right=numeric)
    fields = table.groupby(["report", "entity_kind", "field"], sort=False)
    rows = []
    for (report, kind, field), group in list(fields)[:MOST_FIELDS]:
        own = group["metric"].iloc[0]
        values = group["metric_value" if own else "value"].dropna()
        stats = [number(float(s)) for s in (values.mean(), values.min(), values.max())]
        rows.append([report, kind, field, own or "-", group["metric_unit"].iloc[0] or "as printed", len(group), *stats])
    columns = ["report", "of", "field", "metric", "unit", "samples", "mean", "lowest", "highest"]
    show(columns, rows, title="Fields", right=numeric)
    if len(fields) > MOST_FIELDS:
        say(f"... and {len(fields) - MOST_FIELDS} more fields; -o writes everything to a file.")


def _certainty(raw: RawTable) -> str:
    if raw.certainty != raw.certainty:
        return ", as told"
    rival = f", but it could also be {raw.rival}: --format tells which" if raw.rival else ""
    return f", recognised with certainty {raw.certainty:g}{rival}"


def _span(raw: RawTable) -> str:
    import numpy as np

    t = raw.table["t"].dropna()
    if t.empty:
        return "no times"
    low, high = float(t.min()), float(t.max())
    if raw.clock == "absolute":
        ends = [str(np.datetime64(int(v), "s")).replace("T", " ") for v in (low, high)]
        return f"t is seconds since 1970, from {ends[0]} to {ends[1]}"
    return f"t is {MEANING[raw.clock]}, {low:g} to {high:g}"


def _cell(value: object) -> object:
    from virtperf.exhibits.wording import number

    return (number(value, 10) if value == value else "") if isinstance(value, float) else value
