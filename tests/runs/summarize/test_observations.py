"""Rules of a study for observing a quantity: entities, statistic, denominator."""

from __future__ import annotations

import numpy as np
import pytest

from rawperf.core.errors import StudyError
from virtperf.core.estimate import quotient
from virtperf.runs.summarize.observations import observe
from virtperf.runs.summarize.series import RunSeries, SampleSeries
from virtperf.runs.summarize.steady import cosine_mean, maximum, median
from virtperf.study.definition import load_study

T = np.arange(60.0, 1201, 60)
METRICS = {
    "rate": {"formats": ["x"], "kind": "gauge", "unit": "1/s"},
    "busy": {"formats": ["x"], "kind": "gauge", "unit": "processors"},
    "pages": {"formats": ["x"], "kind": "gauge", "unit": "B"},
    "took": {"formats": ["x"], "kind": "total", "unit": "s"},
}
STUDY = """\
study: observing
title: Observing
bibliography: {}
n_statements: 0
factors: {test: {levels: [a, b], default: a}}
quantities:
  observed:
    label: Observed
    unit: UNIT
    observed: OBSERVED
exhibits: []
"""


def steps(*values: float, t: np.ndarray = T) -> SampleSeries:
    return SampleSeries(t, np.resize(np.array(values, dtype=float), len(t)))


def total(value: float) -> SampleSeries:
    return SampleSeries(np.array([np.nan]), np.array([value]))


SERIES = {
    ("x", "driver", "day", "rate"): steps(10, 12),
    ("x", "driver", "book", "rate"): steps(30),
    ("x", "processor", "P0", "busy"): steps(0.5),
    ("x", "processor", "P1", "busy"): steps(1.5),
    ("x", "segment", "S", "pages"): SampleSeries(T, np.where(T == 480, 50.0, 10.0)),
    ("x", "segment", "EARLY", "pages"): SampleSeries(T, np.where(T == 240, 90.0, 1.0)),
    ("x", "command", "fill", "took"): total(12.5),
    ("x", "command", "SAVESEG A", "took"): total(7.0),
    ("x", "command", "SAVESEG B", "took"): total(8.0),
}


def seen(tmp_path, observed: str, series=SERIES, unit="1/s"):
    """The row of a quantity observed by this rule, in a run with a window from 300 s to 900 s."""
    place = tmp_path / "observing"
    place.mkdir(exist_ok=True)
    (place / "study.yaml").write_text(STUDY.replace("OBSERVED", observed).replace("UNIT", unit))
    info = {"run_id": "r", "window_s": [300, 900], "warmup_s": 300, "factors": {"test": "a"}}
    return observe(load_study(place), RunSeries(info, METRICS, series, 0.95))[0][0]


def test_all_entities_or_one(tmp_path):
    everyone = seen(tmp_path, "{from: [{metric: rate, entity_kind: driver}], combine: sum}")
    assert (everyone["value"], everyone["entities"]) == (41, 2)
    one = seen(tmp_path, "{from: [{metric: rate, entity_kind: driver, entity: day}], combine: sum}")
    assert (one["value"], one["entities"]) == (11, 1)
    nobody = seen(
        tmp_path, "{from: [{metric: rate, entity_kind: driver, entity: night}], combine: sum}"
    )
    assert np.isnan(nobody["value"]) and "no rate of a driver named night" in nobody["note"]


def test_rule_may_apply_to_some_levels(tmp_path):
    rule = "{from: [{metric: rate, entity_kind: driver}], combine: sum, at: {test: [a, b]}}"
    assert seen(tmp_path, rule)["value"] == 41
    row = seen(tmp_path, rule.replace("[a, b]", "b"))
    assert np.isnan(row["value"]) and row["note"] == "not observed in runs at these levels"
    with pytest.raises(StudyError, match="unknown level 'c' of test") as err:
        seen(tmp_path, rule.replace("[a, b]", "c"))
    assert err.value.line == 10


def test_totals_of_a_run(tmp_path):
    row = seen(
        tmp_path,
        "{from: [{metric: took, entity_kind: command, entity: fill}], combine: sum}",
        unit="s",
    )
    assert (row["value"], row["n"], row["entities"]) == (12.5, 1, 1)
    assert np.isnan(row["se"])  # a single run has no error
    several = seen(
        tmp_path,
        '{from: [{metric: took, entity_kind: command, entity: "SAVESEG *"}], combine: sum}',
        unit="s",
    )
    assert (several["value"], several["entities"]) == (15, 2)


def test_plateau_and_peak(tmp_path):
    def row(statistic):
        source = f"{{from: [{{metric: pages, entity_kind: segment, entity: S}}], combine: sum{statistic}}}"
        return seen(tmp_path, source, unit="B")

    assert row("")["value"] == pytest.approx(14)  # nine samples of 10 and one of 50
    assert row(", statistic: median")["value"] == 10
    assert row(", statistic: max")["value"] == 50
    assert np.isnan(row(", statistic: max")["se"])


def test_peak_is_taken_within_the_window(tmp_path):
    row = seen(
        tmp_path,
        "{from: [{metric: pages, entity_kind: segment, entity: EARLY}], combine: sum, statistic: max}",
        unit="B",
    )
    assert row["value"] == 1


def test_missing_samples_in_the_window_are_rejected(tmp_path):
    """Late samples, as of a swapping guest, are not representative."""
    late = np.where(T == 600, 601.0, T)
    series = SERIES | {
        ("x", "driver", "book", "rate"): SampleSeries(late, np.where(T == 600, 130.0, 30.0))
    }
    rule = "{from: [{metric: rate, entity_kind: driver}], combine: sum}"
    row = seen(tmp_path, rule, series)
    late_mean = (9 * 60 * 30 - 30 + 61 * 130) / 600  # 61 s of 130, then 59 s of 30
    assert row["value"] == pytest.approx(11 + late_mean)
    assert "sampled at different times" in row["note"]
    # irrelevant outside the window
    before = SERIES | {("x", "driver", "book", "rate"): steps(30, t=np.where(T == 60, 61.0, T))}
    row = seen(tmp_path, rule, before)
    assert (row["value"], row["note"]) == (41, seen(tmp_path, rule)["note"])


def test_peak_of_a_sum_needs_common_times(tmp_path):
    series = SERIES | {("x", "segment", "EARLY", "pages"): SampleSeries(T + 7, np.ones(len(T)))}
    rule = "{from: [{metric: pages, entity_kind: segment}], combine: sum, statistic: max}"
    assert seen(tmp_path, rule, unit="B")["value"] == 51
    row = seen(tmp_path, rule, series, unit="B")
    assert np.isnan(row["value"]) and "no statistic of their sum except the mean" in row["note"]


def test_ratio_of_two_metrics(tmp_path):
    rule = (
        "{from: [{metric: busy, entity_kind: processor}], combine: sum,"
        " per: {metric: rate, entity_kind: driver, entity: day}}"
    )
    row = seen(tmp_path, rule, unit="ms")  # processor time per counted event
    assert row["value"] == pytest.approx(1000 * 2 / 11)
    # the processors do not vary, so the relative error is that of the rate
    alone = seen(
        tmp_path, "{from: [{metric: rate, entity_kind: driver, entity: day}], combine: sum}"
    )
    assert row["se"] / row["value"] == pytest.approx(alone["se"] / alone["value"])
    assert row["low"] < row["value"] < row["high"] and row["df"] == pytest.approx(alone["df"])
    nothing = seen(tmp_path, rule.replace("entity: day", "entity: night"), unit="ms")
    assert (
        np.isnan(nothing["value"])
        and "no rate of a driver named night to divide by" in nothing["note"]
    )


def test_error_of_a_ratio():
    rng = np.random.default_rng(4)
    a, b = 50 + rng.standard_normal(400), 20 + rng.standard_normal(400)
    found = quotient(cosine_mean(a, 0.95), cosine_mean(b, 0.95))
    # relative variances add up: (1/50)^2 + (1/20)^2 over 400 samples
    assert found.se == pytest.approx(found.value * np.hypot(1 / 50, 1 / 20) / 20, rel=0.25)


def test_median_intervals_cover_the_truth():
    rng = np.random.default_rng(5)
    found = [median(rng.exponential(1.0, 50), 0.95) for _ in range(2000)]
    covered = np.mean([m.low <= np.log(2) <= m.high for m in found])
    assert 0.94 <= covered <= 0.99  # order statistics have at least nominal coverage
    spread = np.std([m.value for m in found])
    # the effective sample size is an estimate bounded by the sample size, so errors are larger on average
    assert 1 <= np.mean([m.se for m in found]) / spread <= 1.4


def test_median_of_few_samples_has_no_interval():
    found = median(np.array([3.0, 1.0, 2.0]), 0.95)
    assert (found.value, found.n) == (2.0, 3) and np.isnan([found.low, found.high, found.se]).all()
    assert maximum(np.array([3.0, 1.0, 2.0]), 0.95).value == 3.0
