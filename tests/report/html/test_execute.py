"""Executing notebooks: parameters arrive, errors name the cell, a failure leaves the old result."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from rawperf.core.errors import VirtperfError
from virtperf.report.html.execute import execute
from virtperf.report.html.notebooks import records_of

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


def test_parameters_arrive_and_nothing_of_the_machine_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    notebook = write(
        tmp_path / "in.ipynb", "import os\nprint(level, os.path.basename(os.getcwd()))"
    )
    before = dict(os.environ)
    one = execute(notebook, tmp_path / "a" / "out.ipynb", {"level": 0.9}).read_text()
    assert dict(os.environ) == before
    cells = nbformat.reads(one, as_version=4).cells
    assert cells[-1].outputs[0].text == f"0.9 {tmp_path.name}\n"
    assert str(tmp_path) not in one and "start_time" not in one
    assert execute(notebook, tmp_path / "b" / "other.ipynb", {"level": 0.9}).read_text() == one


def test_an_error_names_cell_line_and_exception_and_keeps_the_old_result(tmp_path: Path) -> None:
    out = tmp_path / "out.ipynb"
    out.write_text("old")
    notebook = write(tmp_path / "in.ipynb", "x = 1", "y = 2\nfor _ in range(2):\n    z = y / 0")
    with pytest.raises(
        VirtperfError,
        match=r"in\.ipynb: cell 3 fails at its line 3 \(z = y / 0\) with ZeroDivisionError",
    ):
        execute(notebook, out, {"level": 0.9})
    assert out.read_text() == "old"


def test_the_kernels_own_log_stays_off_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = "get_ipython().kernel.log.error('KeyboardInterrupt caught in kernel.')"
    execute(write(tmp_path / "in.ipynb", log), tmp_path / "out.ipynb", {"level": 0.9})
    assert "KeyboardInterrupt" not in capfd.readouterr().err


def test_an_unknown_parameter_is_refused_before_a_kernel_starts(tmp_path: Path) -> None:
    notebook = write(tmp_path / "in.ipynb", "open('started', 'w')")
    with pytest.raises(VirtperfError, match="takes no parameter 'levle'; expected one of level"):
        execute(notebook, tmp_path / "out.ipynb", {"levle": 0.9})
    assert not (tmp_path / "started").exists()


def test_what_is_no_notebook_is_said(tmp_path: Path) -> None:
    with pytest.raises(VirtperfError, match="missing"):
        execute(tmp_path / "none.ipynb", tmp_path / "out.ipynb", {})
    (tmp_path / "bad.ipynb").write_text("[]")
    with pytest.raises(VirtperfError, match="not a notebook"):
        execute(tmp_path / "bad.ipynb", tmp_path / "out.ipynb", {})


def test_plots_appear_below_their_cells_and_twice_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")  # under which a plot would vanish
    notebook = write(
        tmp_path / "in.ipynb", "import matplotlib.pyplot as plt\n_ = plt.plot([1, 2, level])"
    )
    one = execute(notebook, tmp_path / "a.ipynb", {"level": 0.9}).read_text()
    (output,) = nbformat.reads(one, as_version=4).cells[-1].outputs
    assert output.output_type == "display_data" and "image/png" in output.data
    assert execute(notebook, tmp_path / "b.ipynb", {"level": 0.9}).read_text() == one


def test_a_record_is_kept_as_it_was_shown(tmp_path: Path) -> None:
    source = (
        "from virtperf.report.records import Drawing, Record\nfrom virtperf.report.show import Shown\n"
        "drawing = Drawing(svg='<svg/>', description='d', digest='0')\n"
        "Shown(Record(kind='line', id='figure-1', study='toy', title='T', drawing=drawing))"
    )
    out = execute(write(tmp_path / "in.ipynb", source), tmp_path / "out.ipynb", {"level": 0.9})
    (record,) = records_of(out)
    assert (record.id, record.drawing.svg) == ("figure-1", "<svg/>")
    picture, words = nbformat.read(out, as_version=4).cells[-1].outputs
    assert (picture.data["image/svg+xml"], picture.data["text/plain"]) == (
        "<svg/>",
        "T",
    ) and picture.metadata["needs_background"] == "light"
    assert words.metadata["virtperf"] == "notebook" and "<svg" not in words.data["text/html"]
