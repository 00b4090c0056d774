"""Normalisation removes differences between executions and keeps visible content."""

from __future__ import annotations

import copy

import nbformat
from nbformat import NotebookNode, writes
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tests.report.html.toy_notebook import executed
from virtperf.report.html.notebooks import normalise, serialize
from virtperf.report.records import MIME


def run(time: str, number: str) -> NotebookNode:
    """A notebook as executed by papermill at some time."""
    cell = new_code_cell(
        "x = 1",
        metadata={
            "tags": ["injected-parameters"],
            "execution": {"iopub.execute_input": time},
            "papermill": {"start_time": time},
        },
        outputs=[
            new_output("stream", name="stdout", text="kept\n"),
            new_output("stream", name="stderr", text=f"/tmp/{number}/x.py: warning\n"),
        ],
        execution_count=1,
    )
    cell["id"] = number
    metadata = {
        "papermill": {"output_path": f"/tmp/{number}", "start_time": time},
        "kernelspec": {"name": "other", "display_name": f"env {number}", "language": "python"},
        "language_info": {
            "name": "python",
            "version": f"3.11.{number[0]}",
            "mimetype": "text/x-python",
        },
    }
    return new_notebook(cells=[cell], metadata=metadata)


def test_two_executions_become_equal() -> None:
    one, two = run("10:00", "1abc"), run("11:00", "2def")
    assert writes(one) != writes(two)
    assert writes(normalise(one)) == writes(normalise(two))


def test_outputs_and_tags_are_kept() -> None:
    clean = normalise(run("10:00", "1abc"))
    assert clean.cells[0].metadata.tags == ["injected-parameters"]
    assert [o.text for o in clean.cells[0].outputs] == ["kept\n"]
    assert clean.metadata.kernelspec.name == "python3"


def test_normalisation_is_idempotent_and_does_not_modify_its_argument(
    notebook: NotebookNode,
) -> None:
    before = copy.deepcopy(notebook)
    clean = normalise(notebook)
    assert notebook == before
    assert normalise(clean) == clean


def test_file_has_one_record_per_line_and_round_trips() -> None:
    notebook = normalise(executed())
    text = serialize(notebook)
    lines = [line for line in text.splitlines() if MIME in line]
    assert len(lines) == sum(
        MIME in o.get("data", {}) for c in notebook.cells for o in c.get("outputs", ())
    )
    assert all(line.rstrip(",").endswith("}") for line in lines)
    assert nbformat.reads(text, as_version=4) == nbformat.reads(
        nbformat.writes(notebook), as_version=4
    )
