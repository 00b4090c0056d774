"""An executed notebook as one self-contained HTML file: no network, no other file, readable without
scripts.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import nbformat
from markupsafe import Markup
from nbformat import NotebookNode
from pygments import highlight  # type: ignore[import-untyped]
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import PythonLexer  # type: ignore[import-untyped]

from rawperf.core.errors import RawperfError
from rawperf.core.files import write_atomically
from virtperf.report.glossary import EMPTY_GLOSSARY, Glossary, Term
from virtperf.report.html.markdown import ContentsEntry, Writer, render_cells
from virtperf.report.html.notebooks import (
    ANSI,
    for_notebook_only,
    normalise,
    output_record,
    read_notebook,
)
from virtperf.report.html.record import (
    LinkResolver,
    ids,
    make_ids_distinct,
    record_html,
)
from virtperf.report.html.sanitize import sanitize_html
from virtperf.report.html.templating import (
    environment,
    image_address,
    read_scripts,
    refuse_large,
    tidy,
)
from virtperf.report.records import Record, markdown_above
from virtperf.study.definition import Study


def render(
    executed_notebook: Path,
    out: Path,
    *,
    title: str | None = None,
    notice: str = "",
    prefix: str = "",
    study: Study | None = None,
    glossary: Glossary = EMPTY_GLOSSARY,
) -> Path:
    """Render a notebook with its outputs; `out` is replaced only after the whole page is complete.

    `title` is the window title and the first heading; by default the notebook's own. `notice` is shown above
    everything; `prefix` starts the names of pages about runs (`LinkResolver`); with a `study`, the page
    links to its other pages. Terms of the `glossary` used
    in the page are explained at its top. Raises `RawperfError` if the notebook can't be read, one
    of its cells failed, or the page is too large for a browser.
    """
    notebook = _read(executed_notebook)
    try:
        page = to_html(
            notebook,
            title=title,
            notice=notice,
            prefix=prefix,
            study=study,
            glossary=glossary,
            name=out.name,
        )
    except RawperfError as err:
        raise err.copy_as(RawperfError, file=err.file or executed_notebook.name) from err
    refuse_large(page, executed_notebook.name)
    write_atomically(out, page)
    return out


def to_html(
    notebook: nbformat.NotebookNode,
    *,
    title: str | None = None,
    notice: str = "",
    prefix: str = "",
    study: Study | None = None,
    glossary: Glossary = EMPTY_GLOSSARY,
    name: str = "",
) -> str:
    """Render a notebook as a page, deterministically. `name` is its file's name."""
    code, policy = read_scripts("page.js")
    clean = normalise(notebook)
    # line ends of its blocks are part of the page: the style sheet is written line by line
    template = environment().overlay(trim_blocks=False, lstrip_blocks=False)
    body = template.get_template("report.html.j2").render(
        page=build_page(clean, title, notice, prefix, glossary),
        study=study,
        prefix=prefix,
        name=name,
        scripts=code,
        policy=policy,
    )
    return tidy(body)


def _read(path: Path) -> nbformat.NotebookNode:
    notebook = read_notebook(path)
    for position, cell in enumerate(notebook.cells, 1):
        for output in cell.get("outputs", ()):
            if output.output_type == "error":
                raise RawperfError(
                    f"cell {position} failed with {output.ename}: {output.evalue}",
                    file=path.name,
                    remedy="correct the cell and execute the notebook again.",
                )
    return notebook


_SUMMARY_WIDTH = 72
_PICTURES = ("image/svg+xml", "image/png", "image/jpeg")


@dataclass(frozen=True)
class Output:
    """Displayed output of a cell: markup of a record (``html``) or of user code (``own``), plain
    text, or the URL of an image.

    `name` is ``stdout``, ``stderr`` or ``error`` for printed text; the alternative text of an
    image.
    """

    kind: Literal["html", "own", "text", "image"]
    body: str | Markup
    name: str = ""


@dataclass(frozen=True)
class PagePart:
    """A piece of a page: prose has a `body`; code has outputs, its source, and its first line as
    `summary`; shown has outputs without their code, which an exhibit among them has in its details.
    """

    kind: Literal["prose", "code", "shown"]
    body: Markup
    summary: str = ""
    outputs: tuple[Output, ...] = ()


@dataclass(frozen=True)
class ReportPage:
    """Input of the template."""

    title: str
    has_heading: bool
    headings: tuple[ContentsEntry, ...]
    parts: tuple[PagePart, ...]
    notice: str = ""
    words: tuple[Term, ...] = ()


def build_page(
    notebook: NotebookNode,
    title: str | None,
    notice: str = "",
    prefix: str = "",
    glossary: Glossary = EMPTY_GLOSSARY,
) -> ReportPage:
    """Assemble the parts of a notebook's page; a `title` replaces its first heading, if any."""
    cells = [
        c
        for c in notebook.cells
        if c.cell_type == "markdown" or (c.cell_type == "code" and (c.source.strip() or c.outputs))
    ]
    if title and cells and cells[0].cell_type == "markdown":
        words = re.sub(r"([\\`*_\[\]<>#])", r"\\\1", title)
        cells[0].source = re.sub(r"\A# .*", lambda _: f"# {words}", cells[0].source)
    shown = {
        k: [(o, output_record(o)) for o in c.outputs]
        for k, c in enumerate(cells)
        if c.cell_type == "code"
    }
    records = make_ids_distinct(
        record for pairs in shown.values() for _, record in pairs if record is not None
    )
    used_ids = frozenset(ids(records))
    prose, of_prose = render_cells(list(_prose(cells, shown)), used_ids)
    headings = [heading for page_headings in of_prose for heading in page_headings]
    place = LinkResolver(used_ids | {heading.anchor for heading in headings}, prefix=prefix)
    written, distinct_records, heading = iter(zip(prose, of_prose, strict=True)), iter(records), ""
    parts: list[PagePart] = []
    quiet: list[str] = []  # code without output is shown with the next code that has some
    for position, cell in enumerate(cells):
        if cell.cell_type == "markdown":
            body, page_headings = next(written)
            heading = page_headings[-1].text if page_headings else heading
            parts.append(PagePart("prose", body))
            continue
        outputs: list[Output] = []
        quiet.append(cell.source)
        # the details of a cell's first exhibit have the cell's code
        has_record = any(record is not None for _, record in shown[position])
        code = _highlighted(quiet) if has_record else None
        for output, record in shown[position]:
            if record is not None and markdown_above(record):
                body, page_headings = next(written)
                heading = page_headings[-1].text if page_headings else heading
                parts += [PagePart("shown", Markup(), outputs=tuple(outputs))] if outputs else []
                parts.append(PagePart("prose", body))
                outputs = []
            distinct = next(distinct_records) if record else None
            rendered = _output(output, record, distinct, place, heading, code)
            outputs += [rendered] if rendered is not None else []
            code = None if record else code
        if has_record:
            parts.append(PagePart("shown", Markup(), outputs=tuple(outputs)))
            quiet = []
        elif outputs or not any(shown.get(later) for later in range(position + 1, len(cells))):
            summary = _summary(cell.source)
            parts.append(PagePart("code", _highlighted(quiet), summary, tuple(outputs)))
            quiet = []
    first = next((h.text for h in headings if h.level == 1), None)
    return ReportPage(
        title or first or "Report",
        first is not None,
        tuple(headings),
        tuple(parts),
        notice,
        glossary.used_in(_visible(parts)),
    )


def _highlighted(sources: Sequence[str]) -> Markup:
    """Code of cells as HTML; long lines scroll sideways, which must work from the keyboard."""
    formatter = HtmlFormatter(cssclass="vp-code", wrapcode=True)
    code = highlight("\n\n".join(sources), PythonLexer(), formatter)
    return Markup(code.replace("<pre>", '<pre tabindex="0">', 1))  # noqa: S704 (Pygments escapes)


_UNSEEN = re.compile(r"<svg.*?</svg>|<pre.*?</pre>|<[^>]*>", re.DOTALL)


def _visible(parts: Sequence[PagePart]) -> str:
    """Visible text of a page without markup, drawings and code."""
    shown = (
        body
        for part in parts
        for body in (
            *(() if part.kind == "code" else (part.body,)),
            *(output.body for output in part.outputs if output.kind in ("html", "own")),
        )
    )
    return html.unescape(_UNSEEN.sub(" ", " ".join(shown)))


def _prose(
    cells: Sequence[NotebookNode], shown: Mapping[int, Sequence[tuple[NotebookNode, Record | None]]]
) -> Iterator[str]:
    """Yield the Markdown of a page in order: cells, and headings and notes of exhibits."""
    for position, cell in enumerate(cells):
        if cell.cell_type == "markdown":
            yield cell.source
        for _, record in shown.get(position, ()):
            if record is not None and (above := markdown_above(record)):
                yield above


def _summary(source: str) -> str:
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(("import ", "from "))] or lines
    first = told[0].lstrip("# ") if told else "empty cell"
    if first.endswith(("(", "{", "[")) and len(lines) > 1:
        first += {"(": "…)", "{": "…}", "[": "…]"}[first[-1]]
    elif first.endswith(":"):
        first += " …"
    return first if len(first) <= _SUMMARY_WIDTH else f"{first[: _SUMMARY_WIDTH - 1]}…"


def _output(
    output: NotebookNode,
    record: Record | None,
    distinct_record: Record | None,
    place: LinkResolver,
    heading: str,
    code: Markup | None,
) -> Output | None:
    if record is not None and distinct_record is not None:
        return Output(
            "html",
            record_html(
                distinct_record,
                repeated=distinct_record.id != record.id,
                place=place,
                heading=heading,
                code=code,
            ),
        )
    if for_notebook_only(output):
        return None
    if output.output_type == "stream":
        return Output("text", _plain(output.text), output.name)
    if output.output_type == "error":
        return Output("text", _plain("\n".join(output.traceback)), "error")
    return next(_candidates(output.data), None)


def _candidates(data: NotebookNode) -> Iterator[Output]:
    """Yield the representations of a user's output, the richest first."""
    if "text/html" in data:
        yield Output("own", sanitize_html(data["text/html"]))
    text = data.get("text/plain", "")
    for mime in _PICTURES:
        if mime in data:
            svg = mime == "image/svg+xml"
            coded = data[mime].replace("\n", "")
            yield Output(
                "image", image_address(data[mime]) if svg else f"data:{mime};base64,{coded}", text
            )
    if "text/markdown" in data:
        yield Output("html", Writer().html(data["text/markdown"]))
    if text:
        yield Output("text", _plain(text))


def _plain(text: str) -> str:
    return ANSI.sub("", text).rstrip("\n")
