"""`virtperf verify`: reruns a revision and compares bytes, with the location of differences."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from rawperf.core.errors import RawperfError
from virtperf.cli import main
from virtperf.core.paths import Layout
from virtperf.pipeline.verify import changed_cells, verify

STAGES = """\
stages:
  table:
    matrix: {study: "${studies.papers}"}
    cmd: python table.py
    deps: [in.csv, table.py]
    outs: ["data/reconstructed/${item.study}/points.parquet"]
  site:
    cmd: python -c "open('reports/index.html', 'w').write('same')"
    deps: [data/reconstructed]
    outs: [reports/index.html]
"""
TABLE = """\
import pathlib
from pyarrow import csv, parquet
out = pathlib.Path("data/reconstructed/a")
out.mkdir(parents=True, exist_ok=True)
parquet.write_table(csv.read_csv("in.csv"), out / "points.parquet")
"""


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=n", "-c", "user.email=n@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A committed repository with one study, one table, a run and its lock file."""
    root = tmp_path / "repository"
    for path, text in {
        "in.csv": "exhibit,x,low\nfigure-1,1,2.0\nfigure-1,2,3.0\n",
        "table.py": TABLE,
        "dvc.yaml": STAGES,
        "params.yaml": "studies: {papers: [a]}\n",
        "data/published/a/study.yaml": "study: a\n",
        "reports/.gitignore": "/index.html\n",
        ".gitignore": "/data/reconstructed\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    git(root, "init", "-q")
    subprocess.run([sys.executable, "-m", "dvc", "init", "-q"], cwd=root, check=True)
    run(root, "pipeline")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "all")
    return root


def run(root: Path, *arguments: str, status: int = 0) -> str:
    done = CliRunner().invoke(main, ["--root", str(root), *arguments])
    assert done.exit_code == status, done.output
    return done.output


def test_same_revision_is_identical_and_another_lists_differences(repository):
    output = run(repository, "verify")
    assert "2 results are identical to those of HEAD" in output and "differ" not in output
    trees = subprocess.run(
        ["git", "worktree", "list"], cwd=repository, check=True, capture_output=True, text=True
    )
    assert len(trees.stdout.splitlines()) == 1  # no leftover files

    (repository / "in.csv").write_text("exhibit,x,low\nfigure-1,1,2.0\nfigure-1,2,3.5\n")
    subprocess.run([sys.executable, "table.py"], cwd=repository, check=True)
    output = run(repository, "verify", "HEAD", status=1)
    assert "data/reconstructed/a/points.parquet" in output
    assert "exhibit figure-1, x 2: low 3.0 before, 3.5 now" in output
    assert "1 results are identical to those" in output and "; 1 differ" in output
    git(repository, "commit", "-qm", "an input without its lock file", "--", "in.csv")
    found = verify(Layout(repository), "HEAD", lambda event: None, jobs=1)
    assert "dvc.lock" in found.recorded and not found.differences


def test_unknown_revision_is_a_one_line_error(tmp_path):
    git(tmp_path, "init", "-q")
    with pytest.raises(RawperfError, match="git rev-parse failed"):
        verify(Layout(tmp_path), "no-such-branch", lambda event: None, jobs=1)


def test_table_differences_name_cells_rows_and_columns():
    old = pd.DataFrame({"name": ["a", "b"], "value": [1.0, float("nan")], "by": [["x"], ["y"]]})
    assert list(changed_cells(old, old.copy())) == []
    new = pd.DataFrame({"name": ["a", "c"], "value": [2.0, 3.0], "by": [["x", "z"], ["y"]]})
    assert list(changed_cells(old, new)) == [
        "1 row(s) removed, such as name b",
        "1 row(s) added, such as name c",
        "1 row(s) differ",
        "name a: value 1.0 before, 2.0 now",
        "name a: by ['x'] before, ['x', 'z'] now",
    ]
    assert list(changed_cells(old, old.rename(columns={"by": "of"}))) == ["columns: by, of"]
