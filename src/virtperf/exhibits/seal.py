"""What ties a drawing to its numbers: two short digests on its `svg` element, for whoever compares results.

`data-digest` is a digest of the numbers: first that of the exhibit's CSV download, so that anybody can compute it
again, then, after a hyphen, that of whatever else is drawn (fitted curves, marks). `data-seal` is a digest of the
first one together with the drawing's geometry and text; a drawing that was changed by hand breaks it.
"""

from __future__ import annotations

import hashlib
import re

import pandas as pd

from virtperf.exhibits.display import csv_of

LENGTH = 8  # hexadecimal digits; two of a study's figures share a digest once in a hundred million studies
_DRAWN = re.compile(r' (?:d|x|y|x1|x2|y1|y2|cx|cy|r|width|height|points|transform|viewBox)="[^"]*"|>[^<>]+<')
_ATTRIBUTES = re.compile(r' data-(?:digest|seal)="[^"]*"')


def sealed(svg: str, table: pd.DataFrame, *more: pd.DataFrame) -> str:
    """An `svg` element with both digests.

    Parameters
    ----------
    svg : str
        One element, as `svg.to_svg` returns it.
    table : DataFrame
        What the exhibit's CSV download holds.
    more : DataFrame
        What is drawn beyond it; four significant digits count, since nobody sees more.
    """
    digest = short(csv_of(table))
    if more:
        digest += "-" + short("\n".join(m.to_csv(index=False, lineterminator="\n", float_format="%.4g") for m in more))
    head, rest = svg.split(">", 1)
    return f'{head} data-digest="{digest}" data-seal="{seal(svg, digest)}">{rest}'


def seal(svg: str, digest: str) -> str:
    """The seal of a drawing with that digest; ids, colours and the digests themselves do not count."""
    head, rest = svg.split(">", 1)
    return short("\n".join([digest, *_DRAWN.findall(f"{_ATTRIBUTES.sub('', head)}>{rest}")]))


def short(text: str) -> str:
    """The first digits of a text's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]
