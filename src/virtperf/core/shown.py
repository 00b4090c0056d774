"""Results as they are shown: sentences, tables and notes, with one writer for each medium.

Text for a terminal is printed by `virtperf.cli._shared`, a page by `virtperf.report.html.result_pages`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer

from rawperf.core.files import json_text


class Part(BaseModel):
    """Base class of what is shown; a record is made of such parts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_serializer(mode="wrap")
    def _short(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Serialize without fields at their default, which keeps notebooks small."""
        fields = type(self).model_fields
        return {
            k: v
            for k, v in handler(self).items()
            if k == "block" or getattr(self, k) != fields[k].default
        }


class Span(Part):
    """A styled span of text within a paragraph or a cell.

    `style`: ``verdict`` is a badge, ``small`` is shown below the rest.
    `link`: ``#anchor`` on the same page, ``claim:<id>``, ``exhibit:<id>`` (``<study>/<id>`` of
        another study), ``trace:<key>`` (``study/figure-5`` or a longer key), ``run:<id>``,
        ``https://...``.
    """

    text: str
    style: Literal[
        "plain",
        "strong",
        "code",
        "small",
        "verdict",
        "deleted",
        "inserted",
        "mark",
        "empty",
    ] = "plain"
    link: str = ""


Words = str | tuple[str | Span, ...]  # plain or styled text; templates escape all of it


class Grid(Part):
    """A table: `numeric` columns are right-aligned; `ids` are the anchors of rows; `stacks` shows
    rows as cards on phones.

    Of `rows`, `most` are shown as text and Markdown, with `more` as a sentence on the others; pages
    have all.
    """

    block: Literal["grid"] = "grid"
    label: str = ""
    columns: tuple[str, ...]
    rows: tuple[tuple[Words, ...], ...]
    numeric: tuple[int, ...] = ()
    ids: tuple[str, ...] = ()
    stacks: bool = False
    most: int | None = None
    more: str = ""


@dataclass(frozen=True)
class Shown:
    """A result: its data as a JSON-compatible mapping, and what a reader sees of it."""

    title: str
    sentences: Sequence[str]
    tables: Sequence[Grid]
    notes: Sequence[str]
    data: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """Serialise the data and the sentences."""
        return json_text(json_values({**self.data, "sentences": list(self.sentences)}))

    def to_markdown(self) -> str:
        """Format as Markdown: a list of sentences, the tables, a list of notes."""
        parts = ["\n".join(f"- {_escaped(sentence)}" for sentence in self.sentences)]
        for table in self.tables:
            if table.label:
                parts.append(f"{_escaped(table.label)}:")
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


def json_values(value: Any) -> Any:
    """Replace numbers that JSON can't hold by None, also in mappings and sequences."""
    if isinstance(value, Mapping):
        return {key: json_values(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return json_values(value._asdict())
    if isinstance(value, list | tuple):
        return [json_values(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def plain_text(words: Words) -> str:
    """Plain text of words, without small spans."""
    if isinstance(words, str):
        return words
    return "".join(
        w if isinstance(w, str) else _FORMS.get(w.style, "{}").format(w.text) for w in words
    )


_FORMS = {"small": "", "deleted": "[printed: {}]", "mark": "[{}]"}


def _markdown_row(cells: Iterable[Words]) -> str:
    return "| " + " | ".join(_escaped(plain_text(cell)) for cell in cells) + " |"


def _escaped(text: str) -> str:
    """Escape what Markdown would take as a cell's end, markup or HTML; one line."""
    line = " ".join(str(text).split())
    return "".join(f"\\{c}" if c in "|<>`*[]" else c for c in line)
