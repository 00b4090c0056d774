"""The stages of a new study are those of every other one."""

from __future__ import annotations

import pytest
import yaml

from virtperf.core.paths import Layout
from virtperf.study.new.write import pipeline_text


def test_the_stages_are_named_after_the_study():
    data = yaml.safe_load(pipeline_text("my-study"))
    assert data["vars"] == [{"study": "my-study"}]
    assert list(data["stages"]) == ["reconstruct", "runs", "report"]


def test_every_study_of_the_repository_has_the_stages_that_a_new_one_gets(root):
    layout = Layout(root)
    for study in layout.studies():
        measured = layout.definition(study) == layout.measured(study)
        examples = layout.examples(study).is_dir()
        expected = pipeline_text(study, measured=measured, examples=examples)
        assert layout.pipeline(study).read_text() == expected, (
            f"change src/virtperf/study/new/stages.yaml.j2, and write pipelines/{study}/dvc.yaml anew"
        )


def test_every_folder_of_stages_has_a_study(root):
    assert (
        sorted(path.parent.name for path in root.glob("pipelines/*/dvc.yaml"))
        == Layout(root).studies()
    )


@pytest.mark.parametrize("stage", ["reconstruct", "report"])
def test_stages_share_readings_and_the_environment_only(stage):
    deps = yaml.safe_load(pipeline_text("x"))["stages"][stage]["deps"]
    shared = [dep for dep in deps if "${study}" not in dep and not dep.startswith("src/")]
    assert shared == ["data/readings.yaml", ".python-version", "requirements.lock"]
