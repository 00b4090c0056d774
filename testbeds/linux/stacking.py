"""Sixteen small Java servers in one guest or in one guest each: experiment stacking.

stacking.py GUESTS WARM_S FIELDS    starts the servers, then drives them so long
"""

from __future__ import annotations

import sys

from cgroup import Group, Tree
from lab import PORT, address, answering, client, compiled, declare, free, start, warm

SERVERS = 16
CLIENTS = 2
JVM = (
    "-XX:+UseSerialGC",
    "-Xms48m",
    "-Xmx48m",
    "-XX:ActiveProcessorCount=1",
    "-XX:TieredStopAtLevel=1",
    "-XX:CompileThresholdScaling=0.1",
    "-XX:-UsePerfData",
    "-Dsun.net.httpserver.nodelay=true",
)
"""One collector and one size of heap wherever a server stands: else the JVM takes both from the
guest's limits. The first compiler alone, since the second takes longer to warm up. Without nodelay
every answer waits some 40 ms for a delayed acknowledgement.
"""


def main(guests: int, warm_s: int, fields: str) -> None:
    tree = Tree()
    free(SERVERS)
    classes = compiled("Worker")
    groups = [Group(tree, f"guest{n}").make() for n in range(1, guests + 1)]
    for n in range(1, SERVERS + 1):
        command = ["java", *JVM, "-cp", str(classes), "Worker", address(n), str(PORT), "16", "2"]
        start(groups[(n - 1) * guests // SERVERS], command)
    answering(SERVERS)
    warm(client(tree), SERVERS, CLIENTS, warm_s, f"http://{address(1)}:{PORT}/")
    declare(fields, SERVERS * CLIENTS)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
