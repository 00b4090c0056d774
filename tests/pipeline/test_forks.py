"""Stages of `virtperf` run in forks of DVC's process, all other commands in a shell."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import virtperf
from virtperf.pipeline.runner import dvc_environment

NO_SHELL = """\
import sys
from dvc.stage import run

def refuse(executable, cmd, **options):
    sys.exit(f"in a shell: {cmd}")

run._run = refuse
from virtperf.cli._dvc import run_dvc
sys.exit(run_dvc(["repro", *sys.argv[1:]]))
"""


def repro(root: Path, cmd: str) -> tuple[int, str]:
    """Exit status and output of the stage `only` with this command."""
    (root / "dvc.yaml").write_text(f"stages: {{only: {{cmd: '{cmd}'}}}}\n")
    done = subprocess.run(
        [sys.executable, "-P", "-c", NO_SHELL, "only"],
        cwd=root,
        env=dvc_environment(root),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_stage_runs_in_a_fork_with_its_arguments_and_output(repository: Path) -> None:
    status, output = repro(repository, "virtperf report --help")
    assert (status, "Usage: virtperf report [OPTIONS] STUDY" in output) == (0, True)


def test_the_status_of_a_stage_in_a_fork_is_that_of_its_command(repository: Path) -> None:
    status, output = repro(repository, "virtperf runs no-such-study")
    assert status and "exited with 1" in output and "no-such-study" in output


def test_other_commands_run_in_a_shell(repository: Path) -> None:
    for cmd in ("virtperf check", "virtperf report a > page.txt", "python step.py a b"):
        assert repro(repository, cmd)[1].endswith(f"in a shell: {cmd}\n")


def test_a_stage_that_cannot_be_imported_runs_in_a_shell(repository: Path) -> None:
    package = repository / "src" / "virtperf" / "runs"
    root = Path(virtperf.__file__).parents[1]
    shutil.copytree(root, repository / "src", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "stage.py").write_text("this is no Python\n")
    status, output = repro(repository, "virtperf runs a")
    assert status and output.endswith("in a shell: virtperf runs a\n")
