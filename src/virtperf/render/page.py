"""An executed notebook as the parts of a page: prose, folded code, outputs; ids unique over the whole page."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass

from markupsafe import Markup
from nbformat import NotebookNode
from pygments import highlight  # type: ignore[import-untyped]
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import PythonLexer  # type: ignore[import-untyped]

from virtperf.exhibits.wording import escape, printable
from virtperf.render.markdown import Heading, Writer

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_ID = re.compile(r'(?<=[\s<])id="([^"]+)"')
_SUMMARY_WIDTH = 72


@dataclass(frozen=True)
class Part:
    """One cell: `kind` is "prose" or "code"; `summary` is the code's first line; `body` is prose or outputs."""

    kind: str
    summary: str
    code: Markup
    body: Markup


@dataclass(frozen=True)
class Page:
    """What the template shows."""

    title: str
    has_heading: bool
    headings: tuple[Heading, ...]
    parts: tuple[Part, ...]


def build_page(notebook: NotebookNode, title: str | None) -> Page:
    """The parts of a notebook's page; without a title, its first heading is the title."""
    outputs = {k: "".join(map(_output, c.outputs)) for k, c in enumerate(notebook.cells) if c.cell_type == "code"}
    writer = Writer(taken=frozenset(anchor for body in outputs.values() for anchor in _ID.findall(body)))
    raw: list[tuple[str, str, str, str]] = []
    for position, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            raw.append(("prose", "", "", writer.html(cell.source)))
        elif cell.cell_type == "code" and (cell.source.strip() or cell.outputs):
            raw.append(("code", _summary(cell.source), _code(cell.source), outputs[position]))
    bodies = unique_ids([body for *_, body in raw])
    parts = tuple(
        Part(kind, summary, Markup(code), Markup(body))  # noqa: S704 (made here: escaped, or an exhibit's own HTML)
        for (kind, summary, code, _), body in zip(raw, bodies, strict=True)
    )
    first = next((h.text for h in writer.headings if h.level == 1), None)
    return Page(title or first or "Report", first is not None, tuple(writer.headings), parts)


def unique_ids(bodies: list[str]) -> list[str]:
    """Rename ids that an earlier part has already, with what refers to them; drop links to places that don't exist."""
    seen: set[str] = set()
    changed = []
    for body in bodies:
        own = list(dict.fromkeys(_ID.findall(body)))
        for old in [name for name in own if name in seen]:
            count = 2
            while f"{old}-{count}" in seen or f"{old}-{count}" in own:
                count += 1
            body = _rename(body, old, f"{old}-{count}")
        seen.update(_ID.findall(body))
        changed.append(body)
    return [re.sub(r' href="#([^"]+)"', lambda m: m[0] if m[1] in seen else "", body) for body in changed]


def _rename(body: str, old: str, new: str) -> str:
    name = re.escape(old)
    body = re.sub(rf'(?<=[\s<])(id|for|href|xlink:href)="(#?){name}"', rf'\1="\g<2>{new}"', body)
    body = re.sub(rf"url\(#{name}\)", f"url(#{new})", body)
    return re.sub(
        r'aria-(labelledby|describedby|controls)="([^"]*)"',
        lambda m: f'aria-{m[1]}="{" ".join(new if t == old else t for t in m[2].split(" "))}"',
        body,
    )


def _summary(source: str) -> str:
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    first = lines[0].lstrip("# ") if lines else "empty cell"
    if first.endswith(("(", "{", "[")) and len(lines) > 1:
        first += {"(": "…)", "{": "…}", "[": "…]"}[first[-1]]
    return first if len(first) <= _SUMMARY_WIDTH else f"{first[: _SUMMARY_WIDTH - 1]}…"


def _code(source: str) -> str:
    return highlight(source, PythonLexer(), HtmlFormatter(cssclass="vp-code", wrapcode=True))


def _output(output: NotebookNode) -> str:
    if output.output_type == "stream":
        return f'<pre class="vp-text vp-{escape(output.name)}" tabindex="0">{_plain(output.text)}</pre>'
    if output.output_type == "error":
        return f'<pre class="vp-text vp-error" tabindex="0">{_plain(chr(10).join(output.traceback))}</pre>'
    data = output.data
    if "text/html" in data:
        return f'<div class="vp-output">{data["text/html"]}</div>'
    for mime in ("image/svg+xml", "image/png", "image/jpeg"):
        if mime in data:
            return _image(mime, data[mime], data.get("text/plain", ""))
    if "text/markdown" in data:
        return f'<div class="vp-output">{Writer().html(data["text/markdown"])}</div>'
    return (
        f'<pre class="vp-text" tabindex="0">{_plain(data.get("text/plain", ""))}</pre>'
        if data.get("text/plain")
        else ""
    )


def _image(mime: str, content: str, text: str) -> str:
    # As an image an SVG can't bring scripts or style rules into the page.
    encoded = base64.b64encode(content.encode()).decode() if mime == "image/svg+xml" else content.replace("\n", "")
    return f'<p class="vp-output"><img src="data:{mime};base64,{encoded}" alt="{escape(printable(text))}"></p>'


def _plain(text: str) -> str:
    return escape(_ANSI.sub("", text).rstrip("\n"))
