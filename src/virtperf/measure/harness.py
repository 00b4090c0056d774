"""Measurement harness: runs a plan.

Measures the missing runs, keeps failed ones apart, and cleans up after interrupted ones.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol

import yaml

from rawperf.core.errors import RawperfError
from rawperf.core.files import NO_SPACE_ERRORS, json_text, write_atomically
from rawperf.core.model import Level
from virtperf.core.grouping import grouped
from virtperf.core.locks import exclusive_lock
from virtperf.core.paths import Layout
from virtperf.measure.definition import MEASURE_FILE, Definition
from virtperf.measure.disturbance import limits_without_counter
from virtperf.measure.earlier import EarlierRuns
from virtperf.measure.hosts import TOKEN_BYTES, HostsOfRuns, facts_of_hosts
from virtperf.measure.identity import Protocols, session
from virtperf.measure.machine import machine, machine_settings, machine_state
from virtperf.measure.plan import PlannedRun, missing_files, plan
from virtperf.measure.processes import (
    Failure,
    Interrupted,
    LostHost,
    Processes,
    Sessions,
    deferred_signals,
    end_all,
)
from virtperf.measure.readable import readability
from virtperf.measure.remote import Connections, open_connections
from virtperf.measure.requirements import change_messages, refuse_unmet
from virtperf.measure.run import Measurement
from virtperf.runs.ingest.folder import RUN_FILE, RunFolder, run_folders
from virtperf.study.definition import Study

STATE_FOLDER = ".measure"
"""Folder for the run under way, failed runs, and durations of runs."""
GRACE_S = 5.0
MIN_FREE_BYTES = 2**20
REASON = "reason.txt"
MEASURE_LOCK = Path(".cache", "measure.lock")


@dataclass(frozen=True)
class MeasureEvent:
    """Progress event: a run (`number` of `of`) starts (no `words`), or has ended.

    `left_s`: expected seconds until all runs have ended; `precision`: current precision of the main
        quantity.
    """

    run_id: str
    number: int
    of: int
    left_s: float
    words: str = ""
    fine: bool = True
    block: int = 1
    precision: str = ""


class ProgressTracker(Protocol):
    """Accumulated results of the measured runs, in one format for all runs of a study."""

    def add(self, run: PlannedRun, folder: RunFolder) -> None:
        """Add a measured run."""

    def words(self, run: PlannedRun) -> str:
        """Precision of the run's experiment so far; "" if unknown."""
        ...

    def skip_reason(self, run: PlannedRun) -> str:
        """Reason why the run can be skipped; "" if it is needed."""
        ...


@dataclass
class Outcome:
    """Counts of measured, disturbed, unreadable, failed, repeated and skipped runs."""

    measured: int = 0
    disturbed: int = 0
    unreadable: int = 0
    failed: int = 0
    again: int = 0
    not_needed: int = 0


@dataclass
class Harness:
    """Measures the runs of a study.

    `runs` is the output folder, `data/measured/<study>` of the repository `root`. `here` is the
    folder of measure.yaml, by default the same.
    """

    study: Study
    definition: Definition
    runs: Path
    root: Path
    here: Path = Path()

    def __post_init__(self) -> None:
        self.runs, self.root = self.runs.absolute(), self.root.absolute()
        self.here = self.runs if self.here == Path() else self.here.absolute()
        state_folder = self.runs / STATE_FOLDER
        self._running, self._failed, self._times = (
            state_folder / "running",
            state_folder / "failed",
            state_folder / "times.json",
        )
        self._state = self._running / "state.json"
        self._disturbed = state_folder / "disturbed.json"
        self.earlier = EarlierRuns(self.study, self.runs, self.here / MEASURE_FILE)
        self.hosts = HostsOfRuns(self.definition, self.here, self.root)
        self._remarks: set[tuple[str, str]] = set()  # by experiment, each said once

    @cached_property
    def _packed(self) -> dict[str, RunFolder]:
        return {run.name: run for run in run_folders(self.runs) if run.archive is not None}

    def folder(self, run: PlannedRun) -> RunFolder:
        """The folder of a run, or its packed copy."""
        return self._packed.get(run.run_id) or RunFolder(self.runs / run.run_id)

    def present(self, run: PlannedRun) -> bool:
        """Whether the run exists; DVC may track it by a .dvc file instead.

        Raises `RunError` for an archive that can't be read.
        """
        return run.run_id in self._packed or any(
            (self.runs / f"{run.run_id}{ending}").exists() for ending in ("", ".dvc")
        )

    def complete(self, runs: Sequence[PlannedRun]) -> list[str]:
        """Names of the run folders that can be packed: those of experiments, and levels of the
        study's machine factor, of which no run in `runs` is missing.
        """
        factor = self.study.machine_factor or ""
        groups = grouped(((run.experiment.name, run.levels.get(factor, "")), run) for run in runs)
        return [
            run.run_id
            for group in groups.values()
            if all(self.present(run) for run in group)
            for run in group
            if self.folder(run).path.is_dir()
        ]

    def attempts(self) -> Counter[str]:
        """Number of failed attempts by run."""
        folders = self._failed.iterdir() if self._failed.is_dir() else ()
        return Counter(re.sub(r"-\d+$", "", path.name) for path in folders)

    def expected_s(self, *runs: PlannedRun) -> float:
        """Expected seconds of runs, waiting included.

        The mean of earlier runs of the condition, else the declared time plus the overhead of the
        experiment's last run.
        """
        overhead = self.overhead_s()
        return sum(
            declared + overhead.get(run.experiment.name, 0.0)
            if (known := self.earlier.wall_s(run)) is None
            else known
            for run in runs
            for declared in (run.experiment.expected_s,)
        )

    def estimated(self, runs: Sequence[PlannedRun]) -> bool:
        """Whether the durations of all these runs can be estimated from earlier ones."""
        overhead = self.overhead_s()
        return all(
            r.experiment.name in overhead or self.earlier.wall_s(r) is not None for r in runs
        )

    def overhead_s(self) -> dict[str, float]:
        """Overhead of each experiment's last run, such as its setup: time beyond the declared one."""
        try:
            times = json.loads(self._times.read_text(encoding="utf-8"))
            return {str(name): float(seconds) for name, seconds in times.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def missing_programs(self, runs: Sequence[PlannedRun]) -> list[str]:
        """Programs called by bare name that are not on the PATH."""
        named = {call.argv[0] for call in self.hosts.calls(runs) if not call.host}
        return sorted(name for name in named if "/" not in name and shutil.which(name) is None)

    def missing_locally(self, runs: Sequence[PlannedRun]) -> list[str]:
        """Programs and files that commands need and that are missing on this machine."""
        files = {f for run in runs for *_, f in missing_files(run, self.here, self.root)}
        return [*self.missing_programs(runs), *sorted(files)]

    def describe_comparable(
        self, runs: Sequence[PlannedRun]
    ) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
        """The protocol of each run, and the facts common to all: machine, tools, protocol.

        Raises `RawperfError` if the runs would not be comparable with the earlier ones.
        """
        described = self._describe(runs) if runs else {}
        protocols = Protocols(self.here, self.root, self.earlier.protocols)
        planned = {run.run_id: protocols.of(run) for run in runs}
        self.earlier.refuse_mixture(runs, planned, described)
        return planned, described

    def measure(
        self,
        runs: Sequence[PlannedRun],
        tell: Callable[[MeasureEvent], None],
        say: Callable[[str], None],
        tracker: ProgressTracker | None = None,
    ) -> Outcome:
        """Measure these runs in the given order.

        `tell` receives progress events; `say` takes messages about the clean-up after an
        interrupted harness, and about waiting. `tracker` may skip runs.

        Raises
        ------
        RawperfError
            Another harness holds the lock, a program is missing, a process can't be stopped, the
            disk is full.
        Interrupted
            A signal was received. The run under way was stopped and removed.
        """
        outcome = Outcome()
        with exclusive_lock(self.root / MEASURE_LOCK, _raise_locked), deferred_signals() as check:
            try:
                self._recover(say)
                if missing := self.missing_programs(runs):
                    raise RawperfError(
                        f"programs not found: {', '.join(missing)}",
                        remedy="install them, or correct measure.yaml",
                    )
                for name in limits_without_counter():
                    if any(getattr(run.experiment.disturbed, name) is not None for run in runs):
                        say(
                            f"disturbed: this machine has no counter for {name}; the limit is not checked"
                        )
                planned, described = self.describe_comparable(runs)
                skipped: set[str] = set()
                for number, run in enumerate(runs, start=1):
                    check()
                    if tracker and (why := tracker.skip_reason(run)):
                        outcome.not_needed += 1
                        if run.experiment.name not in skipped:
                            say(f"{run.experiment.name}: {why}")
                            skipped.add(run.experiment.name)
                        continue
                    self._refuse_change(run, planned[run.run_id])
                    left_s = self.expected_s(*runs[number - 1 :])
                    tell(MeasureEvent(run.run_id, number, len(runs), left_s, block=run.replicate))
                    protocol = {**planned[run.run_id], **described["protocol"]}
                    words, fine = self._measure_with_repeats(
                        run, {**described, "protocol": protocol}, check, outcome, say
                    )
                    if tracker and self.present(run):
                        tracker.add(run, self.folder(run))
                    tell(
                        MeasureEvent(
                            run.run_id,
                            number,
                            len(runs),
                            self.expected_s(*runs[number:]),
                            words,
                            fine,
                            run.replicate,
                            tracker.words(run) if tracker else "",
                        )
                    )
            except OSError as err:
                if err.errno in NO_SPACE_ERRORS:
                    raise self._disk_full_error(err.strerror) from err
                raise
        return outcome

    def _describe(self, runs: Sequence[PlannedRun]) -> dict[str, Any]:
        """Collect the facts common to all runs; raises if the machine has unmet requirements."""
        far, far_state, tools = self.hosts.described(runs)
        facts = {**machine(), **far}
        state = {**machine_state(), **far_state}
        for experiment in {run.experiment.name: run.experiment for run in runs}.values():
            refuse_unmet(experiment.machine, {**facts, **state}, experiment.name)
        return {"tools": tools, "machine": facts, "protocol": session(self.root)}

    def _refuse_change(self, run: PlannedRun, planned: dict[str, Any]) -> None:
        """Raise `RawperfError` if files of the testbed changed since the start."""
        now = Protocols(self.here, self.root, self.earlier.protocols).of(run)
        for name in sorted(planned["files"].keys() | now["files"].keys()):
            if planned["files"].get(name) != now["files"].get(name):
                raise RawperfError(
                    f"{name} changed while {run.experiment.name} was measured; "
                    f"{run.run_id} was not started, earlier runs are kept",
                    remedy="undo the change, or remove the runs of the experiment; then restart",
                )

    def _measure_with_repeats(
        self,
        run: PlannedRun,
        described: dict[str, Any],
        check: Callable[[], None],
        outcome: Outcome,
        say: Callable[[str], None],
    ) -> tuple[str, bool]:
        """Measure one run, and repeat it while disturbed or not readable if measure.yaml says so.

        Returns a message, and whether the run is neither failed nor disturbed, and readable.
        """
        rule = run.experiment.on_disturbed
        while True:
            check()
            attempts = self._disturbed_attempts().get(run.run_id, [])
            last = rule.then == "keep" or (rule.then == "again" and len(attempts) >= rule.at_most)
            began = time.monotonic()
            try:
                flags, unreadable = self._attempt(
                    run, {**described, "attempts": attempts}, last, check, say
                )
            except Failure as err:
                outcome.failed += 1
                words = f"failed: {err}; see {self._keep(run, str(err))}"
                if isinstance(err, LostHost) and run.experiment.on_lost_host == "abort":
                    raise RawperfError(
                        f"{run.run_id} {words}; earlier runs are kept",
                        file=self.here / MEASURE_FILE,
                        remedy="repair the host or its connection, then restart (on_lost_host: abort)",
                    ) from err
                return words, False
            words = "; ".join(
                f"{what}: {'; '.join(messages)}"
                for what, messages in (("not readable", unreadable), ("disturbed", flags))
                if messages
            )
            if last or not words:
                break
            if rule.then == "abort":
                raise RawperfError(
                    f"{run.run_id} {words}; it was discarded, earlier runs are kept",
                    file=self.here / MEASURE_FILE,
                    remedy=f"find the {'cause' if unreadable else 'source of the disturbance'}, "
                    "then restart (on_disturbed: abort)",
                )
            outcome.again += 1
            say(f"{run.run_id} {words}; repetition {len(attempts) + 1} follows")
        took = time.monotonic() - began
        overhead = round(took - run.experiment.expected_s, 3)
        write_atomically(
            self._times, json_text({**self.overhead_s(), run.experiment.name: overhead})
        )
        outcome.measured += 1
        outcome.disturbed += bool(flags)
        outcome.unreadable += bool(unreadable)
        note = f"{', but ' if unreadable else '; '}{words}" if words else ""
        return f"measured in {took:.1f} s{note}", not words

    def _attempt(
        self,
        run: PlannedRun,
        described: dict[str, Any],
        last: bool,
        check: Callable[[], None],
        say: Callable[[str], None],
    ) -> tuple[list[str], Sequence[str]]:
        """Measure a run once; returns the messages of its disturbances, and why it can't be read.

        The run is kept if undisturbed and readable, or if it is the `last` attempt; else only the
        attempt is recorded.

        Raises
        ------
        Failure
            The run failed. Its partial output is still in the running folder.
        """
        try:
            shutil.rmtree(self._running, ignore_errors=True)
            folder, logs = self._running / run.run_id, self._running / "logs"
            folder.mkdir(parents=True)
            logs.mkdir()
            run = replace(run, token=secrets.token_hex(TOKEN_BYTES))
            self._record(run, {})
            names = self.hosts.named(self.hosts.calls([run]))
            with open_connections(self.hosts.connections(run, names, logs)) as hosts:
                flags = self._measure_one(run, described, folder, logs, hosts, check, say)
            read = readability(self.study, folder, Layout(self.root).metrics)
            for remark in read.remarks:
                if (of := (run.experiment.name, remark)) not in self._remarks:
                    self._remarks.add(of)
                    say(f"{run.run_id}: {remark}")
            if last or not (flags or read.problems):
                _fsync_folder(folder)
                folder.rename(self.runs / run.run_id)
                self.earlier.add(run.run_id)
                self._write_attempts(run.run_id, [])
            else:
                entry = yaml.safe_load((folder / RUN_FILE).read_text(encoding="utf-8"))
                messages = [*flags, *(f"not readable: {problem}" for problem in read.problems)]
                attempt = {
                    "start": entry["start"],
                    "wall_s": entry["wall_s"],
                    "disturbed": messages,
                }
                self._write_attempts(run.run_id, [*described["attempts"], attempt])
        except (Interrupted, OSError):
            shutil.rmtree(self._running, ignore_errors=True)
            raise
        shutil.rmtree(self._running)
        return flags, read.problems

    def _measure_one(
        self,
        run: PlannedRun,
        described: dict[str, Any],
        folder: Path,
        logs: Path,
        hosts: Connections,
        check: Callable[[], None],
        say: Callable[[str], None],
    ) -> list[str]:
        """Measure into the folder of a run; returns the messages of its disturbances."""

        def check_all() -> None:
            check()
            for connection in hosts.values():
                connection.check()

        def now() -> tuple[dict[str, Level], dict[str, Level]]:
            far, far_state = facts_of_hosts(earlier)
            return {**machine_settings(), **far}, {**machine_state(), **far_state}

        later = {name: c for name, c in hosts.items() if c.host.started_in_setup}
        earlier = {name: c for name, c in hosts.items() if name not in later}
        settings, state = now()
        facts = described["machine"]
        known = {name: settings.get(name, fact) for name, fact in facts.items()}
        boot = described["protocol"].get("boot")
        first = self.earlier.first_facts(run, boot) or {**settings, **state}

        def after_setup() -> None:
            for connection in later.values():
                connection.open(check)
            far, far_state = facts_of_hosts(later)
            known.update(far)
            state.update(far_state)

        def changes() -> list[str]:
            settings_now, state_now = now()
            return change_messages(first, {**settings_now, **state_now})

        processes = Processes(
            folder, logs, str(self._running), partial(self._record, run), check_all, hosts=hosts
        )
        entry = {name: part for name, part in described.items() if part or name != "attempts"}
        measurement = Measurement(
            self.study,
            run,
            folder,
            self.here,
            self.root,
            processes,
            {**entry, "machine": known, "machine_state": state},
            say,
            after_setup,
            changes,
        )
        with processes.adopted_orphans():
            return measurement.make()

    def _disturbed_attempts(self) -> dict[str, list[dict[str, Any]]]:
        """Disturbed attempts by run, for runs that are still missing."""
        try:
            attempts_by_run = json.loads(self._disturbed.read_text(encoding="utf-8"))
            return {str(name): list(attempts) for name, attempts in attempts_by_run.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def _write_attempts(self, run: str, attempts: list[dict[str, Any]]) -> None:
        """Store the disturbed attempts at a run; an empty list removes them."""
        attempts_by_run = {**self._disturbed_attempts(), run: attempts}
        remaining = {
            name: run_attempts for name, run_attempts in attempts_by_run.items() if run_attempts
        }
        if remaining:
            write_atomically(self._disturbed, json_text(remaining))
        else:
            self._disturbed.unlink(missing_ok=True)

    def _record(self, run: PlannedRun, sessions: Sessions) -> None:
        """Store the state that a later harness needs to clean up this run."""
        known = {
            "run": run.run_id,
            "replicate": run.replicate,
            "token": run.token,
            "sessions": list(sessions.items()),
        }
        write_atomically(self._state, json_text(known))

    def _keep(self, run: PlannedRun, reason: str) -> Path:
        """Move a failed run's files and logs to the failed folder; returns its path.

        The path is relative to the repository if possible.
        """
        if shutil.disk_usage(self.runs).free < MIN_FREE_BYTES:
            raise self._disk_full_error(os.strerror(NO_SPACE_ERRORS[0]))
        target = self._failed / f"{run.run_id}-{self.attempts()[run.run_id] + 1}"
        (self._running / REASON).write_text(f"{reason}\n", encoding="utf-8")
        self._failed.mkdir(exist_ok=True)
        self._running.rename(target)
        return target.relative_to(self.root) if target.is_relative_to(self.root) else target

    def _disk_full_error(self, why: str | None) -> RawperfError:
        """Free the space of the run under way; returns the error to raise."""
        shutil.rmtree(self._running, ignore_errors=True)
        return RawperfError(
            f"{why or 'the disk is full'}; the current run was removed, earlier runs are kept",
            file=self.runs,
            remedy="free disk space, then restart",
        )

    def _recover(self, say: Callable[[str], None]) -> None:
        """Clean up after a killed harness: processes, effects of the setup, partial run folders."""
        for file in (self._times, self._disturbed):  # left by an interrupted atomic write
            for begun in file.parent.glob(f".{file.name}.*"):
                begun.unlink()
        if not self._running.is_dir():
            return
        try:
            state = json.loads(self._state.read_text(encoding="utf-8"))
            name, replicate = str(state["run"]), int(state["replicate"])
            sessions = {int(pid): float(created) for pid, created in state["sessions"]}
            token = str(state.get("token", ""))
        except (OSError, ValueError, LookupError, TypeError):
            name, replicate, sessions, token = "", 1, {}, ""
        ended = end_all(str(self._running), sessions, GRACE_S)
        folder, logs = self._running / name, self._running / "logs"
        planned = plan(self.definition, self.study, replicate)
        known = [run for run in planned if run.run_id in (name, name.partition("-")[2])]
        if known and folder.is_dir():
            interrupted = replace(known[0], run_id=name, token=token or known[0].token)
            record = partial(self._record, interrupted)
            names = self.hosts.named(self.hosts.calls([interrupted]))
            connections = self.hosts.connections(interrupted, names, logs)
            with open_connections(connections, lenient=True) as hosts:
                for lost in set(names) - hosts.keys():
                    say(f"{lost} can't be reached: the teardown of {name} is skipped there")
                processes = Processes(folder, logs, str(self._running), record, hosts=hosts)
                left = Measurement(
                    self.study, interrupted, folder, self.here, self.root, processes, {}
                )
                with processes.adopted_orphans():
                    left.tear_down()
        shutil.rmtree(self._running)
        if name and not (self.runs / name).exists():
            say(f"{name} was interrupted: stopped its processes ({ended}), removed its folder")


def _raise_locked(who: str) -> None:
    # they would disturb each other
    raise RawperfError(f"{who} is already measuring in this repository")


def _fsync_folder(folder: Path) -> None:
    """Flush a run folder to disk (fsync): a crash after the rename leaves no empty files."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                os.fsync(file.fileno())
