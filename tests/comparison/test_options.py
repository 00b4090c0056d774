"""What a tool says about its own run: options, versions, warnings, totals of the run, several reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import virtperf
from rawperf.core.errors import RawperfError
from tests.rawperf.sample_files import sample

RESULTS = Path(__file__).parents[1] / "rawperf" / "results" / "samples"
RATES = (10.0, 10.5, 9.5)


def sysbench(folder: Path, threads: int, rates: tuple[float, ...], more: str = "") -> Path:
    """Write a report of sysbench for each rate, of so many threads."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = sample("sysbench/sysbench-cpu.txt").decode().splitlines(keepends=True)
    for number, rate in enumerate(rates):
        text = "".join(
            f"    events per second: {rate}\n"
            if "events per second:" in line
            else f"Number of threads: {threads}\n"
            if line.startswith("Number of threads:")
            else line
            for line in lines
        )
        (folder / f"{threads}-{number}.txt").write_text(text + more)
    return folder


def test_options_that_differ_between_the_sides_are_told(tmp_path: Path) -> None:
    one, two = sysbench(tmp_path / "a", 1, RATES), sysbench(tmp_path / "b", 2, RATES)
    found = virtperf.compare(one, two)
    assert [(fact.fact, fact.values) for fact in found.facts] == [("threads", (("1",), ("2",)))]


def test_runs_are_matched_by_an_option_that_differs_within_a_side(tmp_path: Path) -> None:
    for side, factor in (("a", 1.0), ("b", 1.1)):
        for threads in (1, 8):
            sysbench(tmp_path / side, threads, tuple(threads * factor * rate for rate in RATES))
    found = virtperf.compare(tmp_path / "a", tmp_path / "b")
    ratios = {
        row.condition: row.ratio for row in found.rows if row.quantity == "transaction_rate_total"
    }
    assert ratios["threads=1"] == ratios["threads=8"] == pytest.approx(1.1)
    assert not found.facts
    averaged = virtperf.compare(tmp_path / "a", tmp_path / "b", over=["threads"])
    assert "threads=1" not in {row.condition for row in averaged.rows}


def test_versions_in_result_files_are_told(tmp_path: Path) -> None:
    for path in (RESULTS / "jmh" / "a").iterdir():
        document = json.loads(path.read_text())
        for result in document:
            result["jdkVersion"] = "99"
        (tmp_path / path.name).write_text(json.dumps(document))
    found = virtperf.compare(RESULTS / "jmh" / "a", tmp_path)
    assert [fact.fact for fact in found.facts] == ["JDK"] and found.facts[0].values[1] == ("99",)


def test_warnings_of_readers_are_notes(tmp_path: Path) -> None:
    good = sysbench(tmp_path / "a", 1, RATES)
    bad = sysbench(tmp_path / "b", 1, RATES, "Connection to host closed.\n")
    (note,) = (n for n in virtperf.compare(good, bad).remarks() if "Connection to host closed" in n)
    assert "B: 1-0.txt, 1-1.txt, 1-2.txt: line" in note and str(tmp_path) not in note


def test_the_total_of_a_run_comes_before_the_mean_of_its_intervals(tmp_path: Path) -> None:
    for side in "ab":
        for number, rate in enumerate(RATES):
            document = json.loads(sample("iperf3/iperf3.json"))
            document["end"]["sum_received"]["bits_per_second"] *= rate
            (tmp_path / side).mkdir(exist_ok=True)
            (tmp_path / side / f"{number}.json").write_text(json.dumps(document))
    found = virtperf.compare(tmp_path / "a", tmp_path / "b")
    assert [row.quantity for row in found.rows] == ["network_throughput_total"]
    assert any("network_throughput (the files have the total" in note for note in found.remarks())
    asked = virtperf.compare(tmp_path / "a", tmp_path / "b", quantities=["network_throughput"])
    assert [row.quantity for row in asked.rows] == ["network_throughput"]


def test_reports_before_the_last_one_are_told(tmp_path: Path) -> None:
    text = sample("fio/fio-3.33.json")
    (tmp_path / "one.json").write_bytes(text)
    (tmp_path / "two.json").write_bytes(text + text)
    found = virtperf.compare(tmp_path / "one.json", tmp_path / "two.json")
    assert any("has 2 reports, of which the last one was read" in note for note in found.remarks())


def test_raw_files_in_utf_16_are_no_tables(tmp_path: Path) -> None:
    path = tmp_path / "fio.json"
    path.write_text(sample("fio/fio-3.33.json").decode(), encoding="utf-16")
    with pytest.raises(RawperfError, match=r"UTF-16.*iconv"):
        virtperf.read(path)
