"""Experiments of a plan, and the difference that hypotheses can detect with it."""

from __future__ import annotations

import numpy as np
import pytest

from virtperf.core.contrasts import Replicates
from virtperf.measure.overview import experiment_overviews, hypothesis_overviews
from virtperf.measure.plan import plan
from virtperf.models.power import power
from virtperf.study.claim_kinds import parse_claim

CLAIMS = {
    "ratio": {"kind": "ratio", "of": "load[guests=2]", "to": "load[guests=1]", "low": 1.1},
    "unplanned": {"kind": "ordering", "order": ["load[guests=1]", "load[guests=4]"]},
    "level": {"kind": "range", "of": "load", "low": 1, "for_each": {"guests": [1, 2]}},
}


@pytest.fixture
def planned(repository):
    repository.write(
        replicates=6,
        monitors=[{"preset": "vmstat"}],
        experiments=[
            {"name": "cpu", "over": {"guests": [1, 2]}},
            {"name": "mode", "at": {"guests": 1, "mode": "a b; touch x"}, "replicates": 2},
        ],
    )
    made = repository.harness()
    return made.study, plan(made.definition, made.study)


def claims(study):
    for name, fields in CLAIMS.items():
        claim = parse_claim({"id": name, "says": "a hypothesis", **fields})
        yield claim.model_copy(update={"instances": claim.expand(study)})


def test_experiments_with_conditions_and_declared_files(planned):
    _, runs = planned
    cpu, mode = experiment_overviews(runs)
    assert (cpu.conditions, cpu.blocks, len(cpu.runs)) == (2, 6, 12)
    assert (mode.conditions, mode.blocks, len(mode.runs)) == (1, 2, 2)
    assert cpu.varied == {"guests": (1, 2)}
    assert (mode.varied, mode.fixed) == ({}, {"guests": 1, "mode": "a b; touch x"})
    assert cpu.files == ("host/vmstat.txt",)


def test_detectable_difference_follows_from_the_spread_of_earlier_runs(planned):
    study, runs = planned
    of = {n: study.expression(f"load[guests={n}]", {}).terms[0][1] for n in (1, 2)}
    values = {1: [9.0, 10, 11], 2: [19.0, 20, 21, 20]}
    samples = {of[n]: Replicates(np.array(v), ("",) * len(v)) for n, v in values.items()}
    ratio, unplanned, level = hypothesis_overviews(study, claims(study), runs, samples)
    assert ratio.compares == "load[guests=2] with load[guests=1]"
    assert (ratio.blocks, ratio.earlier) == (6, 7)
    # squares of relative deviations: 2 * 0.1**2 + 2 * 0.05**2, of 2 + 3 degrees of freedom
    assert ratio.cv == pytest.approx((0.025 / 5) ** 0.5)
    assert power(6, cv=ratio.cv, effect=ratio.effect) == pytest.approx(0.8)
    assert unplanned.missing.startswith("load[guests=4, ")
    assert unplanned.effect is None
    assert (level.compared, level.blocks, level.effect) == (False, 6, None)
    assert level.compares == "load, for guests 1, 2"


def test_without_earlier_runs_the_difference_is_unknown(planned):
    study, runs = planned
    ratio, *_ = hypothesis_overviews(study, claims(study), runs, {})
    assert (ratio.blocks, ratio.cv, ratio.effect) == (6, None, None)
