"""Executing notebooks: parameters, errors with cell, old result kept after a failure."""

from __future__ import annotations

import os
from pathlib import Path

import matplotlib
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from rawperf.core.errors import RawperfError
from tests.records import read_records
from virtperf.report.html.notebooks import execute

pytestmark = pytest.mark.slow


def write(path: Path, *sources: str) -> Path:
    cells = [
        new_code_cell("level = 0.95", metadata={"tags": ["parameters"]}),
        *map(new_code_cell, sources),
    ]
    for position, cell in enumerate(cells):
        cell["id"] = f"cell-{position}"
    nbformat.write(new_notebook(cells=cells), path)
    return path


RECORD = (
    "from virtperf.report.records import Record\nfrom virtperf.report.loaded import ExhibitOutput\n"
    "picture = {'drawing': '<svg/>', 'description': 'd'}\n"
    "ExhibitOutput(Record(kind='line', id='figure-1', study='toy', title='T', **picture))"
)


def test_outputs_are_kept_without_machine_details(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parameters are injected; plot and record are outputs of their cells; reruns give equal bytes."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MPLCONFIGDIR", matplotlib.get_cachedir())  # has the list of fonts
    monkeypatch.setenv("MPLBACKEND", "agg")  # a backend that shows no plots
    notebook = write(
        tmp_path / "in.ipynb",
        "import os\nprint(level, os.path.basename(os.getcwd()))",
        "import matplotlib.pyplot as plt\n_ = plt.plot([1, 2, level])",
        RECORD,
    )
    before = dict(os.environ)
    out = execute(notebook, tmp_path / "a" / "out.ipynb", {"level": 0.9})
    assert dict(os.environ) == before
    one = out.read_text()
    *_, printed, plot, exhibit = nbformat.reads(one, as_version=4).cells
    assert printed.outputs[0].text == f"0.9 {tmp_path.name}\n"
    assert str(tmp_path) not in one and "start_time" not in one
    (output,) = plot.outputs
    assert output.output_type == "display_data" and "image/png" in output.data
    (record,) = read_records(out)
    assert (record.id, record.drawing) == ("figure-1", "<svg/>")
    picture, words = exhibit.outputs
    assert (picture.data["image/svg+xml"], picture.data["text/plain"]) == ("<svg/>", "T")
    assert picture.metadata["needs_background"] == "light"
    assert words.metadata["virtperf"] == "notebook" and "<svg" not in words.data["text/html"]
    assert execute(notebook, tmp_path / "b" / "other.ipynb", {"level": 0.9}).read_text() == one


def test_error_reports_cell_line_and_exception_and_keeps_the_old_result(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The kernel's own log is not printed."""
    out = tmp_path / "out.ipynb"
    out.write_text("old")
    log = "get_ipython().kernel.log.error('KeyboardInterrupt caught in kernel.')"
    notebook = write(tmp_path / "in.ipynb", log, "y = 2\nfor _ in range(2):\n    z = y / 0")
    with pytest.raises(
        RawperfError,
        match=r"in\.ipynb: cell 3 failed at line 3 \(z = y / 0\) with ZeroDivisionError",
    ):
        execute(notebook, out, {"level": 0.9})
    assert out.read_text() == "old"
    assert "KeyboardInterrupt" not in capfd.readouterr().err


def test_unknown_parameter_is_rejected_before_a_kernel_starts(tmp_path: Path) -> None:
    notebook = write(tmp_path / "in.ipynb", "open('started', 'w')")
    with pytest.raises(RawperfError, match="takes no parameter 'levle'; expected one of level"):
        execute(notebook, tmp_path / "out.ipynb", {"levle": 0.9})
    assert not (tmp_path / "started").exists()


def test_invalid_notebook_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RawperfError, match="missing"):
        execute(tmp_path / "none.ipynb", tmp_path / "out.ipynb", {})
    (tmp_path / "bad.ipynb").write_text("[]")
    with pytest.raises(RawperfError, match="not a notebook"):
        execute(tmp_path / "bad.ipynb", tmp_path / "out.ipynb", {})
