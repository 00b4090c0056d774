"""HTML that somebody's own code displayed, freed of what could run or load anything.

The page's content policy blocks that, too; a page may be read by what knows no policy.
"""

from __future__ import annotations

import re

from markupsafe import Markup
from nbconvert.preprocessors.sanitize import SanitizeHTML

_TABLES = ["caption", "col", "colgroup", "table", "tbody", "td", "tfoot", "th", "thead", "tr"]
_TEXT = [
    "a",
    "abbr",
    "b",
    "blockquote",
    "br",
    "code",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "li",
    "ol",
    "p",
    "pre",
    "s",
    "small",
    "span",
    "strong",
    "sub",
    "summary",
    "sup",
    "u",
    "ul",
]
_ATTRIBUTES = {
    "*": ["class", "title", "lang", "dir", "style", "aria-label"],
    "a": ["href"],
    "table": ["border"],
    **{cell: ["colspan", "rowspan", "scope", "align"] for cell in ("td", "th")},
}
_DROPPED = re.compile(r"<(script|style|template|noscript)\b.*?(</\1\s*>|\Z)", re.S | re.I)
"""Elements of which the content goes, too."""


def own_html(text: str) -> Markup:
    """The tables and the text of an output's HTML; scripts, handlers, frames, forms, style rules and
    pictures are gone (a picture is an output of its own: image/png, image/svg+xml).
    """
    cleaner = SanitizeHTML(tags=_TABLES + _TEXT, attributes=_ATTRIBUTES, strip=True)
    return Markup(cleaner.sanitize_html_tags(_DROPPED.sub("", text)).strip())  # noqa: S704 - sanitized
