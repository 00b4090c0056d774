"""`virtperf what-if` and its page over all studies."""

from __future__ import annotations

import shutil
from pathlib import Path

from click.testing import CliRunner

from tests.records import read_records
from tests.report.synthesis.conftest import build
from virtperf.cli import main


def repository(folder: Path, root: Path) -> list[str]:
    build(folder)
    for name in ("params.yaml", "notebooks/synthesis.ipynb"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(root / name, folder / name)
    return ["--root", str(folder)]


def test_answers_at_an_overcommitment_ratio(tmp_path: Path, root: Path) -> None:
    at = repository(tmp_path, root)
    result = CliRunner().invoke(main, [*at, "what-if", "--cpu-ratio", "2", "--memory-ratio", "3"])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0] == "CPU overcommitment (virtual CPUs per real CPU): 2"
    assert lines[1] == "  toy: A (1: {guests} guests; toy)"
    assert lines[2].startswith("      throughput: allows about 1.66")
    assert lines[3].startswith("      throughput per guest: allows about 0.415")
    assert lines[4].startswith("memory overcommitment (needed or defined")
    assert lines[5] == "  Other 2, 2026: A (1: x; other)"
    assert "CPU cost: allows at least 1.8 between the tested ratios 2 and 4" in lines[6]
    assert (
        "give --cpu-ratio, --memory-ratio or both"
        in CliRunner().invoke(main, [*at, "what-if"]).output
    )
    assert CliRunner().invoke(main, [*at, "what-if", "--cpu-ratio", "0"]).exit_code == 2


def test_page_over_all_studies(tmp_path: Path, root: Path) -> None:
    at = repository(tmp_path, root)
    assert CliRunner().invoke(main, [*at, "synthesis"]).exit_code == 0
    made = [record.id for record in read_records(tmp_path / "build" / "synthesis.ipynb")]
    assert made == ["growth", "limits", "agreements", "measured-again"]
    page = (tmp_path / "reports" / "synthesis.html").read_text()
    assert "At least 95 % at" in page and "They agree within 5 %" in page
    assert 'href="toy.html#figure-2"' in page and "<script>alert(1)</script>" not in page


def test_missing_results_are_an_error(tmp_path: Path, root: Path) -> None:
    at = repository(tmp_path, root)
    shutil.rmtree(tmp_path / "data" / "reconstructed")
    result = CliRunner().invoke(main, [*at, "what-if", "--cpu-ratio", "2"])
    assert result.exit_code == 1
    assert "data/reconstructed/toy is missing. Run `virtperf pipeline toy`" in result.output


def test_all_studies_without_results_are_reported_at_once(tmp_path: Path, root: Path) -> None:
    for folder in ("data", "docs", "notebooks"):
        shutil.copytree(
            root / folder,
            tmp_path / folder,
            ignore=lambda at, _: (
                ["measured", "reconstructed", "runs", "samples", "verdicts"]
                if Path(at).name == "data"
                else []
            ),
        )
    shutil.copy(root / "params.yaml", tmp_path)
    result = CliRunner().invoke(main, ["--root", str(tmp_path), "what-if", "--cpu-ratio", "2"])
    assert result.exit_code == 1
    assert "studies are missing: " in result.output and "Run `virtperf pipeline`" in result.output
    assert "zvm-xen-2009" in result.output and "zvm63-overcommit-2014" in result.output


def test_outside_a_repository_is_an_error(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["--root", str(tmp_path), "what-if", "--cpu-ratio", "2"])
    assert "not a repository of studies" in result.output
