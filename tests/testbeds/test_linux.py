"""The Linux testbed: guests in both cgroup versions, plan, measured runs."""

from __future__ import annotations

import functools
import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

import virtperf as vp
from tests.cases import each_case
from virtperf.measure.plan import load_definition, plan
from virtperf.runs.ingest.runs import Run
from virtperf.study.definition import load_study

ROOT = Path(__file__).parents[2]
TESTBED = ROOT / "testbeds" / "linux"
STUDY = ROOT / "data" / "measured" / "linux-2026"
MEASURED = sorted(path.parent for path in STUDY.glob("*/run.yaml"))
PROCESSORS = 2

sys.path.insert(0, str(TESTBED))
try:
    import cgroup
finally:
    sys.path.remove(str(TESTBED))


@pytest.fixture
def version_1(tmp_path):
    """Mounted cgroup v1 controllers."""
    for name in ("cpu", "cpuacct", "cpuset", "memory", "blkio"):
        (tmp_path / name).mkdir()
    (tmp_path / "cpuset" / "cpuset.cpus").write_text("0-1\n")
    (tmp_path / "cpuset" / "cpuset.mems").write_text("0\n")
    return cgroup.Tree(tmp_path)


@pytest.fixture
def version_2(tmp_path):
    """A mounted cgroup v2 tree."""
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    return cgroup.Tree(tmp_path)


LIMITS = {"weight": 2048, "quota": 0.25, "memory": 2**28, "cpus": "1", "reads": "8:0 2000"}


def test_cgroup_v1_limits_are_in_controller_folders(version_1):
    cgroup.Group(version_1, "guest1").make(**LIMITS)
    files = {
        "cpu/virtperf/cpu.shares": str(cgroup.HEAVY),
        "cpuset/virtperf/cpuset.cpus": "0-1",
        "cpu/virtperf/guest1/cpu.shares": "2048",
        "cpu/virtperf/guest1/cpu.cfs_quota_us": "25000",
        "memory/virtperf/guest1/memory.limit_in_bytes": str(2**28),
        "cpuset/virtperf/guest1/cpuset.mems": "0",
        "cpuset/virtperf/guest1/cpuset.cpus": "1",
        "blkio/virtperf/guest1/blkio.throttle.read_iops_device": "8:0 2000",
    }
    assert {name: (version_1.mount / name).read_text() for name in files} == files
    assert version_1.names() == ["guest1"]


def test_cgroup_v2_limits_are_in_one_folder(version_2):
    group = cgroup.Group(version_2, "guest1").make(**LIMITS)
    files = {
        "cpu.weight": "200",
        "cpu.max": "25000 100000",
        "memory.max": str(2**28),
        "cpuset.cpus": "1",
        "io.max": "8:0 riops=2000",
    }
    assert {
        name: (version_2.mount / "virtperf" / "guest1" / name).read_text() for name in files
    } == files
    assert (version_2.mount / "cgroup.subtree_control").read_text() == "+cpu +cpuset +memory +io"
    assert group.limited()


def test_missing_controller_is_reported(tmp_path):
    (tmp_path / "cgroup.controllers").write_text("cpu io memory\n")
    with pytest.raises(OSError, match="no control group controller cpuset"):
        cgroup.Tree(tmp_path)


@pytest.mark.parametrize("version", [1, 2])
def test_counters_are_read_as_cpu_time(version, request, tmp_path):
    tree = request.getfixturevalue(f"version_{version}")
    group = cgroup.Group(tree, "guest1").make()
    texts = {"cpu.stat": "nr_periods 0\nnr_throttled 0\n"}
    if version == 1:
        texts |= {
            "cpuacct.usage": "2500000000\n",
            "cpuacct.usage_user": "2000000000\n",
            "cpuacct.usage_sys": "500000000\n",
        }
    else:
        texts["cpu.stat"] = (
            "usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n" + texts["cpu.stat"]
        )
    for name, text in texts.items():
        group.file(name).write_text(text)
    later = re.sub(r"2(5|0)0000", r"3\g<1>0000", group.cpu())
    (tmp_path / "cpu.txt").write_text(f"1790000000.000000\n{group.cpu()}1790000002.000000\n{later}")
    frame = vp.read(tmp_path / "cpu.txt")
    rates = frame.dropna(subset="metric_value").set_index("metric")["metric_value"]
    assert rates["group_cpu"] == pytest.approx(0.5)
    assert rates["group_cpu_user"] == pytest.approx(0.5)
    assert rates["group_cpu_system"] == 0


def test_blocks_are_complete_and_every_measured_run_is_planned():
    study = load_study(STUDY)
    definition = load_definition(STUDY / "measure.yaml", study)
    planned = {run.run_id: run for run in plan(definition, study)}
    long = {f"long-{name}" for name in "abcdei"}
    assert {experiment.name for experiment in definition.experiments} == set("axobicdnegf") | long
    for name in set("axobicdnef") | long:
        blocks = {run.replicate for run in planned.values() if run.experiment.name == name}
        assert blocks == set(range(1, 10 if name == "long-b" else 7))
    for folder in MEASURED:
        run = Run.model_validate(described(folder))
        assert planned[run.run_id].replicate == run.replicate
        assert {factor: planned[run.run_id].levels[factor] for factor in run.factors} == run.factors


@functools.cache
def described(folder: Path) -> dict[str, Any]:
    return yaml.load((folder / "run.yaml").read_text(), yaml.CSafeLoader)


def used_by_guests(folder: Path) -> float:
    """Processors used by all guests within the window, from their counters."""
    run = described(folder)
    zero = datetime.fromisoformat(run["start"]).replace(tzinfo=UTC).timestamp()
    begin, end = (zero + at for at in run["window_s"])
    used = 0.0
    for path in folder.glob("guests/*/cpu.txt"):
        samples = re.findall(r"^(\d+\.\d+)\ncpuacct\.usage (\d+)$", path.read_text(), re.MULTILINE)
        inside = [(float(at), int(ns)) for at, ns in samples if begin <= float(at) <= end]
        used += (inside[-1][1] - inside[0][1]) / 1e9 / (inside[-1][0] - inside[0][0])
    return used


@each_case("folder", MEASURED)
def test_measured_cpu_shares_are_within_limits(folder):
    used = used_by_guests(folder)
    assert 0 < used <= PROCESSORS * 1.01
    run = described(folder)
    if run["factors"]["test"] in ("encryption", "driver", "memory"):
        assert used <= 1.01  # one process, or one processor
    for path in (p for p in folder.glob("drivers/wrk*") if p.suffix != ".csv"):
        took = re.search(r"requests in ([\d.]+)(m?s)", path.read_text())
        asked = re.search(r"Running (\d+)s test", path.read_text())
        assert float(took[1]) / (1000 if took[2] == "ms" else 1) == pytest.approx(
            float(asked[1]), rel=0.05
        )
        assert "Non-2xx" not in path.read_text()


@each_case("folder", [f for f in MEASURED if re.match("(long-)?[ax]-", f.name)])
def test_per_second_rates_agree_with_totals(folder):
    """Summed over guests: one of eight gets more or less in the second before counting starts, until the kernel has
    balanced the guests over the processors.
    """
    total = sent = 0.0
    for path in folder.glob("drivers/wrk*.txt"):
        total += float(re.search(r"Requests/sec: +([\d.]+)", path.read_text())[1])
        seconds = [
            line.split(",") for line in path.with_suffix(".csv").read_text().splitlines()[1:]
        ]
        sent += sum(float(n) / float(length) for _, length, n in seconds) / len(seconds)
    assert sent == pytest.approx(total, rel=0.05)


def test_guest_waiting_for_memory_is_resumed_and_keeps_its_limit(version_1):
    group = cgroup.Group(version_1, "guest1").make(memory=2**28)
    group.keep_alive()
    assert group.file("memory.oom_control").read_text() == "1"
    group.file("memory.oom_control").write_text("oom_kill_disable 1\nunder_oom 0\n")
    assert not group.reclaim(2**28)
    group.file("memory.oom_control").write_text("oom_kill_disable 1\nunder_oom 1\n")
    assert group.reclaim(2**28)
    assert group.memory_limit() == 2**28


@each_case("folder", MEASURED)
def test_run_is_small_and_anonymous(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert max(path.stat().st_size for path in files) < 2**20
    host = json.loads((folder / "host" / "sadf.json").read_text())["sysstat"]["hosts"][0]
    assert host["nodename"] == "machine"
    assert not any(re.search(rb"/(home|root|work)/", path.read_bytes()) for path in files)
