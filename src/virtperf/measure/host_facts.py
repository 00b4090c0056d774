"""What is known of hosts over ssh: the facts of `machine.py`, from the files that facts.sh prints
there. The name of each begins with the host's, as in ``guest1.kernel``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from rawperf.core.model import Level
from virtperf.measure.identity import salted_hash
from virtperf.measure.machine import (
    LOOKS,
    chosen_word,
    kernel_parameters,
    on_or_off,
    open_vulnerabilities,
    unique_texts,
)
from virtperf.measure.remote import Connection, Connections

CPU = "/sys/devices/system/cpu"
STATE_FACTS = ("swap_used_mb", "free_memory_mb", "d_state_tasks", "boot")
"""Facts that are another before each run."""


def facts_of_hosts(hosts: Connections) -> tuple[dict[str, Level], dict[str, Level]]:
    """Facts by which runs are told apart, and what is in use now."""
    facts: dict[str, Level] = {}
    state: dict[str, Level] = {}
    with ThreadPoolExecutor(max(1, len(hosts))) as pool:
        printed = list(pool.map(Connection.facts, hosts.values()))
    for host, text in zip(hosts, printed, strict=True):
        for name, fact in host_facts(text).items():
            (state if name in STATE_FACTS else facts)[f"{host}.{name}"] = fact
    return facts, state


def host_facts(printed: str) -> dict[str, Level]:
    """Facts of a host by name, of what facts.sh prints there; without those that it hides."""
    files: dict[str, list[str]] = {}
    for line in printed.splitlines():
        path, _, rest = line.partition(":")
        files.setdefault(path, []).append(rest)

    def text(path: str) -> str:
        return " ".join(files.get(path, ())).strip()

    def under(pattern: str) -> dict[str, str]:
        return {path: text(path) for path in files if re.fullmatch(pattern, path)}

    processors = [_pairs(block) for block in _blocks(files.get("/proc/cpuinfo", []))]
    memory = {name: int(value.split()[0]) for name, value in _sizes(files.get("/proc/meminfo", []))}
    cores = {(p.get("physical id"), p["core id"]) for p in processors if "core id" in p}
    stuck = Counter(files.get("stuck", ()))
    release = dict(line.partition("=")[::2] for line in files.get("/etc/os-release", ()))
    around = [word for word in files.get("virtualization", ()) if word != "none"]
    found: dict[str, Level | None] = {
        "cpu": unique_texts(p.get("model name", "") for p in processors),
        "architecture": text("architecture"),
        "processors": len(processors) or None,
        "cores": len(cores) or None,
        "numa_nodes": len(under(r"/sys/devices/system/node/node\d+/cpulist")) or None,
        "microcode": unique_texts(p.get("microcode", "") for p in processors),
        "virtualization": ", ".join(around) or ("none" if "virtualization" in files else ""),
        "memory_mb": memory.get("MemTotal", 0) // 1024,
        "kernel": text("uname"),
        "kernel_parameters": kernel_parameters(text("/proc/cmdline")),
        "vulnerabilities": open_vulnerabilities(under(f"{CPU}/vulnerabilities/.*")),
        "system": release.get("PRETTY_NAME", "").strip("\"'"),
        "governor": unique_texts(under(rf"{CPU}/cpu\d+/cpufreq/scaling_governor").values()),
        "turbo": on_or_off(text(f"{CPU}/intel_pstate/no_turbo"), text(f"{CPU}/cpufreq/boost")),
        "smt": text(f"{CPU}/smt/control"),
        "transparent_hugepage": chosen_word(text("/sys/kernel/mm/transparent_hugepage/enabled")),
        "ksm": {"0": "off", "1": "on", "2": "off"}.get(text("/sys/kernel/mm/ksm/run"), ""),
        "damon": "on" if "damon" in files else "off",
        "aslr": text("/proc/sys/kernel/randomize_va_space"),
        "clock_source": text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "swap_mb": memory.get("SwapTotal", 0) // 1024,
        "swap_devices": max(0, len(files.get("/proc/swaps", ())) - 1),
        "host": _hashed("host", text("/etc/machine-id")),
        "boot": _hashed("boot", text("/proc/sys/kernel/random/boot_id")),
        "swap_used_mb": (memory.get("SwapTotal", 0) - memory.get("SwapFree", 0)) // 1024,
        "free_memory_mb": memory.get("MemAvailable", 0) // 1024,
        "d_state_tasks": sum(looks == LOOKS for looks in stuck.values()),
    }
    return {name: fact for name, fact in found.items() if fact not in (None, "")}


def _hashed(kind: str, text: str) -> str:
    return salted_hash(kind, text) if text else ""


def _blocks(lines: list[str]) -> list[list[str]]:
    """The lines of each processor: blank lines between them are not printed."""
    found: list[list[str]] = []
    for line in lines:
        if re.match(r"processor\s*:", line):
            found.append([])
        if found:
            found[-1].append(line)
    return found


def _pairs(lines: list[str]) -> Mapping[str, str]:
    parts = (line.partition(":") for line in lines)
    return {name.strip(): value.strip() for name, _, value in parts}


def _sizes(lines: list[str]) -> list[tuple[str, str]]:
    parts = (line.partition(":") for line in lines)
    return [(name.strip(), value) for name, _, value in parts if value.split()]
