"""Request logs recorded from the real tools, compared with numbers that pandas computed alone, and
with the tools' own summaries.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rawperf
from tests.cases import each_case
from tests.rawperf.sample_files import sample

SAMPLES = Path(__file__).parents[1] / "samples"
EXPECTED = json.loads(Path(__file__).with_name("expected_requests.json").read_text())
OF_REQUESTS = ("response_time", "failed_response_time")


def requests(name: str) -> pd.DataFrame:
    found = rawperf.read(SAMPLES / name)
    assert found.attrs["warnings"] == []
    return found[found["metric"].isin(OF_REQUESTS)]


def numbers(found: pd.DataFrame) -> dict[str, float]:
    """Numbers of a request log as docs/formats/declared.md defines them."""
    good = found["metric_value"][found["metric"] == "response_time"].to_numpy()
    span = found["t"].max() - (found["t"] - found["metric_value"]).min()
    return {
        "mean": good.mean(),
        "p50": np.quantile(good, 0.5, method="inverted_cdf"),
        "p99": np.quantile(good, 0.99, method="inverted_cdf"),
        "throughput": len(good) / span,
        "successes": len(good),
        "failures": len(found) - len(good),
    }


@each_case("name", sorted(EXPECTED))
def test_numbers_are_those_of_an_independent_program(name: str) -> None:
    found = requests(name)
    assert set(found["kind"]) == {"event"} and set(found["entity_kind"]) == {"driver"}
    assert numbers(found) == pytest.approx(EXPECTED[name], rel=1e-6)
    assert EXPECTED[name]["failures"] > 0


@each_case(
    ("name", "other"),
    [("vegeta/failing.json", "vegeta/failing.csv"), ("k6/k6.jsonl", "k6/k6.csv")],
)
def test_two_formats_of_one_run_agree(name: str, other: str) -> None:
    one, two = (numbers(requests(file)) for file in (name, other))
    assert one == pytest.approx(two, rel=1e-3)


def test_vegeta_reports_the_same_throughput_and_failures() -> None:
    report = json.loads(sample("vegeta/failing-report.json"))
    found = numbers(requests("vegeta/failing.csv"))
    assert found["throughput"] == pytest.approx(report["throughput"], rel=1e-6)
    assert found["failures"] == report["status_codes"]["500"]
    both = requests("vegeta/failing.csv")["metric_value"]  # vegeta's mean is of all requests
    assert both.mean() == pytest.approx(report["latencies"]["mean"] / 1e9)


def test_k6_reports_the_same_numbers() -> None:
    summary = json.loads(sample("k6/k6-summary.json"))["metrics"]
    found = numbers(requests("k6/k6.csv"))
    good = summary["http_req_duration{expected_response:true}"]
    assert found["mean"] == pytest.approx(good["avg"] / 1e3, rel=1e-3)
    assert found["successes"] + found["failures"] == summary["http_reqs"]["count"]
    of = rawperf.read(SAMPLES / "k6/k6-summary.json").set_index("metric")["metric_value"]
    share = found["failures"] / summary["http_reqs"]["count"]
    assert of["failure_rate"] == pytest.approx(share, abs=1e-6)
    assert of["response_time"] == pytest.approx(found["mean"], rel=1e-3)


def test_ab_has_one_row_a_request() -> None:
    found = requests("ab/ab-failing.tsv")
    report = sample("ab/ab-failing.txt").decode()
    assert len(found) == int(re.search(r"Complete requests: +(\d+)", report)[1])  # type: ignore[index]
    mean = float(re.search(r"Total: +\d+ +(\d+)", report)[1])  # type: ignore[index]
    assert found["metric_value"].mean() * 1e3 == pytest.approx(mean, abs=1)


@each_case(
    "name",
    [
        "jmeter/jmeter.csv",
        "jmeter/jmeter-bare.csv",
        "jmeter/jmeter.xml",
        "jmeter/jmeter-parents.xml",
    ],
)
def test_transactions_of_jmeter_are_no_requests(name: str) -> None:
    text = sample(name).decode()
    transactions = text.count("Number of samples in transaction")
    found = rawperf.read(SAMPLES / name)
    of = found.groupby("report")["metric"].value_counts()
    assert of["transactions"].sum() == transactions > 0
    assert set(of["transactions"].index) <= {
        "transaction_response_time",
        "failed_transaction_response_time",
    }
    # the page is a request with its embedded resources, the missing file one that fails
    assert of["requests"]["failed_response_time"] == text.count("missing")


def test_requests_that_end_at_one_time_are_all_kept() -> None:
    found = requests("jmeter/jmeter-5.6.3.csv")
    assert found["t"].duplicated().any()
    assert len(found) == sample("jmeter/jmeter-5.6.3.csv").count(b"\n") - 1


def test_jmeter_without_messages_has_no_transactions(tmp_path: Path) -> None:
    """JMeter's settings may leave out every attribute but the times and the success."""
    path = tmp_path / "jmeter.jtl"
    rows = [
        f'<httpSample t="{t}" ts="{1795545414366 + t}" s="{str(ok).lower()}" ng="4" na="4"/>'
        for t, ok in ((72, True), (73, True), (6, False))
    ]
    path.write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<testResults version="1.2">\n'
        + "\n".join(rows)
        + "\n</testResults>\n"
    )
    found = requests(str(path))
    assert found["metric"].tolist() == ["response_time", "response_time", "failed_response_time"]
