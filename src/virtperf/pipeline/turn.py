"""One pipeline at a time in a repository: a second one waits, and says for whom."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

FILE = Path(".dvc", "tmp", "virtperf.lock")


@contextmanager
def turn(root: Path, say: Callable[[str], None]) -> Iterator[int]:
    """Hold the repository's lock while the block runs; wait for it where another process holds it.

    The lock is the system's (`flock`): it ends with the last process that has the file open, however that process
    ends, so that nothing is left to clean up.

    Parameters
    ----------
    root : Path
        The repository's folder.
    say : callable
        Takes the line that says for whom this process waits.

    Yields
    ------
    int
        The open file. Processes that inherit it hold the lock too, if this one is killed before they end.
    """
    path = root / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            say(f"waiting for {file.read().strip() or 'another process'}")
            fcntl.flock(file, fcntl.LOCK_EX)
        _write(file.fileno(), f"process {os.getpid()}, which has run the pipeline since {time.strftime('%H:%M:%S')}\n")
        try:
            yield file.fileno()
        finally:
            _write(file.fileno(), "")


def _write(file: int, text: str) -> None:
    os.ftruncate(file, 0)
    os.write(file, text.encode())
