"""A new study has the same stages as existing ones."""

from __future__ import annotations

import yaml

from tests.cases import each_case
from tests.study.new.conftest import layout as layout
from virtperf.core.paths import Layout
from virtperf.study.new.write import pipeline_text, write_study


def test_stages_are_named_after_the_study(layout):
    write_study(layout, "my-study")
    data = yaml.safe_load(layout.pipeline("my-study").read_text())
    assert data["vars"] == [{"study": "my-study"}]
    assert list(data["stages"]) == ["reconstruct", "runs", "report"]
    write_study(layout, "my-machine", measured=True)
    data = yaml.safe_load(layout.pipeline("my-machine").read_text())
    assert list(data["stages"]) == ["runs", "report"]


def test_existing_studies_have_the_stages_of_a_new_one(root):
    repository = Layout(root)
    for study in repository.studies():
        assert repository.pipeline(study).read_text() == pipeline_text(repository, study), (
            f"change src/virtperf/study/new/stages.yaml.j2, and write pipelines/{study}/dvc.yaml anew"
        )


def test_every_folder_of_stages_has_a_study(root):
    assert (
        sorted(path.parent.name for path in root.glob("pipelines/*/dvc.yaml"))
        == Layout(root).studies()
    )


@each_case("stage", ["reconstruct", "report"])
def test_stages_share_no_files_except_readings_and_environment(root, stage):
    study = next(s for s in Layout(root).studies() if Layout(root).published(s).is_dir())
    stages = yaml.safe_load(Layout(root).pipeline(study).read_text())["stages"]
    shared = [
        dep for dep in stages[stage]["deps"] if "${study}" not in dep and not dep.startswith("src/")
    ]
    words = ["docs/glossary.yaml"] if stage == "report" else []
    assert shared == ["data/readings.yaml", *words, ".python-version", "requirements/main.lock"]


def test_reconstruct_does_not_depend_on_readers(root):
    for study in Layout(root).studies():
        stages = yaml.safe_load(Layout(root).pipeline(study).read_text())["stages"]
        deps = stages.get("reconstruct", {}).get("deps", [])
        assert not [d for d in deps if d.startswith("src/rawperf") and d != "src/rawperf/core"]
