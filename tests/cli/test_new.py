"""`virtperf new study`, then every stage: a study without runs passes, with optional files missing."""

from __future__ import annotations

import ast
import json
import subprocess
import sys

import numpy as np
import pytest
import yaml

from tests.study.new.conftest import layout as layout
from virtperf.core.params import load_parameters
from virtperf.core.stage_tables import POINTS, VERDICTS
from virtperf.study.definition import load_study
from virtperf.study.new.notebook import notebook_text
from virtperf.study.new.write import write_study

STUDY = "my-study"
COMPUTED = ("reconstruct", "runs")


@pytest.fixture
def new(run, layout):
    def call(*options: str):
        return run("--root", str(layout.root), *options)

    call("new", "study", STUDY)
    return call


def notebook_outputs(layout) -> str:
    """Outputs of the generated notebook, its cells run without a kernel."""
    cells = json.loads(layout.notebook(STUDY).read_text())["cells"]
    names: dict[str, object] = {}
    texts = []
    for source in ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]:
        *lines, last = ast.parse(source).body
        exec(
            ast.unparse(ast.Module(lines, [])).replace(
                "data = ''", f"data = {str(layout.root / 'data')!r}"
            ),
            names,
        )
        if isinstance(last, ast.Expr):
            texts.append(repr(eval(ast.unparse(last), names)))
        else:
            exec(ast.unparse(last), names)
    return "\n".join(texts)


def test_lists_written_files_and_next_steps(run, layout):
    text = run("--root", str(layout.root), "new", "study", STUDY, "--title", "T").output
    lines = text.splitlines()
    assert lines[:6] == [
        f"data/published/{STUDY}/study.yaml",
        f"data/published/{STUDY}/claims.yaml",
        f"data/published/{STUDY}/tables/table-1.csv",
        f"data/measured/{STUDY}/README.md",
        f"notebooks/{STUDY}.ipynb",
        "params.yaml",
    ]
    assert f"virtperf check {STUDY}" in lines[-1]


def test_every_stage_succeeds_for_a_study_without_runs(new, layout):
    for stage in COMPUTED:
        new(stage, STUDY)
    points = POINTS.read(layout.reconstructed(STUDY) / POINTS.file)
    assert points.loc[points["x"] == 1, "low"].tolist() == [100, 0]
    assert np.isinf(points["high"]).sum() == 5  # only the reference point has an upper limit
    assert not (layout.reconstructed(STUDY) / "runs").exists()
    verdicts = VERDICTS.read(layout.verdicts(STUDY) / VERDICTS.file)
    assert verdicts["measured_verdict"].tolist() == ["no measurement"]
    assert "No measured run exists." in notebook_outputs(layout)


def test_published_table_becomes_runs_that_judge_claims(run, layout, tmp_path):
    def call(*options: str):
        return run("--root", str(layout.root), *options)

    call("new", "study", STUDY, "--public-data")
    rows = [f"{system},{n},rate,{10 * n}\n" for system in "ab" for n in (1, 2, 4)]
    table = "system,guests,metric,result\n" + "".join(rows).replace("rate", "throughput")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "rates.csv").write_text(table)
    script = layout.root / "testbeds" / STUDY / "import_runs.py"
    command = [sys.executable, "-S", str(script), str(tmp_path / "tables")]
    made = [*command, str(layout.measured(STUDY))]
    for folder in (tmp_path / "missing", tmp_path):
        empty = [*made[:3], str(folder), made[4]]
        refused = subprocess.run(empty, capture_output=True, text=True)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr.startswith(f"{folder}: no table NAME.csv in this folder")
    assert subprocess.run(made, capture_output=True, text=True).stdout == "6 runs\n"
    assert call("check", STUDY).output.startswith("no problems in 1 study, 6 measured runs")
    for stage in COMPUTED:
        call(stage, STUDY)
    verdicts = VERDICTS.read(layout.verdicts(STUDY) / VERDICTS.file)
    assert verdicts["measured_verdict"].tolist() == ["value agrees"]
    again = subprocess.run(made, capture_output=True, text=True)
    assert again.returncode == 1
    assert "a-1-r1/rates.csv already exists: remove the run folders" in again.stderr


TABLE_HEAD = "system,guests,metric,result"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "no table NAME.csv"),
        ("", "rates.csv line 1: no column metric or result; found"),
        (
            "system;guests;metric;result\n",
            "line 1: no column metric or result; found system;guests",
        ),
        (
            f"{TABLE_HEAD}\na,1,rate,5\nb,1,rate\n",
            "rates.csv line 3: 3 cells; expected system, guests",
        ),
        (f"{TABLE_HEAD}\na,1,rate,5,6\n", "rates.csv line 2: 5 cells; expected system, guests"),
    ],
)
def test_damaged_published_table_is_refused(layout, tmp_path, text, problem):
    write_study(layout, "artifact", artifact=True)
    (tmp_path / "tables").mkdir()
    if text is not None:
        (tmp_path / "tables" / "rates.csv").write_text(text)
    script = layout.root / "testbeds" / "artifact" / "import_runs.py"
    command = [sys.executable, "-S", str(script), str(tmp_path / "tables"), str(tmp_path / "runs")]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode == 1 and problem in refused.stderr


def test_published_table_is_copied_unchanged(layout, tmp_path):
    write_study(layout, "artifact", artifact=True)
    (tmp_path / "tables").mkdir()
    table = f"\ufeff{TABLE_HEAD}\r\na,1.5,rate,5\r\n".encode()
    (tmp_path / "tables" / "rates.csv").write_bytes(table)
    script = layout.root / "testbeds" / "artifact" / "import_runs.py"
    command = [sys.executable, "-S", str(script), str(tmp_path / "tables"), str(tmp_path / "runs")]
    subprocess.run(command, check=True, capture_output=True)
    run = tmp_path / "runs" / "a-1.5-r1"
    assert (run / "rates.csv").read_bytes() == table
    assert yaml.safe_load((run / "run.yaml").read_text())["factors"] == {
        "system": "a",
        "guests": 1.5,
    }


@pytest.mark.parametrize("missing", ["claims", "figures", "exhibits and claims"])
def test_stages_succeed_with_optional_files_missing(new, layout, missing):
    folder = layout.published(STUDY)
    study, claims = (folder / "study.yaml").read_text(), folder / "claims.yaml"
    if "claims" in missing:
        claims.write_text(f"study: {STUDY}\nclaims: []\nnot_encoded: []\n")
    if missing == "figures":
        (folder / "study.yaml").write_text(study[: study.index("  - id: figure-1")])
        claims.write_text(claims.read_text().replace("about: [figure-1]", "about: [table-1]"))
    if missing.startswith("exhibits"):
        (folder / "study.yaml").write_text(study[: study.index("exhibits:")] + "exhibits: []\n")
    layout.notebook(STUDY).write_text(
        notebook_text(load_study(folder), load_parameters(layout.parameters))
    )
    for stage in COMPUTED:
        new(stage, STUDY)
    assert notebook_outputs(layout)


def test_invalid_id_is_a_one_line_error(run, layout):
    output = run("--root", str(layout.root), "new", "study", "My Study", status=1).output
    assert output.startswith("Error: invalid study id 'My Study'")
    assert not (layout.root / "notebooks").exists()
