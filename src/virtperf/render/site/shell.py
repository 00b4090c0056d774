"""The frame around every page of the site: head, navigation, style, and the policy that no request leaves the page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from virtperf.render.page import unique_ids
from virtperf.render.report import FOLDER

TEMPLATE = FOLDER / "templates"
PAGES = (
    ("index.html", "Studies"),
    ("claims.html", "Claims"),
    ("contradictions.html", "Contradictions"),
    ("quality.html", "Data quality"),
    ("methods.html", "Methods"),
)


@dataclass(frozen=True)
class Section:
    """A part of a page under a heading of its own: `body` is HTML."""

    anchor: str
    title: str
    body: str


def page(
    name: str, title: str, lead: str, sections: Sequence[Section], *, scripts: Sequence[str] = (), wide: bool = False
) -> str:
    """One page of the site.

    Parameters
    ----------
    name : str
        Its file name, one of `PAGES`.
    lead : str
        HTML below the heading.
    scripts : sequence of str
        Names of script files in the template folder, beside the one that every page has.
    wide : bool
        Whether the page takes the window's whole width (large tables).
    """
    code = [(TEMPLATE / script).read_text(encoding="utf-8").strip() for script in ("page.js", *scripts)]
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(c.encode()).digest()).decode()}'" for c in code)
    bodies = unique_ids([lead, *(s.body for s in sections)])
    environment = Environment(loader=FileSystemLoader(TEMPLATE), autoescape=True, undefined=StrictUndefined)
    html = environment.get_template("site.html.j2").render(
        title=title, name=name, pages=PAGES, wide=wide,
        lead=Markup(bodies[0]),  # noqa: S704 (made by this package, every foreign text in it escaped)
        sections=[(s.anchor, s.title, Markup(b)) for s, b in zip(sections, bodies[1:], strict=True)],  # noqa: S704
        scripts=[Markup(c) for c in code],  # noqa: S704
        policy="default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src " + hashes
        + "; base-uri 'none'; form-action 'none'",
    )  # fmt: skip
    return "\n".join(line.rstrip() for line in html.splitlines()) + "\n"
