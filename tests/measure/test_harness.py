"""Execution of the plan: each run once, despite failures, signals and kills; no partial runs, no leftovers."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import ClassVar

import psutil
import pytest

from rawperf.core.errors import RawperfError
from rawperf.core.metrics import load_metrics
from virtperf.core.stage_tables import SAMPLES
from virtperf.measure import run as run_module
from virtperf.measure.machine import machine
from virtperf.measure.plan import plan
from virtperf.measure.processes import members
from virtperf.runs.ingest.folder import RunFolder, raw_files, run_folders
from virtperf.runs.ingest.runs import load_run
from virtperf.runs.ingest.samples import read_run

SLEEPER = [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(600)"]
ALL = [f"cpu-guests-{n}-r{k}" for n in (1, 2) for k in (1, 2)]


def identity(repository):
    """The run.yaml of all runs: a repeated run has another start."""
    return {run.name: run.read("run.yaml") for run in run_folders(repository.runs)}


def leftover_processes(repository):
    """Live processes of the repository's runs."""
    return list(members(str(repository.own / "running"), {}))


def check_runs(repository):
    """Assert that every run folder is complete."""
    harness = repository.harness()
    for packed in run_folders(repository.runs):
        run = load_run(packed, harness.study, "measured", packed.raw_files())
        with packed.opened() as folder:
            for n in range(1, run.factors["guests"] + 1):
                assert (folder / f"work{n}.csv").read_text().endswith("1,2\n")


def modified(path):
    """Modification time of a file that may vanish at any moment; 0 if missing."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def wait_for(condition, process=None):
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until
        assert process is None or process.poll() is None, process.output()
        time.sleep(0.01)


def test_missing_runs_are_measured_once(repository):
    outcome, events, messages = repository.measure()
    assert (outcome.measured, outcome.failed, messages) == (4, 0, [])
    assert repository.present() == ALL
    assert [(e.number, e.of) for e in events if e.words] == [(n, 4) for n in (1, 2, 3, 4)]
    before = identity(repository)
    shutil.rmtree(repository.runs / ALL[2])
    outcome, events, _ = repository.measure()
    assert outcome.measured == 1
    assert {e.run_id for e in events} == {ALL[2]}
    after = identity(repository)
    assert {name: after[name] for name in ALL if name != ALL[2]} == {
        n: i for n, i in before.items() if n != ALL[2]
    }
    check_runs(repository)


def test_waiting_for_an_idle_machine_is_reported(repository, monkeypatch):
    monkeypatch.setattr(
        run_module,
        "wait_until_quiet",
        lambda wanted, ours, pause, say: say(f"waits for {wanted.cpus}") or True,
    )
    _, _, messages = repository.measure(replicates=1, wait_quiet={"cpus": 0.5})
    assert sorted(messages) == ["cpu-guests-1-r1: waits for 0.5", "cpu-guests-2-r1: waits for 0.5"]


def test_failed_run_does_not_stop_the_plan(repository):
    work = {"run": ["{here}/work", "{seconds}", "work{n}.csv"], "count": "guests"}
    bad = {"run": 'test "$guests" = 1', "shell": True}
    outcome, events, _ = repository.measure(setup=[bad], workload=[work])
    assert (outcome.measured, outcome.failed) == (2, 2)
    assert repository.present() == ["cpu-guests-1-r1", "cpu-guests-1-r2"]
    assert [e.fine for e in events if e.words and "guests-2" in e.run_id] == [False, False]
    repository.measure()
    assert repository.harness().attempts() == {"cpu-guests-2-r1": 2, "cpu-guests-2-r2": 2}
    names = sorted(p.name for p in (repository.own / "failed").iterdir())
    assert names == [
        "cpu-guests-2-r1-1",
        "cpu-guests-2-r1-2",
        "cpu-guests-2-r2-1",
        "cpu-guests-2-r2-2",
    ]


def test_missing_program_is_reported_before_measuring(repository):
    with pytest.raises(RawperfError, match="programs not found: no-such-program"):
        repository.measure(teardown=["no-such-program"])
    with pytest.raises(RawperfError, match="can't determine the version of x"):
        repository.measure(teardown=None, tools={"x": "true"})
    assert repository.present() == []


def test_second_harness_is_rejected_while_the_first_runs(repository):
    repository.write(window_s=1, replicates=1, experiments=[{"name": "one", "at": {"guests": 1}}])
    first = repository.start()
    wait_for((repository.own / "running" / "state.json").exists, first)
    with pytest.raises(
        RawperfError, match=f"process {first.pid} is already measuring in this repository"
    ):
        repository.measure()
    out = first.output(300)
    assert first.returncode == 0, out
    assert repository.present() == ["one-r1"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_stops_the_harness_cleanly(repository, number):
    repository.write(
        window_s=30, monitors=[{"run": SLEEPER, "output": "m.txt"}], teardown=["touch {here}/torn"]
    )
    process = repository.start(
        prepare=lambda: signal.signal(number, signal.SIG_DFL)
    )  # the default, not that of a background job
    wait_for(lambda: len(leftover_processes(repository)) >= 2, process)
    process.send_signal(number)
    out = process.output(90)
    assert process.returncode == 128 + number, out
    assert out.splitlines()[-1] == "interrupted: the current run was removed, earlier runs are kept"
    assert (repository.runs / "torn").exists()
    assert (repository.present(), leftover_processes(repository)) == ([], [])
    assert not (repository.own / "running").exists()


def test_background_job_can_stop_monitors_by_sigint(repository):
    """A shell's background jobs ignore SIGINT, and their children inherit that."""
    code = "import time\ntry: print(1, flush=True); time.sleep(60)\nexcept KeyboardInterrupt: print('end')"
    repository.write(
        window_s=0.6,
        replicates=1,
        experiments=[{"name": "one", "at": {"guests": 1}}],
        monitors=[{"run": [sys.executable, "-c", code], "output": "m.txt", "stop": "SIGINT"}],
    )
    process = repository.start(prepare=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    wait_for((repository.own / "running" / "state.json").exists, process)
    process.send_signal(signal.SIGINT)
    out = process.output(90)
    assert process.returncode == 0, out
    (run,) = run_folders(repository.runs)
    assert run.read("m.txt") == b"1\nend\n"
    assert repository.described("one-r1")["disturbed"] == []


def test_leftovers_of_a_killed_harness_are_cleaned_up(repository):
    """The next start ends leftover processes, runs the teardown and removes the partial run folder."""
    stray = {"run": "setsid sleep 600 >/dev/null 2>&1 &", "shell": True}
    repository.write(
        window_s=30,
        setup=[stray],
        monitors=[{"run": SLEEPER, "output": "m.txt"}],
        teardown=["touch {here}/torn-{run}"],
    )
    process = repository.start()
    wait_for(lambda: len(leftover_processes(repository)) >= 3, process)
    process.kill()
    process.output()
    orphans = leftover_processes(repository)
    (half,) = (p for p in (repository.own / "running").iterdir() if p.name.startswith("cpu"))
    assert len(orphans) >= 3
    assert repository.present() == []
    (repository.own / ".times.json.abc").write_text(
        "{"
    )  # a partially written file of a killed harness
    _, _, messages = repository.measure(teardown=["touch {here}/torn-{run}"])
    assert len(messages) == 1
    assert messages[0].startswith(f"{half.name} was interrupted: stopped its processes (")
    assert not [p for p in orphans if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
    assert (repository.runs / f"torn-{half.name}").exists()
    assert repository.present() == ALL
    assert [p.name for p in repository.own.iterdir()] == ["times.json"]


def test_damaged_record_of_a_killed_run_is_ignored(repository):
    for text in ("", "[]", '{"run": "../x", "replicate": 1, "sessions": [[1, 2]]}', '{"run": 1}'):
        (repository.own / "running" / "x").mkdir(parents=True)
        (repository.own / "running" / "state.json").write_text(text)
        repository.measure()
        assert repository.present() == ALL
        assert not (repository.own / "running").exists()


@pytest.mark.slow
def test_harness_killed_at_random_times_measures_every_run_once(repository):
    rng = random.Random("ten kills")
    repository.write(
        window_s=0.3,
        replicates=6,
        monitors=[{"run": SLEEPER, "output": "m.txt"}],
        setup=[{"run": "setsid sleep 600 >/dev/null 2>&1 &", "shell": True}],
    )
    seen: dict[str, int] = {}
    halves = 0
    for kill in range(6):
        began, state = time.time(), repository.own / "running" / "state.json"
        process = repository.start()
        if kill % 3:  # the other kills hit the start or the cleanup
            wait_for(lambda: modified(state) > began, process)  # noqa: B023
        time.sleep(rng.uniform(0.0, 1.0))
        started = psutil.Process(process.pid).children(recursive=True) if kill % 2 else []
        process.kill()
        for program in started:  # as when the session or the OOM killer kills them all
            with contextlib.suppress(psutil.NoSuchProcess):
                program.kill()
        process.output()
        halves += (repository.own / "running").exists()
        check_runs(repository)
        now = identity(repository)
        assert seen.items() <= now.items()  # finished runs are unchanged
        seen = now
    assert halves >= 3
    process = repository.start()
    out = process.output(60)
    assert process.returncode == 0, out
    assert seen.items() <= identity(repository).items()
    assert repository.present() == [f"cpu-guests-{n}-r{k}" for n in (1, 2) for k in range(1, 7)]
    check_runs(repository)
    assert leftover_processes(repository) == []
    assert sorted(p.name for p in repository.own.iterdir()) == ["times.json"]


def test_full_disk_is_a_one_line_error(repository):
    """Simulated by a file size limit that the harness exceeds when it writes run.yaml."""
    repository.write(replicates=1, tools={f"tool{n}": ["echo", "x" * 190] for n in range(20)})
    process = repository.start(
        prepare=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
    )
    out = process.output(300)
    assert process.returncode == 1
    assert out.splitlines()[-1].startswith(
        f"Error: {repository.runs}: File too large; the current run was removed"
    )
    assert repository.present() == []
    assert not (repository.own / "running").exists()


@pytest.mark.slow
@pytest.mark.parametrize("then", [";", "&&"], ids=["unnoticed by the workload", "which fails"])
def test_disk_filled_by_the_workload(repository, then):
    runs = repository.runs
    made = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(runs)], capture_output=True
    )
    if not made or made.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        fill = {
            "run": f"dd if=/dev/zero of=big.bin bs=64k count=$((8 * $guests * $guests)) {then} sleep 0.2",
            "shell": True,
        }
        repository.write(workload=[fill])
        process = repository.start()
        out = process.output(300)
        assert process.returncode == 1
        assert "No space left on device; the current run was removed" in out.splitlines()[-1]
        assert not (repository.own / "running").exists()
        assert set(repository.present()) < set(ALL)
        for name in repository.present():
            assert repository.described(name)["run"] == name
        if then == "&&":
            return
        # an unwritable folder is a one-line error too
        subprocess.run(["mount", "-o", "remount,ro", str(runs)], check=True, capture_output=True)
        process = repository.start()
        out = process.output(300)
        assert process.returncode == 1
        assert (
            "Read-only file system. Write to a folder that is not read-only" in out.splitlines()[-1]
        )
    finally:
        subprocess.run(["umount", str(runs)], check=True)


def test_machine_facts_are_anonymous():
    facts = machine()
    assert {"architecture", "processors", "kernel", "memory_mb"} <= set(facts)
    assert facts["processors"] == os.cpu_count()
    assert all(isinstance(fact, str | int) and fact not in (None, "") for fact in facts.values())
    words = " ".join(map(str, facts.values())).split()
    assert os.uname().nodename not in words
    assert str(Path.home()) not in " ".join(words)


@pytest.mark.slow
@pytest.mark.skipif(
    not (shutil.which("sar") and shutil.which("vmstat")), reason="sysstat and procps are not there"
)
def test_real_monitors_around_busy_processes(repository, root):
    """One, two and four busy processes for two seconds each, with sar, vmstat and files."""
    repository.write(
        replicates=1,
        window_s=2,
        tools={"sysstat": "sar -V"},
        workload=[{"run": ["{here}/work", "{seconds}", "work{n}.csv", "busy"], "count": "guests"}],
        monitors=[
            {"run": "sar -u 1", "output": "sar.txt", "stop": "SIGINT"},
            {"run": "vmstat -n -t 1", "output": "host/vmstat.txt"},
        ],
        experiments=[{"name": "cpu", "over": {"guests": [1, 2, 4]}}],
    )
    outcome, _, _ = repository.measure()
    assert outcome.measured == 3
    check_runs(repository)
    harness, metrics = repository.harness(), load_metrics(root / "src" / "rawperf" / "metrics.yaml")
    for name in repository.present():
        folder = repository.runs / name
        run = load_run(RunFolder(folder), harness.study, "measured", raw_files(folder))
        read_run(folder, run, metrics, repository.runs.parent / "samples.parquet")
        samples = SAMPLES.read(repository.runs.parent / "samples.parquet")
        inside = samples[
            (samples["metric"] == "cpu_user") & samples["t_s"].between(0, run.duration_s + 1)
        ]
        assert len(inside) >= 1, name
        assert len((folder / "host" / "vmstat.txt").read_text().splitlines()) >= 4
        assert run.tools["sysstat"].startswith("sysstat version")
        assert not [flag for flag in run.disturbed if flag.startswith("monitors")]


def test_unneeded_runs_are_skipped_with_one_message_per_experiment(repository):
    class Enough:
        """A stopping rule that is satisfied by two blocks."""

        taken: ClassVar[list[str]] = []

        def add(self, run, folder):
            assert folder.path.is_dir()
            self.taken.append(run.run_id)

        def words(self, run):
            return f"{len(self.taken)} known"

        def skip_reason(self, run):
            return "2 blocks are enough" if run.replicate > 2 else ""

    repository.write(replicates=4)
    made = repository.harness()
    events, messages = [], []
    outcome = made.measure(
        plan(made.definition, made.study), events.append, messages.append, Enough()
    )
    assert (outcome.measured, outcome.not_needed, messages) == (4, 4, ["cpu: 2 blocks are enough"])
    assert repository.present() == ALL == sorted(Enough.taken)
    assert [e.precision for e in events if e.words] == [f"{n} known" for n in (1, 2, 3, 4)]
