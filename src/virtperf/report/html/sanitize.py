"""Sanitizer for HTML displayed by user code: removes everything that could run or load anything.

The page's content security policy blocks that, too; but some readers of a page know no policy.
"""

from __future__ import annotations

import re

from markupsafe import Markup

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
"""Elements removed with their content."""


def sanitize_html(text: str) -> Markup:
    """Keep tables and text of an output's HTML by allow-lists; scripts, handlers, frames, forms,
    style rules and pictures are removed (a picture is a separate output: image/png, image/svg+xml).
    """
    from nbconvert.preprocessors.sanitize import SanitizeHTML  # loads all of nbconvert

    cleaner = SanitizeHTML(tags=_TABLES + _TEXT, attributes=_ATTRIBUTES, strip=True)
    return Markup(cleaner.sanitize_html_tags(_DROPPED.sub("", text)).strip())  # noqa: S704 - sanitized
