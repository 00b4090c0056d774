"""Simulated runs as raw run folders, in the tools' own formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import yaml

from virtperf.params import Parameters
from virtperf.reconstruct.driver_files import driver_files
from virtperf.reconstruct.guest_files import guest_files
from virtperf.reconstruct.monitor_files import MONITORS
from virtperf.reconstruct.plan import RunPlan
from virtperf.reconstruct.simulate import simulate
from virtperf.study import Study

Entry = tuple[bytes, dict[str, Any]]


def write_runs(
    study: Study, raw: Mapping[str, Any], plans: Sequence[RunPlan], parameters: Parameters, folder: Path,
    progress: Callable[[str], None],
) -> None:  # fmt: skip
    """Write every run folder below `folder`, on all processors; each depends on its own plan and seed alone."""
    with ProcessPoolExecutor(mp_context=get_context("forkserver")) as pool:
        work = [pool.submit(write_run, study.id, plan, raw, parameters, folder / plan.run_id) for plan in plans]
        for number, (plan, done) in enumerate(zip(plans, work, strict=True), start=1):
            done.result()
            progress(f"run {number} of {len(plans)}: {plan.run_id}")


def write_run(study_id: str, plan: RunPlan, raw: Mapping[str, Any], parameters: Parameters, folder: Path) -> None:
    """Write one run folder: driver logs and snapshots, the host's monitor, sar and netstat of every guest, run.yaml."""
    run = simulate(plan, raw, parameters.reconstruct, parameters.seed)
    begin, end = raw["window_s"]
    files: dict[str, Entry] = {}
    for driver in plan.drivers:
        for name, data in driver_files(run, driver, raw).items():
            entry: dict[str, Any] = {"entity": driver}
            if name == "console.log":
                entry |= {
                    "format": "iwl-console",
                    "start_s": raw["status_interval_s"],
                    "interval_s": raw["status_interval_s"],
                }
            else:
                entry |= {"format": "iwl-xml"}
            files[f"drivers/{driver}/{name}"] = (data, entry)
    monitor = raw["hosts"][plan.levels[raw["hosts"]["factor"]]]["monitor"]
    files[f"{monitor}.txt"] = (
        MONITORS[monitor](plan, run, raw),
        {"format": monitor, "entity": "host", "entity_kind": "host"},
    )
    for guest, written in guest_files(run, plan.guests, raw).items():
        for name, data in written.items():
            entry = {"entity": guest, "format": "sar"}
            if name.startswith("netstat"):
                entry = {"entity": guest, "format": "netstat", "at_s": begin if "begin" in name else end}
            files[f"guests/{guest}/{name}"] = (data, entry)

    for path, (data, _) in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    (folder / "run.yaml").write_text(_run_yaml(study_id, plan, raw, files), encoding="utf-8")


def _run_yaml(study_id: str, plan: RunPlan, raw: Mapping[str, Any], files: Mapping[str, Entry]) -> str:
    head = {
        "study": study_id,
        "run": plan.run_id,
        "provenance": "reconstructed",
        "factors": dict(plan.levels),
        "replicate": plan.replicate,
        "start": raw["start"].isoformat(),
        "duration_s": raw["duration_s"],
        "warmup_s": raw["warmup_s"],
        "window_s": list(raw["window_s"]),
        "clients": plan.clients,
        "think_time_s": raw["driver"]["think_time_s"],
        "files": [{"path": path, **entry} for path, (_, entry) in files.items()],
    }
    comment = "# Simulated from the paper's text; not a measurement.\n"
    return comment + yaml.safe_dump(head, sort_keys=False, width=200, default_flow_style=None)
