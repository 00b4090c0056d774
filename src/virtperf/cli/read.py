"""`virtperf read`: any raw file that a format knows, as a tidy table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from virtperf.core.paths import Layout

if TYPE_CHECKING:
    import pandas as pd

    from rawperf.tidy import RawTables
    from virtperf.cli._preview import FilePreview

SUFFIXES = (".csv", ".parquet", ".json")
MOST_FIELDS = 30
MEANING = {
    "time-of-day": "seconds since midnight",
    "elapsed": "seconds since the tool began",
    "sample": "the sample's number",
    "interval": "seconds since the first sample",
    "none": "not given",
}


@click.command()
@click.argument("file", type=click.Path(allow_dash=True))
@click.option(
    "--format",
    "format_name",
    metavar="NAME|FILE.yaml",
    help="Name of the format, or a file that declares one; default: recognised by content.",
)
@click.option(
    "--study", "study_id", metavar="STUDY", help="A study whose declared inputs come first."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="The table's file: .csv, .parquet or .json; - writes CSV to standard output.",
)
@click.option(
    "--metrics",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A metric dictionary; default: the one of rawperf.",
)
@click.option(
    "--interval",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Time between samples, for files that only number them.",
)
@click.pass_obj
def read(
    layout: Layout,
    file: str,
    format_name: str | None,
    study_id: str | None,
    output: str | None,
    metrics: Path | None,
    interval: float | None,
) -> None:
    """Read one raw file as a tidy table: FILE is a path, or - for standard input.

    A row is one number: report, entity_kind, entity, field, t and value are the tool's own, line is
    where it stands; metric, metric_value and metric_unit are what the metric dictionary makes of
    it, counters as rates a second. Without -o a preview and a summary are shown. Works anywhere; no
    study is needed. A file of your own format is read by a declaration of a few lines
    (docs/formats/declared.md): try it by --format FILE.yaml.
    """
    from rawperf.choose import dictionary_of
    from rawperf.tidy import RawTables, opened
    from virtperf.runs.ingest.inputs import declared_inputs

    if output not in (None, "-") and Path(output).suffix not in SUFFIXES:
        raise click.UsageError(f"-o {output}: the name must end in {', '.join(SUFFIXES)}")
    if output not in (None, "-") and not Path(output).parent.is_dir():
        raise click.UsageError(f"-o {output}: there is no folder {Path(output).parent}")
    dictionary = metrics or layout.metrics
    inputs, format_name = declared_inputs(layout, study_id, format_name)
    translation = dictionary_of(dictionary, inputs)
    with opened(file) as stream:
        raw = RawTables(
            stream,
            file=file,
            format_name=format_name,
            interval_s=interval,
            inputs=inputs,
            dictionary=translation,
        )
        _write(raw, file, output) if output else _preview(raw, file)


def _write(raw: RawTables, file: str, output: str) -> None:
    import io

    from rawperf.core.files import replaced_file
    from rawperf.tidy import write_json
    from virtperf.cli._terminal import say, warn
    from virtperf.runs.ingest.tables import TABLE

    count = 0

    def counted(coded: bool = False) -> Iterator[pd.DataFrame]:
        nonlocal count
        for table in raw.tables(coded):
            count += len(table)
            yield table

    suffix = Path(output).suffix
    if output == "-":
        for place, table in enumerate(counted()):
            click.echo(table.to_csv(index=False, lineterminator="\n", header=not place), nl=False)
        warn(raw.warnings)
        return
    with replaced_file(Path(output)) as out:
        if suffix == ".parquet":
            TABLE.write_parts(counted(coded=True), out)
        else:
            with io.TextIOWrapper(out, encoding="utf-8", newline="") as text:
                if suffix == ".json":
                    write_json(raw, counted(), file, text)
                else:
                    for place, table in enumerate(counted()):
                        table.to_csv(text, index=False, lineterminator="\n", header=not place)
    warn(raw.warnings)
    say(f"{output}: {count} records of {file}, read as {raw.format}")


def _preview(raw: RawTables, file: str) -> None:
    from virtperf.cli._preview import FilePreview
    from virtperf.cli._terminal import say, show, warn
    from virtperf.report.wording import number, plural

    seen = FilePreview()
    for table in raw.tables():
        seen.add(table)
    say(f"{file}: {raw.title} (format {raw.format}{_certainty(raw)})")
    say(
        f"{plural(seen.records, 'record')} of {plural(len(seen.entities), 'entity', 'entities')}; {_span(raw, seen)}"
    )
    for name, value in raw.info.items():
        say(f"  {name}: {value}")
    warn(raw.warnings)
    first = seen.first
    always = ("entity_kind", "entity", "field", "value")
    columns = [
        c
        for c in first.columns
        if c in always or (first[c].notna() & ~first[c].isin(["", 0])).any()
    ]
    numeric = ("t", "value", "line", "metric_value", "samples", "mean", "lowest", "highest")
    rows = [[_cell(v) for v in row] for row in first[columns].itertuples(index=False)]
    show(columns, rows, title=f"The first of {plural(seen.records, 'record')}", right=numeric)
    fields = seen.fields()
    rows = [
        [report, kind, name, metric or "-", unit or "as printed", samples, *map(number, numbers)]
        for report, kind, name, metric, unit, samples, *numbers in fields.head(
            MOST_FIELDS
        ).itertuples(index=False)
    ]
    columns = ["report", "of", "field", "metric", "unit", "samples", "mean", "lowest", "highest"]
    show(columns, rows, title="Fields", right=numeric)
    if len(fields) > MOST_FIELDS:
        say(f"... and {len(fields) - MOST_FIELDS} more fields; -o writes everything to a file.")


def _certainty(raw: RawTables) -> str:
    if raw.certainty != raw.certainty:
        return ", as told"
    rival = f", but it could also be {raw.rival}: --format tells which" if raw.rival else ""
    return f", recognised with certainty {raw.certainty:g}{rival}"


def _span(raw: RawTables, seen: FilePreview) -> str:
    import numpy as np

    low, high = seen.low, seen.high
    if not low <= high:
        return "no times"
    if raw.clock == "absolute":
        ends = [str(np.datetime64(int(v), "s")).replace("T", " ") for v in (low, high)]
        return f"t is seconds since 1970, from {ends[0]} to {ends[1]}"
    return f"t is {MEANING[raw.clock]}, {low:g} to {high:g}"


def _cell(value: object) -> object:
    from virtperf.report.wording import number

    return (number(value, 10) if value == value else "") if isinstance(value, float) else value
