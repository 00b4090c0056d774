"""A source archive has no Git repository: the pipeline runs in it all the same, with the same results."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_repository import tracked
from virtperf.core.paths import Layout

STUDIES = ("public-overcommit", "xen-2026")
"""A paper and a measured study, both small."""


def archived(root: Path) -> list[Path]:
    """Files of a source archive, without the measured runs of other studies."""
    measured = root / "data" / "measured"
    kept = [measured / study for study in STUDIES]
    return [
        path
        for path in tracked(root)
        if not path.is_relative_to(measured) or any(path.is_relative_to(k) for k in kept)
    ]


@pytest.mark.slow
def test_pipeline_has_the_committed_results_without_git(root: Path, tmp_path: Path) -> None:
    for path in archived(root):
        place = tmp_path / path.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    before = (tmp_path / "dvc.lock").read_text().splitlines()
    (tmp_path / "git").mkdir()
    (tmp_path / "git" / "git").write_text("#!/bin/sh\nexit 9\n")
    (tmp_path / "git" / "git").chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-m", "virtperf.cli", "pipeline", *STUDIES],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path / 'git'}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    # the lock has the hashes of all results
    written = (tmp_path / "dvc.lock").read_text().splitlines()
    assert [line for line in written if line not in before] == [] and len(written) == len(before)
    assert all(Layout(tmp_path).report(study).is_file() for study in STUDIES)
