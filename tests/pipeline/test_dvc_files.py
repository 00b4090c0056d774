"""Damaged lock files are detected and restored; intact ones are sorted in the order of dvc.yaml."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from virtperf.pipeline.dvc_files import (
    BACKUP,
    RWLOCK,
    lock_file_error,
    repair_dvc_files,
    sort_lock_file,
    sort_stages,
    wait_for_dvc,
)

LOCK = """\
schema: '2.0'
stages:
  first:
    cmd: copy
    deps:
    - path: in
      hash: md5
      md5: 0123.dir
      size: 1204
      nfiles: 23
    outs:
    - path: out
      hash: md5
      md5: '4567'
      size: 99
  second:
    cmd:
    - copy
    - again
    params:
      params.yaml:
        level: 0.95
    outs:
    - path: end
      hash: md5
      md5: 89ab
      size: 1204
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "dvc.lock").write_text(LOCK)
    return tmp_path


def repaired(root: Path) -> list[str]:
    messages: list[str] = []
    repair_dvc_files(root, messages.append)
    return messages


def test_intact_lock_file_is_backed_up_silently(root):
    assert repaired(root) == []
    assert (root / "dvc.lock").read_text() == LOCK
    assert (root / BACKUP).read_text() == LOCK


def test_truncated_lock_file_is_detected_or_lacks_whole_stages(root):
    second = LOCK.index("  second:")
    for end in range(len(LOCK)):
        cut = LOCK[:end]
        if not lock_file_error(cut.encode()):
            # DVC reruns a stage without inputs or outputs; partial entries must not occur
            assert (
                cut == LOCK[:second]
                or cut.endswith(("nfiles: 23\n", "    outs:\n", "cmd: copy\n", "size: 99\n"))
                or (end > second and "  second:\n    cmd:" in cut)
            ), cut[-60:]
            assert cut.count("path:") == cut.count("size:")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        LOCK[:-3],
        LOCK[: LOCK.index("      nfiles")],
        "a: [\n",
        "stages: []\nschema: x\n",
        "<<<<<<< ours\n" + LOCK,
    ],
)
def test_damaged_file_is_restored_from_backup_with_one_message(root, text):
    repaired(root)
    (root / "dvc.lock").write_text(text)
    (message,) = repaired(root)
    assert message.startswith("restored dvc.lock, damaged by an interrupted run (")
    assert (root / "dvc.lock").read_text() == LOCK


def test_damaged_file_without_backup_is_removed_with_one_message(root):
    (root / "dvc.lock").write_text("")
    assert repaired(root) == ["removed dvc.lock, which is damaged (empty): its stages run again"]
    assert not (root / "dvc.lock").exists()


@pytest.mark.parametrize(
    ("text", "gone"), [("", True), ('{"a": ', True), ("[]", True), ("{}", False)]
)
def test_invalid_rwlock_is_removed_with_one_message(root, text, gone):
    (root / RWLOCK).parent.mkdir(parents=True)
    (root / RWLOCK).write_text(text)
    assert len(repaired(root)) == gone and (root / RWLOCK).exists() is not gone


def test_stages_are_sorted_in_the_given_order(root):
    second = LOCK.index("  second:")
    other = LOCK[: LOCK.index("  first:")] + LOCK[second:] + LOCK[LOCK.index("  first:") : second]
    assert sort_stages(other, ["first", "second"]) == LOCK
    assert sort_stages(LOCK, ["second"]) == other
    (root / "dvc.lock").write_text(other)
    sort_lock_file(root, ["first", "second"])
    assert (root / "dvc.lock").read_text() == LOCK
    assert (root / BACKUP).read_text() == LOCK


def test_lock_file_of_this_repository_is_intact(root):
    assert lock_file_error((root / "dvc.lock").read_bytes()) == ""


WAITING = [sys.executable, "-c", "print('started', flush=True); input()"]


def started(command: list[str], folder: Path) -> subprocess.Popen:
    """Start a command that prints a line; before that, its command line in /proc may be empty."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe)
    assert process.stdout is not None and process.stdout.readline()
    return process


def holding(root: Path, pid: int) -> None:
    (root / RWLOCK).parent.mkdir(parents=True, exist_ok=True)
    (root / RWLOCK).write_text(json.dumps({"out": {"write": {"pid": pid, "cmd": "dvc repro"}}}))


def test_rwlock_of_an_unrelated_process_is_removed(root, tmp_path_factory):
    """Process ids are reused soon in containers: by another program, or Python in another folder."""
    other_program = ["sh", "-c", "echo started; exec cat"]
    others = ((other_program, root), (WAITING, tmp_path_factory.mktemp("elsewhere")))
    for command, folder in others:
        with started(command, folder) as process:
            holding(root, process.pid)
            wait_for_dvc(root, lambda _: pytest.fail("nobody is to be waited for"))
            assert len(repaired(root)) == 1 and not (root / RWLOCK).exists(), command
            process.communicate(b"\n")


def test_running_dvc_of_the_same_repository_is_waited_for(root):
    messages: list[str] = []
    with started(WAITING, root) as process:
        holding(root, process.pid)

        def end(text: str) -> None:
            messages.append(text)
            process.communicate(b"\n")

        wait_for_dvc(root, end, interval_s=0.01)
        assert messages == [f"waiting for process {process.pid} (dvc repro)"]
