"""`virtperf crate`: a folder or a zip file that the `rocrate` library reads."""

from __future__ import annotations

from pathlib import Path

from rocrate.rocrate import ROCrate

from tests.cli.conftest import Run
from tests.crate import conftest as fixtures

repository, template = fixtures.repository, fixtures.template


def test_a_folder_and_a_zip_file_are_written_and_read_back(run: Run, repository: Path, tmp_path: Path) -> None:
    for name in ("out", "out.zip"):
        result = run("--root", str(repository), "crate", "-o", name)
        assert f"{name}: " in result.output and " files, " in result.output
        assert "not as dvc.lock records them: build/toy.ipynb" in result.output
        crate = ROCrate(tmp_path / name)
        assert crate.mainEntity.id == "dvc.yaml" and crate.get("reports/toy.html") is not None
    again = run("--root", str(repository), "crate", "-o", "out", status=1).output
    assert "the folder is not empty" in again


def test_one_study_and_a_date(run: Run, repository: Path, tmp_path: Path) -> None:
    run("--root", str(repository), "crate", "-o", "out", "--study", "toy", "--date", "2021-03-04")
    crate = ROCrate(tmp_path / "out")
    assert str(crate.datePublished).startswith("2021-03-04")
    assert (
        "there is no study 'none'"
        in run("--root", str(repository), "crate", "-o", "x", "--study", "none", status=1).output
    )
