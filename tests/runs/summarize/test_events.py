"""Logs of single requests in studies, compared with plain loops over the same rows."""

import numpy as np
import pandas as pd
import pytest

from tests.cases import each_case
from tests.runs.summarize.test_stage import toy_run
from tests.toy_runs import write_run
from virtperf.runs.ingest.stage import ingest
from virtperf.runs.summarize.audits import audit
from virtperf.runs.summarize.events import count_edges, per_second
from virtperf.runs.summarize.stage import summarize
from virtperf.study.definition import load_study

START = 1231509600  # 2009-01-09T14:00:00
BEGIN, END = 20, 80
STUDY = """\
study: toy
title: A toy
bibliography: {}
n_statements: 0
factors: {system: {levels: [a], default: a}}
quantities:
  throughput: {label: T, unit: 1/s, observed: {from: [{metric: throughput, entity_kind: driver}], combine: sum}}
  mean: {label: M, unit: ms, observed: {from: [{metric: response_time, entity_kind: driver}], combine: mean}}
  p99: {label: P, unit: ms, observed: {from: [{metric: response_time, entity_kind: driver}], combine: mean, statistic: quantile, share: 0.99}}
  failed: {label: F, unit: "%", observed: {from: [{metric: failure_rate, entity_kind: driver}], combine: mean}}
  failures: {label: N, unit: 1/s, observed: {from: [{metric: failures_per_second, entity_kind: driver}], combine: sum}}
  cost: {label: C, unit: processors, observed: {from: [{metric: cpu_busy, entity_kind: guest}], combine: sum, per: {metric: throughput, entity_kind: driver}}}
exhibits: []
"""
HEADING = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,Latency\n"
)


def jtl(rows):
    """JMeter's log of requests: begin and duration in ms after the run's start, success."""
    lines = (
        f"{1000 * START + t},{d},GET /,{200 if ok else 500},,t 1-1,text,{str(ok).lower()},1\n"
        for t, d, ok in rows
    )
    return (HEADING + "".join(lines)).encode()


def requests(seed, n=3000, failing=0.2):
    """Requests in bursts, sorted by their begin as in JMeter's log only by chance."""
    rng = np.random.default_rng(seed)
    begins = np.sort(rng.choice([0, 1000], n) * rng.integers(0, 99, n) + rng.integers(0, 900, n))
    return [
        (int(t), int(d), bool(ok))
        for t, d, ok in zip(begins, rng.geometric(0.05, n), rng.random(n) >= failing, strict=True)
    ]


def inside(rows):
    return [(d, ok) for t, d, ok in rows if 1000 * BEGIN < t + d <= 1000 * END]


@pytest.fixture
def observed(tmp_path, root):
    """Observations of one run by quantity, from its raw files; and the tables' folder."""

    def of(raw, **fields):
        (tmp_path / "toy").mkdir()
        (tmp_path / "toy" / "study.yaml").write_text(STUDY)
        study = load_study(tmp_path / "toy")
        head = {"factors": {"system": "a"}, "duration_s": 100, "warmup_s": BEGIN}
        window = {"window_s": [BEGIN, END]}
        write_run(tmp_path / "measured", raw=raw, **head | window | fields)
        roots = {"measured": tmp_path / "measured"}
        metrics = root / "src" / "rawperf" / "metrics.yaml"
        done = ingest(study, roots, metrics, tmp_path / "samples", tmp_path / "cache", jobs=1)
        assert done.quarantined == []
        of.summarized = tmp_path / "runs"
        of.samples = tmp_path / "samples"
        summarize(study, tmp_path / "samples", of.summarized, level=0.95)
        rows = pd.read_parquet(of.summarized / "observations.parquet")
        return rows.set_index("quantity")

    return of


def test_numbers_are_those_of_the_requests_that_end_in_the_window(observed):
    rows = requests(1)
    assert len({t + d for t, d, _ in rows}) < len(rows), "several end at one time"
    found = observed({"log.jtl": jtl(rows)})["value"]
    counted = inside(rows)
    good = sorted(d for d, ok in counted if ok)
    assert found["mean"] == pytest.approx(np.mean(good))
    assert found["throughput"] == pytest.approx(len(good) / (END - BEGIN))
    assert found["p99"] == good[int(np.ceil(0.99 * len(good))) - 1]
    assert found["failed"] == pytest.approx(100 * np.mean([not ok for _, ok in counted]))
    assert found["failures"] == pytest.approx((len(counted) - len(good)) / (END - BEGIN))


def test_several_drivers_are_pooled_and_their_throughput_is_added(observed):
    one, two = requests(2, 2000, 0.0), [(t, 3 * d, ok) for t, d, ok in requests(3, 500)]
    raw = {"drivers/d1/a.jtl": jtl(one), "drivers/d2/a.jtl": jtl(two)}
    found = observed(raw)["value"]
    counted = inside(one) + inside(two)
    good = sorted(d for d, ok in counted if ok)
    assert found["mean"] == pytest.approx(np.mean(good)), "not the mean of the drivers' means"
    assert found["p99"] == good[int(np.ceil(0.99 * len(good))) - 1]
    assert found["throughput"] == pytest.approx(len(good) / (END - BEGIN))
    assert found["failed"] == pytest.approx(100 * np.mean([not ok for _, ok in counted]))


@pytest.mark.parametrize(("failing", "failed"), [(0.0, 0.0), (1.0, 100.0)])
def test_without_or_with_only_failures_both_numbers_are_known(observed, failing, failed):
    rows = requests(4, failing=failing)
    found = observed({"log.jtl": jtl(rows)})
    assert found["value"]["failed"] == failed
    total = len(inside(rows)) / (END - BEGIN)
    both = found["value"][["throughput", "failures"]].tolist()
    assert both == pytest.approx([total, 0.0] if not failing else [0.0, total])
    assert np.isnan(found["value"]["mean"]) == bool(failing)


def test_lineage_names_the_requests_that_were_counted(observed):
    rows = requests(5)
    observed({"log.jtl": jtl(rows)})
    lineage = pd.read_parquet(observed.summarized / "lineage.parquet").set_index("quantity")
    lines = [n for n, (t, d, ok) in enumerate(rows, 2) if ok and 1000 * BEGIN < t + d <= 1000 * END]
    for quantity in ("throughput", "mean", "p99"):
        row = lineage.loc[quantity]
        assert (row["samples"], row["first_line"], row["last_line"]) == (
            len(lines),
            min(lines),
            max(lines),
        )
    assert lineage.loc["failed"]["samples"].sum() == len(inside(rows))


WRK = """\
Running 1m test @ http://127.0.0.1/
  1 threads and 4 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    59.92ms   14.75ms 119.97ms   77.78%
    Req/Sec    66.86     12.06    85.00     55.17%
  207 requests in 60.00s, 48.65KB read
Requests/sec:     65.94
Transfer/sec:     15.50KB
"""


def test_quantile_of_a_mean_is_refused(observed):
    found = observed({"wrk.txt": WRK.encode()})
    assert found["value"][["throughput", "mean"]].tolist() == pytest.approx([65.94, 59.92])
    assert np.isnan(found["value"]["p99"])
    words = "wrk has means of response_time, but no single values, from which the quantile"
    assert words in found["note"]["p99"]


@pytest.mark.parametrize(("clients", "expected"), [(10, "ok"), (5, "violated"), (20, "violated")])
def test_response_time_law_holds_for_single_requests(observed, clients, expected):
    rows = []
    for client in range(10):  # 40 ms of response and 60 ms of thinking
        rows += [(100 * k + 7 * client, 40, (k + client) % 4 > 0) for k in range(995)]
    observed({"log.jtl": jtl(rows)}, clients=clients, think_time_s=0.06)
    audits = pd.read_parquet(observed.summarized / "audits.parquet").set_index("audit")
    law = audits.loc["response-time law"]
    assert law["value"] == pytest.approx(10, rel=0.01) and law["status"] == expected
    failed = audits.loc["failed requests"]
    assert (failed["value"], failed["status"]) == (sum(not ok for *_, ok in rows), "violated")
    assert audits.loc["coverage by jmeter-csv", "status"] == "ok"


def test_gap_in_a_log_of_requests_is_no_coverage(observed):
    rows = [(t, d, ok) for t, d, ok in requests(7) if not 30_000 < t < 60_000]
    observed({"log.jtl": jtl(rows)})
    audits = pd.read_parquet(observed.summarized / "audits.parquet").set_index("audit")
    assert audits.loc["coverage by jmeter-csv", "status"] == "violated"


@each_case(
    ("window", "last"),
    [((20.0, 80.0), 99.7), ((0.0, 3.0), 2.0), ((0.1, 7.37), 30.0), ((5.0, 6.0), 5.5)],
)
def test_intervals_divide_the_window(window, last):
    edges = count_edges(window, last)
    begin, end = window
    assert (np.diff(edges) > 0).all() and np.diff(edges) == pytest.approx(edges[1] - edges[0])
    assert end in edges.tolist() and begin == pytest.approx(edges[np.argmin(abs(edges - begin))])
    assert edges[0] >= -1e-9 and edges[-1] >= end and edges[-1] <= max(end, last)
    assert len(edges[(edges > begin + 1e-9) & (edges <= end)]) >= 30


def test_event_at_an_edge_belongs_to_the_interval_that_it_ends():
    edges = np.array([0.0, 2.0, 4.0])
    t = np.array([0.0, 1.0, 2.0, 2.0, 3.0, 4.0, 5.0])
    assert per_second(t, edges).tolist() == [1.5, 1.0]
    assert per_second(t, edges, np.arange(7.0)).tolist() == [3.0, 4.5]


def test_total_and_samples_of_one_metric_are_not_compared():
    run = toy_run({("sar", "driver", "d", "throughput"): 5.0})
    run.series["xentop", "driver", "d", "throughput"] = run.series[
        "sar", "driver", "d", "throughput"
    ].__class__(np.array([np.nan]), np.array([9.0]))
    assert "agreement of sources" not in {row["audit"] for row in audit(run)}
