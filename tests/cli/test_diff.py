"""What `virtperf diff` prints and writes for two folders of results, which need no replay."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.verify import conftest as fixtures
from tests.verify import toy

stored = fixtures.stored


@pytest.fixture
def folders(stored: Path, tmp_path: Path) -> Path:
    """Folders old and new, which differ in one statement's number."""
    for name in ("old", "new"):
        shutil.copytree(stored, tmp_path / name, ignore=shutil.ignore_patterns(".cache"))
    claims = tmp_path / "new" / "data" / "published" / "toy" / "claims.yaml"
    claims.write_text(claims.read_text().replace("value: 50, half_width: 0.5", "value: 52, half_width: 0.5"))
    toy.run_stages(tmp_path / "new")
    return tmp_path


def test_one_changed_statement_moves_its_figure(run: Run, folders: Path) -> None:
    said = run("--root", ".", "diff", "./old", "./new", "-o", "page/d.html").output
    assert "Statements of toy: memory-at-1\n" in said and "figure-2" in said and "figure-1" not in said
    made = json.loads((folders / "page" / "d.json").read_text())
    (study,) = made["studies"]
    assert made["schema"] == "virtperf-diff/1" and not made["agrees"] and made["documents"] == []
    assert (made["old"]["name"], made["new"]["name"]) == ("folder old", "folder new")
    assert study["claims"] == [{"claim": "memory-at-1", "exhibits": ["figure-2"]}]
    assert study["edited_claims"] == ["memory-at-1"]
    limits = {(i["label"], i["field"]): (i["old"], i["new"], i["widths"]) for i in study["items"]}
    old, new, widths = limits["memory, 1", "allowed"]
    assert (old["low"], old["high"]) == (49.5, 50.5) and (new["low"], new["high"]) == (51.5, 52.5)
    assert widths == pytest.approx(2)
    page = (folders / "page" / "d.html").read_text()
    assert "What moved: folder old to folder new" in page and "about figure-2" in page
    assert page.count('<img src="data:image/svg+xml;base64,') == 2  # before and now
    assert "50 (49.5 to 50.5)" in page and "52 (51.5 to 52.5)" in page and "2 interval widths" in page
    assert str(folders) not in page


def test_the_same_folder_twice_says_so(run: Run, folders: Path) -> None:
    said = run("--root", ".", "diff", "./old", "./old", "toy", "-o", "d.html").output
    assert "Everything is identical" in said


def test_what_can_not_be_compared_is_refused(run: Run, folders: Path) -> None:
    assert "ends in .html" in run("--root", ".", "diff", "./old", "./old", "-o", "d.txt", status=2).output
    assert "has a study 'none'" in run("--root", ".", "diff", "./old", "./old", "none", status=1).output
    (folders / "empty").mkdir()
    assert "holds no results" in run("--root", ".", "diff", "./empty", "./old", status=1).output
