"""A disposable copy of the repository's data."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from virtperf.cli import main
from virtperf.core.stage_tables import POINTS, VERDICTS

STUDY = "zvm-xen-2009"
EXAMPLES = "example-scaling-*-*[59]-r?"
"""Example runs of both systems to copy: processing all of them would dominate the run time."""


class Workplace:
    """A root folder and the commands run in it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, *command: str, status: int = 0) -> Result:
        """Run `virtperf` in the copy and check its exit status."""
        result = CliRunner().invoke(main, ["--root", str(self.root), *command])
        if result.exit_code != status:
            raise AssertionError(
                f"virtperf {' '.join(command)}: {result.output}"
            ) from result.exception
        return result

    def verdicts(self) -> dict[str, str]:
        """Verdicts of measured runs by claim."""
        table = VERDICTS.read(self.root / "data" / "verdicts" / STUDY / VERDICTS.file)
        return dict(zip(table["claim"], table["measured_verdict"], strict=True))

    @property
    def examples(self) -> Path:
        """Example run folders."""
        return self.measured / "examples"

    @property
    def measured(self) -> Path:
        """The folder of measured runs."""
        return self.root / "data" / "measured" / STUDY


@pytest.fixture
def workplace(root: Path, tmp_path: Path) -> Workplace:
    """Data as the pipeline left them; `make test` runs the pipeline first."""
    if not (root / "data" / "reconstructed" / STUDY / POINTS.file).exists():
        raise AssertionError("the pipeline has not run: `virtperf pipeline` first")
    for part in (f"data/published/{STUDY}", f"data/reconstructed/{STUDY}"):
        shutil.copytree(root / part, tmp_path / part)
    examples = Path("data", "measured", STUDY, "examples")
    for folder in (root / examples).glob(EXAMPLES):
        shutil.copytree(folder, tmp_path / examples / folder.name)
    (tmp_path / "notebooks").mkdir()
    for part in (
        "data/readings.yaml",
        "params.yaml",
        f"notebooks/{STUDY}.ipynb",
    ):
        shutil.copy(root / part, tmp_path / part)
    return Workplace(tmp_path)
