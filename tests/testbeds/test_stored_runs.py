"""Stored runs are not planned again, and the files that their protocols name are where they were."""

from __future__ import annotations

import re

import pytest

from virtperf.measure.harness import Harness
from virtperf.measure.plan import load_definition, plan
from virtperf.runs.ingest.folder import run_folders
from virtperf.study.definition import load_study

STUDIES = ("kernels-2026", "linux-2026", "xen-2026")


def machine_of(study, run):
    """The level of a run that stands for its machine: other machines may still be measured."""
    return run.levels.get(study.machine_factor)


@pytest.mark.parametrize("name", STUDIES)
def test_no_stored_run_is_planned_again(root, name):
    folder = root / "data" / "measured" / name
    study = load_study(folder)
    harness = Harness(study, load_definition(folder / "measure.yaml", study), folder, root)
    planned = plan(harness.definition, study)
    machines = {machine_of(study, run) for run in planned if harness.present(run)}
    assert machines
    assert all(harness.present(run) for run in planned if machine_of(study, run) in machines)
    named = set()
    for run in run_folders(folder):
        named |= set(re.findall(r"\btestbeds/[\w-]+", run.read("run.yaml").decode()))
    assert named and all((root / path).is_dir() for path in named)
