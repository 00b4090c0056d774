"""An executed notebook as one HTML file that needs nothing else: no network, no other file, no script to be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from jinja2 import Environment, StrictUndefined
from nbconvert import HTMLExporter
from nbconvert.exporters.templateexporter import TemplateExporter

from virtperf.core.errors import VirtperfError
from virtperf.core.files import write_atomically
from virtperf.render.notebooks import normalise, read_notebook
from virtperf.render.page import build_page
from virtperf.render.templating import TEMPLATES, equip, refuse_large, tidy, with_policy


class _Exporter(HTMLExporter):
    """nbconvert's HTML exporter with this package's template only, and with escaping switched on."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(template_name="templates", extra_template_basedirs=[str(TEMPLATES.parent)], **settings)

    def _create_environment(self) -> Environment:
        environment: Environment = super()._create_environment()
        environment.autoescape, environment.undefined = True, StrictUndefined
        equip(environment)
        return environment

    def from_notebook_node(self, nb: nbformat.NotebookNode, resources: Any = None, **settings: Any) -> Any:
        # HTMLExporter would parse the page and write it anew to add attributes that the template has already.
        html, resources = TemplateExporter.from_notebook_node(self, nb, resources, **settings)
        return html, resources


def render(executed_notebook: Path, out: Path, *, title: str | None = None) -> Path:
    """Render a notebook with its outputs; `out` is replaced only when the whole page has been made.

    `title` is that of the browser's window; without it the notebook's first heading. Raises `VirtperfError` where the
    notebook can't be read, a cell of it failed, or the page is too large for a browser.
    """
    html = to_html(_read(executed_notebook), title=title)
    refuse_large(html, executed_notebook.name)
    write_atomically(out, html)
    return out


def to_html(notebook: nbformat.NotebookNode, *, title: str | None = None) -> str:
    """The page of a notebook; the same notebook gives the same text."""
    code, policy = with_policy("page.js")
    clean = normalise(notebook)
    resources = {"page": build_page(clean, title), "scripts": code, "policy": policy}
    body, _ = _Exporter().from_notebook_node(clean, resources=resources)
    return tidy(body)


def _read(path: Path) -> nbformat.NotebookNode:
    notebook = read_notebook(path)
    for position, cell in enumerate(notebook.cells, 1):
        for output in cell.get("outputs", ()):
            if output.output_type == "error":
                raise VirtperfError(
                    f"cell {position} ends in {output.ename}: {output.evalue}", file=path.name,
                    remedy="mend the cell and execute the notebook again.",
                )  # fmt: skip
    return notebook
