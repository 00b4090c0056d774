"""A guest sends a stream to another guest, or to the host: packets, bytes and instructions at two MTUs."""

from __future__ import annotations

import re
import socket
import subprocess
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path

from emulator import Guest
from files import write_csv

MEMORY_MB = 128
MIB = 32
PORT = 5000
STREAM_TIMEOUT_S = 120
"""Some ten times what it takes on a busy machine; between emulators a stream can stand still for good."""
TAP = "virtperf-tap0"
SENDER, RECEIVER = "10.7.0.1", "10.7.0.2"
OFFLOADS = (
    *("csum", "gso", "guest_csum", "guest_tso4", "guest_tso6", "guest_ecn", "guest_ufo"),
    *("host_tso4", "host_tso6", "host_ecn", "host_ufo"),
)
"""Features of virtio-net by which packets may be larger than the MTU, or lack a checksum: all off, as on a wire."""
COUNTERS = "cat /proc/net/dev; grep Tcp: /proc/net/snmp"
BEFORE, AFTER = f"{COUNTERS}; cat /proc/uptime", f"cat /proc/uptime; {COUNTERS}"
COLUMNS = (
    "guest",
    "packets",
    "bytes",
    "busy_s",
    "packets_per_mib",
    "additional_percent",
    "busy_ms_per_mib",
)


def measure(build: Path, into: Path, path: str, mtu: int) -> None:
    """Boot one guest or two, send the stream, and write down what interfaces and clocks of guests count.

    Parameters
    ----------
    build, into : pathlib.Path
        What `build.sh` has made; the run's folder.
    path : str
        ``guest``: to another guest, over a socket that joins two emulators; ``host``: to the host, over a tap device.
    mtu : int
    """
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="virtperf-")), "wire")
        sender = {"id": "wire", "addr.type": "unix", "addr.path": place}
        if path == "host":
            stack.callback(clean)
            _tap(mtu)
            sink = stack.enter_context(_HostSink())
            wire = f"tap,id=wire,ifname={TAP},script=no,downscript=no,vnet_hdr=off,vhost=off"
            guests = [stack.enter_context(_guest(build, "guest1", wire, mtu))]
        else:
            joined = ",".join(f"{name}={value}" for name, value in sender.items())
            guests = [
                stack.enter_context(_guest(build, name, f"stream,{joined},server={server}", mtu))
                for name, server in (("guest2", "on"), ("guest1", "off"))
            ]
        for guest, address in zip(reversed(guests), (SENDER, RECEIVER), strict=False):
            guest.ready()
            guest.run(f"ip addr add {address}/24 dev eth0 && ip link set eth0 up")
            if f"mtu {mtu} " not in guest.run("ip link show eth0"):
                raise OSError(f"{guest.name} has another MTU than {mtu}")
        (into / "guests").mkdir(parents=True)
        if path == "guest":
            guests[0].begin(f"{BEFORE}; tool sink {PORT}; {AFTER}")
        stream = f"{BEFORE}; tool send {RECEIVER} {PORT} {MIB}; {AFTER}"
        said = {"guest1": guests[-1].run(stream, STREAM_TIMEOUT_S)}
        if path == "guest":
            said["guest2"] = guests[0].end()
        else:
            sink.check()
    rows = []
    for name, text in said.items():
        (into / "guests" / name).mkdir()
        (into / "guests" / name / "stream.txt").write_text(text)
        rows.append([name, *_counted(name, text)])
    write_csv(into / "guests.csv", COLUMNS, rows)


def _guest(build: Path, name: str, wire: str, mtu: int) -> Guest:
    off = ",".join(f"{feature}=off" for feature in OFFLOADS)
    number = name.removeprefix("guest")
    card = f"virtio-net-pci,netdev=wire,mac=52:54:00:07:00:0{number},host_mtu={mtu},{off}"
    return Guest(build, name, memory_mb=MEMORY_MB, options=["-netdev", wire, "-device", card])


def _tap(mtu: int) -> None:
    for command in (
        f"ip tuntap add dev {TAP} mode tap",
        f"ip link set dev {TAP} mtu {mtu} up",
        f"ip addr add {RECEIVER}/24 dev {TAP}",
    ):
        subprocess.run(command.split(), check=True)


def clean() -> None:
    """Remove the tap device where there is one."""
    if Path("/sys/class/net", TAP).exists():
        subprocess.run(["ip", "link", "del", TAP], check=True)


class _HostSink:
    """The host's end of the stream: takes one connection and all its bytes."""

    def __enter__(self) -> _HostSink:
        self._listening = socket.create_server((RECEIVER, PORT))
        self._bytes = 0
        self._thread = threading.Thread(target=self._take, daemon=True)
        self._thread.start()
        return self

    def _take(self) -> None:
        client, _ = self._listening.accept()
        with client:
            while piece := client.recv(1 << 16):
                self._bytes += len(piece)

    def check(self) -> None:
        self._thread.join(30)
        if self._bytes != MIB << 20:
            raise OSError(f"the host got {self._bytes} bytes of {MIB << 20}")

    def __exit__(self, *_: object) -> None:
        self._listening.close()


def _counted(name: str, text: str) -> list[object]:
    """Packets and bytes of the data's direction, and the time that the guest was not idle."""
    columns = (9, 8) if name == "guest1" else (1, 0)  # sent, received: packets, bytes
    cards = re.findall(r"(?m)^ *eth0: *(.+)$", text)
    clocks = re.findall(r"(?m)^([\d.]+) ([\d.]+)$", text)
    clocks = [clocks[0], clocks[-1]]  # the line of `tool sink` between them looks alike
    packets, size = (int(cards[1].split()[at]) - int(cards[0].split()[at]) for at in columns)
    (begin, idle), (end, idle_then) = (map(float, clock) for clock in clocks)
    busy = (end - begin) - (idle_then - idle)
    return [
        *(packets, size, round(busy, 4), round(packets / MIB, 4)),
        *(round(100 * (size / (MIB << 20) - 1), 4), round(1e3 * busy / MIB, 5)),
    ]
