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
from virtperf.pipeline.run import Children

PARENT = """
import os, sys, threading
from pathlib import Path
from virtperf.pipeline.run import children_ended_by_signals
with children_ended_by_signals() as children:
    def work():
        command = ["sh", "-c", sys.argv[1]]
        with children.start(command, Path("."), os.environ) as process:
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
