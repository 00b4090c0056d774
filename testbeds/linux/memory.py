"""A guest whose memory is smaller than what it touches, and where it swaps to: experiment memory.

memory.py limit SWAP         one guest, whose limit is 40 % of its working set with SWAP disk or ram, 120 % with none
memory.py watch FILE NAME    until SIGTERM, helps a guest on for which the kernel finds nothing to swap out
memory.py stop

FILE gets the times of each help.
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
"""What the guest fills and touches, in bytes."""
SCARCE, AMPLE = 40, 120
"""Limits of its memory, in % of the working set."""
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


def limit(swap: str) -> None:
    program()
    if swap != "none":
        swap_on(swap)
    percent = AMPLE if swap == "none" else SCARCE
    guest = Group(Tree(), "guest1").make(memory=WORKING_SET * percent // 100, reads=disk_limit())
    guest.keep_alive()


def watch(path: str, name: str) -> None:
    """Write the time, in seconds since 1970, of each help, below a heading."""
    group = Group(Tree(), name)
    memory = group.memory_limit()
    ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: ended.append(number))
    Path(path).parent.mkdir(exist_ok=True)
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
        limit(arguments[0])
    elif what == "watch":
        watch(*arguments)
    elif what == "stop":
        stop()
    else:
        raise SystemExit(f"{what!r}; expected limit, watch or stop")


if __name__ == "__main__":
    main(*sys.argv[1:])
