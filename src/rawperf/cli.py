"""The command `rawperf`: read one raw file, list the formats."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rawperf.core.errors import RawperfError

if TYPE_CHECKING:
    import pandas as pd


class OneLineErrors(click.Group):
    """Errors of the package, and of files that can't be read or written, as one line."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except RawperfError as err:
            raise click.ClickException(str(err)) from err
        except BrokenPipeError:
            raise
        except OSError as err:
            raise click.ClickException(os_error(err, ctx.obj)) from err


def os_error(err: OSError, output: str | None) -> str:
    """What the system refused, with the file that was written and what to do."""
    file = output or err.filename or "standard output"
    folder = Path(file).absolute().parent if output else "the output's folder"
    remedy = {
        errno.ENOSPC: f"free space in {folder}, or write elsewhere; nothing was kept",
        errno.EDQUOT: f"free some of your quota in {folder}, or write elsewhere",
        errno.EROFS: "write to a folder that is not read-only",
        errno.EACCES: "write where you may, or ask for the right to",
        errno.ENOENT: "create the folder first",
    }.get(err.errno or 0, "write elsewhere")
    return f"{file}: {err.strerror or err}: {remedy}"


@click.group(cls=OneLineErrors, context_settings={"help_option_names": ["-h", "--help"]})
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
@click.option(
    "--spreadsheet",
    is_flag=True,
    help="In CSV, put an apostrophe before texts that a spreadsheet would run as formulas.",
)
@click.pass_context
def read(
    ctx: click.Context,
    file: str,
    format_name: str | None,
    interval: float | None,
    output: str | None,
    spreadsheet: bool,
) -> None:
    """Read FILE (or - for standard input) as a table of one row a number.

    report, entity_kind, entity, field, t and value are the tool's own; line is where the number
    stands; metric, metric_value and metric_unit are what the metric dictionary makes of it, with
    counters as rates a second. Warnings go to standard error.
    """
    from rawperf.core.files import replaced_file
    from rawperf.tidy import opened_raw, without_formulas, write_parquet

    ctx.find_root().obj = output

    def as_csv(tables: Iterable[pd.DataFrame]) -> Iterator[str]:
        for place, table in enumerate(tables):
            table = without_formulas(table) if spreadsheet else table
            yield table.to_csv(index=False, lineterminator="\n", header=not place)

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
