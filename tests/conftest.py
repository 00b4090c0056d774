"""Fixtures that every test may use."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import pytest

import virtperf.report.html  # noqa: F401 - it keeps nbformat, which tests import, from compiling a grammar

matplotlib.use("Agg")  # no test opens a window

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT
