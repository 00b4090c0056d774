"""What a guest of a simulated run writes: sar over the window, netstat -s at its two ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

import numpy as np
import pandas as pd

from virtperf.formats import Reading, get_format
from virtperf.reconstruct.plan import Guest
from virtperf.reconstruct.records import records
from virtperf.reconstruct.simulate import SimulatedRun


def guest_files(run: SimulatedRun, guests: Sequence[Guest], raw: Mapping[str, Any]) -> dict[str, dict[str, bytes]]:
    """Every guest's files by name."""
    begin, end = (get_format("netstat").write(_netstat(run, raw, at)) for at in raw["window_s"])
    return {
        guest.name: {
            "sar.txt": get_format("sar").write(_sar(run, guest, raw)),
            "netstat-begin.txt": begin,
            "netstat-end.txt": end,
        }
        for guest in guests
    }


def _sar(run: SimulatedRun, guest: Guest, raw: Mapping[str, Any]) -> Reading:
    busy = 100 * run.guest_cpu[guest.name] / guest.vcpus
    system = np.round(busy * raw["conventions"]["system_share"]["value"], 2)
    user = np.round(busy - system, 2)
    zero = np.zeros(len(busy))
    fields = {
        "%user": user, "%nice": zero, "%system": system, "%iowait": zero, "%steal": zero,
        "%idle": np.round(100 - user - system, 2),
    }  # fmt: skip
    start = raw["start"].replace(tzinfo=UTC).timestamp()
    frame = records("cpu", "cpu", ["all"], start + run.monitor_t, {k: v[:, None] for k, v in fields.items()})
    info = {"host": guest.name, "kernel": "Linux", "date": raw["start"].date().isoformat(), "cpus": str(guest.vcpus)}
    return Reading(frame, "absolute", info)


def _netstat(run: SimulatedRun, raw: Mapping[str, Any], at: float) -> Reading:
    step = raw["status_interval_s"]
    elements = sum(x[run.status_t <= at].sum() * step for x in run.throughput.values()) / len(run.throughput)
    segments = np.floor(elements * raw["conventions"]["segments_per_element"]["value"])
    counters = {
        "Ip": {"total packets received": segments},
        "Tcp": {"segments received": segments, "segments sent out": segments, "segments retransmitted": 0.0},
    }
    parts = [
        records(section, "host", [""], np.array([np.nan]), {k: np.array([[float(v)]]) for k, v in fields.items()})
        for section, fields in counters.items()
    ]
    return Reading(pd.concat(parts, ignore_index=True), "none")
