"""Pipeline runner: one `dvc repro` a job, with its share of the studies, then one for the shared stages.

Records the durations of stages. A signal ends all child processes and their descendants.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Literal

from rawperf.core.errors import RawperfError
from rawperf.core.files import json_text, write_atomically
from virtperf.core.environment import FIXED_VARIABLES
from virtperf.core.grouping import grouped
from virtperf.core.locks import exclusive_lock
from virtperf.core.paths import Layout
from virtperf.pipeline.dvc_files import repair_dvc_files, sort_lock_file, wait_for_dvc
from virtperf.pipeline.stages import are_independent, is_nothing_made, stage_names

DEFINITION_WEIGHT = 20
"""Time of a byte of claims, which are solved, over that of a byte of raw files, which are read."""
REPORT_WEIGHT = 400_000
"""Raw bytes that take as long to read as the smallest report to write."""
TIMES_FILE = Path(".dvc", "tmp", "virtperf-times.json")


class StageTimes:
    """Persistent durations in seconds, by stage; an unreadable file counts as empty."""

    def __init__(self, root: Path) -> None:
        self._file = root / TIMES_FILE
        self._seconds: dict[str, float] = {}
        try:
            read = json.loads(self._file.read_bytes())
            self._seconds = {str(name): float(value) for name, value in read.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            pass

    def expected_s(self, study: str, stage: str) -> float | None:
        """Duration of the last run in seconds; None if unknown."""
        return self._seconds.get(_full_name(study, stage))

    def record(self, study: str, stage: str, seconds: float) -> None:
        """Record the duration of a stage."""
        self._seconds[_full_name(study, stage)] = round(seconds, 1)

    def save(self) -> None:
        """Write the durations for the next run."""
        write_atomically(self._file, json_text(dict(sorted(self._seconds.items()))))

    def forecast(self, stages: Mapping[str, Sequence[str]], jobs: int) -> str:
        """Describe which stages will run, with an estimate of the total time.

        Parameters
        ----------
        stages : mapping of str to sequence of str
            The full names of the stages that will run, by study.
        jobs : int
            Number of studies that run in parallel.
        """
        known, unknown = {}, 0
        for study, names in stages.items():
            seconds = [self._seconds.get(name) for name in names]
            known[study] = sum(value for value in seconds if value is not None)
            unknown += seconds.count(None)
        after = known.pop(SHARED, 0.0)  # runs after all studies
        parallel_s = max(max(known.values(), default=0.0), sum(known.values()) / jobs)
        short = {study: [name.partition("@")[0] for name in stages[study]] for study in stages}
        names = ", ".join(f"{study} ({', '.join(short[study])})" for study in short)
        count = f"{unknown} stage{'' if unknown == 1 else 's'}"
        if unknown == sum(map(len, stages.values())):
            return f"to run: {names}; no estimate: {count} never ran here"
        estimate = f"about {parallel_s + after:.0f} s, from the last durations"
        excluded = f", without {count} that never ran here" if unknown else ""
        return f"to run: {names}; {estimate}{excluded}"


def _full_name(study: str, stage: str) -> str:
    return stage if study == SHARED else f"{stage}@{study}"


GRACE_S = 5.0
"""Seconds between SIGINT, after which DVC releases its locks, and SIGKILL.

The next run repairs the files of a killed DVC.
"""


class Children:
    """Running subprocesses, each the leader of its own process group."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._ended = False

    @contextlib.contextmanager
    def start(
        self, command: Sequence[str], folder: Path, variables: Mapping[str, str]
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Context manager of a subprocess without input, with stdout and stderr as pipes.

        Raises `RawperfError` after `end` was called.
        """
        if self._ended:
            raise RawperfError("the pipeline was stopped by a signal")
        with subprocess.Popen(  # noqa: S603 - this interpreter
            command,
            cwd=folder,
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            self._running.add(process)
            if self._ended:  # race: `end` was called after the check above
                _signal(process, signal.SIGKILL)
            try:
                yield process
            finally:
                self._running.discard(process)

    def end(self) -> None:
        """Send SIGINT to all, and SIGKILL to those still running after `GRACE_S`."""
        self._ended = True
        running = list(self._running)
        for process in running:
            _signal(process, signal.SIGINT)
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_S)
            _signal(process, signal.SIGKILL)  # the group: a stage may outlive its DVC


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


@contextlib.contextmanager
def children_ended_by_signals() -> Iterator[Children]:
    """Context manager of children that are ended by SIGINT, SIGTERM and SIGHUP before this process.

    Ignored signals, such as SIGINT in a shell's background job, stay ignored.
    """
    children = Children()

    def stop(number: int, _: FrameType | None) -> None:
        children.end()
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():  # handlers need the main thread
        yield children
        return
    numbers = [n for n in _ENDING if signal.getsignal(n) != signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        with _called_on_signals(numbers, children.end):
            yield children
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def _called_on_signals(numbers: Sequence[int], call: Callable[[], None]) -> Iterator[None]:
    """Call a function in a thread of its own when a signal arrives.

    A handler waits until the main thread runs Python code. That never happens if the signal came just
    before that thread began to wait for another one.
    """
    receiver, sender = socket.socketpair()
    sender.setblocking(False)

    def watch() -> None:
        while received := receiver.recv(1):
            if received[0] in numbers:
                call()

    before = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        sender.close()
        watcher.join()
        receiver.close()


STAGES_IN_FORKS = "virtperf.cli._dvc"
"""DVC that runs stages in forks of its process."""
PIPELINE_LOCK = Path(".dvc", "tmp", "virtperf.lock")
SHARED = "all studies"
"""Name under which the stages over all studies run."""
_RUNNING = re.compile(r"Running stage '(?:.*:)?([^':]+)'")
_COMMAND = re.compile(r"> (.+)")
_STOPPED = re.compile(r"WARNING: failed to run: (.+), exited with ")
"""DVC's line about a stage whose command failed, with `--keep-going`."""
_SKIPPING = re.compile(r"WARNING: Stages? '.+ will be skipped due to this failure")
"""DVC's line after that of a stage that failed for any reason, if others depend on it."""
_FAILED = re.compile(r"ERROR: failed to reproduce (?:stages: )?'")
_QUOTED = re.compile(r"'([^']+)'")
_LAST_LINES = 5


@dataclass(frozen=True)
class PipelineEvent:
    """Progress event of the pipeline.

    `message`: output of DVC, a stage or the pipeline; `plan`: the stages that will run; `begin`: a
        stage starts, with its previous duration in `seconds` (0: unknown); `end` and `failed`: it
        has ended, after `seconds`. The study is "" for messages of the pipeline, `SHARED` for
        shared stages.
    """

    kind: Literal["message", "plan", "begin", "end", "failed"]
    study: str
    stage: str = ""
    text: str = ""
    seconds: float = 0.0


Tell = Callable[[PipelineEvent], None]


def run_pipeline(
    layout: Layout, studies: Sequence[str], tell: Tell, *, jobs: int, force: bool = False
) -> None:
    """Run the outdated stages by DVC; with `force` all stages.

    Runs in a repository are serialised by a lock. DVC files damaged by an interruption are repaired
    first.

    Parameters
    ----------
    studies : sequence of str
        Only these, without the shared stages; if empty, everything.
    jobs : int
        Number of studies that run in parallel.
    tell : callable
        Receives every event; called from several threads.

    Raises
    ------
    RawperfError
        A study has no stages, DVC can't determine the outdated stages, or a stage failed; its
        output was passed to `tell`.
    """
    for study in studies:
        layout.known(study)
    root = layout.root
    names = stage_names(root)
    stages = grouped((study_of(name), name) for name in names)
    shared_stages = stages.pop(SHARED, [])
    for study in studies or layout.studies():
        if study not in stages:
            raise RawperfError(
                f"study {study} has no stages",
                file=layout.parameters,
                expected="its id in a list of studies",
                remedy="run `virtperf check`.",
            )
    selected = list(studies or stages)

    def say(text: str) -> None:
        tell(PipelineEvent("message", "", text=text))

    def since() -> str:
        return f", running the pipeline since {time.strftime('%H:%M:%S')}"

    with exclusive_lock(root / PIPELINE_LOCK, lambda who: say(f"waiting for {who}"), since):
        wait_for_dvc(root, say)
        repair_dvc_files(root, say)
        allow_no_git(root)
        times = StageTimes(root)
        temporary = temporary_folder(root)
        shutil.rmtree(temporary, ignore_errors=True)  # left by a killed run
        if force:
            plan = {study: stages[study] for study in selected}
        elif not studies:
            outdated = set(names) if is_nothing_made(root) else outdated_stages(root)
            if not outdated:
                return
            plan = {study: _from_first(stages[study], outdated) for study in selected}
            plan = {study: planned for study, planned in plan.items() if planned}
            selected = list(plan)
        if force or not studies:  # a study's own `dvc repro` decides faster than `dvc status`
            after = {SHARED: shared_stages} if not studies else {}
            tell(PipelineEvent("plan", "", text=times.forecast(plan | after, max(1, jobs))))
        tell = _record_times(times, tell)
        forced = "--force" * force
        try:
            with children_ended_by_signals() as children:
                groups = _balanced(layout, {study: stages[study] for study in selected}, jobs)
                options = f"{forced} --keep-going"
                failed = _run_groups(root, groups, tell, jobs, options, children)
                if not (studies or failed) and shared_stages:
                    is_parallel = jobs > 1 and are_independent(root, shared_stages)
                    parts = [[name] for name in shared_stages] if is_parallel else [shared_stages]
                    groups, options = (
                        [([SHARED], part) for part in parts],
                        f"{forced} --single-item",
                    )
                    failed = _run_groups(root, groups, tell, jobs, options, children)
        finally:
            sort_lock_file(root, names)
            times.save()
            shutil.rmtree(temporary, ignore_errors=True)
    if failed:
        raise RawperfError(
            f"stages failed in {', '.join(s for s in (*selected, SHARED) if s in failed)}",
            remedy="see the messages above; results of completed stages are kept.",
        )


def study_of(stage: str) -> str:
    """The study of a stage such as ``report@my-study``; `SHARED` for a stage over all studies."""
    return stage.partition("@")[2] or SHARED


def allow_no_git(root: Path) -> None:
    """Let DVC run in a folder without a Git repository, such as an unpacked source archive.

    The setting is in `.dvc/config.local`, which is written only if it is missing, and removed when
    there is a repository.
    """
    path, setting = root / ".dvc" / "config.local", "[core]\n    no_scm = true\n"
    has_git = any(
        (folder / ".git").exists() for folder in (root.resolve(), *root.resolve().parents)
    )
    if not has_git and not path.exists():
        write_atomically(path, setting)
    elif has_git and path.is_file() and path.read_text(encoding="utf-8") == setting:
        path.unlink()


def _record_times(times: StageTimes, tell: Tell) -> Tell:
    """Wrap `tell` to add the previous duration to `begin` events, and to record new durations."""

    def tell_timed(event: PipelineEvent) -> None:
        if event.kind == "begin":
            expected = times.expected_s(event.study, event.stage) or 0.0
            event = replace(event, seconds=expected)
        elif event.kind == "end":
            times.record(event.study, event.stage, event.seconds)
        tell(event)

    return tell_timed


def _from_first(stages: Sequence[str], outdated: Set[str]) -> list[str]:
    """The stages of a study from the first outdated one on: each depends on the previous ones."""
    first = next((k for k, name in enumerate(stages) if name in outdated), len(stages))
    return list(stages[first:])


def outdated_stages(root: Path) -> set[str]:
    """Names of the outdated stages by `dvc status`.

    Raises `RawperfError` with DVC's output if it fails.
    """
    done = subprocess.run(  # noqa: S603 - this interpreter
        dvc_command("status", "--json"),
        cwd=root,
        env=dvc_environment(root),
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no output"]
        raise RawperfError("`dvc status` failed", found=" ".join(lines[-_LAST_LINES:]))
    return set(json.loads(done.stdout))


def temporary_folder(root: Path) -> Path:
    """Folder for temporary files of a repository's stages, one for all runs.

    Since runs are serialised, the next one can remove the files of a killed one. The path is short
    since it also holds sockets.
    """
    name = hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:8]
    return Path(tempfile.gettempdir(), f"virtperf-{os.getuid()}-{name}")


def dvc_command(*arguments: str, module: str = "dvc") -> list[str]:
    """Command line of this environment's DVC, which waits for its lock."""
    return [sys.executable, "-P", "-m", module, "--wait-for-lock", *arguments]


def dvc_environment(root: Path) -> dict[str, str]:
    """Environment variables of DVC and its stages.

    Stages call `virtperf` by name: PATH and PYTHONPATH select this environment and the repository's
    own `src`.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    variables = {**os.environ, **FIXED_VARIABLES, "PATH": path, "PYTHONUNBUFFERED": "1"}
    if (root / "src").is_dir():
        before = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
        # absolute: notebooks run in their own folder
        variables["PYTHONPATH"] = os.pathsep.join([str((root / "src").absolute()), *before])
    return variables


Group = tuple[Sequence[str], Sequence[str]]
"""Studies of one `dvc repro`, and their stages: to start DVC and to read `dvc.lock` takes seconds."""


def _run_groups(
    root: Path, groups: Sequence[Group], tell: Tell, jobs: int, options: str, children: Children
) -> set[str]:
    """Run groups in parallel; returns the failed studies, which do not stop others."""

    def run(group: Group) -> set[str]:
        studies, names = group
        return _repro(root, studies, [*options.split(), *names], tell, children)

    with ThreadPoolExecutor(max(1, min(jobs, len(groups)))) as pool:
        return set[str]().union(*pool.map(run, groups))


def _balanced(layout: Layout, stages: Mapping[str, Sequence[str]], jobs: int) -> list[Group]:
    """At most `jobs` groups of studies with similar running times; none without studies."""
    groups: list[list[str]] = [[] for _ in range(min(max(1, jobs), len(stages)))]
    sizes = [0] * len(groups)
    weights = {study: _weight(layout, study) for study in stages} if len(groups) > 1 else {}
    for study in sorted(stages, key=lambda study: -weights.get(study, 0)):
        lightest = sizes.index(min(sizes))
        groups[lightest].append(study)
        sizes[lightest] += weights.get(study, 0)
    return [(of, [name for study in of for name in stages[study]]) for of in groups]


def _weight(layout: Layout, study: str) -> int:
    """Proxy for a study's running time: the size of its raw files, that of its definition, of which a
    byte takes longer, and its report.
    """
    raw = layout.measured(study).rglob("*")
    size = sum(path.stat().st_size for path in raw if path.is_file())
    written = layout.definition(study).glob("*.yaml")
    return REPORT_WEIGHT + size + DEFINITION_WEIGHT * sum(path.stat().st_size for path in written)


def _repro(
    root: Path, studies: Sequence[str], arguments: Sequence[str], tell: Tell, children: Children
) -> set[str]:
    """Run `dvc repro` with these arguments, and report its output; returns the failed studies."""
    study, name, begun = studies[0], "", time.monotonic()
    commands, stopped = set[str](), set[str]()  # of the running stage, and all that failed
    failed, skipping, before = set[str](), False, ""  # stages, by the last line; other failures

    def end() -> None:
        if name:
            is_failed = skipping or name in failed or not commands.isdisjoint(stopped)
            kind: Literal["end", "failed"] = "failed" if is_failed else "end"
            stage = name.partition("@")[0]
            tell(PipelineEvent(kind, study, stage, seconds=time.monotonic() - begun))

    variables = dvc_environment(root) | _own_temporary_folder(root)
    command = dvc_command("repro", *arguments, module=STAGES_IN_FORKS)
    with children.start(command, root, variables) as process:
        for line, is_error in output_lines(process):
            if is_error:
                if match := _STOPPED.match(line):
                    stopped.add(match[1])
                elif _SKIPPING.match(line) and not _STOPPED.match(before):
                    skipping = True
                elif _FAILED.match(line):
                    failed.update(_QUOTED.findall(line))
                tell(PipelineEvent("message", study, text=line))
                before = line
            elif match := _COMMAND.match(line):
                commands.add(match[1])
            elif match := _RUNNING.match(line):
                end()
                study, name, begun = study_of(match[1]), match[1], time.monotonic()
                commands, skipping = set(), False
                tell(PipelineEvent("begin", study, name.partition("@")[0]))
        known = {*map(study_of, failed)}.intersection(studies)
        if process.wait() and not known:
            failed.add(name)
            known.update(studies)
    end()
    return known


READ_BYTES = 1 << 16
"""Bytes read at once: as many as a pipe holds."""


def output_lines(process: subprocess.Popen[bytes]) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a process that are not blank, each with whether it is from standard error.

    Two pipes have no common order. What was on standard error before a line of standard output comes
    before that line here too, since standard error is read last and passed on first.
    """
    out, err = process.stdout, process.stderr
    assert out is not None and err is not None
    rest = {out: b"", err: b""}
    with selectors.DefaultSelector() as selector:
        for stream in rest:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            selector.select()
            lines: list[tuple[str, bool]] = []
            for stream in (out, err):
                if all(key.fileobj is not stream for key, _ in selector.select(0)):
                    continue
                data = os.read(stream.fileno(), READ_BYTES)
                if not data:
                    selector.unregister(stream)
                *whole, rest[stream] = (rest[stream] + (data or b"\n")).split(b"\n")
                texts = (text.decode("utf-8", "replace").rstrip() for text in whole)
                lines[:0] = [(text, stream is err) for text in texts if text]
            yield from lines


def _own_temporary_folder(root: Path) -> dict[str, str]:
    """TMPDIR set to `temporary_folder`; empty if another user owns that folder."""
    folder = temporary_folder(root)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        owned = folder.stat().st_uid == os.getuid() and not folder.is_symlink()
    except OSError:
        owned = False
    return {"TMPDIR": str(folder)} if owned else {}
