"""Exhibit records: the content of an exhibit as typed data, rendered by templates and never parsed
back from HTML.

A record holds the numbers behind an exhibit, its text, its provenance, and blocks: paragraphs,
tables, drawings. A notebook shows a picture and HTML and emits the record as
``application/vnd.virtperf+json``, which report, site and downloads read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from rawperf.core.table_columns import round_digits
from virtperf.core.numbers import plural
from virtperf.core.provenance import Provenance
from virtperf.core.shown import Grid as Grid
from virtperf.core.shown import Part
from virtperf.core.shown import Span as Span
from virtperf.core.shown import Words as Words
from virtperf.report.wording import printable

MIME = "application/vnd.virtperf+json"
RECORD_DIGITS = 6  # significant digits of numbers in a record, and so of downloads


class Paragraph(Part):
    """Prose; `style` note is set apart, small is a remark."""

    block: Literal["paragraph"] = "paragraph"
    words: Words
    style: Literal["plain", "note", "small"] = "plain"


class Heading(Part):
    """A heading within an exhibit."""

    block: Literal["heading"] = "heading"
    text: str


class Listing(Part):
    """A list of points; `style` lead and findings are the sentences at the head of a report."""

    block: Literal["list"] = "list"
    items: tuple[Words, ...]
    style: Literal["plain", "lead", "findings"] = "plain"


class Fact(Part):
    """One headline number, such as ``12``, with its label (``claims``) and a remark."""

    value: str
    label: str
    note: str = ""


class Facts(Part):
    """Headline numbers side by side."""

    block: Literal["facts"] = "facts"
    facts: tuple[Fact, ...]


class Box(Part):
    """One component of a diagram; `inside` holds rows of components."""

    id: str
    label: str
    rows: tuple[tuple[Box, ...], ...] = ()


class Diagram(Part):
    """A set-up as nested boxes in rows, and its connections in words (from, to, label)."""

    block: Literal["diagram"] = "diagram"
    label: str
    rows: tuple[tuple[Box, ...], ...]
    edges: tuple[tuple[str, str, str], ...] = ()


class Folded(Part):
    """Collapsible blocks."""

    block: Literal["folded"] = "folded"
    summary: str
    blocks: tuple[Block, ...]


Block = Annotated[
    Paragraph | Heading | Listing | Grid | Facts | Diagram | Folded, Field(discriminator="block")
]


class Numbers(Part):
    """A data table behind an exhibit: content of the CSV download called `name`, and input of
    comparisons.

    Numbers have `RECORD_DIGITS` significant digits; missing ones are None. `words` is the link
    text, "" for no link.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | bool | None, ...], ...]
    words: str = "Numbers (CSV)"

    @model_serializer(mode="wrap")
    def _constant_columns_once(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write a constant column once, which halves a figure's JSON."""
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
    def of(
        cls, frame: pd.DataFrame | Mapping[str, Iterable[Any]], name: str, **words: str
    ) -> Numbers:
        """Convert a frame, or columns by name: numbers rounded, infinities and NaN as None; `words`
        may override `words`.
        """
        columns = [map(_cell, column) for _, column in frame.items()]
        rows = tuple(zip(*columns, strict=True))
        return cls(name=name, columns=tuple(map(str, frame.keys())), rows=rows, **words)

    def frame(self) -> pd.DataFrame:
        """The table as a frame."""
        return pd.DataFrame(list(self.rows), columns=list(self.columns))


def _cell(value: Any) -> str | int | float | bool | None:
    value = value.item() if isinstance(value, np.generic) else None if value is pd.NA else value
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return float(round_digits([value], RECORD_DIGITS)[0]) if math.isfinite(value) else None
    return str(value)


class Record(Part):
    """One exhibit.

    `kind`: a name in the registry of `virtperf.report.kinds`.
    `id`: its anchor on the page and its name for downloads: ``figure-5``.
    `study`: the study's id, "" for a reader's own exhibit.
    `name`: ``Figure 5``, "" for exhibits that the paper does not number.
    `provenance`: of everything shown. `claims`: ids of the claims discussed.
    `lineage`: sources beyond its own numbers: ``run:<id>``, ``exhibit:<id>``. Its own runs, files
        and lines are behind a link ``trace:<study>/<id>`` in a block.
    `heading` (of a section, at `level`) and `note` (Markdown) are above everything, `shows`, what
        the drawing shows in one sentence, above the drawing, `blocks` below it and the caption.
    `drawing`: one SVG element in light colours, beside which `description` is the alternative text;
        both are empty without a picture. `narrow`: the same for a phone, "" if the first suits it.
    `folded`: collapsed behind its name and title.
    """

    kind: str
    id: str
    study: str
    name: str = ""
    title: str
    heading: str = ""
    level: Literal[2, 3] = 3
    note: str = ""
    shows: str = ""
    caption: str = ""
    provenance: tuple[Provenance, ...] = ()
    numbers: tuple[Numbers, ...] = ()
    claims: tuple[str, ...] = ()
    lineage: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    drawing: str = ""
    narrow: str = ""
    description: str = ""
    folded: bool = False

    def with_picture(self, svg: str) -> Record:
        """Copy with that picture, which a notebook stores beside the record; unchanged if it has none."""
        return self.model_copy(update={"drawing": svg}) if self.description else self


MAX_OPEN_ROWS = 4
OPEN_ROWS = {
    "table": 20,
    "computed": 12,
    "ranges": 12,
    "quality": 12,
    "hypotheses": 0,
    "assumptions": 0,
    "readings": 0,
    "synthesis": 16,
}
"""Rows of a table that a page shows without a click, by kind of record; of others `MAX_OPEN_ROWS`. A
printed table is open, a long reason in each row is not."""


def row_count(blocks: Iterable[Block]) -> int:
    """Number of rows of all tables among the blocks."""
    return sum(len(block.rows) for block in blocks if isinstance(block, Grid))


def is_long(kind: str, *blocks: Block) -> bool:
    """Whether the tables of a record of this kind are too long to be shown without a click."""
    return row_count(blocks) > OPEN_ROWS.get(kind, MAX_OPEN_ROWS)


def split_tail(blocks: Sequence[Block]) -> tuple[list[Block], list[Block]]:
    """Split off the collapsed blocks and links at the end."""
    count = len(blocks)
    while count and (isinstance(blocks[count - 1], Folded) or is_link(blocks[count - 1])):
        count -= 1
    return list(blocks[:count]), list(blocks[count:])


def is_link(block: Block) -> bool:
    """Whether a block is a paragraph with nothing but a link."""
    if not isinstance(block, Paragraph) or isinstance(block.words, str) or len(block.words) != 1:
        return False
    (word,) = block.words
    return isinstance(word, Span) and bool(word.link)


for _model in (Box, Folded):
    _model.model_rebuild()


NOTEBOOK_ONLY = {"virtperf": "notebook"}
"""Metadata of an output that repeats the record beside it for readers of the notebook."""


def markdown_above(record: Record) -> str:
    """Heading and note of a record as Markdown; "" without both."""
    heading = re.sub(r"([\\`*_\[\]<>#])", r"\\\1", printable(record.heading))
    return "\n\n".join(filter(None, (heading and f"{'#' * record.level} {heading}", record.note)))


DERIVED = "Derived numbers"


def joined_record(
    record: Record, parts: Sequence[Record], *, heading: str = "", note: str = "", shows: str = ""
) -> Record:
    """Merge an exhibit's record with the records shown below it.

    Tables get a heading within the exhibit. Collapsed blocks and links move to the end, the
    exhibit's own first. Numbers, claims and provenance are the union over all records. The lineage
    is the exhibit's own: the other exhibits that a derived number is about are not its sources.
    """
    body, end = split_tail(record.blocks)
    for part in parts:
        blocks, folded = split_tail(part.blocks)
        if part.kind == "ranges" and is_long(part.kind, *blocks):
            lead = [Paragraph(words=part.caption)] if part.caption else []
            summary = f"{DERIVED} ({plural(row_count(blocks), 'number')})"
            folded = [Folded(summary=summary, blocks=(*lead, *blocks)), *folded]
            blocks = []
        elif part.kind != "claims":
            title = DERIVED if part.kind == "ranges" else part.title.partition(": ")[2]
            blocks = [
                Heading(text=title),
                *([Paragraph(words=part.caption)] if part.caption else []),
                *blocks,
            ]
        body += blocks
        end += folded
    whole = (record, *parts)
    words = {
        "ranges": "Derived numbers (CSV)",
        "estimates": "Estimates (CSV)",
    }
    numbers = [
        table.model_copy(update={"words": words.get(part_record.kind, table.words)})
        for part_record in whole
        for table in part_record.numbers
    ]
    labels = {label for part in whole for label in part.provenance}
    return record.model_copy(
        update={
            "heading": heading,
            "note": note,
            "shows": shows,
            "blocks": (*body, *end),
            "numbers": tuple(numbers),
            "provenance": tuple(label for label in Provenance if label in labels),
            "claims": tuple(
                dict.fromkeys(claim for part_record in whole for claim in part_record.claims)
            ),
        }
    )


def fold(record: Record) -> Record:
    """Collapse a record, with its note as the first block."""
    note = [Paragraph(words=record.note)] if record.note else []
    return record.model_copy(update={"folded": True, "note": "", "blocks": (*note, *record.blocks)})


def fold_tables(record: Record) -> Record:
    """Collapse the long tables of a record of the appendix."""
    blocks = [
        Folded(summary=block.label, blocks=(block,))
        if isinstance(block, Grid) and is_long("appendix", block)
        else block
        for block in record.blocks
    ]
    return record.model_copy(update={"blocks": tuple(blocks)})
