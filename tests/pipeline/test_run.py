"""`virtperf pipeline`: interruption, damaged files, concurrent calls, failing stages."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.pipeline.conftest import FIRST_RUN, command, locks, pipeline_output
from virtperf.pipeline.run import dvc_environment


def ran(root: Path) -> list[str]:
    log = root / "ran.log"
    names = log.read_text().split() if log.exists() else []
    log.unlink(missing_ok=True)
    return sorted(names)


def wait_for(condition):
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


ALL = ["a-1.txt", "a-2.txt", "b-1.txt", "b-2.txt", "site.txt"]


def test_only_changed_stages_run_again(done, pipeline):
    first = (done / FIRST_RUN).read_text()
    assert "to run: a (first, second), b (first, second), all studies (site)" in first
    assert "5 stages never ran here" in first and "] a first started\n" in first
    assert ran(done) == ALL
    before = locks(done)
    assert sorted(before) == ["dvc.lock", "pipelines/a/dvc.lock", "pipelines/b/dvc.lock"]
    assert pipeline(done) == "" and ran(done) == [] and locks(done) == before
    (done / "in" / "b.txt").write_text("another text")
    second = pipeline_output(done)
    assert re.search(
        r"to run: b \(first, second\), all studies \(site\); about \d+ s, from the last durations\n",
        second,
    )
    assert (
        re.search(r"\] b second started, last run took \d+ s\n", second) and "a first" not in second
    )
    assert ran(done) == ["b-1.txt", "b-2.txt", "site.txt"]
    changed = locks(done)
    assert changed["pipelines/a/dvc.lock"] == before["pipelines/a/dvc.lock"] and changed != before
    # `dvc repro` at the root agrees
    (done / "in" / "b.txt").write_text("text of b")
    subprocess.run(["dvc", "repro", "-q"], cwd=done, check=True)
    assert locks(done) == before


def test_notebooks_import_the_package_of_their_repository(tmp_path, monkeypatch):
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path)
    first, *_ = dvc_environment(Path())["PYTHONPATH"].split(os.pathsep)
    assert first == str(tmp_path / "src")


def test_force_runs_every_stage(done, pipeline):
    before = locks(done)
    ran(done)
    pipeline(done, "--force")
    assert ran(done) == ALL and locks(done) == before


def test_single_study_can_be_selected(repository, pipeline):
    pipeline(repository, "a")
    assert ran(repository) == ["a-1.txt", "a-2.txt"]
    assert "there is no study 'c'" in pipeline(repository, "c", status=1)


def test_failing_stage_is_reported_and_other_studies_continue(repository, pipeline):
    (repository / "in" / "a.txt").write_text("fail")
    output = pipeline(repository, status=1)
    assert (
        "a: the input says fail" in output
        and "failed to reproduce 'pipelines/a/dvc.yaml:first'" in output
    )
    assert output.splitlines()[-1].startswith("Error: stages failed in a.")
    assert ran(repository) == ["b-1.txt", "b-2.txt"]


@pytest.mark.parametrize("text", ["", "schema: '2.0'\nstages:\n  first:\n    cmd: py"])
def test_damaged_lock_files_are_repaired_with_equal_results(done, text, pipeline):
    before = locks(done)
    ran(done)
    for path in before:
        (done / path).write_text(text)
    (done / ".dvc" / "tmp" / "rwlock").write_text(text[:9])
    messages = pipeline(done).splitlines()
    assert len(messages) == 4 and all(
        line.startswith(("restored ", "removed .dvc/tmp/rwlock")) for line in messages
    )
    assert locks(done) == before and ran(done) == []


def test_damaged_lock_file_without_backup_reruns_with_equal_results(done, pipeline):
    before = locks(done)
    (done / "pipelines" / "a" / "dvc.lock").write_text("")
    (done / ".dvc" / "tmp" / "virtperf-locks" / "pipelines" / "a" / "dvc.lock").unlink()
    assert "its stages run again" in pipeline(done)
    assert locks(done) == before


@pytest.mark.slow
@pytest.mark.parametrize("ended", [0, 3], ids=["in the first stages", "after three stages"])
def test_rerun_after_a_kill_gives_equal_locks(done, ended, pipeline):
    before = locks(done)
    ran(done)
    for name in ("in", "out"):
        for path in (done / name).iterdir():
            path.write_text("other")
    for study in "ab":
        (done / "in" / f"{study}.txt").write_text(f"another text of {study}")
    log, environment = done / "ran.log", {**os.environ, "PAUSE": "0.5"}
    process = subprocess.Popen(
        command(done), start_new_session=True, env=environment, stderr=subprocess.DEVNULL
    )
    # DVC removes the outputs of a stage before it starts
    wait_for(
        lambda: (
            len(log.read_text().split()) >= ended
            if log.exists()
            else not ended and not (done / "out" / "a-1.txt").exists()
        )
    )
    time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert len(ran(done)) < len(ALL)
    for study in "ab":
        (done / "in" / f"{study}.txt").write_text(f"text of {study}")
    pipeline(done)
    assert locks(done) == before


def test_second_pipeline_waits_and_reports_the_first(repository, pipeline):
    first = subprocess.Popen(
        [*command(repository), "a"],
        env={**os.environ, "PAUSE": "0.5"},
        stderr=subprocess.PIPE,
        text=True,
    )
    file = repository / ".dvc" / "tmp" / "virtperf.lock"
    wait_for(lambda: file.exists() and file.read_text())
    output = pipeline(repository, "a")
    assert re.fullmatch(
        rf"waiting for process {first.pid}, running the pipeline since \d\d:\d\d:\d\d", output
    )
    with first:
        assert first.wait(30) == 0
    assert ran(repository) == ["a-1.txt", "a-2.txt"]


def test_missing_input_is_a_one_line_error(repository, pipeline):
    (repository / "dvc.yaml").unlink()
    output = pipeline(repository, status=1)
    assert "Traceback" not in output
