"""A repository of studies with nothing in it but what all studies share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from virtperf.core.paths import Layout

PIPELINE = """\
# One pipeline for every study.
stages:
  reconstruct:
    foreach: &studies
      - first   # the oldest one
    do:
      cmd: virtperf reconstruct ${item}
  ingest:
    foreach: *studies
    do:
      cmd: virtperf ingest ${item}
  # the site is one for all
  site:
    cmd: virtperf site
"""


@pytest.fixture
def layout(tmp_path: Path, root: Path) -> Layout:
    """A repository with a study `first` in its pipeline only."""
    (tmp_path / "data" / "published").mkdir(parents=True)
    shutil.copy(root / "data" / "metrics.yaml", tmp_path / "data")
    shutil.copy(root / "params.yaml", tmp_path)
    (tmp_path / "dvc.yaml").write_text(PIPELINE)
    return Layout(tmp_path)
