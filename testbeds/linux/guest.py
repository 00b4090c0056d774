"""Run a command in a guest, sample guests' counters, remove all guests.

guest.py run NAME COMMAND...                    becomes the command, in the group NAME and the laboratory's folder
guest.py sample                                 counters of all groups: guests/NAME/cpu.txt every second, and every two
                                                seconds memory.txt of those with a limit
guest.py clean
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from cgroup import Group, Tree
from lab import CLIENT, TOGETHER_S, folder

MEMORY_EVERY = 2


def sample(tree: Tree) -> None:
    """Write counters, each below the time, until SIGTERM; beside them the text of `memory.stat` as it is."""
    ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: ended.append(number))
    groups = [Group(tree, name) for name in tree.names()]
    limited = {group.name for group in groups if group.limited()}
    begun, count = time.monotonic(), 0
    while not ended:
        for group in groups:
            own = Path("drivers" if group.name == CLIENT else "guests", group.name)
            own.mkdir(parents=True, exist_ok=True)
            kinds = {"cpu.txt": group.cpu}
            if group.name in limited and count % MEMORY_EVERY == 0:
                kinds["memory.txt"] = group.memory
            for name, counters in kinds.items():
                with (own / name).open("a") as file:
                    file.write(f"{time.time():.6f}\n{counters()}")
        count += 1
        while not ended and (left := begun + count - time.monotonic()) > 0:
            time.sleep(min(0.05, left))


def main(what: str, *arguments: str) -> None:
    tree = Tree()
    if what == "run":
        Group(tree, arguments[0]).enter()
        os.chdir(folder())
        if arguments[0] == CLIENT:
            time.sleep(TOGETHER_S)
        os.execvp(arguments[1], arguments[1:])  # noqa: S606 - the command of measure.yaml
    elif what == "sample":
        sample(tree)
    elif what == "clean":
        tree.clean()
    else:
        raise SystemExit(f"{what!r}; expected run, sample or clean")


if __name__ == "__main__":
    main(*sys.argv[1:])
