"""`virtperf measure`: dry run, output lines, progress bar, exit status, quality page."""

from __future__ import annotations

import os
import pty
import re

import pytest

from rawperf.core.yamlio import load_yaml
from tests.measure.conftest import busy_machine, repository  # noqa: F401 - fixtures
from tests.study.new.conftest import layout as layout
from virtperf.core.paths import Layout
from virtperf.runs.ingest.stage import ingest
from virtperf.study.definition import load_study


@pytest.fixture
def toy(repository, run, monkeypatch):  # noqa: F811 - the fixture
    """The toy repository as the working folder."""
    monkeypatch.chdir(repository.root)
    return repository


def test_help_mentions_power_and_the_documentation(run, root):
    text = run("measure", "--help").output
    assert "virtperf power" in text
    assert (root / re.search(r"docs/\w+\.md", text)[0]).is_file()


def test_dry_run_shows_plan_and_commands_without_measuring(toy, run):
    toy.write(
        setup=[{"run": "echo $guests", "shell": True}],
        window_s=90,
        monitors=[{"run": "vmstat -t 1", "output": "v 1"}],
    )
    text = run("measure", "toy", "--dry-run").output
    assert text.startswith("4 runs, 0 measured, 4 to measure, at least 6 min 00 s\n")
    assert text.count("to measure  1 min 30 s") == 4
    assert "setup-1: sh -c 'echo $guests'\n" in text
    assert "monitors-1: vmstat -t 1 > 'v 1'\n" in text
    assert re.search(r"workload-1: .*/data/measured/toy/work 90 work1.csv\n", text)
    assert toy.present() == []
    assert not toy.own.exists()


def test_dry_run_and_doctor_warn_of_missing_programs(toy, run):
    toy.write(
        setup=[["{root}/testbeds/kvm/prepare.sh"], ["sh", "{here}/wrk.py", "{here}/.state/x"]],
        monitors=[{"run": ["saar", "-u", 1], "output": "v"}],
    )
    warning = (
        "warning: not found on this machine: saar, {here}/wrk.py, {root}/testbeds/kvm/prepare.sh\n"
    )
    for option in ("--dry-run", "--doctor"):
        assert warning in run("measure", "toy", option).output
    toy.write()
    assert "not found" not in run("measure", "toy", "--dry-run").output


def test_prints_one_line_per_run_and_skips_existing_runs(toy, run):
    text = run("measure", "toy", "--only", "guests=2", "--replicates", "3").output
    lines = text.splitlines()
    assert lines[0] == "3 runs, 0 measured, 3 to measure, at least 1 s"
    assert [re.sub(r" in [0-9.]+ s$", "", line) for line in lines[1:-1]] == [
        f"cpu-guests-2-r{n} ({n} of 3) measured" for n in (1, 2, 3)
    ]
    assert lines[-1] == "3 measured (0 disturbed), 0 failed"
    text = run("measure", "toy", "--only", "guests=2", "--replicates", "3").output
    assert (
        text == "3 runs, 3 measured, 0 to measure, about 0 s\n0 measured (0 disturbed), 0 failed\n"
    )
    assert "measured      " in run("measure", "toy", "--dry-run").output


def test_a_dry_run_warns_of_runs_that_would_be_refused(toy, run):
    run("measure", "toy", "--only", "guests=2", "--replicates", "1")
    assert "refused" not in run("measure", "toy", "--dry-run").output
    toy.write(setup=[{"run": "true"}])
    text = run("measure", "toy", "--dry-run").output
    assert "these runs would be refused" in text and "would not be comparable" in text


def test_failed_runs_set_the_exit_status_and_are_retried_up_to_a_limit(toy, run):
    toy.write(replicates=1, setup=[{"run": 'test "$guests" = 1', "shell": True}])
    text = run("measure", "toy", status=3).output
    kept = "data/measured/toy/.measure/failed/cpu-guests-2-r1-1"
    assert f"failed: setup-1 (sh) ended with status 1; see {kept}\n" in text
    assert text.endswith("1 measured (0 disturbed), 1 failed\n")
    run("measure", "toy", status=3)
    text = run("measure", "toy", status=3).output
    assert "0 to measure" in text
    assert (
        "cpu-guests-2-r1: not retried after 2 failed attempts; remove data/measured/toy/.measure/failed/cpu-guests-2-r1-*"
        in text
    )
    assert " failed " in run("measure", "toy", "--dry-run").output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--only", "gpu"), "unknown experiment 'gpu'"),
        (("--only", "guests=9"), "unknown level '9' of guests"),
    ],
)
def test_empty_selection_is_a_one_line_error(toy, run, options, words):
    assert words in run("measure", "toy", *options, status=1).output


def test_mistakes_and_missing_files_are_one_line_errors(toy, run):
    toy.write(workload=["x {guest}"])
    assert "Error: data/measured/toy/measure.yaml line " in run("measure", "toy", status=1).output
    assert "measure.yaml line" in run("check", "toy", status=1).output
    (toy.runs / "measure.yaml").unlink()
    assert "measure.yaml: the file is missing" in run("measure", "toy", status=1).output
    assert "there is no study 'boy'" in run("measure", "boy", status=1).output


def test_complete_experiment_is_packed_and_not_measured_again(toy, run):
    run("measure", "toy", "--replicates", "1", "--only", "guests=1")
    run("measure", "toy", "--replicates", "1")
    assert sorted(p.name for p in (toy.runs / "runs").iterdir()) == ["cpu-part-2.zip", "cpu.zip"]
    assert not (toy.runs / "cpu-guests-1-r1").exists()
    assert toy.present() == ["cpu-guests-1-r1", "cpu-guests-2-r1"]
    assert "2 runs, 2 measured, 0 to measure" in run("measure", "toy", "--replicates", "1").output


def test_runs_too_large_to_pack_stay_folders(toy, run, monkeypatch):
    monkeypatch.setattr("virtperf.runs.packing.MAX_RUN_BYTES", 10)
    result = run("measure", "toy", "--replicates", "1")
    assert "not packed: cpu-guests-1-r1: the run is too large for an archive" in result.output
    assert (toy.runs / "cpu-guests-1-r1" / "run.yaml").is_file()


def test_standalone_study_is_written_next_to_its_runs(toy, run):
    (toy.root / "data" / "published" / "toy" / "study.yaml").rename(toy.runs / "study.yaml")
    run("measure", "toy", "--replicates", "1")
    assert toy.present() == ["cpu-guests-1-r1", "cpu-guests-2-r1"]


def test_ingest_keeps_disturbances_of_measured_runs(toy, run, busy_machine):  # noqa: F811 - the fixture
    from virtperf.report.kinds.quality import warnings_of

    toy.write(replicates=1, disturbed={"others_cpus": 5}, tools={"shell": "echo sh 1"})
    run("measure", "toy")
    place = Layout(toy.root)
    ingest(
        load_study(place.definition("toy")),
        {"measured": place.measured("toy")},
        place.metrics,
        place.samples("toy"),
        place.cache,
    )
    index = load_yaml(toy.root / "data" / "samples" / "toy" / "index.json").data
    assert index["quarantined"] == []
    assert [entry["run_id"] for entry in index["runs"]] == toy.present()
    for entry in index["runs"]:
        assert entry["provenance"] == "measured"
        assert entry["tools"] == {"shell": "sh 1"}
        assert entry["machine"] == {"cpu": "some"}
        assert entry["disturbance"] == toy.described(entry["run_id"])["disturbance"]
        assert "disturbed: other processes used more than 5 processors" in warnings_of(entry)


@pytest.mark.slow
def test_terminal_shows_progress_bar_with_remaining_time(toy):
    terminal, end = pty.openpty()

    def on_terminal() -> None:
        for stream in range(3):
            os.dup2(end, stream)
        os.environ.update(TERM="xterm", COLUMNS="100")

    process = toy.start(prepare=on_terminal)
    os.close(end)
    text = b""
    try:
        while part := os.read(terminal, 4096):
            text += part
    except OSError:  # the pseudo-terminal is closed
        pass
    assert process.wait(60) == 0
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text.decode())
    assert re.search(r"\d/4 .* s left block \d: cpu-guests-\d-r\d", plain)  # drawn once a second
    assert "4 measured (0 disturbed), 0 failed" in plain


WORK_RUN = """\
study: busy
run: {name}
provenance: measured
factors: {{processes: {processes}}}
replicate: {replicate}
start: 2026-01-01T0{replicate}:00:00
duration_s: 3
warmup_s: 1
window_s: [1, 3]
"""


def test_plan_says_what_each_hypothesis_compares_and_can_detect(layout, run):
    def call(*command):
        return run("--root", str(layout.root), *command).output

    call("new", "study", "busy", "--measured")
    text = call("measure", "busy", "--plan", "--replicates", "6")
    assert re.search(r"^cpu +3 +6 +18 +18 +1 min 12 s", text, re.MULTILINE)
    assert "conditions: processes 1, 2, 4\n" in text
    assert "declared files: sar.txt, drivers/process{n}.csv\n" in text
    compared = "two-do-more-than-one: throughput[processes=1] < throughput[processes=2]\n"
    assert f"{compared}  6 blocks; the difference that they detect is unknown\n" in text
    for processes in (1, 2):
        for replicate in (1, 2, 3):
            name = f"cpu-processes-{processes}-r{replicate}"
            folder = layout.measured("busy") / name / "drivers"
            folder.mkdir(parents=True)
            rate = 100 * processes + replicate
            (folder / "process1.csv").write_text(f"seconds,loops_per_s\n2,{rate}\n2.5,{rate}\n")
            about = {"name": name, "processes": processes, "replicate": replicate}
            (folder.parent / "run.yaml").write_text(WORK_RUN.format(**about))
    call("runs", "busy")
    text = call("measure", "busy", "--plan")
    assert re.search(
        r"  3 blocks: a difference of [\d.]+ % \(spread between runs 0\.7\d* %, 6 earlier runs\)\n",
        text,
    )
    text = call("measure", "busy", "--plan", "--only", "processes=1")
    assert "can't be decided: no run of throughput[processes=2] is planned\n" in text
    assert not (layout.measured("busy") / ".measure").exists()
