"""Results as they are shown: sentences, tables and notes, with one writer for each medium.

Text for a terminal is printed by `virtperf.cli._results`, a page by `virtperf.report.html.results`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rawperf.core.files import json_text


@dataclass(frozen=True)
class ShownTable:
    """A table of texts.

    `right` names the columns of numbers. Of `rows`, `most` are shown as text and Markdown, with
    `more` as a sentence on the others; pages have all.
    """

    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    title: str = ""
    right: frozenset[str] = frozenset()
    most: int | None = None
    more: str = ""


@dataclass(frozen=True)
class Shown:
    """A result: its data as a JSON-compatible mapping, and what a reader sees of it."""

    title: str
    sentences: Sequence[str]
    tables: Sequence[ShownTable]
    notes: Sequence[str]
    data: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """Serialise the data and the sentences."""
        return json_text(finite_values({**self.data, "sentences": list(self.sentences)}))

    def to_markdown(self) -> str:
        """Format as Markdown: a list of sentences, the tables, a list of notes."""
        parts = ["\n".join(f"- {_escaped(sentence)}" for sentence in self.sentences)]
        for table in self.tables:
            if table.title:
                parts.append(f"{_escaped(table.title)}:")
            rows = [table.columns, ["---"] * len(table.columns), *table.rows[: table.most]]
            parts.append("\n".join(_markdown_row(row) for row in rows))
            if table.more:
                parts.append(table.more)
        if self.notes:
            parts.append("\n".join(f"- {_escaped(note)}" for note in self.notes))
        return "\n\n".join(part for part in parts if part)


class Showable(ABC):
    """A result that is shown: as text and by a notebook as Markdown."""

    @abstractmethod
    def shown(self) -> Shown:
        """What a reader sees of it."""

    def __str__(self) -> str:
        return self.shown().to_markdown()

    def _repr_markdown_(self) -> str:
        return str(self)


def finite_values(value: Any) -> Any:
    """Replace numbers that JSON can't hold by None, also in mappings and sequences."""
    if isinstance(value, Mapping):
        return {key: finite_values(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return finite_values(value._asdict())
    if isinstance(value, list | tuple):
        return [finite_values(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _markdown_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_escaped(cell) for cell in cells) + " |"


def _escaped(text: str) -> str:
    """Escape what Markdown would take as a cell's end, markup or HTML; one line."""
    line = " ".join(str(text).split())
    return "".join(f"\\{c}" if c in "|<>`*[]" else c for c in line)
