"""A terminated pipeline leaves no process that continues to write results."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rawperf.core.errors import RawperfError
from virtperf.pipeline.runner import Children

PARENT = """
import os, signal, sys, threading, time
from pathlib import Path
from virtperf.pipeline.runner import children_ended_by_signals
with children_ended_by_signals() as children:
    def work():
        command = ["sh", "-c", sys.argv[1]]
        with children.start(command, Path("."), os.environ) as process:
            if len(sys.argv) > 2:  # to this thread: the main thread goes on waiting
                while not Path("pids").is_file() or len(Path("pids").read_text().split()) < 2:
                    time.sleep(0.01)
                signal.pthread_kill(threading.get_ident(), int(sys.argv[2]))
            process.wait()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""
STAGE = "{trap} echo $$ > pids; sleep 600 & echo $! >> pids; wait; wait"
"""A process with a child, like a stage of DVC."""


def running(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.is_file() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_children_end_if_the_main_thread_does_not_see_the_signal(tmp_path: Path) -> None:
    arguments = [STAGE.format(trap=""), str(int(signal.SIGTERM))]
    ended = subprocess.run(
        [sys.executable, "-c", PARENT, *arguments],
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
        check=False,
        timeout=120,
    )
    assert ended.returncode == 128 + signal.SIGTERM
    assert not any(running(int(pid)) for pid in (tmp_path / "pids").read_text().split())


def default_signals() -> None:
    """A background job ignores SIGINT and `nohup` ignores SIGHUP, and what they start inherits it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("number", "trap", "code"),
    [
        (signal.SIGTERM, "", 128 + signal.SIGTERM),
        (signal.SIGHUP, "", 128 + signal.SIGHUP),
        (signal.SIGINT, "", -signal.SIGINT),
        (signal.SIGTERM, "trap : INT;", 128 + signal.SIGTERM),  # it ignores the signal
    ],
)
def test_children_end_with_the_pipeline(
    tmp_path: Path, number: signal.Signals, trap: str, code: int
) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, STAGE.format(trap=trap)],
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
        preexec_fn=default_signals,
    )
    file, until = tmp_path / "pids", time.monotonic() + 60
    while not file.is_file() or len(file.read_text().split()) < 2:
        assert time.monotonic() < until and parent.poll() is None
        time.sleep(0.05)
    pids = [int(pid) for pid in file.read_text().split()]
    assert all(map(running, pids))
    parent.send_signal(number)
    assert parent.wait(60) == code
    while any(map(running, pids)):
        assert time.monotonic() < until, pids
        time.sleep(0.05)


def test_no_stage_starts_after_termination(tmp_path: Path) -> None:
    children = Children()
    children.end()
    with (
        pytest.raises(RawperfError, match="stopped by a signal"),
        children.start([sys.executable, "-V"], tmp_path, os.environ),
    ):
        pass
