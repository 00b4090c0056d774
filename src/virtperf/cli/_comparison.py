"""What `verify` and `diff` share: a status line, what is printed, files that are written."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from virtperf.verify.outcome import Outcome

SHOWN = 12
"""Changed items that are printed; the files have all of them."""
CELL = 60
"""Characters of a cell that are printed."""


def options(function: Callable[..., None]) -> Callable[..., None]:
    """Options that both commands take."""
    file = click.Path(exists=True, dir_okay=False, path_type=Path)
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print the JSON document instead of a summary."),
        click.option(
            "--jobs", type=click.IntRange(1), default=os.cpu_count() or 1,
            help="Studies that are replayed at the same time; default: one per processor.",
        ),
        click.option(
            "--tolerances", type=file,
            help="How far numbers may lie apart; default: tolerances.yaml of the repository, else the built-in ones.",
        ),
    ):  # fmt: skip
        function = option(function)
    return function


@contextmanager
def progress(title: str) -> Iterator[Callable[[str], None]]:
    """A status line on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status(title) as status:
        yield lambda text: status.update(f"{title}: {text}")


def write(outcome: Outcome, command: str, file: Path, site: Path, *, title: str, lead: str) -> dict[str, Any]:
    """Write the page, and the JSON document beside it; returns the document."""
    from virtperf.core.files import json_text, write_atomically
    from virtperf.verify.certificate import document
    from virtperf.verify.page import html_page

    made = document(outcome, command)
    write_atomically(file, html_page(outcome, title=title, lead=lead, out=file, site=site))
    write_atomically(file.with_suffix(".json"), json_text(made))
    return made


def report(outcome: Outcome, made: dict[str, Any], file: Path, *, as_json: bool) -> None:
    """Print the document, or a summary: a line a study, the exhibits that changed, stale documents, the files."""
    from virtperf.core.files import json_text

    if as_json:
        click.echo(json_text(made), nl=False)
    else:
        _summary(outcome, file)


def _summary(outcome: Outcome, file: Path) -> None:
    from virtperf.cli._terminal import say, show
    from virtperf.verify.certificate import whole
    from virtperf.verify.compare import STATUSES
    from virtperf.verify.wording import place_words, shift_words, sides

    rows = [(s.study, *(f"{s.counts[status]:,}" for status in STATUSES)) for s in outcome.studies]
    show(("study", *STATUSES), rows, right=STATUSES)
    moved = [(e, c) for s in outcome.studies for e in s.affected for c in e.changes if not c.agrees]
    changed = [(s.study, e.name, e.title) for s in outcome.studies for e in s.affected]
    if changed:
        show(("study", "exhibit", "title"), changed, title="Changed beyond tolerance")
        for s in (s for s in outcome.studies if s.claims and not whole(s)):
            say(f"Statements of {s.study}: {', '.join(s.claims)}", before=1)
        moved.sort(key=lambda pair: (bool(pair[1].item.words), -pair[1].widths if pair[1].widths >= 0 else 0))
        lines = [
            (c.item.exhibit, *map(_short, (place_words(c.item), *sides(c))), shift_words(c)) for _, c in moved[:SHOWN]
        ]
        if lines:
            show(("exhibit", "what", "before", "now", "moved by"), lines, title=f"First {len(lines)} of {len(moved)}")
    redrawn = [(s.study, e.name, e.title) for s in outcome.studies for e in s.redrawn]
    if redrawn:
        show(("study", "exhibit", "title"), redrawn, title="Redrawn from the same numbers")
    if outcome.findings:
        say("Stale, exchanged or edited in what is stored", style="bold", before=1)
        for line in _grouped(outcome):
            say(line)
    if outcome.other_packages:
        versions = [(p.name, p.version or "not installed", p.pinned) for p in outcome.other_packages]
        show(("package", "version", "pinned"), versions, title="Packages of another version than the pinned one")
    if outcome.agrees:
        say("Everything is identical or within tolerance.", style="bold", before=1)
    say(f"{file} and {file.with_suffix('.json').name} have all of it.", before=1)


def _grouped(outcome: Outcome) -> list[str]:
    """What is wrong with the stored documents, a line for each problem of each document."""
    found: dict[tuple[str, str], list[str]] = {}
    for finding in outcome.findings:
        found.setdefault((finding.document, finding.problem), []).append(finding.exhibit)
    return [": ".join(filter(None, (*place, ", ".join(filter(None, names))))) for place, names in found.items()]


def _short(text: str) -> str:
    return text if len(text) <= CELL else f"{text[: CELL - 1]}…"
