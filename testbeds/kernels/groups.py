"""Control groups for processor time, of version 1 or 2: one around all guests, one for each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MOUNT = Path("/sys/fs/cgroup")
PARENT = "virtperf-kernels"
MAX_GUESTS = 8
HEAVY = 16
"""Weight of the group around all guests, against that of a new group: others on the processor then take little."""


class Group:
    """A control group of the processor controller."""

    def __init__(self, *parts: str) -> None:
        self._old = (MOUNT / "cpu").is_dir()
        self._folders = [
            (MOUNT / controller).joinpath(PARENT, *parts)
            for controller in (("cpu", "cpuacct") if self._old else ("",))
        ]

    def make(self, weight: float) -> None:
        """Make the group; a new group has the weight 1."""
        for folder in self._folders:
            folder.mkdir(exist_ok=True)
            if not self._old:
                (folder.parent / "cgroup.subtree_control").write_text("+cpu")
        name, one = ("cpu.shares", 1024) if self._old else ("cpu.weight", 100)
        (self._folders[0] / name).write_text(str(round(weight * one)))

    def enter(self, pid: int) -> None:
        """Put a process with all its threads into the group."""
        for folder in self._folders:
            (folder / "cgroup.procs").write_text(str(pid))

    def used_s(self) -> float:
        """Processor time that the group has used."""
        if self._old:
            return int((self._folders[1] / "cpuacct.usage").read_text()) * 1e-9
        text = (self._folders[0] / "cpu.stat").read_text()
        return int(re.findall(r"(?m)^usage_usec (\d+)$", text)[0]) * 1e-6

    def remove(self) -> None:
        """Remove the group, which holds no process any more, where there is one."""
        for folder in self._folders:
            if folder.is_dir():
                folder.rmdir()


@contextmanager
def groups(weights: dict[str, float]) -> Iterator[dict[str, Group]]:
    """Groups of these names and weights within one; removed when what runs in them has ended."""
    around = Group()
    inner = {name: Group(name) for name in weights}
    try:
        around.make(HEAVY)
        for name, weight in weights.items():
            inner[name].make(weight)
        yield inner
    finally:
        for group in (*inner.values(), around):
            group.remove()


def clean() -> None:
    """Remove what a killed run has left."""
    for number in range(1, MAX_GUESTS + 1):
        Group(f"guest{number}").remove()
    Group().remove()
