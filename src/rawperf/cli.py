"""The command `rawperf`: read one raw file, list the formats."""

from __future__ import annotations

import click

from rawperf.core.errors import RawperfError


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
    from rawperf.tidy import read as read_file

    try:
        table = read_file(file, format=format_name, interval_s=interval)
    except RawperfError as err:
        raise click.ClickException(str(err)) from err
    for warning in table.attrs["warnings"]:
        click.echo(f"warning: {warning}", err=True)
    if output is None:
        click.echo(table.to_csv(index=False, lineterminator="\n"), nl=False)
    elif output.endswith(".parquet"):
        table.to_parquet(output, index=False)
    else:
        table.to_csv(output, index=False, lineterminator="\n")


@main.command()
def formats() -> None:
    """List the formats that can be read: name, then the tool."""
    from rawperf.registry import all_formats

    known = all_formats()
    width = max(map(len, known))
    for name in sorted(known):
        click.echo(f"{name:{width}}  {known[name].title}")
