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
    swapped = [
        (row["metric_value"], row["metric_unit"], row["line"]) for row in rows if row["metric"] == "swap_out_rate"
    ]
    assert swapped == [("0.0", "B/s", "4"), ("104448.0", "B/s", "5"), ("314368.0", "B/s", "6")]
    assert [float(row["metric_value"]) for row in rows if row["metric"] == "cpu_user"] == pytest.approx(
        [0.41, 0.52, 0.47]
    )


@pytest.mark.slow
def test_real_listings(installed, samples):
    _, environment = installed
    for name, count in {"vmstat_rhel4.txt": 16, "vmstat_rhel5.5.txt": 17, "vmstat_t_rhel6.0.txt": 17}.items():
        command = [sys.executable, "-m", "virtperf.cli", "read", str(samples / "misc" / name), "-o", "-"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        fields = {line.split(",")[3] for line in done.stdout.splitlines()[1:]}
        assert len(fields) == count, name
