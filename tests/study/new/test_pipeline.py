"""The stages of the repository's studies, and the line of params.yaml that gives a new study its own."""

from __future__ import annotations

import pytest

from rawperf.core.errors import RawperfError
from tests.cases import each_case
from tests.dvc_stages import load_stages
from tests.study.new.conftest import layout as layout
from virtperf.core.params import load_parameters
from virtperf.core.paths import Layout
from virtperf.study.new.write import write_study

ENVIRONMENT = [".python-version", "requirements/main.lock"]


def test_new_study_is_listed_by_its_kind(layout):
    before = load_parameters(layout.parameters).studies
    write_study(layout, "my-study")
    write_study(layout, "a-study")
    write_study(layout, "my-machine", measured=True)
    studies = load_parameters(layout.parameters).studies
    assert studies.papers == (*before.papers, "a-study", "my-study")
    assert studies.measured == (*before.measured, "my-machine")
    assert studies.example_reports == before.example_reports


@each_case(
    "lists",
    ["", "studies: {papers: [a]}\n", "studies:\n  papers: [a, b]\n", "studies:\n  measured: []\n"],
)
def test_list_that_cannot_be_edited_leaves_nothing(tmp_path_factory, lists):
    layout = Layout(tmp_path_factory.mktemp("lists"))
    layout.parameters.write_text(f"seed: 1\n{lists}")
    (layout.root / "dvc.yaml").write_text("stages: {}\n")
    with pytest.raises(RawperfError, match=r"params\.yaml.*studies/papers is not a list"):
        write_study(layout, "my-study")
    assert layout.parameters.read_text() == f"seed: 1\n{lists}"
    assert not layout.published("my-study").exists() and not layout.notebook("my-study").exists()


@each_case(("name", "words"), [("reconstruct", []), ("report", ["docs/glossary.yaml"])])
def test_stages_share_no_files_except_readings_and_environment(root, name, words):
    study = next(s for s in Layout(root).studies() if Layout(root).published(s).is_dir())
    (stage,) = [s for s in load_stages(root) if (s.study, s.name) == (study, name)]
    shared = [dep for dep in stage.deps if study not in dep and not dep.startswith("src/")]
    assert shared == ["data/readings.yaml", *words, *ENVIRONMENT]


def test_reconstruct_does_not_depend_on_readers(root):
    stages = [stage for stage in load_stages(root) if stage.name == "reconstruct"]
    assert stages
    for stage in stages:
        readers = [dep for dep in stage.deps if dep.startswith("src/rawperf")]
        assert readers == ["src/rawperf/core"]
