"""The command `rawperf`: read one raw file, list the formats."""

from __future__ import annotations

import errno
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rawperf import __version__
from rawperf.core.errors import RawperfError, suggest_similar, visible

if TYPE_CHECKING:
    import pandas as pd

    from rawperf.declared.read import DeclaredFormat
    from rawperf.tidy import RawTables

OUTPUT_SUFFIXES = (".csv", ".parquet", ".json")


class SuggestingGroup(click.Group):
    """Command group that suggests a similar command for an unknown one, and escapes what steers a
    terminal in the messages of click, which quote arguments.
    """

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except click.ClickException as err:
            err.message = visible(err.message)  # type: ignore[misc]
            raise

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as err:
            suggestion = suggest_similar(args[0], self.list_commands(ctx))
            if not suggestion:
                raise
            words = f"{err.message.removesuffix('.')}. {suggestion[0].upper()}{suggestion[1:]}"
            raise click.UsageError(words, ctx) from err


class OneLineErrorGroup(SuggestingGroup):
    """Command group that prints errors of the package and of file access as one line."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except RawperfError as err:
            raise click.ClickException(str(err.relative_to(Path()))) from err
        except BrokenPipeError:
            raise
        except OSError as err:
            raise click.ClickException(os_error(err, None)) from err


def os_error(err: OSError, output: str | None) -> str:
    """Message for an `OSError`: the file, the system's reason and a remedy."""
    file = output or err.filename or "standard output"
    folder = Path(file).absolute().parent if output else "the output's folder"
    remedy = write_remedy(err, folder) or {
        errno.ENOENT: "create the folder first",
    }.get(err.errno or 0, "write to another folder")
    return visible(f"{file}: {err.strerror or err}: {remedy}")


def write_remedy(err: OSError, folder: str | Path) -> str | None:
    """Remedy for a file that can't be written to `folder`; None for other errors."""
    return {
        errno.ENOSPC: f"free space in {folder}, or write to another folder; no output was kept",
        errno.EDQUOT: f"free some of your quota in {folder}, or write to another folder",
        errno.EROFS: "write to a folder that is not read-only",
        errno.EACCES: "write to a folder for which you have write permission, or ask for the permission",
    }.get(err.errno or 0)


@click.group(cls=OneLineErrorGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rawperf")
def main() -> None:
    """Read the output of performance tools as tidy tables with units and line numbers."""


@main.command()
@click.argument("file", type=click.Path(allow_dash=True))
@click.option(
    "--input-format",
    "format_name",
    metavar="NAME|FILE.yaml",
    help="Name of a format, or a declaration file; default: recognised by content.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Output file: .csv, .parquet or .json; - writes CSV to standard output.",
)
@click.option(
    "--metrics",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Metric dictionary; default: the one installed with rawperf.",
)
@click.option(
    "--interval",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Sampling interval, for files whose samples have numbers and no times.",
)
@click.option(
    "--spreadsheet",
    is_flag=True,
    help="In CSV, put an apostrophe before texts that a spreadsheet would run as formulas.",
)
def read(**options: Any) -> None:
    """Read one raw file as a tidy table: FILE is a path, or - for standard input.

    A row is one number: report, entity_kind, entity, field, t and value are the tool's own, line is
    its line in the file; metric, metric_value and metric_unit are its translation by the metric
    dictionary, counters as rates per second. Without -o a preview and a summary are shown. No study
    is needed. A file of your own format is read by a declaration of a few lines of YAML: try it
    with --input-format FILE.yaml.
    """
    read_file(**options)


def read_file(
    file: str,
    format_name: str | None,
    output: str | None,
    metrics: Path | None,
    interval: float | None,
    spreadsheet: bool = False,
    inputs: Sequence[DeclaredFormat] = (),
    place: str | None = None,
) -> None:
    """Implementation of `read`; formats declared in `inputs` take precedence, and `place` is the path
    of the file if it is not the name.

    Raises `click.UsageError` if the table can't be written as named, and `RawperfError`.
    """
    from rawperf.registry import METRICS
    from rawperf.tidy import open_raw

    if output not in (None, "-") and Path(output).suffix not in OUTPUT_SUFFIXES:
        raise click.UsageError(f"-o {output}: the name must end in {', '.join(OUTPUT_SUFFIXES)}")
    if output not in (None, "-") and not Path(output).parent.is_dir():
        raise click.UsageError(f"-o {output}: the folder {Path(output).parent} does not exist")
    if output not in (None, "-") and file != "-" and _are_one_file(file, output):
        raise click.UsageError(
            f"-o {output}: this is the input file, which would be overwritten. Name another file"
        )
    with open_raw(place or file, format_name, interval, metrics or METRICS, inputs) as raw:
        if output is None:
            _show_preview(raw, file)
        elif output == "-":
            for text in _csv_parts(raw.tables(), spreadsheet):
                click.echo(text, nl=False)
        else:
            try:
                count = _write(raw, file, Path(output), spreadsheet)
            except OSError as err:
                raise click.ClickException(os_error(err, output)) from err
    for warning in raw.warnings:
        click.secho(_printable(f"warning: {warning}"), fg="yellow", err=True)
    if output not in (None, "-"):
        click.echo(f"{output}: {count} records of {file}, read as {raw.format}")


def _are_one_file(first: str, second: str) -> bool:
    """Whether two paths refer to the same file, also through links."""
    try:
        return Path(first).samefile(second)
    except OSError:  # one of them does not exist yet
        return False


def _show_preview(raw: RawTables, file: str) -> None:
    from rawperf.preview import preview_lines

    for line in preview_lines(raw, file):
        click.echo(_printable(line))


def _printable(text: str) -> str:
    """Replace control characters, for display on a terminal."""
    return "".join(c if c.isprintable() else " " for c in text)


def _write(raw: RawTables, file: str, output: Path, spreadsheet: bool) -> int:
    """Write all tables in the format of the file's suffix; returns the number of records."""
    from rawperf.core.files import replace_file
    from rawperf.tidy import write_json, write_parquet

    count = 0

    def counted_tables(categorical: bool = False) -> Iterator[pd.DataFrame]:
        nonlocal count
        for table in raw.tables(categorical):
            count += len(table)
            yield table

    with replace_file(output) as out:
        if output.suffix == ".parquet":
            write_parquet(counted_tables(categorical=True), out)
        else:
            with io.TextIOWrapper(out, encoding="utf-8", newline="") as text:
                if output.suffix == ".json":
                    write_json(raw, counted_tables(), file, text)
                else:
                    text.writelines(_csv_parts(counted_tables(), spreadsheet))
    return count


def _csv_parts(tables: Iterable[pd.DataFrame], spreadsheet: bool) -> Iterator[str]:
    from rawperf.tidy import escape_formulas

    for index, table in enumerate(tables):
        table = escape_formulas(table) if spreadsheet else table
        yield table.to_csv(index=False, lineterminator="\n", header=not index)


@main.command()
def formats() -> None:
    """List the formats that can be read: name, then the tool."""
    from rawperf.declared.read import DeclaredFormat
    from rawperf.registry import formats_with_results

    formats_by_name = formats_with_results()
    width = max(map(len, formats_by_name))
    for name in sorted(formats_by_name):
        fmt = formats_by_name[name]
        verified = fmt.declaration.verified if isinstance(fmt, DeclaredFormat) else None
        note = f" ({verified.describe()})" if verified is not None and verified.none else ""
        click.echo(f"{name:{width}}  {fmt.title}{note}")
