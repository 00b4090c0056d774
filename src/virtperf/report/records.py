"""Exhibit records: what an exhibit says, as typed data. Templates make pages of it; nothing is read
back out of HTML.

A record holds the numbers behind an exhibit, its words, what its values rest on, and blocks:
paragraphs, tables, drawings. A notebook emits it as ``application/vnd.virtperf+json``; report,
site and downloads read that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from rawperf.core.tables import rounded
from virtperf.core.provenance import Provenance

MIME = "application/vnd.virtperf+json"
RECORD_DIGITS = 6  # significant digits of numbers in a record, and so of downloads


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_serializer(mode="wrap")
    def _short(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without fields that have their default, which keeps notebooks small."""
        fields = type(self).model_fields
        return {
            k: v
            for k, v in handler(self).items()
            if k == "block" or getattr(self, k) != fields[k].default
        }


class Span(_Part):
    """A stretch of text within a paragraph or a cell.

    `style`: ``verdict`` is a badge, ``small`` stands below the rest, ``folded`` opens on a click,
        behind `summary`.
    `link`: ``#anchor`` on the same page, ``claim:<id>``, ``exhibit:<id>`` (``<study>/<id>`` of
        another study),
    ``trace:<key>`` (``study/figure-5`` or a longer key), ``run:<id>``,
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
        "folded",
    ] = "plain"
    link: str = ""
    summary: str = ""


Words = str | tuple[str | Span, ...]  # text, or stretches of text; templates escape all of it


class Paragraph(_Part):
    """Prose; `style` note is set apart, small is a remark."""

    block: Literal["paragraph"] = "paragraph"
    words: Words
    style: Literal["plain", "note", "small"] = "plain"


class Heading(_Part):
    """A heading within an exhibit."""

    block: Literal["heading"] = "heading"
    text: str


class Listing(_Part):
    """A list of points."""

    block: Literal["list"] = "list"
    items: tuple[Words, ...]


class Grid(_Part):
    """A table: `numeric` columns are flush right; `ids` anchors its rows; `stacks` makes cards of
    rows on a phone; `layout` is claims where columns have fixed shares of the width.
    """

    block: Literal["grid"] = "grid"
    label: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Words, ...], ...]
    numeric: tuple[int, ...] = ()
    ids: tuple[str, ...] = ()
    stacks: bool = False
    layout: Literal["plain", "claims"] = "plain"


class Fact(_Part):
    """One number of a headline: ``12``, ``claims``, and a remark."""

    value: str
    label: str
    note: str = ""


class Facts(_Part):
    """Headline numbers side by side."""

    block: Literal["facts"] = "facts"
    facts: tuple[Fact, ...]


class Box(_Part):
    """One component of a diagram; `inside` holds rows of components."""

    id: str
    label: str
    rows: tuple[tuple[Box, ...], ...] = ()


class Diagram(_Part):
    """A set-up as nested boxes in rows, and its connections in words (from, to, label)."""

    block: Literal["diagram"] = "diagram"
    label: str
    rows: tuple[tuple[Box, ...], ...]
    edges: tuple[tuple[str, str, str], ...] = ()


class Folded(_Part):
    """Blocks that a reader may open."""

    block: Literal["folded"] = "folded"
    summary: str
    blocks: tuple[Block, ...]


Block = Annotated[
    Paragraph | Heading | Listing | Grid | Facts | Diagram | Folded, Field(discriminator="block")
]


class Numbers(_Part):
    """A table of numbers behind an exhibit: what its CSV download, called `name`, holds and what
    comparisons compare.

    Numbers have `RECORD_DIGITS` significant digits; missing ones are None. `words` is what the link says,
    "" for no link.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | bool | None, ...], ...]
    words: str = "Numbers (CSV)"

    @model_serializer(mode="wrap")
    def _constant_columns_once(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A column that has one value in all rows is written once, which halves a figure's JSON."""
        fields = self._short(handler)
        if len(self.rows) < 2 or len(set(self.columns)) < len(self.columns):
            return fields
        constant = {
            column: values[0]
            for column, values in zip(self.columns, zip(*self.rows, strict=True), strict=True)
            if all(value == values[0] and type(value) is type(values[0]) for value in values)
        }
        varying = [k for k, column in enumerate(self.columns) if column not in constant]
        if not varying:
            return fields
        rows = [[row[k] for k in varying] for row in self.rows]
        return fields | {"constant": constant, "rows": rows}

    @model_validator(mode="before")
    @classmethod
    def _with_constant_columns(cls, fields: Any) -> Any:
        if not isinstance(fields, dict) or "constant" not in fields:
            return fields
        constant = fields["constant"]

        def row_of(varying: Any) -> list[Any]:
            values = iter(varying)
            return [
                constant[column] if column in constant else next(values)
                for column in fields["columns"]
            ]

        rows = [row_of(row) for row in fields["rows"]]
        return {name: part for name, part in fields.items() if name != "constant"} | {"rows": rows}

    @classmethod
    def of(cls, frame: pd.DataFrame, name: str, **said: str) -> Numbers:
        """The numbers of a frame, rounded; infinities and NaN become None; `said` are other
        `words`.
        """
        rows = tuple(tuple(map(_cell, row)) for row in frame.itertuples(index=False, name=None))
        return cls(name=name, columns=tuple(map(str, frame.columns)), rows=rows, **said)

    def frame(self) -> pd.DataFrame:
        """The same as a frame."""
        return pd.DataFrame(list(self.rows), columns=list(self.columns))


def _cell(value: Any) -> str | int | float | bool | None:
    value = value.item() if isinstance(value, np.generic) else None if value is pd.NA else value
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return float(rounded([value], RECORD_DIGITS)[0]) if math.isfinite(value) else None
    return str(value)


class Drawing(_Part):
    """A figure's picture: one SVG element in light colours, its alternative text, a digest of the
    numbers drawn. With a `summary` it opens on a click, behind these words.
    """

    svg: str
    description: str
    digest: str
    summary: str = ""


class Record(_Part):
    """One exhibit.

    `kind` is a name in the registry of `virtperf.report.kinds`; `id` its anchor on the page, and
        its name for
    downloads: ``figure-5``; `study` the study's id, "" for a reader's own; `name` is ``Figure 5``,
    "" for what the paper does not number. `provenance` is that of everything that it shows,
    `claims` the ids of claims that it speaks of,
    `lineage` what the numbers rest on as far as they are not its own: ``run:<id>``,
    ``exhibit:<id>``. Its own runs, files and lines are behind a link ``trace:<study>/<id>`` in a
    block. `heading` (of a section, at `level`) and `note` (Markdown) stand above everything, `blocks`
    below the drawing and the caption. One that is `folded` opens on a click, behind its name and
    title.
    """

    kind: str
    id: str
    study: str
    name: str = ""
    title: str
    heading: str = ""
    level: Literal[2, 3] = 3
    note: str = ""
    caption: str = ""
    provenance: tuple[Provenance, ...] = ()
    numbers: tuple[Numbers, ...] = ()
    claims: tuple[str, ...] = ()
    lineage: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    drawing: Drawing | None = None
    folded: bool = False

    def with_picture(self, svg: str) -> Record:
        """The record with that picture; a notebook keeps it beside the record. One without a
        drawing gets none.
        """
        if self.drawing is None:
            return self
        return self.model_copy(update={"drawing": self.drawing.model_copy(update={"svg": svg})})


def split_tail(blocks: Sequence[Block]) -> tuple[list[Block], list[Block]]:
    """The blocks, and the folded ones and links at their end."""
    count = len(blocks)
    while count and (isinstance(blocks[count - 1], Folded) or _is_link(blocks[count - 1])):
        count -= 1
    return list(blocks[:count]), list(blocks[count:])


def _is_link(block: Block) -> bool:
    if not isinstance(block, Paragraph) or isinstance(block.words, str) or len(block.words) != 1:
        return False
    (word,) = block.words
    return isinstance(word, Span) and bool(word.link)


for _model in (Box, Folded):
    _model.model_rebuild()
