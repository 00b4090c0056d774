"""The one template environment: everything is escaped, and a name that a template doesn't know is an error."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from virtperf.core.provenance import Provenance
from virtperf.exhibits import palette
from virtperf.exhibits.wording import VERDICTS, exhibit_name, plural, pretty, printable, slug

TEMPLATES = Path(__file__).parent / "templates"
LONGEST_WORD = 18


@cache
def environment() -> Environment:
    """Jinja2 over the package's templates."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    equip(made)
    return made


def equip(made: Environment) -> None:
    """Give an environment the words and filters that the templates use."""
    made.filters |= {
        "breakable": breakable, "slug": slug, "printable": printable, "exhibit_name": exhibit_name, "pretty": pretty,
        "plural": plural, "picture": _picture,
    }  # fmt: skip
    made.globals |= {"VERDICTS": VERDICTS, "PROVENANCES": {str(p): p.words for p in Provenance}, "palette": palette}


def _picture(svg: str) -> Markup:
    """An SVG element as it is: it was written by `exhibits.plot`, which leaves neither scripts nor style rules in."""
    return Markup(svg)  # noqa: S704


def breakable(text: object, longest: int = LONGEST_WORD) -> Markup:
    """Escaped text in which words longer than `longest` may break (after ``_ - / . :`` first)."""
    words = []
    for word in re.split(r"(\s+)", printable(text)):
        if len(word) <= longest:
            words.append(escape(word))
            continue
        pieces = re.findall(rf"[^_/.:-]{{1,{longest}}}[_/.:-]*|[_/.:-]+", word)
        words.append(Markup("<wbr>").join(pieces))
    return Markup("").join(words)


def document(template: str, *, scripts: Sequence[str] = ("page.js",), **values: Any) -> str:
    """A whole page.

    Parameters
    ----------
    template : str
        Name of a template that extends ``base.html.j2``.
    scripts : sequence of str
        Names of script files in the template folder.
    """
    code = [(TEMPLATES / script).read_text(encoding="utf-8").strip() for script in scripts]
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(c.encode()).digest()).decode()}'" for c in code)
    # The policy is the second lock on the door: text is escaped, and were it not, no foreign script would run.
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {hashes}; base-uri 'none'; "
        "form-action 'none'"
    )
    text = environment().get_template(template).render(
        policy=policy, scripts=[Markup(c) for c in code], **values,  # noqa: S704 (files of this package)
    )  # fmt: skip
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
