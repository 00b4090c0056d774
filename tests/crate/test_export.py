"""A crate is whole, read by the `rocrate` library, the same every time, and holds nothing of the machine."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

import pytest
from rocrate.rocrate import ROCrate

from tests.crate.conftest import SECRET, git, graph
from virtperf.core.errors import VirtperfError
from virtperf.core.paths import Layout
from virtperf.crate.export import export

METADATA = "ro-crate-metadata.json"


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_rocrate_library_reads_it_back(repository: Path, tmp_path: Path) -> None:
    done = export(Layout(repository), tmp_path / "out")
    crate = ROCrate(tmp_path / "out")
    assert crate.name == "A toy repository" and "toy: A toy" in crate.description
    assert (
        str(crate.datePublished).startswith("2020-02-29") and crate.license.id == "https://spdx.org/licenses/Apache-2.0"
    )
    assert crate.mainEntity.id == "dvc.yaml" and "ComputationalWorkflow" in crate.mainEntity.type
    assert [a["name"] for a in crate.root_dataset["author"]] == ["Ada Example", "The others"]
    assert crate.root_dataset["author"][0].id == "https://orcid.org/0000-0002-1825-0097"
    described = {e.id for e in crate.get_entities() if "File" in e.type}
    assert described == set(contents(tmp_path / "out")) - {METADATA} and len(described) == done.files


def test_every_file_is_described_with_its_size_and_hash(repository: Path, tmp_path: Path) -> None:
    export(Layout(repository), tmp_path / "out")
    found = graph(tmp_path / "out")
    for path, data in contents(tmp_path / "out").items():
        if path != METADATA:
            said = found[path]
            assert (said["contentSize"], said["sha256"]) == (str(len(data)), hashlib.sha256(data).hexdigest()), path
            assert data == (repository / path).read_bytes()


def test_it_says_which_run_made_what_and_whose_paper_it_is(repository: Path, tmp_path: Path) -> None:
    export(Layout(repository), tmp_path / "out")
    found = graph(tmp_path / "out")
    run = found["#run-toy"]
    made = {entity["@id"] for entity in run["result"]}
    assert made >= {"reports/toy.html", "build/toy.ipynb", "data/verdicts/toy/", "data/reconstructed/toy/"}
    assert {entity["@id"] for entity in run["object"]} >= {"data/published/toy/", "data/measured/toy/", "params.yaml"}
    assert run["instrument"] == {"@id": "dvc.yaml"}
    assert found["#study-toy"]["isBasedOn"] == {"@id": "#paper-toy"} and found["#paper-toy"]["publisher"] == "nobody"
    assert found["data/measured/toy/"]["measurementTechnique"] == {"@id": "#provenance-measured"}
    assert {e["name"]: e["softwareVersion"] for e in found.values() if e["@id"].startswith("#software")} == {
        "python": "3.11", "numpy": "2.4.6", "dvc": "3.1",
    }  # fmt: skip


def test_it_holds_results_and_neither_samples_nor_caches_nor_secrets(repository: Path, tmp_path: Path) -> None:
    export(Layout(repository), tmp_path / "out")
    found = contents(tmp_path / "out")
    assert {"data/samples/toy/index.json", "data/runs/toy/observations.parquet", ".ci/run"} <= set(found)
    assert not any(path.startswith((".dvc/", ".git/", "data/reconstructed/toy/runs")) for path in found)
    assert not any(path.endswith((".pyc", "load-1.parquet", "notes.txt")) for path in found)
    assert not any(SECRET.encode() in data for data in found.values())
    assert (tmp_path / "out" / ".ci" / "run").stat().st_mode & 0o111


def test_the_same_state_gives_the_same_bytes_wherever_it_stands(
    repository: Path, template: Path, tmp_path: Path
) -> None:
    export(Layout(repository), tmp_path / "a.zip")
    (repository / "README.md").touch()
    export(Layout(repository), tmp_path / "b.zip")
    export(Layout(template), tmp_path / "c.zip")
    export(Layout(repository), tmp_path / "d")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes() == (tmp_path / "c.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == contents(tmp_path / "d")
    ROCrate(tmp_path / "a.zip")


def test_no_path_of_the_machine_is_inside(repository: Path, tmp_path: Path) -> None:
    export(Layout(repository), tmp_path / "out")
    for path, data in contents(tmp_path / "out").items():
        assert str(tmp_path).encode() not in data and str(Path.home()).encode() + b"/" not in data, path
    for identifier in graph(tmp_path / "out"):
        assert not identifier.startswith(("/", "file:", ".."))


def test_what_is_missing_or_not_as_recorded_is_said(repository: Path, tmp_path: Path) -> None:
    (repository / "reports" / "trail-toy.json").unlink()
    done = export(Layout(repository), tmp_path / "out")
    assert done.warnings == (
        "toy: the crate has no reports/trail-toy.json; `dvc repro` writes what stages make",
        "not as dvc.lock records them: build/toy.ipynb",
    )
    told = graph(tmp_path / "out")["#run-toy"]["description"]
    assert "build/toy.ipynb" in told and "reports/toy.html" not in told


def test_files_that_differ_from_the_commit_are_announced(repository: Path, tmp_path: Path) -> None:
    export(Layout(repository), tmp_path / "a")
    (repository / "README.md").write_text("# Another\n")
    export(Layout(repository), tmp_path / "b")
    said = [graph(tmp_path / name)["src/"]["description"] for name in "ab"]
    assert "differ from the commit" not in said[0] and "differ from the commit" in said[1]


def test_one_study_alone(repository: Path, tmp_path: Path) -> None:
    other = repository / "data" / "published" / "other"
    other.mkdir()
    (other / "study.yaml").write_text(
        (repository / "data/published/toy/study.yaml").read_text().replace("study: toy", "study: other")
    )
    export(Layout(repository), tmp_path / "out", studies=["toy"])
    found = set(contents(tmp_path / "out"))
    assert "reports/toy.html" in found
    assert "reports/index.html" not in found and "data/published/other/study.yaml" not in found
    with pytest.raises(VirtperfError, match="there is no study 'none'"):
        export(Layout(repository), tmp_path / "x", studies=["none"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: (r / "docs").symlink_to("/etc"), "a link can't go into a crate"),
        (lambda r: (r / "src" / "a\\b").write_text(""), "can't be unpacked on every system"),
        (lambda r: (r / "CITATION.cff").write_text("title: x\n"), "license is missing"),
        (lambda r: (r / "CITATION.cff").unlink(), "CITATION"),
    ],
)
def test_what_no_crate_should_hold_is_refused_and_nothing_is_left(
    repository: Path, tmp_path: Path, change, said
) -> None:
    change(repository)
    (tmp_path / "to").mkdir()
    with pytest.raises(VirtperfError, match=said):
        export(Layout(repository), tmp_path / "to" / "out.zip")
    assert list((tmp_path / "to").iterdir()) == []


def test_places_that_are_taken_are_refused(repository: Path, tmp_path: Path) -> None:
    layout = Layout(repository)
    with pytest.raises(VirtperfError, match="the folder is not empty"):
        export(layout, repository.parent)
    with pytest.raises(VirtperfError, match="among what it is made of"):
        export(layout, repository / "reports" / "crate")
    (tmp_path / "file").write_text("")
    with pytest.raises(VirtperfError, match="this is no folder"):
        export(layout, tmp_path / "file")


def test_the_date_is_a_given_one_or_that_of_the_citation_or_of_the_commit(repository: Path, tmp_path: Path) -> None:
    layout = Layout(repository)
    export(layout, tmp_path / "a", date="2021-03-04")
    assert graph(tmp_path / "a")["./"]["datePublished"] == "2021-03-04"
    citation = repository / "CITATION.cff"
    citation.write_text(citation.read_text().replace("date-released: 2020-02-29\n", ""))
    git(repository, "commit", "-qam", "two", "--date", "2022-01-01T00:00:00")
    export(layout, tmp_path / "b")
    assert json.dumps(graph(tmp_path / "b")["./"]["datePublished"]).count("-") == 2
    with pytest.raises(VirtperfError, match="the crate has no date"):
        export(layout, tmp_path / "c", date="yesterday")
