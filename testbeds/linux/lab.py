"""What the experiments share: a folder for their data, servers in guests, the clients' warm-up."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path
from random import Random

from cgroup import HEAVY, Group, Tree

LAB = Path(os.environ.get("VIRTPERF_LAB", "/var/tmp/virtperf-linux"))  # noqa: S108 - large files, made anew where missing
HERE = Path(__file__).parent
PORT = 8100
CLIENT = "client"
GUEST_S = 20.0


def address(n: int) -> str:
    """Each server listens at an address of its own."""
    return f"127.0.0.{n}"


def folder(name: str = "") -> Path:
    """A folder of the laboratory."""
    path = LAB / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def made(name: str, content: bytes) -> Path:
    """A file of the laboratory with this content."""
    path = folder() / name
    if not path.is_file() or path.read_bytes() != content:
        path.write_bytes(content)
    return path


def noise(name: str, size: int, seed: int) -> Path:
    """A file of random bytes, on the disk, made in blocks of 1 MiB where it is missing."""
    path = folder() / name
    if not path.is_file() or path.stat().st_size != size:
        random = Random(seed)
        with path.open("wb") as file:
            for begin in range(0, size, 2**20):
                file.write(random.randbytes(min(2**20, size - begin)))
            file.flush()
            os.fsync(file.fileno())
    return path


def compiled(name: str) -> Path:
    """The folder with the classes of a Java program of the testbed."""
    path, source = folder("java"), HERE / f"{name}.java"
    made_of = path / f"{name}.java"
    if not made_of.is_file() or made_of.read_bytes() != source.read_bytes():
        subprocess.run(["javac", "-d", str(path), str(source)], check=True)
        made_of.write_bytes(source.read_bytes())
    return path


def start(group: Group, command: list[str], **environment: str) -> None:
    """Start a server in a guest; it goes on when this program ends, until the teardown."""
    subprocess.Popen(
        command,
        preexec_fn=group.enter,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
    )


def free(count: int) -> None:
    """A forgotten server would take part of the load without a word."""
    for n in range(1, count + 1):
        with socket.socket() as probe:
            if probe.connect_ex((address(n), PORT)) == 0:
                raise SystemExit(
                    f"{address(n)}:{PORT} is taken; expected that no server listens there"
                )


def answering(count: int) -> None:
    """Wait until all servers take connections."""
    until = time.monotonic() + GUEST_S
    for n in range(1, count + 1):
        while True:
            with socket.socket() as probe:
                if probe.connect_ex((address(n), PORT)) == 0:
                    break
            if time.monotonic() > until:
                raise SystemExit(f"{address(n)}:{PORT}: no server after {GUEST_S:g} s")
            time.sleep(0.05)


def client(tree: Tree, cpus: str | None = None) -> Group:
    """The group of the workload drivers. It weighs more than guests: what is measured are they."""
    return Group(tree, CLIENT).make(weight=HEAVY, cpus=cpus)


def warm(group: Group, servers: int, clients: int, seconds: int, url: str, *headers: str) -> None:
    """Drive the servers with so many clients each; nothing of it is kept."""
    driver = ["wrk", f"-t{servers}", f"-c{servers * clients}", f"-d{seconds}s", "--timeout", "20s"]
    added = [part for header in headers for part in ("-H", header)]
    script = ["-s", str(HERE / "clients.lua"), url, "--", str(clients), "0", "/dev/null"]
    done = subprocess.run(
        [*driver, *added, *script],
        preexec_fn=group.enter,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"the warm-up failed with status {done.returncode}; expected 0")


def declare(fields: str, clients: int, think_ms: int = 0) -> None:
    """What run.yaml says of the clients."""
    Path(fields).write_text(f"clients: {clients}\nthink_time_s: {think_ms / 1000}\n")
