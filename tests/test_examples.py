"""The made-up runs of `data/measured/<study>/examples`: read and summarized, they give back the truth that they were drawn around.

Tolerance
---------
The files were made with this noise (`data/measured/<study>/examples/README.md`): one factor for each run with a coefficient of variation
of 0.005, and samples with 0.02 at ten seconds, less at longer intervals, correlated by 0.4 with their neighbours. The mean
of n samples has ``cv * sqrt((1 + 0.4) / (1 - 0.4) / n)``. The least precise means are those of ten to fifteen samples of a
minute (``0.02 * sqrt(10 / 60)`` each, 0.0035 to 0.0040 together) and the sum over sixteen independent processes of one
sample each (0.02 / 4 = 0.005). So a mean over k runs has a standard deviation of at most ``sqrt((0.005^2 + 0.005^2) / k)``,
a ratio of two such means at most sqrt(2) times as much. Three standard deviations are allowed: 2.1 % of a run, 3.0 % of
the ratio of two runs, 1.2 % and 1.7 % where there are three runs of a condition.
"""

from __future__ import annotations

import functools
import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
import yaml
from scipy import stats

from virtperf.core.estimate import Estimate
from virtperf.core.stage_tables import AUDITS, MEANS
from virtperf.runs.ingest.folder import run_folders
from virtperf.runs.ingest.stage import IngestSummary, ingest
from virtperf.runs.summarize.stage import summarize
from virtperf.study.conditions import means_by_quantity
from virtperf.study.definition import Study, load_study

RUN_CV = 0.005
MEAN_CV = 0.005
"""Largest coefficient of variation of a run's mean due to noise within the run; see above."""
STANDARD_DEVIATIONS = 3

FORMATS = {
    "dcss-2011": {
        "cms-console",
        "iwl-console",
        "iwl-xml",
        "perfkit",
        "sar",
        "swapon",
        "swingbench",
        "time",
    },
    "was-stacking-2012": {"cms-console", "iwl-console", "perfkit", "ps", "sar"},
    "zvm-update-2011": {"awm-bytes", "perfkit", "vswitch-bytes"},
    "zvm-xen-2009": {"iwl-console", "iwl-xml", "netstat", "perfkit", "sar", "xentop"},
    "zvm63-overcommit-2014": {
        "fio",
        "iwl-console",
        "java-throughput",
        "meminfo",
        "perfkit",
        "swingbench",
        "uperf",
    },
}
"""Raw formats of each paper's tools that occur in its examples."""
CAMPAIGN = "zvm-xen-2009"
CAMPAIGN_FIGURES = ("figure-5", "figure-6", "figure-7", "figure-8", "figure-9")
REPLICATES = 3
ALLOWED_BYTES = dict.fromkeys(FORMATS, 300_000) | {CAMPAIGN: 1_500_000}
RESPONSE_TIME_LAW, WARM_UP = "response-time law", "warm-up"
CLIENTS_PER_TRIPLET, GUESTS_PER_TRIPLET = 4, 3
AUDIT_TOLERANCE = 0.02
FALSE_ALARMS = 0.02
"""Share of steady series for which the warm-up audit finds no steady state: at most that of the two tests (drift,
step) of `summarize.steady.stationarity` at 0.01 each.
"""

Key = tuple[str, str]
"""A quantity key and a scale."""


class Recovered(NamedTuple):
    """Results of the stages for a study's example runs."""

    study: Study
    folder: Path
    done: IngestSummary
    listed: dict
    means: dict[Key, Estimate]
    audits: pd.DataFrame
    truth: dict[Key, float]


@pytest.fixture(scope="module")
def recoveries(root, tmp_path_factory) -> Callable[[str], Recovered]:
    return functools.cache(lambda study: recover(study, root, tmp_path_factory.mktemp(study)))


@pytest.fixture(scope="module", params=sorted(FORMATS))
def recovered(request, recoveries) -> Recovered:
    return recoveries(request.param)


@pytest.fixture(scope="module")
def campaign(recoveries) -> Recovered:
    return recoveries(CAMPAIGN)


def recover(study_id: str, root: Path, out: Path) -> Recovered:
    study = load_study(root / "data" / "published" / study_id)
    folder = root / "data" / "measured" / study_id / "examples"
    metrics = root / "src" / "rawperf" / "metrics.yaml"
    done = ingest(study, {"example": folder}, metrics, out / "samples", out / "cache", jobs=1)
    summarize(study, out / "samples", out / "runs", level=0.95, jobs=1)
    factors = tuple(study.factors)
    found = means_by_quantity(study, MEANS.read(out / "runs" / MEANS.file, factors))
    assert {provenance for _, provenance, _ in found} == {"example"}
    table = pd.read_csv(folder / "truth.csv")
    keys = zip(table["quantity"], table["scale"], strict=True)
    return Recovered(
        study,
        folder,
        done,
        json.loads((out / "samples" / "index.json").read_text()),
        {(quantity.key(), scale): mean for (quantity, _, scale), mean in found.items()},
        AUDITS.read(out / "runs" / AUDITS.file),
        dict(zip(keys, table["value"], strict=True)),
    )


def tolerance(mean: Estimate, scale: str) -> float:
    """Largest relative deviation explained by noise."""
    of_run = math.hypot(RUN_CV, MEAN_CV)
    ratio = math.sqrt(2) if scale == "relative" else 1.0
    return STANDARD_DEVIATIONS * ratio * of_run / math.sqrt(mean.n)


def test_every_run_is_read_without_a_warning(recovered: Recovered):
    folders = {run.name for run in run_folders(recovered.folder)}
    assert recovered.done.quarantined == []
    assert {run["run_id"] for run in recovered.listed["runs"]} == folders
    parts = [part for run in recovered.listed["runs"] for part in (run, *run["files"])]
    assert [warning for part in parts for warning in part["warnings"]] == []


def test_every_run_is_marked_as_made_up(recovered: Recovered):
    for run in run_folders(recovered.folder):
        with run.opened() as folder:
            run_yaml = yaml.safe_load((folder / "run.yaml").read_text())
        assert run_yaml["run"].startswith("example-")
        assert run_yaml["provenance"] == "example"
        assert "nothing in it was measured" in run_yaml["notes"]
    page = " ".join((recovered.folder / "README.md").read_text().split())
    assert "Nothing in this folder was measured" in page


def test_all_formats_of_the_papers_occur(recovered: Recovered):
    found = {file["format"] for run in recovered.listed["runs"] for file in run["files"]}
    assert found == FORMATS[recovered.study.id]


def test_runs_recover_the_truth(recovered: Recovered):
    assert recovered.means.keys() == recovered.truth.keys()
    apart = {
        key: (mean.value, recovered.truth[key])
        for key, mean in recovered.means.items()
        if not math.isclose(
            mean.value, recovered.truth[key], rel_tol=0, abs_tol=limit(recovered, key)
        )
    }
    assert apart == {}


def limit(recovered: Recovered, key: Key) -> float:
    return tolerance(recovered.means[key], key[1]) * abs(recovered.truth[key])


def test_audits_report_known_problems_and_few_others(recovered: Recovered):
    violated = recovered.audits[recovered.audits["status"] != "ok"]
    assert set(violated["audit"]) <= {RESPONSE_TIME_LAW, WARM_UP}
    broken = violated.loc[violated["audit"] == RESPONSE_TIME_LAW, "run_id"]
    assert set(broken) == (law_breakers(recovered) if recovered.study.id == CAMPAIGN else set())
    asked = int((recovered.audits["audit"] == WARM_UP).sum())
    assert (violated["audit"] == WARM_UP).sum() <= stats.binom.ppf(0.999, asked, FALSE_ALARMS)


def law_breakers(recovered: Recovered) -> set[str]:
    """Runs whose true throughput and response time violate the response time law."""
    found = set()
    for run in recovered.listed["runs"]:
        throughput, response = (
            recovered.truth[recovered.study.quantity_at(name, run["factors"]).key(), "own"]
            for name in ("throughput", "response_time")
        )
        clients = CLIENTS_PER_TRIPLET * run["factors"]["guests"] / GUESTS_PER_TRIPLET
        if abs(throughput * response / clients - 1) > AUDIT_TOLERANCE:
            found.add(run["run_id"])
    return found


def test_examples_are_small(recovered: Recovered):
    size = sum(path.stat().st_size for path in recovered.folder.rglob("*") if path.is_file())
    assert size < ALLOWED_BYTES[recovered.study.id]


def test_campaign_has_every_condition_of_its_figures(campaign: Recovered):
    study = campaign.study
    runs = Counter(tuple(run["factors"].items()) for run in campaign.listed["runs"])
    planned = {
        tuple(quantity.at)
        for figure in CAMPAIGN_FIGURES
        for _, _, quantity in study.points(study.exhibit(figure))
    }
    assert runs == dict.fromkeys(planned, REPLICATES)


def test_campaign_intervals_cover_the_truth(campaign: Recovered):
    # throughput only: other quantities share the runs' noise factor and are dependent
    covered = [
        mean.low <= campaign.truth[key] <= mean.high
        for key, mean in campaign.means.items()
        if key[0].startswith("throughput[") and key[1] == "own"
    ]
    assert sum(covered) >= stats.binom.ppf(0.001, len(covered), 0.95)
