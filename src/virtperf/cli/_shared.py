"""What the commands share: terminal output, options, results in every format, stages, input tables.

All commands import this module at start-up, so rich, pandas and the readers are imported lazily.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rawperf.core.errors import RawperfError
from rawperf.core.files import write_atomically
from virtperf.cli import NoVerdictError
from virtperf.core.grouping import grouped
from virtperf.core.levels import Level, parse_level
from virtperf.core.paths import Layout

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from virtperf.core.shown import Shown

CliCommand = TypeVar("CliCommand", bound=Callable[..., Any])

# ---- terminal output, sanitised for terminals and readable in a pipe

PIPE_WIDTH = 1000


def console(*, err: bool = False) -> Console:
    """A rich console; in a pipe it neither colours nor truncates."""
    from rich.console import Console

    stream = sys.stderr if err else sys.stdout
    return Console(file=stream, highlight=False, width=None if stream.isatty() else PIPE_WIDTH)


def interactive() -> bool:
    """Whether standard input is a terminal, so that prompts are possible."""
    return sys.stdin.isatty()


def clean(value: object) -> str:
    """Sanitise text for a terminal: one line, without control characters."""
    return "".join(c if c.isprintable() else " " for c in str(value))


def print_line(line: str, *, style: str = "", err: bool = False, before: int = 0) -> None:
    """Print a line of text without markup, after `before` empty lines."""
    from rich.text import Text

    console(err=err).print("\n" * before, end="")
    console(err=err).print(Text(clean(line), style=style), soft_wrap=True)


def warn(warnings: Iterable[str]) -> None:
    """Print warnings to standard error, one per line."""
    for warning in warnings:
        print_line(f"warning: {warning}", style="yellow", err=True)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    right: Sequence[str] = (),
) -> None:
    """Print a table below its title; the columns named in `right` are right-aligned."""
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style="bold",
        show_header=any(columns),
    )
    for column in columns:
        table.add_column(
            Text(column), justify="right" if column in right else "left", overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(clean(cell)) for cell in row))
    if title:
        print_line(title, style="bold", before=1)
    console().print(table)


@contextmanager
def status(title: str) -> Iterator[Callable[[str], None]]:
    """Context manager for a status line on a terminal; the yielded function updates it.

    Elsewhere nothing is shown.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.text import Text

    with console(err=True).status(Text(title)) as line:
        yield lambda text: line.update(Text(f"{title}: {text}"))


# ---- stages


def stage(command: click.Command) -> click.Command:
    """Add the repository's layout and the argument STUDY to a command, and check Python first."""
    click.argument("study_id", metavar="STUDY")(command)
    return checked(command)


def checked(command: click.Command) -> click.Command:
    """Add the repository's layout to a command, and check the Python version first."""
    function = command.callback
    assert function is not None

    @functools.wraps(function)
    def with_layout(*arguments: Any, **options: Any) -> Any:
        from virtperf.core.environment import check_python

        layout = click.get_current_context().find_object(Layout)
        assert layout is not None
        layout.require()
        check_python(layout.root)
        return function(layout, *arguments, **options)

    command.callback = with_layout
    return command


# ---- options


class FiniteRange(click.FloatRange):
    """A float range without NaN, which click accepts in any range, and infinities."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number

    def _describe_range(self) -> str:  # click prints x<=None for a range without limits
        return "" if self.min is None and self.max is None else super()._describe_range()


def repeatable(name: str, metavar: str, text: str, **more: Any) -> Callable[[Any], Any]:
    """An option that may be given more than once, as its help says; `more` is that of click."""
    names = (name, *filter(None, (more.pop("parameter", ""),)))
    help_text = f"{text}; repeatable."
    return click.option(*names, multiple=True, metavar=metavar, help=help_text, **more)


def level_option(what: str) -> Callable[[Any], Any]:
    """The option --level; `what` it is the level of."""
    return click.option(
        "--level",
        type=FiniteRange(0.5, 1, min_open=True, max_open=True),
        default=0.95,
        show_default=True,
        help=f"Confidence level of {what}.",
    )


def levels_option(
    name: str, text: str, *, several: bool = False
) -> Callable[[CliCommand], CliCommand]:
    """A repeatable option with ``NAME=LEVEL``: levels by name; with `several`, a name that is given more
    than once has a tuple of them.
    """

    def levels(
        _: click.Context, option: click.Parameter, texts: Sequence[str]
    ) -> dict[str, Level | tuple[Level, ...]]:
        given = grouped(
            (level_name, parse_level(level))
            for level_name, level in _split(texts, option.opts[0], "NAME=LEVEL")
        )
        if repeated := [n for n, of in given.items() if len(of) > 1 and not several]:
            raise click.UsageError(
                f"{option.opts[0]} {repeated[0]} is given twice: one level holds for all runs."
            )
        return {n: tuple(of) if len(of) > 1 else of[0] for n, of in given.items()}

    return repeatable(name, "NAME=LEVEL", text, callback=levels)


where_option = levels_option("--where", "Use only runs at this factor level")


def input_format_option(name: str) -> Callable[[CliCommand], CliCommand]:
    """The option --input-format, as the parameter `name`."""
    return click.option(
        "--input-format",
        name,
        metavar="NAME|FILE.yaml",
        help="Format of raw files without run.yaml; default: detected from their content.",
    )


key_option = click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="COLUMN",
    help="Column that tells the rows of tables apart, such as the name of a benchmark; repeatable. "
    "Default: texts that do, and settings that are equal row by row.",
)
rows_option = click.option(
    "--rows",
    type=click.Choice(("repetitions", "runs")),
    default="repetitions",
    show_default=True,
    help="What repeated rows of one key are: repetitions within a run, or runs.",
)


def _split(texts: Sequence[str], option: str, form: str) -> list[tuple[str, str]]:
    split = [text.partition("=") for text in texts]
    if wrong := [name for name, equals, _ in split if not equals]:
        raise click.UsageError(f"{option} {wrong[0]}: expected {form}.")
    return [(name, level) for name, _, level in split]


def benchmark_options(command: CliCommand) -> CliCommand:
    """Options that select runs and quantities, named as the parameters of `virtperf.compare`."""
    return _with(
        command,
        where_option,
        repeatable(
            "--quantity",
            "NAME",
            "Use only this quantity, or those that match a pattern",
            parameter="quantities",
        ),
        repeatable(
            "--lower-is-better",
            "NAME",
            "Quantity of which an increase counts as slower",
            parameter="lower",
        ),
        repeatable(
            "--higher-is-better",
            "NAME",
            "Quantity of which a decrease counts as slower",
            parameter="higher",
        ),
        input_format_option("format"),
    )


def _with(command: CliCommand, *options: Callable[[CliCommand], CliCommand]) -> CliCommand:
    for option in reversed(options):
        command = option(command)
    return command


# ---- results: output formats and files, and exit status by verdict

FORMATS = ("text", "markdown", "json", "html")
FORMAT_OF_SUFFIX = {".html": "html", ".md": "markdown", ".json": "json"}
SAME_AS = {"worse": "slower", "better": "faster"}
"""Verdicts on failures, and the verdicts of --fail-on that they count as."""


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


def _check_suffixes(
    context: click.Context, parameter: click.Parameter, paths: tuple[Path, ...]
) -> tuple[Path, ...]:
    for path in paths:
        if path.suffix not in FORMAT_OF_SUFFIX:
            raise click.UsageError(
                f"--output {path}: the name must end in {', '.join(FORMAT_OF_SUFFIX)}."
            )
    return paths


def write_and_print(
    shown: Callable[[bool], Shown],
    command: str,
    output_format: str,
    output: Sequence[Path],
) -> None:
    """Write a result to the files `output`, and print it.

    `shown` returns the result of the `command`, complete (for pages and JSON) or not.
    """

    def render(form: str) -> str:
        if form == "html":
            from virtperf.report.html.result_pages import results_page

            return results_page(shown(True), command)
        return shown(True).to_json() if form == "json" else shown(False).to_markdown() + "\n"

    for path in output:
        write_atomically(path, render(FORMAT_OF_SUFFIX[path.suffix]))
    if output_format == "text":
        print_shown(shown(False))
    else:
        click.echo(render(output_format), nl=False)


def print_shown(shown: Shown) -> None:
    """Print a result as text."""
    from virtperf.core.shown import plain_text

    for sentence in shown.sentences:
        print_line(sentence, style="bold")
    for table in shown.tables:
        print_line(table.label, before=1 if table.label else 0)
        rows = [[plain_text(cell) for cell in row] for row in table.rows[: table.most]]
        print_table(table.columns, rows, right=[table.columns[k] for k in table.numeric])
        if table.more:
            print_line(table.more)
    for note in shown.notes:
        print_line(f"note: {note}")


def exit_by_verdict(verdicts: Iterable[str], fail_on: Sequence[str], *, directed: bool) -> None:
    """Exit with status 1 if a verdict is among `fail_on`, with 2 if it can't be judged.

    `directed`: whether a row has a direction, so that it could be slower or faster.
    """
    found = {SAME_AS.get(verdict, verdict) for verdict in verdicts}
    if found & {*fail_on}:
        raise SystemExit(1)
    if {*fail_on} & {"slower", "faster"} and not directed:
        raise NoVerdictError(
            f"--fail-on {' and '.join(fail_on)} can't be judged: no direction is known for these "
            "quantities. Give it by --higher-is-better NAME or --lower-is-better NAME."
        )
    if fail_on and "not judged" in found:
        raise NoVerdictError(
            f"--fail-on {' and '.join(fail_on)} can't be judged: a time or rate is 0 or less. Leave out "
            "the failed runs, or judge zeros by --zeros."
        )


# ---- input tables of model commands, read as by `virtperf.read`

MAX_LISTED_ROWS = 10
MAX_LISTED_LEVELS = 10


def read_table(file: str, where: Sequence[str]) -> pd.DataFrame:
    """Read a table, and filter its rows by ``COLUMN=VALUE``; ``-`` is CSV from standard input."""
    from rawperf.tidy import read_bytes
    from virtperf.runs.ingest import own

    frame = own.table(read_bytes(file), "-", ".csv") if file == "-" else own.read(file)
    for name, text in _split(where, "--where", "COLUMN=VALUE"):
        frame = filter_level(frame, name, text, file)
    return frame


def filter_level(frame: pd.DataFrame, name: str, text: str, file: str) -> pd.DataFrame:
    """Filter rows by a level, compared as numbers if both are numeric."""
    from virtperf.core.schema import require_columns

    require_columns(frame, [name], name="the table", file=file)
    level = parse_level(text)
    keep = [parse_level(str(cell)) == level for cell in frame[name]]
    if not any(keep):
        known = list(dict.fromkeys(map(str, frame[name])))
        more = ", ..." if len(known) > MAX_LISTED_LEVELS else ""
        raise RawperfError(
            f"no row has {name} = {text}",
            file=file,
            expected=f"one of {', '.join(known[:MAX_LISTED_LEVELS])}{more}",
        )
    return frame[keep]


def row_names(frame: pd.DataFrame, file: str) -> pd.DataFrame:
    """Label the rows by line number in a text file, else by row number from 1."""
    from virtperf.runs.ingest.columns import row_lines

    lines = row_lines(file)
    names = [
        f"line {lines[place]}" if place < len(lines) else f"row {place + 1}"
        for place in map(int, frame.index)
    ]
    return frame.set_axis(names, axis="index")


def filter_numeric(
    frame: pd.DataFrame, names: Sequence[str], file: str
) -> tuple[pd.DataFrame, list[str]]:
    """Filter the rows with a number in each of the columns, and warn about the others.

    Raises
    ------
    RawperfError
        A missing column, a cell that is neither empty nor a finite number, or no row with numbers.
    """
    from virtperf.core.schema import require_columns
    from virtperf.runs.ingest.columns import to_numbers

    require_columns(frame, names, name="the table", file=file)
    numbers = {name: to_numbers(frame[name], name, file) for name in names}
    frame = frame.assign(**numbers)
    complete = frame[[*numbers]].notna().all(axis="columns")
    if not complete.any():
        raise RawperfError(f"no row has numbers in {' and '.join(names)}", file=file)
    warnings = []
    if not complete.all():
        rows = list(row_names(frame[~complete], file).index)
        shown = ", ".join(rows[:MAX_LISTED_ROWS]) + (", ..." if len(rows) > MAX_LISTED_ROWS else "")
        warnings = [f"{len(rows)} row(s) with missing values were left out: {shown}"]
    return frame[complete], warnings
