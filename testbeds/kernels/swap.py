"""A guest with less memory than its working set swaps: to memory that lies outside it, or to a disk."""

from __future__ import annotations

import re
from pathlib import Path

from emulator import Guest
from files import meminfo_kib, write_csv

MEMORY_MB = 224
WORKING_SET_MB = 96
SWAP_MB = 128
ROUNDS = 20
COUNTERS = ("pswpin", "pswpout", "pgmajfault", "pgfault")
COLUMNS = ("guest", "cpu_s", "minor_faults", "major_faults", *COUNTERS)


def measure(build: Path, into: Path, memory_percent: int, device: str) -> None:
    """Boot a guest, take memory from it, and let it write to pages of its working set at random.

    Parameters
    ----------
    build, into : pathlib.Path
        What `build.sh` has made; the run's folder.
    memory_percent : int
        What the guest has for the working set, in % of it.
    device : str
        What it swaps to, ``segment`` or ``disk``.
    """
    image = build / "swap.img"
    with image.open("wb") as file:
        file.truncate(SWAP_MB << 20)
    if device == "segment":
        backend = f"memory-backend-file,id=segment,share=on,mem-path={image},size={SWAP_MB}M"
        disk = ["-object", backend, "-device", "virtio-pmem-pci,memdev=segment"]
    else:
        disk = ["-drive", f"file={image},if=virtio,format=raw,cache=writeback"]
    name = "guest1"
    folder = into / "guests" / name
    folder.mkdir(parents=True)
    options = ["-device", "virtio-balloon-pci", *disk]
    with Guest(build, name, memory_mb=MEMORY_MB, options=options) as guest:
        guest.ready()
        path = "/dev/pmem0" if device == "segment" else "/dev/vda"
        guest.run(f"mkswap {path} >/dev/null && swapon {path}")
        text = guest.run("cat /proc/meminfo")
        (folder / "meminfo-started.txt").write_text(text)
        left = WORKING_SET_MB * memory_percent // 100
        guest.balloon_to(MEMORY_MB - (meminfo_kib(text, "MemAvailable") >> 10) + left)
        (folder / "meminfo-ballooned.txt").write_text(guest.run("cat /proc/meminfo"))
        before = guest.run("cat /proc/vmstat")
        said = guest.run(f"tool work {WORKING_SET_MB} {ROUNDS} 1", timeout_s=400)
        after = guest.run("cat /proc/vmstat")
    for moment, text in (("before", before), ("after", after)):
        (folder / f"vmstat-{moment}.txt").write_text(text)
    (folder / "work.txt").write_text(said)
    grown = [_count(after, counter) - _count(before, counter) for counter in COUNTERS]
    write_csv(into / "guests.csv", COLUMNS, [[name, *said.split(), *grown]])
    image.unlink()


def _count(text: str, counter: str) -> int:
    found = re.search(rf"(?m)^{counter} (\d+)$", text)
    if not found:
        raise OSError(f"/proc/vmstat of the guest has no line {counter}")
    return int(found[1])
