"""A small table that a notebook has computed, shown with its provenance and a note on how."""

from __future__ import annotations

import pandas as pd

from virtperf.exhibits import display
from virtperf.exhibits.display import Shown, Table
from virtperf.exhibits.wording import escape, number, pretty, printable, slug


def computed_exhibit(frame: pd.DataFrame, *, title: str, note: str, provenance: str, study: str) -> Shown:
    """The frame's columns as they stand; truth values in words, numbers flush right.

    Parameters
    ----------
    frame : DataFrame
        Its column names are the headings.
    note : str
        How the numbers follow from published or measured ones.
    """
    numbers = frame.select_dtypes("number").columns
    numeric = frozenset(k for k, column in enumerate(frame.columns) if column in numbers)
    rows = tuple(tuple(_words(v) for v in row) for row in frame.itertuples(index=False))
    text = [[_plain(v) for v in row] for row in frame.itertuples(index=False)]
    anchor = slug(title)
    table = Table(tuple(map(str, frame.columns)), rows, numeric)
    html = (
        f'<section class="vp-estimates" id="{escape(anchor)}"><h4>{escape(printable(title))}</h4>'
        f"{display.table_html(table, title)}<p class='vp-note'>{escape(printable(note))}</p>"
        f"{display.badges([provenance])}"
        f'<p class="vp-links">{display.download(frame, f"{study}-{anchor}")}</p></section>'
    )
    return Shown(html, f"{title}\n{display.table_text([str(c) for c in frame.columns], text)}")


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return pretty(float(value)) if isinstance(value, int | float) else str(value)


def _plain(value: object) -> str:
    return number(float(value)) if isinstance(value, int | float) and not isinstance(value, bool) else _words(value)
