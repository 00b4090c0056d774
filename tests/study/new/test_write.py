"""A new study: complete, valid, marked as an example; or nothing on failure."""

from __future__ import annotations

import json

import nbformat
import pytest

import virtperf.study.new.write as module
from rawperf.core.errors import RawperfError
from virtperf.check.everything import check_everything
from virtperf.study.claims import load_claims
from virtperf.study.definition import load_study
from virtperf.study.new.write import write_study


@pytest.fixture
def written(layout):
    write_study(layout, "my-study")
    return layout


def test_new_study_has_no_problems(written):
    problems, counts = check_everything(written)
    assert [str(p) for p in problems] == []
    assert counts.startswith("1 study, 0 measured runs")


def test_template_is_marked_as_example_and_states_no_number(written):
    folder = written.published("my-study")
    study = load_study(folder)
    claims = load_claims(study)
    assert "EXAMPLE" in study.data["title"]
    assert all(
        claim.value is None and "EXAMPLE" in claim.says and "example" in claim.id
        for claim in claims
    )
    assert all("EXAMPLE" in exhibit.title for exhibit in study.exhibits)
    assert "EXAMPLE" in (folder / "tables" / "table-1.csv").read_text()
    assert "runs" not in study.data


def test_notebook_has_the_parameters_of_the_repository(written):
    cells = json.loads(written.notebook("my-study").read_text())["cells"]
    (source,) = [
        "".join(c["source"]) for c in cells if "parameters" in c["metadata"].get("tags", ())
    ]
    values: dict[str, object] = {}
    exec(source, values)  # our own notebook
    assert values["seed"] == 20090131
    assert len({c["id"] for c in cells}) == len(cells)


def test_notebook_is_formatted_like_jupyter(written):
    text = written.notebook("my-study").read_text()
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    assert nbformat.writes(notebook) + "\n" == text


def test_title_may_contain_any_text(layout):
    write_study(layout, "quoted", 'A "quoted": title, with # and é')
    assert load_study(layout.published("quoted")).data["title"] == 'A "quoted": title, with # and é'


@pytest.mark.parametrize("study", ["Upper", "with space", "../up", "-x", "x", "ünïcode", "a" * 80])
def test_invalid_id_is_rejected(layout, study):
    with pytest.raises(RawperfError, match="invalid study id"):
        write_study(layout, study)


def test_nothing_is_overwritten(written):
    before = {p: p.read_bytes() for p in written.root.rglob("*") if p.is_file()}
    with pytest.raises(RawperfError, match="already exists"):
        write_study(written, "my-study")
    assert {p: p.read_bytes() for p in written.root.rglob("*") if p.is_file()} == before


def test_failed_write_leaves_nothing(layout, monkeypatch):
    before = sorted(layout.root.rglob("*.*"))

    def fails(*_):
        raise OSError("disk full")

    monkeypatch.setattr(module, "notebook_text", fails)
    with pytest.raises(OSError, match="disk full"):
        write_study(layout, "my-study")
    assert sorted(layout.root.rglob("*.*")) == before
    assert "my-study" not in layout.parameters.read_text()


def test_folder_outside_a_repository_is_rejected(tmp_path):
    from virtperf.core.paths import Layout

    with pytest.raises(RawperfError, match="not a repository of studies"):
        write_study(Layout(tmp_path), "my-study")
    assert not list(tmp_path.iterdir())
