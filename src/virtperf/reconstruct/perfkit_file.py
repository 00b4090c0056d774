"""A z/VM Performance Toolkit listing of a simulated run: processors, guests, and storage where it is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from virtperf.formats import Reading, get_format
from virtperf.reconstruct.plan import RunPlan
from virtperf.reconstruct.records import records
from virtperf.reconstruct.simulate import SimulatedRun

PAGES_PER_MIB = 256
STORAGE = {"R>2GB": "resident_memory", "XSTOR": "xstore_memory", "DASD": "dasd_memory"}
"""FCX113 column by the quantity that it carries, summed over guests."""


def perfkit_listing(plan: RunPlan, run: SimulatedRun, raw: Mapping[str, Any]) -> bytes:
    """One interval a minute over the window: FCX100, FCX112, and FCX113 where memory is known."""
    step = raw["monitor_interval_s"]
    t = raw["start"].hour * 3600 + raw["start"].minute * 60 + raw["start"].second + run.monitor_t
    processors = run.processors.shape[1]
    cpu = np.round(100 * run.processors, 1)
    charged = np.round(cpu * (1 - run.hypervisor / run.processors.sum(axis=1))[:, None], 1)
    parts = [
        records("FCX100", "processor", [f"P{i:02d}" for i in range(processors)], t, {
            "%CPU": cpu, "%CP": np.round(cpu - charged, 1), "%EMU": charged, "%WT": np.round(100 - cpu, 1),
            "%SYS": np.round(cpu - charged, 1),
        }),
        _guests(plan, run, t, step),
    ]  # fmt: skip
    if all(name in plan.truth for name in STORAGE.values()):
        parts.append(_storage(plan, t))
    frame = pd.concat(parts, ignore_index=True).sort_values("t", kind="stable", ignore_index=True)
    host = raw["hosts"][plan.levels[raw["hosts"]["factor"]]]
    info = {
        "run date": raw["start"].date().isoformat(), "interval s": str(step), "cpu": host["model"],
        "release": host["version"],
    }  # fmt: skip
    return get_format("perfkit").write(Reading(frame, "time-of-day", info))


def _guests(plan: RunPlan, run: SimulatedRun, t: np.ndarray, step: float) -> pd.DataFrame:
    cpu = np.column_stack([run.guest_cpu[guest.name] for guest in plan.guests])
    fields = {"%CPU": np.round(100 * cpu, 2), "TCPU": np.round(cpu * step, 2), "VCPU": np.round(cpu * step, 2)}
    return records("FCX112", "guest", [guest.name.upper() for guest in plan.guests], t, fields)


def _storage(plan: RunPlan, t: np.ndarray) -> pd.DataFrame:
    """Memory of the guests, in proportion to what they are defined with; whole pages that add up to the truth."""
    defined = np.array([guest.memory_mb for guest in plan.guests], dtype=float)
    fields = {"R<2GB": np.zeros((len(t), len(defined)))}
    for column, name in STORAGE.items():
        pages = np.round(plan.truth[name] * PAGES_PER_MIB)
        edges = np.round(pages * np.concatenate([[0.0], np.cumsum(defined) / defined.sum()]))
        fields[column] = np.tile(np.diff(edges), (len(t), 1))
    zero = np.zeros((len(t), len(defined)))
    fields = {"<Page Rate> Reads": zero, "<Page Rate> Write": zero, **fields}
    return records("FCX113", "guest", [guest.name.upper() for guest in plan.guests], t, fields)
