"""Disturbance of a run by other activity: stolen time, other processes, throttling."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from virtperf.measure.definition import Quiet, Rules

SYSTEM = Path("/sys")
CONTROL_GROUPS = Path("/proc/self/cgroup")
BUSY = ("user", "nice", "system", "irq", "softirq")
IDLE = ("idle", "iowait", "steal")
LIMIT_MESSAGES = {
    "steal_percent": "more than {:g} % of the processor time was stolen",
    "others_cpus": "other processes used more than {:g} processors",
    "thermal_throttles": "processors were thermally throttled more than {:g} times",
    "quota_throttles": "the processor quota was exhausted more than {:g} times",
}

UNKNOWN_STEAL = "the kernel's counter of stolen time decreased: the stolen time is unknown"


@dataclass(frozen=True)
class Counters:
    """Cumulative counters since boot, in seconds of processor time; None if not available."""

    at: float
    busy: float
    total: float
    steal: float
    ours: float
    thermal_throttles: int | None
    quota_throttles: int | None


def counters(ours: Callable[[], float]) -> Counters:
    """Read all counters; `ours` returns the processor time of the run's own processes."""
    times = psutil.cpu_times()
    spent = {name: getattr(times, name, 0.0) for name in BUSY + IDLE}
    busy = sum(spent[name] for name in BUSY)
    heat = _sum(SYSTEM.glob("devices/system/cpu/cpu*/thermal_throttle/core_throttle_count"))
    return Counters(
        time.monotonic(),
        busy,
        sum(spent.values()),
        spent["steal"],
        ours(),
        heat,
        _sum(_quota_files(), "nr_throttled "),
    )


def _quota_files() -> Iterator[Path]:
    """`cpu.stat` files of the harness's own control groups, version 1 and 2."""
    try:
        lines = CONTROL_GROUPS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for _, controllers, group in (line.split(":", 2) for line in lines):
        if controllers == "" or "cpu" in controllers.split(","):
            yield SYSTEM / "fs" / "cgroup" / controllers / group.lstrip("/") / "cpu.stat"


def _sum(files: Iterator[Path], label: str = "") -> int | None:
    """Sum of the integers after a label; None if there are none."""
    values = []
    for path in files:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError:
            continue
        values += [int(line.removeprefix(label)) for line in lines if line.startswith(label)]
    return sum(values) if values else None


def disturbance(begin: Counters, end: Counters) -> dict[str, float]:
    """Disturbance between two readings, by the names of the rules.

    Unavailable counters are omitted, and stolen time also if its counter was reset, as happens in
    some virtual machines.
    """
    total, wall = end.total - begin.total, end.at - begin.at
    values = {}
    if total > 0 and end.steal >= begin.steal:
        values["steal_percent"] = 100 * (end.steal - begin.steal) / total
    if wall > 0:
        values["others_cpus"] = max(0.0, (end.busy - begin.busy - (end.ours - begin.ours)) / wall)
    for name in ("thermal_throttles", "quota_throttles"):
        before, after = getattr(begin, name), getattr(end, name)
        if before is not None and after is not None:
            values[name] = float(after - before)
    return {name: round(value, 4) for name, value in values.items()}


@dataclass(frozen=True)
class ProcessorTimes:
    """Processor time of a host and of a run on it, in clock ticks.

    `ticks` are the cumulative values of the first line of /proc/stat, in its order.
    """

    ticks: tuple[float, ...]
    processors: int
    ours: float


def processor_times(answer: str) -> ProcessorTimes:
    """Parse the answer of keeper.sh; raises `ValueError`."""
    stat, _, rest = answer.partition(" of ")
    processors, ours = rest.split()
    return ProcessorTimes(
        tuple(float(number) for number in stat.split()[1:]), int(processors), float(ours)
    )


def disturbance_between(begin: ProcessorTimes, end: ProcessorTimes) -> dict[str, float]:
    """Disturbance of a host between two readings, by the names of the rules.

    Stolen time is omitted if the kernel does not count it or its counter was reset.
    """
    spent = [after - before for before, after in zip(begin.ticks, end.ticks, strict=True)][:8]
    total = sum(spent)
    if total <= 0:
        return {}
    busy = sum(spent[:3]) + sum(spent[5:7])  # user, nice, system, then interrupts
    others = end.processors * (busy - (end.ours - begin.ours)) / total
    values = {"others_cpus": round(max(0.0, others), 4)}
    if len(spent) == 8 and spent[7] >= 0:
        values["steal_percent"] = round(100 * spent[7] / total, 4)
    return values


def limit_violations(
    rules: Rules, values: dict[str, float], recorded: Collection[str] = frozenset()
) -> list[str]:
    """Messages for violated limits, and for a limit on stolen time if that is unknown.

    Values in `recorded` are informational and violate no limit.
    """
    limits = {name: getattr(rules, name) for name in LIMIT_MESSAGES}
    words = []
    if rules.steal_percent is not None and "steal_percent" not in values:
        words.append(UNKNOWN_STEAL)
    for name, limit in limits.items():
        for place in (name, *(n for n in values if n.endswith(f".{name}"))):
            if limit is not None and place not in recorded and values.get(place, 0) > limit:
                host, _, _ = place.rpartition(".")
                words.append(f"{host}: " * bool(host) + LIMIT_MESSAGES[name].format(limit))
    return words


def limits_without_counter() -> list[str]:
    """Names of the limits whose counters are not available on this machine."""
    now = counters(lambda: 0.0)
    return [name for name in ("thermal_throttles", "quota_throttles") if getattr(now, name) is None]


def wait_until_quiet(
    limits: Quiet,
    ours: Callable[[], float],
    pause: Callable[[float], None],
    report: Callable[[str], None],
) -> bool:
    """Wait until other processes use little processor time; returns whether they did in time.

    `report` is called once, if waiting is necessary.
    """
    until, announced = time.monotonic() + limits.timeout_s, False
    while True:
        begin = counters(ours)
        pause(limits.for_s)
        if disturbance(begin, counters(ours))["others_cpus"] <= limits.cpus:
            return True
        if time.monotonic() >= until:
            return False
        if not announced:
            report(
                f"waiting until other processes use at most {limits.cpus:g} CPUs (timeout {limits.timeout_s:g} s)"
            )
            announced = True
