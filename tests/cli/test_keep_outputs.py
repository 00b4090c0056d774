"""`virtperf keep-outputs` of notebooks that stages execute."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tests.cli.conftest import Run
from tests.report import toy


@pytest.mark.parametrize("name", ["toy", "synthesis"])
def test_executed_notebook_is_unchanged(run: Run, tmp_path: Path, name: str) -> None:
    toy.build(tmp_path)
    for folder, outputs in (
        ("notebooks", []),
        ("build", [new_output("stream", text="of the stage")]),
    ):
        cell = new_code_cell("1 / 0", id="c0", outputs=outputs)
        (tmp_path / folder).mkdir(exist_ok=True)
        nbformat.write(new_notebook(cells=[cell]), tmp_path / folder / f"{name}.ipynb")
    before = (tmp_path / "build" / f"{name}.ipynb").read_bytes()
    run("keep-outputs", name)
    assert (tmp_path / "build" / f"{name}.ipynb").read_bytes() == before
    assert "of the stage" in (tmp_path / "notebooks" / f"{name}.ipynb").read_text()


def test_notebook_that_was_not_executed_names_the_command(run: Run, tmp_path: Path) -> None:
    toy.build(tmp_path)
    output = run("keep-outputs", "toy", status=1).output
    assert (
        "build/toy.ipynb: the notebook was not executed yet. Run `virtperf pipeline toy`" in output
    )
