"""An exhibit as a notebook shows it: a record for programs, beside it a picture and HTML for the reader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from virtperf.exhibits.records import MIME, Record, packed
from virtperf.exhibits.text import record_text

Bundle = tuple[dict[str, Any], dict[str, Any]]
"""Data by MIME type, and metadata."""
NOTHING = "no measured runs: nothing to estimate"
NOTEBOOK_ONLY = {"virtperf": "notebook"}
"""Metadata of an output that repeats, for readers of the notebook, what the record beside it says."""


@dataclass(frozen=True)
class Shown:
    """What the methods of a study return: the last expression of a cell displays it.

    `record` is what pages, downloads and comparisons read; None where there was nothing to compute from, which only the
    notebook says. `figure` is the picture's Matplotlib figure, to be changed, saved or shown again.
    """

    record: Record | None
    figure: Figure | None = None

    def __repr__(self) -> str:
        return NOTHING if self.record is None else record_text(self.record)

    def _ipython_display_(self) -> None:
        from IPython.display import display

        for data, metadata in self.bundles():
            display(data, metadata=metadata, raw=True)

    def bundles(self) -> list[Bundle]:
        """The outputs that the notebook keeps.

        A record without a drawing is one output with the record, its HTML and its text. One with a drawing is two: the
        record with its picture and text, then the HTML of caption and links, which pages leave out. Without a record it
        is one line of text, which pages leave out.
        """
        if self.record is None:
            return [({"text/plain": NOTHING}, dict(NOTEBOOK_ONLY))]
        # Pages are made above this layer. A notebook's display is the one moment when an exhibit needs one of their
        # templates, so it asks for it then, and neither layer has to be loaded for the other.
        from virtperf.render.record import record_html

        html = str(record_html(self.record, notebook=True))
        # JupyterLab and pages show the HTML; its words again would be a seventh of the committed notebook.
        text, drawing = record_text(self.record).partition("\n")[0], self.record.drawing
        kept = packed(self.record.with_picture("").model_dump(mode="json"))
        if drawing is None:
            return [({MIME: kept, "text/html": html, "text/plain": text}, {})]
        picture = {MIME: kept, "image/svg+xml": drawing.svg, "text/plain": text}
        return [
            (picture, {"needs_background": "light"}),
            ({"text/html": html, "text/plain": ""}, dict(NOTEBOOK_ONLY)),
        ]
