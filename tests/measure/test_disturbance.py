"""Disturbance of a run, computed from machine counters and judged by the declared limits."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from virtperf.measure import disturbance as module
from virtperf.measure.definition import Quiet, Rules
from virtperf.measure.disturbance import (
    Counters,
    counters,
    disturbance,
    limit_violations,
    limits_without_counter,
    wait_until_quiet,
)

ZERO = Counters(0.0, 0.0, 0.0, 0.0, 0.0, 0, 0)
SECONDS = st.floats(0, 1e4)


@given(
    wall=st.floats(0.1, 1e4), ours=SECONDS, others=SECONDS, idle=SECONDS, steal=st.floats(0.01, 1e4)
)
def test_shares_are_recovered_from_counters(wall, ours, others, idle, steal):
    total = ours + others + idle + steal
    found = disturbance(ZERO, Counters(wall, ours + others, total, steal, ours, 3, None))
    assert found["others_cpus"] == pytest.approx(others / wall, abs=1e-3, rel=1e-9)
    assert found["steal_percent"] == pytest.approx(100 * steal / total, abs=1e-3)
    assert found["thermal_throttles"] == 3
    assert "quota_throttles" not in found


def test_limit_is_exceeded_only_above_its_value():
    found = {"steal_percent": 2.0, "others_cpus": 0.11}
    assert limit_violations(Rules(steal_percent=2, others_cpus=0.1), found) == [
        "other processes used more than 0.1 processors"
    ]
    assert limit_violations(Rules(steal_percent=1.9), found) == [
        "more than 1.9 % of the processor time was stolen"
    ]
    assert limit_violations(Rules(thermal_throttles=0), found) == []
    assert limit_violations(Rules(others_cpus=0.2), {"others_cpus": 0.1}) == []
    assert limit_violations(Rules(), found) == []


def test_decreasing_steal_counter_makes_only_steal_unknown():
    """A run with unknown steal time does not count as undisturbed."""
    begin = replace(ZERO, steal=90.0, total=100.0)
    for total in (95.0, 140.0):  # the total may or may not decrease as well
        found = disturbance(
            begin, replace(begin, at=10.0, busy=6.0, ours=4.0, steal=50.0, total=total)
        )
        assert found == {"others_cpus": 0.2, "thermal_throttles": 0.0, "quota_throttles": 0.0}
        assert limit_violations(Rules(steal_percent=2, others_cpus=0.3), found) == [
            module.UNKNOWN_STEAL
        ]
        assert limit_violations(Rules(others_cpus=0.1), found) == [
            "other processes used more than 0.1 processors"
        ]


def test_busy_time_excludes_idle_iowait_and_steal(monkeypatch):
    spent = {name: 2.0**n for n, name in enumerate(("user", "nice", "system", "irq", "softirq"))}
    other = {
        "idle": 64.0,
        "iowait": 128.0,
        "steal": 256.0,
        "guest": 512.0,
    }  # user time includes guest time
    monkeypatch.setattr(psutil, "cpu_times", lambda: SimpleNamespace(**spent, **other))
    made = counters(lambda: 5.0)
    assert (made.ours, made.busy, made.total, made.steal) == (5, 31, 31 + 64 + 128 + 256, 256)


def test_machine_counters_are_readable():
    before = psutil.cpu_times()
    made = counters(lambda: 0.0)
    assert made.busy >= before.user
    assert made.total >= made.busy


def test_throttling_is_summed_over_cpus_and_control_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SYSTEM", tmp_path)
    monkeypatch.setattr(module, "CONTROL_GROUPS", tmp_path / "cgroup")
    assert (counters(lambda: 0).thermal_throttles, counters(lambda: 0).quota_throttles) == (
        None,
        None,
    )
    assert limits_without_counter() == ["thermal_throttles", "quota_throttles"]
    for cpu, count in ((0, 3), (1, 4)):
        place = tmp_path / "devices" / "system" / "cpu" / f"cpu{cpu}" / "thermal_throttle"
        place.mkdir(parents=True)
        (place / "core_throttle_count").write_text(f"{count}\n")
    (tmp_path / "cgroup").write_text("4:memory:/a\n3:cpu,cpuacct:/job/1\n0::/user\n")
    for place, count in (
        ("cpu,cpuacct/job/1", 10),
        ("user", 20),
        ("memory/a", 400),
        ("cpu,cpuacct", 800),
    ):
        (tmp_path / "fs" / "cgroup" / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / "fs" / "cgroup" / place / "cpu.stat").write_text(
            f"nr_periods 7\nnr_throttled {count}\nthrottled_time 5\n"
        )
    found = counters(lambda: 0)
    assert (found.thermal_throttles, found.quota_throttles) == (7, 30)
    assert limits_without_counter() == []


def test_waiting_for_an_idle_machine_times_out(monkeypatch):
    busy = iter([9.0, 9.0, 0.05, 9.0])
    waited = []
    state = {"now": ZERO}

    def read(ours):
        return state["now"]

    def pause(seconds):
        waited.append(seconds)
        last = state["now"]
        state["now"] = replace(
            last, at=last.at + seconds, busy=last.busy + next(busy) * seconds, total=last.total + 99
        )

    monkeypatch.setattr(module, "counters", read)
    messages = []
    assert wait_until_quiet(Quiet(cpus=0.1, for_s=2.0), lambda: 0.0, pause, messages.append)
    assert waited == [2.0, 2.0, 2.0]
    assert messages == ["waiting until other processes use at most 0.1 CPUs (timeout 600 s)"]
    assert not wait_until_quiet(Quiet(cpus=0.1, timeout_s=0.0), lambda: 0.0, pause, messages.append)
    assert len(messages) == 1
