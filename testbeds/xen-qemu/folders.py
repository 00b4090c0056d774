"""Raw files of runs, as the tools wrote them, from what a boot wrote, and what run.yaml is to say of them."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from boot import MEMORY_MB
from conditions import CLIENTS, SAMPLES, THINK_MS, WORK_S, Condition

MACHINE: dict[str, str | int] = {
    "cpu": "qemu64, emulated, 16 ns of virtual time an instruction",
    "processors": 1,
    "memory_mb": MEMORY_MB,
    "virtualization": "Xen 4.17 under QEMU",
}
TOOLS = {"xen": "xen-utils-4.17", "sysstat": "sysstat", "busybox": "busybox-static"}
"""The tools of run.yaml and the packages that they came from."""


def write_run(
    out: Path, run: Path, condition: Condition, *, position: int, versions: Mapping[str, str]
) -> dict[str, Any]:
    """Write the raw files of one condition of one boot; returns fields of run.yaml (docs/run-folders.md).

    Parameters
    ----------
    out : Path
        The boot's results.
    run : Path
        The run's folder.
    position : int
        Place of the condition in the boot, from 1.
    versions : mapping of str to str
        Of the packages, by name.

    Raises
    ------
    ValueError
        A log that the condition should have is not there, or xentop wrote fewer samples than it should.
    """
    source = out / "runs" / condition.name
    stamps = [line.split("=") for line in (source / "times").read_text().split()]
    times = {name: float(stamp) for name, stamp in stamps}
    sampled = [float(stamp) for name, stamp in stamps if name == "sample"]
    start = times["start"]
    # dom0 has to wait for its turn, so that the last samples may come when the work is over
    during = [stamp for stamp in sampled if stamp <= start + WORK_S]
    run.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source / "xentop.txt", run / "xentop.txt")
    if len(sampled) != SAMPLES:
        raise ValueError(f"{condition.name}: {len(sampled)} samples of xentop, expected {SAMPLES}")
    interval_s = round((during[-1] - during[0]) / (len(during) - 1), 4)
    files: list[dict[str, str | float]] = [
        {
            "path": "xentop.txt",
            "format": "xentop",
            "start_s": round(sampled[0] - start, 3),
            "interval_s": interval_s,
        }
    ]
    for number in range(1, len(condition.shares) + 1):
        _guest_log(out, f"busy{number}", condition.name, run / f"guests/busy{number}/burn.csv")
    if condition.web_memory:
        console = _guest_log(out, "web1", condition.name, run / "guests/web1/sadf.json")
        clock = float(console.rpartition(f"clock {condition.name} ")[2].split()[0])
        files.append(
            {
                "path": "guests/web1/sadf.json",
                "format": "sadf-json",
                "clock_offset_s": round(times["clock"] - clock, 3),
            }
        )
        (run / "drivers").mkdir()
        shutil.copyfile(source / "webload.csv", run / "drivers/webload.csv")
    # dom0 takes the processor from the guests when xentop begins and after its last sample
    begin = math.ceil(sampled[0] - start)
    fields: dict[str, Any] = {
        "start": datetime.fromtimestamp(start, UTC)
        .replace(tzinfo=None)
        .isoformat(timespec="milliseconds"),
        "duration_s": round(times["end"] - start, 3),
        "warmup_s": begin,
        "window_s": [begin, math.floor(during[-1] - start)],
        "processors": 1,
        "tools": {tool: versions[package] for tool, package in TOOLS.items()}
        | {
            "linux": next(v for k, v in versions.items() if k.startswith("linux-image")),
            "qemu": versions["qemu"],
        },
        "machine": MACHINE,
        "notes": f"Xen under emulation (testbeds/xen-qemu); condition {position} of its boot",
        "files": files,
    }
    if condition.web_memory:
        fields |= {"clients": CLIENTS, "think_time_s": THINK_MS / 1000}
    return fields


def write_boot(out: Path, kept: Path) -> None:
    """Keep what a boot says of itself: its plan, Xen's own description and log, the scheduler's state by condition."""
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    for source in (out.parent / "plan.sh", out / "xl-info.txt", out / "xl-dmesg.txt"):
        shutil.copyfile(source, kept / source.name)
    states = sorted(out.glob("runs/*/sched-credit2.txt"))
    (kept / "sched-credit2.txt").write_text(
        "".join(f"{p.parent.name}\n{p.read_text()}\n" for p in states)
    )


def _guest_log(out: Path, guest: str, name: str, target: Path) -> str:
    """Write what a guest's console shows between `begin NAME` and `end NAME`; what stands before it is returned."""
    console = (out / "console" / f"guest-{guest}.log").read_text()
    before, found, rest = console.partition(f"begin {name}\n")
    log, ended, _ = rest.partition(f"end {name}\n")
    if not (found and ended):
        raise ValueError(f"{guest}: no log of {name} on its console")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(log)
    return before
