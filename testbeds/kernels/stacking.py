"""Eight servers in one guest, or spread over guests: memory on the host, processor time of a request."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import host
from emulator import Guest
from files import write_csv

SERVERS = 8
SERVER_MB = 8
MEMORY_MB = 192
REQUESTS = 400
PORT = 5000
COLUMNS = ("memory_kib", "emulators_kib", "memory_per_server_kib", "request_cpu_ms", "ksm_sharing")


def measure(build: Path, into: Path, guests: int, merging: str) -> None:
    """Boot the guests, start their part of the servers, ask all of them, and look at the host's memory.

    Parameters
    ----------
    build, into : pathlib.Path
        What `build.sh` has made; the run's folder.
    guests : int
        Over how many guests the servers are spread.
    merging : str
        ``on``: the host merges same pages.
    """
    each = SERVERS // guests
    ports = range(PORT, PORT + each)
    with host.merging(merging == "on", build / "merging"), ExitStack() as stack:
        started = [
            stack.enter_context(Guest(build, f"guest{number}", memory_mb=MEMORY_MB))
            for number in range(1, guests + 1)
        ]
        for guest in started:
            guest.ready()
            guest.run("ip link set lo up")
            for port in ports:
                guest.run(f"tool serve {port} {SERVER_MB}")
        asks = " ".join(f"tool ask {port} {REQUESTS} &" for port in ports)
        for guest in started:
            guest.begin(f"cat /proc/uptime; {asks} wait; cat /proc/uptime")
        said = {guest.name: guest.end() for guest in started}
        for guest in started:
            guest.pause()
        if merging == "on":
            host.merge()
        memory, emulators = 0, 0
        for guest in started:
            folder = into / "guests" / guest.name
            folder.mkdir(parents=True)
            text = host.smaps(guest.pid, guest.memory_mb)
            (folder / "smaps.txt").write_text(text)
            (folder / "requests.txt").write_text(said[guest.name])
            of_guest, of_emulator = host.pss_kib(text)
            memory, emulators = memory + of_guest, emulators + of_emulator
        counters = host.merged()
    (into / "ksm.txt").write_text(counters)
    sharing = dict(map(str.split, counters.splitlines()))["pages_sharing"]
    request = sum(map(_busy_s, said.values())) / (SERVERS * REQUESTS) * 1e3
    row = [
        *(memory, emulators - memory, round(memory / SERVERS, 1), round(request, 5)),
        sharing if merging == "on" else 0,
    ]
    write_csv(into / "host.csv", COLUMNS, [row])


def _busy_s(text: str) -> float:
    """Time that a guest was not idle between the first line and the last, both of ``/proc/uptime``."""
    first, last = (list(map(float, text.splitlines()[at].split())) for at in (0, -1))
    return (last[0] - first[0]) - (last[1] - first[1])
