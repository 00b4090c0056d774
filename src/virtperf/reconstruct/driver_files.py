"""What the workload driver of a simulated run writes: its console log and its XML snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from virtperf.formats import Reading, get_format
from virtperf.reconstruct.records import records
from virtperf.reconstruct.simulate import SimulatedRun


def driver_files(run: SimulatedRun, driver: str, raw: Mapping[str, Any]) -> dict[str, bytes]:
    """Console log and snapshots of one driver, by file name."""
    step = raw["status_interval_s"]
    conventions = raw["conventions"]
    elements = np.round(np.cumsum(run.throughput[driver] * step))
    transactions = np.round(elements / conventions["elements_per_transaction"]["value"])
    weighted = np.cumsum(run.throughput[driver] * step * run.response[driver]) / elements
    return {
        "console.log": get_format("iwl-console").write(_console(run, driver, raw, elements, transactions, weighted)),
        "snapshots.xml": get_format("iwl-xml").write(_snapshots(run, raw, elements, transactions, weighted)),
    }


def _console(
    run: SimulatedRun, driver: str, raw: Mapping[str, Any], elements: np.ndarray, transactions: np.ndarray,
    weighted: np.ndarray,
) -> Reading:  # fmt: skip
    clients = raw["driver"]["clients"]
    x = run.throughput[driver]
    mib_s = x * raw["conventions"]["element_kib"]["value"] / 1024
    status = records(
        "status", "driver", [""], np.arange(len(x)),
        {name: np.asarray(values, dtype=float).reshape(-1, 1) for name, values in {
            "clients": np.full(len(x), clients), "clients max": np.full(len(x), clients), "rd": mib_s,
            "wr": mib_s / 20, "pg": elements, "web err": np.zeros(len(x)), "resp avg": run.response[driver],
            "pg elem/s": x,
        }.items()},
    )  # fmt: skip
    duration = raw["duration_s"]
    totals = {
        "Run time": duration, "Clients completed": 0, "Clients completed max": clients,
        "Page elements": elements[-1], "Page element throughput": elements[-1] / duration,
        "Transactions": transactions[-1], "Transaction throughput": transactions[-1] / duration,
        "Network I/O errors": 0, "Web server errors": 0,
        "Num of pages retrieved": elements[-1], "Page throughput": elements[-1] / duration,
        "HTTP data read": mib_s.sum() * raw["status_interval_s"],
        "HTTP data written": mib_s.sum() * raw["status_interval_s"] / 20,
        "HTTP avg. page element response time": weighted[-1],
    }  # fmt: skip
    summary = records(
        "summary", "driver", [""], np.array([np.nan]), {name: np.array([[float(v)]]) for name, v in totals.items()}
    )
    return Reading(pd.concat([status, summary], ignore_index=True), "sample", {"time limit": str(duration)})


def _snapshots(
    run: SimulatedRun, raw: Mapping[str, Any], elements: np.ndarray, transactions: np.ndarray, weighted: np.ndarray
) -> Reading:
    at = np.flatnonzero(run.status_t % raw["snapshot_interval_s"] == 0)
    fields = {
        "pages": elements, "page_elements": elements, "transactions": transactions,
        "response_time_avg": np.round(weighted, 6), "errors": np.zeros(len(elements)),
    }  # fmt: skip
    frame = records("snapshot", "driver", [""], run.status_t[at], {k: v[at][:, None] for k, v in fields.items()})
    return Reading(frame, "elapsed")
