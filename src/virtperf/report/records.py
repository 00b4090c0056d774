"""Exhibit records: what an exhibit says, as typed data. Templates make pages of it; nothing is read
back out of HTML.

A record holds the numbers behind an exhibit, its words, what its values rest on, and blocks:
paragraphs, tables, drawings. A notebook emits it as ``application/vnd.virtperf+json``; report,
site, downloads and `verify` read that.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from rawperf.core.errors import VirtperfError
from rawperf.core.tables import rounded
from virtperf.core.provenance import Provenance

MIME = "application/vnd.virtperf+json"
DIGITS = 6  # significant digits of numbers in a record, and so of downloads


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
    rows on a phone.
    """

    block: Literal["grid"] = "grid"
    label: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Words, ...], ...]
    numeric: tuple[int, ...] = ()
    ids: tuple[str, ...] = ()
    stacks: bool = False


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

    Numbers have `DIGITS` significant digits; missing ones are None. `words` is what the link says,
    "" for no link.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | bool | None, ...], ...]
    words: str = "Download the numbers (CSV)"

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
        return float(rounded([value], DIGITS)[0]) if math.isfinite(value) else None
    return str(value)


class Drawing(_Part):
    """A figure's picture: one SVG element in light colours, its alternative text, a digest of the
    numbers drawn.
    """

    svg: str
    description: str
    digest: str


class Record(_Part):
    """One exhibit.

    `kind` is a name in the registry of `virtperf.report.kinds`; `id` its anchor on the page, and
        its name for
    `verify`: ``figure-5``; `study` the study's id, "" for a reader's own; `name` is ``Figure 5``,
    "" for what the paper does not number. `provenance` is that of everything that it shows,
    `claims` the ids of claims that it speaks of,
    `lineage` what the numbers rest on as far as they are not its own: ``run:<id>``,
    ``exhibit:<id>``. Its own runs, files and lines are behind a link ``trace:<study>/<id>`` in a
    block. `blocks` stand below the drawing and the caption.
    """

    kind: str
    id: str
    study: str
    name: str = ""
    title: str
    caption: str = ""
    provenance: tuple[Provenance, ...] = ()
    numbers: tuple[Numbers, ...] = ()
    claims: tuple[str, ...] = ()
    lineage: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    drawing: Drawing | None = None

    def with_picture(self, svg: str) -> Record:
        """The record with that picture; a notebook keeps it beside the record. One without a
        drawing gets none.
        """
        if self.drawing is None:
            return self
        return self.model_copy(update={"drawing": self.drawing.model_copy(update={"svg": svg})})


PACKED = "zlib"
LARGE, LARGEST = 4_000, 20_000_000
"""Characters of JSON from which on a notebook keeps a record packed, and up to which one is
unpacked.
"""


def packed(record: dict[str, Any]) -> dict[str, Any]:
    """A record's JSON as a notebook keeps it: a large one is compressed, since a notebook in git
    has to stay small.
    """
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    if len(text) < LARGE:
        return record
    return {PACKED: base64.b64encode(zlib.compress(text.encode(), 9)).decode()}


def unpacked(kept: Any) -> Any:
    """What `packed` was made of; raises `VirtperfError` where that is damaged, or larger than any
    record is.
    """
    if not isinstance(kept, dict) or kept.keys() != {PACKED}:
        return kept
    reader = zlib.decompressobj()
    try:
        text = reader.decompress(base64.b64decode(kept[PACKED], validate=True), LARGEST)
        if reader.unconsumed_tail or not reader.eof:
            raise ValueError(f"it has more than {LARGEST:,} bytes, or breaks off")
        return json.loads(text)
    except (ValueError, TypeError, zlib.error) as err:
        raise VirtperfError(
            "an exhibit's packed record can't be read",
            found=str(err),
            remedy="execute the notebook again.",
        ) from err


for _model in (Box, Folded):
    _model.model_rebuild()
