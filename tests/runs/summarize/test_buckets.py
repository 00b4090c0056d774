"""Histograms end to end: Prometheus and eBPF buckets as percentiles and figure."""

from __future__ import annotations

import numpy as np
import pytest
import yaml

import virtperf as vp
from rawperf.core.buckets import Bucket, parse_bucket
from rawperf.core.errors import RawperfError
from tests.rawperf.sample_files import sample
from tests.toy_boots import Boots
from virtperf.core.estimate import BUCKETED, Estimate, mean_over_bucketed
from virtperf.core.order_statistics import BucketCounts, quantile
from virtperf.core.stage_tables import DISTRIBUTIONS, MEANS, OBSERVATIONS
from virtperf.report.kinds.distribution import OF_BUCKETS, percentiles
from virtperf.study.definition import load_study

TIMER = "from: [{metric: latency_buckets, entity_kind: bucket, entity: 'usecs *'}], combine: sum"
SIZES = "from: [{metric: answer_sizes, entity_kind: bucket, entity: '*api/v1*'}], combine: sum"
STUDY = f"""
study: boots
title: Two histograms
n_statements: 0
bibliography: {{}}
factors:
  machine: {{levels: [big, small], default: big}}
quantities:
  median: {{label: Lateness, unit: ms, observed: {{{TIMER}, statistic: median}}}}
  p99: {{label: 99th percentile, unit: ms, observed: {{{TIMER}, statistic: quantile, share: 0.99}}}}
  guessed: {{label: Median, unit: ms, observed: {{{TIMER}, statistic: median, interpolate: true}}}}
  slow: {{label: Slow, unit: "%", observed: {{{TIMER}, statistic: above, limit: {{value: 2.048, unit: ms}}}}}}
  size: {{label: Size, unit: B, observed: {{{SIZES}, statistic: median}}}}
  late: {{label: Lateness, unit: us, observed: {{from: [{{metric: latency_buckets, entity_kind: bucket, entity: 'ns *'}}], combine: sum, statistic: quantile, share: 0.9999}}}}
inputs:
  - name: answers
    match: {{file: "*.prom"}}
    reads: lines
    time: {{line: '(?P<time>\\d{{10}})'}}
    lines: 'prometheus_http_response_size_bytes_bucket\\{{(?P<labels>.*),le="(?P<le>.*)"\\}} (?P<count>\\d+)'
    entity: {{kind: bucket, name: labels}}
    histogram: {{upper: le, cumulative: true, unit: B}}
    fields: [{{field: count, metric: answer_sizes, unit: count, kind: counter}}]
    metrics: {{answer_sizes: {{unit: 1/s, definition: Answers by their size.}}}}
exhibits:
  - id: figure-1
    kind: distribution
    title: Lateness of a timer
    over: machine
    log: true
    series:
      - {{label: big, quantity: median, levels: [big]}}
"""


@pytest.fixture
def place(tmp_path, root):
    made = Boots(tmp_path, root)
    published = made.data / "published" / "boots"
    (published / "study.yaml").write_text(STUDY)
    (published / "claims.yaml").write_text("study: boots\nclaims: []\nnot_encoded: []\n")
    made.study = load_study(published)
    return made


def test_percentiles_are_bounded_by_their_buckets(place):
    """1490 events: 1480 from 1.024 to 2.048 ms, 8 up to 4.096, 2 up to 8.192."""
    text = sample("bpftrace/timer.txt").decode()
    place.add("a", text, "timer.txt")
    place.add("b", sample("prometheus/histograms.txt").decode(), "answers.prom", machine="small")
    path = place.runs / "b" / "run.yaml"
    document = yaml.safe_load(path.read_text()) | {
        "start": "2026-11-25T00:31:45",
        "duration_s": 12.0,
        "warmup_s": 6.0,
        "window_s": [6.0, 12.0],
    }
    path.write_text(yaml.safe_dump(document))
    assert not place.read()
    means = place.table(MEANS)
    found = means[means["machine"] == "big"].set_index("quantity")
    ends = found[["value", "low", "high"]]
    assert ends.loc["median"].tolist() == pytest.approx([2.048, 1.024, 2.048])
    assert ends.loc["p99"].tolist() == pytest.approx([2.048, 1.024, 4.096])
    assert ends.loc["slow", "value"] == pytest.approx(100 * 10 / 1490)
    assert ends.loc["guessed"].tolist() == pytest.approx([1.024 + 1.024 * 745 / 1480, 1.024, 2.048])
    assert found.loc["median", "n"] == 1490
    assert set(found["method"]) == {BUCKETED}
    size = means[means["quantity"] == "size"].iloc[0]
    assert size[["value", "low", "high"]].tolist() == [1000.0, 100.0, 1000.0]
    assert size["n"] == 8, "answers between the second and the third scrape, 16 and 24"
    observed = place.table(OBSERVATIONS).set_index(["quantity", "run_id"])
    assert (
        "last bucket, which has no upper bound: above 5000" in observed.loc[("late", "a"), "note"]
    )


def test_figure_draws_buckets_and_labels_them(place):
    place.add("a", sample("bpftrace/timer.txt").decode(), "timer.txt")
    assert not place.read()
    table = place.table(DISTRIBUTIONS)
    assert table[["lower", "value", "count"]].to_numpy().tolist() == [
        [1.024, 2.048, 1480],
        [2.048, 4.096, 8],
        [4.096, 8.192, 2],
    ]
    row = percentiles(table, 0.95).iloc[0]
    assert (row["samples"], row["median"], row["median_low"]) == (1490, 2.048, 1.024)
    exhibit = vp.load_study("boots", place.data).show("figure-1")
    assert exhibit.record.caption.endswith(OF_BUCKETS)
    (panel,) = exhibit.figure.axes
    points = next(line for line in panel.lines if line.get_linestyle() == "None")
    assert points.get_xdata().tolist() == [2.048, 4.096, 8.192]
    assert points.get_ydata().tolist() == pytest.approx([1480 / 1490, 1488 / 1490, 1])


def test_equal_buckets_of_runs_still_have_an_interval():
    run = Estimate(256.0, 128.0, 256.0, 0.95, BUCKETED, se=1.0, df=99.0, n=100)
    both = mean_over_bucketed([run, run, run], level=0.95)
    assert (both.value, both.low, both.high, both.n) == (256.0, 128.0, 256.0, 300)


def test_mean_over_runs_with_open_intervals_is_open():
    run = Estimate(256.0, -np.inf, np.inf, 0.95, BUCKETED, se=np.inf, df=1.0, n=2)
    both = mean_over_bucketed([run, run], level=0.95)
    assert (both.value, both.low, both.high, both.se) == (256.0, -np.inf, np.inf, np.inf)
    low = Estimate(256.0, 128.0, np.inf, 0.95, BUCKETED, se=1.0, df=1.0, n=2)
    assert mean_over_bucketed([run, low], level=0.95).low == -np.inf


def test_narrow_buckets_give_the_interval_of_samples():
    x = np.sort(np.random.default_rng(5).normal(100, 10, 400))
    for share in (0.5, 0.9):
        found = BucketCounts(x - 1e-9, x + 1e-9, np.ones(400)).quantile(share, 0.95)
        expected = quantile(x, share, 0.95)
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    found = BucketCounts(x, x, np.ones(400)).share_above(110.0, 0.95)
    assert found.low < np.mean(x > 110) < found.high


def test_bucket_names_round_trip():
    for bucket in (
        Bucket(0.0, 0.005, "s", 'handler="/a b"'),
        Bucket(128.0, float("inf"), "us"),
        Bucket(float("-inf"), 0.0, "us", "x 1 to 2 ms"),
    ):
        assert parse_bucket(bucket.name) == bucket
    assert parse_bucket("eth0") is None
    assert parse_bucket("3 to 2 us") is None


def test_statistics_unavailable_from_buckets_are_rejected(place):
    path = place.data / "published" / "boots" / "study.yaml"
    for was, becomes, problem in (
        (
            "statistic: median}}\n  p99",
            "statistic: mean}}\n  p99",
            "statistic mean is not available for buckets",
        ),
        ("share: 0.99}", "share: 0.99, cpus: 2}", "cpus is not available for buckets"),
        (
            "limit: {value: 2.048, unit: ms}",
            "interpolate: true, limit: {value: 2.048, unit: ms}",
            "interpolate is only for",
        ),
    ):
        assert was in STUDY
        path.write_text(STUDY.replace(was, becomes))
        with pytest.raises(RawperfError, match=problem):
            load_study(path.parent)
