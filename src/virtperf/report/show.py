"""An exhibit as a notebook shows it: a record for programs, beside it a picture and HTML for the
reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from virtperf.report import records
from virtperf.report.records import MIME, Block, Record, Words
from virtperf.report.wording import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Bundle = tuple[dict[str, Any], dict[str, Any]]
NO_MEASURED_RUNS = "no measured runs: nothing to estimate"
NOTEBOOK_ONLY = {"virtperf": "notebook"}
"""Metadata of an output that repeats, for readers of the notebook, what the record beside it
says.
"""


@dataclass(frozen=True)
class Shown:
    """What the methods of a study return: the last expression of a cell displays it.

    `record` is what pages, downloads and comparisons read; None where there was nothing to compute
    from, which only the notebook says. `figure` is the picture's Matplotlib figure, to be changed,
    saved or shown again.
    """

    record: Record | None
    figure: Figure | None = None

    def __repr__(self) -> str:
        return NO_MEASURED_RUNS if self.record is None else record_text(self.record)

    def _ipython_display_(self) -> None:
        from IPython.display import display

        for data, metadata in self.bundles():
            display(data, metadata=metadata, raw=True)

    def bundles(self) -> list[Bundle]:
        """The outputs that the notebook keeps, data by MIME type and metadata.

        A record without a drawing is one output with the record, its HTML and its text. One with a
        drawing is two: the record with its picture and text, then the HTML of caption and links,
        which pages leave out, as they do the Markdown of a heading or note before them. Without a
        record it is one line of text, which pages leave out.
        """
        if self.record is None:
            return [({"text/plain": NO_MEASURED_RUNS}, dict(NOTEBOOK_ONLY))]
        above = markdown_above(self.record)
        heading = [({"text/markdown": above, "text/plain": ""}, dict(NOTEBOOK_ONLY))]
        return [*(heading if above else []), *self._bundles(self.record)]

    def _bundles(self, record: Record) -> list[Bundle]:
        # Pages are made above this layer. A notebook's display is the one moment when an exhibit
        # needs one of their templates, so it asks for it then, and neither layer has to be loaded
        # for the other.
        from virtperf.report.html.record import record_html

        html = str(record_html(record, notebook=True, heading=record.heading))
        # JupyterLab and pages show the HTML; its words again would be a seventh of the committed
        # notebook.
        text, drawing = record_text(record).partition("\n")[0], record.drawing
        kept = record.with_picture("").model_dump(mode="json")
        if drawing is None:
            return [({MIME: kept, "text/html": html, "text/plain": text}, {})]
        picture = {MIME: kept, "image/svg+xml": drawing.svg, "text/plain": text}
        return [
            (picture, {"needs_background": "light"}),
            ({"text/html": html, "text/plain": ""}, dict(NOTEBOOK_ONLY)),
        ]


class ShownTogether(tuple[Shown, ...]):
    """Exhibits one below the other, as the last expression of one cell displays them."""

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self))

    def _ipython_display_(self) -> None:
        for shown in self:
            shown._ipython_display_()


def markdown_above(record: Record) -> str:
    """The heading and the note of a record as Markdown; "" without both."""
    heading = re.sub(r"([\\`*_\[\]<>#])", r"\\\1", printable(record.heading))
    return "\n\n".join(filter(None, (heading and f"{'#' * record.level} {heading}", record.note)))


MAX_CELL_CHARACTERS = 36


def record_text(record: Record) -> str:
    """A record's title, caption and blocks; remarks in small type and whatever opens within a cell
    are left out.
    """
    title = ". ".join(filter(None, (record.name, record.title)))
    return "\n".join(filter(None, (title, record.caption, *_lines(record.blocks))))


def _lines(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case records.Paragraph():
                yield _words_text(block.words) if block.style != "small" else ""
            case records.Heading():
                yield block.text
            case records.Listing():
                yield from (f"- {_words_text(item)}" for item in block.items)
            case records.Grid():
                rows, columns = (
                    [[_words_text(cell) for cell in row] for row in block.rows],
                    block.columns,
                )
                if block.ids:  # names that a reader may use: `claim-more-at-8`
                    rows, columns = (
                        [[i, *row] for i, row in zip(block.ids, rows, strict=True)],
                        ("id", *columns),
                    )
                yield _table_text(columns, rows)
            case records.Facts():
                yield _table_text(
                    ("value", "what"), [[fact.value, fact.label] for fact in block.facts]
                )
            case records.Diagram():
                yield _table_text(("from", "to", "connection"), block.edges)
            case records.Folded():
                yield from _lines(block.blocks)


def _words_text(words: Words) -> str:
    """The text of words, without what stands below them in small type or opens on a click."""
    if isinstance(words, str):
        return words
    return "".join(
        w if isinstance(w, str) else _FORMS.get(w.style, "{}").format(w.text) for w in words
    )


_FORMS = {"small": "", "folded": "", "deleted": "[printed: {}]", "mark": "[{}]"}


def _table_text(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns aligned, long cells shortened."""

    def flat(cell: str) -> str:
        one = " ".join(printable(cell).split())
        return one if len(one) <= MAX_CELL_CHARACTERS else f"{one[: MAX_CELL_CHARACTERS - 3]}..."

    grid = [[flat(c) for c in columns], *([flat(c) for c in row] for row in rows)]
    widths = [max(len(row[k]) for row in grid) for k in range(len(columns))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in grid
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])
