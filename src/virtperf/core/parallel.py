"""Parallel map: in this process, in a process pool, or on a running Dask cluster, with equal
results.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import psutil

from rawperf.core.errors import RawperfError

Map = Callable[[Callable[..., Any], Sequence[Any]], Iterator[Any]]
"""``map(function, tasks)`` yields ``function(task, *shared)`` for each task, in task order."""
PROCESS_BYTES = 600_000_000
"""Memory budget per process; limits the number of worker processes."""
CONNECT_S = 10
ALLOCATOR_THREAD = "jemalloc_bg_thd"
ADDRESS = re.compile(r"(tcp|tls)://(\[[0-9a-fA-F:.]+\]|[^\s/:\[\]]+):\d{1,5}")
"""Scheduler addresses; a host may be an IPv6 address in brackets."""


@contextmanager
def workers(
    *shared: Any, jobs: int | None = None, scheduler: str = "", preload: str = __name__
) -> Iterator[Map]:
    """Context manager for a pool of workers; `shared` arguments follow the task in every call.

    `jobs`: processes on this machine; 1: this process alone. Default: one per processor, as far as
        memory allows.
    `scheduler`: the address of a running Dask cluster (``tcp://host:8786``), which then does the
        work; its workers need the same package and the repository at the same path. Tasks of a lost
        worker are rescheduled.
    `preload`: a module that worker processes import first, unless forked from this one.

    Raises `RawperfError`: the cluster can't be reached, is lost or Dask is not installed; a process
    of this machine was killed. Exceptions of a function are raised when its result is retrieved.
    """
    if scheduler:
        with _client(scheduler) as client, _losses_named(scheduler):
            _require_equal_versions(client)
            # pure=False: tasks have side effects (they write files), so equal ones must not be
            # deduplicated.
            yield lambda function, tasks: (
                done.result()
                for done in client.map(partial(_called, function, shared), list(tasks), pure=False)
            )
        return
    count = jobs or max_processes()
    if count == 1:
        yield lambda function, tasks: (function(task, *shared) for task in tasks)
        return
    # Forking is safe only without other threads; otherwise fork from a server process that has
    # imported the module.
    context = get_context("fork" if is_single_threaded() else "forkserver")
    context.set_forkserver_preload([preload])
    try:
        with ProcessPoolExecutor(count, context, _share, (shared,)) as pool:
            pool.submit(int)  # the first task starts the processes, or the server
            yield lambda function, tasks: pool.map(partial(_with_shared, function), tasks)
    except BrokenProcessPool as err:
        raise RawperfError(
            "a worker process was killed",
            remedy="memory may be too small: retry with --jobs 1",
        ) from err


@contextmanager
def _losses_named(address: str) -> Iterator[None]:
    """Raise `RawperfError` for what Dask raises when the scheduler or all attempts of a task die."""
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    try:
        yield
    except (CancelledError, CommClosedError, KilledWorker) as err:
        lost = "a task ended its workers" if isinstance(err, KilledWorker) else "connection lost"
        raise RawperfError(
            f"the Dask cluster did not finish the work: {lost}",
            found=f"{address}: {err}",
            remedy="start the cluster and the command again; finished runs are kept, or use --jobs",
        ) from err


def is_single_threaded() -> bool:
    """Whether this process has one thread, besides that of Arrow's allocator, which stops for forks."""
    tasks = Path("/proc/self/task")
    if not tasks.is_dir():
        return psutil.Process().num_threads() == 1
    names = []
    for task in tasks.iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread has just ended
            names.append((task / "comm").read_text().strip())
    return len(names) - names.count(ALLOCATOR_THREAD) == 1


def max_processes() -> int:
    """One process per processor, as far as available memory allows."""
    return max(1, min(os.cpu_count() or 1, int(psutil.virtual_memory().available // PROCESS_BYTES)))


_shared: tuple[Any, ...] = ()


def _share(shared: tuple[Any, ...]) -> None:
    global _shared
    _shared = shared


def _with_shared(function: Callable[..., Any], task: Any) -> Any:
    return function(task, *_shared)


def _called(function: Callable[..., Any], shared: tuple[Any, ...], task: Any) -> Any:
    return function(task, *shared)


def package_versions() -> dict[str, str]:
    """Versions that results depend on: Python, the pinned numerical packages, this package."""
    names = ("numpy", "pandas", "pyarrow", "scipy", "statsmodels", "virtperf")
    versions = {"python": platform.python_version()}
    for name in names:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "none"
    return versions


def _require_equal_versions(client: Any) -> None:
    """Raise `RawperfError` if a cluster worker has other versions than this process."""
    local_versions = package_versions()
    different = {}
    try:
        versions = client.run(package_versions)
    except (AttributeError, ImportError) as err:  # a worker that does not have this function
        raise RawperfError(
            "workers of the cluster have no virtperf, or an older version",
            found=str(err),
            remedy="install requirements/main.lock and the same virtperf there",
        ) from err
    for worker, theirs in sorted(versions.items()):
        words = [
            f"{name} {theirs.get(name, 'none')}"
            for name in local_versions
            if theirs.get(name, "none") != local_versions[name]
        ]
        if words:
            different[worker] = words
    if different:
        names = {word.split()[0] for words in different.values() for word in words}
        raise RawperfError(
            "package versions of cluster workers differ, and results may differ",
            expected=", ".join(
                f"{name} {local_versions[name]}" for name in local_versions if name in names
            ),
            found="; ".join(f"{worker}: {', '.join(words)}" for worker, words in different.items()),
            remedy="install requirements/main.lock and the same virtperf there",
        )


def _client(address: str) -> Any:
    if not ADDRESS.fullmatch(address):  # a client would retry an invalid address
        raise RawperfError(
            "invalid address of a Dask scheduler",
            expected="protocol, host and port, such as tcp://host:8786 or tls://host:8786",
            found=address,
        )
    try:
        from distributed import Client
    except ImportError as err:
        raise RawperfError(
            "a cluster requires Dask, which is not installed",
            remedy="install virtperf[dask]",
        ) from err
    try:
        return Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, ImportError) as err:
        raise RawperfError(
            "the Dask cluster can't be reached",
            expected="the address of its scheduler, such as tcp://host:8786",
            found=f"{address}: {err}",
        ) from err
