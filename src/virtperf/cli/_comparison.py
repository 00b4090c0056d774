"""What `verify` and `diff` share: options, the JSON document, what is printed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from virtperf.verify.compare import Change
    from virtperf.verify.items import Item
    from virtperf.verify.outcome import Outcome

SHOWN = 12
"""Changed items, and files, that are printed; the JSON document has all of them."""
CELL = 60
"""Characters of a cell that are printed."""


def options(function: Callable[..., None]) -> Callable[..., None]:
    """Options that both commands take."""
    file = click.Path(exists=True, dir_okay=False, path_type=Path)
    for option in (
        click.option(
            "-o",
            "--output",
            type=click.Path(dir_okay=False, path_type=Path),
            help="The JSON document with every item that is not identical; default: reports/COMMAND.json.",
        ),
        click.option(
            "--json", "as_json", is_flag=True, help="Print that document instead of a summary."
        ),
        click.option(
            "--jobs",
            type=click.IntRange(1),
            default=os.cpu_count() or 1,
            help="Studies that are replayed at the same time; default: one per processor.",
        ),
        click.option(
            "--tolerances",
            type=file,
            help="How far numbers may lie apart; default: tolerances.yaml of the repository, else the built-in ones.",
        ),
    ):
        function = option(function)
    return function


def report(outcome: Outcome, command: str, file: Path, *, as_json: bool) -> None:
    """Write the document, and print it or a summary."""
    from rawperf.core.files import json_text, write_atomically
    from virtperf.cli._terminal import say

    text = json_text(outcome.document(command))
    write_atomically(file, text)
    if as_json:
        click.echo(text, nl=False)
    else:
        _summary(outcome)
        say(f"{file} has all of it.", before=1)


def _summary(outcome: Outcome) -> None:
    from virtperf.cli._terminal import say, show
    from virtperf.verify.compare import STATUSES

    rows = [
        (study, *(f"{outcome.counts(study)[status]:,}" for status in STATUSES))
        for study in outcome.changes
    ]
    show(("study", *STATUSES), rows, right=STATUSES)
    affected = [
        (study, place, str(n))
        for study in outcome.changes
        for place, n in outcome.affected(study).items()
    ]
    if affected:
        show(
            ("study", "where", "items"),
            affected,
            title="Changed beyond tolerance",
            right=("items",),
        )
        moved = [
            change
            for changes in outcome.changes.values()
            for change in changes
            if not change.agrees
        ]
        lines = [_line(change) for change in moved[:SHOWN]]
        show(
            ("where", "what", "before", "now", "moved by"),
            lines,
            title=f"First {len(lines)} of {len(moved)}",
        )
    files = [file for file in outcome.files if not file.agrees]
    if files:
        title = f"Files with another content, first {min(len(files), SHOWN)} of {len(files)}"
        show(
            ("file", "status", "first difference"),
            [(f.path, f.status, f.where) for f in files[:SHOWN]],
            title=title,
        )
    if outcome.findings:
        show(
            ("file", "problem"),
            [(f.path, f.problem) for f in outcome.findings],
            title="Wrong in what is stored",
        )
    if outcome.other_packages:
        versions = [
            (p.name, p.version or "not installed", p.pinned) for p in outcome.other_packages
        ]
        show(
            ("package", "version", "pinned"),
            versions,
            title="Packages of another version than the pinned one",
        )
    if outcome.agrees:
        same = sum(file.status == "identical" for file in outcome.files)
        say("Everything is identical or within tolerance.", style="bold", before=1)
        say(f"{same:,} of {len(outcome.files):,} files have the same bytes.")


def _line(change: Change) -> tuple[str, str, str, str, str]:
    what = ": ".join(filter(None, (change.item.label, change.item.field)))
    return change.item.place, _short(what), _shown(change.old), _shown(change.new), _shift(change)


def _shown(item: Item | None) -> str:
    if item is None:
        return ""
    return _short(item.value) if isinstance(item.value, str) else f"{item.value:.7g}"


def _shift(change: Change) -> str:
    import math

    if change.old is None or change.new is None:
        return change.status
    if isinstance(change.item.value, str):
        return "other words"
    if math.isinf(change.widths):
        return "a number came or went"
    return f"{change.widths:.2g} interval widths" if math.isfinite(change.widths) else "moved"


def _short(text: str) -> str:
    return text if len(text) <= CELL else f"{text[: CELL - 1]}…"
