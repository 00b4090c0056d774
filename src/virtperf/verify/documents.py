"""Exhibits as they stand in a notebook or in a report: their tables, their drawings, their words."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from virtperf.exhibits.seal import seal
from virtperf.render.normalise import read_notebook

_EXHIBIT = re.compile(
    r'<(?P<tag>figure|section|p) class="(?:vp-exhibit )?vp-(?P<kind>[a-z]+)[^"]*" id="(?P<id>[^"]*)"[^>]*>'
    r".*?</(?P=tag)>",
    re.S,
)
_KINDS = ("figure", "printed", "estimates", "claims", "register", "summary", "note")
_DRAWING = re.compile(r'<svg\b[^>]*\bclass="vp-drawing\b.*?</svg>', re.S)
_DOWNLOAD = re.compile(r'<a class="vp-download" download="([^"]*)\.csv" href="data:text/csv;charset=utf-8,([^"]*)"')
_TITLE = re.compile(
    r"<figcaption><strong>(?P<name>.*?)</strong>(?P<title>.*?)(?:<span|</figcaption>)|<h4>(?P<h>.*?)</h4>", re.S
)
_REFERENCES = re.compile(r' (?:id|for|href|data-label|aria-[a-z]+)="[^"]*"|url\(#[^)]*\)')
_STATEMENT = re.compile(r'<tr id="claim-(?P<id>[^"]*)"><td><span>(?P<says>.*?)</span>(?P<cells>.*?)</tr>', re.S)
_VERDICT = re.compile(r'<span class="vp-verdict\b[^>]*>(.*?)</span>', re.S)
_BLOCKS = re.compile(r"</(?:tr|p|li|h\d|dt|dd|caption|div|summary|figcaption)>")
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class Drawing:
    """One `svg` element; `digest` and `stated_seal` are empty where it has none."""

    svg: str
    digest: str
    stated_seal: str

    @property
    def sealed(self) -> bool:
        """Whether the drawing still is what was sealed."""
        return self.stated_seal == seal(self.svg, self.digest)

    @cached_property
    def strokes(self) -> str:
        """The drawing without ids, digests and whatever refers to ids: what a reader sees."""
        return re.sub(r' data-(?:digest|seal)="[^"]*"', "", _REFERENCES.sub("", self.svg))


@dataclass(frozen=True)
class Fragment:
    """One exhibit of a document.

    Attributes
    ----------
    name : str
        As its download is called, without the study: ``figure-5``. Without a download, its anchor.
    anchor : str
    title : str
        Plain text.
    kind : str
        figure, printed, estimates, claims, register, summary, note or output (no exhibit of the book).
    under : str
        The paper's exhibit that an estimate or a list of statements follows; empty for all others.
    html : str
    csv : str
        The text of its download, or nothing.
    """

    name: str
    anchor: str
    title: str
    kind: str
    under: str
    html: str
    csv: str

    @cached_property
    def drawings(self) -> tuple[Drawing, ...]:
        """The wide and the narrow drawing of a figure, if it has any."""
        return tuple(
            Drawing(svg, _attribute(svg, "data-digest"), _attribute(svg, "data-seal"))
            for svg in _DRAWING.findall(self.html)
        )

    @cached_property
    def caption(self) -> str:
        """Its title, and below a figure what is said of it."""
        found = re.search(r"<figcaption>.*?</figcaption>", self.html, re.S)
        return " ".join(html.unescape(_TAG.sub("", found[0])).split()) if found else self.title

    @cached_property
    def lines(self) -> list[str]:
        """What it says, a line a row or paragraph; drawings, downloads and what nobody sees left out."""
        body = _DRAWING.sub("", self.html)
        cells = _BLOCKS.sub("\n", re.sub(r"</t[dh]>\s*<t[dh]\b", "</td> | <td", body))
        lines = (" ".join(html.unescape(_TAG.sub("", line)).split()) for line in cells.split("\n"))
        return [line for line in lines if line]

    @cached_property
    def statements(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Of a table of statements: by id, the words and the verdicts, that from the text first."""
        return {
            html.unescape(row["id"]): (_plain(row["says"]), tuple(_plain(v) for v in _VERDICT.findall(row["cells"])))
            for row in _STATEMENT.finditer(self.html)
        }

    @cached_property
    def seen(self) -> str:
        """Its HTML without drawings and without whatever refers to ids, which a page may rename."""
        return _REFERENCES.sub("", _DRAWING.sub("<svg>", self.html))


def _plain(body: str) -> str:
    return " ".join(html.unescape(_TAG.sub("", body)).split())


def _attribute(svg: str, name: str) -> str:
    found = re.search(rf' {name}="([^"]*)"', svg.split(">", 1)[0])
    return found[1] if found else ""


def notebook_fragments(path: Path, study: str) -> dict[str, Fragment]:
    """The exhibits of an executed notebook, in its order; outputs that are no exhibits are called after their cells.

    Raises
    ------
    VirtperfError
        The file is missing or no notebook.
    """
    parts: list[tuple[str, str]] = []
    for position, cell in enumerate(read_notebook(path).cells, 1):
        for output in cell.get("outputs", ()):
            data: Mapping[str, str] = output.get("data", {})
            plain = data.get("text/plain", output.get("text", ""))
            body = data.get("text/html", "") or f"<pre>{html.escape(plain)}</pre>"
            parts.append((f"cell-{cell.get('id', position)}", body))
    return _named(_fragments(parts, study))


def page_fragments(path: Path, study: str) -> dict[str, Fragment]:
    """The exhibits of a rendered report, in its order."""
    return _named(_fragments([("", path.read_text(encoding="utf-8"))], study))


def _fragments(parts: Iterable[tuple[str, str]], study: str) -> Iterable[Fragment]:
    last = ""
    for cell, body in parts:
        found = [m for m in _EXHIBIT.finditer(body) if m["kind"] in _KINDS]
        if not found and cell:
            yield Fragment(cell, cell, cell.replace("-", " ", 1), "output", last, body, "")
        for match in found:
            download = _DOWNLOAD.search(match[0])
            name = html.unescape(download[1]).removeprefix(f"{study}-") if download else match["id"]
            if match["kind"] in ("figure", "printed"):
                last = name
            under = last if match["kind"] in ("estimates", "claims", "note") else ""
            yield Fragment(
                name, html.unescape(match["id"]), _title(match[0], name), match["kind"], under, match[0],
                unquote(html.unescape(download[2])) if download else "",
            )  # fmt: skip


def _title(body: str, name: str) -> str:
    found = _TITLE.search(body)
    if found is None or "vp-register" in body:
        return name.replace("-", " ").capitalize()
    text = found["h"] or f"{found['name']} {found['title']}"
    return " ".join(html.unescape(_TAG.sub("", text)).split()).rstrip(".")


def _named(fragments: Iterable[Fragment]) -> dict[str, Fragment]:
    """By name; one that is shown again gets its count."""
    seen: Counter[str] = Counter()
    found = {}
    for fragment in fragments:
        seen[fragment.name] += 1
        count = seen[fragment.name]
        found[fragment.name if count == 1 else f"{fragment.name} ({count})"] = fragment
    return found
