"""What the host's kernel says of guests: their memory, the page cache of their disks, merged pages."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KSM = Path("/sys/kernel/mm/ksm")
KSM_COUNTERS = ("pages_shared", "pages_sharing", "pages_unshared", "pages_volatile", "full_scans")
KSM_SETTINGS_HERE = {"pages_to_scan": "20000", "sleep_millisecs": "20", "smart_scan": "0"}
"""As fast as it can; smart scanning would leave pages out that were not merged before."""
KSM_SETTINGS = (*KSM_SETTINGS_HERE, "run")
SCANS = 3
"""The first scan takes checksums, the second merges what did not change, the third what it then found."""


def smaps(pid: int, memory_mb: int) -> str:
    """The mapping of a guest's memory, and the sums over the whole emulator, as the kernel prints them.

    Returns
    -------
    str
        Of ``/proc/PID/smaps`` the mapping that is as large as the guest's memory, then
        ``/proc/PID/smaps_rollup``.
    """
    mappings = re.split(r"(?m)^(?=[0-9a-f]+-[0-9a-f]+ )", Path(f"/proc/{pid}/smaps").read_text())
    found = [text for text in mappings if re.search(rf"(?m)^Size: +{memory_mb << 10} kB$", text)]
    if len(found) != 1:
        raise OSError(
            f"process {pid}: {len(found)} mappings of {memory_mb} MiB; expected one, the guest's memory"
        )
    return found[0] + Path(f"/proc/{pid}/smaps_rollup").read_text()


def pss_kib(text: str) -> tuple[int, int]:
    """Proportional set size of the guest's memory and of the whole emulator, from what `smaps` gave."""
    memory, emulator = (int(number) for number in re.findall(r"(?m)^Pss: +(\d+) kB$", text))
    return memory, emulator


def memory_of_tree(pid: int) -> list[tuple[str, int]]:
    """Name and proportional set size, in KiB, of a process and of all that descend from it."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            children.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(
                int(stat.parent.name)
            )
    found: list[tuple[str, int]] = []
    waiting = [pid]
    while waiting:
        waiting += children.get(number := waiting.pop(), [])
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{number}/smaps_rollup").read_text()
            name = Path(f"/proc/{number}/comm").read_text().strip()
            sizes = re.findall(r"(?m)^Pss: +(\d+) kB$", text)  # none: it is ending
            found += [(name, int(kib)) for kib in sizes]
    return found


def forget(path: Path) -> None:
    """Take a file out of the host's page cache."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(file)


def cached(paths: list[Path]) -> str:
    """``fincore`` of the files: how many bytes of each the host's page cache holds."""
    return subprocess.run(
        ["fincore", "--bytes", "--output", "RES,PAGES,SIZE,FILE", *[path.name for path in paths]],
        check=True,
        capture_output=True,
        text=True,
        cwd=paths[0].parent,
    ).stdout


def cached_kib(text: str) -> int:
    """All files of a ``fincore`` together."""
    return sum(int(line.split()[0]) for line in text.splitlines()[1:]) >> 10


@contextmanager
def merging(on: bool, mark: Path) -> Iterator[None]:
    """The kernel merges same pages of guests (KSM) until the block ends; all as it was afterwards.

    The settings before are kept in the file `mark` meanwhile, for `unmerge`.
    """
    if not on:
        yield
        return
    names = [name for name in KSM_SETTINGS if (KSM / name).exists()]
    mark.write_text("".join(f"{name} {(KSM / name).read_text()}" for name in names))
    try:
        for name in names:
            if name in KSM_SETTINGS_HERE:
                (KSM / name).write_text(KSM_SETTINGS_HERE[name])
        yield
    finally:
        unmerge(mark)


def unmerge(mark: Path) -> None:
    """Undo what was merged and put the settings back; nothing happens where there is no mark."""
    if mark.is_file():
        (KSM / "run").write_text("2")
        for line in mark.read_text().splitlines():
            name, value = line.split()
            (KSM / name).write_text(value)
        mark.unlink()


def merge(timeout_s: float = 300) -> None:
    """Let the kernel merge until it has looked at all pages `SCANS` times and finds no more, then stop it."""
    (KSM / "run").write_text("1")
    until = time.monotonic() + timeout_s
    seen: list[tuple[int, int]] = []
    while len(seen) < SCANS or seen[-1][1] != seen[-2][1]:
        scans, sharing = (int((KSM / name).read_text()) for name in ("full_scans", "pages_sharing"))
        if not seen or scans > seen[-1][0]:
            seen.append((scans, sharing))
        if time.monotonic() > until:
            raise OSError(f"pages are still being merged after {timeout_s:g} s: {seen[-3:]}")
        time.sleep(0.1)
    (KSM / "run").write_text("0")


def merged() -> str:
    """The kernel's counters of merged pages, a line each."""
    return "".join(f"{name} {(KSM / name).read_text()}" for name in KSM_COUNTERS)
