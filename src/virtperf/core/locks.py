"""One process at a time, by the system's file locks."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def exclusive_lock(
    path: Path, on_wait: Callable[[str], None], describe: Callable[[], str] = str
) -> Iterator[None]:
    """Hold an exclusive lock for the length of a block; wait for it where another process holds it.

    The lock is the system's (`flock`): it ends with the process, however that process ends, so
    that nothing is left to clean up.

    Parameters
    ----------
    path : Path
        The lock file; it is made where it is missing.
    on_wait : callable
        Told of the process that holds the lock, before waiting begins; it may raise instead.
    describe : callable, optional
        What to tell `on_wait` of others about this process, beside its number.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b", buffering=0) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            on_wait(file.read().decode() or "another process")
            fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(f"process {os.getpid()}{describe()}".encode())
        try:
            yield
        finally:
            file.truncate(0)
