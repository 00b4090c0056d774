"""One process at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def turn(file: Path, words: Callable[[], str], taken: Callable[[str], None]) -> Iterator[int]:
    """Hold a lock while the block runs; wait for it where another process holds it, unless `taken`
    raises.

    The lock is the system's (`flock`): it ends with the last process that has the file open,
    however that process ends, so that nothing is left to clean up. Processes that inherit the open
    file, whose number the block gets, hold it too, if this one is killed before they end. The file
    is made where it is missing.

    Parameters
    ----------
    words : callable
        Gives what is known of this process beside its number once it holds the lock, for `taken` of
        another one.
    taken : callable
        Told of the process that holds the lock.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a+b", buffering=0) as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            held.seek(0)
            taken(held.read().decode() or "another process")
            fcntl.flock(held, fcntl.LOCK_EX)
        held.truncate(0)
        held.write(f"process {os.getpid()}{words()}".encode())
        try:
            yield held.fileno()
        finally:
            held.truncate(0)
