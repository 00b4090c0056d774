"""Inter-process mutual exclusion by file locks."""

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
    """Hold an exclusive lock for the duration of a block; wait while another process holds it.

    The lock is an advisory lock of the system (`flock`): it is released when the process ends, even
    abnormally, so there are no stale locks.
    Parameters
    ----------
    path : Path
        The lock file; created if missing.
    on_wait : callable
        Called with a description of the holder before waiting; may raise instead.
    describe : callable, optional
        Further description of this process for other processes, appended to its pid.
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
