"""A stream between two network namespaces of the host, over a veth pair: processor time of both ends a GiB.

Namespaces share the host's kernel. This is real time, on the machine itself.
"""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

import gvisor
from files import write_csv

MIB = 2048
PORT = 5000
SPACES = {"virtperf-sender": "10.8.0.1", "virtperf-receiver": "10.8.0.2"}
FEATURES = ("tso", "gso", "gro", "tx")
"""With all off, packets are as large as the MTU says, and have checksums."""
COLUMNS = ("packets", "bytes", "cpu_s", "packets_per_mib", "cpu_s_per_gib")


def measure(build: Path, into: Path, mtu: int, offload: str) -> None:
    """Make two namespaces, send the stream, and write down the processor time of both processes.

    Parameters
    ----------
    build, into : pathlib.Path
        The folder for what is built; the run's folder.
    mtu : int
    offload : str
        ``on``: what is sent may be larger than the MTU, as the kernel has it by itself; ``off``.
    """
    tool = gvisor.prepared(build / "gvisor") / "tool"
    sender, receiver = SPACES
    for space in SPACES:
        _ip("netns", "add", space)
    _ip(
        "link",
        "add",
        "eth0",
        "netns",
        sender,
        "type",
        "veth",
        "peer",
        "name",
        "eth0",
        "netns",
        receiver,
    )
    for space, address in SPACES.items():
        _ip("-n", space, "addr", "add", f"{address}/24", "dev", "eth0")
        _ip("-n", space, "link", "set", "eth0", "mtu", str(mtu), "up")
        if offload == "off":
            settings = [word for feature in FEATURES for word in (feature, "off")]
            _in(space, "ethtool", "-K", "eth0", *settings)
    with subprocess.Popen(
        ["ip", "netns", "exec", receiver, tool, "sink", str(PORT)],
        stdout=subprocess.PIPE,
        text=True,
    ) as sink:
        _until_listening(receiver)
        before = _in(sender, "cat", "/proc/net/dev")
        sent = _in(sender, str(tool), "send", SPACES[receiver], str(PORT), str(MIB))
        after = _in(sender, "cat", "/proc/net/dev")
        taken, _ = sink.communicate()
    (into / "send.txt").write_text(sent)
    (into / "sink.txt").write_text(taken)
    (into / "dev-before.txt").write_text(before)
    (into / "dev-after.txt").write_text(after)
    packets, size = (_sent(after, at) - _sent(before, at) for at in (9, 8))
    cpu = float(sent.split()[1]) + float(taken.split()[1])
    row = [packets, size, round(cpu, 6), round(packets / MIB, 4), round(cpu * 1024 / MIB, 6)]
    write_csv(into / "host.csv", COLUMNS, [row])


def clean() -> None:
    """Remove the namespaces where there are any, and with them the pair between them."""
    for space in SPACES:
        if Path("/run/netns", space).exists():
            _ip("netns", "del", space)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


def _in(space: str, *command: str) -> str:
    return subprocess.run(
        ["ip", "netns", "exec", space, *command], check=True, capture_output=True, text=True
    ).stdout


def _until_listening(space: str) -> None:
    port = f":{PORT:04X} "
    until = time.monotonic() + 10
    while port not in _in(space, "cat", "/proc/net/tcp"):
        if time.monotonic() > until:
            raise OSError(f"nothing listens at port {PORT} of {space} after 10 s")
        time.sleep(0.02)


def _sent(text: str, column: int) -> int:
    (line,) = re.findall(r"(?m)^ *eth0: *(.+)$", text)
    return int(line.split()[column])
