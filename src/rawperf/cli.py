"""The command `rawperf`: read one raw file, list the formats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rawperf.core.errors import RawperfError

if TYPE_CHECKING:
    import pandas as pd


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Read the output of performance tools as tidy tables with units and line numbers."""


@main.command()
@click.argument("file", type=click.Path(allow_dash=True))
@click.option(
    "--format",
    "format_name",
    metavar="NAME|FILE.yaml",
    help="Name of the format, or a file that declares one; default: recognised by content.",
)
@click.option(
    "--interval",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Time between samples, for files that only number them.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    help="The table's file: .parquet, or CSV for any other suffix; default: CSV on the terminal.",
)
def read(file: str, format_name: str | None, interval: float | None, output: str | None) -> None:
    """Read FILE (or - for standard input) as a table of one row a number.

    report, entity_kind, entity, field, t and value are the tool's own; line is where the number
    stands; metric, metric_value and metric_unit are what the metric dictionary makes of it, with
    counters as rates a second. Warnings go to standard error.
    """
    from rawperf.core.files import replaced_file
    from rawperf.tidy import opened_raw, write_parquet

    def as_csv(tables: Iterable[pd.DataFrame]) -> Iterator[str]:
        for place, table in enumerate(tables):
            yield table.to_csv(index=False, lineterminator="\n", header=not place)

    try:
        with opened_raw(file, format_name, interval) as raw:
            if output is None:
                for text in as_csv(raw.tables()):
                    click.echo(text, nl=False)
            else:
                with replaced_file(Path(output)) as out:
                    if output.endswith(".parquet"):
                        write_parquet(raw.tables(coded=True), out)
                    else:
                        out.writelines(text.encode() for text in as_csv(raw.tables()))
    except RawperfError as err:
        raise click.ClickException(str(err)) from err
    for warning in raw.warnings:
        click.echo(f"warning: {warning}", err=True)


@main.command()
def formats() -> None:
    """List the formats that can be read: name, then the tool."""
    from rawperf.registry import all_formats

    known = all_formats()
    width = max(map(len, known))
    for name in sorted(known):
        click.echo(f"{name:{width}}  {known[name].title}")
