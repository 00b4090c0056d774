"""Guests whose memory is smaller than what they touch or define, and where they swap to: experiments b and i.

memory.py limit SWAP PERCENT     one guest, whose limit is PERCENT of its working set
memory.py define TIMES           guests that define TIMES the memory that all have together
memory.py watch FILE NAME        until SIGTERM, helps a guest on (all together where NAME is empty)
                                 for which the kernel finds nothing to swap out
memory.py stop

SWAP is disk or ram; the guests of `define` swap to the disk. FILE gets the times of each help.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from cgroup import Group, Tree
from lab import HERE, LAB, folder

WORKING_SET = 512 * 2**20
"""What each guest of either experiment fills, in bytes."""
GUESTS = 2
"""How many guests share the memory of `define`."""
READS = 8000
"""Read requests a second that a guest's disk takes: fewer than the virtual disk has given on any
day, so that it is as fast on every day.
"""
SWAP_SIZE = 2 * 2**30
ZRAM = Path("/sys/block/zram0")
LOOK_S = 0.01


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def program() -> None:
    run("gcc", "-O2", "-o", str(folder() / "workingset"), str(HERE / "workingset.c"))


def swap_on(swap: str) -> None:
    """Swap to a file on the disk, or to a compressed block device in memory (zram)."""
    if swap == "ram":
        if not ZRAM.is_dir():
            raise SystemExit(f"{ZRAM} is not there; expected a kernel with zram")
        (ZRAM / "disksize").write_text(str(SWAP_SIZE))
        where = f"/dev/{ZRAM.name}"
        run("mkswap", where)
    else:
        path = folder() / "swap"
        where = str(path)
        if not path.is_file() or path.stat().st_size != SWAP_SIZE:
            path.unlink(missing_ok=True)
            path.touch(mode=0o600)
            size = f"count={SWAP_SIZE >> 20}"
            run("dd", "if=/dev/zero", f"of={where}", "bs=1M", size, "oflag=direct", "conv=fsync")
            run("mkswap", where)
    run("swapon", where)


def disk_limit() -> str:
    """The limit of reads, as a group takes it."""
    number = LAB.stat().st_dev
    return f"{os.major(number)}:{os.minor(number)} {READS}"


def limit(swap: str, percent: int) -> None:
    program()
    swap_on(swap)
    guest = Group(Tree(), "guest1").make(memory=WORKING_SET * percent // 100, reads=disk_limit())
    guest.keep_alive()


def define(times: float) -> None:
    program()
    swap_on("disk")
    tree = Tree()
    for n in range(1, GUESTS + 1):
        # its own limit lets a guest have what it defines: a limit is what makes its memory counted
        Group(tree, f"guest{n}").make(memory=2 * WORKING_SET, reads=disk_limit())
    together = Group(tree, "")
    together.limit_all(round(GUESTS * WORKING_SET / times))
    together.keep_alive()


def watch(path: str, name: str) -> None:
    """Write the time, in seconds since 1970, of each help, below a heading."""
    group = Group(Tree(), name)
    memory = group.memory_limit()
    ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: ended.append(number))
    with Path(path).open("w") as file:
        file.write("helped_s\n")
        while not ended:
            if group.reclaim(memory):
                file.write(f"{time.time():.3f}\n")
                file.flush()
            time.sleep(LOOK_S)


def stop() -> None:
    """Stop swapping; nothing happens where nothing was started."""
    for line in Path("/proc/swaps").read_text().splitlines()[1:]:
        if (name := line.split()[0]) in (str(LAB / "swap"), f"/dev/{ZRAM.name}"):
            run("swapoff", name)
    if ZRAM.is_dir() and (ZRAM / "disksize").read_text().strip() != "0":
        (ZRAM / "reset").write_text("1")


def main(what: str, *arguments: str) -> None:
    if what == "limit":
        limit(arguments[0], int(arguments[1]))
    elif what == "define":
        define(float(arguments[0]))
    elif what == "watch":
        watch(*arguments)
    elif what == "stop":
        stop()
    else:
        raise SystemExit(f"{what!r}; expected limit, define, watch or stop")


if __name__ == "__main__":
    main(*sys.argv[1:])
