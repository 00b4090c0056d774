"""`virtperf compare` on raw files and run folders: run detection, pairs, blocks, exclusions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import virtperf
from rawperf.core.errors import RawperfError
from tests.toy_runs import write_run

A = (99.0, 100.5, 100.2, 99.6, 100.9, 99.8)
B = (90.6, 89.2, 90.3, 90.1, 89.1, 90.7)
WRK = """\
Running 9s test @ http://127.0.0.1:8100/
  1 threads and 8 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    {latency:.2f}ms    1.12ms  25.02ms   79.84%
    Req/Sec   446.62     19.42   484.00     67.78%
  {requests} requests in 9.00s, 3.91GB read
Requests/sec:    {rate:.2f}
Transfer/sec:    444.80MB
"""


def wrk(rate: float) -> str:
    return WRK.format(rate=rate, latency=8e3 / rate, requests=round(9 * rate))


def raw_files(folder, rates, names="run-{}.txt"):
    folder.mkdir(parents=True)
    for number, rate in enumerate(rates, 1):
        (folder / names.format(number)).write_text(wrk(rate))
    return folder


def run_folders(root, rates, kernel="6.1", **fields):
    for number, rate in enumerate(rates, 1):
        write_run(
            root,
            f"r{number}",
            {"wrk.txt": wrk(rate).encode()},
            study="kernels",
            factors={"kernel": kernel, "guests": 1 + number % 2},
            replicate=number,
            machine={"kernel": kernel, "cpu": "one"},
            **fields,
        )
    return root


@pytest.fixture
def folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return raw_files(tmp_path / "a", A), raw_files(tmp_path / "b", B)


def row(table, quantity, condition=""):
    (found,) = [r for r in table.rows if (r.quantity, r.condition) == (quantity, condition)]
    return found


def test_raw_file_folders_are_compared(folders):
    table = virtperf.compare(*folders)
    rate = row(table, "throughput")
    assert rate.ratio == pytest.approx(sum(B) / sum(A))
    assert (rate.verdict, rate.runs_a, rate.runs_b, rate.compared) == ("slower", 6, 6, "")
    assert row(table, "response_time").verdict == "slower"
    assert table.sentences[1].startswith("b serves 10.0 % less than a, ")
    assert {r.quantity for r in table.rows} == {  # quantities without a direction are not rated
        "throughput",
        "response_time",
    }


def test_subfolders_are_runs(tmp_path, folders):
    for letter, rates in (("c", A), ("d", B)):
        for number, rate in enumerate(rates):
            raw_files(tmp_path / letter / f"r{number}", [rate], "wrk.txt")
    rows = [replace(row, side="b") for row in virtperf.compare("c", "d").rows]
    assert rows == list(virtperf.compare(*folders).rows)


def test_glob_patterns_select_runs(folders):
    table = virtperf.compare("a/run-[1-4].txt", "b/run-?.txt")
    assert {(r.runs_a, r.runs_b) for r in table.rows} == {(4, 6)}


def test_runs_are_paired_by_name(tmp_path):
    drift = (1.0, 1.4, 0.8, 1.2, 0.7, 1.3)
    sides = [
        raw_files(tmp_path / name, [d * rate for d, rate in zip(drift, rates, strict=True)])
        for name, rates in (("a", A), ("b", B))
    ]
    loose = row(virtperf.compare(*sides), "throughput")
    paired = row(virtperf.compare(*sides, paired=True), "throughput")
    assert (loose.verdict, paired.verdict) == ("undecided", "slower")
    assert paired.compared == "within 6 blocks"
    (sides[1] / "run-6.txt").unlink()
    with pytest.raises(RawperfError, match="different numbers of runs"):
        virtperf.compare(*sides, paired=True)


def test_run_folders_are_compared_at_equal_factor_levels(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_folders(tmp_path / "a", A)
    run_folders(tmp_path / "b", B, kernel="6.6", disturbed=["another load"])
    table = virtperf.compare("a", "b", quantities=["throughput"])
    assert {r.condition for r in table.rows} == {
        "guests=2",
        "guests=1",
        "geometric mean over 2 conditions",
    }
    assert [(f.fact, *f.values) for f in table.facts] == [("kernel", ("6.1",), ("6.6",))]
    assert "B: 6 of 6 runs were disturbed" in table.notes


def test_run_folders_written_by_hand_with_a_table_each(tmp_path):
    for side, level, shift in (("none", 1000, 7), ("aes", 900, 5)):
        for number in (1, 2, 3):
            folder = tmp_path / f"{side}-r{number}"
            folder.mkdir()
            (folder / "result.csv").write_text(
                f"requests_per_s,errors\n{level + number * shift},0\n"
            )
            (folder / "run.yaml").write_text(
                f"study: disk-encryption\nrun: {folder.name}\nprovenance: measured\n"
                f"factors: {{encryption: {side}}}\nreplicate: {number}\nblock: night-{number}\n"
                f"machine: {{kernel: '{side}'}}\n"
            )
    found = virtperf.compare(str(tmp_path / "none-r*"), str(tmp_path / "aes-r*"))
    one = row(found, "requests_per_s")
    ratios = np.log([905 / 1007, 910 / 1014, 915 / 1021])  # within blocks
    assert one.ratio == pytest.approx(np.exp(ratios.mean()), rel=1e-3)
    assert one.compared == "within 3 blocks"
    assert any("kernel" in str(fact) for fact in found.facts)


def test_blocks_of_run_yaml_are_used(tmp_path):
    for name, rates in (("a", A), ("b", B)):
        for number, rate in enumerate(rates, 1):
            write_run(
                tmp_path / name,
                f"{name}{number}",
                {"wrk.txt": wrk(rate * number).encode()},
                block=f"round {number}",
                factors={},
            )
    table = virtperf.compare(tmp_path / "a", tmp_path / "b")
    assert {r.compared for r in table.rows} == {"within 6 blocks"}
    assert {r.verdict for r in table.rows} == {"slower"}


def test_same_runs_on_both_sides_are_rejected(folders):
    with pytest.raises(RawperfError, match="the same run is listed twice"):
        virtperf.compare("a", "a")


def test_better_direction_can_be_given(folders):
    table = virtperf.compare(*folders, lower=["requests"])
    assert row(table, "requests").verdict == "faster"
    with pytest.raises(RawperfError, match="no quantity of the runs matches 'through'"):
        virtperf.compare(*folders, quantities=["through"])


def test_rows_are_matched_by_settings(tmp_path, monkeypatch):
    """Columns that are equal row by row in all runs of a side are settings."""
    monkeypatch.chdir(tmp_path)
    for side, levels in (("old", (100.0, 50.0, 20.0)), ("new", (90.0, 50.0, 30.0))):
        (tmp_path / side).mkdir()
        for run in range(4):
            rows = [f"{n},{level * n + run}\n" for n, level in zip((1, 4, 16), levels, strict=True)]
            (tmp_path / side / f"{run}.csv").write_text("clients,throughput\n" + "".join(rows))
    table = virtperf.compare("old", "new", quantities=["throughput"])
    single = {r.condition: r.verdict for r in table.rows if not r.is_mean}
    assert single["clients=1"] == "lower" and single["clients=16"] == "higher"
    assert any("rows are matched by clients" in note for note in table.notes)
    table = virtperf.compare("old", "new", quantities=["throughput"], over=["clients"])
    (mean,) = table.rows
    assert mean.mean_a == pytest.approx(np.mean([100, 200, 320]) + 1.5)


def test_empty_sides_and_disjoint_quantities_are_errors(tmp_path, folders):
    with pytest.raises(RawperfError, match="there are no runs"):
        virtperf.compare("a", "c")
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "x.csv").write_text("seconds\n1.5\n")
    with pytest.raises(RawperfError, match="the sides have no quantity in common"):
        virtperf.compare("a", "t")


def test_quantities_of_one_side_only_are_skipped(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for side, rates in (("c", A), ("d", B)):
        for number, rate in enumerate(rates[:3], 1):
            folder = tmp_path / side / f"r{number}"
            folder.mkdir(parents=True)
            (folder / "load.csv").write_text(f"seconds,loops\n1,{rate}\n2,{rate + 1}\n")
            if side == "c":
                (folder / "wrk.txt").write_text(wrk(rate))
    found = {one.quantity for one in virtperf.compare("c", "d").rows}
    assert "loops" in found and "throughput" not in found


def test_undirected_quantities_suggest_how_to_select_rows(tmp_path):
    header = ",".join(f"m{k}" for k in range(25))
    for side in "ab":
        for run in (1, 2, 3):
            folder = tmp_path / side
            folder.mkdir(exist_ok=True)
            row = ",".join(str(100 + run + k + 7 * (side == "b")) for k in range(25))
            (folder / f"run-{run}{side}.csv").write_text(f"{header}\n{row}\n{row}0\n")
    table = virtperf.compare(tmp_path / "a", tmp_path / "b", root=tmp_path)
    assert len(table.rows) > 20 and any("no direction" in note for note in table.notes)
    one = virtperf.compare(tmp_path / "a", tmp_path / "b", quantities=["m1"], root=tmp_path)
    assert len(one.rows) == 1 and not any("no direction" in note for note in one.notes)


DECLARED = """\
name: rates
reads: csv
match: {file: rates*.csv}
time: {field: second}
fields:
  - {field: rate, metric: transaction_rate, unit: 1/s, kind: gauge}
"""


def test_declaration_applies_only_to_matching_files(tmp_path):
    declaration = tmp_path / "rates.yaml"
    declaration.write_text(DECLARED)
    for side, more in (("a", 0), ("b", 5)):
        for run in (1, 2, 3):
            folder = tmp_path / side / f"run-{run}"
            folder.mkdir(parents=True)
            rows = "".join(f"{t},{100 + more + run + t % 3}\n" for t in range(9))
            (folder / "rates.csv").write_text(f"second,rate\n{rows}")
            (folder / "wrk.txt").write_text(wrk(900 + more + run))
    table = virtperf.compare(tmp_path / "a", tmp_path / "b", format=str(declaration), root=tmp_path)
    names = {r.quantity for r in table.rows}
    assert "transaction_rate" in names and "throughput" in names
    declaration.write_text(DECLARED.replace("rates*.csv", "other*.csv"))
    with pytest.raises(RawperfError, match="no file matches the declared format 'rates'"):
        virtperf.compare(tmp_path / "a", tmp_path / "b", format=str(declaration), root=tmp_path)


def test_runs_of_one_folder_are_split_at_random(folders):
    table = virtperf.compare("a", aa=True, splits=20)
    (found,) = table.equal_runs
    assert (found.splits, found.possible, found.rows) == (20, 10, 2)
    assert table.sentences[0].startswith("A/A, random halves of the runs of each condition: ")
    assert "there are only 10 distinct splits" in table.sentences[0]


def number_tables(folder, cells, heading="score"):
    """Runs as tables: one file per run, rows given as lists of cells."""
    folder.mkdir()
    for number, rows in enumerate(cells, 1):
        (folder / f"{number}.csv").write_text("\n".join([heading, *rows]) + "\n")
    return folder


@pytest.mark.parametrize("percentiles", [(), (99,)])
@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("timeout", "not a finite"),
        ("inf", "not a finite"),
        ('"6,1"', "not a finite"),
        ("1e308", "too large"),
    ],
)
def test_non_numeric_cell_is_rejected(tmp_path, percentiles, cell, message):
    rows = [f"6.{k}" for k in range(8)]
    number_tables(tmp_path / "a", [rows, rows[1:]])
    number_tables(tmp_path / "b", [rows[2:], [*rows[3:], cell]])
    with pytest.raises(RawperfError, match=f"column 'score' contains .*{message}") as caught:
        virtperf.compare(tmp_path / "a", tmp_path / "b", percentiles=percentiles)
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "b" / "2.csv"), 7)


def test_non_numeric_cell_in_a_run_folder_is_reported(tmp_path):
    """Other files of the run are still read; without any, it is an error."""
    for side, scale in (("a", 1), ("b", 3)):
        for run in (1, 2):
            folder = tmp_path / side / f"r{run}"
            folder.parent.mkdir(exist_ok=True)
            number_tables(folder, [[f"{scale * run}.{k}" for k in range(4)]])
            (folder / "2.csv").write_text(f"rest\n{scale + run}\n")
    broken = tmp_path / "b" / "r2" / "1.csv"
    broken.write_text(broken.read_text() + "many\n")
    notes = virtperf.compare(tmp_path / "a", tmp_path / "b").notes
    assert any("r2: not read: 1.csv line 6: column 'score' contains" in note for note in notes)
    (tmp_path / "b" / "r2" / "2.csv").unlink()
    with pytest.raises(
        RawperfError, match="column 'score' contains a value that is not a finite number"
    ) as caught:
        virtperf.compare(tmp_path / "a", tmp_path / "b")
    assert (caught.value.file, caught.value.line) == (str(broken), 6)


def test_cell_that_is_numeric_in_other_runs_is_rejected(tmp_path):
    """In one-row tables no column is mostly numeric."""
    for heading, rest in (("score", ""), ("score,users", ",5")):
        sides = [tmp_path / f"{side}{rest}" for side in "ab"]
        number_tables(sides[0], [[f"6.{k}{rest}"] for k in "123"], heading)
        number_tables(sides[1], [[f"6.{k}{rest}"] for k in "4x6"], heading)
        with pytest.raises(RawperfError, match=r"column 'score' contains .*'6\.x'") as caught:
            virtperf.compare(*sides)
        assert (caught.value.file, caught.value.line) == (str(sides[1] / "2.csv"), 2)


def test_text_columns_are_skipped_and_empty_cells_are_missing(tmp_path):
    for side, scale in (("a", 1), ("b", 2)):
        cells = [[f"x,{scale * k}.5,ok,", f"y,-,ok,{k}"] for k in (1, 2, 3)]
        number_tables(tmp_path / side, cells, "driver,score,state,left")
    found = virtperf.compare(tmp_path / "a", tmp_path / "b")
    rows = {(r.quantity, r.condition): r.mean_a for r in found.rows}
    assert rows == {("score", "driver=x"): 2.5, ("left", "driver=y"): 2.0}
    assert any("score line 3" in note for note in found.notes)


def test_runs_without_a_column_and_empty_cells_are_noted(tmp_path):
    number_tables(tmp_path / "a", [["5.0", "5.2"], ["5.1", "5.3"], ["5.2", "5.1"]], "lat")
    number_tables(tmp_path / "b", [["6.0", "6.2"], ["6.1", "NaN"], ["6.2", "6.1"]], "lat")
    (tmp_path / "b" / "3.csv").write_text("latency\n6.2\n6.1\n")
    found = virtperf.compare(tmp_path / "a", tmp_path / "b")
    assert row(found, "lat").runs_b == 2
    assert "B: 1 of 3 runs has no lat: 3.csv" in found.notes
    assert "B: cells without a number are left out: 2.csv (lat line 3)" in found.notes
    assert not any(note.startswith("A: ") for note in found.notes)


def test_texts_in_all_runs_of_a_side_are_refused(tmp_path):
    cells = [[["1,5.0", "2,5.2"], ["1,5.1", "2,5.3"]], [["1,6.0", "2,x"], ["1,6.1", "2,x"]]]
    sides = [
        number_tables(tmp_path / n, rows, "v,lat") for n, rows in zip("ab", cells, strict=True)
    ]
    with pytest.raises(RawperfError, match=r"column 'lat' contains .* found 'x'") as caught:
        virtperf.compare(*sides)
    assert (caught.value.file, caught.value.line) == (str(sides[1] / "1.csv"), 3)


def test_labels_that_are_numbers_on_one_side_are_left_out(tmp_path):
    number_tables(tmp_path / "a", [["1234567,1"], ["7654321,2"]], "commit,rate")
    number_tables(tmp_path / "b", [["ab34567,3"], ["cd54321,4"]], "commit,rate")
    found = virtperf.compare(tmp_path / "a", tmp_path / "b")
    assert [r.quantity for r in found.rows] == ["rate"]


def test_a_number_beyond_floats_is_named_as_written(tmp_path):
    number_tables(tmp_path / "a", [["5.0", "5.2"], ["5.1", "5.3"]], "lat")
    number_tables(tmp_path / "b", [["6.0", "6.2"], ["6.1", "-1e400"]], "lat")
    with pytest.raises(RawperfError, match=r"2\.csv line 3: .* too large.*; found '-1e400'"):
        virtperf.compare(tmp_path / "a", tmp_path / "b")


def test_a_run_without_files_is_named_with_its_path(tmp_path, folders):
    for run in (1, 2):
        raw_files(tmp_path / "c" / f"r{run}", A[run : run + 1])
    (tmp_path / "c" / "r2" / "run-1.txt").unlink()
    said = "no raw files. Copy the tools' output files to this folder, or remove it"
    with pytest.raises(RawperfError, match=said) as caught:
        virtperf.compare("a", "c")
    assert caught.value.file == "c/r2"


def test_overflowing_statistics_are_rejected(tmp_path):
    for side, value in (("a", 1.5), ("b", 1e200)):
        for k in (1, 2):
            (tmp_path / side).mkdir(exist_ok=True)
            (tmp_path / side / f"{k}.json").write_text(f'{{"ops": {k * value}}}')
    with pytest.raises(
        RawperfError, match=r"b/1\.json: column 'ops' contains a number that is too large"
    ):
        virtperf.compare(tmp_path / "a", tmp_path / "b")


def test_folders_without_run_yaml_among_runs_are_reported(tmp_path):
    for side, rates in (("a", A), ("b", B)):
        run_folders(tmp_path / side, rates)
    (tmp_path / "a" / "r3" / "run.yaml").unlink()
    found = virtperf.compare(tmp_path / "a", tmp_path / "b")
    assert "A: left out: r3 (no run.yaml)" in found.notes
    assert not any(note.startswith("B: left out") for note in found.notes)
    for name in ("r1", "r2", "r4"):
        (tmp_path / "a" / name / "run.yaml").unlink()
    found = virtperf.compare(tmp_path / "a", tmp_path / "b")
    assert "A: left out: r1, r2, r3 and 1 more (no run.yaml)" in found.notes


def test_format_is_ignored_for_described_runs_with_a_note(tmp_path):
    for side, rates in (("a", A), ("b", B)):
        run_folders(tmp_path / side, rates)
    found = virtperf.compare(tmp_path / "a", tmp_path / "b", format="hdrhistogram")
    note = "r1, r2, r3 and 3 more: --input-format is ignored for a folder with run.yaml"
    assert [n.partition(": ")[2].startswith(note) for n in found.notes if "ignored" in n] == [
        True
    ] * 2
    (tmp_path / "a" / "r1" / "wrk.txt").write_text("no output of wrk\n")
    with pytest.raises(RawperfError, match="--input-format is ignored"):
        virtperf.compare(tmp_path / "a" / "r1", tmp_path / "b" / "r1", format="wrk")
