"""The Linux testbed: guests in both cgroup versions, plan, measured runs."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest
import yaml

from virtperf.measure.plan import load_definition, plan
from virtperf.runs.ingest.runs import Run
from virtperf.study.definition import load_study

ROOT = Path(__file__).parents[2]
TESTBED = ROOT / "testbeds" / "linux"
STUDY = ROOT / "data" / "measured" / "linux-2026"

sys.path.insert(0, str(TESTBED))
try:
    import cgroup
finally:
    sys.path.remove(str(TESTBED))
_SPEC = importlib.util.spec_from_file_location("linux_recompute", TESTBED / "recompute.py")
recompute = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(recompute)


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
def test_counters_are_nanoseconds_and_bytes_in_both_versions(version, request):
    group = cgroup.Group(request.getfixturevalue(f"version_{version}"), "guest1").make()
    if version == 1:
        texts = {
            "cpuacct.usage": "2500000000\n",
            "cpu.stat": "nr_periods 5\nnr_throttled 1\nthrottled_time 7000\n",
            "memory.stat": "cache 4096\nrss 8192\npgmajfault 3\n",
        }
    else:
        texts = {
            "cpu.stat": "usage_usec 2500000\nuser_usec 2000000\nthrottled_usec 7\n",
            "memory.stat": "anon 8192\nfile 4096\npgmajfault 3\n",
        }
    for name, text in texts.items():
        group.file(name).write_text(text)
    assert group.cpu_ns() == (2_500_000_000, 7000)
    assert group.memory() == (8192, 4096, 3)


def test_blocks_hold_every_condition_and_sessions_are_planned_alike():
    study = load_study(STUDY)
    definition = load_definition(STUDY / "measure.yaml", study)
    planned = plan(definition, study)
    for session in (1, 5):
        own = [run for run in planned if run.levels["session"] == session]
        assert len(own) == 96
        assert [run.replicate for run in own] == sorted(run.replicate for run in own)
        blocks = [[r for r in own if r.replicate == block] for block in range(1, 7)]
        assert all(len({r.run_id for r in block}) == 16 for block in blocks)
        orders = {tuple(r.run_id.rpartition("-r")[0] for r in block) for block in blocks}
        assert len(orders) == len(blocks), "each block has an order of its own"


def test_measured_runs_are_planned_small_and_anonymous():
    study = load_study(STUDY)
    definition = load_definition(STUDY / "measure.yaml", study)
    planned = {run.run_id: run for run in plan(definition, study)}
    runs = list(recompute.run_files(STUDY))
    assert runs
    for contents in runs:
        run = Run.model_validate(yaml.safe_load(contents["run.yaml"]))
        assert planned[run.run_id].replicate == run.replicate
        assert {factor: planned[run.run_id].levels[factor] for factor in run.factors} == run.factors
        assert len(contents) <= 12 and sum(map(len, contents.values())) <= 60_000
        host = json.loads(contents["host/sadf.json"])["sysstat"]["hosts"][0]
        assert host["nodename"] == "machine"
        assert not any(re.search(rb"/(home|root|work)/", text) for text in contents.values())


def test_raw_files_agree_with_each_other_and_with_the_response_time_law():
    runs = [recompute.Run(files) for files in recompute.run_files(STUDY)]
    assert runs
    for run in runs:
        name, found = run.info["run"], run.found
        assert 0 < found["cpu_guests"] <= 101, name
        if run.info["factors"]["test"] in ("encryption", "memory"):
            assert found["cpu_guests"] <= 50.5, f"{name}: one process, or one processor"
        if "law" in found:
            assert found["law"] == pytest.approx(1, abs=0.02), name
            assert b"Non-2xx" not in run.files["drivers/wrk.txt"], name
        if "reads" in found and not run.info["disturbed"]:  # else the rate varies over the run
            assert found["reads"] == pytest.approx(found["reads_by_fio"], rel=0.05), name


def test_guest_waiting_for_memory_is_resumed_and_keeps_its_limit(version_1):
    group = cgroup.Group(version_1, "guest1").make(memory=2**28)
    group.keep_alive()
    assert group.file("memory.oom_control").read_text() == "1"
    group.file("memory.oom_control").write_text("oom_kill_disable 1\nunder_oom 0\n")
    assert not group.reclaim(2**28)
    group.file("memory.oom_control").write_text("oom_kill_disable 1\nunder_oom 1\n")
    assert group.reclaim(2**28)
    assert group.memory_limit() == 2**28
