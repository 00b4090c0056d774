"""The frame around every page of the site, and the pages that its navigation names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from virtperf.render.templating import document

PAGES = (
    ("index.html", "Studies"),
    ("claims.html", "Claims"),
    ("contradictions.html", "Contradictions"),
    ("quality.html", "Data quality"),
    ("methods.html", "Methods"),
)


def page(
    template: str, name: str, title: str, *, scripts: Sequence[str] = (), wide: bool = False, **values: Any
) -> str:
    """One page of the site by ``templates/site/<template>.html.j2``, which extends ``site.html.j2``.

    `name` is the page's file name where the navigation has it, else that of the page above it, or "". `scripts` are
    names of script files, beside the one that every page has. A `wide` page takes the window's whole width (large
    tables).
    """
    return document(
        f"site/{template}.html.j2", ("page.js", *scripts), PAGES=PAGES, name=name, title=title, wide=wide, **values
    )
