"""`virtperf compare --percentile`: samples and histograms of all drivers of a run are merged."""

from __future__ import annotations

import numpy as np
import pytest

import virtperf
from rawperf.core.errors import RawperfError
from tests.rawperf.sample_files import sample
from tests.toy_runs import write_run

RNG = np.random.default_rng(3)
LOG = "hdrhistogram/two-drivers.hlog"
P99_OF_LOG = 17039359  # the rank that HistogramLogProcessor uses, for the 195 values recorded by hdrhistogram 0.10.8


def tables(folder, scale, runs=4):
    for run in range(runs):
        for driver in ("x", "y"):
            place = folder / f"r{run}"
            place.mkdir(parents=True, exist_ok=True)
            level = scale * (1 + run / 100) * (3 if driver == "y" else 1)
            times = level * np.exp(0.5 * RNG.standard_normal(200))
            (place / f"{driver}.csv").write_text("latency_ms\n" + "\n".join(map(str, times)))
    return folder


def test_rows_of_tables_are_merged_over_drivers(tmp_path):
    a, b = tables(tmp_path / "a", 1.0), tables(tmp_path / "b", 1.4)
    found = virtperf.compare(a, b, percentiles=[50, 99])
    assert sorted(row.quantity for row in found.rows) == ["p50 of latency", "p99 of latency"]
    files = [np.loadtxt(f, skiprows=1) for f in sorted(a.glob("r0/*.csv"))]
    assert {row.verdict for row in found.rows} == {"slower"}
    first = np.percentile(np.concatenate(files), 50, method="inverted_cdf")
    runs = [
        np.percentile(
            np.concatenate([np.loadtxt(f, skiprows=1) for f in sorted(run.glob("*.csv"))]),
            50,
            method="inverted_cdf",
        )
        for run in sorted(a.iterdir())
    ]
    (median,) = [row for row in found.rows if row.quantity == "p50 of latency"]
    assert runs[0] == first and median.mean_a == pytest.approx(np.mean(runs) / 1000)
    assert any("fewer than 10 values above it" in note for note in found.notes)


def test_histograms_of_a_run_folder_count_within_its_window(tmp_path):
    for side in "ab":
        for run in range(2):
            write_run(
                tmp_path / side,
                f"{side}{run}",
                {"load.hlog": sample(LOG) + f"#{side}{run}\n".encode()},
                start="2026-01-01T12:00:00",
                duration_s=3,
                warmup_s=0,
                window_s=[0, 2 + run],
            )
    found = virtperf.compare(tmp_path / "a", tmp_path / "b", percentiles=[99])
    (row,) = found.rows
    assert (row.quantity, row.ratio, row.runs_a) == ("p99 of recorded value", 1.0, 2)
    assert row.mean_a == pytest.approx((14745599 + P99_OF_LOG) / 2, rel=0.2)


def test_mean_of_percentiles_is_rejected(tmp_path):
    for side in "ab":
        for run in range(5):
            place = tmp_path / side / f"r{run}"
            place.mkdir(parents=True)
            rows = "".join(f"{100 + run},{9 + run + (side == 'b')}\n" for _ in "xyz")
            (place / "drivers.csv").write_text(f"rate,p99_ms\n{rows}")
    sides = tmp_path / "a", tmp_path / "b"
    left_out = virtperf.compare(*sides)
    assert [row.quantity for row in left_out.rows] == ["rate"]
    about = [note for note in left_out.notes if "p99 is left out" in note]
    words = "r0, r1, r2 and 2 more: p99 is left out: the run has several values of this percentile"
    assert [
        note.startswith(f"{side}: {words}") for side, note in zip("AB", about, strict=True)
    ] == [
        True,
        True,
    ]
    with pytest.raises(RawperfError, match="the mean of percentiles of several drivers"):
        virtperf.compare(*sides, quantities=["p99_ms"])


def test_run_without_samples_is_rejected_with_advice(tmp_path):
    for side in "ab":
        for run in range(2):
            (tmp_path / side).mkdir(exist_ok=True)
            value = run + 1 + (side == "b") / 2
            (tmp_path / side / f"{run}.json").write_text(f'{{"latency_p99": {value}}}')
    with pytest.raises(
        RawperfError, match=r"(?s)printed by its tool can't be merged.*a histogram log"
    ):
        virtperf.compare(tmp_path / "a", tmp_path / "b", percentiles=[99])
