"""One run: its phases in order, its window, what it says of itself, and every way to fail."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import psutil
import pytest

from rawperf.core.errors import StudyError
from virtperf.measure.plan import plan
from virtperf.runs.ingest.folder import raw_files
from virtperf.runs.ingest.runs import load_run
from virtperf.study.definition import load_study

ONE = [{"name": "one", "at": {"guests": 1}}]
SLEEPER = [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(60)"]
DEAF = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(60)",
]


def one(repository, **fields):
    """Measure a single run; returns its run.yaml."""
    outcome, events, _ = repository.measure(**{"replicates": 1, "experiments": ONE} | fields)
    assert outcome.measured == 1, events[-1].words
    return repository.described("one-r1")


def failure(repository, **fields):
    """Measure a single run that fails; returns the reason."""
    outcome, events, _ = repository.measure(**{"replicates": 1, "experiments": ONE} | fields)
    assert (outcome.measured, outcome.failed, repository.present()) == (0, 1, [])
    kept = repository.own / "failed" / "one-r1-1"
    assert str(kept.relative_to(repository.root)) in events[-1].words
    assert not (repository.own / "running").exists()
    return (kept / "reason.txt").read_text().strip()


def test_a_run_is_one_that_ingest_takes(repository):
    said = one(repository, lead_s=0.1, warmup_s=0.1, tools={"python": [sys.executable, "-V"]})
    study = load_study(repository.root / "data" / "published" / "toy")
    folder = repository.runs / "one-r1"
    run = load_run(folder, study, "measured", raw_files(folder))
    assert (run.provenance, run.factors, run.replicate) == (
        "measured",
        {"guests": 1, "mode": "plain"},
        1,
    )
    assert run.tools == {"python": f"Python {sys.version.split()[0]}"}
    assert run.machine == {"cpu": "some"}
    begin, end = run.window_s
    assert 0.2 <= begin < 0.4
    assert end - begin == pytest.approx(0.2, abs=0.0011)  # printed to the millisecond
    assert begin == run.warmup_s < end <= run.duration_s
    assert set(said["disturbance"]) >= {"others_cpus", "steal_percent"}
    assert {p.name for p in folder.iterdir()} == {"run.yaml", "work1.csv"}


def test_phases_in_their_order_with_their_values(repository):
    def note(word):
        return {"run": f'echo {word} $guests "$mode" >> "$here/order"', "shell": True}

    one(
        repository,
        setup=[note("setup"), note("again")],
        collect=[note("collect")],
        teardown=[note("teardown")],
        workload=[
            {
                "run": f'{note("workload")["run"]}; exec "$here/work" "$seconds" work.csv',
                "shell": True,
            }
        ],
    )
    lines = (repository.runs / "order").read_text().splitlines()
    assert lines == [
        f"{word} 1 plain" for word in ("setup", "again", "workload", "collect", "teardown")
    ]


def test_no_level_is_ever_run_by_a_shell(repository):
    levels = ["a b; touch x", "$(touch y)"]
    repository.measure(
        replicates=1,
        experiments=[{"name": "m", "at": {"guests": 1}, "over": {"mode": levels}}],
        collect=[
            "touch {mode}.{run}",
            {"run": 'echo "$mode" > said.txt; echo $mode', "shell": True},
        ],
    )
    said = {(repository.runs / run / "said.txt").read_text() for run in repository.present()}
    assert said == {f"{level}\n" for level in levels}
    assert not [p for p in repository.root.rglob("*") if p.name in ("x", "y")]


def test_monitors_run_around_the_workload(repository):
    clock = "import time; print('x', flush=True)\nwhile True: print(time.monotonic(), flush=True); time.sleep(0.01)"
    work = "import time; b = time.monotonic(); time.sleep(0.2); print(b, time.monotonic())"
    one(
        repository,
        lead_s=0.3,
        monitors=[{"run": [sys.executable, "-c", clock], "output": "m.txt"}],
        workload=[{"run": [sys.executable, "-c", work], "output": "w.txt"}],
    )
    seen = [float(x) for x in (repository.runs / "one-r1" / "m.txt").read_text().split()[1:]]
    begin, end = map(float, (repository.runs / "one-r1" / "w.txt").read_text().split())
    assert seen[0] < begin
    assert seen[-1] >= end - 0.1


def test_a_monitor_is_stopped_by_its_own_signal(repository):
    code = "import signal, sys, time\nsignal.signal(2, lambda *_: (print('average', flush=True), sys.exit(0)))\nprint(1, flush=True); time.sleep(60)"
    said = one(
        repository,
        window_s=0.5,
        monitors=[{"run": [sys.executable, "-c", code], "output": "m.txt", "stop": "SIGINT"}],
    )
    assert (repository.runs / "one-r1" / "m.txt").read_text() == "1\naverage\n"
    assert said["disturbed"] == []


def test_a_monitor_that_does_not_stop_is_killed_and_said(repository):
    said = one(repository, window_s=0.5, grace_s=0.2, monitors=[{"run": DEAF, "output": "m.txt"}])
    name = Path(sys.executable).name
    assert said["disturbed"] == [f"monitors-1 ({name}) did not end within 0.2 s and was killed"]


def test_a_monitor_that_ends_early_is_said_and_one_that_fails_fails_the_run(repository):
    said = one(repository, window_s=1, monitors=["true"])
    assert said["disturbed"] == ["monitors-1 (true) ended before the end of the window"]
    repository.measure(
        monitors=["false"], experiments=[{"name": "two", "at": {"guests": 1}}], replicates=1
    )
    assert (
        repository.own / "failed" / "two-r1-1" / "reason.txt"
    ).read_text() == "monitors-1 (false) ended with status 1\n"


def test_a_broken_rule_is_kept_with_what_was_observed(repository, busy_machine):
    said = one(repository, disturbed={"others_cpus": 5, "steal_percent": 100})
    assert said["disturbance"]["others_cpus"] > 5
    assert said["disturbed"] == ["other processes used more than 5 processors"]


def test_a_workload_without_end_is_stopped_when_the_window_ends(repository):
    said = one(
        repository, window_s=0.3, workload=[{"run": SLEEPER, "output": "w.txt", "stop": "SIGTERM"}]
    )
    assert said["disturbed"] == []
    assert said["duration_s"] < 5


def test_without_a_window_it_is_the_workload_that_ends_it(repository):
    work = {"run": [sys.executable, "-c", "import time; time.sleep(0.6)"], "output": "w.txt"}
    said = one(
        repository,
        window_s=None,
        warmup_s=0.2,
        workload=[{"run": SLEEPER, "output": "s.txt", "stop": "SIGKILL"}, work],
    )
    begin, end = said["window_s"]
    assert 0.2 <= begin < 0.4
    assert 0.6 <= end < said["duration_s"] < 5


def test_commands_may_say_what_is_known_only_afterwards(repository):
    later = (
        "start: 2026-01-01T00:00:00\nduration_s: 90\nwarmup_s: 10\nwindow_s: [20, 80]\nclients: 4\ntools: {xen: 4.17}\n"
        "files: [{path: work1.csv, entity: web1}]\n"
    )
    said = one(
        repository,
        collect=[{"run": f"cat > \"$fields\" <<'END'\n{later}END", "shell": True}],
        tools={"sh": "echo 1"},
    )
    assert (said["duration_s"], said["warmup_s"], said["window_s"], said["clients"]) == (
        90,
        10,
        [20, 80],
        4,
    )
    assert said["tools"] == {"sh": "1", "xen": 4.17}
    assert said["files"] == [{"path": "work1.csv", "entity": "web1"}]
    assert not (repository.runs / "one-r1" / ".fields.yaml").exists()
    assert "disturbance" in said


def test_what_disturbed_this_machine_is_not_said_of_another(repository):
    said = one(
        repository,
        collect=[{"run": "echo 'machine: {cpu: emulated}' > \"$fields\"", "shell": True}],
    )
    assert said["machine"] == {"cpu": "emulated"} and "disturbance" not in said


def test_files_are_described_as_declared(repository):
    work = {
        "run": ["{here}/work", "{seconds}", "g{n}.csv"],
        "count": 2,
        "files": [{"path": "g{n}.csv", "entity": "guest{n}", "start_s": 1}],
    }
    said = one(repository, workload=[work])
    assert said["files"] == [
        {"path": f"g{n}.csv", "entity": f"guest{n}", "start_s": 1.0} for n in (1, 2)
    ]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"workload": ["false"]}, "workload-1 (false) ended with status 1"),
        ({"workload": ["true"], "window_s": 9}, " s too early"),
        ({"workload": ["true"], "window_s": None, "warmup_s": 9}, " s too early"),
        (
            {"workload": [{"run": "true", "stop": "SIGTERM"}]},
            "workload-1 (true) ended with status 0",
        ),
        (
            {"workload": [{"run": "sleep 60", "timeout_s": 0.2}]},
            "workload-1 (sleep) did not end within 0.2 s of",
        ),
        ({"setup": ["false", "touch never"]}, "setup-1 (false) ended with status 1"),
        (
            {"setup": [{"run": "sleep 60", "timeout_s": 0.2}]},
            "setup-1 (sleep) timed out after 0.2 s",
        ),
        ({"collect": ["false"]}, "collect-1 (false) ended with status 1"),
        ({"teardown": ["false"]}, "teardown-1 (false) ended with status 1"),
        (
            {"collect": [{"run": "true", "files": [{"path": "no.csv"}]}]},
            "the file is not in the run folder",
        ),
        ({"collect": ["rm work1.csv"]}, "the run folder contains no raw files"),
        ({"collect": ["ln -s /etc/passwd x"]}, "a symbolic link points outside the run folder"),
        (
            {"collect": [{"run": 'echo "run: x" > "$fields"', "shell": True}]},
            "unknown key 'run'",
        ),
        ({"collect": [{"run": 'echo "clients: x" > "$fields"', "shell": True}]}, "clients"),
        (
            {"collect": [{"run": 'echo "files: x" > "$fields"', "shell": True}]},
            "files: wrong value",
        ),
        (
            {"collect": [{"run": 'echo "tools: [x]" > "$fields"', "shell": True}]},
            "tools: wrong value",
        ),
    ],
)
def test_what_fails_is_kept_with_its_reason(repository, fields, words):
    assert words in failure(repository, **fields)


def test_what_programs_printed_is_kept(repository):
    failure(
        repository,
        setup=[{"run": "echo out; echo err >&2; echo raw > kept.txt; exit 4", "shell": True}],
    )
    kept = repository.own / "failed" / "one-r1-1"
    assert (kept / "logs" / "setup-1.stdout").read_text() == "out\n"
    assert (kept / "logs" / "setup-1.stderr").read_text() == "err\n"
    assert (kept / "one-r1" / "kept.txt").read_text() == "raw\n"


@pytest.mark.parametrize("phase", ["setup", "workload", "collect"])
def test_the_teardown_is_run_whatever_fails(repository, phase):
    failure(repository, **{phase: ["false"], "teardown": ["false", "touch {here}/torn"]})
    assert (repository.runs / "torn").exists()


def test_the_first_failure_is_the_reason(repository):
    assert failure(repository, setup=["false"], teardown=["no-such-file/program"]).startswith(
        "setup-1"
    )


def test_nothing_of_a_run_outlives_it(repository, tmp_path):
    pid = tmp_path / "pid"
    one(
        repository,
        setup=[{"run": f"setsid sleep 60 >/dev/null 2>&1 & echo $! > {pid}", "shell": True}],
    )
    left = [
        p
        for p in psutil.process_iter()
        if p.pid == int(pid.read_text()) and p.status() != psutil.STATUS_ZOMBIE
    ]
    assert not left


def test_times_are_learned(repository):
    one(repository, collect=["sleep 0.3"])
    beyond = json.loads((repository.own / "times.json").read_text())["one"]
    assert 0.3 < beyond < 10
    repository.write(window_s=30, replicates=1, experiments=ONE)
    harness = repository.harness()
    (run,) = plan(harness.definition, harness.study)
    assert harness.expected_s(run, run) == pytest.approx(2 * (30 + beyond))


def test_nothing_may_be_the_workload_of_a_condition(repository):
    """As a baseline: the window is as long as declared; without one there would be none."""
    nothing = {"run": "{here}/work", "count": 0}
    with pytest.raises(StudyError, match="count"):
        repository.measure(workload=[nothing])
    path = repository.root / "data" / "published" / "toy" / "study.yaml"
    path.write_text(path.read_text().replace("levels: [1, 2, 4]", "levels: [0, 1, 2, 4]"))
    none = {"workload": [{"run": "sleep 0.4", "count": "guests"}], "collect": ["touch x.csv"]}
    said = one(repository, **none, experiments=[{"name": "one", "at": {"guests": 0}}])
    assert said["window_s"][1] - said["window_s"][0] == pytest.approx(0.2, abs=0.0011)
    repository.measure(
        **none, window_s=None, replicates=1, experiments=[{"name": "two", "at": {"guests": 0}}]
    )
    assert (
        "the window ends before it begins"
        in (repository.own / "failed" / "two-r1-1" / "reason.txt").read_text()
    )
