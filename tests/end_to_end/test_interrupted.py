"""A killed stage leaves no partial result, and a rerun gives the same bytes."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.end_to_end.conftest import STUDY, Workplace


def fingerprint(folder: Path) -> dict[str, str]:
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


KEPT_RUNS = 8
"""Number of runs that leaves enough time to kill a stage."""


@pytest.mark.slow
def test_killed_stage_leaves_old_result_or_none_and_rerun_is_identical(
    workplace: Workplace,
):
    cache, out = workplace.root / ".cache", workplace.root / "data" / "samples" / STUDY
    for folder in sorted(p for p in workplace.examples.iterdir() if p.is_dir())[KEPT_RUNS:]:
        shutil.rmtree(folder)

    def forget() -> None:
        shutil.rmtree(cache, ignore_errors=True)
        shutil.rmtree(out, ignore_errors=True)

    forget()
    workplace.run("runs", STUDY)
    undisturbed = fingerprint(out)
    assert len(undisturbed) == KEPT_RUNS + 1
    command = [sys.executable, "-m", "virtperf.cli", "--root", str(workplace.root), "runs", STUDY]
    moments = {
        "one run is read": lambda: any(cache.rglob("*.json")),
        "half of them are": lambda: len(list(cache.rglob("*.json"))) >= KEPT_RUNS / 2,
        "the result is written": lambda: out.exists() or any(out.parent.glob(f".{STUDY}.*")),
    }
    killed = 0
    for moment, reached in moments.items():
        forget()
        process = subprocess.Popen(
            command, start_new_session=True, env={**os.environ, "PYTHONHASHSEED": "0"}
        )
        until = time.monotonic() + 120
        while not reached():
            assert time.monotonic() < until, moment
            time.sleep(0.001)
        os.killpg(process.pid, signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        assert not out.exists() or fingerprint(out) == undisturbed, moment
        workplace.run("runs", STUDY)
        assert fingerprint(out) == undisturbed, moment
        assert [p.name for p in out.parent.iterdir()] == [STUDY], moment
    assert killed >= 2  # the last process may have finished
