"""A repository with two studies whose stages only copy files, to test DVC itself."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from virtperf.cli import main

FIRST_RUN = "first-run.txt"
PROGRESS = re.compile(
    r"\[ *\d+ s\] |report: |\d+ stages ran, |everything is up to date, |To update the pages over "
)
STAGES = """\
stages:
  first:
    matrix: {study: "${studies.papers}"}
    cmd: python step.py in/${item.study}.txt out/${item.study}-1.txt
    deps: ["in/${item.study}.txt"]
    outs: ["out/${item.study}-1.txt"]
  second:
    matrix: {study: "${studies.papers}"}
    cmd: python step.py out/${item.study}-1.txt out/${item.study}-2.txt
    deps: ["out/${item.study}-1.txt"]
    outs: ["out/${item.study}-2.txt"]
"""
SITE = """\
  site:
    cmd: python step.py in/a.txt site.txt
    deps: [out]
    outs: [site.txt]
"""
COPY = """\
import os, pathlib, sys, time
time.sleep(float(os.environ.get("PAUSE", "0")))
source, target = map(pathlib.Path, sys.argv[1:])
if source.read_text() == "nothing":
    sys.exit()
if source.read_text() == "fail":
    sys.exit("the input says fail")
target.parent.mkdir(exist_ok=True)
target.write_text(source.read_text())
with open("ran.log", "a") as log:
    print(target.name, file=log)
"""


@pytest.fixture(scope="session")
def nothing_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Studies a and b and a shared stage, not run yet; tests copy it."""
    root = tmp_path_factory.mktemp("pipeline") / "repository"
    for study in ("a", "b"):
        for path, text in {
            f"in/{study}.txt": f"text of {study}",
            f"data/published/{study}/study.yaml": f"study: {study}\n",
        }.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
    (root / "dvc.yaml").write_text(STAGES + SITE)
    (root / "params.yaml").write_text("studies: {papers: [a, b]}\n")
    (root / "step.py").write_text(COPY)
    environment = {**os.environ, "DVC_NO_ANALYTICS": "1"}
    subprocess.run(
        [sys.executable, "-m", "dvc", "init", "--no-scm", "-q"],
        cwd=root,
        check=True,
        env=environment,
    )
    return root


def pipeline_output(root: Path, *arguments: str, status: int = 0) -> str:
    """Run `virtperf pipeline` in this process, check its status, and return its output."""
    done = CliRunner().invoke(main, ["--root", str(root), "pipeline", *arguments])
    assert done.exit_code == status, done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done.output


def unusual(output: str) -> str:
    """The output without progress lines and the list of reports."""
    return "\n".join(line for line in output.splitlines() if not PROGRESS.match(line))


@pytest.fixture(scope="session")
def pipeline() -> Callable[..., str]:
    """A function that runs `virtperf pipeline` and returns its unusual output."""
    return lambda root, *arguments, status=0: unusual(
        pipeline_output(root, *arguments, status=status)
    )


@pytest.fixture(scope="session")
def all_run(nothing_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository after a pipeline run; tests copy it. FIRST_RUN holds the output."""
    root = Path(shutil.copytree(nothing_run, tmp_path_factory.mktemp("pipeline") / "repository"))
    with pytest.MonkeyPatch.context() as slow:
        slow.setenv("PAUSE", "0.1")  # a time of 0.0 s would count as unknown
        output = pipeline_output(root)
    assert unusual(output) == ""
    (root / FIRST_RUN).write_text(output)
    return root


@pytest.fixture
def repository(nothing_run: Path, tmp_path: Path) -> Path:
    """A copy of the repository before any run."""
    return Path(shutil.copytree(nothing_run, tmp_path / "repository"))


@pytest.fixture
def done(all_run: Path, tmp_path: Path) -> Path:
    """A copy of the repository after a complete run."""
    return Path(shutil.copytree(all_run, tmp_path / "repository"))


def command(root: Path) -> list[str]:
    """`virtperf pipeline` as a subprocess."""
    return [str(Path(sys.executable).parent / "virtperf"), "--root", str(root), "pipeline"]


def lock(root: Path) -> bytes:
    """The contents of dvc.lock."""
    return (root / "dvc.lock").read_bytes()
