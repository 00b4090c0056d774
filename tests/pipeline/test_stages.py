"""Order of the stages in dvc.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.dvc_stages import Stage, in_order, load_stages
from tests.pipeline.conftest import STAGES

ROOT = Path(__file__).parents[2]


def stage(name: str, deps: str, outs: str, study: str = "a") -> Stage:
    return Stage(Path("dvc.yaml"), study, name, (), tuple(deps.split()), tuple(outs.split()))


@pytest.mark.parametrize(
    "study", sorted(path.parent.name for path in ROOT.glob("pipelines/*/dvc.yaml"))
)
def test_stages_are_listed_in_execution_order(study):
    stages = load_stages(ROOT)
    assert in_order(stages, study)
    own = [stage for stage in stages if stage.study == study]
    assert not in_order(own[::-1], study)


@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        ([stage("first", "in", "out/runs"), stage("second", "out/runs/1.txt", "end")], True),
        ([stage("second", "out/runs/1.txt", "end"), stage("first", "in", "out/runs")], False),
        ([stage("second", "out", "end"), stage("first", "in", "out/runs")], False),
        ([stage("only", "other/end", "end"), stage("only", "in", "other", "b")], False),
        ([stage("only", "others", "end"), stage("only", "in", "other", "b")], True),
    ],
)
def test_stage_inputs_must_be_made_earlier(stages, expected):
    assert in_order(stages, "a") is expected


def test_stages_in_any_order_run_in_dependency_order(repository, pipeline):
    head, first, second = STAGES.format(study="a").partition("  first:")
    first, between, second = (first + second).partition("  second:")
    (repository / "pipelines" / "a" / "dvc.yaml").write_text(head + between + second + first)
    assert pipeline(repository) == ""
    assert (repository / "ran.log").read_text().split()[:2] != ["a-2.txt", "a-1.txt"]
    assert (repository / "out" / "a-2.txt").read_text() == "text of a"


def test_dvc_locks_have_no_removed_stages(root):
    for lock in [*sorted(root.glob("pipelines/*/dvc.lock")), root / "dvc.lock"]:
        stages = yaml.safe_load(lock.with_name("dvc.yaml").read_text())["stages"]
        assert yaml.safe_load(lock.read_text())["stages"].keys() <= stages.keys(), lock
