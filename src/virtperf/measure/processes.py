"""Processes of a run: start in own sessions, recover after a killed harness, stop, account.

Also defers signals to the harness until a run can be given up.

A process belongs to the run if it descends from the harness, which adopts orphans while it measures
(Linux only). After a killed harness it is known by its environment, which has the mark that all
started programs inherit, or by the session, which the harness created (a program such as sudo
clears the environment but stays in the session).
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

import psutil

from rawperf.core.errors import RawperfError
from rawperf.core.files import NO_SPACE_ERRORS
from virtperf.measure.commands import Call

if TYPE_CHECKING:
    from virtperf.measure.remote import Connections


class Interrupted(Exception):
    """Raised for a deferred signal; `number` is the signal's."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def deferred_signals() -> Iterator[Callable[[], None]]:
    """Defer termination signals; the yielded function raises `Interrupted` once one has arrived.

    Installing a handler also resets the disposition in started programs: they would inherit the
    ignored SIGINT of a shell's background job, and monitors stopped by SIGINT would never end. The
    harness itself keeps ignoring such a signal.
    """
    received: list[int] = []

    def check() -> None:
        if received:
            raise Interrupted(received[0])

    previous = {
        number: signal.getsignal(number)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    for number, handler in previous.items():
        ignored = handler == signal.SIG_IGN
        signal.signal(
            number, (lambda *_: None) if ignored else (lambda got, _: received.append(got))
        )
    try:
        yield check
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


MARK = "VIRTPERF_RUN"
CLOCK_ENVIRONMENT = {"TZ": "UTC", "LC_ALL": "C", "S_TIME_FORMAT": "ISO"}
"""Clock and locale of all tools: UTC, as `start` in run.yaml, without daylight saving changes."""
POLL_S = 0.02
START_TIME_TOLERANCE_S = 1.0  # tolerance of a process start time between two readings
KILL_TIMEOUT_S = 10.0  # maximum time for a process to end after SIGKILL
SSH_FAILED = 255  # exit status of ssh itself, not of the remote command
STDERR_BYTES = 4096  # at the end of standard error, to search for the last line
MAX_QUOTED = 200  # characters of a program's message
PR_SET_CHILD_SUBREAPER = 36  # of linux/prctl.h
Sessions = Mapping[int, float]
"""Start time of each session leader, by its process id."""


class Failure(Exception):
    """A command of a run failed; the run is given up, the plan continues."""


class LostHost(Failure):
    """A host is unreachable, or its connection was lost."""


@dataclass
class Started:
    """A started program; `ended` is the monotonic time at which its end was first observed."""

    call: Call
    process: subprocess.Popen[bytes]
    ended: float | None = None

    def poll(self) -> bool:
        """Poll the process; returns whether it has ended."""
        if self.ended is None and self.process.poll() is not None:
            self.ended = time.monotonic()
        return self.ended is not None

    @property
    def name(self) -> str:
        """Display name: phase, number and program."""
        where = f" on {self.call.host}" if self.call.host else ""
        return f"{self.call.name} ({Path(self.call.argv[0]).name}){where}"

    @property
    def ending(self) -> str:
        """Description of the exit status or signal."""
        status = self.process.returncode or 0
        how = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
        return f"{self.name} ended {how}"


@dataclass
class Processes:
    """Starts and stops the processes of one run.

    Descendants of this process that exist already, what is in their sessions, and connections to
    hosts are not part of the run; whatever else descends from this process is.
    `record` persists `sessions` for a later harness, each time before the next program starts.
    `check` is called while waiting, and raises to end the run.
    """

    folder: Path  # of the run: working directory and output of programs
    logs: Path  # folder for printed output without an output file
    mark: str  # distinguishes this study's processes from others
    record: Callable[[Sessions], None] = lambda _: None
    check: Callable[[], None] = lambda: None
    sessions: dict[int, float] = field(default_factory=dict)
    hosts: Connections = field(default_factory=dict)
    _started: list[Started] = field(default_factory=list)
    # by number: a process equals itself only while the clock that its start is computed from stays
    _others: Collection[int] = field(
        default_factory=lambda: frozenset(
            process.pid for process in psutil.Process().children(recursive=True)
        )
    )
    _other_sessions: Collection[int] = ()
    _adopting: bool = False

    def __post_init__(self) -> None:
        sessions = {_session_of(pid) for pid in self._others}
        self._other_sessions = sessions - {os.getsid(0), -1}

    @contextmanager
    def adopted_orphans(self) -> Iterator[None]:
        """Within this block, orphaned descendants become children of this process (Linux only)."""
        self._adopting = _set_subreaper(True)
        try:
            yield
        finally:
            if self._adopting:
                self._adopting = not _set_subreaper(False)

    def start(self, call: Call) -> Started:
        """Start a program; raises `Failure` if it can't be started."""
        argv = call.argv
        if call.host:
            if call.host not in self.hosts:
                raise LostHost(f"{call.host}: no connection")
            self.hosts[call.host].check()
            self.hosts[call.host].open(self.check)  # if the setup has just started the host
            argv = tuple(self.hosts[call.host].command(call))
        variables = {} if call.host else call.variables
        environment = {**os.environ, **CLOCK_ENVIRONMENT, **variables, MARK: self.mark}
        try:
            with self._file(call, "stdout") as out, self._file(call, "stderr") as err:
                process = subprocess.Popen(  # noqa: S603 - what measure.yaml says
                    argv,
                    cwd=self.folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                )
        except (OSError, ValueError) as problem:
            if getattr(problem, "errno", None) in NO_SPACE_ERRORS:
                raise
            if not self.folder.is_dir():
                raise Failure(
                    f"{call.name} can't be started: the run's folder {self.folder.name} is gone: "
                    "a command before it removed it"
                ) from problem
            why = getattr(problem, "strerror", None) or problem
            raise Failure(f"{call.name} can't be started: {argv[0]}: {why}") from problem
        self._started.append(Started(call, process))
        self.sessions[process.pid] = psutil.Process(process.pid).create_time()
        self.record(self.sessions)
        return self._started[-1]

    def _file(self, call: Call, stream: str) -> IO[bytes]:
        path = self.logs / f"{call.name}.{stream}"
        if stream == "stdout" and call.output and call.streams:
            path = self.folder / call.output
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.resolve().is_relative_to(self.folder.resolve()):
                raise Failure(f"{call.name}: {call.output} is a link out of the run folder")
        return path.open("ab")

    def finish(self, call: Call) -> None:
        """Run a program to completion; raises `Failure` on a time-out or non-zero exit status."""
        started = self.start(call)
        until = time.monotonic() + call.timeout_s
        while not started.poll():
            if time.monotonic() > until:
                self.stop(started, "SIGTERM", 1.0)
                raise Failure(f"{started.name} timed out after {call.timeout_s:g} s")
            self.pause(POLL_S)
        if started.process.returncode:
            raise self.failure(started)

    def failure(self, started: Started) -> Failure:
        """Error for a program that ended unexpectedly."""
        if started.call.host and started.process.returncode == SSH_FAILED:
            connection = self.hosts[started.call.host]
            return LostHost(f"{started.name} ended: the connection was lost{connection.ssh_error}")
        return Failure(f"{started.ending}{self._last_words(started.call)}")

    def _last_words(self, call: Call) -> str:
        """The last line that a program printed to standard error, as the end of a sentence."""
        with (self.logs / f"{call.name}.stderr").open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - STDERR_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        cut = "..." if len(last) > MAX_QUOTED else ""
        return f": {last[:MAX_QUOTED]}{cut}" if last else ""

    def pause(self, seconds: float) -> None:
        """Sleep, calling `check` at short intervals."""
        until = time.monotonic() + seconds
        while (remaining_s := until - time.monotonic()) > 0:
            self._reap()
            self.check()
            time.sleep(min(POLL_S, remaining_s))

    def stop(self, started: Started, name: str, grace_s: float) -> bool:
        """Send a signal to a process group, then SIGKILL; returns whether the signal ended it."""
        for number, timeout_s in (
            (signal.Signals[name], grace_s),
            (signal.SIGKILL, KILL_TIMEOUT_S),
        ):
            if started.poll():
                break
            if started.call.host in self.hosts:
                sent = signal.Signals(number).name
                self.hosts[started.call.host].signal(sent, started.call.name)
            try:
                if not started.call.host or number == signal.SIGKILL:
                    os.killpg(started.process.pid, number)  # the process group, as a terminal would
            except ProcessLookupError:
                pass
            except PermissionError as err:
                raise RawperfError(
                    f"{started.call.name} can't be stopped: it runs as another user"
                ) from err
            until = time.monotonic() + timeout_s
            while not started.poll() and time.monotonic() < until:
                self._reap()
                time.sleep(POLL_S)
            if number == signal.Signals[name] and started.poll():
                return True
        return False

    def end(self, grace_s: float) -> None:
        """Stop all remaining processes of the run."""
        end_all(self.mark, self.sessions, grace_s, self._remaining)
        for started in self._started:
            started.poll()

    def cpu_s(self) -> float:
        """Processor time in seconds of the harness and the run's processes, ended ones included."""
        used = sum(os.times()[:4])
        for process in {*self._descendants(), *members(self.mark, self.sessions)}:
            try:
                used += sum(process.cpu_times()[:4])  # including children that were waited for
            except psutil.Error:
                continue
        return used

    def _keepers(self) -> set[int | None]:
        return {connection.pid for connection in self.hosts.values()}

    def _descendants(self) -> list[psutil.Process]:
        """All descendants of this process that belong to the run, with those not yet waited for."""
        keepers = self._keepers()
        children: dict[int, list[psutil.Process]] = defaultdict(list)
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                children[process.ppid()].append(process)
        found: list[psutil.Process] = []
        parents = [os.getpid()]
        while parents:
            for process in children[parents.pop()]:
                if (
                    process.pid not in self._others
                    and process.pid not in keepers
                    and _session_of(process.pid) not in self._other_sessions
                ):
                    found.append(process)
                    parents.append(process.pid)
        return found

    def _remaining(self) -> list[psutil.Process]:
        """Descendants that are left; orphans that have ended are in it for a last time.

        A process that forks and ends during the search hides its child, but not itself.
        """
        found = self._descendants()
        own = {s.process.pid for s in self._started if not s.poll()}
        for process in found if self._adopting else ():
            with suppress(ChildProcessError):  # not a child of this process, but of another
                if process.pid not in own:
                    os.waitpid(process.pid, os.WNOHANG)
        return found

    def _reap(self) -> None:
        """Reap orphans that have ended: a teardown may wait until their numbers are gone."""
        if not self._adopting:
            return
        with suppress(ChildProcessError):  # no children
            while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                own = {s.process.pid: s for s in self._started if s.ended is None}
                if ended.si_pid in own:
                    own[ended.si_pid].poll()
                elif ended.si_pid in {*self._others, *self._keepers()}:
                    return  # its owner waits for it
                else:
                    os.waitpid(ended.si_pid, os.WNOHANG)


def _session_of(pid: int) -> int:
    """Session id of a process; -1 if it has ended."""
    try:
        return os.getsid(pid)
    except OSError:
        return -1


def members(mark: str, sessions: Sessions) -> Iterator[psutil.Process]:
    """All living processes with the mark, or in one of the sessions."""
    own_pid = os.getpid()
    current = {sid for sid, created in sessions.items() if _not_reused(sid, created)}
    for process in psutil.process_iter():
        try:
            if process.pid == own_pid or process.status() == psutil.STATUS_ZOMBIE:
                continue
            if os.getsid(process.pid) in current or process.environ().get(MARK) == mark:
                yield process
        except (psutil.Error, OSError):  # ended, or owned by another user
            continue


def _not_reused(sid: int, created: float) -> bool:
    """Whether a session id was not reused: a pid is not reassigned while its session lives."""
    try:
        return abs(psutil.Process(sid).create_time() - created) < START_TIME_TOLERANCE_S
    except psutil.Error:
        return True


def end_all(
    mark: str,
    sessions: Sessions,
    grace_s: float,
    more: Callable[[], Iterable[psutil.Process]] = tuple,
) -> int:
    """Terminate all processes of a run: SIGTERM, then SIGKILL after `grace_s`.

    `more` finds processes beyond `members`, ended ones too. Returns the number of processes.

    Raises
    ------
    RawperfError
        A process is owned by another user, or survives SIGKILL.
    """
    ended: set[int] = set()
    kill_at = time.monotonic() + grace_s
    while remaining := {*members(mark, sessions), *more()}:
        late = time.monotonic() - kill_at
        for process in remaining:
            try:
                if late > KILL_TIMEOUT_S:
                    raise RawperfError(f"process {process.pid} of a run did not end after SIGKILL")
                if late >= 0:
                    process.kill()
                elif process.pid not in ended:
                    process.terminate()
            except psutil.NoSuchProcess:
                continue
            except psutil.AccessDenied as err:
                if _has_ended(process):
                    continue
                problem = (
                    f"process {process.pid} of a run can't be stopped: it belongs to another user"
                )
                raise RawperfError(problem, remedy="stop it, then restart") from err
            ended.add(process.pid)
        time.sleep(POLL_S)
    return len(ended)


def _has_ended(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.Error:
        return True


def _set_subreaper(value: bool) -> bool:
    """Adopt orphaned descendants in place of the init process, or end that; returns the success."""
    if sys.platform != "linux":
        return False
    return ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(value), 0, 0, 0) == 0
