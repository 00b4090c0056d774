"""Notebook template of a new study: findings, exhibits, set-up, appendix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nbformat import NotebookNode, reads, writes
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from virtperf.core.params import Parameters
from virtperf.study.definition import Study

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def notebook_text(study: Study, parameters: Parameters) -> str:
    """Generate a notebook without outputs; deterministic for a study and parameters."""
    cells = list((_measured if study.kind == "measured" else _paper)(study, parameters))
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number:03d}"
    return writes(new_notebook(cells=cells, metadata=METADATA)) + "\n"


def insert_exhibits(text: str, exhibits: Sequence[str], shown: Sequence[bool]) -> str:
    """Insert a cell for each exhibit after the last cell that shows some, else at the end.

    `shown`: for each cell, whether it shows an exhibit.
    """
    notebook = reads(text, as_version=4)
    at = max((place for place, shows in enumerate(shown, 1) if shows), default=len(shown))
    cells = [
        new_code_cell(f'study.exhibit("{exhibit}", heading=True)', id=f"exhibit-{exhibit}"[:64])
        for exhibit in exhibits
    ]
    notebook.cells[at:at] = cells
    return writes(notebook) + "\n"


def _paper(study: Study, parameters: Parameters) -> Iterator[NotebookNode]:
    yield new_markdown_cell(
        f"# {study.title}\n\nEXAMPLE, replace this text: what the paper is about."
    )
    yield from _begin(study, parameters)
    yield from _parts(("What was found", "summary()"))
    yield new_markdown_cell("## Results")
    yield new_code_cell(
        "# All of study.yaml in its order. For text between them, one cell each:\n"
        '# study.exhibit("figure-1", heading=True)\n'
        "study.exhibits()"
    )
    yield from _parts(("How it was measured", "setup()"))
    yield new_code_cell("study.appendix()")


def _measured(study: Study, parameters: Parameters) -> Iterator[NotebookNode]:
    """Cells of a measured study: for each figure, its runs as a data frame and the exhibit."""
    yield from _begin(study, parameters)
    yield from _parts(("What was found", "summary()"), ("Hypotheses", "hypotheses()"))
    yield new_markdown_cell("## Results")
    for exhibit in study.exhibits:
        yield new_code_cell(
            f'runs = study.runs("{exhibit.id}")  # data frame, one row per run\n'
            f'study.exhibit("{exhibit.id}", heading=True)'
        )
    yield from _parts(("How it was measured", "setup()"), ("Data quality", "quality()"))


def _begin(study: Study, parameters: Parameters) -> Iterator[NotebookNode]:
    report = parameters.report
    values = [
        'data = ""  # the repository\'s data folder; empty: searched in the parent folders',
        f"level = {parameters.level!r}  # confidence level of every interval",
        f"seed = {parameters.seed!r}  # seed of all random numbers",
        f"assumptions = {report.assumptions!r}  # False: what a paper's text allows without our assumptions",
        f"show_examples = {report.show_examples!r}  # True: draw made-up example runs too, with their own marker",
    ]
    yield new_code_cell("\n".join(values), metadata={"tags": ["parameters"]})
    yield new_code_cell(
        "import virtperf as vp\n\n"
        f'study = vp.load_study("{study.id}", data, level=level, seed=seed, assumptions=assumptions, '
        "show_examples=show_examples)"
    )


def _parts(*parts: tuple[str, str]) -> Iterator[NotebookNode]:
    for title, method in parts:
        yield new_markdown_cell(f"## {title}")
        yield new_code_cell(f"study.{method}")
