"""The same loads bare, in a control group, and in gVisor, which has a kernel of its own: rates in real time.

This wants a machine on which nothing else runs.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import host
from files import write_csv
from groups import groups

SECONDS = 6
ISOLATIONS = ("bare", "group", "gvisor")
LOADS = {
    "calls": ["calls", str(SECONDS)],
    "loops": ["loop", str(SECONDS)],
    "page": [],
    "gzip": [],
    "encrypt": [],
}
"""Arguments of guest/tool.c; web pages and the encrypted file are asked for by wrk."""
PORT = 8180
TLS_PORT = 8543
SUITE = "ECDHE-RSA-AES128-GCM-SHA256"
FILE_MB = 1
TEXT = "guests share memory and processors of a host with a kernel that is their own or not"
PAGE_WORDS = 3000
NGINX = """\
daemon off; master_process off; worker_processes 1; user root; pid {folder}/nginx.pid; error_log stderr crit;
events {{ worker_connections 64; }}
http {{
  access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s; types {{ text/plain txt; }}
  gzip on; gzip_types text/plain; gzip_comp_level 6;
  ssl_protocols TLSv1.2; ssl_ciphers {suite};
  ssl_certificate {folder}/certificate.pem; ssl_certificate_key {folder}/key.pem;
  server {{ listen 127.0.0.1:{port}; listen 127.0.0.1:{tls_port} ssl; root {folder}; }}
}}
"""
MEMORY_AT_S = 4
"""Moment of the load at which its memory is looked at."""


def measure(lab: Path, into: Path, isolation: str, load: str) -> None:
    """Run a load under an isolation, and write down its rate.

    Parameters
    ----------
    lab, into : pathlib.Path
        The folder for what is built; the run's folder.
    isolation : str
        One of `ISOLATIONS`.
    load : str
        One of `LOADS`: system calls, rounds of a loop, a page plain or compressed, an encrypted file; each a second.
    """
    folder = prepared(lab / "gvisor")
    tool = folder / "tool"
    last = max(os.sched_getaffinity(0))
    web = not LOADS[load]
    command = ["nginx", "-c", str(folder / "nginx.conf")] if web else [str(tool), *LOADS[load]]
    with ExitStack() as stack:
        group = (
            stack.enter_context(groups({"guest1": 1}))["guest1"] if isolation == "group" else None
        )

        def enter() -> None:
            os.sched_setaffinity(0, {last})
            if group:
                group.enter(os.getpid())

        if isolation == "gvisor":
            command = _bundle(folder, command)
        if web:
            server = stack.enter_context(_server(command, enter, folder, isolation))
            said, memory = _ended(_client(load), server.pid)
            rate = float(re.findall(r"(?m)^Requests/sec: +([\d.]+)$", said)[0])
        else:
            program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=enter)
            said, memory = _ended(program, program.pid)
            rate = float(said.split()[0]) / SECONDS
    (into / ("wrk.txt" if web else "tool.txt")).write_text(said)
    write_csv(into / "rate.csv", ("load", "rate_per_s"), [[load, round(rate, 3)]])
    write_csv(into / "processes.csv", ("process", "pss_kib"), memory)
    write_csv(
        into / "memory.csv", ("load", "memory_kib"), [[load, sum(int(kib) for _, kib in memory)]]
    )


def prepared(folder: Path) -> Path:
    """The folder with the tool, the files that the web server sends, and its configuration."""
    folder.mkdir(exist_ok=True)
    source = Path(__file__).resolve().parent / "guest/tool.c"
    tool = folder / "tool"
    if not tool.is_file() or tool.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["gcc", "-O2", "-static", "-pthread", "-o", tool, source], check=True)
    words = TEXT.split()
    (folder / "page.txt").write_text(
        " ".join(words[i * i % 97 % len(words)] for i in range(PAGE_WORDS))
    )
    (folder / "file.bin").write_bytes(random.Random(2026).randbytes(FILE_MB << 20))
    if not (folder / "certificate.pem").is_file():
        request = [
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "3650",
            "-subj",
            "/CN=guest1",
        ]
        files = ["-keyout", folder / "key.pem", "-out", folder / "certificate.pem"]
        subprocess.run(["openssl", *request, *files], check=True, capture_output=True)
    text = NGINX.format(folder=folder, port=PORT, tls_port=TLS_PORT, suite=SUITE)
    (folder / "nginx.conf").write_text(text)
    return folder


def _ended(program: subprocess.Popen[str], pid: int) -> tuple[str, list[list[object]]]:
    """What a program printed until it ended, and the memory of the processes below `pid` meanwhile.

    Memory is proportional set size in KiB, a row for each process: its name, its size.
    """
    time.sleep(MEMORY_AT_S)
    memory: list[list[object]] = [list(row) for row in host.memory_of_tree(pid)]
    said, _ = program.communicate()
    if program.returncode:
        raise OSError(f"{program.args!r} ended with status {program.returncode}: {said[-300:]}")
    return said, memory


def _bundle(folder: Path, command: list[str]) -> list[str]:
    """Write an OCI bundle that runs the command in the host's file system; the command that starts it."""
    bundle = folder / "bundle"
    bundle.mkdir(exist_ok=True)
    process = {
        "user": {"uid": 0, "gid": 0},
        "args": command,
        "env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"],
        "cwd": "/",
        "capabilities": {
            kind: ["CAP_SETUID", "CAP_SETGID", "CAP_DAC_OVERRIDE", "CAP_CHOWN"]
            for kind in ("bounding", "effective", "permitted")
        },
    }
    mounts = [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": str(folder), "type": "bind", "source": str(folder), "options": ["rw"]},
    ]
    (bundle / "config.json").write_text(
        json.dumps(
            {
                "ociVersion": "1.0.0",
                "process": process,
                "root": {"path": "/", "readonly": True},
                "mounts": mounts,
                "linux": {"namespaces": [{"type": kind} for kind in ("pid", "ipc", "mount")]},
            }
        )
    )
    state = folder / "state"
    return [
        *("runsc", "--network=host", "--platform=ptrace", f"--root={state}", "run"),
        *("--bundle", str(bundle), f"virtperf-{os.getpid()}"),
    ]


def clean(lab: Path) -> None:
    """End the sandboxes that a killed run has left."""
    state = lab / "gvisor/state"
    if state.is_dir():
        listed = ["runsc", f"--root={state}", "list", "-quiet"]
        left = subprocess.run(listed, check=False, capture_output=True, text=True).stdout.split()
        for name in left:
            subprocess.run(["runsc", f"--root={state}", "delete", "-force", name], check=False)


@contextmanager
def _server(
    command: list[str], enter: Callable[[], None], folder: Path, isolation: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A web server, ready to be asked; it is ended with the block."""
    server = subprocess.Popen(command, preexec_fn=enter, stdout=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with socket.socket() as probe:
                if not probe.connect_ex(("127.0.0.1", PORT)):
                    break
            time.sleep(0.1)
        else:
            raise OSError(f"no server at port {PORT} after 10 s; its errors stand above")
        yield server
    finally:
        if isolation == "gvisor":
            kill = ["runsc", f"--root={folder / 'state'}", "kill", command[-1], "KILL"]
            subprocess.run(kill, check=False)
        else:
            server.kill()
        server.wait(30)
        shutil.rmtree(folder / "state", ignore_errors=True)


def _client(load: str) -> subprocess.Popen[str]:
    headers = ["-H", "Accept-Encoding: gzip"] if load == "gzip" else []
    address = f"http://127.0.0.1:{PORT}/page.txt"
    if load == "encrypt":
        address = f"https://127.0.0.1:{TLS_PORT}/file.bin"
    return subprocess.Popen(
        ["taskset", "-c", "0", "wrk", "-t1", "-c4", f"-d{SECONDS}s", *headers, address],
        stdout=subprocess.PIPE,
        text=True,
    )
