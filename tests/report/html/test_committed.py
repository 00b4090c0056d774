"""Committed notebooks contain the outputs of the execution only."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from rawperf.core.errors import RawperfError
from virtperf.report.html.notebooks import keep_outputs


def notebook(*sources: str, output: str | None = None):
    cells = [new_code_cell(source, id=f"c{i}") for i, source in enumerate(sources)]
    for cell in cells:
        if output is not None:
            cell.outputs = [new_output("execute_result", {"text/plain": output}, execution_count=9)]
            cell.metadata["papermill"] = {"duration": 1.5}
    return new_notebook(cells=cells)


def test_outputs_are_kept_without_the_injected_cell(tmp_path):
    own, done = tmp_path / "own.ipynb", tmp_path / "done.ipynb"
    nbformat.write(notebook("a = 1", "a"), own)
    executed = notebook("a = 1", "a = 2", "a", output="2")
    executed.cells[1].metadata["tags"] = ["injected-parameters"]
    nbformat.write(executed, done)
    keep_outputs(done, own)
    kept = nbformat.read(own, as_version=4)
    assert [cell.source for cell in kept.cells] == ["a = 1", "a"]
    assert [cell.outputs[0]["data"]["text/plain"] for cell in kept.cells] == ["2", "2"]
    assert [cell.execution_count for cell in kept.cells] == [1, 2]
    assert "papermill" not in own.read_text()


def test_notebook_edited_after_execution_is_rejected(tmp_path):
    own, done = tmp_path / "own.ipynb", tmp_path / "done.ipynb"
    nbformat.write(notebook("a = 1"), own)
    nbformat.write(notebook("a = 2", output="2"), done)
    with pytest.raises(RawperfError, match="edited after its execution"):
        keep_outputs(done, own)
