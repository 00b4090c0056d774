"""Commands run by processes that are forked from one which has loaded what they need: none loads it again."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

KILLED = 137
"""Status of a command whose process ended without giving one, as shells say it."""


@contextmanager
def warm(module: str, root: Path, environment: Mapping[str, str], lock: int) -> Iterator[str]:
    """A process that forks commands, for the length of a block.

    Parameters
    ----------
    module : str
        What it runs: with the number of a listening socket and its address as arguments, until its input ends.
    root : Path
        Its working folder.
    environment : mapping
        Its whole environment.
    lock : int
        An open file that it inherits.

    Yields
    ------
    str
        The address for `ask`.
    """
    with tempfile.TemporaryDirectory(prefix="virtperf-") as folder:
        address = f"{folder}/asked"  # short, as sockets need it
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen(128)
            process = subprocess.Popen(  # noqa: S603 - this interpreter
                [sys.executable, "-P", "-m", module, str(listener.fileno()), address], cwd=root, env=environment,
                stdin=subprocess.PIPE, pass_fds=(listener.fileno(), lock),
            )  # fmt: skip
        with process:  # its input ends with the block
            yield address


def ask(
    address: str, words: Sequence[str], folder: Path, environment: Mapping[str, str], stdout: int, stderr: int
) -> socket.socket:
    """Have a command run by a process of its own; `status` waits for its end.

    Parameters
    ----------
    address : str
    words : sequence of str
        The command.
    folder : Path
        Its working folder.
    environment : mapping
        What differs from the environment of the process that forks.
    stdout, stderr : int
        Its open files.
    """
    asked = socket.socket(socket.AF_UNIX)
    asked.connect(address)
    socket.send_fds(asked, [b"\n"], [stdout, stderr])
    asked.sendall(json.dumps([list(words), os.fspath(folder.absolute()), dict(environment)]).encode())
    asked.shutdown(socket.SHUT_WR)
    return asked


def status(asked: socket.socket) -> int:
    """The status that a command ended with, once it has."""
    with asked:
        try:
            said = asked.recv(8)
        except ConnectionError:
            said = b""
    return int(said) if said else KILLED
