"""The commands of docs/compare.md and docs/claims.md print what the pages show."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.end_to_end.test_docs import agrees, plain_call, steps
from virtperf.cli import main


@pytest.fixture
def workplace(root: Path, tmp_path: Path) -> Path:
    """A repository with the runs that the page compares."""
    for part in ("data/published", "data/measured/xen-2026", "data/measured/firecracker-nsdi-2020"):
        shutil.copytree(root / part, tmp_path / part)
    for part in ("data/readings.yaml", "params.yaml", "dvc.yaml"):
        shutil.copy(root / part, tmp_path / part)
    shutil.copytree(root / "docs/examples/history", tmp_path / "docs/examples/history")
    source, target = (base / "data" / "measured" / "linux-2026" for base in (root, tmp_path))
    target.mkdir()
    for path in source.glob("*.yaml"):
        shutil.copy(path, target / path.name)
    shutil.copytree(source / "runs", target / "runs")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(("page", "least"), [("compare.md", 6), ("claims.md", 5)])
def test_commands_of_the_page_print_the_shown_output(root, workplace, monkeypatch, page, least):
    monkeypatch.chdir(workplace)
    (workplace / "notebooks").mkdir()
    found = steps((root / "docs" / page).read_text(encoding="utf-8"))
    assert len(found) >= least
    for step in found:
        if not step.command.startswith("virtperf "):
            subprocess.run(step.command, shell=True, check=True)
            continue
        result = CliRunner().invoke(main, plain_call(step.command))
        assert isinstance(result.exception, SystemExit | None), step.command
        assert agrees(step.shown, result.output), f"line {step.line}: {result.output}"
