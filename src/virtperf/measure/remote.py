"""Remote hosts over ssh: one connection per run, held by a small script on the remote side.

The programs `ssh` and `tar` are used: they honour ~/.ssh/config, agents and jump hosts. Nothing is
installed on the remote side. The script there (keeper.sh) ends all processes of the run at the end
of its input, so that neither a killed harness nor a lost connection leaves anything behind.
"""

from __future__ import annotations

import contextlib
import io
import os
import select
import shlex
import subprocess
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from virtperf.core.archives import extract_member
from virtperf.measure.commands import Call
from virtperf.measure.definition import FIELDS_FILE, RemoteHost
from virtperf.measure.disturbance import ProcessorTimes, processor_times
from virtperf.measure.processes import CLOCK_ENVIRONMENT, MARK, SSH_FAILED, Failure, LostHost

KEEPER = Path(__file__).with_name("keeper.sh")
FACTS = Path(__file__).with_name("facts.sh")
SSH_OPTIONS = (
    "BatchMode=yes",  # no interactive prompts
    "StrictHostKeyChecking=yes",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "ForwardAgent=no",
    "ForwardX11=no",
    "ClearAllForwardings=yes",
    "RequestTTY=no",
    "LogLevel=ERROR",
)
HEARTBEAT_S = 5.0
HEARTBEAT_TIMEOUT_S = 15
"""Heartbeat timeout: without an order for this time the keeper assumes a dead harness.

At the latest after twice the time.
"""
TIMEOUT_S = 20.0
RETRY_S = 0.5
TRANSFER_S = 600.0
ROUND_TRIPS = 8


@dataclass(frozen=True)
class ClockOffset:
    """Clock offset of a host (positive: ahead) in seconds; uncertainty is half the round trip."""

    offset_s: float
    uncertainty_s: float


@dataclass
class Connection:
    """A connection to a host for one run; `folder` is the run's folder there."""

    name: str
    host: RemoteHost
    here: Path  # base of relative paths in measure.yaml
    folder: str
    errors: Path  # stderr of ssh
    root: Path = Path()  # the repository
    sent: Sequence[Path] = ()  # files of the repository to copy there
    _keeper: subprocess.Popen[bytes] | None = None
    _read: bytes = b""
    _ended: threading.Event = field(default_factory=threading.Event)

    def open(self, check: Callable[[], None] = lambda: None) -> None:
        """Connect, with retries until `connect_s` have passed.

        `check` is called between attempts, and raises to end them. Raises `LostHost`.
        """
        until = time.monotonic() + self.host.connect_s
        while not self.opened:
            try:
                self.begin()
                self.await_ready()
            except LostHost:
                self._close_connection()
                if time.monotonic() > until:
                    raise
                check()
                time.sleep(RETRY_S)

    @property
    def pid(self) -> int | None:
        """Process id of the local ssh, None without a connection."""
        return self._keeper.pid if self._keeper else None

    @property
    def opened(self) -> bool:
        """Whether a connection was made; it may have been lost since."""
        return self._keeper is not None

    @property
    def control(self) -> str:
        """Path of the ssh control socket."""
        return str(Path(tempfile.gettempdir(), Path(self.folder).name + ".ssh"))

    def _ssh(self, *options: str) -> list[str]:
        """Arguments of `ssh` up to the remote command; they override the user's configuration."""
        arguments = [part for option in (*SSH_OPTIONS, *options) for part in ("-o", option)]
        host = self.host
        if host.config:
            arguments += ["-F", str(self.here / Path(host.config).expanduser())]
        if host.port:
            arguments += ["-p", str(host.port)]
        if host.key:
            arguments += ["-i", str(self.here / Path(host.key).expanduser())]
        control = f"ControlPath={self.control}"
        timeout = f"ConnectTimeout={host.connect_s:g}"
        return ["ssh", "-o", control, "-o", timeout, *arguments, host.ssh]

    def argv(self, line: str) -> list[str]:
        """Local command line that runs a shell command on the host."""
        return [*self._ssh("ControlMaster=no"), line]

    def command(self, call: Call) -> list[str]:
        """Local command line for a remote call in the run's folder, with the run's clock."""
        variables = {**CLOCK_ENVIRONMENT, **call.variables, MARK: self.folder}
        words = ["env", *(f"{name}={value}" for name, value in variables.items()), *call.argv]
        line = f"cd {self.folder} && echo $$ >.started/{call.name} && "
        if call.output and not call.streams:
            out = shlex.quote(f"./{call.output}")
            line += f'mkdir -p "$(dirname {out})" && exec >{out} && '
        return self.argv(line + f"exec {shlex.join(words)}")

    def begin(self) -> None:
        """Start the connection and its heartbeat thread, without waiting."""
        script = KEEPER.read_text(encoding="utf-8")
        line = shlex.join(
            ["exec", "sh", "-c", script, "keeper", self.folder, str(HEARTBEAT_TIMEOUT_S)]
        )
        with contextlib.suppress(OSError):
            Path(self.control).unlink()  # stale socket of a lost connection
        with self.errors.open("ab") as errors:
            self._keeper = subprocess.Popen(  # noqa: S603 - what measure.yaml says
                [*self._ssh("ControlMaster=yes", "ControlPersist=no"), line],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        self._read = b""
        self._ended = threading.Event()
        threading.Thread(target=self._beat, args=(self._ended,), daemon=True).start()

    def await_ready(self) -> None:
        """Wait until the host answers; raises `LostHost` on a time-out."""
        timeout_s = self.host.connect_s + TIMEOUT_S
        if self._answer(timeout_s, ended="no connection") != "ready":
            raise LostHost(f"{self.name}: can't create {self.folder}")
        if self.sent:
            self.send()

    def renew(self) -> None:
        """Reconnect after a lost connection; remaining remote processes are ended."""
        self._close_connection()
        self.begin()
        self.await_ready()

    @property
    def alive(self) -> bool:
        """Whether the connection is up."""
        return self._keeper is not None and self._keeper.poll() is None

    @property
    def ssh_error(self) -> str:
        """The last line of ssh's error output, in parentheses."""
        try:
            lines = self.errors.read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError:
            lines = []
        messages = [line.strip() for line in lines if line.strip()]
        return f" ({messages[-1]})" if messages else ""

    def check(self) -> None:
        """Raise `LostHost` if the connection is lost."""
        if self.opened and not self.alive:
            raise LostHost(f"{self.name}: the connection was lost{self.ssh_error}")

    def _beat(self, ended: threading.Event) -> None:
        while not ended.wait(HEARTBEAT_S):
            with contextlib.suppress(OSError, ValueError):
                self._order("beat")

    def _order(self, words: str) -> None:
        assert self._keeper is not None and self._keeper.stdin is not None  # set by `begin`
        os.write(self._keeper.stdin.fileno(), f"{words}\n".encode())

    def ask(self, words: str) -> str:
        """Send an order to the keeper; returns its one-line answer."""
        try:
            self._order(words)
        except OSError as err:
            raise LostHost(f"{self.name}: the connection was lost{self.ssh_error}") from err
        return self._answer(TIMEOUT_S)

    def _answer(self, timeout_s: float, ended: str = "the connection was lost") -> str:
        assert self._keeper is not None and self._keeper.stdout is not None  # set by `begin`
        out, until = self._keeper.stdout.fileno(), time.monotonic() + timeout_s
        while b"\n" not in self._read:
            if not select.select([out], [], [], max(0.0, until - time.monotonic()))[0]:
                raise LostHost(f"{self.name} did not answer within {timeout_s:g} s")
            if not (more := os.read(out, 65536)):
                try:
                    self._keeper.wait(1.0)  # ssh's error message comes last
                except subprocess.TimeoutExpired:
                    self._keeper.kill()  # only the keeper ended, the connection is up
                raise LostHost(f"{self.name}: {ended}{self.ssh_error}")
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        return line.decode("utf-8", "replace").strip()

    def signal(self, name: str, call: str) -> None:
        """Send a signal to the process group of a call."""
        if self._keeper is None:
            return
        with contextlib.suppress(OSError):  # no remote process outlives a connection
            self._order(f"signal {name.removeprefix('SIG')} {call}")

    def run(self, line: str, stdin: bytes = b"", timeout_s: float = TIMEOUT_S) -> str:
        """Run a shell command on the host; returns its output, raises `Failure` on an error."""
        self.check()
        try:
            done = subprocess.run(  # noqa: S603
                self.argv(line), input=stdin, capture_output=True, timeout=timeout_s, check=False
            )
        except subprocess.TimeoutExpired as err:
            raise Failure(f"{self.name} did not answer within {timeout_s:g} s") from err
        if done.returncode == SSH_FAILED:
            raise LostHost(f"{self.name}: the connection was lost{self.ssh_error}")
        if done.returncode:
            message = (
                done.stderr.decode("utf-8", "replace").strip() or f"exit status {done.returncode}"
            )
            raise Failure(f"{self.name}: {message}")
        return done.stdout.decode("utf-8", "replace")

    def clock(self) -> ClockOffset:
        """Estimate the host's clock offset, from the round trip with the shortest delay."""
        best = ClockOffset(0.0, float("inf"))
        for _ in range(ROUND_TRIPS):
            began = time.time()
            answer = self.ask("clock")
            ended = time.time()
            try:
                there = float(answer)
            except ValueError:
                raise Failure(
                    f"{self.name}: `date +%s.%N` printed {answer!r}, which is not a time"
                ) from None
            if (ended - began) / 2 < best.uncertainty_s:
                best = ClockOffset(there - (began + ended) / 2, (ended - began) / 2)
        return best

    def processors(self) -> ProcessorTimes:
        """Processor time of the host and of the run on it."""
        return processor_times(self.ask("processors"))

    def facts(self) -> str:
        """Output of facts.sh on the host."""
        return self.run(FACTS.read_text(encoding="utf-8"))

    def missing(self, programs: Iterable[str]) -> list[str]:
        """Programs called by bare name that are not on the host's PATH."""
        names = sorted({name for name in programs if "/" not in name})
        if not names:
            return []
        tests = "; ".join(
            f"command -v {shlex.quote(n)} >/dev/null || echo {shlex.quote(n)}" for n in names
        )
        return self.run(tests).split("\n")[:-1]

    def send(self) -> None:
        """Copy files of the repository to the same paths below `.root` of the run's folder."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for path in self.sent:
                archive.add(path, path.relative_to(self.root).as_posix(), recursive=False)
        line = f"tar -x -f - -C {self.folder}/.root"
        self.run(line, packed.getvalue(), TRANSFER_S)

    def fetch_call(self, output: str) -> Call:
        """Call that packs the files written on the host into a tar archive."""
        line = (
            f'cd {self.folder} && for f in ./* ./{FIELDS_FILE}; do [ -e "$f" ] && set -- "$@" "$f"; done; '
            '[ $# = 0 ] || exec tar -c -f - "$@"'
        )
        return Call(
            f"fetch-{self.name}",
            ("sh", "-c", line),
            {},
            output,
            (),
            None,
            TRANSFER_S,
            host=self.name,
        )

    def close(self) -> None:
        """End remaining processes on the host, and remove the run's folder there."""
        if self._close_connection() not in (0, None) and not self.host.started_in_setup:
            # after a lost connection the keeper cleans up, unless it was killed itself
            with contextlib.suppress(LostHost):
                self.begin()
                self.await_ready()
            self._close_connection()

    def _close_connection(self) -> int | None:
        """Close the connection; returns its exit status, None if it was not open."""
        self._ended.set()
        keeper, self._keeper = self._keeper, None
        if keeper is None or keeper.stdin is None or keeper.stdout is None:
            return None
        with contextlib.suppress(OSError):
            keeper.stdin.close()
        try:
            keeper.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            keeper.kill()
            keeper.wait()
        keeper.stdout.close()
        with contextlib.suppress(OSError):
            Path(self.control).unlink()
        return keeper.returncode


Connections = Mapping[str, Connection]
"""Connections by the hosts' names in measure.yaml."""


def unpack(archive: Path, folder: Path, host: str) -> list[str]:
    """Unpack a host's files into the run folder; returns their paths.

    Raises
    ------
    Failure
        A file exists already, or its path is outside the folder.
    """
    names: list[str] = []
    if archive.stat().st_size == 0:
        return names
    try:
        with tarfile.open(archive) as packed:
            for member in packed:
                place = folder / member.name
                if not member.isdir():
                    if place.exists():
                        name = place.relative_to(folder).as_posix()
                        raise Failure(
                            f"{host} wrote {name}, which already exists in the run folder"
                        )
                    names.append(place.relative_to(folder).as_posix())
                extract_member(packed, member, folder)
    except (tarfile.TarError, ValueError) as err:
        raise Failure(f"{host}: its files can't be unpacked: {err}") from err
    return [name for name in names if name != FIELDS_FILE]


@contextlib.contextmanager
def open_connections(
    connections: Iterable[Connection], *, lenient: bool = False
) -> Iterator[Connections]:
    """Context manager of open connections, which are closed at its end.

    Connections to hosts that the setup starts are returned unopened; `lenient`: unreachable hosts
    are left out.

    Raises
    ------
    LostHost
        A host can't be reached.
    """
    opened: dict[str, Connection] = {}
    try:
        ready: dict[str, Connection] = {}
        for connection in connections:
            opened[connection.name] = connection
            if not connection.host.started_in_setup:
                connection.begin()
        for name, connection in opened.items():
            try:
                if connection.opened:
                    connection.await_ready()
                ready[name] = connection
            except LostHost:
                if not lenient:
                    raise
        yield ready
    finally:
        threads = [threading.Thread(target=c.close) for c in opened.values()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def compared_clocks(
    before: Mapping[str, ClockOffset], after: Mapping[str, ClockOffset], max_drift_s: float
) -> dict[str, Any]:
    """Entry `clocks` of run.yaml; raises `Failure` if an offset can't be corrected.

    Parameters
    ----------
    max_drift_s : float
        Maximum drift of a host's clock against the harness's between the two readings.
    """
    readings = {}
    for name, first in before.items():
        last = after[name]
        uncertainty_s = max(first.uncertainty_s, last.uncertainty_s)
        drift = last.offset_s - first.offset_s
        if uncertainty_s > 1:
            raise Failure(
                f"{name}: its clock can't be compared: the round trip takes {2 * uncertainty_s:.1f} s"
            )
        if abs(drift) - first.uncertainty_s - last.uncertainty_s > max_drift_s:
            raise Failure(
                f"{name}: its clock drifted by {drift:+.3f} s in the run (clock_drift_s: {max_drift_s:g}); "
                "synchronise it with chrony or ntpd"
            )
        readings[name] = {
            "offset_s": round((first.offset_s + last.offset_s) / 2, 4),
            "uncertainty_s": round(uncertainty_s, 4),
            "drift_s": round(drift, 4),
        }
    return readings
