"""`virtperf pipeline` as a user runs it: interrupted, with broken files, twice at once, with a stage that fails."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.pipeline.conftest import command, locks, pipeline


def ran(root: Path) -> list[str]:
    log = root / "ran.log"
    names = log.read_text().split() if log.exists() else []
    log.unlink(missing_ok=True)
    return sorted(names)


ALL = ["a-1.txt", "a-2.txt", "b-1.txt", "b-2.txt", "site.txt"]


def test_everything_runs_once_and_then_only_what_changed(repository):
    assert pipeline(repository) == ""
    assert ran(repository) == ALL
    before = locks(repository)
    assert sorted(before) == ["dvc.lock", "pipelines/a/dvc.lock", "pipelines/b/dvc.lock"]
    assert pipeline(repository) == "" and ran(repository) == [] and locks(repository) == before
    (repository / "in" / "b.txt").write_text("another text")
    pipeline(repository)
    assert ran(repository) == ["b-1.txt", "b-2.txt", "site.txt"]
    assert locks(repository)["pipelines/a/dvc.lock"] == before["pipelines/a/dvc.lock"]


def test_dvc_at_the_root_does_the_same(repository):
    pipeline(repository)
    before = locks(repository)
    (repository / "in" / "a.txt").write_text("other")
    pipeline(repository)
    after = locks(repository)
    (repository / "in" / "a.txt").write_text("text of a")
    subprocess.run(["dvc", "repro", "-q"], cwd=repository, check=True)
    assert locks(repository) == before != after


def test_one_study_alone_and_by_force(repository):
    pipeline(repository, "a")
    assert ran(repository) == ["a-1.txt", "a-2.txt"]
    pipeline(repository)
    ran(repository)
    before = locks(repository)
    pipeline(repository, "--force")
    assert ran(repository) == ALL and locks(repository) == before
    assert "there is no study 'c'" in pipeline(repository, "c", status=1)


def test_a_failing_stage_says_why_and_the_other_studies_go_on(repository):
    (repository / "in" / "a.txt").write_text("fail")
    said = pipeline(repository, status=1)
    assert "a: the input says fail" in said and "failed to reproduce 'pipelines/a/dvc.yaml:first'" in said
    assert said.splitlines()[-1].startswith("Error: the pipeline stopped in a.")
    assert ran(repository) == ["b-1.txt", "b-2.txt"]


@pytest.mark.parametrize("text", ["", "schema: '2.0'\nstages:\n  first:\n    cmd: py"])
def test_broken_lock_files_are_mended_and_the_end_is_the_same(repository, text):
    pipeline(repository)
    before = locks(repository)
    ran(repository)
    for path in before:
        (repository / path).write_text(text)
    (repository / ".dvc" / "tmp" / "rwlock").write_text(text[:9])
    said = pipeline(repository).splitlines()
    assert len(said) == 4 and all(line.startswith(("restored ", "removed .dvc/tmp/rwlock")) for line in said)
    assert locks(repository) == before and ran(repository) == []


def test_a_broken_lock_file_without_a_copy_runs_again_to_the_same_end(repository):
    pipeline(repository)
    before = locks(repository)
    (repository / "pipelines" / "a" / "dvc.lock").write_text("")
    (repository / ".dvc" / "tmp" / "virtperf-locks" / "pipelines" / "a" / "dvc.lock").unlink()
    assert "its stages run again" in pipeline(repository)
    assert locks(repository) == before


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [1.5, 3.5])
def test_killed_in_the_middle_then_again_gives_the_same_locks(repository, tmp_path, seconds):
    pipeline(repository)
    before = locks(repository)
    for name in ("in", "out"):
        for path in (repository / name).iterdir():
            path.write_text("other")
    for study in "ab":
        (repository / "in" / f"{study}.txt").write_text(f"another text of {study}")
    environment = {**os.environ, "PAUSE": "0.5"}
    process = subprocess.Popen(command(repository), start_new_session=True, env=environment, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for study in "ab":
        (repository / "in" / f"{study}.txt").write_text(f"text of {study}")
    pipeline(repository)
    assert locks(repository) == before


def test_a_second_one_waits_and_says_for_whom(repository):
    first = subprocess.Popen(command(repository), env={**os.environ, "PAUSE": "1"}, stderr=subprocess.PIPE, text=True)
    file = repository / ".dvc" / "tmp" / "virtperf.lock"
    for _ in range(200):
        if file.exists() and file.read_text():
            break
        time.sleep(0.05)
    said = pipeline(repository)
    assert re.fullmatch(rf"waiting for process {first.pid}, which has run the pipeline since \d\d:\d\d:\d\d\n", said)
    with first:
        assert first.wait(30) == 0
    assert ran(repository) == ALL


def test_an_input_that_is_not_there_is_one_line(repository):
    (repository / "dvc.yaml").unlink()
    said = pipeline(repository, status=1)
    assert "Traceback" not in said
