"""Guests as control groups of version 1 or 2, whichever the machine has: limits, processes, counters."""

from __future__ import annotations

import os
import time
from pathlib import Path

MOUNT = Path("/sys/fs/cgroup")
PARENT = "virtperf"
CONTROLLERS = ("cpu", "cpuset", "memory", "io")
VERSION_1 = {
    "cpu": ("cpu", "cpuacct"),
    "cpuset": ("cpuset",),
    "memory": ("memory",),
    "io": ("blkio",),
}
PERIOD_US = 100_000
HEAVY = 16_384
"""Weight of the group around all guests, and in it of the drivers: a driver does not wait for guests."""


def numbers(text: str) -> dict[str, int]:
    """A file of the kernel with a name and a number in each line."""
    return {name: int(number) for name, number in map(str.split, text.splitlines())}


class Tree:
    """The machine's control groups.

    Raises
    ------
    OSError
        A controller is missing; the text names it.
    """

    def __init__(self, mount: Path = MOUNT) -> None:
        self.mount = mount
        self.version = 2 if (mount / "cgroup.controllers").exists() else 1
        if missing := [name for name in CONTROLLERS if not self._has(name)]:
            raise OSError(
                f"{mount}: no control group controller {', '.join(missing)}; expected one that is writable"
            )

    def _has(self, controller: str) -> bool:
        if self.version == 2:
            return controller in (self.mount / "cgroup.controllers").read_text().split()
        return all((self.mount / name).is_dir() for name in VERSION_1[controller])

    def folders(self, *parts: str) -> list[Path]:
        """Where a group stands: one folder in version 2, one for each controller in version 1."""
        if self.version == 2:
            return [self.mount.joinpath(PARENT, *parts)]
        return [
            self.mount.joinpath(name, PARENT, *parts)
            for names in VERSION_1.values()
            for name in names
        ]

    def make_parent(self) -> None:
        """The group around all guests; does nothing where it is there."""
        for folder in self.folders():
            folder.mkdir(exist_ok=True)
            if self.version == 2:
                for above in (self.mount, folder):
                    (above / "cgroup.subtree_control").write_text(
                        " ".join(f"+{name}" for name in CONTROLLERS)
                    )
        Group(self, "").set_up(weight=HEAVY)

    def names(self) -> list[str]:
        """The guests that there are."""
        folders = [folder for folder in self.folders() if folder.is_dir()]
        return sorted(
            {path.name for folder in folders for path in folder.iterdir() if path.is_dir()}
        )

    def clean(self) -> None:
        """Kill what runs in guests and remove them; nothing happens where there are none."""
        for name in [*self.names(), ""]:
            Group(self, name).remove()


class Group:
    """One guest, by its name; "" is the group around all of them."""

    def __init__(self, tree: Tree, name: str) -> None:
        self.tree, self.name = tree, name
        self.folders = tree.folders(*filter(None, (name,)))

    def file(self, name: str) -> Path:
        """A file of the group, such as ``cpu.stat``; in version 1 it stands in the folder of its controller."""
        if self.tree.version == 2:
            return self.folders[0] / name
        return self.tree.mount.joinpath(name.partition(".")[0], PARENT, self.name, name)

    def _write(self, name: str, value: object) -> None:
        self.file(name).write_text(str(value))

    def make(self, **limits: object) -> Group:
        """Make the group below the parent; `limits` as in `set_up`."""
        self.tree.make_parent()
        for folder in self.folders:
            folder.mkdir(exist_ok=True)
        self.set_up(**limits)  # type: ignore[arg-type]
        return self

    def limit_all(self, memory: int) -> None:
        """Limit the memory, in bytes, of the group and of all groups below it together."""
        name = "memory.max" if self.tree.version == 2 else "memory.limit_in_bytes"
        self._write(name, memory)

    def set_up(
        self,
        *,
        weight: int = 1024,
        quota: float | None = None,
        memory: int | None = None,
        cpus: str | None = None,
        reads: str | None = None,
    ) -> None:
        """Set limits.

        Parameters
        ----------
        weight : int
            As `cpu.shares` has it: 1024 is that of a new group.
        quota : float, optional
            Processors.
        memory : int, optional
            Bytes, without swap.
        cpus : str, optional
            Processors that may be used, such as "1"; all where it is left out.
        reads : str, optional
            "major:minor number": most read requests a second of a block device.
        """
        if self.tree.version == 2:
            self._write("cpu.weight", max(1, min(10_000, round(weight / 10.24))))
            if cpus is not None:
                self._write("cpuset.cpus", cpus)
        else:
            self._write("cpu.shares", weight)
            for name in (
                "cpuset.mems",
                "cpuset.cpus",
            ):  # empty in a new group, which then takes no process
                above = self.file(name).parent.parent / name
                self._write(name, (name == "cpuset.cpus" and cpus) or above.read_text().strip())
        if quota is not None:
            whole = round(quota * PERIOD_US)
            limit = (
                ("cpu.max", f"{whole} {PERIOD_US}")
                if self.tree.version == 2
                else ("cpu.cfs_quota_us", whole)
            )
            self._write(*limit)
        if memory is not None:
            self.limit_all(memory)
        if reads is not None and self.tree.version == 2:
            device, number = reads.split()
            self._write("io.max", f"{device} riops={number}")
        elif reads is not None:
            self._write("blkio.throttle.read_iops_device", reads)

    def keep_alive(self) -> None:
        """Let a guest wait, in place of being killed, where the kernel finds nothing to swap out.

        `reclaim` helps it on.
        """
        if self.tree.version == 1:
            self._write("memory.oom_control", 1)

    def reclaim(self, memory: int) -> bool:
        """Whether the group waits for memory.

        If it does, the limit is raised by 1 MiB, which wakes the guest, and set back to `memory` bytes, which makes the
        kernel swap out again.
        """
        if (
            self.tree.version == 2
            or "under_oom 1" not in self.file("memory.oom_control").read_text()
        ):
            return False
        self.limit_all(memory + 2**20)
        for _ in range(10):
            try:
                self.limit_all(memory)
                break
            except OSError:  # busy: what is to be swapped out is still in use
                time.sleep(0.002)
        return True

    def enter(self) -> None:
        """Put this process, and what it will start, into the group."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(os.getpid()))

    def cpu_ns(self) -> tuple[int, int]:
        """Processor time that it used so far, and the time for which its quota kept it from running, in ns."""
        stat = numbers(self.file("cpu.stat").read_text())
        if self.tree.version == 2:
            return 1000 * stat["usage_usec"], 1000 * stat.get("throttled_usec", 0)
        return int(self.file("cpuacct.usage").read_text()), stat["throttled_time"]

    def memory_limit(self) -> int:
        """The limit of its memory, in bytes; 0 where there is none."""
        name = "memory.max" if self.tree.version == 2 else "memory.limit_in_bytes"
        limit = self.file(name).read_text().strip()
        return int(limit) if limit.isdecimal() and int(limit) < 2**50 else 0

    def limited(self) -> bool:
        """Whether its memory has a limit."""
        return self.memory_limit() > 0

    def memory(self) -> tuple[int, int, int]:
        """Memory that no file backs and memory that caches files, in bytes, and major faults so far."""
        stat = numbers(self.file("memory.stat").read_text())
        names = ("anon", "file") if self.tree.version == 2 else ("rss", "cache")
        return stat[names[0]], stat[names[1]], stat["pgmajfault"]

    def remove(self) -> None:
        """Kill what runs in the group, and remove it."""
        for folder in filter(Path.is_dir, self.folders):
            for _ in range(100):
                for pid in (folder / "cgroup.procs").read_text().split():
                    try:
                        os.kill(int(pid), 9)
                    except ProcessLookupError:
                        continue
                try:
                    folder.rmdir()
                    break
                except OSError:  # what was killed has not ended yet
                    time.sleep(0.05)
            else:
                raise OSError(f"{folder} can't be removed; expected that its processes end")
