"""Fixtures that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import matplotlib
import pytest

matplotlib.use("Agg")  # no test opens a window

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session")
def samples() -> Path:
    """Folder of real tool outputs, which are not part of the repository."""
    folder = Path(os.environ.get("VIRTPERF_SAMPLES", ROOT.parent / "shared" / "samples"))
    if not folder.is_dir():
        pytest.skip(f"no sample files: {folder} does not exist (set VIRTPERF_SAMPLES)")
    return folder
