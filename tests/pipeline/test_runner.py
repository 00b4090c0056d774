"""`virtperf pipeline`: interruption, damaged files, concurrent calls, failing stages."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.pipeline.conftest import FIRST_RUN, command, lock, pipeline_output
from virtperf.pipeline.dvc_files import BACKUP
from virtperf.pipeline.runner import allow_no_git, dvc_command, dvc_environment, output_lines
from virtperf.pipeline.stages import stage_names


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


RESULT = re.compile(r"\] (.+ (?:finished|FAILED)) (?:in|after) ")
ALL = ["a-1.txt", "a-2.txt", "b-1.txt", "b-2.txt", "site.txt"]


def test_only_changed_stages_run_again(done, pipeline):
    first = (done / FIRST_RUN).read_text()
    assert "to run: a (first, second), b (first, second), all studies (site)" in first
    assert "5 stages never ran here" in first and "] a first started\n" in first
    assert ran(done) == ALL
    before = lock(done)
    assert re.findall(r"^  (\S+):$", before.decode(), re.M) == stage_names(done)
    assert pipeline(done) == "" and ran(done) == [] and lock(done) == before
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
    assert lock(done) != before
    # `dvc repro` agrees
    (done / "in" / "b.txt").write_text("text of b")
    subprocess.run(["dvc", "repro", "-q"], cwd=done, check=True)
    assert lock(done) == before


def test_stage_over_all_studies_alone_is_run(done, pipeline):
    ran(done)
    before = lock(done)
    stages = (done / "dvc.yaml").read_text()
    (done / "dvc.yaml").write_text(stages.replace("deps: [out]", "deps: [out, in/a.txt]"))
    assert "to run: all studies (site);" in pipeline_output(done)
    assert ran(done) == ["site.txt"] and lock(done) != before
    assert pipeline(done) == ""


def test_notebooks_import_the_package_of_their_repository(tmp_path, monkeypatch):
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path)
    first, *_ = dvc_environment(Path())["PYTHONPATH"].split(os.pathsep)
    assert first == str(tmp_path / "src")


def test_force_runs_every_stage(done, pipeline):
    before = lock(done)
    ran(done)
    pipeline(done, "--force")
    assert ran(done) == ALL and lock(done) == before


def test_single_study_can_be_selected(repository, pipeline):
    pipeline(repository, "a")
    assert ran(repository) == ["a-1.txt", "a-2.txt"]
    assert "there is no study 'c'" in pipeline(repository, "c", status=1)


def test_study_that_is_not_in_the_list_is_an_error(repository, pipeline):
    (repository / "params.yaml").write_text("studies: {papers: [a]}\n")
    for arguments in ([], ["b"]):
        output = pipeline(repository, *arguments, status=1)
        assert "params.yaml: study b has no stages" in output and "virtperf check" in output
    assert ran(repository) == []


def test_failing_stage_is_reported_and_other_studies_continue(repository, pipeline):
    (repository / "in" / "a.txt").write_text("fail")
    output = pipeline(repository, status=1)
    assert "a: the input says fail" in output and "failed to reproduce 'first@a'" in output
    assert output.splitlines()[-1].startswith("Error: stages failed in a.")
    assert ran(repository) == ["b-1.txt", "b-2.txt"]


@pytest.mark.parametrize(
    ("text", "said"), [("fail", "a: the input says fail"), ("nothing", "a-1.txt' does not exist")]
)
def test_failed_stage_is_not_called_finished(repository, text, said):
    """One `dvc repro` runs both studies, and continues after the failure."""
    (repository / "in" / "a.txt").write_text(text)
    lines = pipeline_output(repository, "--jobs", "1", status=1).splitlines()
    results = [match[1] for line in lines if (match := RESULT.search(line))]
    assert results == ["a first FAILED", "b first finished", "b second finished"]
    failed_at = next(at for at, line in enumerate(lines) if "a first FAILED" in line)
    assert any(said in line for line in lines[:failed_at])


def test_failed_stage_over_all_studies_is_not_called_finished(repository):
    stages = (repository / "dvc.yaml").read_text()
    (repository / "dvc.yaml").write_text(
        f"{stages}  index:\n    cmd: python step.py in/none.txt index.txt\n"
        "    deps: [out]\n    outs: [index.txt]\n"
    )
    output = pipeline_output(repository, status=1)
    results = [match[1] for line in output.splitlines() if (match := RESULT.search(line))]
    assert sorted(results[-2:]) == ["all studies index FAILED", "all studies site finished"]
    assert output.splitlines()[-1].startswith("Error: stages failed in all studies.")


def test_lines_of_standard_error_keep_their_place_before_later_ones_of_standard_output():
    script = "import sys\nfor n in range(2000):\n print('error', n, file=sys.stderr, flush=True)\n print('line', n, flush=True)"
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        lines = list(output_lines(process))
    place = {line: at for at, line in enumerate(lines)}
    assert len(place) == 4000
    for n in range(2000):
        assert place[f"error {n}", True] < place[f"line {n}", False]


@pytest.mark.parametrize("text", ["", "schema: '2.0'\nstages:\n  first:\n    cmd: py"])
def test_damaged_lock_file_is_repaired_with_equal_results(done, text, pipeline):
    before = lock(done)
    ran(done)
    (done / "dvc.lock").write_text(text)
    (done / ".dvc" / "tmp" / "rwlock").write_text(text[:9])
    messages = pipeline(done).splitlines()
    assert len(messages) == 2 and all(
        line.startswith(("restored ", "removed .dvc/tmp/rwlock")) for line in messages
    )
    assert lock(done) == before and ran(done) == []


def test_damaged_lock_file_without_backup_reruns_with_equal_results(done, pipeline):
    before = lock(done)
    (done / "dvc.lock").write_text("")
    (done / BACKUP).unlink()
    assert "its stages run again" in pipeline(done)
    assert lock(done) == before


@pytest.mark.slow
@pytest.mark.parametrize("ended", [0, 3], ids=["in the first stages", "after three stages"])
def test_rerun_after_a_kill_gives_equal_lock(done, ended, pipeline):
    before = lock(done)
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
    assert lock(done) == before


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


def test_plain_dvc_writes_the_same_lock_from_nothing(done):
    before = lock(done)
    (done / "dvc.lock").unlink()
    subprocess.run([sys.executable, "-m", "dvc", "repro", "-q"], cwd=done, check=True)
    assert lock(done) == before


def test_no_entry_is_lost_with_many_runs_side_by_side(done):
    """Each `dvc repro` reads the whole dvc.lock, and writes it with its own entry changed."""
    studies = [f"s{n}" for n in range(4)]
    (done / "params.yaml").write_text(f"studies: {{papers: [{', '.join(studies)}]}}\n")
    for study in studies:
        (done / "in" / f"{study}.txt").write_text(study)
    processes = [
        subprocess.Popen(dvc_command("repro", "-q", f"second@{study}"), cwd=done)
        for study in studies
    ]
    assert [process.wait(300) for process in processes] == [0] * len(studies)
    written = re.findall(r"^  (\S+):$", lock(done).decode(), re.M)
    assert written[0] == "first@a" and {*stage_names(done)} <= {*written}


@pytest.mark.parametrize("found", [False, True])
def test_dvc_runs_without_a_git_repository(tmp_path, found):
    setting = tmp_path / ".dvc" / "config.local"
    allow_no_git(tmp_path)
    assert setting.read_text() == "[core]\n    no_scm = true\n"
    if found:
        (tmp_path / ".git").mkdir()
    else:
        setting.write_text("[cache]\n    dir = elsewhere\n")
    allow_no_git(tmp_path)
    assert setting.exists() is not found


def test_missing_input_is_a_one_line_error(repository, pipeline):
    (repository / "dvc.yaml").unlink()
    output = pipeline(repository, status=1)
    assert "Traceback" not in output


def test_a_folder_with_umlauts_is_no_matter_in_an_ascii_locale(tmp_path):
    code = "import sys; from pathlib import Path; from virtperf.pipeline.runner import temporary_folder; print(temporary_folder(Path(sys.argv[1])))"
    ascii_only = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    found = [
        subprocess.run(
            [sys.executable, "-c", code, tmp_path / "Prüfstände"],
            env=os.environ | variables,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for variables in ({}, ascii_only)
    ]
    assert found[0] == found[1]
