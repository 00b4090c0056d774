"""Notebook cells as parts of a page."""

from __future__ import annotations

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tests.report.html.toy_notebook import cell, figure
from virtperf.report.html.report import Output, PagePart, build_page


def parts_of(*outputs) -> tuple[Output, ...]:
    (part,) = build_page(new_notebook(cells=[new_code_cell("x", outputs=list(outputs))]), "T").parts
    return part.outputs


def test_first_heading_is_the_default_title() -> None:
    notebook = new_notebook(cells=[new_markdown_cell("# Own *title*")])
    assert (build_page(notebook, None).title, build_page(notebook, "Given").title) == (
        "Own title",
        "Given",
    )
    assert build_page(new_notebook(cells=[]), None).title == "Report"


def test_empty_cells_are_skipped_and_code_is_summarized_by_its_first_line() -> None:
    cells = [
        new_code_cell(""),
        new_code_cell("# Fit the lines\nfit()"),
        new_code_cell("study.show(\n    'a')"),
        new_code_cell("import a\nfor b in a.c:\n    d(b)"),
    ]
    parts = build_page(new_notebook(cells=cells), None).parts
    assert [part.summary for part in parts] == [
        "Fit the lines",
        "study.show(…)",
        "for b in a.c: …",
    ]
    assert "vp-code" in parts[0].body and parts[0].outputs == ()
    assert '<pre tabindex="0">' in parts[0].body


def test_richest_mime_type_of_an_output_is_shown() -> None:
    picture = {"image/png": "iVBORw0\n", "text/plain": "a plot"}
    assert parts_of(new_output("display_data", data=picture)) == (
        Output("image", "data:image/png;base64,iVBORw0", "a plot"),
    )
    table = {"text/html": "<b>1</b>", "text/plain": "1"}
    assert parts_of(new_output("display_data", data=table)) == (Output("own", "<b>1</b>"),)
    assert parts_of(new_output("display_data", data={"text/plain": "1"})) == (Output("text", "1"),)
    assert parts_of(new_output("display_data", data={"text/plain": ""})) == ()


def test_printed_text_loses_colours_and_keeps_its_stream() -> None:
    assert parts_of(new_output("stream", name="stdout", text="\x1b[31mred\x1b[0m\n")) == (
        Output("text", "red", "stdout"),
    )


def test_record_is_rendered_once() -> None:
    (part,) = build_page(new_notebook(cells=[cell("x", figure())]), None).parts
    assert isinstance(part, PagePart) and len(part.outputs) == 1 and "<svg" in part.outputs[0].body
