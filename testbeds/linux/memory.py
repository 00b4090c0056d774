"""A guest whose memory is smaller than its working set, and where it swaps to: experiment b.

memory.py start SWAP PERCENT     SWAP: disk, disk-throttled or ram; the limit is PERCENT of the working set
memory.py stop
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from cgroup import Group, Tree
from lab import HERE, LAB, folder

WORKING_SET = 512 * 2**20
READS = 2000
"""Read requests a second that the throttled disk takes."""
SWAP_SIZE = 2 * WORKING_SET
RAM = LAB / "ram"
"""A ramfs, since pages of a tmpfs are swapped themselves: to the device that they hold, which then waits for itself."""


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def filled(path: Path) -> Path:
    """A file without holes. Pages of a RAM disk would else be charged to the guest that swaps to them."""
    if not path.is_file() or path.stat().st_size != SWAP_SIZE:
        path.unlink(missing_ok=True)
        path.touch(mode=0o600)
        run("dd", "if=/dev/zero", f"of={path}", "bs=1M", f"count={SWAP_SIZE >> 20}", "conv=fsync")
    return path


def device(swap: str) -> str:
    """The file or block device to swap to."""
    if swap != "ram":
        return str(filled(folder() / "swap"))
    if not RAM.is_mount():
        RAM.mkdir(exist_ok=True)
        run("mount", "-t", "ramfs", "-o", "mode=700", "ramfs", str(RAM))
    return run("losetup", "--show", "--find", str(filled(RAM / "swap")))


def start(swap: str, percent: int) -> None:
    program = folder() / "workingset"
    run("gcc", "-O2", "-o", str(program), str(HERE / "workingset.c"))
    where = device(swap)
    run("mkswap", where)
    run("swapon", where)
    number = LAB.stat().st_dev
    reads = f"{os.major(number)}:{os.minor(number)} {READS}" if swap == "disk-throttled" else None
    Group(Tree(), "guest1").make(memory=WORKING_SET * percent // 100, reads=reads)


def stop() -> None:
    """Stop swapping; nothing happens where nothing was started."""
    loops = []
    if RAM.is_mount():
        loops = run(
            "losetup", "--noheadings", "--output", "NAME", "--associated", str(RAM / "swap")
        ).split()
    for line in Path("/proc/swaps").read_text().splitlines()[1:]:
        if (name := line.split()[0]) in (str(LAB / "swap"), *loops):
            run("swapoff", name)
    for name in loops:
        run("losetup", "--detach", name)
    if RAM.is_mount():
        run("umount", str(RAM))


def main(what: str, *arguments: str) -> None:
    if what == "start":
        start(arguments[0], int(arguments[1]))
    elif what == "stop":
        stop()
    else:
        raise SystemExit(f"{what!r}; expected start or stop")


if __name__ == "__main__":
    main(*sys.argv[1:])
