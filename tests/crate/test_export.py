"""A crate holds what git keeps and the stages wrote, describes every file, and nothing of the machine."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import pytest

from rawperf.core.errors import VirtperfError
from tests.verify import conftest as fixtures
from virtperf.core.paths import Layout
from virtperf.crate.export import METADATA, export

stored, repository = fixtures.stored, fixtures.repository
CITATION = """\
cff-version: 1.2.0
title: A toy repository
abstract: One study.
license: Apache-2.0
date-released: 2020-02-29
authors:
  - {given-names: Ada, family-names: Example}
  - {name: The others}
"""
SECRET = "s3cret"


def git(root: Path, *arguments: str) -> None:
    name = ("-c", "user.name=toy", "-c", "user.email=toy@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(root), *name, *arguments], check=True, capture_output=True)


@pytest.fixture
def kept(repository: Path) -> Path:
    """The repository under git, with a password in DVC's configuration and a file that nobody added."""
    (repository / "CITATION.cff").write_text(CITATION)
    (repository / ".dvc").mkdir()
    (repository / ".dvc" / "config").write_text(SECRET)
    (repository / ".gitignore").write_text(
        "/build/\n/reports/\n/data/reconstructed/\n/data/samples/\n/data/runs/\n"
    )
    git(repository, "init", "-q")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "one")
    (repository / "notes.txt").write_text(SECRET)
    return repository


def contents(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


def graph(folder: Path) -> dict[str, dict]:
    return {
        entity["@id"]: entity for entity in json.loads((folder / METADATA).read_text())["@graph"]
    }


def test_every_file_is_described_with_size_and_hash_and_no_other(kept, tmp_path) -> None:
    done = export(Layout(kept), tmp_path / "out")
    found, described = contents(tmp_path / "out"), graph(tmp_path / "out")
    assert done.warnings == () and done.files == len(found) - 1
    assert {e["@id"] for e in described.values() if e["@type"] == "File"} == set(found) - {METADATA}
    for path, data in found.items():
        if path != METADATA:
            assert described[path]["contentSize"] == str(len(data))
            assert described[path]["sha256"] == hashlib.sha256(data).hexdigest()
            assert data == (kept / path).read_bytes()
    assert {
        "reports/toy.html",
        "build/toy.ipynb",
        "data/published/toy/study.yaml",
        "metrics/toy.json",
    } <= set(found)
    assert not any(
        SECRET.encode() in data or str(tmp_path).encode() in data for data in found.values()
    )


def test_it_says_who_what_and_which_command_made_what(kept, tmp_path) -> None:
    export(Layout(kept), tmp_path / "out")
    described = graph(tmp_path / "out")
    whole = described["./"]
    assert (whole["name"], whole["datePublished"]) == ("A toy repository", "2020-02-29")
    assert [described[a["@id"]]["name"] for a in whole["author"]] == ["Ada Example", "The others"]
    assert described[METADATA]["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    judge = described["#run-toy-judge"]
    assert judge["name"] == "virtperf judge toy"
    assert {"@id": "data/verdicts/toy/verdicts.parquet"} in judge["result"]
    assert {"@id": "data/published/toy/claims.yaml"} in judge["object"]
    assert described["#paper-toy"]["name"] == "A toy"


def test_samples_and_simulated_runs_stay_out(kept, tmp_path) -> None:
    for name in ("data/samples/toy/r1.parquet", "data/reconstructed/toy/runs/r1/drivers/a.log"):
        (kept / name).parent.mkdir(parents=True, exist_ok=True)
        (kept / name).write_text("large")
    export(Layout(kept), tmp_path / "out")
    found = contents(tmp_path / "out")
    assert "data/samples/toy/index.json" in found
    assert not any("r1" in path for path in found)


def test_the_same_state_gives_the_same_bytes(kept, tmp_path) -> None:
    for name in "ab":
        export(Layout(kept), tmp_path / name)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_what_is_missing_or_not_as_recorded_is_said(kept, tmp_path) -> None:
    (kept / "reports" / "trace-toy.json").unlink()
    (kept / "reports" / "toy.html").write_text("edited")
    done = export(Layout(kept), tmp_path / "out")
    assert done.warnings[0] == "the crate has no reports/trace-toy.json: `dvc repro` writes it"
    assert "reports/toy.html is not what is recorded of it" in done.warnings[1]
    assert done.warnings[0] in graph(tmp_path / "out")["./"]["description"]


def test_a_place_that_is_taken_and_a_folder_without_git_are_refused(
    kept, repository, tmp_path
) -> None:
    with pytest.raises(VirtperfError, match="it is there already"):
        export(Layout(kept), kept)
    (kept / ".git").rename(tmp_path / "elsewhere")
    with pytest.raises(VirtperfError, match="a git repository"):
        export(Layout(kept), tmp_path / "out")
    assert not (tmp_path / "out").exists()
