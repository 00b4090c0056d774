"""Remote hosts of runs, and their facts as in `machine.py`, parsed from the output of facts.sh.

The name of each fact has the host's as prefix, as in ``guest1.kernel``.
"""

from __future__ import annotations

import fnmatch
import re
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rawperf.core.errors import RawperfError
from rawperf.core.model import Level
from virtperf.measure.commands import Call
from virtperf.measure.definition import MEASURE_FILE, Definition
from virtperf.measure.identity import salted_hash, sent_files
from virtperf.measure.machine import (
    N_STATE_SAMPLES,
    PROCESSORS,
    kernel_parameters,
    kernel_settings,
    open_vulnerabilities,
    tool_versions,
    unique_texts,
)
from virtperf.measure.plan import PlannedRun, tool_calls
from virtperf.measure.processes import Failure
from virtperf.measure.remote import Connection, Connections, open_connections

STATE_FACTS = ("swap_used_mb", "free_memory_mb", "d_state_tasks", "boot")
"""State facts, which vary from run to run."""


def facts_of_hosts(hosts: Connections) -> tuple[dict[str, Level], dict[str, Level]]:
    """Facts that identify a host's configuration, and its current state."""
    facts: dict[str, Level] = {}
    state: dict[str, Level] = {}
    with ThreadPoolExecutor(max(1, len(hosts))) as pool:
        printed = list(pool.map(Connection.facts, hosts.values()))
    for host, text in zip(hosts, printed, strict=True):
        for name, fact in host_facts(text).items():
            (state if name in STATE_FACTS else facts)[f"{host}.{name}"] = fact
    return facts, state


def host_facts(printed: str) -> dict[str, Level]:
    """Parse the output of facts.sh to facts by name; unavailable ones are omitted."""
    files: dict[str, list[str]] = {}
    for line in printed.splitlines():
        path, _, rest = line.partition(":")
        files.setdefault(path, []).append(rest)

    def text(path: str) -> str:
        return " ".join(files.get(path, ())).strip()

    def texts(pattern: str) -> dict[str, str]:
        return {path: text(path) for path in fnmatch.filter(files, pattern)}

    processors = [_pairs(block) for block in _blocks(files.get("/proc/cpuinfo", []))]
    memory = {name: int(value.split()[0]) for name, value in _sizes(files.get("/proc/meminfo", []))}
    cores = {(p.get("physical id"), p["core id"]) for p in processors if "core id" in p}
    stuck = Counter(files.get("stuck", ()))
    release = dict(line.partition("=")[::2] for line in files.get("/etc/os-release", ()))
    around = [word for word in files.get("virtualization", ()) if word != "none"]
    facts: dict[str, Level | None] = {
        "cpu": unique_texts(p.get("model name", "") for p in processors),
        "architecture": text("architecture"),
        "processors": len(processors) or None,
        "cores": len(cores) or None,
        "numa_nodes": len(texts("/sys/devices/system/node/node[0-9]*/cpulist")) or None,
        "microcode": unique_texts(p.get("microcode", "") for p in processors),
        "virtualization": ", ".join(around) or ("none" if "virtualization" in files else ""),
        "memory_mb": memory.get("MemTotal", 0) // 1024,
        "kernel": text("uname"),
        "kernel_parameters": kernel_parameters(text("/proc/cmdline")),
        "vulnerabilities": open_vulnerabilities(texts(f"{PROCESSORS}/vulnerabilities/*")),
        "system": release.get("PRETTY_NAME", "").strip("\"'"),
        **kernel_settings(text, texts, damon="damon" in files),
        "swap_mb": memory.get("SwapTotal", 0) // 1024,
        "swap_devices": max(0, len(files.get("/proc/swaps", ())) - 1),
        "host": _hash_addresses("host", text("/etc/machine-id")),
        "boot": _hash_addresses("boot", text("/proc/sys/kernel/random/boot_id")),
        "swap_used_mb": (memory.get("SwapTotal", 0) - memory.get("SwapFree", 0)) // 1024,
        "free_memory_mb": memory.get("MemAvailable", 0) // 1024,
        "d_state_tasks": sum(count == N_STATE_SAMPLES for count in stuck.values()),
    }
    return {name: fact for name, fact in facts.items() if fact not in (None, "")}


def _hash_addresses(kind: str, text: str) -> str:
    return salted_hash(kind, text) if text else ""


def _blocks(lines: list[str]) -> list[list[str]]:
    """Split the lines of /proc/cpuinfo by processor; facts.sh drops the blank separator lines."""
    blocks: list[list[str]] = []
    for line in lines:
        if re.match(r"processor\s*:", line):
            blocks.append([])
        if blocks:
            blocks[-1].append(line)
    return blocks


def _pairs(lines: list[str]) -> Mapping[str, str]:
    parts = (line.partition(":") for line in lines)
    return {name.strip(): value.strip() for name, _, value in parts}


def _sizes(lines: list[str]) -> list[tuple[str, str]]:
    parts = (line.partition(":") for line in lines)
    return [(name.strip(), value) for name, _, value in parts if value.split()]


TOKEN_BYTES = 6


@dataclass(frozen=True)
class HostsOfRuns:
    """The hosts of measure.yaml. `here` is the folder of that file, `root` the repository."""

    definition: Definition
    here: Path
    root: Path

    def calls(self, runs: Sequence[PlannedRun]) -> list[Call]:
        """All commands of the given runs."""
        return [call for run in runs for call in run.all_calls(self.here, self.root, self.here)]

    def named(self, calls: Iterable[Call]) -> list[str]:
        """Names of the hosts that commands run on, in the order of measure.yaml."""
        used = {call.host for call in calls}
        return [name for name in self.definition.hosts if name in used]

    def tools(self) -> dict[str, Call]:
        """Version commands by tool."""
        tools: dict[str, Call] = {}
        for name, tool in self.definition.tools.items():
            calls = tool_calls(name, tool, self.definition.hosts)
            tools |= {f"{c.host}.{name}" if len(calls) > 1 else name: c for c in calls}
        return tools

    def connections(
        self, run: PlannedRun, names: Iterable[str], logs: Path
    ) -> Iterator[Connection]:
        """Unopened connections to hosts for one attempt at a run."""
        for name in names:
            folder = run.folder_on(name)
            errors = logs / f"ssh-{name}.stderr"
            host = self.definition.hosts[name]
            sent = sent_files(run, name, self.here, self.root)
            yield Connection(name, host, self.here, folder, errors, self.root, sent)

    def described(
        self, runs: Sequence[PlannedRun]
    ) -> tuple[dict[str, Level], dict[str, Level], dict[str, str]]:
        """Facts and current state of the runs' hosts, and the versions of all tools.

        Raises
        ------
        RawperfError
            A host can't be reached, or lacks a program that runs need.
        """
        calls, tools = self.calls(runs), self.tools()
        later = {name for name, host in self.definition.hosts.items() if host.started_in_setup}
        if wrong := sorted(name for name, tool in tools.items() if tool.host in later):
            raise RawperfError(
                f"can't determine the version of {wrong[0]}: its host is started in the setup",
                file=self.here / MEASURE_FILE,
                remedy="let a command of the run write it to the file {fields}, as tools: {...}",
            )
        attempt = replace(runs[0], token=secrets.token_hex(TOKEN_BYTES))
        names = [n for n in self.named([*calls, *tools.values()]) if n not in later]
        try:
            with (
                TemporaryDirectory(prefix="virtperf-") as logs,
                open_connections(self.connections(attempt, names, Path(logs))) as hosts,
            ):
                for name, connection in hosts.items():
                    if missing := connection.missing(c.argv[0] for c in calls if c.host == name):
                        raise RawperfError(
                            f"programs not found on {name}: {', '.join(missing)}",
                            remedy="install them there, or correct measure.yaml",
                        )
                return *facts_of_hosts(hosts), tool_versions(tools, hosts)
        except Failure as err:
            raise RawperfError(
                str(err),
                file=self.here / MEASURE_FILE,
                remedy="`ssh` must connect without a prompt, with a known host key: try it by hand",
            ) from err
