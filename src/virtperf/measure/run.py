"""Measurement of one run: setup, monitors and workload, collect, teardown, run.yaml."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from rawperf.core.errors import RawperfError
from rawperf.core.model import Level, Model, load_model
from virtperf.measure.commands import Call
from virtperf.measure.definition import FIELDS_FILE, PHASES, Phase
from virtperf.measure.disturbance import (
    counters,
    disturbance,
    disturbance_between,
    limit_violations,
    wait_until_quiet,
)
from virtperf.measure.plan import PlannedRun
from virtperf.measure.processes import POLL_S, Failure, LostHost, Processes, Started
from virtperf.measure.remote import compared_clocks, unpack
from virtperf.runs.ingest.folder import RUN_FILE, RunFolder
from virtperf.runs.ingest.runs import HASH_DIGITS, load_run
from virtperf.study.definition import Study

EARLY_SHARE = 0.02
"""Tolerance for an early end of the workload, as a share of its time.

Programs measure time themselves.
"""
EARLY_S = 0.05
LOCAL_PROTOCOL_FIELDS = ("utc_offset", "host", "boot")
"""Fields of a protocol about the local machine."""
RUN_FILE_HEADER = "# Written by `virtperf measure`. docs/run-folders.md explains every field.\n"


class LateFields(Model):
    """Fields of run.yaml that commands may write, known only afterwards.

    Values are validated when the run folder is read.
    """

    start: Any = None
    duration_s: Any = None
    warmup_s: Any = None
    window_s: Any = None
    clients: Any = None
    think_time_s: Any = None
    processors: Any = None
    notes: Any = None
    tools: dict[str, Level] = {}
    machine: dict[str, Level] = {}
    files: tuple[dict[str, Any], ...] = ()


@dataclass
class Measurement:
    """Measures a planned run into a run folder."""

    study: Study
    planned: PlannedRun
    folder: Path  # of the run, named by its id
    here: Path  # folder of measure.yaml
    root: Path  # the repository
    processes: Processes
    described: dict[str, Any]  # facts known before the run: machine, tools, protocol
    say: Callable[[str], None] = lambda _: None  # takes messages about waiting
    after_setup: Callable[[], None] = lambda: None  # connects to hosts that the setup has started
    changes: Callable[[], list[str]] = list  # messages about changes of the machine
    monitors: list[Started] = field(default_factory=list)
    workload: list[Started] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    found: dict[str, float] = field(default_factory=dict)
    clocks: dict[str, Any] = field(default_factory=dict)
    fetched: dict[str, str] = field(default_factory=dict)  # host by fetched file

    def make(self) -> list[str]:
        """Measure the run; returns the messages of its disturbances.

        The teardown always runs, and no process is left.

        Raises
        ------
        Failure
            A command failed, or its result is not as declared.
        """
        experiment = self.planned.experiment
        limits, processes = experiment.wait_quiet, self.processes
        began = time.monotonic()
        if limits and not wait_until_quiet(
            limits,
            processes.cpu_s,
            processes.pause,
            lambda words: self.say(f"{self.planned.run_id}: {words}"),
        ):
            self.flags.append(
                f"other processes used more than {limits.cpus:g} CPUs "
                f"for {limits.timeout_s:g} s before the run"
            )
        try:
            for call in self._calls("setup"):
                self.processes.finish(call)
            self.after_setup()
            before = {name: host.clock() for name, host in self.processes.hosts.items()}
            times = self._measure()
            after = {name: host.clock() for name, host in self.processes.hosts.items()}
            self.clocks = compared_clocks(before, after, experiment.clock_drift_s)
            for call in self._calls("collect"):
                self.processes.finish(call)
            self._fetch()
        finally:
            torn = self.tear_down()
        if torn:
            raise torn
        if not self.folder.is_dir():
            raise Failure(f"the run's folder {self.folder.name} is gone: a command removed it")
        self._report_empty_outputs()
        self.flags += self.changes()
        self._describe({**times, "wall_s": round(time.monotonic() - began, 3)})
        return self.flags

    def tear_down(self) -> Failure | None:
        """Run all teardown commands and stop remaining processes; returns the first failure."""
        failure = None
        self.processes.check = lambda: None  # neither a signal nor a full disk may cut it short
        self.processes.record = lambda _: None
        calls = self._calls("teardown")
        for name in {call.host for call in calls} & self.processes.hosts.keys():
            if self.processes.hosts[name].opened and not self.processes.hosts[name].alive:
                with suppress(LostHost):  # the teardown reports it then
                    self.processes.hosts[name].renew()
        try:
            for call in calls:
                try:
                    self.processes.finish(call)
                except (Failure, OSError) as err:
                    failure = failure or Failure(str(err))
        finally:
            self.processes.end(self.planned.experiment.grace_s)
        return failure

    def _calls(self, phase: Phase) -> list[Call]:
        return self.planned.calls(phase, self.here, self.root, self.folder)

    def _fetch(self) -> None:
        """Fetch the files that programs wrote on hosts into the run folder."""
        for phase in PHASES:
            for call in self._calls(phase):
                if call.host and call.output and call.streams and phase != "teardown":
                    self.fetched[call.output] = call.host
        for name, connection in self.processes.hosts.items():
            archive = self.folder / f".{name}.tar"
            self.processes.finish(connection.fetch_call(archive.name))
            self.fetched |= dict.fromkeys(unpack(archive, self.folder, name), name)
            archive.unlink()

    def _report_empty_outputs(self) -> None:
        """Name the outputs without a byte: a quantity may be missing from all runs otherwise."""
        for phase in ("monitors", "workload", "collect"):
            for call in self._calls(phase):
                path = self.folder / (call.output or "")
                if call.output and path.is_file() and not path.stat().st_size:
                    program = Path(call.argv[0]).name
                    self.say(
                        f"{self.planned.run_id}: no output of {call.name} ({program}): "
                        f"{call.output} is empty"
                    )

    def _listed(self, files: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Entries of `files` in run.yaml, with the host of each fetched file."""
        files_by_path = {str(PurePosixPath(file["path"])): file for file in files}
        for path, host in self.fetched.items():
            if any(part.startswith(".") for part in PurePosixPath(path).parts):
                continue  # no raw file
            entity = "" if self.planned.hosts[host].kind == "host" else host
            files_by_path[path] = {
                "path": path,
                "host": host,
                "entity": entity,
                **files_by_path.get(path, {}),
            }
        return list(files_by_path.values())

    def _measure(self) -> dict[str, Any]:
        """Run monitors and workload; returns start, duration_s, warmup_s and window_s."""
        experiment = self.planned.experiment
        zero, start = time.monotonic(), datetime.now(UTC).replace(tzinfo=None)
        self.monitors = [self.processes.start(call) for call in self._calls("monitors")]
        self._watch(zero + experiment.lead_s)
        begun = time.monotonic()
        self.workload = [self.processes.start(call) for call in self._calls("workload")]
        finite = [started for started in self.workload if not started.call.stop]
        begin = begun + experiment.warmup_s
        end = due = begin
        if experiment.window_s is not None:
            end = begin + experiment.window_s
            due = end - max(EARLY_S, EARLY_SHARE * (end - begun))
        self._watch(begin, due)
        before = counters(self.processes.cpu_s)
        hosts = self.processes.hosts
        spent = {name: host.processors() for name, host in hosts.items()}
        self._watch(end, due, to_end=experiment.window_s is None)
        after = counters(self.processes.cpu_s)
        remote_values = {
            name: disturbance_between(spent[name], h.processors()) for name, h in hosts.items()
        }
        for started in self.workload:
            if started.call.stop:
                self.processes.stop(started, started.call.stop, experiment.grace_s)
        self.workload = finite
        self._watch(end, due, to_end=True)
        ends = [started.ended or end for started in finite]
        end = (max if experiment.window_s is None else min)([end, *ends])
        self._stop_monitors(end)
        self.found = disturbance(before, after)
        for name, values in remote_values.items():
            self.found |= {f"{name}.{quantity}": value for quantity, value in values.items()}
        # on a hypervisor, the guests' time counts as time of others
        recorded = {f"{n}.others_cpus" for n, h in hosts.items() if h.host.kind == "host"}
        self.flags += limit_violations(experiment.disturbed, self.found, recorded)
        return {
            "start": start.isoformat(timespec="milliseconds"),
            "duration_s": round(time.monotonic() - zero, 3),
            "warmup_s": round(begin - zero, 3),
            "window_s": [round(begin - zero, 3), round(end - zero, 3)],
        }

    def _watch(self, until: float, due: float = 0.0, *, to_end: bool = False) -> None:
        """Wait until a point in time, and with `to_end` until the workload ends.

        Raises
        ------
        Failure
            A monitor failed; a part of the workload failed, ended before `due` or before its stop
            signal, or timed out.
        """
        while True:
            now = time.monotonic()
            for started in (*self.monitors, *self.workload):
                if started.poll() and started.process.returncode:
                    raise self.processes.failure(started)
            for started in self.workload:
                if started.ended is not None and started.call.stop:
                    raise self.processes.failure(started)
                if started.ended is not None and started.ended < due:
                    raise Failure(f"{started.name} ended {due - started.ended:.2f} s too early")
                if to_end and not started.call.stop and now > until + started.call.timeout_s:
                    raise Failure(
                        f"{started.name} did not end within {started.call.timeout_s:g} s of the window's end"
                    )
            if now >= until and not (
                to_end and any(s.ended is None and not s.call.stop for s in self.workload)
            ):
                return
            self.processes.pause(POLL_S if now >= until else min(POLL_S, until - now))

    def _stop_monitors(self, end: float) -> None:
        grace_s = self.planned.experiment.grace_s
        for monitor in self.monitors:
            if monitor.poll():
                if monitor.ended is not None and monitor.ended < end:
                    self.flags.append(f"{monitor.name} ended before the end of the window")
            elif not self.processes.stop(monitor, monitor.call.stop or "SIGTERM", grace_s):
                self.flags.append(f"{monitor.name} did not end within {grace_s:g} s and was killed")

    def _describe(self, times: Mapping[str, Any]) -> None:
        """Write run.yaml, and validate the run folder by loading it."""
        files = [file for phase in PHASES for call in self._calls(phase) for file in call.files]
        run: dict[str, Any] = {
            "study": self.study.id,
            "run": self.planned.run_id,
            "provenance": "measured",
            "factors": dict(self.planned.levels),
            "replicate": self.planned.replicate,
            **times,
            **deepcopy(self.described),
            "disturbance": self.found,
            "disturbed": self.flags,
            **({"clocks": self.clocks} if self.clocks else {}),
        }
        fields_file = self.folder / FIELDS_FILE
        try:
            if fields_file.is_file():
                later = load_model(fields_file, LateFields, aliases=False)[0].model_dump(
                    exclude_unset=True
                )
                files += later.pop("files", ())
                run["tools"] |= later.pop("tools", {})
                if "machine" in later:  # the workload ran on another machine
                    del run["disturbance"], run["machine_state"]
                    for name in LOCAL_PROTOCOL_FIELDS:
                        run["protocol"].pop(name, None)
                run |= later
                fields_file.unlink()
            run["files"] = self._listed(files)
            folder = RunFolder(self.folder)
            paths = folder.raw_files()
            digests = folder.digests(paths)
            run["hashes"] = {path: digest[:HASH_DIGITS] for path, digest in digests.items()}
            text = yaml.safe_dump(
                run, sort_keys=False, default_flow_style=None, width=120, allow_unicode=True
            )
            (self.folder / RUN_FILE).write_text(f"{RUN_FILE_HEADER}{text}", encoding="utf-8")
            load_run(folder, self.study, "measured", paths, digests=digests)
        except RawperfError as err:
            raise Failure(str(err)) from err
