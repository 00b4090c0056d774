"""`virtperf site`: pages over all studies, or of one study."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.report import toy
from virtperf.core.params import load_parameters
from virtperf.core.paths import Layout
from virtperf.report.html.site.build import build_study_pages
from virtperf.report.html.site.gather import StudyFacts


@pytest.fixture
def place(tmp_path: Path, root: Path) -> Path:
    toy.build(tmp_path)
    (tmp_path / "params.yaml").write_text("seed: 1\nlevel: 0.95\n")
    (tmp_path / "docs").mkdir()
    shutil.copy(root / "docs" / "methods.md", tmp_path / "docs")
    return tmp_path


def test_shared_pages_are_written_next_to_the_reports(run: Run, place: Path) -> None:
    run("site")
    names = {"index.html", "methods.html", "search.html"}
    assert {p.name for p in (place / "reports").iterdir()} == names
    for name in names:
        text = (place / "reports" / name).read_text()
        assert (
            "Content-Security-Policy" in text
            and str(place) not in text
            and "<script>alert" not in text
        )
    first = {name: (place / "reports" / name).read_bytes() for name in names}
    run("site", "-o", "again")
    assert {name: (place / "again" / name).read_bytes() for name in names} == first


def test_pages_of_one_study(place: Path) -> None:
    layout = Layout(place)
    build_study_pages(
        layout, StudyFacts(layout, load_parameters(layout.parameters), "toy"), place / "reports"
    )
    assert {p.name for p in (place / "reports").iterdir()} == {
        "claims-toy.html",
        "data-toy.html",
        "trace-toy.json",
    }
    keys = [
        entry["key"]
        for entry in json.loads((place / "reports" / "trace-toy.json").read_text())["traces"]
    ]
    assert len(keys) > 5 and len(set(keys)) == len(keys)


def test_damaged_study_is_reported_with_its_path(run: Run, place: Path) -> None:
    path = place / "data" / "published" / "toy" / "study.yaml"
    path.write_bytes(b"study: toy\ntitle: \xff\n")
    output = run("site", status=1).output
    assert "data/published/toy/study.yaml line 2: the file is not UTF-8" in output
    assert str(place) not in output
