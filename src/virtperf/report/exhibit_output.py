"""What a notebook shows and stores of a record: its MIME bundles, and its plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import pandas as pd

from virtperf.core.shown import plain_text
from virtperf.report.records import (
    MIME,
    NOTEBOOK_ONLY,
    Block,
    Diagram,
    Facts,
    Folded,
    Grid,
    Heading,
    Listing,
    Paragraph,
    Record,
    markdown_above,
)
from virtperf.report.wording import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Bundle = tuple[dict[str, Any], dict[str, Any]]
NO_MEASURED_RUNS = "no measured runs: nothing to estimate"


@dataclass(frozen=True)
class ExhibitOutput:
    """Return value of a study's methods, displayed as the last expression of a cell.

    `record` is the input of pages, downloads and comparisons; None if there was nothing to compute
    from, which only the notebook shows. `figure` is the picture's Matplotlib figure, to be changed,
    saved or shown again.
    """

    record: Record | None
    figure: Figure | None = None

    def __repr__(self) -> str:
        return NO_MEASURED_RUNS if self.record is None else "\n".join(text_parts(self.record))

    def _ipython_display_(self) -> None:
        from IPython.display import display

        for data, metadata in self.bundles():
            display(data, metadata=metadata, raw=True)

    def bundles(self) -> list[Bundle]:
        """MIME bundles stored by the notebook: data by MIME type, and metadata.

        A record without a drawing is one output with the record, its HTML and its text. One with a
        drawing is two: the record with its picture and text, then the HTML of caption and links.
        Pages leave out that HTML, the Markdown of a heading or note before it, and the line of text
        that stands for a missing record.
        """
        if self.record is None:
            return [({"text/plain": NO_MEASURED_RUNS}, dict(NOTEBOOK_ONLY))]
        above = markdown_above(self.record)
        heading = [({"text/markdown": above, "text/plain": ""}, dict(NOTEBOOK_ONLY))]
        return [*(heading if above else []), *self._bundles(self.record)]

    def _bundles(self, record: Record) -> list[Bundle]:
        # only a notebook's display needs the templates of pages
        from virtperf.report.html.record import record_html

        html = str(record_html(record, notebook=True, heading=record.heading))
        # JupyterLab and pages show the HTML; repeated text would be a seventh of the committed
        # notebook.
        text, drawing = next(text_parts(record), "").partition("\n")[0], record.drawing
        content = record.with_picture("").model_dump(mode="json")
        if drawing is None:
            return [({MIME: content, "text/html": html, "text/plain": text}, {})]
        picture = {MIME: content, "image/svg+xml": drawing.svg, "text/plain": text}
        return [
            (picture, {"needs_background": "light"}),
            ({"text/html": html, "text/plain": ""}, dict(NOTEBOOK_ONLY)),
        ]


class ExhibitOutputs(tuple[ExhibitOutput, ...]):
    """Several exhibits displayed by one cell, one below the other."""

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self))

    def _ipython_display_(self) -> None:
        for shown in self:
            shown._ipython_display_()


MAX_CELL_CHARACTERS = 36


def text_parts(record: Record) -> Iterator[str]:
    """Plain text of a record: title, caption and blocks, without small remarks."""
    title = ". ".join(filter(None, (record.name, record.title)))
    return filter(None, chain((title, record.caption), _lines(record.blocks)))


def _lines(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Paragraph():
                yield plain_text(block.words) if block.style != "small" else ""
            case Heading():
                yield block.text
            case Listing():
                yield from (f"- {plain_text(item)}" for item in block.items)
            case Grid():
                rows, columns = (
                    [[plain_text(cell) for cell in row] for row in block.rows],
                    block.columns,
                )
                if block.ids:  # names that a reader may use: `claim-more-at-8`
                    rows, columns = (
                        [[i, *row] for i, row in zip(block.ids, rows, strict=True)],
                        ("id", *columns),
                    )
                yield _table_text(columns, rows)
            case Facts():
                yield _table_text(
                    ("value", "what"), [[fact.value, fact.label] for fact in block.facts]
                )
            case Diagram():
                yield _table_text(("from", "to", "connection"), block.edges)
            case Folded():
                yield from _lines(block.blocks)


def _table_text(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a table with long cells truncated."""
    cells = [[" ".join(printable(cell).split()) for cell in row] for row in rows]
    table = pd.DataFrame(cells, columns=list(columns))
    return table.to_string(index=False, max_colwidth=MAX_CELL_CHARACTERS)
