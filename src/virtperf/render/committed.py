"""Notebooks as they stand in git: the author's cells with the outputs of the last execution."""

from __future__ import annotations

from pathlib import Path

from nbformat import NotebookNode

from virtperf.core.errors import VirtperfError
from virtperf.core.files import write_atomically
from virtperf.render.normalise import normalise, read_notebook, written

LEFT_OUT = "nbval-ignore-output"
"""The tag of a cell whose outputs are neither kept nor compared; nbval's own."""


def left_out(cell: NotebookNode) -> bool:
    """Whether the outputs of a cell are not kept."""
    return LEFT_OUT in cell.metadata.get("tags", ())


def keep_outputs(executed: Path, notebook: Path) -> None:
    """Copy the outputs of an executed notebook into the notebook that it came from, cell by cell, without any metadata.

    `executed` has one injected cell of parameters. Cells with the tag `LEFT_OUT` keep no outputs: a large notebook
    stays small in git, and its report has them all.

    Raises
    ------
    VirtperfError
        When the cells differ: the notebook was edited since it was executed.
    """
    source, done = (read_notebook(path) for path in (notebook, executed))
    own = [cell for cell in done.cells if "injected-parameters" not in cell.metadata.get("tags", ())]
    if [cell.source for cell in own] != [cell.source for cell in source.cells]:
        raise VirtperfError(
            "the notebook was edited since it was executed", file=notebook, remedy="run `dvc repro`, then try again."
        )
    for cell, with_outputs in zip(source.cells, own, strict=True):
        if cell.cell_type == "code":
            cell.outputs = [] if left_out(cell) else with_outputs.outputs
            cell.execution_count = None
    for count, cell in enumerate((c for c in source.cells if c.cell_type == "code"), start=1):
        cell.execution_count = count
        for output in cell.outputs:
            if "execution_count" in output:
                output["execution_count"] = count
    write_atomically(notebook, written(normalise(source)))
