"""Guests touch memory and free it: what the host gets back, by which means, and what touching it again costs."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path

import host
from emulator import Guest
from files import meminfo_kib, write_csv

MEMORY_MB = 240
REPORTING_S = 6
"""A guest reports free pages two seconds after it freed them, and goes on in steps."""
MEANS = ("nothing", "reporting", "balloon", "ksm")
MOMENTS = ("started", "touched", "freed", "again")
GUEST_COLUMNS = (
    *(f"{moment}_kib" for moment in MOMENTS),
    *("returned_kib", "returned_percent", "free_in_guest_kib", "first_cpu_s", "first_faults"),
    *("again_cpu_s", "again_faults"),
)


def measure(build: Path, into: Path, guests: int, touched_mb: int, means: str) -> None:
    """Boot the guests, let each touch memory, free it, and touch it again.

    Parameters
    ----------
    build, into : pathlib.Path
        What `build.sh` has made; the run's folder.
    guests, touched_mb : int
    means : str
        One of `MEANS`: what gives the host the free memory back.
    """
    names = [f"guest{number}" for number in range(1, guests + 1)]
    device = "virtio-balloon-pci" + ",free-page-reporting=on" * (means == "reporting")
    hold = f"tool hold {touched_mb} "
    with host.merging(means == "ksm", build / "merging"), ExitStack() as stack:
        started = [
            stack.enter_context(
                Guest(build, name, memory_mb=MEMORY_MB, options=["-device", device])
            )
            for name in names
        ]
        for guest in started:
            guest.ready()
        looks = {"started": _look(into, "started", started, means)}
        first = _everywhere(started, [f"{hold}1{guest.pid}" for guest in started])
        looks["touched"] = _look(into, "touched", started, means)
        numbers = [first[guest.name].split()[0] for guest in started]
        _everywhere(started, [f"kill {number}; sleep 1" for number in numbers])
        _give_back(started, means, touched_mb)
        looks["freed"] = _look(into, "freed", started, means)
        if means == "balloon":
            for guest in started:
                guest.balloon_to(MEMORY_MB)
        again = _everywhere(started, [f"{hold}2{guest.pid}" for guest in started])
        looks["again"] = _look(into, "again", started, means)
    rows: list[list[object]] = []
    for name in names:
        (into / "guests" / name / "hold.txt").write_text(first[name] + again[name])
        memory = [looks[moment]["memory"][name] for moment in MOMENTS]
        grown, returned = memory[1] - memory[0], memory[1] - memory[2]
        rows.append(
            [
                *(name, *memory, returned, round(100 * returned / grown, 3)),
                looks["freed"]["free"][name],
                *(*first[name].split()[1:], *again[name].split()[1:]),
            ]
        )
    write_csv(into / "guests.csv", ("guest", *GUEST_COLUMNS), rows)
    totals = [sum(looks[moment]["memory"].values()) for moment in MOMENTS]
    write_csv(into / "host.csv", [f"all_{moment}_kib" for moment in MOMENTS], [totals])


def _everywhere(guests: list[Guest], commands: list[str]) -> dict[str, str]:
    """Let each guest run its command, all at once; what each printed."""
    for guest, command in zip(guests, commands, strict=True):
        guest.begin(command)
    return {guest.name: guest.end() for guest in guests}


def _give_back(guests: list[Guest], means: str, touched_mb: int) -> None:
    """Wait until free pages are reported, or inflate balloons by what was touched."""
    if means == "reporting":
        time.sleep(REPORTING_S)
    if means == "balloon":
        for guest in guests:
            guest.balloon_to(MEMORY_MB - touched_mb)


def _look(into: Path, moment: str, guests: list[Guest], means: str) -> dict[str, dict[str, int]]:
    """Memory of guests and host, with the raw text in the run's folder; guests go on afterwards."""
    found: dict[str, dict[str, int]] = {"free": {}, "memory": {}}
    for guest in guests:
        found["free"][guest.name] = meminfo_kib(guest.stand_still(into, moment), "MemFree")
    if means == "ksm":
        host.merge()
        (into / f"ksm-{moment}.txt").write_text(host.merged())
    for guest in guests:
        text = host.smaps(guest.pid, guest.memory_mb)
        (into / "guests" / guest.name / f"smaps-{moment}.txt").write_text(text)
        found["memory"][guest.name], _ = host.pss_kib(text)
        guest.resume()
    return found
