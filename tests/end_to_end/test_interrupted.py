"""Killed in the middle, then run again: the same bytes as an undisturbed run."""

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


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [2.0, 6.0, 9.0])
def test_a_killed_stage_leaves_the_old_result_or_none_and_a_rerun_gives_the_same_bytes(
    workplace: Workplace, seconds: float
):
    shutil.rmtree(workplace.root / ".cache", ignore_errors=True)
    out = workplace.root / "data" / "samples" / STUDY
    command = [sys.executable, "-m", "virtperf.cli", "--root", str(workplace.root), "ingest", STUDY]
    process = subprocess.Popen(command, start_new_session=True, env={**os.environ, "PYTHONHASHSEED": "0"})
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    whole = out.exists()
    workplace.run("ingest", STUDY)
    after = fingerprint(out)
    if whole:
        assert len(after) == 100
    shutil.rmtree(workplace.root / ".cache", ignore_errors=True)
    shutil.rmtree(out)
    workplace.run("ingest", STUDY)
    assert fingerprint(out) == after
