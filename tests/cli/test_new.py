"""virtperf new study, then every stage that computes: a study without any run goes through, whatever it leaves out."""

from __future__ import annotations

import numpy as np
import pytest

from tests.new_study.conftest import layout as layout
from virtperf.core.stage_tables import POINTS, VERDICTS
from virtperf.exhibits.book import Book

STUDY = "my-study"
COMPUTED = ("reconstruct", "ingest", "summarize", "judge")


@pytest.fixture
def new(run, layout):
    def call(*options: str):
        return run("--root", str(layout.root), *options)

    call("new", "study", STUDY)
    return call


def shown(layout) -> str:
    """What the registers of a report say, without starting a kernel."""
    book = Book(STUDY, layout.root / "data")
    texts = [book.summary(), book.contradictions(), book.assumptions(), book.errata(), book.quality(), book.claims()]
    texts += [book.figure(e.id) for e in book.study.exhibits if e.series]
    return "\n".join(str(part) for part in texts)


def test_it_says_what_it_wrote_and_what_comes_next(run, layout):
    text = run("--root", str(layout.root), "new", "study", STUDY, "--title", "T").output
    lines = text.splitlines()
    assert lines[:6] == [
        f"data/published/{STUDY}/study.yaml", f"data/published/{STUDY}/claims.yaml",
        f"data/published/{STUDY}/tables/table-1.csv", f"data/measured/{STUDY}/README.md", f"notebooks/{STUDY}.ipynb",
        f"pipelines/{STUDY}/dvc.yaml",
    ]  # fmt: skip
    assert f"virtperf check {STUDY}" in lines[-1]


def test_every_stage_runs_for_a_study_without_runs(new, layout):
    for stage in COMPUTED:
        new(stage, STUDY)
    points = POINTS.read(layout.reconstructed(STUDY) / POINTS.file)
    assert points.loc[points["x"] == 1, "low"].tolist() == [100, 0]
    assert np.isinf(points["high"]).sum() == 5  # nothing sets an upper limit beside the reference point
    assert not (layout.reconstructed(STUDY) / "runs").exists()
    verdicts = VERDICTS.read(layout.verdicts(STUDY) / VERDICTS.file)
    assert verdicts["measured_verdict"].tolist() == ["no measurement"]
    assert "0 runs read" in shown(layout) or "runs read" in shown(layout)


@pytest.mark.parametrize("missing", ["claims", "figures", "exhibits and claims"])
def test_stages_run_with_next_to_nothing(new, layout, missing):
    folder = layout.published(STUDY)
    study, claims = (folder / "study.yaml").read_text(), folder / "claims.yaml"
    if "claims" in missing:
        claims.write_text(f"study: {STUDY}\nclaims: []\nnot_encoded: []\n")
    if missing == "figures":
        (folder / "study.yaml").write_text(study[: study.index("  - id: figure-1")])
        claims.write_text(claims.read_text().replace("about: [figure-1]", "about: [table-1]"))
    if missing.startswith("exhibits"):
        (folder / "study.yaml").write_text(study[: study.index("exhibits:")] + "exhibits: []\n")
    for stage in COMPUTED:
        new(stage, STUDY)
    assert shown(layout)


def test_an_id_that_is_none_is_one_line(run, layout):
    said = run("--root", str(layout.root), "new", "study", "My Study", status=1).output
    assert said.startswith("Error: 'My Study' can't be the id of a study")
    assert not (layout.root / "notebooks").exists()
