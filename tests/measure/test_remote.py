"""Runs over two ssh hosts: collected files, cleanup on the hosts, loss of a host."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from rawperf.core.errors import RawperfError, StudyError
from tests.measure.hosts import SSHD, far_hosts, leftovers
from virtperf.measure import machine as machine_module
from virtperf.measure.commands import Call
from virtperf.measure.definition import RemoteHost, Rules
from virtperf.measure.disturbance import (
    ProcessorTimes,
    disturbance_between,
    limit_violations,
    processor_times,
)
from virtperf.measure.hosts import host_facts
from virtperf.measure.plan import plan
from virtperf.measure.processes import MARK, Failure, Interrupted, LostHost
from virtperf.measure.remote import (
    FACTS,
    KEEPER,
    ClockOffset,
    Connection,
    compared_clocks,
    open_connections,
    unpack,
)
from virtperf.runs.ingest.clocks import align
from virtperf.runs.ingest.folder import RunFolder, raw_files
from virtperf.runs.ingest.runs import load_run


@pytest.fixture(scope="module")
def far(tmp_path_factory):
    if SSHD is None:
        pytest.skip("there is no sshd: apt-get install openssh-server")
    with far_hosts(tmp_path_factory.mktemp("far")) as made:
        yield made


@pytest.fixture
def toy(repository, far):
    """The toy repository with a short run on the two hosts."""
    tool = repository.root / "testbeds" / "toy"
    tool.mkdir(parents=True)
    (tool / "load.sh").write_text(
        '. "$(dirname "$0")/words.sh"\necho "$1 $words" > load.txt\nsleep "$2"\n'
    )
    (tool / "words.sh").write_text("words='of the copy'\n")
    repository.far = far
    repository.write(**declared(far))
    return repository


def declared(far, **fields):
    given = {
        "hosts": far.declared,
        "replicates": 1,
        "lead_s": 0.5,
        "window_s": 0.3,
        "monitors": [{"preset": "meminfo", "on": ["hypervisor", "guest*"]}],
        "workload": [
            {
                "run": ["sh", "{root}/testbeds/toy/load.sh", "{host}", "{seconds}"],
                "on": "guest{n}",
                "count": "guests",
            }
        ],
        "experiments": [{"name": "cpu", "over": {"guests": [1]}}],
    }
    return {**given, **fields}


def at_work(far):
    """Wait until the workload runs on its host."""
    wait_until(lambda: any(far.scratch.glob("virtperf-guest1-*/load.txt")), 60)


def wait_until(true, seconds=10.0):
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until
        time.sleep(0.1)


def test_remote_run_collects_all_files_and_cleans_up_hosts(toy, far):
    shift = far.hosts["guest1"].shift
    shift.write_text("90\n")
    try:
        outcome, events, messages = toy.measure()
    finally:
        shift.write_text("0\n")
    assert (outcome.measured, outcome.failed) == (1, 0), (events[-1].words, messages)
    folder = toy.runs / "cpu-guests-1-r1"
    assert (folder / "load.txt").read_text() == "guest1 of the copy\n"
    assert "MemTotal" in (folder / "guest1" / "meminfo.txt").read_text()
    run = toy.described("cpu-guests-1-r1")
    assert {f["path"]: (f["host"], f["entity"]) for f in run["files"]} == {
        "guest1/meminfo.txt": ("guest1", "guest1"),
        "hypervisor/meminfo.txt": ("hypervisor", ""),
        "load.txt": ("guest1", "guest1"),
    }
    assert abs(run["clocks"]["hypervisor"]["offset_s"]) < 0.5
    assert abs(run["clocks"]["guest1"]["offset_s"] - 90) < 0.5
    assert_on_one_clock(folder)
    assert run["machine"]["guest1.kernel"] == run["machine"]["hypervisor.kernel"]
    assert run["machine_state"]["guest1.free_memory_mb"] > 0
    assert list(run["protocol"]["files"]) == ["testbeds/toy"]
    assert {f"{h}.{fact}" for h in far.hosts for fact in ("steal_percent", "others_cpus")} <= set(
        run["disturbance"]
    )
    assert leftovers(far.scratch) == ([], [])


def assert_on_one_clock(folder):
    """Assert that files of both hosts are converted to the run's clock."""
    run = load_run(RunFolder(folder), None, "measured", raw_files(folder))
    seconds = {}
    for file in run.files:
        if file.path.endswith("meminfo.txt"):
            first = float((folder / file.path).read_text().split("\n", 1)[0])
            seconds[file.host] = float(align(np.array([first]), "absolute", file, run)[0])
            elapsed = float(align(np.array([1.0]), "elapsed", file, run)[0])
            assert elapsed == 1.0  # has no host clock
    assert seconds["hypervisor"] == pytest.approx(seconds["guest1"], abs=3)
    assert -2 < seconds["guest1"] < 10


def test_clock_change_during_a_run_fails_it(toy, far):
    shift = far.hosts["guest1"].shift
    set_clock = {"run": f"echo 3 > {shift}; sleep 0.3", "shell": True, "on": "guest1"}
    try:
        outcome, events, _ = toy.measure(monitors=None, workload=[set_clock], **kept(far))
    finally:
        shift.write_text("0\n")
    assert outcome.failed == 1
    assert re.search(r"guest1: its clock drifted by \+[23]\.\d+ s in the run", events[-1].words)
    assert toy.present() == [] and leftovers(far.scratch) == ([], [])


def kept(far):
    """The fields of `declared` other than commands."""
    fields = declared(far)
    return {name: fields[name] for name in ("hosts", "replicates", "window_s", "experiments")}


def test_non_streamed_output_is_fetched_after_the_run(toy, far):
    both = ["hypervisor", "guest1"]
    quiet = {"run": "echo $host; sleep 0.3", "shell": True, "on": both, "output": "{host}/said.txt"}
    toy.measure(workload=[{**quiet, "streams": False}], **kept(far))
    outputs = {host: (toy.runs / f"cpu-guests-1-r1/{host}/said.txt").read_text() for host in both}
    assert outputs == {"hypervisor": "hypervisor\n", "guest1": "guest1\n"}


def test_fetched_file_cannot_overwrite_or_escape_the_run_folder(tmp_path):
    archive, folder = tmp_path / "a.tar", tmp_path / "run"
    folder.mkdir()
    source = tmp_path / "text"
    source.write_text("1\n")

    def packed(name):
        with tarfile.open(archive, "w") as made:
            made.add(source, name)
        return unpack(archive, folder, "guest1")

    assert packed("./guest1/a.txt") == ["guest1/a.txt"]
    assert packed("./.fields.yaml") == []
    with pytest.raises(Failure, match=r"guest1 wrote guest1/a\.txt, which already exists"):
        packed("./guest1/a.txt")
    with pytest.raises(Failure, match="guest1: its files can't be unpacked"):
        packed("../b.txt")
    assert not (tmp_path / "b.txt").exists()


def test_unknown_host_key_is_rejected(toy, far, tmp_path):
    other = tmp_path / "config"
    other.write_text(far.config.read_text().replace(str(far.known_hosts), str(tmp_path / "none")))
    hosts = {name: {**host, "config": str(other)} for name, host in far.declared.items()}
    with pytest.raises(RawperfError, match="Host key verification failed") as caught:
        toy.measure(**declared(far, hosts=hosts))
    assert "known host key" in str(caught.value)
    assert toy.present() == []


def test_program_missing_on_a_host_is_reported_before_measuring(toy, far):
    with pytest.raises(RawperfError, match="programs not found on hypervisor: no-such-program"):
        toy.measure(**declared(far, collect=[{"run": "no-such-program", "on": "hypervisor"}]))


def test_killed_harness_leaves_nothing_on_hosts_and_the_next_runs_teardown(toy, far, tmp_path):
    torn = tmp_path / "torn"
    down = {"run": f"echo $host >> {torn}", "shell": True, "on": "hypervisor"}
    escaped = {
        "run": "setsid sleep 1000 >/dev/null 2>&1 </dev/null &",
        "shell": True,
        "on": "guest1",
    }
    toy.write(**declared(far, window_s=60.0, setup=[escaped], teardown=[down]))
    child = os.fork()
    if child == 0:
        toy.measure()
        os._exit(0)
    try:
        at_work(far)
        assert any(line == ["sleep", "1000"] for line in leftovers(far.scratch)[1])
    finally:
        os.kill(child, signal.SIGKILL)
        killed = time.monotonic()
        os.waitpid(child, 0)
    wait_until(lambda: leftovers(far.scratch) == ([], []))
    assert time.monotonic() - killed < 10
    assert toy.present() == [] and not torn.exists()
    messages = []
    toy.harness().measure([], lambda _: None, messages.append)
    assert torn.read_text() == "hypervisor\n"
    assert "cpu-guests-1-r1 was interrupted" in messages[0]


def test_signal_ends_the_run_on_hosts(toy, far):
    toy.write(**declared(far, window_s=60.0))

    def stop():
        at_work(far)
        os.kill(os.getpid(), signal.SIGTERM)

    stopping = threading.Thread(target=stop)
    stopping.start()
    with pytest.raises(Interrupted):
        toy.measure()
    stopping.join()
    assert toy.present() == [] and leftovers(far.scratch) == ([], [])


def test_lost_host_fails_the_run_and_may_end_the_session(toy, far):
    toy.write(**declared(far, window_s=60.0, replicates=3, on_lost_host="abort"))
    guest = far.hosts["guest1"]

    def die():
        at_work(far)
        guest.kill()

    killer = threading.Thread(target=die)
    killer.start()
    try:
        with pytest.raises(
            RawperfError, match=r"cpu-guests-1-r1 failed: .*guest1.* the connection was lost"
        ):
            toy.measure()
        killer.join()
        wait_until(lambda: leftovers(far.scratch) == ([], []))
        assert toy.present() == []
        (failed,) = (toy.own / "failed").iterdir()
        assert (failed / "reason.txt").read_text().count("\n") == 1
        with pytest.raises(RawperfError, match=r"guest1: no connection \(.*refused"):
            toy.measure()
    finally:
        killer.join()
        guest.start()


def test_guest_started_by_setup_is_reached_when_ready(toy, far):
    """The sshd is no child of the run: it belongs to another machine."""
    guest = far.hosts["guest1"]
    guest.kill()
    hosts = far.declared
    hosts["guest1"] |= {"started_in_setup": True, "connect_s": 60}
    begun = toy.root / "begun"
    setup = {"run": f"touch {begun}", "on": "hypervisor"}
    guest.start(after=begun)
    outcome, events, _ = toy.measure(**declared(far, hosts=hosts, setup=[setup]))
    assert outcome.measured == 1, events[-1].words
    run = toy.described("cpu-guests-1-r1")
    assert {"hypervisor.kernel", "guest1.kernel"} <= set(run["machine"])
    assert "guest1.boot" in run["machine_state"] and leftovers(far.scratch) == ([], [])


def test_leftovers_of_a_killed_keeper_are_ended_by_the_next_connection(far, tmp_path):
    host = RemoteHost.model_validate(far.declared["guest1"])
    folder = f"{far.scratch}/virtperf-guest1-000000000abc"
    connection = Connection("guest1", host, tmp_path, folder, tmp_path / "errors")
    with open_connections([connection]):
        work = Call("work-1", ("sleep", "1000"), {}, None, (), None, 10.0, "guest1")
        client = subprocess.Popen(connection.command(work), stdin=subprocess.DEVNULL)
        try:
            wait_until(lambda: leftovers(far.scratch)[1])
            for process in psutil.process_iter(["cmdline"]):
                if (process.info["cmdline"] or [])[-3:-1] == ["keeper", folder]:
                    process.kill()
            with pytest.raises(LostHost):
                connection.clock()
        finally:
            client.kill()
            client.wait()
        assert leftovers(far.scratch)[1] == [["sleep", "1000"]]
    assert leftovers(far.scratch) == ([], [])


def test_documented_example_is_a_valid_measure_yaml(repository, root):
    text = (root / "docs" / "measure-remote.md").read_text().split("```yaml\n")[1].split("```")[0]
    (repository.runs / "measure.yaml").write_text(text)
    made = repository.harness()
    runs = {run.levels["guests"]: run for run in plan(made.definition, made.study)}
    calls = runs[2].all_calls(made.here, made.root, made.here)
    assert [(c.name, c.host, c.output) for c in calls if c.name.startswith("m")] == [
        ("monitors-1", "hypervisor", "hypervisor/mpstat.txt"),
        ("monitors-2", "hypervisor", "hypervisor/domstats.txt"),
        ("monitors-3", "guest1", "guest1/vmstat.txt"),
        ("monitors-4", "guest2", "guest2/vmstat.txt"),
    ]
    assert made.hosts.named(made.hosts.calls([runs[1]])) == ["hypervisor", "guest1"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"workload": [{"run": "true", "on": "guest7"}]}, "no host is named 'guest7'"),
        ({"workload": [{"run": "true", "on": "g*", "output": "x"}]}, "several hosts write x"),
        (
            {"workload": [{"run": "true", "streams": False}]},
            "streams: false applies only to commands with on and output",
        ),
        ({"hosts": {"g1": {"ssh": "-oProxyCommand=x"}}}, "ssh"),
        (
            {"hosts": {"g1": {"ssh": "a", "kind": "host"}, "g2": {"ssh": "b", "kind": "host"}}},
            "only one host may be of kind host; found g1, g2",
        ),
    ],
)
def test_invalid_host_settings_are_rejected_with_location(repository, fields, words):
    hosts = {"g1": {"ssh": "root@10.0.0.1"}, "g2": {"ssh": "g2"}}
    with pytest.raises(StudyError, match=re.escape(words)) as caught:
        repository.write(**{"hosts": hosts, **fields})
        repository.harness()
    assert "measure.yaml" in str(caught.value)


def test_remote_facts_equal_local_facts():
    printed = subprocess.run(["sh", str(FACTS)], capture_output=True, text=True, check=False).stdout
    found = host_facts(printed)
    own = machine_module.machine()
    names = set(own) - {"cpu_mhz", "governor", "damon"}
    assert {name: found.get(name) for name in names} == {name: own[name] for name in names}
    assert found["free_memory_mb"] > 0 and "d_state_tasks" in found
    assert host_facts("") == {
        "memory_mb": 0,
        "damon": "off",
        "swap_mb": 0,
        "swap_devices": 0,
        "swap_used_mb": 0,
        "free_memory_mb": 0,
        "d_state_tasks": 0,
    }


def test_clock_offset_is_recorded_and_unknown_offset_is_rejected():
    def compared(*readings, max_drift_s=0.1):
        before, after = ({"g": ClockOffset(*r)} for r in readings)
        return compared_clocks(before, after, max_drift_s)

    found = compared((2.0, 0.01), (2.05, 0.02))
    assert found == {"g": {"offset_s": 2.025, "uncertainty_s": 0.02, "drift_s": 0.05}}
    assert compared((0.0, 0.1), (0.29, 0.1))["g"]["drift_s"] == 0.29  # within the uncertainty
    with pytest.raises(Failure, match=r"drifted by \+0.310 s in the run \(clock_drift_s: 0.1\)"):
        compared((0.0, 0.1), (0.31, 0.1))
    with pytest.raises(Failure, match=r"the round trip takes 2.2 s"):
        compared((0.0, 1.1), (0.0, 0.1))


def test_other_cpu_time_is_the_rest_and_steal_is_a_share_of_total():
    begin = ProcessorTimes((0.0,) * 10, 4, 0.0)
    end = ProcessorTimes((50, 0, 0, 40, 0, 0, 0, 10, 5, 0), 4, 30.0)
    assert disturbance_between(begin, end) == {"steal_percent": 10, "others_cpus": 0.8}
    assert disturbance_between(begin, begin) == {}
    back = ProcessorTimes((50, 0, 0, 60, 0, 0, 0, -10, 5, 0), 4, 90.0)
    assert disturbance_between(begin, back) == {"others_cpus": 0.0}
    assert limit_violations(Rules(others_cpus=0.1), {"others_cpus": 0.0, "a.others_cpus": 2.0}) == [
        "a: other processes used more than 0.1 processors"
    ]
    assert not limit_violations(Rules(others_cpus=0.1), {"a.others_cpus": 2.0}, {"a.others_cpus"})


def test_keeper_counts_cpu_time_of_ended_processes(tmp_path):
    folder = str(tmp_path / "virtperf-guest1-000000000abc")
    script = KEEPER.read_text(encoding="utf-8")
    with subprocess.Popen(
        ["sh", "-c", script, "keeper", folder, "15"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as keeper:
        assert keeper.stdout.readline() == "ready\n"

        def read():
            keeper.stdin.write("processors\n")
            keeper.stdin.flush()
            return processor_times(keeper.stdout.readline())

        burn = "import time; t = time.process_time()\nwhile time.process_time() < t + 0.4: pass"
        first = read()
        marked = {**os.environ, MARK: folder}
        subprocess.run([sys.executable, "-c", burn], env=marked, check=True)  # acts as the sshd
        second = read()
        assert second.processors == os.cpu_count()
        assert 30 < second.ours - first.ours < 400
        assert len(second.ticks) >= 8
        keeper.stdin.close()
    assert not Path(folder).exists()
