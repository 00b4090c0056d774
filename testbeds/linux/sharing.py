"""Files that guests read, and how fast the disk below them is: experiments e and g.

sharing.py DATA GUESTS WARM_S WINDOW_S SEED

DATA: shared (one file, cached), private (a copy each, cached as far as the guest's memory goes), direct (one, without a
cache) or disk (as direct, with no limit on the disk).
"""

from __future__ import annotations

import os
import sys

from cgroup import Group, Tree
from lab import LAB, client, made, noise
from memory import disk_limit

SIZE = 512 * 2**20
MEMORY = 320 * 2**20
"""Of a guest: two of them hold the file together, one does not."""

JOB = """\
[reader{n}]
filename={name}
rw=randread
bs=4k
ioengine=psync
direct={direct}
invalidate=0
time_based
ramp_time={warm_s}
runtime={window_s}
randseed={seed}
write_iops_log=reader{n}
log_avg_msec=1000
log_unix_epoch=1
"""
"""The log has the rate of each second, with the clock's time. It stands beside the job, since fio's
report tells where it is.
"""


def name(data: str, n: int) -> str:
    return f"data-{n if data == 'private' else 1}"


def forget(path: str) -> None:
    """Drop a file from the page cache."""
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


def main(data: str, guests: int, warm_s: str, window_s: str, seed: int) -> None:
    tree = Tree()
    client(tree)
    for n in (1, 2):
        forget(str(noise(f"data-{n}", SIZE, n)))
    reads = None if data == "disk" else disk_limit()
    groups = [Group(tree, f"guest{n}").make(memory=MEMORY) for n in range(1, guests + 1)]
    for n in range(1, guests + 1):
        job = JOB.format(
            n=n,
            name=name(data, n),
            direct=int(data in ("direct", "disk")),
            warm_s=warm_s,
            window_s=window_s,
            seed=seed + n,
        )
        made(f"reader{n}.fio", job.encode())
    if data in ("shared", "private"):
        fill(groups, data)
    for group in groups:
        group.set_up(memory=MEMORY, reads=reads)


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
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5]))
