"""Means over a window, of series whose mean over any window is known."""

from __future__ import annotations

import numpy as np
import pytest

from rawperf.registry import build_dictionary
from virtperf.core.stage_tables import SAMPLES
from virtperf.runs.summarize.distributions import run_buckets
from virtperf.runs.summarize.observations import observe
from virtperf.runs.summarize.series import (
    RunSeries,
    SampleSeries,
    evaluate,
    load_series,
    overlap,
    sample_begins,
)
from virtperf.study.definition import load_study

EDGES = np.array([0.0, 2.5, 4.0, 7.0, 12.0])
RATES = np.array([100.0, 10.0, 40.0, 70.0])
WINDOWS = [(2.0, 6.0), (2.003, 6.003), (0.5, 11.5), (3.1, 3.9), (4.0, 7.0), (2.5, 2.6)]


def total_until(t: np.ndarray | float) -> np.ndarray:
    """Integral of the piecewise constant rate from 0 to t: a cumulative counter."""
    return np.interp(t, EDGES, np.concatenate([[0.0], np.cumsum(np.diff(EDGES) * RATES)]))


def sampled(times: np.ndarray, kind: str = "counter") -> SampleSeries:
    """Rates of the counter read at these times."""
    t = times[1:]
    rates = np.diff(total_until(times)) / np.diff(times)
    return SampleSeries(t, rates, begins=sample_begins(t, kind))


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("shift", [0.0, 0.04, 0.25, 0.5, 0.96])
def test_mean_is_the_integral_of_a_counter_interpolated_at_both_ends(window, shift):
    """Read at times that cut the window and the steps of the rate anywhere."""
    times = np.arange(shift - 1.0, 13.0, 1.0)
    known = np.interp(window, times, total_until(times))
    got = evaluate(sampled(times), window, 0.95).mean.value
    assert got == pytest.approx((known[1] - known[0]) / (window[1] - window[0]), rel=1e-12)


@pytest.mark.parametrize("step", [0.5, 0.25])
@pytest.mark.parametrize("window", WINDOWS)
def test_mean_is_exact_where_no_sample_contains_a_step(window, step):
    times = np.arange(0.0, 12.0 + step / 2, step)
    exact = np.diff(total_until(np.array(window)))[0] / (window[1] - window[0])
    assert evaluate(sampled(times), window, 0.95).mean.value == pytest.approx(exact, rel=1e-12)


def test_irregular_readings_of_a_counter_weigh_by_their_length():
    times = np.array([0.0, 1.0, 2.5, 4.0, 4.2, 7.0, 9.0, 12.0])
    for window in WINDOWS:
        exact = np.diff(total_until(np.array(window)))[0] / (window[1] - window[0])
        assert evaluate(sampled(times), window, 0.95).mean.value == pytest.approx(exact)


def test_gap_of_a_gauge_has_no_weight_and_that_of_a_counter_is_covered():
    """Readings at 5 and 6 s are lost: the rate at 7 s is a mean of 7 - 4 s only for a counter."""
    times = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 7.0, 8.0])
    window = (2.0, 8.0)
    exact = np.diff(total_until(np.array(window)))[0] / 6
    assert evaluate(sampled(times), window, 0.95).mean.value == pytest.approx(exact)
    gauge = SampleSeries(times[1:], np.array([1.0, 1.0, 1.0, 1.0, 5.0, 9.0]))
    assert evaluate(gauge, window, 0.95).mean.value == pytest.approx((1 + 1 + 5 + 9) / 4)
    assert gauge.overlap(window).seconds.tolist() == [0, 0, 1, 1, 1, 1]


def test_event_counts_once_in_one_of_adjacent_windows():
    t = np.array([1.0, 1.1, 3.0, 4.0, 9.0])
    took = SampleSeries(t, np.array([1.0, 3.0, 5.0, 7.0, 99.0]), begins=sample_begins(t, "event"))
    assert evaluate(took, (0.0, 3.0), 0.95).mean.value == pytest.approx(3.0)
    first, second = (overlap(t, window, t).inside for window in ((0.0, 3.0), (3.0, 9.0)))
    assert (first ^ second).all(), "3 s is the end of the first window and the begin of the second"


def test_adjacent_windows_share_no_sample_and_all_of_the_time():
    t = np.arange(0.96, 20, 1.0)
    parts = [overlap(t, window) for window in ((2.0, 6.0), (6.0, 9.0), (9.0, 15.0))]
    assert sum(part.inside.astype(int) for part in parts).max() == 1
    assert [part.seconds.sum() for part in parts] == pytest.approx([4, 3, 6])


def test_window_within_one_sample():
    series = SampleSeries(np.array([60.0, 120.0]), np.array([3.0, 8.0]))
    assert evaluate(series, (70.0, 80.0), 0.95).mean.value == 8.0
    assert evaluate(series, (50.0, 62.0), 0.95).mean.value == pytest.approx((10 * 3 + 2 * 8) / 12)


STUDY = """\
study: windows
title: Windows
bibliography: {}
n_statements: 0
factors: {test: {levels: [a], default: a}}
quantities:
  cost:
    label: Cost
    unit: s
    observed: {from: [{metric: busy, entity_kind: guest}], combine: sum, per: {metric: RATE, entity_kind: driver}}
exhibits: []
"""
METRICS = {
    "busy": {"formats": ["x"], "kind": "counter", "unit": "processors"},
    "rate": {"formats": ["x"], "kind": "gauge", "unit": "1/s"},
    "total": {"formats": ["x"], "kind": "total", "unit": "1/s"},
    "count": {"formats": ["x"], "kind": "gauge", "unit": "count"},
}


def cost(tmp_path, series, rate="rate", window=(2.0, 9.0)):
    place = tmp_path / "windows"
    place.mkdir(exist_ok=True)
    (place / "study.yaml").write_text(STUDY.replace("RATE", rate))
    info = {"run_id": "r", "window_s": list(window), "warmup_s": 2, "factors": {"test": "a"}}
    rows, lineage = observe(load_study(place), RunSeries(info, METRICS, series, 0.95))
    return rows[0], lineage


def test_quotient_has_one_window(tmp_path):
    """The cost of a request is 2 s whatever the load: also if the driver ends before the window."""
    readings = np.arange(0.04, 12.1, 1.0)
    busy, rate = sampled(readings), sampled(np.arange(0.0, 7.0, 0.25))
    series = {
        ("x", "guest", "g", "busy"): SampleSeries(busy.t, 2 * busy.value, begins=busy.begins),
        ("x", "driver", "d", "rate"): rate,
    }
    row, _ = cost(tmp_path, series, window=(4.04, 9.04))
    ends = 4.04, 6.75
    over = np.diff(np.interp(ends, readings, total_until(readings)))[0]
    assert row["value"] == pytest.approx(2 * over / np.diff(total_until(np.array(ends)))[0])
    assert row["value"] == pytest.approx(2, rel=0.02)


def test_quotient_of_the_window_and_the_whole_run_is_refused(tmp_path):
    busy = sampled(np.arange(0.0, 12.1, 1.0))
    whole = SampleSeries(np.array([np.nan]), np.array([5.0]))
    series = {("x", "guest", "g", "busy"): busy, ("x", "driver", "d", "total"): whole}
    row, lineage = cost(tmp_path, series, rate="total")
    assert np.isnan(row["value"]) and not lineage
    assert "total is the mean of the whole run, busy is sampled within the window" in row["note"]


def test_counts_of_buckets_are_interpolated():
    """10 events a second in one bucket: a window of 3.5 s has 35, wherever it cuts the samples."""
    t = np.arange(1.3, 12, 1.0)
    for kind, value in (("rate", 10.0), ("count", 10.0)):
        series = {("x", "bucket", "1 to 2 ms", kind): SampleSeries(t, np.full(len(t), value))}
        info = {"run_id": "r", "window_s": [2.0, 5.5], "warmup_s": 2, "factors": {}}
        run = RunSeries(info, METRICS, series, 0.95)
        found = run_buckets(run, {"metric": kind, "entity_kind": "bucket"}, "q", "ms")
        assert found.counts.n == pytest.approx(35)


def test_samples_of_each_format_have_its_kind(tmp_path):
    """One metric may be a mean of intervals in one format and single values in another."""
    metrics = build_dictionary().metrics
    assert metrics["response_time"].kinds["vegeta"] == "event"
    assert metrics["group_cpu"].kinds["cgroup-cpu"] == "counter"
    facts = {"response_time": {"kind": "gauge", "kinds": metrics["response_time"].kinds}}
    t = [1.0, 1.1, 5.0, 5.1, 6.0]
    rows = [
        {"run_id": "r", "source": source, "entity_kind": "driver", "entity": "d", "t_s": at}
        | {"metric": "response_time", "value": value, "file": "f", "line": 1}
        for source in ("iwl-console", "vegeta")
        for at, value in zip(t, (1.0, 3.0, 5.0, 7.0, 9.0), strict=True)
    ]
    info = {"run_id": "r", "window_s": [0.0, 5.5], "warmup_s": 0, "factors": {}}
    run = load_series(SAMPLES.arrow([SAMPLES.frame(rows)]), info, facts, 0.95)
    single = run.steady(("vegeta", "driver", "d", "response_time")).mean
    assert (single.value, single.n) == (4.0, 4)
    assert run.steady(("iwl-console", "driver", "d", "response_time")).mean.value != 4.0
