"""Order of the stages in dvc.yaml."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rawperf.core.errors import StudyError
from tests.cases import each_case
from tests.dvc_stages import Stage, in_order, load_stages
from tests.pipeline.conftest import SITE, STAGES
from virtperf.core.paths import Layout
from virtperf.pipeline.stages import are_independent, is_nothing_made, stage_names

ROOT = Path(__file__).parents[2]


def stage(name: str, deps: str, outs: str, study: str = "a") -> Stage:
    return Stage(study, name, (), tuple(deps.split()), tuple(outs.split()))


@each_case("study", Layout(ROOT).studies())
def test_stages_are_listed_in_execution_order(study):
    stages = load_stages(ROOT)
    assert in_order(stages, study)
    own = [stage for stage in stages if stage.study == study]
    assert len(own) > 1 and not in_order(own[::-1], study)


def test_stage_names_are_those_of_dvc(root):
    listed = subprocess.run(
        [sys.executable, "-m", "dvc", "stage", "list", "--name-only"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    assert stage_names(root) == listed.stdout.split()


@each_case(
    ("matrix", "problem"),
    [
        ("{study: [a, b]}", "dvc.yaml: unknown form of a matrix"),
        ("{study: '${a}', kind: '${b}'}", "dvc.yaml: unknown form of a matrix"),
        ("{study: '${studies.measured}'}", "params.yaml: there is no list studies.measured"),
    ],
)
def test_unknown_lists_of_studies_are_errors(tmp_path_factory, matrix, problem):
    folder = tmp_path_factory.mktemp("stages")
    (folder / "dvc.yaml").write_text(f"stages: {{x: {{cmd: x, matrix: {matrix}}}}}\n")
    (folder / "params.yaml").write_text("studies: {papers: [a]}\n")
    with pytest.raises(StudyError) as raised:
        stage_names(folder)
    assert str(raised.value).startswith(problem)


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
    first, second = STAGES.removeprefix("stages:\n").split("  second:")
    (repository / "dvc.yaml").write_text(f"stages:\n  second:{second}{first}{SITE}")
    assert pipeline(repository) == ""
    assert (repository / "ran.log").read_text().split()[:2] != ["a-2.txt", "a-1.txt"]
    assert (repository / "out" / "a-2.txt").read_text() == "text of a"


def test_lock_lists_the_stages_in_their_order(root):
    assert list(yaml.safe_load((root / "dvc.lock").read_text())["stages"]) == stage_names(root)


def test_nothing_is_made_before_the_first_run(repository, pipeline):
    assert is_nothing_made(repository)
    pipeline(repository, "a")
    assert not is_nothing_made(repository)


@pytest.mark.parametrize(
    ("deps", "expected"),
    [("[out]", True), ("[out, site.txt]", False), ("[other.txt]", True), ("['.']", False)],
)
def test_shared_stages_that_need_each_other_are_told_apart(repository, deps, expected):
    stages = (repository / "dvc.yaml").read_text()
    (repository / "dvc.yaml").write_text(
        f"{stages}  index: {{cmd: x, deps: {deps}, outs: [index.txt]}}\n"
    )
    assert are_independent(repository, ["site", "index"]) is expected
