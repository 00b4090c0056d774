"""Runs without a clock: independent numbered samples, totals, damaged files."""

from __future__ import annotations

import json

import numpy as np
import pytest
import yaml

from rawperf.core.errors import StudyError
from tests.toy_boots import Boots, boots, drawn
from virtperf.core.estimate import COUNTED, INDEPENDENT, ORDERED
from virtperf.core.stage_tables import (
    CLAIMS,
    DISTRIBUTIONS,
    LINEAGE,
    MEANS,
    OBSERVATIONS,
    SAMPLES,
    SERIES,
)
from virtperf.study.claims import load_claims
from virtperf.verdicts.judgement import judge


@pytest.fixture
def place(tmp_path, root):
    return Boots(tmp_path, root)


def test_damaged_files_are_reported_and_others_continue(place):
    good = boots(drawn()).splitlines(keepends=True)
    place.add("good", "".join(good), lines=1000)
    place.add("damaged", "".join([*good[:499], "10x34\n", *good[500:]]), lines=1000)
    place.add("third-column", "".join([*good[:699], "109000 110\n", *good[700:]]), lines=1000)
    place.add("truncated", "".join(good[:700]), lines=1000)
    place.add("cut", "".join(good)[:-3], lines=1000)
    refused = place.read()
    assert sorted(refused) == ["cut", "damaged", "third-column", "truncated"]
    for name, line, found in (("damaged", 500, "10x34"), ("third-column", 700, "109000 110")):
        assert (refused[name]["file"], refused[name]["line"]) == (f"{name}/boots.dat", line)
        assert refused[name]["found"] == found
    assert refused["truncated"]["expected"] == "last line 1000"
    assert refused["truncated"]["found"] == "last line 700"
    assert refused["cut"]["found"] == "last line 999"
    assert len(SAMPLES.read(place.samples / "good.parquet")) == 1000


def test_samples_keep_numbers_and_statistics_have_exact_intervals(place):
    x = drawn()
    place.add("a", boots(x))
    place.read()
    samples = SAMPLES.read(place.samples / "a.parquet")
    assert samples["t_s"].tolist() == list(range(1, 1001))
    found = place.table(MEANS).set_index("quantity")
    ordered = np.sort(x)
    # ranks of binomial(1000, share): 469 and 532 for the median, 983 and 996 for 0.99
    assert found.loc["median", ["value", "low", "high"]].tolist() == pytest.approx(
        [ordered[499], ordered[468], ordered[531]]
    )
    assert found.loc["p99", ["value", "low"]].tolist() == pytest.approx(
        [np.quantile(x, 0.99, method="inverted_cdf"), ordered[982]]
    )
    assert found.loc["slow", "value"] == pytest.approx(100 * np.mean(x > 125))
    assert found.loc["average", "se"] == pytest.approx(x.std(ddof=1) / np.sqrt(1000))
    assert found["n"].tolist() == [1000] * 5
    assert found["method"].to_dict() == {
        "median": ORDERED,
        "p99": ORDERED,
        "spread": ORDERED,
        "average": INDEPENDENT,
        "slow": COUNTED,
    }


def test_sample_size_is_the_number_of_runs(place):
    place.add("a1", boots(drawn(1)))
    place.add("a2", boots(drawn(2)))
    place.read()
    found = place.table(MEANS).set_index("quantity")
    assert (found.loc["median", "n"], found.loc["median", "method"]) == (2, "runs")


def test_component_sums_omit_the_factor_level(place):
    place.add("m", "131072 rw-s-\n2048 rw---\n1724 r-x--\n".replace("s", "-"), "p.map", size=128)
    assert not place.read()
    found = place.table(MEANS).set_index("quantity").loc["overhead"]
    assert (found["value"], found["n"]) == (2.0, 1)
    assert np.isnan(found["low"])


def test_distribution_is_sorted_and_lineage_has_lines(place):
    x = drawn()
    place.add("a", boots(x))
    place.add("b", boots(2 * x), monitor="b")
    place.add("a-small", boots(x + 1), machine="small")
    place.read()
    found = place.table(DISTRIBUTIONS)
    parts = dict(list(found.groupby("series")))
    assert sorted(parts) == ["A", "B"]
    assert set(parts["A"]["run_id"]) == {"a"}
    assert parts["A"]["value"].tolist() == pytest.approx(np.sort(x).tolist())
    lineage = LINEAGE.read(place.made / LINEAGE.file)
    own = lineage[(lineage["run_id"] == "a") & (lineage["quantity"] == "median")].iloc[0]
    assert (own["first_line"], own["last_line"], own["samples"]) == (1, 1000, 1000)
    series = SERIES.read(place.made / SERIES.file, tuple(place.study.factors))
    assert series["n"].tolist() == [1000] * 3


def test_claims_are_judged_by_samples_or_a_single_run(place):
    place.add("a", boots(drawn()))
    place.add("b", boots(drawn(2, centre=210.0)), monitor="b")
    place.add("m", "133120 rw\n", "p.map", size=128)
    place.add("m-small", "134144 rw\n", "p.map", size=128, machine="small")
    place.read()
    found = place.judged()
    assert found["measured_verdict"].to_dict() == {
        "a-below-125": "reproduced",
        "a-before-b": "reproduced",
        "overhead": "value agrees",
    }
    assert "1,000 samples per condition" in found.loc["a-below-125", "reason"]
    assert found.loc["overhead", "reason"].endswith(
        "one run gives no interval, so only the value is compared"
    )
    elsewhere = place.judged(elsewhere=("machine", "small"))
    assert elsewhere["measured_verdict"].to_dict() == {
        "a-below-125": "no measurement",
        "a-before-b": "no measurement",
        "overhead": "value differs",
    }


def test_undecided_interval_falls_back_to_the_value(place):
    place.add("a", boots([*np.linspace(100, 124, 985), *np.linspace(124.1, 150, 15)]))
    place.read()
    found = place.judged().loc["a-below-125"]
    assert found["measured_verdict"] == "value differs"
    assert "the interval extends beyond that range" in found["reason"]


def test_single_run_without_artifact_gives_no_verdict(place):
    place.add("m", "133120 rw\n", "p.map", size=128)
    place.read()
    study = place.study.model_copy(update={"artifact": None})
    found = judge(
        study, load_claims(place.study), CLAIMS.frame(), place.table(OBSERVATIONS), level=0.95
    )
    assert found.set_index("claim").loc["overhead", "measured_verdict"] == "undecided"


def test_independent_sample_statistics_are_rejected_for_time_series(place):
    place.add("a", boots(drawn()))
    path = place.runs / "a" / "run.yaml"
    document = yaml.safe_load(path.read_text())
    document |= {"duration_s": 2000.0, "warmup_s": 0.0, "window_s": [0.0, 2000.0]}
    document["files"] = [{"path": "boots.dat", "start_s": 1.0, "interval_s": 1.0}]
    path.write_text(yaml.safe_dump(document))
    assert not place.read()
    with pytest.raises(StudyError, match="interquartile needs independent samples"):
        place.table(MEANS)


def test_run_has_all_of_its_times_or_none(place):
    place.add("a", boots(drawn()))
    path = place.runs / "a" / "run.yaml"
    path.write_text(path.read_text() + "duration_s: 10.0\n")
    assert "warmup_s and window_s missing" in place.read()["a"]["problem"]


def test_empty_files_are_reported_and_not_replicates(place):
    place.add("e1", "", "empty.txt")
    place.add("e2", "", "empty.txt", monitor="b")
    assert not place.read()
    index = json.loads((place.samples / "index.json").read_text())
    assert [run["files"][0]["warnings"] for run in index["runs"]] == [
        ["not read: the file is empty"]
    ] * 2
    assert place.table(MEANS).empty


def test_run_without_start_has_values_but_no_day(place):
    place.add("a", boots(drawn()))
    described = place.runs / "a" / "run.yaml"
    document = yaml.safe_load(described.read_text())
    del document["start"]
    described.write_text(yaml.safe_dump(document))
    assert place.read() == {}
    found = place.table(OBSERVATIONS).set_index("quantity")
    assert np.isfinite(found.loc["median", "value"])
    assert found.loc["median", "day"] == ""
