"""From words to raw files and back: the runs of every study give the numbers that they were made around."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.conftest import ROOT
from virtperf.core.params import load_parameters
from virtperf.core.paths import Layout
from virtperf.core.provenance import Provenance
from virtperf.core.stage_tables import AUDITS, OBSERVATIONS, TRUTH_VALUES
from virtperf.simulate.load import load_raw
from virtperf.simulate.plan import plan_runs
from virtperf.study.definition import load_study

STUDIES = sorted(path.parent.name for path in (ROOT / "data" / "published").glob("*/raw.yaml"))
CLOSE = 0.04
"""Replicates differ by 0.5 %, samples by 2 %; an observation and the reference point that it is divided by vary both."""


@pytest.fixture(scope="module", params=STUDIES)
def recovered(request):
    """The simulated runs of a study as the pipeline wrote and read them: observations with their truth, audits."""
    layout, name = Layout(ROOT), request.param
    if not (layout.runs(name) / OBSERVATIONS.file).exists():
        pytest.skip("the pipeline has not run: `dvc repro` first")
    study = load_study(layout.definition(name))
    parameters = load_parameters(layout.parameters)
    known = TRUTH_VALUES.read(layout.reconstructed(name) / TRUTH_VALUES.file)
    centre = {study.quantity(row.quantity): row.value for row in known.itertuples()}
    raw = load_raw(study, parameters.reconstruct)
    plans = plan_runs(study, raw.borrow, centre, parameters.reconstruct.replicates)
    truth = {plan.run_id: plan.condition.truth for plan in plans}
    index = json.loads((layout.samples(name) / "index.json").read_text())
    runs = [run for run in index["runs"] if run["provenance"] == Provenance.SIMULATED]
    assert {run["run_id"] for run in runs} == set(truth) and not index["quarantined"]
    assert not [
        run["run_id"]
        for run in runs
        if run["warnings"] or any(file["warnings"] for file in run["files"])
    ]
    seen = OBSERVATIONS.read(layout.runs(name) / OBSERVATIONS.file, tuple(study.factors)).query(
        "run_id in @truth"
    )
    relative = seen["quantity"].map(lambda quantity: bool(study.quantities[quantity].references))
    seen = seen.assign(
        truth=[truth[r.run_id].get(r.quantity, np.nan) for r in seen.itertuples()],
        seen=seen["relative"].where(relative, seen["value"]),
    )
    return study, seen, AUDITS.read(layout.runs(name) / AUDITS.file).query("run_id in @truth")


def test_every_true_number_is_observed(recovered):
    _, seen, _ = recovered
    known = seen[seen["truth"].notna()]
    assert len(known) > 10
    missing = known[known["seen"].isna()]
    assert missing.empty, missing[["run_id", "quantity", "note"]].to_string()


def test_observations_give_the_truth_back(recovered):
    study, seen, _ = recovered
    known = seen[seen["truth"].notna() & seen["seen"].notna()]
    finest = known["quantity"].map(lambda name: study.quantities[name].resolution)
    # borrowed numbers are true under another condition; what is compared here is what the run was made around
    wrong = known[
        (known["seen"] - known["truth"]).abs() > np.maximum(CLOSE * known["truth"].abs(), finest)
    ]
    assert wrong.empty, wrong[["run_id", "quantity", "seen", "truth", "note"]].to_string()


def test_simulated_runs_pass_the_audits(recovered):
    _, _, audits = recovered
    assert len(audits) > 10
    rare = audits["audit"].isin(
        ["warm-up"]
    )  # which finds a late one by chance in one of a hundred series
    assert not rare.any() or (audits.loc[rare, "status"] == "ok").mean() > 0.9
    failed = audits[~rare & (audits["status"] != "ok")]
    assert (failed["audit"] == "response-time law").all(), (
        failed.to_string()
    )  # where the paper contradicts it
