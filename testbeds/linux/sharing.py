"""Two guests that read 4 KiB at random from 512 MiB: experiment sharing.

sharing.py DATA WARM_S WINDOW_S SEED

DATA: shared (one file, which the page cache holds once), private (a copy each, memory for both copies) or scarce (a
copy each, as much memory as with shared).
"""

from __future__ import annotations

import os
import sys

from cgroup import Group, Tree
from lab import LAB, made, noise
from memory import disk_limit

SIZE = 512 * 2**20
GUESTS = 2
MEMORY = {"shared": 320 * 2**20, "private": 640 * 2**20, "scarce": 320 * 2**20}
"""Of a guest, in bytes: with 320 MiB two guests together hold one file, and neither holds a copy of its own."""

JOB = """\
[reader{n}]
filename={name}
rw=randread
bs=4k
ioengine=psync
direct=0
invalidate=0
time_based
ramp_time={warm_s}
runtime={runtime_s}
randseed={seed}
write_iops_log=reader{n}
log_avg_msec=1000
log_unix_epoch=1
"""
"""The log has the rate of each second, with the clock's time. It stands beside the job, since fio's
report tells where it is.
"""


def name(data: str, n: int) -> str:
    return f"data-{1 if data == 'shared' else n}"


def forget(path: str) -> None:
    """Drop a file from the page cache."""
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


def main(data: str, warm_s: str, window_s: int, seed: int) -> None:
    tree = Tree()
    for n in range(1, GUESTS + 1):
        forget(str(noise(f"data-{n}", SIZE, n)))
    memory = MEMORY[data]
    groups = [Group(tree, f"guest{n}").make(memory=memory) for n in range(1, GUESTS + 1)]
    for n in range(1, GUESTS + 1):
        job = JOB.format(
            n=n, name=name(data, n), warm_s=warm_s, runtime_s=window_s + 1, seed=seed + n
        )
        made(f"reader{n}.fio", job.encode())
    fill(groups, data)
    for group in groups:
        group.set_up(memory=memory, reads=disk_limit())


def fill(groups: list[Group], data: str) -> None:
    """Read the files once; each guest is charged for the part of a shared file that it reads first."""
    for n, group in enumerate(groups, start=1):
        part = SIZE // len(groups) if data == "shared" else SIZE
        begin = (n - 1) * part if data == "shared" else 0
        if os.fork() == 0:
            group.enter()
            with (LAB / name(data, n)).open("rb") as file:
                file.seek(begin)
                for _ in range(part >> 20):
                    file.read(2**20)
            os._exit(0)
        os.wait()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
