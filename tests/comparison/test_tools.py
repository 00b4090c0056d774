"""Files of tools without a reader of their own: read by the rules for tables, or refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import virtperf
from rawperf.core.errors import RawperfError

TOOLS = Path(__file__).with_name("tools")


def rows(name: str, **options) -> dict[str, object]:
    table = virtperf.compare(TOOLS / name / "a", TOOLS / name / "b", **options)
    return {row.quantity: row for row in table.rows}


def frames(name: str, side: str, **options) -> list[pd.DataFrame]:
    return [pd.read_csv(path, **options) for path in sorted((TOOLS / name / side).glob("*"))]


def test_status_codes_of_hey_are_failures() -> None:
    found = rows("hey-fail")
    shares = [(f["status-code"] >= 400).mean() for f in frames("hey-fail", "b")]
    assert (
        found["failure_rate"].mean_b == pytest.approx(np.mean(shares))
        and found["failure_rate"].mean_a == 0
    )
    served = [f[f["status-code"] < 400]["response-time"].mean() for f in frames("hey-fail", "b")]
    assert found["response_time"].mean_b == pytest.approx(np.mean(served))


def test_failed_answers_of_autocannon_are_a_share_and_no_throughput() -> None:
    found = rows("autocannon")
    documents = [
        json.loads(path.read_text()) for path in sorted((TOOLS / "autocannon/a").glob("*"))
    ]
    served = [d["2xx"] / d["duration"] for d in documents]
    assert found["throughput"].mean_a == pytest.approx(np.mean(served))
    assert found["response_time"].ratio > 1
    shares = [d["5xx"] / (d["2xx"] + d["5xx"]) for d in documents]
    assert found["failure_rate"].mean_a == pytest.approx(np.mean(shares)) and np.mean(shares) > 0.2
    assert found["failure_rate"].is_share


def test_a_delimiter_at_the_end_of_a_header_is_no_column() -> None:
    found = rows("mtr", quantities=["Avg"])
    means = [f["Avg"].mean() for f in frames("mtr", "b", index_col=False)]
    assert found["Avg"].mean_b == pytest.approx(np.mean(means))


def test_perf_stat_r_has_means_beside_their_errors() -> None:
    found = rows("perf-r", quantities=["counted_page_faults"])["counted_page_faults"]
    cells = [
        f.set_index(2)[0]["page-faults"] for f in frames("perf-r", "b", header=None, comment="#")
    ]
    assert (found.mean_b, found.verdict) == (pytest.approx(np.mean(cells)), "higher")


def test_lost_datagrams_of_iperf3_are_failures() -> None:
    (path,) = (TOOLS / "iperf3-loss").iterdir()
    frame = virtperf.read(path)
    lost = frame[frame["metric"] == "lost_datagrams"]["metric_value"].tolist()
    assert lost == [pytest.approx(json.loads(path.read_text())["end"]["sum"]["lost_percent"] / 100)]


def test_json_of_siege_is_a_row() -> None:
    text = (TOOLS / "siege.json").read_text()
    frame = virtperf.read(TOOLS / "siege.json")
    assert frame["transaction_rate"].tolist() == [json.loads(text)["transaction_rate"]]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("hyperfine.txt", "hyperfine's printed results.*--export-json"),
        ("redis-benchmark-q.txt", "redis-benchmark's printed results.*redis-benchmark --csv"),
        ("artillery.json", "looks like Artillery.*artillery run -o FILE"),
        ("perf-stat-j.json", "perf stat -j.*perf stat -x,"),
    ],
)
def test_printed_results_are_refused_by_name(name: str, words: str) -> None:
    with pytest.raises(RawperfError, match=words):
        virtperf.read(TOOLS / name)
