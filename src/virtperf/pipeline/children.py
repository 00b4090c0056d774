"""Processes that the pipeline starts: where a signal ends it, they and what they started end, too."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType

from rawperf.core.errors import VirtperfError

GRACE_S = 5.0
"""Seconds that DVC has to give its locks back after SIGINT; then it is killed, and the next run
repairs its files.
"""


class Children:
    """The processes that run at present, each the leader of a group of its own."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._ended = False

    @contextlib.contextmanager
    def start(
        self, command: Sequence[str], folder: Path, variables: Mapping[str, str]
    ) -> Iterator[subprocess.Popen[str]]:
        """A process that reads nothing, with both of its outputs as pipes. Raises `VirtperfError`
        once the pipeline has been told to end.
        """
        if self._ended:
            raise VirtperfError("the pipeline was told to end")
        with subprocess.Popen(  # noqa: S603 - this interpreter
            command,
            cwd=folder,
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        ) as process:
            self._running.add(process)
            if self._ended:  # since the line at the top
                _signal(process, signal.SIGKILL)
            try:
                yield process
            finally:
                self._running.discard(process)

    def end(self) -> None:
        """Interrupt all of them, and kill those that are still there after `GRACE_S`."""
        self._ended = True
        running = list(self._running)
        for process in running:
            _signal(process, signal.SIGINT)
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_S)
            _signal(process, signal.SIGKILL)  # the group: a stage may outlive its DVC


def _signal(process: subprocess.Popen[str], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


@contextlib.contextmanager
def ended_with_this_process() -> Iterator[Children]:
    """Children that SIGINT, SIGTERM and SIGHUP end before they end this process; a signal that it
    ignores, as a shell's background job does SIGINT, stays ignored.
    """
    children = Children()

    def stop(number: int, _: FrameType | None) -> None:
        children.end()
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)

    before = {}
    if threading.current_thread() is threading.main_thread():  # no other one may set handlers
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:
                before[number] = signal.signal(number, stop)
    try:
        yield children
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
