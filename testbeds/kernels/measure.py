"""Make one run: start guests, let them do the condition's work, write down what they and the host say.

`virtperf measure kernels-2026` calls this, once a run.
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import hashlib
import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import cpus
import dcss
import groups
import gvisor
import host
import locks
import network
import overcommit
import shares
import stacking
import swap
import veth

HERE = Path(__file__).resolve().parent
LAB = "/var/tmp/virtperf-kernels"  # noqa: S108 - kernels and images, which stay between runs
EXPERIMENTS: dict[str, Callable[..., None]] = {
    "dcss": dcss.measure,
    "overcommit": overcommit.measure,
    "swap": swap.measure,
    "gvisor": gvisor.measure,
    "shares": shares.measure,
    "stacking": stacking.measure,
    "cpus": cpus.measure,
    "locks": locks.measure,
    "network": network.measure,
    "veth": veth.measure,
}
WITHOUT_GUESTS = ("gvisor", "veth")
"""Experiments without a guest's kernel, in real time, on the machine itself."""
PR_SET_CHILD_SUBREAPER = 36
"""Of prctl(2): orphans below this process become its children."""
ON_THE_HOST = ("cpus", "locks")
"""Experiments that count the host's processor time: what the host is and what disturbs it belongs to the run."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("test", choices=[*EXPERIMENTS, "build", "clean"])
    parser.add_argument("condition", nargs="*", metavar="FACTOR=LEVEL")
    parser.add_argument("--into", type=Path, help="where the raw files go")
    parser.add_argument("--fields", type=Path, help="gets what run.yaml is to say")
    chosen = parser.parse_args()
    lab = Path(os.environ.get("VIRTPERF_LAB", LAB)).resolve()
    lab.mkdir(parents=True, exist_ok=True)
    if chosen.test == "clean":
        host.unmerge(lab / "merging")
        groups.clean()
        network.clean()
        veth.clean()
        gvisor.clean(lab)
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was set up is undone
    with (lab / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _build(lab)
        if chosen.test == "build":  # else the first run does it
            gvisor.prepared(lab / "gvisor")
            return 0
        condition = dict(part.split("=", 1) for part in chosen.condition)
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        EXPERIMENTS[chosen.test](lab, chosen.into, **_typed(condition))
        _wait_for_orphans()
    if chosen.test in WITHOUT_GUESTS:
        return 0
    fields: dict[str, object] = {"tools": _versions(lab)}
    if chosen.test not in ON_THE_HOST:
        fields["machine"] = _machine()
    chosen.fields.write_text(
        "".join(f"{key}: {json.dumps(value)}\n" for key, value in fields.items())
    )
    return 0


def _wait_for_orphans(seconds: float = 5.0) -> None:
    """Wait for what programs have left behind, such as the processes of a sandbox: only the processor
    time of a child that was waited for is counted with that of the run.
    """
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.05)
        except ChildProcessError:
            return


def _build(lab: Path) -> None:
    """Build what is missing, and all anew when the guests' files have changed."""
    made_of = hashlib.sha256()
    for path in sorted([HERE / "build.sh", HERE / "packages.txt", *(HERE / "guest").iterdir()]):
        made_of.update(path.read_bytes())
    mark = lab / "made-of.txt"
    if not mark.is_file() or mark.read_text() != made_of.hexdigest():
        subprocess.run([HERE / "build.sh", lab], check=True, stdout=sys.stderr)
        mark.write_text(made_of.hexdigest())


def _typed(condition: dict[str, str]) -> dict[str, int | str]:
    return {
        name: int(level) if re.fullmatch(r"-?\d+", level) else level
        for name, level in condition.items()
    }


def _versions(lab: Path) -> dict[str, str]:
    versions = dict(line.split() for line in (lab / "versions.txt").read_text().splitlines())
    emulator = subprocess.run(
        ["qemu-system-x86_64", "--version"], check=True, capture_output=True, text=True
    ).stdout
    return versions | {"qemu": re.findall(r"version (\S+)", emulator)[0]}


def _machine() -> dict[str, object]:
    return {
        "cpu": "qemu64, emulated, 16 ns of virtual time an instruction",
        "processors": 1,
        "kernel": platform.release(),
        "virtualization": "QEMU TCG",
    }


if __name__ == "__main__":
    sys.exit(main())
