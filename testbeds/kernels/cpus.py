"""One to eight guests of one virtual processor each on one processor of the host: work a second of its time."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

from emulator import Guest
from files import write_csv
from groups import groups

MEMORY_MB = 96
WORK_S = 4
"""Guests' time of the work of all guests together: each has an equal part, however many there are."""
GUEST_COLUMNS = ("guest", "rounds", "own_s", "rounds_per_own_s", "host_cpu_s")
HOST_COLUMNS = ("rounds", "host_cpu_s", "rounds_per_host_cpu_s", "slowest_to_fastest_percent")


def measure(build: Path, into: Path, guests: int) -> None:
    """Boot the guests, put their emulators on one processor, let each do its part of the work.

    Parameters
    ----------
    build, into : pathlib.Path
        What `build.sh` has made; the run's folder.
    guests : int
    """
    processor = max(os.sched_getaffinity(0))
    names = [f"guest{number}" for number in range(1, guests + 1)]
    with groups(dict.fromkeys(names, 1.0)) as inner, ExitStack() as stack:
        started = [stack.enter_context(Guest(build, name, memory_mb=MEMORY_MB)) for name in names]
        for guest in started:
            guest.ready()
        for guest in started:
            for thread in Path(f"/proc/{guest.pid}/task").iterdir():
                os.sched_setaffinity(int(thread.name), {processor})
            inner[guest.name].enter(guest.pid)
        before = {name: inner[name].used_s() for name in names}
        for guest in started:
            guest.begin(f"tool churn {WORK_S / guests:g}")
        said = {guest.name: guest.end(600) for guest in started}
        used = {name: inner[name].used_s() - before[name] for name in names}
    write_csv(into / "usage.csv", ("guest", "host_cpu_s"), [[n, round(used[n], 6)] for n in names])
    rows, rounds = [], {}
    for name in names:
        folder = into / "guests" / name
        folder.mkdir(parents=True)
        (folder / "churn.txt").write_text(said[name])
        done, _, own = map(float, said[name].split())
        rounds[name] = int(done)
        rows.append([name, int(done), own, round(done / own, 4), round(used[name], 6)])
    write_csv(into / "guests.csv", GUEST_COLUMNS, rows)
    total, cpu = sum(rounds.values()), sum(used.values())
    rates = [rounds[name] / used[name] for name in names]
    row = [total, round(cpu, 6), round(total / cpu, 4), round(100 * min(rates) / max(rates), 3)]
    write_csv(into / "host.csv", HOST_COLUMNS, [row])
