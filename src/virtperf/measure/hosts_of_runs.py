"""Which hosts runs need, and what is known of those hosts before the first run."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rawperf.core.errors import VirtperfError
from rawperf.core.model import Level
from virtperf.measure.commands import Call
from virtperf.measure.definition import MEASURE_FILE, Definition
from virtperf.measure.host_facts import facts_of_hosts
from virtperf.measure.identity import sent_files
from virtperf.measure.machine import tool_versions
from virtperf.measure.plan import PlannedRun, tool_calls
from virtperf.measure.processes import Failure
from virtperf.measure.remote import Connection, open_connections

TOKEN_BYTES = 6


@dataclass(frozen=True)
class HostsOfRuns:
    """The hosts of measure.yaml. `here` is its folder, `root` the repository."""

    definition: Definition
    here: Path
    root: Path

    def calls(self, runs: Sequence[PlannedRun]) -> list[Call]:
        """All commands of runs."""
        return [call for run in runs for call in run.all_calls(self.here, self.root, self.here)]

    def named(self, calls: Iterable[Call]) -> list[str]:
        """Names of the hosts of commands, in the order of measure.yaml."""
        used = {call.host for call in calls}
        return [name for name in self.definition.hosts if name in used]

    def tools(self) -> dict[str, Call]:
        """The commands that print versions, by the names of the tools."""
        found: dict[str, Call] = {}
        for name, tool in self.definition.tools.items():
            calls = tool_calls(name, tool, self.definition.hosts)
            found |= {f"{c.host}.{name}" if len(calls) > 1 else name: c for c in calls}
        return found

    def connections(
        self, run: PlannedRun, names: Iterable[str], logs: Path
    ) -> Iterator[Connection]:
        """Connections to hosts, not yet made, by which an attempt at a run does its work."""
        for name in names:
            folder = run.folder_on(name)
            errors = logs / f"ssh-{name}.stderr"
            host = self.definition.hosts[name]
            sent = sent_files(run, name, self.here, self.root)
            yield Connection(name, host, self.here, folder, errors, self.root, sent)

    def described(
        self, runs: Sequence[PlannedRun]
    ) -> tuple[dict[str, Level], dict[str, Level], dict[str, str]]:
        """Facts about the hosts of runs, what is in use there now, and the versions of all tools.

        Raises
        ------
        VirtperfError
            A host can't be reached, or has not the programs that are to be started there.
        """
        calls, tools = self.calls(runs), self.tools()
        later = {name for name, host in self.definition.hosts.items() if host.started_in_setup}
        if wrong := sorted(name for name, tool in tools.items() if tool.host in later):
            raise VirtperfError(
                f"the version of {wrong[0]} can't be had: its host is started in the setup",
                file=self.here / MEASURE_FILE,
                remedy="let a command of the run write it to {fields}, as tools: {...}",
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
                        raise VirtperfError(
                            f"not found on {name}: {', '.join(missing)}",
                            remedy="install it there, or correct measure.yaml",
                        )
                return *facts_of_hosts(hosts), tool_versions(tools, hosts)
        except Failure as err:
            raise VirtperfError(
                str(err),
                file=self.here / MEASURE_FILE,
                remedy="`ssh` must reach the host without a question, and know its key: "
                "try it by hand",
            ) from err
