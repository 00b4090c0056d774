"""`virtperf compare` of request logs: means over requests, failures first, throughput over the span."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import virtperf
from tests.runs.summarize.test_events import HEADING
from virtperf.cli import main

RUNS = 4
SAMPLES = Path("tests/rawperf/samples")


def log(folder, times):
    """Write a run's log of requests: begin and duration in ms, success."""
    folder.mkdir(parents=True, exist_ok=True)
    number = len(list(folder.iterdir())) + 1
    start = 1_764_331_000_000 + 10_000_000 * number
    lines = [
        f"{start + t},{d},GET /,{200 if ok else 500},,t 1-1,text,{str(ok).lower()},1\n"
        for t, d, ok in times
    ]
    (folder / f"run{number}.jtl").write_text(HEADING + "".join(lines))


def row(table, quantity):
    return next(row for row in table.rows if row.quantity == quantity)


def test_bursts_are_weighed_by_their_requests(tmp_path):
    rng = np.random.default_rng(3)
    means = {"old": [], "new": []}
    rates = {"old": [], "new": []}
    for _ in range(RUNS):
        steady = [(50 * k, int(rng.integers(18, 23)), True) for k in range(400)]
        # nine of ten requests come in fast bursts, the others are slow, one a second
        burst = [(1000 * (k // 18) + k, int(rng.integers(8, 12)), True) for k in range(360)]
        burst += [(500 * k, int(rng.integers(55, 65)), True) for k in range(40)]
        for side, times in (("old", steady), ("new", burst)):
            log(tmp_path / side, times)
            means[side].append(np.mean([d for _, d, _ in times]))
            rates[side].append(len(times) / max(t + d for t, d, _ in times))
    found = virtperf.compare(tmp_path / "old", tmp_path / "new", root=tmp_path)
    response = row(found, "response_time")
    assert response.ratio == pytest.approx(np.mean(means["new"]) / np.mean(means["old"]))
    assert response.ratio < 0.8 and response.verdict == "faster"
    expected = np.mean(rates["new"]) / np.mean(rates["old"])
    assert row(found, "throughput").ratio == pytest.approx(expected)


def test_failures_are_no_speed(tmp_path):
    rng = np.random.default_rng(4)
    for _ in range(RUNS):
        good = [(50 * k, int(rng.integers(18, 23)), True) for k in range(400)]
        log(tmp_path / "old", good)
        log(
            tmp_path / "new",
            [(t, d, True) if k % 3 else (t, 2, False) for k, (t, d, _) in enumerate(good)],
        )
    found = virtperf.compare(tmp_path / "old", tmp_path / "new", root=tmp_path)
    assert found.rows[0].quantity == "failure_rate" and found.rows[0].verdict == "worse"
    assert found.sentences[0].startswith("Failures: 33.5 % of new failed, 0 % of old")
    assert row(found, "throughput").ratio == pytest.approx(266 / 400, rel=0.01)
    assert row(found, "response_time").ratio == pytest.approx(1, abs=0.02)
    command = ["compare", str(tmp_path / "old"), str(tmp_path / "new"), "--fail-on", "slower"]
    assert CliRunner().invoke(main, command).exit_code == 1


def test_a_log_with_two_runs_is_told(tmp_path):
    times = [(50 * k, 20 + k % 5, True) for k in range(100)]
    log(tmp_path / "other", times)
    log(tmp_path / "once", times)
    log(tmp_path / "twice", times + times)
    log(tmp_path / "pause", times + [(60_000 + t, d, ok) for t, d, ok in times])
    words = {
        "once": "",
        "twice": "100 of 200 requests have the same begin",
        "pause": "no request during 55",
    }
    for side, said in words.items():
        table = virtperf.compare(tmp_path / "other", tmp_path / side / "run1.jtl", root=tmp_path)
        notes = [note for note in table.remarks() if "the file may contain" in note]
        assert len(notes) == bool(said) and all(said in note for note in notes)


def test_error_answers_are_a_share_of_the_answers():
    files = SAMPLES / "wrk/wrk-failing.txt", SAMPLES / "wrk/wrk-err.txt"
    found = virtperf.compare(*files)
    errors = row(found, "http_errors")
    assert (errors.mean_a, errors.mean_b) == (41 / 207, 1.0)
    assert errors.verdict == "worse" and "by requests" in errors.note
    assert any("may include the answers with an error status" in note for note in found.notes)


@pytest.mark.parametrize("name", ["wrk2/wrk2.txt", "fio/fio-3.33-plus.json", "bpftrace/timer.txt"])
def test_buckets_with_two_bounds_are_no_recorded_values(tmp_path, name):
    copy = tmp_path / Path(name).name
    copy.write_bytes((SAMPLES / name).read_bytes())
    found = {each.quantity: each.ratio for each in virtperf.compare(SAMPLES / name, copy).rows}
    assert found and "recorded value" not in found and {*found.values()} <= {1.0, None}
