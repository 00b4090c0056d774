"""`virtperf report` before the other stages have run."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run
from tests.report import toy


def test_existing_report_is_kept_when_stages_have_not_run(run: Run, tmp_path: Path) -> None:
    toy.build(tmp_path, stages=False)
    (tmp_path / "params.yaml").write_text("seed: 1\nlevel: 0.95\n")
    kept = tmp_path / "metrics" / "toy.csv"
    kept.parent.mkdir()
    kept.write_text("exhibit,width\n")
    output = run("report", "toy", status=1).output
    assert "data/reconstructed/toy is missing. Run `virtperf pipeline toy`" in output
    assert kept.read_text() == "exhibit,width\n"
