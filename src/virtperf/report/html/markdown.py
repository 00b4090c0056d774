"""Markdown cells as HTML: raw HTML is escaped, headings get anchors and enter the table of
contents.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import mistune
from markupsafe import Markup

from virtperf.report.html.templating import bound, environment
from virtperf.report.wording import slug


@dataclass(frozen=True)
class ContentsEntry:
    """One entry of the table of contents; `text` is plain text."""

    level: int
    text: str
    anchor: str


@dataclass
class Writer:
    """Markdown renderer for the cells of one page, in order; collects the headings.

    `taken`: anchors of exhibits, which no heading may use: ``figure-5`` is the figure, not a
    heading above it. `known`: all anchors of the page, links to other anchors are dropped; None
    keeps all links.
    """

    headings: list[ContentsEntry] = field(default_factory=list)
    taken: frozenset[str] = frozenset()
    known: frozenset[str] | None = None

    def html(self, source: str) -> Markup:
        """Render one cell; tables get their own scrolling box."""
        body = mistune.create_markdown(
            renderer=_Renderer(self), plugins=["table", "strikethrough"]
        )(source)
        assert isinstance(body, str)
        return Markup(body)  # noqa: S704 (written by the renderer below, which escapes)


def render_cells(
    sources: Sequence[str], used_ids: frozenset[str]
) -> tuple[list[Markup], list[list[ContentsEntry]]]:
    """Render all Markdown cells of one page in two passes, so that links may lead to later
    headings; returns the HTML and the headings of each cell.
    """
    first = Writer(taken=used_ids)
    for source in sources:
        first.html(source)
    last = Writer(taken=used_ids, known=used_ids | {heading.anchor for heading in first.headings})
    written, headings = [], []
    for source in sources:
        before = len(last.headings)
        written.append(last.html(source))
        headings.append(last.headings[before:])
    return written, headings


def _macros() -> Any:
    return environment().get_template("markdown.html.j2").module


class _Renderer(mistune.HTMLRenderer):
    def __init__(self, page: Writer) -> None:
        super().__init__(escape=True)
        self._page = page

    def render_token(self, token: dict[str, Any], state: Any) -> str:
        if token["type"] != "heading":
            return super().render_token(token, state)
        text, plain = self.render_tokens(token["children"], state), _plain(token["children"])
        level, taken = (
            token["attrs"]["level"],
            self._page.taken | {h.anchor for h in self._page.headings},
        )
        names = (
            f"{slug(plain)}-{count}" if count > 1 else slug(plain) for count in itertools.count(1)
        )
        anchor = next(name for name in names if name not in taken)
        self._page.headings.append(ContentsEntry(level, plain, anchor))
        link = _macros().heading_link(anchor) if level > 1 else ""
        return self.heading(f"{text} {link}", level, id=anchor)

    def text(self, text: str) -> str:
        return super().text(bound(text))

    def link(self, text: str, url: str, title: str | None = None) -> str:
        known = self._page.known
        if (
            known is not None
            and self.safe_url(url).startswith("#")
            and url.removeprefix("#") not in known
        ):
            return text
        return super().link(text, url, title)

    def image(self, text: str, url: str, title: str | None = None) -> str:
        # a self-contained page has no external images
        if url.startswith("data:image/"):
            return super().image(text, url, title)
        return f"[{mistune.escape(text)}]"

    def table(self, text: str) -> str:
        return str(_macros().table(Markup(text)))  # noqa: S704 (rows that mistune escaped)

    def block_code(self, code: str, info: str | None = None) -> str:
        return super().block_code(code, info).replace("<pre>", '<pre tabindex="0">', 1)

    def block_html(self, html: str) -> str:
        # drop comments, which are for authors
        return (
            ""
            if html.strip().startswith("<!--") and html.strip().endswith("-->")
            else super().block_html(html)
        )


def _plain(tokens: Sequence[dict[str, Any]]) -> str:
    """The text of inline tokens without their markup."""
    return "".join(token.get("raw", "") or _plain(token.get("children", ())) for token in tokens)
