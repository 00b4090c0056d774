"""Facts about the machine and its tools; none identifies the machine or its user."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import psutil
from cpuinfo import get_cpu_info

from rawperf.core.errors import RawperfError
from rawperf.core.model import Level
from virtperf.measure.commands import Call
from virtperf.measure.processes import CLOCK_ENVIRONMENT
from virtperf.measure.remote import Connections

PROCESSORS = "/sys/devices/system/cpu"
TIMEOUT_S = 30.0
MAX_FACT_LENGTH = 200
KERNEL_PARAMETERS = re.compile(
    r"(mitigations|isolcpus|nohz|nohz_full|rcu_nocbs|nosmt|maxcpus|nr_cpus|transparent_hugepage"
    r"|hugepages|hugepagesz|default_hugepagesz|idle|processor\.max_cstate|intel_idle\.max_cstate"
    r"|intel_pstate|amd_pstate|cpufreq\.default_governor|clocksource|tsc|norandmaps|numa_balancing"
    r"|preempt|kvm[\w-]*\.[\w-]+|nested_pvm|pti|nopti|l1tf|mds|spectre_v2|retbleed|swapaccount"
    r"|cgroup_disable|systemd\.unified_cgroup_hierarchy|zswap\.enabled)(=[\w.,:+-]*)?"
)
"""Allow-list of kernel parameters that affect measurements.

Others may name hosts, disks or keys.
"""
N_STATE_SAMPLES, STATE_SAMPLE_INTERVAL_S = 3, 0.05
"""Samples of the process state, and their distance in seconds.

A task counts as stuck if it is in state D in all samples: one that reads a file is in one.
"""


def machine() -> dict[str, Level]:
    """Facts by name, such as ``cpu``, ``cores``, ``kernel``; unavailable ones are omitted.

    `processors` are logical ones; `governor` and `microcode` list all distinct values.
    """
    cpu = get_cpu_info()
    hertz = cpu.get("hz_advertised")
    facts: dict[str, Level | None] = {
        "cpu": cpu.get("brand_raw"),
        "architecture": platform.machine(),
        "processors": psutil.cpu_count(),
        "cores": psutil.cpu_count(logical=False),
        "numa_nodes": len(_texts("/sys/devices/system/node/node[0-9]*")) or None,
        "cpu_mhz": round(hertz[0] / 1e6) if hertz else None,
        "microcode": unique_texts(
            line.partition(":")[2]
            for line in _lines("/proc/cpuinfo")
            if line.startswith("microcode")
        ),
        "virtualization": _virtualization("hypervisor" in cpu.get("flags", ())),
        "memory_mb": psutil.virtual_memory().total // 2**20,
        "kernel": f"{platform.system()} {platform.release()}",
        "kernel_parameters": kernel_parameters(_text("/proc/cmdline")),
        "vulnerabilities": open_vulnerabilities(_texts(f"{PROCESSORS}/vulnerabilities/*")),
        "system": _system(),
        **machine_settings(),
    }
    return {name: fact for name, fact in facts.items() if fact not in (None, "")}


def machine_settings() -> dict[str, Level]:
    """Facts that an administrator or a service can change at run time."""
    names = (process.info["name"] or "" for process in psutil.process_iter(["name"]))
    is_damon = any(name.startswith("kdamond") for name in names)
    facts: dict[str, Level | None] = {
        **kernel_settings(_text, _texts, damon=is_damon),
        "swap_mb": psutil.swap_memory().total // 2**20,
        "swap_devices": len(_lines("/proc/swaps")[1:]),
    }
    return {name: fact for name, fact in facts.items() if fact not in (None, "")}


def kernel_settings(
    text: Callable[[str], str], texts: Callable[[str], Mapping[str, str]], *, damon: bool
) -> dict[str, Level]:
    """Settings of the kernel, "" if unavailable: of a file's `text` by its path, and the `texts` of the
    files that match a pattern, by path.
    """
    no_turbo = {"0": "on", "": ""}.get(text(f"{PROCESSORS}/intel_pstate/no_turbo"), "off")
    boost = {"1": "on", "": ""}.get(text(f"{PROCESSORS}/cpufreq/boost"), "off")
    huge = re.search(r"\[([^]]*)\]", text("/sys/kernel/mm/transparent_hugepage/enabled"))
    return {
        "governor": unique_texts(
            texts(f"{PROCESSORS}/cpu[0-9]*/cpufreq/scaling_governor").values()
        ),
        "turbo": no_turbo or boost,  # a machine has at most one of the two files
        "smt": text(f"{PROCESSORS}/smt/control"),
        "transparent_hugepage": huge[1] if huge else "",
        "ksm": {"0": "off", "1": "on", "2": "off"}.get(text("/sys/kernel/mm/ksm/run"), ""),
        "damon": "on" if damon else "off",
        "aslr": text("/proc/sys/kernel/randomize_va_space"),
        "clock_source": text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    }


def machine_state() -> dict[str, Level]:
    """Current memory and task state, which varies from run to run and does not identify runs."""
    stuck = _uninterruptible()
    for _ in range(N_STATE_SAMPLES - 1):
        if stuck:
            time.sleep(STATE_SAMPLE_INTERVAL_S)
            stuck &= _uninterruptible()
    return {
        "swap_used_mb": psutil.swap_memory().used // 2**20,
        "free_memory_mb": psutil.virtual_memory().available // 2**20,
        "d_state_tasks": len(stuck),
    }


def kernel_parameters(command_line: str) -> str:
    """The allow-listed parameters of a kernel command line."""
    return " ".join(word for word in command_line.split() if KERNEL_PARAMETERS.fullmatch(word))


def tool_versions(tools: Mapping[str, Call], hosts: Connections) -> dict[str, str]:
    """Version of each tool: the first non-empty line that its command prints.

    Raises
    ------
    RawperfError
        The command can't be started, prints nothing or times out.
    """
    versions = {}
    for name, call in tools.items():
        try:
            done = subprocess.run(  # noqa: S603 - what measure.yaml says
                hosts[call.host].command(call) if call.host else call.argv,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=TIMEOUT_S,
                check=False,
                env={**os.environ, **CLOCK_ENVIRONMENT},
            )
            lines = (done.stdout + b"\n" + done.stderr).decode("utf-8", "replace").splitlines()
        except (OSError, ValueError, subprocess.TimeoutExpired) as err:
            raise RawperfError(f"can't determine the version of {name}: {err}") from err
        text = next((line.strip() for line in lines if line.strip()), "")
        if not text:
            raise RawperfError(
                f"can't determine the version of {name}",
                found=f"exit status {done.returncode} and no output",
            )
        versions[name] = text.replace(str(Path.home()), "~")[:MAX_FACT_LENGTH]
    return versions


def _virtualization(hypervisor: bool) -> str:
    """Virtualization type from systemd-detect-virt, or only whether there is a hypervisor."""
    program = shutil.which("systemd-detect-virt")
    if program is None:
        return "hypervisor" if hypervisor else ""
    around = [
        subprocess.run(  # noqa: S603
            [program, kind], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        ).stdout.strip()
        for kind in ("--vm", "--container")
    ]
    return ", ".join(name for name in around if name != "none") or "none"


def open_vulnerabilities(files: Mapping[str, str]) -> str:
    """Summarise the kernel's vulnerability files, given their texts by path."""
    by_state: dict[str, list[str]] = {"vulnerable": [], "mitigated": []}
    for path, text in sorted(files.items()):
        name = path.rpartition("/")[2]
        if text.startswith("Vulnerable"):
            by_state["vulnerable"].append(name)
        elif "Mitigation" in text:
            by_state["mitigated"].append(name)
    return "; ".join(f"{word}: {', '.join(names)}" for word, names in by_state.items() if names)


def _uninterruptible() -> set[int]:
    """Process ids of tasks in state D (uninterruptible sleep)."""
    uninterruptible = set()
    for process in psutil.process_iter():
        try:
            if process.status() == psutil.STATUS_DISK_SLEEP:
                uninterruptible.add(process.pid)
        except psutil.Error:
            continue
    return uninterruptible


def _system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""


def _text(path: str) -> str:
    return " ".join(_lines(path)).strip()


def _texts(pattern: str) -> dict[str, str]:
    return {path: _text(path) for path in map(str, Path("/").glob(pattern[1:]))}


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def unique_texts(texts: Iterable[str]) -> str:
    """Distinct non-empty texts, sorted and joined."""
    return ", ".join(sorted({text.strip() for text in texts} - {""}))
