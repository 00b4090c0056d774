"""The list of studies in dvc.yaml: one line more, everything else as it was."""

from __future__ import annotations

import pytest

from tests.new_study.conftest import PIPELINE
from virtperf.core.errors import StudyError
from virtperf.new_study.pipeline import listed_studies, with_study


def test_one_line_is_added_and_comments_stay(layout):
    path = layout.root / "dvc.yaml"
    assert listed_studies(path) == {"reconstruct": ["first"], "ingest": ["first"]}
    made = with_study(path, "second")
    assert made == PIPELINE.replace(
        "      - first   # the oldest one\n", "      - first   # the oldest one\n      - second\n"
    )
    path.write_text(made)
    assert listed_studies(path) == {"reconstruct": ["first", "second"], "ingest": ["first", "second"]}


def test_lists_that_are_written_twice_are_both_lengthened(layout):
    path = layout.root / "dvc.yaml"
    path.write_text(PIPELINE.replace("&studies", "").replace("foreach: *studies", "foreach:\n    - first"))
    path.write_text(with_study(path, "second"))
    assert listed_studies(path) == {"reconstruct": ["first", "second"], "ingest": ["first", "second"]}


def test_the_repositorys_own_pipeline_can_be_lengthened(root):
    path = root / "dvc.yaml"
    made = with_study(path, "a-new-one").splitlines()
    assert [line for line in made if line.strip() != "- a-new-one"] == path.read_text().splitlines()
    assert len(made) == len(path.read_text().splitlines()) + 1


@pytest.mark.parametrize(
    ("text", "study", "message"),
    [
        (PIPELINE, "first", "'first' is listed already"),
        (
            PIPELINE.replace("&studies\n      - first   # the oldest one", "&studies [first]"),
            "x",
            "not written one a line",
        ),
        ("stages:\n  site:\n    cmd: x\n", "x", "no stage runs for a list of studies"),
        ("vars: []\n", "x", "there are no stages"),
        ("stages: [", "x", "not valid YAML"),
    ],
)
def test_what_can_not_be_lengthened_is_refused(layout, text, study, message):
    path = layout.root / "dvc.yaml"
    path.write_text(text)
    with pytest.raises(StudyError, match=message):
        with_study(path, study)
