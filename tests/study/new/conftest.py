"""Fixture: a repository with the shared files only."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from virtperf.core.paths import Layout


@pytest.fixture
def layout(tmp_path: Path, root: Path) -> Layout:
    """A repository without any study."""
    (tmp_path / "data" / "published").mkdir(parents=True)
    shutil.copy(root / "data" / "readings.yaml", tmp_path / "data")
    text = (root / "params.yaml").read_text().split("\nstudies:")[0]
    (tmp_path / "params.yaml").write_text(f"{text}\nstudies:\n  papers: []\n  measured: []\n")
    (tmp_path / "src" / "rawperf").mkdir(parents=True)
    shutil.copy(root / "src" / "rawperf" / "metrics.yaml", tmp_path / "src" / "rawperf")
    (tmp_path / "dvc.yaml").write_text("stages:\n  site:\n    cmd: virtperf site\n")
    return Layout(tmp_path)
