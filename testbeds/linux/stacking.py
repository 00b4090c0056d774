"""Sixteen small Java servers in few or many guests of the same total size: experiment d.

stacking.py GUESTS WARM_S     starts the servers, then drives them so long
"""

from __future__ import annotations

import sys

from cgroup import Group, Tree
from lab import PORT, address, answering, client, compiled, free, start, warm

SERVERS = 16
PROCESSORS = 2.0
MEMORY = SERVERS * 128 * 2**20
JVM = (
    "-XX:+UseSerialGC",
    "-Xms48m",
    "-Xmx48m",
    "-XX:ActiveProcessorCount=1",
    "-XX:-UsePerfData",
    "-Dsun.net.httpserver.nodelay=true",
)
"""One collector and one size of heap wherever a server stands: else the JVM takes both from the guest's limits. Without
nodelay every answer waits some 40 ms for a delayed acknowledgement."""


def main(guests: int, warm_s: int) -> None:
    tree = Tree()
    free(SERVERS)
    classes = compiled("Worker")
    groups = [
        Group(tree, f"guest{n}").make(quota=PROCESSORS / guests, memory=MEMORY // guests)
        for n in range(1, guests + 1)
    ]
    for n in range(1, SERVERS + 1):
        command = ["java", *JVM, "-cp", str(classes), "Worker", address(n), str(PORT), "16", "2"]
        start(groups[(n - 1) * guests // SERVERS], command)
    answering(SERVERS)
    drivers = [
        ["wrk", "-t1", "-c2", f"-d{warm_s}s", f"http://{address(n)}:{PORT}/"]
        for n in range(1, SERVERS + 1)
    ]
    warm(client(tree), drivers)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
