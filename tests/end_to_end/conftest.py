"""A copy of the repository's data in a folder of its own, on which tests may do damage."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from virtperf.cli import main
from virtperf.core.stage_tables import POINTS

STUDY = "zvm-xen-2009"


class Workplace:
    """A root folder and the commands run in it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, *command: str, status: int = 0) -> Result:
        """Run `virtperf` there and check its exit status."""
        result = CliRunner().invoke(main, ["--root", str(self.root), *command])
        if result.exit_code != status:
            raise AssertionError(
                f"virtperf {' '.join(command)}: {result.output}"
            ) from result.exception
        return result

    def after_ingest(self) -> str:
        """All stages that follow ingest; returns the rendered page."""
        for stage in ("summarize", "judge", "notebook", "report"):
            self.run(stage, STUDY)
        return (self.root / "reports" / f"{STUDY}.html").read_text()

    @property
    def runs(self) -> Path:
        """Simulated run folders."""
        return self.root / "data" / "reconstructed" / STUDY / "runs"

    @property
    def measured(self) -> Path:
        """The folder for people's runs."""
        return self.root / "data" / "measured" / STUDY


@pytest.fixture
def workplace(root: Path, tmp_path: Path) -> Workplace:
    """The repository's data as the pipeline left it; `make test` runs the pipeline first."""
    if not (root / "data" / "reconstructed" / STUDY / POINTS.file).exists():
        pytest.skip("the pipeline has not run: `dvc repro` first")
    for part in (f"data/published/{STUDY}", f"data/reconstructed/{STUDY}"):
        shutil.copytree(root / part, tmp_path / part)
    (tmp_path / "notebooks").mkdir()
    for part in (
        "data/readings.yaml",
        "params.yaml",
        f"notebooks/{STUDY}.ipynb",
    ):
        shutil.copy(root / part, tmp_path / part)
    if (root / ".cache").exists():
        shutil.copytree(root / ".cache", tmp_path / ".cache")
    (tmp_path / "data" / "measured" / STUDY).mkdir(parents=True)
    return Workplace(tmp_path)
