"""Why a stage would run, asked of a repository of its own with one stage per item."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from virtperf import changes as module
from virtperf.changes import Change, changes, stages
from virtperf.cli import main
from virtperf.core.errors import VirtperfError

pytestmark = pytest.mark.slow  # every question starts DVC

PIPELINE = """
stages:
  copy:
    foreach: [a, b]
    do:
      cmd: cp in-${item}.txt out-${item}.txt
      deps:
        - in-${item}.txt
        - folder
      params: [seed, section, deep.value]
      outs:
        - out-${item}.txt
"""
PARAMETERS = "seed: 1\nsection: {cv: 0.5, without: [1, 2]}\ndeep: {value: old, other: 1}\n"
ENVIRONMENT = {
    **os.environ, "DVC_NO_ANALYTICS": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "e", "GIT_COMMITTER_NAME": "n", "GIT_COMMITTER_EMAIL": "e",
}  # fmt: skip


def call(folder: Path, *command: str) -> None:
    """Run git or dvc there."""
    program = [sys.executable, "-m", "dvc"] if command[0] == "dvc" else [command[0]]
    done = subprocess.run([*program, *command[1:]], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def commit(folder: Path) -> None:
    call(folder, "git", "add", "-A")
    call(folder, "git", "commit", "-q", "-m", "state")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose stages have run and whose state is committed."""
    folder = tmp_path_factory.mktemp("repository")
    call(folder, "git", "init", "-q")
    call(folder, "dvc", "init", "-q")
    (folder / "dvc.yaml").write_text(PIPELINE)
    (folder / "params.yaml").write_text(PARAMETERS)
    (folder / "folder").mkdir()
    for name in ("in-a.txt", "in-b.txt", "folder/one.txt"):
        (folder / name).write_text("first\nsecond\n")
    call(folder, "dvc", "repro", "-q")
    commit(folder)
    return folder


@pytest.fixture
def repository(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "r", symlinks=True))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def ask(repository: Path, *options: str, status: int = 0) -> str:
    result = CliRunner().invoke(main, ["--root", str(repository), "why", *options])
    assert result.exit_code == status, result.output
    return result.output


def test_the_stages_are_those_of_dvc(repository: Path) -> None:
    assert stages(repository) == ["copy@a", "copy@b"]


def test_nothing_has_changed(repository: Path) -> None:
    assert changes(repository, "copy@a") == []
    assert ask(repository, "copy@a") == "copy@a: nothing has changed since it ran last\n"


def test_a_changed_file_has_its_difference(repository: Path) -> None:
    edit(repository / "in-a.txt", "second", "zweite")
    (change,) = changes(repository, "copy@a")
    assert (change.what, change.how) == ("in-a.txt", "modified")
    assert change.diff.splitlines()[-3:] == [" first", "-second", "+zweite"]
    assert changes(repository, "copy@b") == []


def test_the_command_prints_differences_last_and_leaves_them_out_on_request(repository: Path) -> None:
    edit(repository / "in-a.txt", "second", "zweite")
    edit(repository / "params.yaml", "seed: 1", "seed: 2")
    lines = ask(repository, "copy@a").splitlines()
    assert lines[:3] == ["copy@a would run, since these changed:", "  in-a.txt: modified", "  seed: 1 -> 2"]
    assert lines[-1] == "+zweite"
    assert "zweite" not in ask(repository, "copy@a", "--no-diff")


def test_control_characters_of_a_file_do_not_reach_the_terminal(repository: Path) -> None:
    (repository / "in-a.txt").write_bytes(b"first\n\x1b]0;owned\x07\tcaf\xe9\x0cpage\n")
    text = ask(repository, "copy@a")
    assert "\x1b" not in text and "\x07" not in text
    assert text.splitlines()[-1] == "+ ]0;owned     caf� page"


def test_a_changed_folder_has_the_difference_of_its_files(repository: Path) -> None:
    edit(repository / "folder" / "one.txt", "first", "premier")
    (change,) = changes(repository, "copy@a")
    assert change.what == "folder" and "+premier" in change.diff and "folder/one.txt" in change.diff


def test_changed_parameters_have_both_values(repository: Path) -> None:
    edit(repository / "params.yaml", "seed: 1", "seed: 2")
    edit(repository / "params.yaml", "cv: 0.5, without: [1, 2]", "cv: 0.25, more: true")
    edit(repository / "params.yaml", "value: old, other: 1", "value: new, other: 2")
    assert changes(repository, "copy@a") == [
        Change("seed", "1 -> 2"),
        Change("section.cv", "0.5 -> 0.25"),
        Change("section.without", "[1, 2] -> gone"),
        Change("section.more", "not recorded -> true"),
        Change("deep.value", '"old" -> "new"'),
    ]


def test_a_parameter_that_is_gone(repository: Path) -> None:
    edit(repository / "params.yaml", "value: old, ", "")
    assert changes(repository, "copy@a") == [Change("deep.value", '"old" -> gone')]


def test_a_changed_command_is_shown_before_and_now(repository: Path) -> None:
    edit(repository / "dvc.yaml", "cp in", "cp -f in")
    (change,) = changes(repository, "copy@a")
    assert change.what == "command"
    assert change.how == "cp in-a.txt out-a.txt -> cp -f in-a.txt out-a.txt"
    assert "+      cmd: cp -f in-${item}.txt out-${item}.txt" in change.diff
    assert (repository / "out-a.txt").read_text() == "first\nsecond\n"


def test_an_input_and_an_output_that_are_gone(repository: Path) -> None:
    (repository / "in-a.txt").unlink()
    (repository / "out-a.txt").unlink()
    found = {c.what: c for c in changes(repository, "copy@a")}
    assert {what: c.how for what, c in found.items()} == {"in-a.txt": "deleted", "output out-a.txt": "deleted"}
    assert "-second" in found["in-a.txt"].diff


def test_a_stage_without_a_last_run(repository: Path) -> None:
    edit(repository / "dvc.yaml", "[a, b]", "[a, b, c]")
    (repository / "in-c.txt").write_text("")
    assert changes(repository, "copy@c") == [Change("stage", "dvc.lock has no record of it")]


def test_the_difference_is_from_the_stages_own_last_run(repository: Path) -> None:
    """A later commit of dvc.lock, made by another stage, is not where this stage ran last."""
    edit(repository / "in-a.txt", "second", "zweite")
    edit(repository / "in-b.txt", "second", "zwo")
    call(repository, "dvc", "repro", "-q", "copy@b")
    commit(repository)
    (change,) = changes(repository, "copy@a")
    assert change.diff.splitlines()[-2:] == ["-second", "+zweite"]


def test_no_difference_is_better_than_one_from_another_state(repository: Path) -> None:
    """What ran last was never committed."""
    edit(repository / "in-a.txt", "second", "zweite")
    call(repository, "dvc", "repro", "-q")
    edit(repository / "in-a.txt", "zweite", "dritte")
    assert changes(repository, "copy@a") == [Change("in-a.txt", "modified")]
    call(repository, "git", "add", "dvc.lock")
    call(repository, "git", "commit", "-q", "-m", "the lock without its input")
    assert changes(repository, "copy@a") == [Change("in-a.txt", "modified")]


def test_a_long_difference_is_cut(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_DIFF", 6)
    (repository / "in-a.txt").write_text("line\n" * 20)
    diff = changes(repository, "copy@a")[0].diff.splitlines()
    assert len(diff) == 7 and diff[-1].startswith("... 21 more lines: git diff ")


def test_an_unknown_stage_names_the_known_ones(repository: Path) -> None:
    with pytest.raises(VirtperfError, match=r"there is no stage 'copy'; expected one of copy@a, copy@b$"):
        changes(repository, "copy")
    assert ask(repository, "--", "--help", status=1).startswith("Error: there is no stage '--help'")


def test_without_git_it_says_what_changed_but_not_how(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(repository / "in-a.txt", "second", "zweite")
    edit(repository / "params.yaml", "seed: 1", "seed: 2")
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert changes(repository, "copy@a") == [Change("in-a.txt", "modified"), Change("seed", "1 -> 2")]


def test_outside_of_a_repository_one_line_says_so(tmp_path: Path) -> None:
    with pytest.raises(VirtperfError, match="DVC can't say what has changed"):
        changes(tmp_path, "copy@a")
