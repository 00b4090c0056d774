"""An exported study: every file is there, described and unchanged."""

from __future__ import annotations

import hashlib
import json
import zipfile
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from rawperf.core.errors import RawperfError
from virtperf.artifact.crate import METADATA, export_study
from virtperf.cli import main
from virtperf.study.new.write import write_study

STUDY = "my-study"


@pytest.fixture
def complete(layout):
    """A study with the outputs of all stages, as far as an export needs them."""
    write_study(layout, STUDY)
    outputs = [
        layout.runs(STUDY) / "means.parquet",
        layout.verdicts(STUDY) / "verdicts.parquet",
        layout.report(STUDY),
        layout.measured(STUDY) / "a run" / "sar é.txt",
    ]
    for path in outputs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.name)
    (layout.root / "LICENSE").write_text("Apache License\n")
    (layout.root / "CITATION.cff").write_text(
        'license: Apache-2.0\nauthors:\n  - name: "The developers"\n'
    )
    return layout


def read(path):
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    graph = json.loads(contents.pop(METADATA))["@graph"]
    return contents, {entity["@id"]: entity for entity in graph}


def test_every_file_is_described_and_unchanged(complete, tmp_path):
    out = tmp_path / "crate.zip"
    assert export_study(complete, STUDY, out, "2026-01-31") == len(read(out)[0])
    contents, entities = read(out)
    files = {i: e for i, e in entities.items() if e["@type"] == "File"}
    assert {unquote(name) for name in files} == set(contents)
    for name, entity in files.items():
        content = contents[unquote(name)]
        assert entity["sha256"] == hashlib.sha256(content).hexdigest()
        assert int(entity["contentSize"]) == len(content)
    assert f"data/measured/{STUDY}/a%20run/sar%20%C3%A9.txt" in files


def test_metadata_have_what_the_specification_requires(complete, tmp_path):
    out = tmp_path / "crate.zip"
    export_study(complete, STUDY, out, "2026-01-31")
    _, entities = read(out)
    about = entities[METADATA]
    assert about["about"] == {"@id": "./"}
    assert about["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    root = entities["./"]
    assert root["@type"] == "Dataset" and root["name"] and root["description"]
    assert root["datePublished"] == "2026-01-31"
    files = {i for i, e in entities.items() if e["@type"] == "File"}
    assert {part["@id"] for part in root["hasPart"]} == files
    references = [root["license"], *root["creator"], root["mainEntity"]]
    assert all(reference["@id"] in entities for reference in references)


def test_same_study_gives_the_same_bytes(complete, tmp_path):
    for name in ("a.zip", "b.zip"):
        export_study(complete, STUDY, tmp_path / name, "2026-01-31")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_folder_has_the_same_files(complete, tmp_path):
    export_study(complete, STUDY, tmp_path / "a.zip", "2026-01-31")
    export_study(complete, STUDY, tmp_path / "a", "2026-01-31")
    found = {
        p.relative_to(tmp_path / "a").as_posix(): p.read_bytes()
        for p in (tmp_path / "a").rglob("*")
        if p.is_file()
    }
    found.pop(METADATA)
    assert found == read(tmp_path / "a.zip")[0]
    with pytest.raises(RawperfError, match="already exists"):
        export_study(complete, STUDY, tmp_path / "a", "2026-01-31")


@pytest.mark.parametrize("date", ["", "yesterday", "31.1.2026"])
def test_date_is_required(complete, tmp_path, date):
    with pytest.raises(RawperfError, match="no date of publication"):
        export_study(complete, STUDY, tmp_path / "a.zip", date)
    assert not (tmp_path / "a.zip").exists()


def test_study_without_a_report_is_refused(complete, tmp_path):
    complete.report(STUDY).unlink()
    with pytest.raises(RawperfError, match=r"report: nothing to export.*virtperf pipeline"):
        export_study(complete, STUDY, tmp_path / "a.zip", "2026-01-31")


def test_links_are_left_out(complete, tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    link = complete.measured(STUDY) / "a run" / "link.txt"
    link.symlink_to(tmp_path / "secret.txt")
    export_study(complete, STUDY, tmp_path / "a.zip", "2026-01-31")
    assert not any("link" in name for name in read(tmp_path / "a.zip")[0])


def test_command_writes_the_crate(complete):
    command = ["--root", str(complete.root), "export", STUDY, "--date", "2026-01-31"]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    out = complete.root / "build" / f"{STUDY}-crate.zip"
    assert f"{len(read(out)[0])} files" in result.output
