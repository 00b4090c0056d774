"""A notebook over the toy study, as source and as if executed (outputs made here, without a kernel)."""

from __future__ import annotations

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tests.exhibits.toy import HOSTILE
from virtperf.exhibits.book import Book
from virtperf.exhibits.display import Shown

INTRODUCTION = f"""# A toy study

What {HOSTILE} says, in `code` and in **words**; see [the source](https://example.org/paper).

<script>alert("markdown")</script>
"""


def cell(source: str, shown: Shown) -> NotebookNode:
    """A code cell with an exhibit as its output."""
    return new_code_cell(
        source,
        execution_count=1,
        outputs=[new_output("execute_result", data=shown._repr_mimebundle_(), execution_count=1)],
    )


def executed(book: Book) -> NotebookNode:
    """Every kind of exhibit and of output."""
    cells = [
        new_markdown_cell(INTRODUCTION),
        new_code_cell('data = "."\nlevel = 0.95', metadata={"tags": ["parameters"]}, execution_count=1),
        cell("book.summary()", book.summary()),
        new_markdown_cell("## Setup\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"),
        cell('book.table("table-1")', book.table("table-1")),
        cell('book.diagram("figure-1")', book.diagram("figure-1")),
        new_markdown_cell("## Results\n\n### Figure 2\n"),
        cell('# Throughput over guests\nbook.figure("figure-2")', book.figure("figure-2")),
        cell('book.claims("figure-2")', book.claims("figure-2")),
        new_markdown_cell("### Figure 3. Utilization\n"),
        cell('book.figure("figure-3")', book.figure("figure-3")),
        cell('book.claims("figure-3")', book.claims("figure-3")),
        new_markdown_cell("### Figure 4. Memory\n"),
        cell('book.figure("figure-4")', book.figure("figure-4")),
        new_markdown_cell("## Registers\n\n### Contradictions\n"),
        cell("book.contradictions()", book.contradictions()),
        cell("book.assumptions()", book.assumptions()),
        cell("book.errata()", book.errata()),
        cell("book.quality()", book.quality()),
        new_code_cell(
            "print('x')",
            execution_count=2,
            outputs=[new_output("stream", name="stdout", text=f"{HOSTILE} \x1b[31mred\x1b[0m\n")],
        ),
    ]
    for position, made in enumerate(cells):
        made["id"] = f"cell-{position}"
    return new_notebook(
        cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "any", "language": "python"}}
    )
