"""What the host's monitor of a simulated run writes, by monitor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from virtperf.formats import Reading, get_format
from virtperf.reconstruct.perfkit_file import perfkit_listing
from virtperf.reconstruct.plan import RunPlan
from virtperf.reconstruct.records import records
from virtperf.reconstruct.simulate import SimulatedRun


def xentop_listing(plan: RunPlan, run: SimulatedRun, raw: Mapping[str, Any]) -> bytes:
    """`xentop -b -d 60 -i 10` from the beginning of the window: Domain-0 carries what no guest is charged for."""
    host = raw["hosts"][plan.levels[raw["hosts"]["factor"]]]
    step = raw["monitor_interval_s"]
    begin = raw["start"].hour * 3600 + raw["start"].minute * 60 + raw["start"].second + raw["window_s"][0]
    names = ["Domain-0", *(guest.name for guest in plan.guests)]
    memory = np.array([_host_domain_mb(plan, host), *(guest.memory_mb for guest in plan.guests)]) * 1024.0
    cpus = np.column_stack([run.hypervisor, *run.guest_cpu.values()])
    # an iteration shows the interval that it ends: the first has none, so ten iterations show nine
    shown = cpus[: len(cpus) - 1]
    before = cpus.mean(axis=0) * raw["window_s"][0]
    seconds = np.floor(np.vstack([before, before + np.cumsum(shown * step, axis=0)]))
    samples = len(seconds)
    elements = sum(x.mean() for x in run.throughput.values()) * step * np.arange(samples)
    kib = np.outer(np.floor(elements * raw["conventions"]["element_kib"]["value"]), np.ones(len(names)))
    fields = {
        "CPU(sec)": seconds,
        "CPU(%)": np.vstack([np.full(len(names), np.nan), np.round(100 * shown, 1)]),
        "MEM(k)": memory,
        "MEM(%)": np.round(100 * memory / (host["memory_mb"] * 1024), 1),
        "MAXMEM(k)": memory,
        "MAXMEM(%)": np.round(100 * memory / (host["memory_mb"] * 1024), 1),
        "VCPUS": np.array([host["processors"], *(guest.vcpus for guest in plan.guests)], dtype=float),
        "NETS": np.array([0.0] + [1.0] * len(plan.guests)),
        "NETTX(k)": np.where(np.arange(len(names)) > 0, kib, 0.0),
        "NETRX(k)": np.where(np.arange(len(names)) > 0, np.floor(kib / 20), 0.0),
        "VBDS": np.array([0.0] + [1.0] * len(plan.guests)),
        "VBD_OO": np.zeros(len(names)),
        "VBD_RD": np.zeros(len(names)),
        "VBD_WR": np.zeros(len(names)),
        "SSID": np.zeros(len(names)),
    }
    frame = records("", "domain", names, begin + step * np.arange(samples, dtype=float), fields)
    info = {
        "columns": "17", "summary": "yes", "xen_version": host["version"], "cpus": str(host["processors"]),
        "cpu_mhz": str(host["mhz"]), "mem_total_k": str(host["memory_mb"] * 1024),
    }  # fmt: skip
    return get_format("xentop").write(Reading(frame, "time-of-day", info))


def _host_domain_mb(plan: RunPlan, host: Mapping[str, Any]) -> int:
    """Memory of the host's own domain: what the guests leave."""
    return host["memory_mb"] - sum(guest.memory_mb for guest in plan.guests)


MONITORS: Mapping[str, Callable[[RunPlan, SimulatedRun, Mapping[str, Any]], bytes]] = {
    "perfkit": perfkit_listing,
    "xentop": xentop_listing,
}
