"""Odd and hostile tables: no verdict is wrong, and none is left out without a word.

Expected verdicts are computed by scipy from the same numbers.
"""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import virtperf
from rawperf.core.errors import ParameterError, RawperfError, RunError
from tests.comparison.test_ratio_rows import FAILED, only
from virtperf.cli import main
from virtperf.comparison.claim import claim
from virtperf.comparison.ratio_rows import Pair, ratio_rows
from virtperf.core.contrasts import Replicates
from virtperf.runs.run_values import ComparedQuantity

CLAIM = "zvm-xen-2009/xen-software-costs-27-percent"


def run(*arguments):
    result = CliRunner().invoke(main, [*map(str, arguments)])
    assert isinstance(result.exception, SystemExit | None), result.exception
    return result.exit_code, result.output


@pytest.fixture
def side(tmp_path):
    """A side: a file with a heading and rows for each run."""

    def write(name, heading, *runs):
        (tmp_path / name).mkdir()
        for number, rows in enumerate(runs):
            text = "\n".join([heading, *([rows] if isinstance(rows, str) else rows), ""])
            (tmp_path / name / f"r{number}.csv").write_text(text)
        return tmp_path / name

    return write


def numbers(values):
    return [str(value) for value in values]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((-10, -10.2, -9.9, -10.1), (-20, -20.3, -19.8, -20.2)),
        ((-20, -20.3, -19.8, -20.2), (-10, -10.2, -9.9, -10.1)),
        ((-10, -10.2, -9.9, -10.1), (10, 10.2, 9.9, 10.1)),
        ((10, 10.2, 9.9, 10.1), (-10, -10.2, -9.9, -10.1)),
        ((-10, -10.2, -9.9, -10.1), (-10.1, -10, -9.9, -10.2)),
        ((-3, -3, -3, -3), (-4, -4, -4, -4)),
    ],
)
def test_direction_of_negative_values(side, a, b):
    places = side("a", "score", *numbers(a)), side("b", "score", *numbers(b))
    (row,) = virtperf.compare(*places, higher=["score"]).rows
    if np.ptp(a) or np.ptp(b):
        p = stats.ttest_ind(a, b, equal_var=False).pvalue
        assert (row.p < 0.05) == (p < 0.05)
    else:
        p = 0.0
    better = "faster" if np.mean(b) > np.mean(a) else "slower"
    assert row.verdict == (better if p < 0.05 else "undecided")
    change = (np.mean(b) - np.mean(a)) / abs(np.mean(a))
    assert row.change.value == pytest.approx(100 * change)
    assert row.note.startswith("score: the mean of A is negative") == (np.mean(a) < 0)


@pytest.mark.parametrize(
    ("b", "verdict"),
    [
        ((5, 5, 5), "slower"),
        ((5, 6, 7), "slower"),
        ((0, 1, 0), "undecided"),
        ((-5, -6, -7), "faster"),
    ],
)
def test_base_of_zero_is_compared_by_the_difference(side, b, verdict):
    places = side("a", "retransmits", "0", "0", "0"), side("b", "retransmits", *numbers(b))
    table = virtperf.compare(*places, lower=["retransmits"])
    (row,) = table.rows
    assert (row.verdict, row.ratio, row.difference) == (verdict, None, pytest.approx(np.mean(b)))
    if not row.exact:
        expected = stats.ttest_1samp(b, 0.0)
        assert row.p == pytest.approx(expected.pvalue)
        assert (row.low, row.high) == pytest.approx(tuple(expected.confidence_interval()))
    if verdict == "slower":
        size = "5" if row.exact else "6.0"
        assert table.sentences[0].startswith(f"retransmits is {size} higher on b than on a")
    assert "retransmits: the mean of A is 0, so the sides are compared by their difference" in str(
        table
    )
    page = places[0].parent / "page.html"
    assert run("compare", *places, "--lower-is-better", "retransmits", "-o", page)[0] == 0


def test_equal_runs_of_counts_are_split(side):
    place = side("a", "exits", "0", "0", "5", "5")
    (found,) = virtperf.compare(place, aa=True, splits=20).equal_runs
    assert 0 < found.called < 20 and found.estimate.value == found.called / 20


def test_numbers_of_failures_are_no_shares(side):
    heading = "latency,errors"
    places = (
        side("a", heading, *(f"{v},{e}" for v, e in zip((9, 9.1, 9.2), (5, 6, 4), strict=True))),
        side("b", heading, *(f"{v},{e}" for v, e in zip((9, 9.2, 9.1), (70, 71, 69), strict=True))),
    )
    table = virtperf.compare(*places, lower=["latency"])
    assert table.rows[0].verdict == "worse"
    assert table.sentences[0].startswith("Failures (errors): b has 70, a has 5; +65")
    assert "%" not in table.sentences[0]


@pytest.mark.parametrize("direction", [(), ("--lower-is-better", "latency")])
def test_a_direction_of_failures_alone_is_no_gate(side, tmp_path, direction):
    heading = "latency,success"
    places = (
        side("a", heading, *([f"{10 + r / 10},true", f"{11 + r / 10},true"] for r in range(4))),
        side("b", heading, *([f"{30 + r / 10},true", f"{31 + r / 10},true"] for r in range(4))),
    )
    code, output = run("compare", *places, "--fail-on", "slower", *direction)
    assert code == (1 if direction else 2), output
    assert ("no direction is known" in output) == (not direction)
    rows = [
        f"r{k},{10 + k % 3 if k < 10 else 40 + k % 3},{'true' if k else 'false'}" for k in range(20)
    ]
    (tmp_path / "h.csv").write_text("\n".join(["revision,latency,success", *rows, ""]))
    code, output = run("history", tmp_path / "h.csv", "--fail-on", "slower", *direction)
    assert code == (1 if direction else 2), output


def test_rows_stay_paired_beside_an_empty_cell(tmp_path):
    rng = np.random.default_rng(2)
    load = rng.lognormal(0, 1, 12)
    frames = {
        name: load * scale * np.exp(0.01 * rng.standard_normal(12))
        for name, scale in (("a", 10.0), ("b", 11.0))
    }
    for name, values in frames.items():
        rows = [f"{v},{rest}" for v, rest in zip(values, rng.random(12), strict=True)]
        if name == "b":
            rows[2] = ",0.5"
        (tmp_path / f"{name}.csv").write_text("\n".join(["seconds,rest", *rows, ""]))
    table = virtperf.compare(
        tmp_path / "a.csv", tmp_path / "b.csv", rows="runs", paired=True, lower=["seconds"]
    )
    (row,) = table.rows
    kept = np.arange(12) != 2
    logs = np.log(frames["b"][kept] / frames["a"][kept])
    assert row.p == pytest.approx(stats.ttest_1samp(logs, 0.0).pvalue)
    assert (row.verdict, row.compared) == ("slower", "within 11 blocks")


def test_failed_rows_are_runs_that_failed(tmp_path):
    rng = np.random.default_rng(3)
    failed = {"a": np.zeros(40, bool), "b": rng.random(40) < 0.4}
    for name, of_side in failed.items():
        rows = [f"{10 + k % 5},{str(not bad).lower()}" for k, bad in enumerate(of_side)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["seconds,success", *rows, ""]))
    table = virtperf.compare(tmp_path / "a.csv", tmp_path / "b.csv", rows="runs", lower=["seconds"])
    first = table.rows[0]
    assert (first.quantity, first.verdict, first.runs_b) == ("failures", "worse", 40)
    assert first.p == pytest.approx(stats.ttest_1samp(failed["b"].astype(float), 0.0).pvalue)


def test_an_unknown_success_is_no_failure(side):
    heading = "seconds,success"
    runs = [["10,1", "11,", f"12.{k},1"] for k in range(3)]
    places = side("a", heading, *runs), side("b", heading, *runs, ["10,1", "11,0"])
    rows = {row.quantity: row for row in virtperf.compare(*places, lower=["seconds"]).rows}
    assert (rows["failures"].mean_a, rows["failures"].mean_b) == (0.0, pytest.approx(1 / 8))
    assert rows["seconds"].mean_a == pytest.approx(11.0 + 0.1 / 3)


def test_constant_differences_within_blocks():
    blocks = tuple("abc")
    a, b = (Replicates(np.array([0.25, 0.5, 0.75]) + by, blocks) for by in (0.0, 0.125))
    row = only(ratio_rows([Pair("failures", (), a, b)], FAILED, margin=0.0, level=0.95))
    assert (row.verdict, row.difference) == ("worse", 0.125)


def test_sides_of_one_block_each_say_why_failures_have_no_interval():
    a, b = (Replicates(np.array([0.1, 0.2]), (block,) * 2) for block in "ab")
    row = only(ratio_rows([Pair("failures", (), a, b)], FAILED, margin=0.0, level=0.95))
    assert (row.verdict, row.p) == ("undecided", None) and "no interval" in row.note


def test_percentiles_of_rates_have_no_direction_of_their_own(side):
    rng = np.random.default_rng(4)
    places = [
        side(
            name,
            "ops_per_s,latency",
            *([f"{v},{v}" for v in level + rng.random(30)] for _ in range(4)),
        )
        for name, level in (("a", 100.0), ("b", 120.0))
    ]
    table = virtperf.compare(*places, percentiles=[50])
    assert [(row.quantity, row.verdict) for row in table.rows] == [("p50 of latency", "slower")]
    assert any(
        note.startswith("lower is taken to be better: p50 of latency;") for note in table.notes
    )
    table = virtperf.compare(*places, percentiles=[50], higher=["*"])
    assert {row.verdict for row in table.rows} == {"faster"}
    assert not any("taken to be" in note for note in table.notes)


@pytest.mark.parametrize("cell", ["1.234,5", "1 234.5", "1'234", "1\u00a0234,5"])
@pytest.mark.parametrize("heading", ["latency;users", "users;latency"])
def test_numbers_in_another_notation_are_refused(side, cell, heading):
    row = f"{cell};5" if heading.startswith("latency") else f"5;{cell}"
    place = side("a", heading, *[[row] * 3] * 3)
    with pytest.raises(RawperfError, match=r"column 'latency' contains .* not a finite number"):
        virtperf.compare(place, place)


def test_a_header_only_is_a_run_without_values(side):
    heading, rows = "version,rate,success", ["v{},10.{},true", "v{},11.{},true"]
    places = [
        side(name, heading, *([row.format(name, k) for row in rows] for k in range(3)))
        for name in "ab"
    ]
    (places[1] / "r3.csv").write_text(f"{heading}\n")
    table = virtperf.compare(*places, higher=["rate"])
    rows = {row.quantity: row for row in table.rows}
    assert (rows["rate"].runs_a, rows["rate"].runs_b, rows["rate"].condition) == (3, 3, "")
    assert [fact.fact for fact in table.facts] == ["version"]
    assert any(n.startswith("B: 1 of 4 runs has no rate") and "r3" in n for n in table.notes)
    (places[1] / "r3.csv").write_text("")
    with pytest.raises(RawperfError, match="empty"):
        virtperf.compare(*places, higher=["rate"])


def test_ranks_of_many_rows_have_the_limits_of_the_normal_approximation():
    rng = np.random.default_rng(5)
    a, b = (Replicates(rng.lognormal(level, 0.2, 150), ("",) * 150) for level in (0.0, 0.1))
    kinds = {"time": ComparedQuantity("s", "lower", "time")}
    row = only(ratio_rows([Pair("time", (), a, b)], kinds, margin=0.0, level=0.95, ranks=True))
    # the interval holds the ratios that the test at the same level does not reject
    for end, inside in ((row.ranks.low, 1.002), (row.ranks.high, 1 / 1.002)):
        assert stats.mannwhitneyu(b.values / (end / inside), a.values).pvalue < 0.05
        assert stats.mannwhitneyu(b.values / (end * inside), a.values).pvalue > 0.05
    many = Replicates(rng.lognormal(0, 0.2, 4000), ("",) * 4000)
    row = only(
        ratio_rows([Pair("time", (), many, many)], kinds, margin=0.0, level=0.95, ranks=True)
    )
    assert row.ranks is None and "too many runs" in row.note


def test_megabits_are_no_megabytes(side):
    places = side("a", "net_Mb", "8", "8.1"), side("b", "net_MB", "1", "1.1")
    with pytest.raises(RawperfError, match="no quantity in common"):
        virtperf.compare(*places)


def test_claims_take_one_value_of_a_run(side, root):
    heading, rows = "test,throughput", ["get,{}", "set,{}"]
    places = [
        side(name, heading, *([row.format(level + k) for row in rows] for k in range(3)))
        for name, level in (("a", 70), ("b", 100))
    ]
    with pytest.raises(
        ParameterError, match=r"2 values of throughput.*test=get, test=set.*--where"
    ):
        claim(CLAIM, *places, root=root)
    found = claim(CLAIM, *places, where={"test": "get"}, root=root)
    assert "3 runs per condition" in found.note
    with pytest.raises(RunError, match="the same run is listed twice"):
        claim(CLAIM, places[0], places[0], where={"test": "get"}, root=root)


def test_claims_name_runs_without_a_value(side, root):
    places = (
        side("a", "throughput,users", "70.5,1", "0,1", ",1"),
        side("b", "throughput,users", "100.5,1", "101.5,1", "102.5,1"),
    )
    found = claim(CLAIM, *places, quantity="throughput", root=root)
    assert "a: 1 of 3 runs have no throughput" in found.notes


def test_histories_name_zeros_and_empty_cells(tmp_path):
    rng = np.random.default_rng(6)
    values = [f"{v:.4f}" for v in 10 * np.exp(0.01 * rng.standard_normal(20))]
    values[4], values[-1] = "0", ""
    rows = [f"r{k},{value}" for k, value in enumerate(values)]
    (tmp_path / "h.csv").write_text("\n".join(["revision,time_s", *rows, ""]))
    notes = virtperf.history(tmp_path / "h.csv", lower=["time"]).notes
    assert any(note.startswith("time is 0 at r4, which no completed run has") for note in notes)
    assert "time: 1 of 20 revisions have no value: r19" in notes
    assert "cells without a number are left out: time_s line 21" in notes


def test_changes_of_tiny_values_are_found_by_differences(tmp_path):
    rng = np.random.default_rng(7)
    values = 1e-12 * (10 + 0.1 * rng.standard_normal(30) + 5 * (np.arange(30) >= 20))
    values[3] = -values[3]
    rows = [f"r{k},{value!r}" for k, value in enumerate(values.tolist())]
    (tmp_path / "h.csv").write_text("\n".join(["revision,x", *rows, ""]))
    (row,) = virtperf.history(tmp_path / "h.csv", lower=["x"]).rows
    assert (row.verdict, [each.revision for each in row.changes]) == ("slower", ["r20"])
    assert 5e-12 in row.changes[0].change and row.levels == pytest.approx([10e-12, 15e-12], rel=0.1)


def test_many_rows_are_read_in_time(tmp_path):
    rng = np.random.default_rng(8)
    for name, level in (("a", 1.0), ("b", 1.01)):
        values = rng.lognormal(np.log(level), 0.1, 50_000)
        (tmp_path / f"{name}.csv").write_text("seconds\n" + "\n".join(map(str, values)) + "\n")
    begin = time.process_time()
    code, output = run(
        "compare", tmp_path / "a.csv", tmp_path / "b.csv", "--rows", "runs", "--lower-is-better", "*",
        "--format", "json",
    )  # fmt: skip
    assert code == 0
    (row,) = json.loads(output)["rows"]
    a, b = (np.loadtxt(tmp_path / f"{name}.csv", skiprows=1) for name in "ab")
    assert row["ratio"] == pytest.approx(b.mean() / a.mean()) and row["verdict"] == "slower"
    found = virtperf.history(tmp_path / "a.csv", lower=["*"])
    assert any("only the last 10,000 of 50,000 revisions are read" in note for note in found.notes)
    assert len(found.rows[0].measured) == 1000
    assert time.process_time() - begin < 60


@pytest.mark.parametrize("command", ["compare", "history", "claim"])
def test_levels_of_unknown_factors_are_refused(side, root, command):
    places = side("a", "throughput", "70", "71"), side("b", "throughput", "100", "101")
    words = {
        "compare": places,
        "history": (places[0],),
        "claim": ("test", CLAIM, *places),
    }[command]
    code, output = run("--root", root, command, *words, "--where", "guest=2")
    assert code == 2 and "no run has a factor 'guest'" in output


def test_rows_of_one_file_are_no_two_sides(side):
    place = side("a", "seconds", ["1", "2", "3"]) / "r0.csv"
    with pytest.raises(RunError, match="the same run is listed twice"):
        virtperf.compare(place, place, rows="runs", lower=["seconds"])
