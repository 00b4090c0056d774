"""One run: order of phases, window, run.yaml, and every kind of failure."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import psutil
import pytest

from rawperf.core.errors import StudyError
from virtperf.measure.plan import plan
from virtperf.runs.ingest.folder import RunFolder, raw_files
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
    """Measure a single run and return its run.yaml."""
    outcome, events, _ = repository.measure(**{"replicates": 1, "experiments": ONE} | fields)
    assert outcome.measured == 1, events[-1].words
    return repository.described("one-r1")


def failure(repository, **fields):
    """Measure a single failing run and return the reason."""
    outcome, events, _ = repository.measure(**{"replicates": 1, "experiments": ONE} | fields)
    assert (outcome.measured, outcome.failed, repository.present()) == (0, 1, [])
    kept = repository.own / "failed" / "one-r1-1"
    assert str(kept.relative_to(repository.root)) in events[-1].words
    assert not (repository.own / "running").exists()
    return (kept / "reason.txt").read_text().strip()


def test_run_is_accepted_by_ingest(repository):
    run_yaml = one(repository, lead_s=0.1, warmup_s=0.1, tools={"python": [sys.executable, "-V"]})
    study = load_study(repository.root / "data" / "published" / "toy")
    folder = repository.runs / "one-r1"
    run = load_run(RunFolder(folder), study, "measured", raw_files(folder))
    assert (run.provenance, run.factors, run.replicate) == (
        "measured",
        {"guests": 1, "mode": "plain"},
        1,
    )
    assert run.tools == {"python": f"Python {sys.version.split()[0]}"}
    assert run.machine == {"cpu": "some"}
    assert set(run.hashes) == {"work1.csv"}
    begin, end = run.window_s
    assert 0.2 <= begin < 0.4
    assert end - begin == pytest.approx(0.2, abs=0.0011)  # rounded to milliseconds
    assert begin == run.warmup_s < end <= run.duration_s
    assert set(run_yaml["disturbance"]) >= {"others_cpus", "steal_percent"}
    assert {p.name for p in folder.iterdir()} == {"run.yaml", "work1.csv"}


def test_empty_output_is_reported(repository):
    work = {"run": "sleep {seconds}", "output": "drivers/driver{n}.csv"}
    collect = [{"run": "true", "output": "{run}.txt"}, {"run": "echo 1", "output": "some.txt"}]
    teardown = {"run": "true", "output": "left.txt"}
    _, _, messages = repository.measure(
        replicates=1, experiments=ONE, workload=[work], collect=collect, teardown=[teardown]
    )
    assert messages == [
        "one-r1: no output of workload-1 (sleep): drivers/driver1.csv is empty",
        "one-r1: no output of collect-1 (true): one-r1.txt is empty",
    ]


def test_phases_run_in_order_with_their_values(repository):
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


def test_levels_are_never_parsed_by_a_shell(repository):
    levels = ["a b; touch x", "$(touch y)"]
    repository.measure(
        replicates=1,
        experiments=[{"name": "m", "at": {"guests": 1}, "over": {"mode": levels}}],
        collect=[
            "touch {mode}.{run}",
            {"run": 'echo "$mode" > said.txt; echo $mode', "shell": True},
        ],
    )
    outputs = {(repository.runs / run / "said.txt").read_text() for run in repository.present()}
    assert outputs == {f"{level}\n" for level in levels}
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


def test_monitor_is_stopped_by_its_signal(repository):
    code = "import signal, sys, time\nsignal.signal(2, lambda *_: (print('average', flush=True), sys.exit(0)))\nprint(1, flush=True); time.sleep(60)"
    run_yaml = one(
        repository,
        window_s=0.5,
        monitors=[{"run": [sys.executable, "-c", code], "output": "m.txt", "stop": "SIGINT"}],
    )
    assert (repository.runs / "one-r1" / "m.txt").read_text() == "1\naverage\n"
    assert run_yaml["disturbed"] == []


def test_monitor_that_ignores_its_signal_is_killed_and_reported(repository):
    run_yaml = one(
        repository, window_s=0.5, grace_s=0.2, monitors=[{"run": DEAF, "output": "m.txt"}]
    )
    name = Path(sys.executable).name
    assert run_yaml["disturbed"] == [f"monitors-1 ({name}) did not end within 0.2 s and was killed"]


def test_early_monitor_end_is_reported_and_monitor_failure_fails_the_run(repository):
    run_yaml = one(repository, window_s=1, monitors=["true"])
    assert run_yaml["disturbed"] == ["monitors-1 (true) ended before the end of the window"]
    repository.measure(
        monitors=["false"], experiments=[{"name": "two", "at": {"guests": 1}}], replicates=1
    )
    assert (
        repository.own / "failed" / "two-r1-1" / "reason.txt"
    ).read_text() == "monitors-1 (false) ended with status 1\n"


def test_disturbance_is_recorded_with_observed_value(repository, busy_machine):
    run_yaml = one(repository, disturbed={"others_cpus": 5, "steal_percent": 100})
    assert run_yaml["disturbance"]["others_cpus"] > 5
    assert run_yaml["disturbed"] == ["other processes used more than 5 processors"]


def test_endless_workload_is_stopped_after_the_window(repository):
    run_yaml = one(
        repository, window_s=0.3, workload=[{"run": SLEEPER, "output": "w.txt", "stop": "SIGTERM"}]
    )
    assert run_yaml["disturbed"] == []
    assert run_yaml["duration_s"] < 5


def test_run_without_window_ends_with_the_workload(repository):
    work = {"run": [sys.executable, "-c", "import time; time.sleep(0.6)"], "output": "w.txt"}
    run_yaml = one(
        repository,
        window_s=None,
        warmup_s=0.2,
        workload=[{"run": SLEEPER, "output": "s.txt", "stop": "SIGKILL"}, work],
    )
    begin, end = run_yaml["window_s"]
    assert 0.2 <= begin < 0.4
    assert 0.6 <= end < run_yaml["duration_s"] < 5


def test_commands_may_report_fields_at_the_end(repository):
    later = (
        "start: 2026-01-01T00:00:00\nduration_s: 90\nwarmup_s: 10\nwindow_s: [20, 80]\nclients: 4\ntools: {xen: 4.17}\n"
        "files: [{path: work1.csv, entity: web1}]\n"
    )
    run_yaml = one(
        repository,
        collect=[{"run": f"cat > \"$fields\" <<'END'\n{later}END", "shell": True}],
        tools={"sh": "echo 1"},
    )
    assert (
        run_yaml["duration_s"],
        run_yaml["warmup_s"],
        run_yaml["window_s"],
        run_yaml["clients"],
    ) == (
        90,
        10,
        [20, 80],
        4,
    )
    assert run_yaml["tools"] == {"sh": "1", "xen": 4.17}
    assert run_yaml["files"] == [{"path": "work1.csv", "entity": "web1"}]
    assert not (repository.runs / "one-r1" / ".fields.yaml").exists()
    assert "disturbance" in run_yaml


def test_local_disturbance_is_not_recorded_for_a_remote_workload(repository):
    run_yaml = one(
        repository,
        collect=[{"run": "echo 'machine: {cpu: emulated}' > \"$fields\"", "shell": True}],
    )
    assert run_yaml["machine"] == {"cpu": "emulated"} and "disturbance" not in run_yaml


def test_files_are_recorded_as_declared(repository):
    work = {
        "run": ["{here}/work", "{seconds}", "g{n}.csv"],
        "count": 2,
        "files": [{"path": "g{n}.csv", "entity": "guest{n}", "start_s": 1}],
    }
    run_yaml = one(repository, workload=[work])
    assert run_yaml["files"] == [
        {"path": f"g{n}.csv", "entity": f"guest{n}", "start_s": 1.0} for n in (1, 2)
    ]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"workload": ["false"]}, "workload-1 (false) ended with status 1"),
        (
            {
                "workload": ["false"],
                "monitors": [{"run": "echo no counter >&2; exit 3", "shell": True}],
            },
            "monitors-1 (sh) ended with status 3: no counter",
        ),
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
def test_failed_run_is_kept_with_its_reason(repository, fields, words):
    assert words in failure(repository, **fields)


@pytest.mark.parametrize("teardown", [[], ["true"]])
def test_removed_run_folder_is_the_reason(repository, teardown):
    work = {"run": 'rm -r "$PWD"', "shell": True}
    reason = failure(repository, workload=[work], window_s=None, teardown=teardown)
    assert "folder" in reason and "one-r1" in reason and ": true" not in reason


def test_program_output_is_kept(repository):
    failure(
        repository,
        setup=[{"run": "echo out; echo err >&2; echo raw > kept.txt; exit 4", "shell": True}],
    )
    kept = repository.own / "failed" / "one-r1-1"
    assert (kept / "logs" / "setup-1.stdout").read_text() == "out\n"
    assert (kept / "logs" / "setup-1.stderr").read_text() == "err\n"
    assert (kept / "one-r1" / "kept.txt").read_text() == "raw\n"


@pytest.mark.parametrize("phase", ["setup", "workload", "collect"])
def test_teardown_runs_after_any_failure(repository, phase):
    failure(repository, **{phase: ["false"], "teardown": ["false", "touch {here}/torn"]})
    assert (repository.runs / "torn").exists()


def test_first_failure_is_the_reason(repository):
    assert failure(repository, setup=["false"], teardown=["no-such-file/program"]).startswith(
        "setup-1"
    )


def test_no_process_survives_its_run(repository, tmp_path):
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


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux adopts orphans")
def test_escaped_process_writes_no_more_into_the_finished_run(repository, tmp_path):
    """Without the environment's mark, in a session of its own, and its parent has ended."""
    loop = f"echo $$ > {tmp_path / 'pid'}; while :; do echo 1; sleep 0.01; done"
    escape = f'(env -i setsid sh -c "$0" >> escaped.txt 2>&1 &) & while [ ! -s {tmp_path / "pid"} ]; do sleep 0.01; done'
    one(repository, setup=[["sh", "-c", escape, loop]])
    pid = int((tmp_path / "pid").read_text())
    file = repository.runs / "one-r1" / "escaped.txt"
    size = file.stat().st_size
    assert size
    assert not psutil.pid_exists(pid)
    time.sleep(0.1)
    assert file.stat().st_size == size


def test_run_times_are_learned(repository):
    one(repository, collect=["sleep 0.3"])
    beyond = json.loads((repository.own / "times.json").read_text())["one"]
    assert 0.3 < beyond < 10
    repository.write(window_s=30, replicates=1, experiments=ONE)
    harness = repository.harness()
    (run,) = plan(harness.definition, harness.study)
    assert harness.expected_s(run, run) == pytest.approx(2 * (30 + beyond))


def test_condition_may_have_no_workload(repository):
    """An idle baseline with the declared window; without a window it would never end."""
    nothing = {"run": "{here}/work", "count": 0}
    with pytest.raises(StudyError, match="count"):
        repository.measure(workload=[nothing])
    path = repository.root / "data" / "published" / "toy" / "study.yaml"
    path.write_text(path.read_text().replace("levels: [1, 2, 4]", "levels: [0, 1, 2, 4]"))
    none = {"workload": [{"run": "sleep 0.4", "count": "guests"}], "collect": ["touch x.csv"]}
    run_yaml = one(repository, **none, experiments=[{"name": "one", "at": {"guests": 0}}])
    assert run_yaml["window_s"][1] - run_yaml["window_s"][0] == pytest.approx(0.2, abs=0.0011)
    repository.measure(
        **none, window_s=None, replicates=1, experiments=[{"name": "two", "at": {"guests": 0}}]
    )
    assert (
        "the window ends before it begins"
        in (repository.own / "failed" / "two-r1-1" / "reason.txt").read_text()
    )
