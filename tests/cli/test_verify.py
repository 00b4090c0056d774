"""What `virtperf verify` prints and how it ends: redrawn figures, other packages, stale and exchanged drawings."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.verify import conftest as fixtures
from tests.verify import toy
from virtperf.verify.replay import Task

repository, stored = fixtures.repository, fixtures.stored

DRAWING = re.compile(r'<svg\b[^>]*class="vp-drawing.*?</svg>', re.S)


@pytest.fixture
def replays(monkeypatch: pytest.MonkeyPatch):
    """Replay by copying the results of a folder."""

    def as_in(folder: Path) -> None:
        def copied(task: Task, progress: object) -> None:
            shutil.copytree(folder, task.place.root, dirs_exist_ok=True)

        monkeypatch.setattr("virtperf.verify.replay.run_stages", copied)

    return as_in


def drawings(page: Path, name: str) -> list[str]:
    found = re.search(rf'<figure class="[^"]*" id="{name}">.*?</figure>', page.read_text(), re.S)
    assert found
    return DRAWING.findall(found[0])


def exchange(page: Path, old: list[str], new: list[str]) -> None:
    text = page.read_text()
    for a, b in zip(old, new, strict=True):
        assert text.count(a) == 1 and a != b
        text = text.replace(a, b)
    page.write_text(text)


def test_figures_that_look_different_are_named_and_agree(run: Run, repository: Path, monkeypatch) -> None:
    monkeypatch.setattr("virtperf.verify.replay.run_stages", toy.replayed)
    monkeypatch.setattr("virtperf.exhibits.line.SOLID_PX", 11)
    said = run("--root", str(repository), "verify").output
    assert "Everything is identical or within tolerance." in said and "Changed beyond" not in said
    assert said.index("Redrawn from the same numbers") < said.index("figure-1") < said.index("figure-2")
    (study,) = json.loads((repository / "reports" / "verify.json").read_text())["studies"]
    assert (study["affected"], study["redrawn"]) == ([], ["figure-1", "figure-2"])
    assert "Redrawn from the same numbers: Figure 1" in (repository / "reports" / "verify.html").read_text()


def test_a_package_of_another_version_is_named(run: Run, repository: Path, stored: Path, replays) -> None:
    replays(stored)
    (repository / "requirements.lock").write_text("seaborn==0.0.1\nnumpy==0.0.2\n")
    said = run("--root", str(repository), "verify").output
    lines = [line.split() for line in said.splitlines()]
    assert "Packages of another version than the pinned one" in said
    assert {(line[0], line[2]) for line in lines if len(line) == 3} >= {("seaborn", "0.0.1"), ("numpy", "0.0.2")}
    assert "pandas" not in said and "Everything is identical" in said


def test_a_drawing_that_was_left_from_older_numbers_is_caught(run: Run, repository: Path, replays) -> None:
    page, old = repository / "reports" / "toy.html", {}
    for name in ("figure-1", "figure-2"):
        old[name] = drawings(page, name)
    log = repository / "data" / "measured" / "toy" / "load-3" / "d1.log"
    log.write_text(re.sub(r"pg elem/s = \d+\.", "pg elem/s = 310.", log.read_text()))
    toy.run_stages(repository)
    made = drawings(page, "figure-1")
    assert drawings(page, "figure-2") == old["figure-2"]
    replays(repository.parent / "replay")
    shutil.copytree(repository, repository.parent / "replay")
    run("--root", str(repository), "verify")  # up to date: nothing to say
    exchange(page, made, old["figure-1"])
    said = run("--root", str(repository), "verify", status=1).output
    assert "its drawing was made from other numbers than those beside it" in said
    assert "figure-1" in said and "figure-2" not in said


def test_exchanged_drawings_are_one_line_each(run: Run, repository: Path, stored: Path, replays) -> None:
    replays(stored)
    page = repository / "reports" / "toy.html"
    first, second = drawings(page, "figure-1"), drawings(page, "figure-2")
    text = page.read_text()
    for a, b in zip(first, second, strict=True):
        text = text.replace(a, "@").replace(b, a).replace("@", b)
    page.write_text(text)
    said = run("--root", str(repository), "verify", status=1).output
    assert re.search(r"reports/toy\.html: its drawing is that of figure-2: figure-1\n", said)
    assert re.search(r"reports/toy\.html: its drawing is that of figure-1: figure-2\n", said)
