"""The example of a third party's format: installed without a network, found, tested, read."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path("examples") / "format-package"


@pytest.fixture(scope="module")
def installed(root: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A copy of the package, and an environment in which it is installed."""
    place = tmp_path_factory.mktemp("package")
    shutil.copytree(root / PACKAGE, place / "source")
    command = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore"}
    subprocess.run(
        [sys.executable, *command, "--target", str(place / "site"), str(place / "source")], check=True, env=environment
    )
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return place / "source", {**kept, "PYTHONPATH": str(place / "site")}


@pytest.mark.slow
def test_its_own_tests_pass(installed):
    source, environment = installed
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_virtperf_reads_its_files(installed, tmp_path):
    source, environment = installed
    command = [sys.executable, "-m", "virtperf.cli", "read", str(source / "sample.txt")]
    command += ["--metrics", str(source / "metrics.yaml"), "-o", "-"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    rows = list(csv.DictReader(done.stdout.splitlines()))
    swapped = [(row["metric_value"], row["metric_unit"], row["line"]) for row in rows if row["metric"] == "swap_used"]
    assert swapped == [("0.0", "B", "3"), ("10485760.0", "B", "7"), ("41943040.0", "B", "11")]
