"""Every entry of the catalogue can be called, and says what its module says."""

from __future__ import annotations

import numpy as np
import pytest

from rawperf.core.errors import ModelError
from validation.curves import throughput
from virtperf.models.catalog import CATALOG, CURVE, FACTORS, FAMILIES, SERIES, Options, Sample
from virtperf.models.ratio import ratio_of_means
from virtperf.models.reports import Report
from virtperf.models.reports import run as run_with
from virtperf.models.tost import tost_difference
from virtperf.models.usl import fit_usl

LOAD = np.array([1.0, 2, 4, 8, 16, 24, 32])
NOISE = 0.03 * np.array([1, -1, 2, -2, 1, -1, 0.5])


def run(name: str, samples: list[Sample], **options: object) -> Report:
    return run_with(name, samples, Options(**options))


def curve(gamma: float = 10.0, alpha: float = 0.03, beta: float = 0.002, label: str = "") -> Sample:
    return Sample(label, throughput(LOAD, np.array([alpha, beta, gamma])) + NOISE, LOAD)


def replicates(mean: float, label: str) -> Sample:
    return Sample(label, mean + np.array([-1.0, 0.0, 0.5, 1.0, -0.5]))


def crossed() -> Sample:
    """Two systems crossed with three workloads, three runs each."""
    factors = {"system": ["a"] * 9 + ["b"] * 9, "workload": [1, 1, 1, 2, 2, 2, 3, 3, 3] * 2}
    base = np.repeat([10.0, 20, 30, 12, 24, 33], 3)
    return Sample("", base + np.tile([0.1, -0.2, 0.15], 6), factors=factors, name="runtime")


@pytest.mark.parametrize("name", CATALOG)
def test_every_model_runs(name):
    model = CATALOG[name]
    if model.takes in (CURVE, FAMILIES):
        samples = [curve()]
    elif model.takes == SERIES:
        y = np.append(curve().y, 3 * curve().y)
        samples = [Sample("", y, order=[f"r{k}" for k in range(len(y))])]
    elif model.takes == FACTORS:
        samples = [crossed()]
    else:
        samples = [replicates(100, "a"), replicates(101, "b")]
    at = (8.0,) if model.takes == CURVE else ()
    report = run(name, samples, alpha=0.1, margin=1.5 if model.margin else None, at=at)
    found = report.parameters | report.quantities
    assert found or report.table
    if at:
        (row,) = report.table
        assert row["mean_low"] <= row["value"] <= row["mean_high"]
    assert all(e.low <= e.value <= e.high for e in found.values())
    assert all(e.level == pytest.approx(0.8 if model.margin else 0.9) for e in found.values())
    assert report.errors.keys() == report.parameters.keys()
    assert report.rows == sum(len(s.y) for s in samples)


def test_the_law_and_its_derived_quantities_are_those_of_the_module():
    sample = curve()
    report = run("usl", [sample], alpha=0.05)
    fit = fit_usl(sample.x, sample.y)
    assert report.parameters["beta"] == fit.estimate("beta")
    assert report.quantities["peak_load"] == fit.peak_load()
    assert report.quantities["efficiency_at_largest_load"] == fit.efficiency(32)
    assert report.verdict == ""


def test_scalability_says_which_curve_it_is():
    assert run("scaling", [curve()], alpha=0.05).verdict == "usl"
    straight = Sample("", 10 * LOAD + NOISE, LOAD)
    report = run("scaling", [straight], alpha=0.05)
    assert report.verdict == "linear"
    assert any(w.startswith("no peak_load") for w in report.warnings)


def test_a_ratio_has_the_first_group_on_top():
    a, b = replicates(120, "a"), replicates(100, "b")
    assert run("ratio", [a, b], alpha=0.05).quantities["ratio"] == ratio_of_means(a.y, b.y)
    assert run("ratio", [b, a], alpha=0.05).quantities["ratio"].value == pytest.approx(100 / 120)
    paired = run("ratio", [a, b], alpha=0.05, paired=True).quantities["ratio"]
    assert paired == ratio_of_means(a.y, b.y, paired=True)


def test_an_equivalence_has_a_verdict():
    a, b = replicates(100, "a"), replicates(100.1, "b")
    report = run("equivalence", [a, b], alpha=0.05, margin=2.0)
    assert report.verdict == "equivalent"
    assert report.tests["equivalence"]["pvalue"] == tost_difference(a.y, b.y, 2.0).pvalue


def test_lack_of_fit_needs_replicates_and_is_left_out_without_them():
    assert "lack_of_fit" not in run("line", [curve()], alpha=0.05).tests
    twice = Sample("", np.append(curve().y, curve().y + 0.1), np.append(LOAD, LOAD))
    assert run("line", [twice], alpha=0.05).tests["lack_of_fit"]["pvalue"] < 0.05


@pytest.mark.parametrize(
    ("name", "samples", "options", "message"),
    [
        ("uls", [curve()], {}, "there is no model 'uls'"),
        ("usl", [curve(), curve()], {}, r"usl takes 1 group\(s\)"),
        ("ratio", [replicates(1, "a")], {}, r"ratio takes 2 group\(s\)"),
        ("equivalence", [replicates(1, "a"), replicates(1, "b")], {}, "equivalence needs margin"),
        (
            "ratio",
            [replicates(1, "a"), replicates(1, "b")],
            {"margin": 2.0},
            "ratio takes no margin",
        ),
        ("usl", [curve()], {"paired": True}, "usl has no pairs"),
        ("ratio", [replicates(1, "a"), replicates(1, "b")], {"at": (3.0,)}, "ratio is no curve"),
        ("line", [curve()], {"processors": 8.0}, "line knows nothing of processors"),
    ],
)
def test_what_does_not_fit_a_model_is_refused(name, samples, options, message):
    with pytest.raises(ModelError, match=message):
        run(name, samples, **{"alpha": 0.05, **options})


def test_a_prediction_beyond_the_tested_range_is_a_warning():
    report = run("line", [curve()], alpha=0.05, at=(8.0, 64.0))
    assert [row["at"] for row in report.table] == [8, 64]
    assert report.table[0]["observation_low"] < report.table[0]["mean_low"]
    assert any("outside of the tested range 1 to 32" in w and "64" in w for w in report.warnings)
    weighted = Sample("", curve().y, LOAD, weights=np.ones(7))
    report = run("line", [weighted], alpha=0.05, at=(8.0,))
    assert "observation_low" not in report.table[0]
    assert any("no range of one observation" in w for w in report.warnings)


def test_families_are_in_the_order_of_aicc():
    x = np.repeat(LOAD, 3)
    y = throughput(x, np.array([0.03, 0.002, 10.0])) * np.tile([1.01, 0.99, 1.0], 7)
    report = run("families", [Sample("", y, x)], alpha=0.05)
    assert report.verdict == "USL"
    assert report.table[0]["delta"] == 0 and report.table[0]["lack_of_fit"] > 0.05
    assert [row["aicc"] for row in report.table] == sorted(row["aicc"] for row in report.table)
