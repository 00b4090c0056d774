"""The same loads bare, in a control group, and in gVisor, which has a kernel of its own: rates in real time.

This wants a machine on which nothing else runs.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from files import write_csv
from groups import groups

SECONDS = 6
ISOLATIONS = ("bare", "group", "gvisor")
LOADS = {"calls": ["calls", str(SECONDS)], "loops": ["loop", str(SECONDS)], "page": [], "gzip": []}
"""Arguments of guest/tool.c; a web page is asked for by wrk."""
PORT = 8180
TEXT = "guests share memory and processors of a host with a kernel that is their own or not"
PAGE_WORDS = 3000
NGINX = """\
daemon off; master_process off; worker_processes 1; user root; pid {folder}/nginx.pid; error_log stderr crit;
events {{ worker_connections 64; }}
http {{
  access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s; types {{ text/plain txt; }}
  gzip on; gzip_types text/plain; gzip_comp_level 6;
  server {{ listen 127.0.0.1:{port}; root {folder}; }}
}}
"""


def measure(lab: Path, into: Path, isolation: str, load: str) -> None:
    """Run a load under an isolation, and write down its rate.

    Parameters
    ----------
    lab, into : pathlib.Path
        The folder for what is built; the run's folder.
    isolation : str
        One of `ISOLATIONS`.
    load : str
        One of `LOADS`: system calls, rounds of a loop, a page plain or compressed; each a second.
    """
    folder = lab / "gvisor"
    folder.mkdir(exist_ok=True)
    tool = folder / "tool"
    source = Path(__file__).resolve().parent / "guest/tool.c"
    if not tool.is_file():
        subprocess.run(["gcc", "-O2", "-static", "-o", tool, source], check=True)
    words = TEXT.split()
    (folder / "page.txt").write_text(
        " ".join(words[i * i % 97 % len(words)] for i in range(PAGE_WORDS))
    )
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=PORT))
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
            stack.enter_context(_server(command, enter, folder, isolation))
            said = _ask(load)
            rate = float(re.findall(r"(?m)^Requests/sec: +([\d.]+)$", said)[0])
        else:
            said = subprocess.run(
                command, check=True, capture_output=True, text=True, preexec_fn=enter
            ).stdout
            rate = float(said.split()[0]) / SECONDS
    (into / ("wrk.txt" if web else "tool.txt")).write_text(said)
    write_csv(into / "rate.csv", ("load", "rate_per_s"), [[load, round(rate, 3)]])


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


@contextmanager
def _server(
    command: list[str], enter: Callable[[], None], folder: Path, isolation: str
) -> Iterator[None]:
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
        yield
    finally:
        if isolation == "gvisor":
            kill = ["runsc", f"--root={folder / 'state'}", "kill", command[-1], "KILL"]
            subprocess.run(kill, check=False)
        else:
            server.kill()
        server.wait(30)
        shutil.rmtree(folder / "state", ignore_errors=True)


def _ask(load: str) -> str:
    headers = ["-H", "Accept-Encoding: gzip"] if load == "gzip" else []
    address = f"http://127.0.0.1:{PORT}/page.txt"
    return subprocess.run(
        ["taskset", "-c", "0", "wrk", "-t1", "-c4", f"-d{SECONDS}s", *headers, address],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
