"""Guests whose virtual processors share a spin lock, on two processors of the host: work a second of their time.

Virtual processors are threads of the host, in real time. This wants a machine on which nothing else runs.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

from emulator import Guest
from files import write_csv
from groups import groups

MEMORY_MB = 96
SECONDS = 3
LOCKING = {"shared": (2, 1), "own": (2, 0), "single": (1, 1)}
"""Virtual processors of each guest, a thread on each; whether threads share the lock, or each takes one of its own."""
COLUMNS = ("rounds", "host_cpu_s", "rounds_per_host_cpu_s", "processors_used")


def measure(build: Path, into: Path, guests: int, locking: str) -> None:
    """Boot the guests, let a thread on each virtual processor work, and count rounds and the host's processor time.

    Parameters
    ----------
    build, into : pathlib.Path
        What `build.sh` has made; the run's folder.
    guests : int
    locking : str
        One of `LOCKING`.
    """
    vcpus, shared = LOCKING[locking]
    names = [f"guest{number}" for number in range(1, guests + 1)]
    two = set(sorted(os.sched_getaffinity(0))[:2])
    with groups(dict.fromkeys(names, 1.0)) as inner, ExitStack() as stack:
        started = [
            stack.enter_context(
                Guest(build, name, memory_mb=MEMORY_MB, processors=vcpus, real_time=True)
            )
            for name in names
        ]
        for guest in started:
            guest.ready()
        for guest in started:
            for thread in Path(f"/proc/{guest.pid}/task").iterdir():
                os.sched_setaffinity(int(thread.name), two)
            inner[guest.name].enter(guest.pid)
        before = {name: inner[name].used_s() for name in names}
        for guest in started:
            guest.begin(f"tool race {vcpus} {SECONDS} {shared}")
        said = {guest.name: guest.end() for guest in started}
        used = {name: inner[name].used_s() - before[name] for name in names}
    write_csv(into / "usage.csv", ("guest", "host_cpu_s"), [[n, round(used[n], 6)] for n in names])
    rounds = 0
    for name in names:
        folder = into / "guests" / name
        folder.mkdir(parents=True)
        (folder / "race.txt").write_text(said[name])
        rounds += int(said[name].split()[0])
    cpu = sum(used.values())
    row = [rounds, round(cpu, 6), round(rounds / cpu, 3), round(cpu / SECONDS, 4)]
    write_csv(into / "host.csv", COLUMNS, [row])
