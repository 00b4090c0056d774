"""`virtperf new study`, then every stage: a study without runs passes, with optional files missing."""

from __future__ import annotations

import ast
import json

import numpy as np
import pytest

from tests.study.new.conftest import layout as layout
from virtperf.core.params import load_parameters
from virtperf.core.stage_tables import POINTS, VERDICTS
from virtperf.study.definition import load_study
from virtperf.study.new.notebook_template import notebook_text

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
    assert "We have no run of this paper's set-up." in notebook_outputs(layout)


TABLE = "system,guests,metric,result\n" + "".join(
    f"{system},{n},rate,{10 * n}\n" for system in "ab" for n in (1, 2, 4)
)
CLAIM = """claims:
  - {id: rises, kind: monotone, of: published_rate, over: guests, levels: [1, 2, 4], direction: nondecreasing,
     for_each: {system: [a, b]}, says: "The rate does not fall.", about: [figure-1], section: "1", ledger: c001}
"""


def test_published_table_becomes_runs_that_judge_claims(run, layout, tmp_path):
    def call(*options: str):
        return run("--root", str(layout.root), *options)

    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "rates.csv").write_text(TABLE)
    artifact = ("--artifact", str(tmp_path / "tables"))
    before = sorted(layout.root.rglob("*"))
    assert "Nothing was written" in call("new", "study", STUDY, *artifact, "--dry-run").output
    assert sorted(layout.root.rglob("*")) == before
    text = call("new", "study", STUDY, *artifact).output
    assert "6 runs, 1 quantity" in text and "do not commit the run folders" in text
    folder = layout.published(STUDY)
    claims, study = folder / "claims.yaml", folder / "study.yaml"
    claims.write_text(claims.read_text().replace("claims: []\n", CLAIM))
    study.write_text(study.read_text().replace("n_statements: 0", "n_statements: 1"))
    assert call("check", STUDY).output.startswith("no problems in 1 study, 6 measured runs")
    for stage in COMPUTED:
        call(stage, STUDY)
    verdicts = VERDICTS.read(layout.verdicts(STUDY) / VERDICTS.file)
    assert verdicts["measured_verdict"].tolist() == ["value agrees"]
    again = call("add", "artifact", STUDY, str(tmp_path / "tables")).output
    assert again.startswith(f"6 runs in data/measured/{STUDY}")
    assert notebook_outputs(layout)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--measured", "--artifact", "."], "--artifact is for studies of a paper"),
        (["--factor", "a=b"], "need --artifact"),
        (["--dry-run"], "need --artifact"),
        (["--artifact", ".", "--factor", "a"], "expected --factor OLD=NEW"),
    ],
)
def test_options_that_do_not_fit_are_refused(run, layout, options, problem):
    assert (
        problem in run("--root", str(layout.root), "new", "study", STUDY, *options, status=2).output
    )
    assert not layout.published(STUDY).exists()


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
