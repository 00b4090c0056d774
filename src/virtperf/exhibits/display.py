"""What a notebook cell shows: HTML for readers and, beside it, the numbers as plain text for tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pandas as pd

from virtperf.exhibits.wording import PROVENANCES, breakable, escape, exhibit_name, joined, printable

_EXHIBIT = re.compile(r"(figure|table)-\d+")
_SAFE = "/,;:=[]()*!"  # may stand in an address as they are, which keeps pages small
TEXT_WIDTH = 44  # longest cell of a text table


@dataclass(frozen=True)
class Shown:
    """One exhibit, ready to be shown.

    Attributes
    ----------
    html : str
        The exhibit with its caption, provenance and sources.
    text : str
        The numbers behind it as a text table; nbval compares these.
    """

    html: str
    text: str

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.text}


@dataclass(frozen=True)
class Table:
    """A table to be shown: columns, rows of cells as text or as HTML, which columns hold numbers.

    Attributes
    ----------
    columns : tuple of str
    rows : tuple of tuple of str
        Plain text; `to_html` escapes it. A cell of class `Html` goes in as it is.
    numeric : frozenset of int
        Columns that are set flush right.
    ids : tuple of str
        An anchor a row, or nothing.
    stacks : bool
        On a phone every row becomes a card instead of a table that scrolls; the page's style names the cells by
        `data-label`.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()
    ids: tuple[str, ...] = ()
    stacks: bool = False


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def table_html(table: Table, label: str) -> str:
    """A table in its own scrolling box, so that a phone's page never scrolls sideways."""

    def row_html(cells: Sequence[str], tag: str, anchor: str = "") -> str:
        parts = []
        for k, cell in enumerate(cells):
            number = ' class="vp-number"' if k in table.numeric else ""
            scope = ' scope="col"' if tag == "th" else ""
            if table.stacks and tag == "td" and k:
                scope = f' data-label="{escape(table.columns[k])}"'
            content = cell if isinstance(cell, Html) else breakable(printable(cell))
            parts.append(f"<{tag}{scope}{number}>{content}</{tag}>")
        return f"<tr{f' id={chr(34)}{escape(anchor)}{chr(34)}' if anchor else ''}>{''.join(parts)}</tr>"

    anchors = table.ids or ("",) * len(table.rows)
    body = "".join(row_html(row, "td", anchor) for row, anchor in zip(table.rows, anchors, strict=True))
    stacks = " vp-stacks" if table.stacks else ""
    head = row_html(table.columns, "th")
    return (
        f'<div class="vp-scroll" role="region" tabindex="0" aria-label="{escape(printable(label))}">'
        f'<table class="vp-table{stacks}"><thead>{head}</thead><tbody>{body}</tbody></table></div>'
    )


def table_text(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same as plain text, columns aligned, long cells shortened."""

    def flat(cell: str) -> str:
        one = " ".join(printable(cell).split())
        return one if len(one) <= TEXT_WIDTH else f"{one[: TEXT_WIDTH - 3]}..."

    grid = [[flat(c) for c in columns], *([flat(c) for c in row] for row in rows)]
    widths = [max(len(row[k]) for row in grid) for k in range(len(columns))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in grid]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def badge(provenance: str) -> str:
    """A provenance in words, explained."""
    return f'<span class="vp-badge vp-{provenance}" title="{escape(PROVENANCES[provenance])}">{provenance}</span>'


def badges(provenances: Sequence[str]) -> str:
    """A line that says what kind of data an exhibit shows."""
    if not provenances:
        return '<p class="vp-provenance">Provenance: no data yet</p>'
    explained = "; ".join(f"{badge(p)} {escape(PROVENANCES[p])}" for p in provenances)
    return f'<p class="vp-provenance"><span class="vp-label">Provenance</span> {explained}</p>'


def csv_of(table: pd.DataFrame) -> str:
    """A table as the text that its download holds: six significant digits."""
    return table.to_csv(index=False, lineterminator="\n", float_format="%.6g")


def download(table: pd.DataFrame, name: str, words: str = "Download the numbers (CSV)") -> str:
    """A link that holds the table as a CSV file: it works without a server."""
    address = f"data:text/csv;charset=utf-8,{quote(csv_of(table), safe=_SAFE)}"
    return f'<a class="vp-download" download="{escape(name)}.csv" href="{address}">{escape(words)}</a>'


def trail(study: str, exhibit: str, words: str = "Runs and raw lines") -> str:
    """A link to the page with the formula, runs, files and lines behind every point of a figure, or cell of a table.

    The address is right from the rendered report and from the notebook, which stand side by side in the repository.
    """
    address = f"../reports/trail-{quote(study)}.html#{quote(exhibit)}"
    return f'<a class="vp-trail-link" href="{escape(address)}">{escape(words)}</a>'


def origin(study: str, of: Sequence[str]) -> str:
    """Links to what computed numbers rest on: an exhibit's id leads to its trail, a run's id to the run's files."""
    if not of:
        return ""
    links = [
        f'<a class="vp-trail-link" href="../reports/trail-{quote(study)}.html#{quote(name)}">{exhibit_name(name)}</a>'
        if _EXHIBIT.fullmatch(name)
        else f'<a class="vp-trail-link" href="../reports/quality-{quote(study)}.html#run-{quote(name)}">'
        f"run {breakable(name)}</a>"
        for name in of
    ]
    return f'<p class="vp-where">Computed by the code above from the values behind {joined(links)}.</p>'


def details(summary: str, content: str) -> str:
    """A part that a reader may open."""
    return f'<details class="vp-details"><summary>{escape(summary)}</summary>{content}</details>'


def more(*parts: str) -> str:
    """What stands behind an exhibit, in one line until it is opened."""
    return f'<div class="vp-more">{"".join(parts)}</div>'


def block(
    anchor: str, name: str, title: str, body: str, *, after: Sequence[str] = (), finding: str = "", kind: str = "figure"
) -> str:
    """An exhibit: body, caption, and whatever follows the caption (each part is HTML)."""
    said = f' <span class="vp-finding">{escape(printable(finding))}</span>' if finding else ""
    stop = "" if title.endswith((".", "?", "!")) else "."
    caption = f"<figcaption><strong>{escape(name)}.</strong> {breakable(printable(title))}{stop}{said}</figcaption>"
    parts = (body, caption) if kind == "figure" else (caption, body)
    return f'<figure class="vp-exhibit vp-{kind}" id="{escape(anchor)}">{"".join(parts)}{"".join(after)}</figure>'
