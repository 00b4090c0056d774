"""Run a command in a guest, sample guests' counters, remove all guests.

guest.py run NAME COMMAND...    becomes the command, in the group NAME and the laboratory's folder
guest.py sample                 counters of all groups, every second: guests/cpu.csv, and guests/memory.csv for those
                                with a memory limit
guest.py clean
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from cgroup import Group, Tree
from lab import folder


def sample(tree: Tree) -> None:
    """Write a line for each group each second, until SIGTERM: the time, the group, its counters."""
    ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: ended.append(number))
    groups = [Group(tree, name) for name in tree.names()]
    limited = [group for group in groups if group.limited()]
    Path("guests").mkdir(exist_ok=True)
    with ExitStack() as files:
        cpu = files.enter_context(Path("guests/cpu.csv").open("w", buffering=1))
        cpu.write("time_s,group,usage_ns,throttled_ns\n")
        if limited:
            memory = files.enter_context(Path("guests/memory.csv").open("w", buffering=1))
            memory.write("time_s,group,anonymous_bytes,file_bytes,major_faults\n")
        begun, count = time.monotonic(), 0
        while not ended:
            for group in groups:
                cpu.write(line(group.name, *group.cpu_ns()))
            for group in limited:
                memory.write(line(group.name, *group.memory()))
            count += 1
            while not ended and (left := begun + count - time.monotonic()) > 0:
                time.sleep(min(0.05, left))


def line(*cells: object) -> str:
    return ",".join([f"{time.time():.3f}", *map(str, cells)]) + "\n"


def main(what: str, *arguments: str) -> None:
    tree = Tree()
    if what == "run":
        Group(tree, arguments[0]).enter()
        os.chdir(folder())
        os.execvp(arguments[1], arguments[1:])  # noqa: S606 - the command of measure.yaml
    elif what == "sample":
        sample(tree)
    elif what == "clean":
        tree.clean()
    else:
        raise SystemExit(f"{what!r}; expected run, sample or clean")


if __name__ == "__main__":
    main(*sys.argv[1:])
