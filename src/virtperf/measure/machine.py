"""What is known of the machine and its tools; nothing that names the machine or its user."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

import psutil
from cpuinfo import get_cpu_info

from rawperf.core.errors import VirtperfError
from rawperf.core.model import Level
from virtperf.measure.commands import Call
from virtperf.measure.processes import CLOCK

PROCESSORS = Path("/sys/devices/system/cpu")
PROCESSOR_LIST = Path("/proc/cpuinfo")
PATIENCE_S = 30.0
MAX_FACT_LENGTH = 200


def machine() -> dict[str, Level]:
    """Facts by name, such as ``cpu``, ``cores``, ``kernel``, ``memory_mb``; without those that the
    machine hides.

    `processors` are logical ones; of `governor` and `microcode` all that occur are named.
    """
    cpu = get_cpu_info()
    hertz = cpu.get("hz_advertised")
    facts: dict[str, Level | None] = {
        "cpu": cpu.get("brand_raw"),
        "architecture": platform.machine(),
        "processors": psutil.cpu_count(),
        "cores": psutil.cpu_count(logical=False),
        "cpu_mhz": round(hertz[0] / 1e6) if hertz else None,
        "microcode": _all(
            line.partition(":")[2]
            for line in _lines(PROCESSOR_LIST)
            if line.startswith("microcode")
        ),
        "governor": _all(
            line
            for p in PROCESSORS.glob("cpu[0-9]*/cpufreq/scaling_governor")
            for line in _lines(p)
        ),
        "virtualization": _virtualization("hypervisor" in cpu.get("flags", ())),
        "memory_mb": psutil.virtual_memory().total // 2**20,
        "swap_mb": psutil.swap_memory().total // 2**20,
        "kernel": f"{platform.system()} {platform.release()}",
        "system": _system(),
    }
    return {name: fact for name, fact in facts.items() if fact not in (None, "")}


def versions(tools: Mapping[str, Call]) -> dict[str, str]:
    """The first line that each tool's command prints.

    Raises
    ------
    VirtperfError
        The tool is not there, prints nothing or does not end.
    """
    found = {}
    for name, call in tools.items():
        try:
            done = subprocess.run(  # noqa: S603 - what measure.yaml says
                call.argv,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=PATIENCE_S,
                check=False,
                env={**os.environ, **CLOCK},
            )
            lines = (done.stdout + b"\n" + done.stderr).decode("utf-8", "replace").splitlines()
        except (OSError, ValueError, subprocess.TimeoutExpired) as err:
            raise VirtperfError(f"the version of {name} can't be had: {err}") from err
        text = next((line.strip() for line in lines if line.strip()), "")
        if not text:
            raise VirtperfError(
                f"the version of {name} can't be had",
                found=f"status {done.returncode}, nothing printed",
            )
        found[name] = text.replace(str(Path.home()), "~")[:MAX_FACT_LENGTH]
    return found


def _virtualization(hypervisor: bool) -> str:
    """What the system runs in, as systemd calls it; without systemd only whether there is a
    hypervisor.
    """
    program = shutil.which("systemd-detect-virt")
    if program is None:
        return "hypervisor" if hypervisor else ""
    around = [
        subprocess.run(  # noqa: S603
            [program, kind], capture_output=True, text=True, timeout=PATIENCE_S, check=False
        ).stdout.strip()
        for kind in ("--vm", "--container")
    ]
    return ", ".join(name for name in around if name != "none") or "none"


def _system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _all(texts: Iterable[str]) -> str:
    return ", ".join(sorted({text.strip() for text in texts}))
