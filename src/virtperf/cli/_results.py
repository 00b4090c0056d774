"""Shared options and output of benchmark commands.

Selection of runs and quantities, output formats and files, and exit status by verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

FORMATS = ("text", "markdown", "json", "html")
FORMAT_OF_SUFFIX = {".html": "html", ".md": "markdown", ".json": "json"}

CliCommand = TypeVar("CliCommand", bound=Callable[..., Any])


def benchmark_options(command: CliCommand) -> CliCommand:
    """Options that select runs and quantities."""
    return _with(
        command,
        click.option(
            "--where",
            multiple=True,
            metavar="NAME=LEVEL",
            help="Use only runs at this factor level; repeatable.",
        ),
        click.option(
            "--quantity",
            multiple=True,
            metavar="NAME",
            help="Use only this quantity, or those that match a pattern; repeatable.",
        ),
        click.option(
            "--lower-is-better",
            multiple=True,
            metavar="NAME",
            help="Quantity of which an increase counts as slower; repeatable.",
        ),
        click.option(
            "--higher-is-better",
            multiple=True,
            metavar="NAME",
            help="Quantity of which a decrease counts as slower; repeatable.",
        ),
        click.option(
            "--input-format",
            metavar="NAME|FILE.yaml",
            help="Format of the raw files; default: detected from their content.",
        ),
    )


def result_options(*failures: str) -> Callable[[CliCommand], CliCommand]:
    """Options for output formats and files, and for `failures`: verdicts that set exit status 1."""

    def decorate(command: CliCommand) -> CliCommand:
        return _with(
            command,
            click.option(
                "--format",
                "output_format",
                type=click.Choice(FORMATS),
                default="text",
                show_default=True,
                help="Output format.",
            ),
            click.option(
                "-o",
                "--output",
                multiple=True,
                type=click.Path(dir_okay=False, path_type=Path),
                callback=_check_suffixes,
                metavar="FILE",
                help="Also write the result to a file: .html, .md or .json; repeatable.",
            ),
            click.option(
                "--fail-on",
                multiple=True,
                type=click.Choice(failures),
                help="Exit with status 1 if any row has this verdict; repeatable.",
            ),
        )

    return decorate


@contextmanager
def usage_errors() -> Iterator[None]:
    """Convert a `ParameterError` to a usage error of click."""
    from rawperf.core.errors import ParameterError

    try:
        yield
    except ParameterError as err:
        raise click.UsageError(str(err)) from err


def write_and_print(
    rendered: Callable[[str], str],
    print_text: Callable[[], None],
    output_format: str,
    output: Sequence[Path],
) -> None:
    """Write a result to the files `output`, and print it.

    `rendered` returns it in a format other than text, `print_text` prints it as text.
    """
    from rawperf.core.files import write_atomically

    for path in output:
        write_atomically(path, rendered(FORMAT_OF_SUFFIX[path.suffix]))
    if output_format == "text":
        print_text()
    else:
        click.echo(rendered(output_format), nl=False)


def _with(command: CliCommand, *options: Callable[[CliCommand], CliCommand]) -> CliCommand:
    for option in reversed(options):
        command = option(command)
    return command


def _check_suffixes(
    context: click.Context, parameter: click.Parameter, paths: tuple[Path, ...]
) -> tuple[Path, ...]:
    for path in paths:
        if path.suffix not in FORMAT_OF_SUFFIX:
            raise click.UsageError(
                f"--output {path}: the name must end in {', '.join(FORMAT_OF_SUFFIX)}."
            )
    return paths
