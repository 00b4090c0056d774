"""Terminal output: tables and lines, sanitised for terminals and readable in a pipe.

All commands import this module at start-up, so rich is imported lazily.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

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

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
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
