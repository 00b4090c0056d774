"""Fixtures shared by all tests."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import pytest

import virtperf.report.html  # noqa: F401 - imported before nbformat, so that nbformat compiles no grammar

matplotlib.use("Agg")  # no windows

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT
