"""Commands run by processes that are forked from one which has loaded what they need: none loads it
again.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

KILLED = 137
"""Status of a command whose process ended without giving one, as shells say it."""
ADDRESS = "VIRTPERF_WARM"
"""Variable in the environment of forked commands: where they can ask for others."""
KERNEL = "kernel"
"""A command beside virtperf's and DVC's: a notebook's kernel, which ends when nobody is left who
asked for it.
"""
DVC, OTHER = b"d", b"o"
"""The byte that a command begins with: DVC needs little, the others much to be loaded."""
NUMBER = 4
"""Bytes of a number that is sent."""


@contextmanager
def warm(module: str, root: Path, environment: Mapping[str, str], lock: int) -> Iterator[str]:
    """A process that forks commands, for the length of a block; yields the address for `ask`.

    `module`: what it runs: with the number of a listening socket and its address as arguments,
        until its input ends.
    `environment`: its whole environment.
    `lock`: an open file that it inherits.
    """
    with tempfile.TemporaryDirectory(prefix="virtperf-") as folder:
        address = f"{folder}/asked"  # short, as sockets need it
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen(128)
            process = subprocess.Popen(  # noqa: S603 - this interpreter
                [sys.executable, "-P", "-m", module, str(listener.fileno()), address],
                cwd=root,
                env=environment,
                stdin=subprocess.PIPE,
                pass_fds=(listener.fileno(), lock),
            )
        with process:  # its input ends with the block
            yield address


class Command:
    """A command that a forked process runs, with what `subprocess.Popen` has; `pid` is 0 where it
    ended at once.
    """

    stdin = stdout = stderr = None

    def __init__(self, asked: socket.socket) -> None:
        self._asked = asked
        self.pid = self._number() or 0
        self._status: int | None = None

    def poll(self) -> int | None:
        ended = self._status is not None or select.select([self._asked], (), (), 0)[0]
        return self.wait() if ended else None

    def wait(self) -> int:
        """The status that it ended with, once it has."""
        if self._status is None:
            with self._asked:
                found = self._number()
            self._status = KILLED if found is None else found
        return self._status

    def send_signal(self, number: int) -> None:
        """Send its process a signal unless it has ended."""
        if self.pid and self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _number(self) -> int | None:
        try:
            said = self._asked.recv(NUMBER, socket.MSG_WAITALL)
        except ConnectionError:
            said = b""
        return int.from_bytes(said, "little", signed=True) if len(said) == NUMBER else None


def say(asked: socket.socket, number: int) -> None:
    """Send a number to the `Command` at the other end: first the process's, then its status."""
    asked.sendall(number.to_bytes(NUMBER, "little", signed=True))


def ask(
    address: str,
    words: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    stdout: int,
    stderr: int,
) -> Command:
    """Have a command run by a process of its own; `environment` is what differs from that of the
    process that forks.
    """
    asked = socket.socket(socket.AF_UNIX)
    asked.connect(address)
    socket.send_fds(asked, [DVC if words[0] == "dvc" else OTHER], [stdout, stderr])
    asked.sendall(
        json.dumps([list(words), os.fspath(folder.absolute()), dict(environment)]).encode()
    )
    asked.shutdown(socket.SHUT_WR)
    return Command(asked)
