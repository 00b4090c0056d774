"""What commands print: tables and lines that are safe for a terminal and readable in a pipe.

Every command imports this module, and `virtperf --help` all of them: rich is imported where it is
used.
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
    """A console on the terminal; in a pipe it neither colours nor shortens anything."""
    from rich.console import Console

    stream = sys.stderr if err else sys.stdout
    return Console(file=stream, highlight=False, width=None if stream.isatty() else PIPE_WIDTH)


def interactive() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty()


def clean(value: object) -> str:
    """Text of a file as a terminal may show it: one line, no control characters."""
    return "".join(c if c.isprintable() else " " for c in str(value))


def say(line: str, *, style: str = "", err: bool = False, before: int = 0) -> None:
    """One line of text, taken as it stands, with so many empty lines before it."""
    from rich.text import Text

    console(err=err).print("\n" * before, end="")
    console(err=err).print(Text(clean(line), style=style), soft_wrap=True)


def warn(warnings: Iterable[str]) -> None:
    """Warnings on standard error, one a line."""
    for warning in warnings:
        say(f"warning: {warning}", style="yellow", err=True)


def show(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    right: Sequence[str] = (),
) -> None:
    """A table with its title above it; the columns named in `right` are flush right."""
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
        say(title, style="bold", before=1)
    console().print(table)


@contextmanager
def status(title: str) -> Iterator[Callable[[str], None]]:
    """A status line on a terminal, nothing elsewhere; what it yields is told in words what is being
    done.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.text import Text

    with console(err=True).status(Text(title)) as line:
        yield lambda text: line.update(Text(f"{title}: {text}"))
