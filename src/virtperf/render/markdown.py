"""Markdown cells as HTML: raw HTML is shown as text, headings get anchors and go into the table of contents."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import Any

import mistune

from virtperf.exhibits.wording import slug


@dataclass(frozen=True)
class Heading:
    """One entry of the table of contents; `text` is plain text."""

    level: int
    text: str
    anchor: str


@dataclass
class Writer:
    """Turns the Markdown cells of one page into HTML, in their order, and collects the headings.

    `taken` are anchors that belong to exhibits: ``figure-5`` is the figure, never a heading above it.
    """

    headings: list[Heading] = field(default_factory=list)
    taken: frozenset[str] = frozenset()

    def html(self, source: str) -> str:
        """One cell; tables stand in their own scrolling box."""
        body = mistune.create_markdown(
            renderer=_Renderer(self.headings, self.taken), plugins=["table", "strikethrough"]
        )(source)
        assert isinstance(body, str)
        body = body.replace("<table>", '<div class="vp-scroll" role="region" tabindex="0" aria-label="Table"><table>')
        return body.replace("</table>", "</table></div>")


class _Renderer(mistune.HTMLRenderer):
    def __init__(self, headings: list[Heading], taken: frozenset[str]) -> None:
        super().__init__(escape=True)
        self._headings = headings
        self._taken = taken

    def heading(self, text: str, level: int, **attrs: Any) -> str:
        plain = html.unescape(re.sub(r"<[^>]*>", "", text))
        anchor = base = slug(plain)
        taken = self._taken | {h.anchor for h in self._headings}
        count = 1
        while anchor in taken:
            count += 1
            anchor = f"{base}-{count}"
        self._headings.append(Heading(level, plain, anchor))
        link = f'<a class="vp-anchor" href="#{anchor}" aria-label="Link to this section">#</a>' if level > 1 else ""
        return f'<h{level} id="{anchor}">{text} {link}</h{level}>\n'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        # A page that makes no request has no pictures from elsewhere.
        if url.startswith("data:image/"):
            return super().image(text, url, title)
        return f"[{mistune.escape(text)}]"

    def block_html(self, html: str) -> str:
        # Comments are for authors.
        return "" if html.strip().startswith("<!--") and html.strip().endswith("-->") else super().block_html(html)
