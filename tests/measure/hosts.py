"""Two hosts reachable over ssh: an sshd each, in a network namespace if permitted, else on a loopback port."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
NAMES = ("hypervisor", "guest1")
SHIFTED = """\
#!/bin/sh
read -r seconds <"{shift}"
exec /bin/date -d "$seconds seconds" "$@"
"""


WAIT = 'until [ -e "$0" ]; do sleep 0.1; done; exec "$@"'


@dataclass
class FarHost:
    """A host with its own sshd; its `date` is ahead by the content of the file `shift`."""

    name: str
    address: str
    port: int
    folder: Path
    namespace: str | None
    sshd: subprocess.Popen[bytes] | None = None

    @property
    def shift(self) -> Path:
        return self.folder / "shift"

    def start(self, after: Path | None = None) -> None:
        """Start the sshd and wait until it listens; with `after`, it starts once that file exists."""
        self.sshd = _sshd(
            self.folder.parent, self.name, self.address, self.port, self.namespace, after
        )

    def kill(self) -> None:
        """Kill the sshd and all its connections."""
        if self.sshd is None:
            return
        for pid in [*_below(self.sshd.pid), self.sshd.pid]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.sshd.wait()
        self.sshd = None


def _below(pid: int) -> list[int]:
    """Processes of the sshd; commands of its sessions survive."""
    output = subprocess.run(
        ["ps", "-eo", "pid,ppid,comm"], capture_output=True, text=True, check=True
    )
    rows = [line.split(None, 2) for line in output.stdout.splitlines()[1:]]
    found = [int(row[0]) for row in rows if int(row[1]) == pid and "sshd" in row[2]]
    return [inner for child in found for inner in (child, *_below(child))]


def leftovers(scratch: Path) -> tuple[list[str], list[list[str]]]:
    """Leftover run folders on the hosts, and command lines of leftover processes."""
    living = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("VIRTPERF_RUN", "").startswith(f"{scratch}/"):
                living.append(process.cmdline())
        except psutil.Error:
            continue
    return sorted(path.name for path in scratch.iterdir()), living


@dataclass
class Far:
    """Two hosts and their entries in measure.yaml."""

    hosts: dict[str, FarHost]
    config: Path
    known_hosts: Path
    scratch: Path  # holds the hosts' run folders

    @property
    def declared(self) -> dict[str, Any]:
        kinds = {"hypervisor": "host", "guest1": "guest"}
        given = {"config": str(self.config), "connect_s": 5, "folder": str(self.scratch)}
        return {name: {"ssh": f"vp-{name}", "kind": kinds[name], **given} for name in NAMES}


def network(n: int) -> str:
    """Prefix of a network that no parallel test process uses."""
    own = 2 * os.getpid() + n
    return f"10.{128 + own // 256 % 100}.{own % 256}"


def _namespaces(tag: str) -> list[str] | None:
    """Names of two network namespaces, each reachable at .2 of its network; None if not permitted."""
    made: list[str] = []
    for n in range(len(NAMES)):
        name, link, net = f"vp{tag}{n}", f"vp{tag}{n}", network(n)
        commands = (
            f"ip netns add {name}",
            f"ip link add {link} type veth peer name eth0 netns {name}",
            f"ip addr add {net}.1/24 dev {link}",
            f"ip link set {link} up",
            f"ip -n {name} addr add {net}.2/24 dev eth0",
            f"ip -n {name} link set eth0 up",
            f"ip -n {name} link set lo up",
        )
        made.append(name)
        if any(
            subprocess.run(c.split(), capture_output=True, check=False).returncode for c in commands
        ):
            _remove(made)
            return None
    return made


def _remove(names: list[str]) -> None:
    for name in names:  # this deletes its link too
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


@contextmanager
def far_hosts(folder: Path) -> Iterator[Far]:
    """Two hosts for the duration of the block."""
    key = folder / "key"
    for path in (key, *(folder / f"{name}-key" for name in NAMES)):
        subprocess.run(["ssh-keygen", "-qN", "", "-t", "ed25519", "-f", str(path)], check=True)
    shutil.copy(f"{key}.pub", folder / "authorized")
    namespaces = (
        _namespaces(f"{os.getpid() % 100000}-")
        if shutil.which("ip") and os.geteuid() == 0
        else None
    )
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    hosts: dict[str, FarHost] = {}
    config, known_hosts = "", ""
    try:
        for n, name in enumerate(NAMES):
            address, port = (f"{network(n)}.2", 22) if namespaces else ("127.0.0.1", _free_port())
            own = folder / name
            (own / "bin").mkdir(parents=True)
            (own / "shift").write_text("0\n")
            date = own / "bin" / "date"
            date.write_text(SHIFTED.format(shift=own / "shift"))
            date.chmod(0o755)
            hosts[name] = FarHost(name, address, port, own, namespaces[n] if namespaces else None)
            hosts[name].start()
            public = Path(f"{folder / name}-key.pub").read_text().strip()
            known_hosts += f"[{address}]:{port} {public}\n{address} {public}\n"
            config += (
                f"Host vp-{name}\n  HostName {address}\n  Port {port}\n  User {getpass.getuser()}\n"
                f"  IdentityFile {key}\n  IdentitiesOnly yes\n  UserKnownHostsFile {folder / 'known'}\n"
            )
        (folder / "known").write_text(known_hosts)
        (folder / "config").write_text(config)
        scratch = folder / "scratch"
        scratch.mkdir()
        yield Far(hosts, folder / "config", folder / "known", scratch)
    finally:
        for host in hosts.values():
            host.kill()
        _remove(namespaces or [])


def _sshd(
    folder: Path, name: str, address: str, port: int, namespace: str | None, after: Path | None
) -> subprocess.Popen[bytes]:
    settings = folder / f"{name}.conf"
    # SHLVL: keeps bash from reading the tester's ~/.bashrc
    settings.write_text(
        f"ListenAddress {address}:{port}\nHostKey {folder}/{name}-key\nPidFile none\nUsePAM no\n"
        f"AuthorizedKeysFile {folder}/authorized\nPasswordAuthentication no\nStrictModes no\n"
        f"PermitRootLogin yes\nSetEnv SHLVL=2 PATH={folder / name}/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
    )
    around = ["sh", "-c", WAIT, str(after)] if after else []
    around += ["ip", "netns", "exec", namespace] if namespace else []
    log = (folder / f"{name}.log").open("ab")
    started = subprocess.Popen(
        [*around, str(SSHD), "-D", "-e", "-f", str(settings)],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
    )
    log.close()
    if after:
        return started
    until = time.monotonic() + 5
    while True:
        try:
            socket.create_connection((address, port), 1).close()
            return started
        except OSError:
            if time.monotonic() > until or started.poll() is not None:
                raise RuntimeError((folder / f"{name}.log").read_text()) from None
            time.sleep(0.02)
