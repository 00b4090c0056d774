"""Shared options and output of benchmark commands.

Selection of runs and quantities, output formats and files, and exit status by verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from virtperf.core.shown import Shown

FORMATS = ("text", "markdown", "json", "html")
FORMAT_OF_SUFFIX = {".html": "html", ".md": "markdown", ".json": "json"}

CliCommand = TypeVar("CliCommand", bound=Callable[..., Any])


where_option = click.option(
    "--where",
    multiple=True,
    metavar="NAME=LEVEL",
    help="Use only runs at this factor level; repeatable.",
)
input_format_option = click.option(
    "--input-format",
    metavar="NAME|FILE.yaml",
    help="Format of the raw files; default: detected from their content.",
)


def benchmark_options(command: CliCommand) -> CliCommand:
    """Options that select runs and quantities."""
    return _with(
        command,
        where_option,
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
        input_format_option,
    )


def result_options(*failures: str) -> Callable[[CliCommand], CliCommand]:
    """Options for output formats and files, and for `failures`: verdicts that set exit status 1."""
    options = [
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
    ]
    if failures:
        options.append(
            click.option(
                "--fail-on",
                multiple=True,
                type=click.Choice(failures),
                help="Exit with status 1 if any row has this verdict; repeatable.",
            )
        )
    return lambda command: _with(command, *options)


@contextmanager
def usage_errors() -> Iterator[None]:
    """Convert a `ParameterError` to a usage error of click."""
    from rawperf.core.errors import ParameterError

    try:
        yield
    except ParameterError as err:
        raise click.UsageError(str(err)) from err


def write_and_print(
    shown: Callable[[bool], Shown],
    page: Callable[[Shown], str],
    output_format: str,
    output: Sequence[Path],
) -> None:
    """Write a result to the files `output`, and print it.

    `shown` returns the result, complete (for pages and JSON) or not; `page` renders it in HTML.
    """
    from rawperf.core.files import write_atomically

    def render(form: str) -> str:
        if form == "html":
            return page(shown(True))
        return shown(True).to_json() if form == "json" else shown(False).to_markdown() + "\n"

    for path in output:
        write_atomically(path, render(FORMAT_OF_SUFFIX[path.suffix]))
    if output_format == "text":
        print_shown(shown(False))
    else:
        click.echo(render(output_format), nl=False)


def print_shown(shown: Shown) -> None:
    """Print a result as text."""
    from virtperf.cli._terminal import print_line, print_table
    from virtperf.core.shown import plain_text

    for sentence in shown.sentences:
        print_line(sentence, style="bold")
    for table in shown.tables:
        print_line(table.label, before=1)
        rows = [[plain_text(cell) for cell in row] for row in table.rows[: table.most]]
        print_table(table.columns, rows, right=[table.columns[k] for k in table.numeric])
        if table.more:
            print_line(table.more)
    for note in shown.notes:
        print_line(f"note: {note}")


SAME_AS = {"worse": "slower", "better": "faster"}
"""Verdicts on failures, and the verdicts of --fail-on that they count as."""


def exit_by_verdict(verdicts: Iterable[str], fail_on: Sequence[str], *, directed: bool) -> None:
    """Exit with status 1 if a verdict is among `fail_on`, with 2 if it can't be judged.

    `directed`: whether a row has a direction, so that it could be slower or faster.
    """
    found = {SAME_AS.get(verdict, verdict) for verdict in verdicts}
    if found & {*fail_on}:
        raise SystemExit(1)
    if {*fail_on} & {"slower", "faster"} and not directed:
        raise click.UsageError(
            f"--fail-on {' and '.join(fail_on)} can't be judged: no direction is known for these "
            "quantities. Give it by --higher-is-better NAME or --lower-is-better NAME."
        )
    if fail_on and "not judged" in found:
        raise click.UsageError(
            f"--fail-on {' and '.join(fail_on)} can't be judged: a time or rate is 0. Leave out the "
            "failed runs, or judge zeros by --zeros."
        )


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
