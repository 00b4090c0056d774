"""A replay against what is stored: exactly what changed is named."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
import yaml

from rawperf.core.errors import VirtperfError
from tests.verify.conftest import OUTS, record
from virtperf.core.paths import Layout
from virtperf.core.stage_tables import POINTS
from virtperf.report.records import MIME, unpacked
from virtperf.verify.compare import DEFAULTS
from virtperf.verify.replay import Place, copy_inputs, own_source, run_stages
from virtperf.verify.run import diff

POINTS_FILE = Path("data", "reconstructed", "toy", POINTS.file)


def edit_text(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def move_a_point(root: Path, by: float) -> pd.Series:
    table = POINTS.read(root / POINTS_FILE)
    row = table.index[table["low"] > 0][0]
    table.loc[row, "low"] *= 1 + by
    POINTS.write(table, root / POINTS_FILE)
    return table.loc[row]


def edit_figure(path: Path, change) -> None:
    """Change the outputs of the first figure of a notebook that is an exhibit (the summary repeats one)."""
    document = json.loads(path.read_text())
    outputs = [
        o
        for c in document["cells"]
        if c["cell_type"] == "code"
        for o in c["outputs"]
        if MIME in o.get("data", {})
    ]
    for output in outputs:
        output["data"][MIME] = unpacked(output["data"][MIME])
    drawn = (o["data"] for o in outputs if o["data"][MIME].get("drawing"))
    change(next(data for data in drawn if data[MIME]["id"] != "summary"))
    path.write_text(json.dumps(document))


def test_nothing_changed_is_identical(outcome) -> None:
    found = outcome()
    assert found.agrees and not found.findings and not found.affected("toy")
    assert set(found.counts("toy")) == {"identical"} and found.counts("toy")["identical"] > 100
    assert {f.status for f in found.files} == {"identical"}
    assert {"reports/toy.html", "build/toy.ipynb", "metrics/toy.json"} <= {
        f.path for f in found.files
    }
    assert json.dumps(found.document("verify")) == json.dumps(outcome().document("verify"))


@pytest.mark.parametrize(
    "page", ["reports/toy.html", "reports/quality-toy.html", "reports/trace-toy.html"]
)
def test_an_edited_page_is_named(repository, outcome, page) -> None:
    edit_text(repository / page, "A toy", "Another toy")
    found = outcome()
    (file,) = [f for f in found.files if not f.agrees]
    assert (
        not found.agrees
        and file.path == page
        and file.status == "moved"
        and file.where.startswith("line ")
    )
    (finding,) = found.findings
    assert (
        finding.path == "pipelines/toy/dvc.lock"
        and f"{page} is not what is recorded of it (md5" in finding.problem
    )
    assert not found.affected("toy")


@pytest.mark.parametrize("fact", ["size", "nfiles", "md5"])
def test_a_changed_record_in_dvc_lock_is_named(repository, outcome, fact) -> None:
    path = repository / "pipelines" / "toy" / "dvc.lock"
    lock = yaml.safe_load(path.read_text())
    (out,) = lock["stages"]["reconstruct"]["outs"]
    out[fact] = out[fact] + 1 if fact != "md5" else "0.dir"
    path.write_text(yaml.safe_dump(lock, sort_keys=False))
    (finding,) = outcome().findings
    assert (
        f"data/reconstructed/toy is not what is recorded of it ({fact}: recorded {out[fact]}"
        in finding.problem
    )


def test_the_size_of_an_input_is_compared_too_and_an_input_that_changed_is_only_out_of_date(
    repository, outcome
) -> None:
    (repository / "data" / "measured" / "toy" / "README.md").write_text("other")
    assert outcome().findings == []
    record(repository)
    path = repository / "pipelines" / "toy" / "dvc.lock"
    lock = yaml.safe_load(path.read_text())
    lock["stages"]["judge"]["deps"][0]["size"] += 1
    path.write_text(yaml.safe_dump(lock, sort_keys=False))
    (finding,) = outcome().findings
    assert "(size: recorded " in finding.problem


def test_one_number_that_moved_is_named_with_its_row_and_its_shift(repository, outcome) -> None:
    row = move_a_point(repository, 0.01)
    found = outcome()
    assert not found.agrees and found.affected("toy") == {"points": 1}
    (change,) = [c for c in found.changes["toy"] if not c.agrees]
    assert (
        change.item.label.startswith(f"{row['exhibit']}, {row['series']}, {row['x']}")
        and change.item.field == "low"
    )
    assert [f.problem[:22] for f in found.findings] == ["data/reconstructed/toy"]


def test_noise_is_within_tolerance(repository, outcome) -> None:
    move_a_point(repository, 1e-6)  # one unit of the last of seven digits
    record(repository)
    found = outcome()
    assert found.agrees and found.counts("toy")["within tolerance"] == 1
    assert [f.path for f in found.files if f.status == "within tolerance"] == [
        POINTS_FILE.as_posix()
    ]


def test_a_drawing_that_was_exchanged_is_named(repository, outcome) -> None:
    edit_figure(
        repository / "build" / "toy.ipynb",
        lambda data: data.update({"image/svg+xml": "<svg><path d='M 0 0'/></svg>"}),
    )
    record(repository)
    found = outcome()
    assert found.affected("toy") == {"figure-1": 1} and not found.agrees


def test_a_number_of_an_exhibit_is_named(repository, outcome) -> None:
    def change(data) -> None:
        data[MIME]["caption"] = "Another caption."

    edit_figure(repository / "build" / "toy.ipynb", change)
    record(repository)
    found = outcome()
    assert found.affected("toy") == {"figure-1": 1} and not found.agrees


def test_a_notebook_that_keeps_older_outputs_is_named(repository, outcome) -> None:
    edit_figure(
        repository / "notebooks" / "toy.ipynb",
        lambda data: data[MIME].update(caption="An older caption."),
    )
    (finding,) = outcome().findings
    assert finding.path == "notebooks/toy.ipynb" and "older outputs of figure-1" in finding.problem


def test_a_result_that_is_missing_is_named(repository, outcome) -> None:
    (repository / "reports" / "quality-toy.html").unlink()
    assert [(f.path, f.status) for f in outcome().files if not f.agrees] == [
        ("reports/quality-toy.html", "new")
    ]


def test_in_a_fresh_clone_the_outputs_that_notebooks_keep_are_the_other_side(
    repository, outcome
) -> None:
    for part in OUTS:
        shutil.rmtree(repository / part)
    found = outcome()
    assert found.agrees and found.counts("toy")["identical"] > 10 and not found.files
    edit_figure(
        repository / "notebooks" / "toy.ipynb",
        lambda data: data[MIME].update(caption="An older caption."),
    )
    assert not outcome().agrees


# ---- places


def test_no_result_is_copied_into_the_place_of_a_replay(stored, tmp_path) -> None:
    copy_inputs(stored, tmp_path / "clean", ["toy"])
    found = {
        p.relative_to(tmp_path / "clean").parts[:2]
        for p in (tmp_path / "clean").rglob("*")
        if p.is_file()
    }
    assert found == {
        ("data", "published"),
        ("data", "measured"),
        ("data", "metrics.yaml"),
        ("notebooks", "toy.ipynb"),
        ("params.yaml",),
        ("pipelines", "toy"),
    }


def test_a_failing_stage_is_named_with_its_reason(repository, tmp_path) -> None:
    edit_text(repository / "data" / "published" / "toy" / "study.yaml", "title:", "titel:")
    with pytest.raises(
        VirtperfError,
        match=r"the replay of here, toy failed.*virtperf reconstruct toy ended with: .*titel",
    ):
        run_stages(Place("here", repository, own_source()), "toy", lambda _: None)


def test_two_folders_of_results_are_compared_as_they_stand(repository, stored) -> None:
    move_a_point(repository, 0.01)
    found = diff(Layout(repository.parent), str(stored), str(repository), [], DEFAULTS)
    assert found.affected("toy") == {"points": 1} and (found.old.name, found.old.source) == (
        "folder stored",
        None,
    )
    with pytest.raises(VirtperfError, match="has a study 'none'"):
        diff(Layout(repository.parent), str(stored), str(stored), ["none"], DEFAULTS)
    (repository / "empty").mkdir()
    with pytest.raises(VirtperfError, match="holds no results"):
        diff(Layout(repository), str(repository / "empty"), str(stored), [], DEFAULTS)


def git(root: Path, *arguments: str) -> str:
    name = ("-c", "user.name=toy", "-c", "user.email=toy@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", "-C", str(root), *name, *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout


def test_a_revision_is_a_worktree_for_as_long_as_it_is_compared(
    repository, replays, monkeypatch
) -> None:
    git(repository, "init", "-q")
    git(
        repository,
        "add",
        "data/published",
        "data/measured",
        "data/metrics.yaml",
        "notebooks",
        "params.yaml",
        "*.yaml",
    )
    git(repository, "commit", "-q", "-m", "one")
    git(repository, "tag", "v1")
    seen = []
    monkeypatch.setattr(
        "virtperf.verify.replay.run_stages", lambda place, study, _: seen.append((place, study))
    )
    found = diff(Layout(repository), "v1", ".", [], DEFAULTS)
    names = [(place.name, study) for place, study in seen if study]
    assert sorted(names) == [("revision v1", "toy"), ("working tree", "toy")]
    assert found.old.commit == git(repository, "rev-parse", "v1").strip()
    (old,) = {place.root for place, _ in seen if place.name == "revision v1"}
    assert not old.exists() and len(git(repository, "worktree", "list").splitlines()) == 1


@pytest.mark.parametrize("name", ["v2", "--output=x", "HEAD:data"])
def test_an_unknown_revision_is_refused(repository, replays, name) -> None:
    git(repository, "init", "-q")
    with pytest.raises(VirtperfError, match="neither a revision nor a folder"):
        diff(Layout(repository), name, ".", [], DEFAULTS)
