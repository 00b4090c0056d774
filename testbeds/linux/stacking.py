"""Sixteen small Java servers in few or many guests: experiment d.

stacking.py GUESTS QUOTA WARM_S RUN_DIR     starts the servers, then drives them so long. QUOTA: one (each guest has a
                                            processor's time) or none (a guest may use all processors)
"""

from __future__ import annotations

import sys
from pathlib import Path

from cgroup import Group, Tree
from lab import PORT, address, answering, client, compiled, free, start, warm

SERVERS = 16
MEMORY = SERVERS * 128 * 2**20
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


def main(guests: int, quota: str, warm_s: int, run_dir: str) -> None:
    tree = Tree()
    free(SERVERS)
    classes = compiled("Worker")
    groups = [
        Group(tree, f"guest{n}").make(
            quota=1.0 if quota == "one" else None, memory=MEMORY // guests
        )
        for n in range(1, guests + 1)
    ]
    for n in range(1, SERVERS + 1):
        group = groups[(n - 1) * guests // SERVERS]
        served = Path(run_dir, "guests", group.name, f"server{n}.csv")
        served.parent.mkdir(parents=True, exist_ok=True)
        command = ["java", *JVM, "-cp", str(classes), "Worker", address(n), str(PORT), "16", "2"]
        start(group, [*command, str(served)])
    answering(SERVERS)
    drivers = [
        ["wrk", "-t1", "-c2", f"-d{warm_s}s", f"http://{address(n)}:{PORT}/"]
        for n in range(1, SERVERS + 1)
    ]
    warm(client(tree), drivers)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4])
