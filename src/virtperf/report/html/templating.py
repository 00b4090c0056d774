"""The Jinja2 environment: autoescaping, and undefined names are errors."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from rawperf.core.errors import RawperfError
from virtperf.core.numbers import NO_BREAK, plural, pretty
from virtperf.core.provenance import Provenance
from virtperf.report import palette
from virtperf.report.wording import (
    OF_MANY,
    VERDICT_MEANINGS,
    exhibit_name,
    printable,
    slug,
    verdict_kind,
)

TEMPLATES = Path(__file__).parent / "templates"
LONGEST_WORD = 18
LIMIT_BYTES = 2_000_000
PAGES = {
    "index.html": "Studies",
    "synthesis.html": "Answers",
    "methods.html": "Method",
    "search.html": "Search",
}
"""Pages in the navigation of the site."""


@cache
def environment() -> Environment:
    """Jinja2 environment over the package's templates."""
    created = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    created.filters |= {
        "breakable": breakable,
        "slug": slug,
        "printable": lambda text: bound(printable(text)),
        "exhibit_name": exhibit_name,
        "pretty": pretty,
        "plural": plural,
        "image_address": image_address,
        "file_address": quote,
        "css_string": css_string,
        "verdict_kind": verdict_kind,
    }
    created.globals |= {
        "VERDICTS": VERDICT_MEANINGS,
        "OF_MANY": OF_MANY,
        "PROVENANCES": {str(p): p.words for p in Provenance},
        "palette": palette,
        "PAGES": PAGES,
    }
    return created


def bound(text: str) -> str:
    """Put a no-break space between each number and its unit."""
    return _BEFORE_UNIT.sub(NO_BREAK, text)


_BEFORE_UNIT = re.compile(
    r"(?<=[\d)]) (?=(?:%|[mnµ]?s|[KMGT]i?B(?:/s)?|[kKMG]?bit/s|[kMG]?Hz|CPUs?|IFLs?)(?!\w))"
)


def breakable(text: object, longest: int = LONGEST_WORD) -> Markup:
    """Escape text; words longer than `longest` may break (after ``_ - / . :`` first), a number and its
    unit may not.
    """
    shown = bound(printable(text))
    if len(shown) <= longest:
        return escape(shown)
    words = []
    for word in re.split(r"(\s+)", shown):
        if len(word) <= longest:
            words.append(escape(word))
            continue
        pieces = re.findall(rf"[^_/.:-]{{1,{longest}}}[_/.:-]*|[_/.:-]+", word)
        words.append(Markup("<wbr>").join(pieces))
    return Markup("").join(words)


def css_string(text: object) -> str:
    """Quote and escape text as a CSS string."""
    return (
        "'"
        + re.sub(r"[^\w .,:%()/-]", lambda match: f"\\{ord(match[0]):x} ", printable(text))
        + "'"
    )


def image_address(svg: str) -> str:
    """An SVG as a ``data:`` URL of an image, which can't bring scripts, style rules or ids into the
    page.
    """
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def page(
    template: str,
    title: str,
    *,
    name: str = "",
    parent: str = "",
    scripts: Sequence[str] = (),
    wide: bool = False,
    **values: Any,
) -> str:
    """Render one page of the site by ``templates/site/<template>.html.j2``, which extends
    ``site.html.j2``.

    `name` and `parent` are file names in the navigation: of the page itself, or of the page above it.
    `scripts` are names of script files, beside the one on every page. A `wide` page has the full
    width of the window.
    """
    code, policy = read_scripts("page.js", *scripts)
    values |= {
        "scripts": code,
        "policy": policy,
        "name": name,
        "parent": parent,
        "title": title,
        "wide": wide,
    }
    return tidy(environment().get_template(f"site/{template}.html.j2").render(values))


def read_scripts(*names: str) -> tuple[list[Markup], str]:
    """Read script files of the template folder; returns them with a content security policy that
    allows only these scripts, by hash.

    The policy is a second layer of defence: should escaping fail, no foreign script runs.
    """
    code = [(TEMPLATES / name).read_text(encoding="utf-8").strip() for name in names]
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(c.encode()).digest()).decode()}'" for c in code
    )
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {hashes}; base-uri 'none'; "
        "form-action 'none'"
    )
    return [Markup(c) for c in code], policy  # noqa: S704 (files of this package)


def tidy(text: str) -> str:
    """Strip trailing whitespace from the lines of a page."""
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def refuse_large(page: str, name: str) -> None:
    """Raise `RawperfError` where a page is larger than `LIMIT_BYTES`."""
    if (size := len(page.encode())) > LIMIT_BYTES:
        raise RawperfError(
            "the page is too large",
            file=name,
            expected=f"at most {LIMIT_BYTES:,} bytes",
            found=f"{size:,} bytes",
            remedy="show fewer or smaller exhibits on it.",
        )
