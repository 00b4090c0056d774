"""What changed since the pipeline ended, told without asking DVC."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from virtperf.pipeline.state import KEPT, keep, kept, state


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in (
        "data/published/a/study.yaml",
        "data/runs/a/means.parquet",
        "pipelines/a/dvc.lock",
        ".cache/x",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def test_nothing_changed(root):
    assert kept(root) is None
    keep(root, state(root))
    assert kept(root) == state(root)
    (root / ".cache" / "x").write_text("hidden folders hold neither inputs nor results")
    assert kept(root) == state(root)


@pytest.mark.parametrize(
    "path", ["data/published/a/study.yaml", "data/runs/a/means.parquet", "pipelines/a/dvc.lock"]
)
@pytest.mark.parametrize("change", ["content", "time", "name", "gone"])
def test_every_change_is_noticed(root, path, change):
    keep(root, state(root))
    match change:
        case "content":
            (root / path).write_text("another")
        case "time":
            os.utime(root / path, ns=(1, 1))
        case "name":
            (root / path).rename((root / path).with_name("other"))
        case "gone":
            (root / path).unlink()
    assert kept(root) != state(root)


def test_links_are_followed_once(root, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "log.txt").write_text("1")
    (root / "data" / "measured").symlink_to(elsewhere)
    (root / "data" / "log.txt").symlink_to(elsewhere / "log.txt")
    (elsewhere / "circle").symlink_to(root / "data")
    (root / "data" / "nowhere").symlink_to(root / "missing")
    keep(root, state(root))
    assert kept(root) == state(root)
    (elsewhere / "log.txt").write_text("another")
    assert kept(root) != state(root)


def test_what_people_write_while_the_pipeline_runs_is_noticed(root):
    before = state(root)
    (root / "data" / "runs" / "a" / "means.parquet").write_text("made anew")
    (root / "data" / "published" / "a" / "study.yaml").write_text("edited meanwhile")
    keep(root, before)
    assert kept(root) != state(root)


def test_a_broken_file_is_none(root):
    (root / KEPT).parent.mkdir(parents=True)
    for text in ("", "{}", "[1]", '{"written": "a"'):
        (root / KEPT).write_text(text)
        assert kept(root) is None


def test_dvc_is_not_asked_where_nothing_changed(done, pipeline):
    pipeline(done)  # its stages write where those of studies do not
    config = (done / ".dvc" / "config").read_text()
    (done / ".dvc" / "config").write_text("[broken")  # DVC would say so
    assert pipeline(done) == ""
    (done / "in" / "a.txt").touch()
    pipeline(done, status=1)
    (done / ".dvc" / "config").write_text(config)
    assert pipeline(done) == ""
