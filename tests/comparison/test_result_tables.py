"""Tables that people bring: rows with keys, units in headings, failures, several sides, exit status."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import stats

import virtperf
from rawperf.core.errors import RawperfError
from virtperf.cli import main

CASES = Path(__file__).with_name("cases")
RNG = np.random.default_rng(7)


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["compare", *map(str, arguments)])
    assert isinstance(result.exception, SystemExit | None), result.exception
    return result.exit_code, result.output


def compared(*arguments: object) -> dict[tuple[str, str], dict]:
    code, output = run(*arguments, "--format", "json")
    assert code == 0, output
    return {(r["quantity"], r["condition"]): r for r in json.loads(output)["rows"]}


def write(folder: Path, runs: list[str]) -> Path:
    folder.mkdir(parents=True)
    for number, text in enumerate(runs):
        (folder / f"r{number}.csv").write_text(text)
    return folder


def welch(a, b) -> tuple[float, float]:
    """Ratio of means and two-sided p-value of the difference of logarithms."""
    return np.mean(b) / np.mean(a), stats.ttest_ind(np.log(a), np.log(b), equal_var=False).pvalue


@pytest.mark.filterwarnings("ignore:Precision loss")  # scipy, of benchmarks that hardly vary
@pytest.mark.parametrize(
    ("case", "key", "column", "quantity", "scale"),
    [
        ("jmh", "Benchmark", "Score", "time", 1e-3),
        ("redis", "test", "rps", "throughput", 1),
        ("hf", "command", "mean", "time", 1),
    ],
)
def test_benchmarks_of_a_table_are_rows_of_their_own(case, key, column, quantity, scale):
    """Each row equals the means of its benchmark's rows, read by pandas."""
    sides = {}
    for side in "ab":
        files = sorted((CASES / f"{case}-{side}").glob("*.csv"))
        sides[side] = pd.concat(map(pd.read_csv, files)).groupby(key)[column].apply(list)
    rows = compared(
        CASES / f"{case}-a", CASES / f"{case}-b", "--lower-is-better", column, "--margin", "1%"
    )
    single = {
        at: row
        for at, row in rows.items()
        if at[0] == quantity and at[1].partition("=")[2] in sides["a"].index
    }
    assert len(single) == len(sides["a"])
    for (_, condition), row in single.items():
        a, b = (sides[side][condition.partition("=")[2]] for side in "ab")
        ratio = np.mean(b) / np.mean(a)
        assert row["mean_a"] == pytest.approx(scale * np.mean(a))
        assert row["ratio"] == pytest.approx(ratio)
        if abs(ratio - 1) > 0.1:
            assert welch(a, b)[1] < 1e-3 and row["verdict"] == ("slower" if ratio > 1 else "faster")
        else:
            assert row["verdict"] in ("same within the margin", "the same, exactly")


def test_quantities_with_blanks_in_their_names_are_kept_apart():
    with pytest.raises(RawperfError, match=r"no quantity in common.*read latency.*read bandwidth"):
        virtperf.compare(CASES / "blank-header/a", CASES / "blank-header/b")


def test_units_in_headings_are_converted(tmp_path):
    (row,) = virtperf.compare(CASES / "blank-unit/a", CASES / "blank-unit/b").rows
    assert (row.quantity, row.unit) == ("latency", "s")
    assert row.ratio == pytest.approx(1.02, abs=0.01)
    a = write(tmp_path / "a", ["latency_us\n1500\n", "latency_us\n1510\n"])
    b = write(tmp_path / "b", ["latency [ms]\n1.5\n", "latency [ms]\n1.52\n"])
    (row,) = virtperf.compare(a, b).rows
    assert (row.mean_a, row.mean_b) == pytest.approx((1505e-6, 1510e-6))


@pytest.mark.parametrize(
    ("heading", "found"), [("latency", "no known unit"), ("latency (MB)", "B")]
)
def test_units_that_cannot_be_converted_are_refused(tmp_path, heading, found):
    a = write(tmp_path / "a", ["latency (ms)\n1.5\n"] * 2)
    b = write(tmp_path / "b", [f"{heading}\n1.5\n"] * 2)
    with pytest.raises(RawperfError, match=f"latency is in {found}, in .*r0.csv it is in s"):
        virtperf.compare(a, b)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("throughput,latency\n1\n2\n", 2),
        ("a,b\n1,2\n3\n", 3),
        ("a;b\n1;2\n\n3;4;5\n", 4),
        ("latency\n1,5,6\n", 2),
        ("1.5\n1.6\n", 1),
    ],
)
def test_rows_unlike_the_header_are_refused_with_their_line(tmp_path, text, line):
    side = write(tmp_path / "a", [text])
    with pytest.raises(RawperfError) as caught:
        virtperf.compare(side, side)
    assert (caught.value.line, Path(caught.value.file).name) == (line, "r0.csv")


def test_texts_of_one_level_a_run_are_facts_and_times_are_no_keys(tmp_path):
    def tables(version, level):
        rows = [f"2026-01-0{k + 1} 12:00:00,{version},{level * (1 + k / 100)}\n" for k in range(3)]
        return [f"when,version,rate\n{''.join(rows)}" for _ in range(3)]

    a, b = write(tmp_path / "a", tables("1.0-x", 100)), write(tmp_path / "b", tables("1.1-x", 90))
    table = virtperf.compare(a, b)
    (row,) = table.rows
    assert (row.condition, row.ratio) == ("", pytest.approx(0.9))
    assert [(f.fact, *f.values) for f in table.facts] == [("version", ("1.0-x",), ("1.1-x",))]
    assert "not compared: when (times of the rows)" in table.notes


def test_a_text_that_names_the_run_is_a_key_between_files(tmp_path):
    def tables(boot, stop):
        return [
            f"task,seconds\n{n},{v + k / 50}\n"
            for n, v in (("boot", boot), ("stop", stop))
            for k in range(3)
        ]

    a, b = write(tmp_path / "a", tables(10, 1)), write(tmp_path / "b", tables(20, 0.5))
    rows = {r.condition: r for r in virtperf.compare(a, b, lower=["seconds"]).rows}
    assert rows["task=boot"].verdict == "slower" and rows["task=stop"].verdict == "faster"


def test_rows_are_matched_by_numbers_that_repeat_equally_often(tmp_path):
    """Repetitions at several levels of a setting, of which the sides have others."""
    sides = []
    for side, levels, change in (("a", (10, 100, 1000), 1.0), ("b", (10, 100, 5000), 0.5)):
        rows = [f"{n},{change * n * (1 + k / 100)}\n" for n in levels for k in range(5)]
        sides.append(write(tmp_path / side, ["queries,size_kb\n" + "".join(rows)]) / "r0.csv")
    table = virtperf.compare(*sides, rows="runs")
    single = {r.condition: (r.ratio, r.runs_a) for r in table.rows if not r.is_mean}
    assert single == {f"queries={n}": (pytest.approx(0.5), 5) for n in (10, 100)}
    assert {
        note[0]: note.rpartition("=")[2] for note in table.notes if "not on both sides" in note
    } == {"A": "1000", "B": "5000"}


def test_keys_and_averages_on_request(tmp_path):
    def tables(shift):
        header = "engine,threads,rate\n"
        rows = [("x", 1, 10), ("x", 2, 20), ("y", 1, 30), ("y", 2, 40 + shift)]
        return [header + "".join(f"{e},{t},{v + k}\n" for e, t, v in rows) for k in range(3)]

    a, b = write(tmp_path / "a", tables(0)), write(tmp_path / "b", tables(20))
    single = [r.condition for r in virtperf.compare(a, b).rows if not r.is_mean]
    assert sorted(single) == [f"engine={e}, threads={t}" for e in "xy" for t in (1, 2)]
    only = compared(a, b, "--where", "engine=y", "--where", "threads=2")
    assert only["rate", ""]["ratio"] == pytest.approx(61 / 41)
    over = compared(a, b, "--key", "engine", "--over", "threads", "--quantity", "rate")
    assert over["rate", "engine=y"]["mean_b"] == pytest.approx(46)
    with pytest.raises(
        RawperfError, match=r"no table has a column 'engin'.*[Dd]id you mean 'engine'"
    ):
        virtperf.compare(a, b, keys=["engin"])


def test_rows_of_single_files_are_runs_on_request(tmp_path):
    values = {
        side: list(level * RNG.normal(1, 0.01, 8)) for side, level in (("a", 5.0), ("b", 5.5))
    }
    for side, of_side in values.items():
        write(tmp_path / side, ["seconds\n" + "".join(f"{v}\n" for v in of_side)])
    files = [tmp_path / side / "r0.csv" for side in "ab"]
    table = virtperf.compare(*files, lower=["seconds"])
    assert table.rows[0].verdict == "undecided" and (table.rows[0].runs_a, table.rows[0].low) == (
        1,
        None,
    )
    assert table.sentences[-1] == (
        "The files have up to 8 rows of one key: --rows runs compares them as runs."
    )
    table = virtperf.compare(*files, lower=["seconds"], rows="runs")
    (row,) = table.rows
    ratio, p = welch(values["a"], values["b"])
    assert (row.verdict, row.runs_a, row.ratio) == ("slower", 8, pytest.approx(ratio))
    assert p < 1e-4 and any("taken as runs" in note for note in table.notes)


def test_equal_runs_are_compared_exactly():
    rows = compared(CASES / "exact/a", CASES / "exact/b", "--quantity", "exits")
    assert (rows["exits", ""]["verdict"], rows["exits", ""]["exact"]) == ("higher", True)
    table = virtperf.compare(CASES / "identical/a", CASES / "identical/b")
    assert table.rows[0].verdict == "higher"
    assert any("byte-identical" in note for note in table.notes)


def test_byte_identical_files_are_the_same_exactly(tmp_path):
    a, b = (write(tmp_path / side, ["exits\n3\n"] * 4) for side in "ab")
    table = virtperf.compare(a, b)
    assert table.rows[0].verdict == "the same, exactly"
    assert any("7 of 8 runs have files that are byte-identical" in note for note in table.notes)


def test_a_column_of_successes_counts_failures(tmp_path):
    """Failed requests are quick; they count neither as served nor in the response time."""

    def log(share):
        failed = RNG.random(200) < share
        times = np.where(failed, 2.0, RNG.normal(20, 1, 200))
        rows = zip(times, ~failed, strict=True)
        return "latency (ms),success\n" + "".join(f"{t:.3f},{str(ok).lower()}\n" for t, ok in rows)

    a, b = (
        write(tmp_path / n, [log(share) for _ in range(4)]) for n, share in (("a", 0.0), ("b", 0.3))
    )
    code, output = run(a, b, "--lower-is-better", "latency", "--fail-on", "slower")
    assert code == 1 and output.startswith("Failures: ")
    rows = compared(a, b, "--lower-is-better", "latency")
    assert rows["failures", ""]["verdict"] == "worse"
    frame = pd.concat(map(pd.read_csv, sorted(b.glob("*.csv"))))
    assert rows["failures", ""]["mean_b"] == pytest.approx((~frame["success"]).mean())
    assert rows["latency", ""]["ratio"] == pytest.approx(1, abs=0.02)


def test_several_sides_are_compared_with_the_first(tmp_path):
    levels = {"base": 100.0, "patch-1": 90.0, "patch-2": 101.0}
    for side, level in levels.items():
        write(tmp_path / side, [f"rate\n{v}\n" for v in level * RNG.normal(1, 0.01, 6)])
    places = [tmp_path / side for side in levels]
    table = virtperf.compare(*places, higher=["rate"], margin=0.05)
    assert {row.side: row.verdict for row in table.rows} == {
        "patch-1": "slower",
        "patch-2": "same within the margin",
    }
    two = virtperf.compare(*places[:2], higher=["rate"], margin=0.05).rows[0]
    three = next(row for row in table.rows if row.side == "patch-1")
    assert (three.low, three.high, three.p) == (two.low, two.high, two.p)
    assert three.p_holm == pytest.approx(2 * two.p)  # tested jointly
    code, text = run(*places, "--higher-is-better", "rate", "--format", "markdown")
    assert code == 0 and "| quantity | condition | base | patch-1 | patch-2 |" in text


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("no-direction/a", "no-direction/b"), 2, "no direction is known"),
        (("zero-time/a", "zero-time/b", "--lower-is-better", "elapsed"), 2, "a time or rate is 0"),
        (
            ("zero-time/a", "zero-time/b", "--lower-is-better", "elapsed", "--zeros"),
            0,
            "100 % lower",
        ),
        (("hf-a", "hf-b", "--lower-is-better", "mean"), 1, "slower"),
    ],
)
def test_a_gate_that_cannot_judge_says_so(arguments, status, words):
    places = [CASES / name for name in arguments[:2]]
    code, output = run(*places, *arguments[2:], "--fail-on", "slower")
    assert code == status and words in output


def test_markdown_and_pages_escape_names(tmp_path):
    def tables(level):
        return [f"name,rate\nx|y<b>,{level + k}\nz`,{level + k}\n" for k in range(3)]

    a, b = write(tmp_path / "a|1", tables(10)), write(tmp_path / "b", tables(20))
    markdown, page = tmp_path / "x.md", tmp_path / "x.html"
    code, _ = run(a, b, "-o", markdown, "-o", page)
    assert code == 0
    rows = [line for line in markdown.read_text().splitlines() if line.startswith("| rate")]
    assert all(
        line.replace("\\|", "").count("|") == 9 for line in rows
    ) and "<b>" not in markdown.read_text().replace("\\<b\\>", "")
    assert "<b>" not in page.read_text() and "x|y&lt;b&gt;" in page.read_text().replace(
        "<wbr>", ""
    ).replace("\u200b", "")


@pytest.mark.parametrize("first", [0, 1])
def test_numbers_of_runs_are_no_quantity_where_a_side_has_more(tmp_path, first):
    sides = []
    for name, values in (("a", [10.0, 10.2, 9.9, 10.1, 10.05]), ("b", [12.0, 12.1, 11.9, 12.2])):
        rows = "".join(f"{first + n},{value}\n" for n, value in enumerate(values))
        sides.append(tmp_path / f"{name}.csv")
        sides[-1].write_text(f"run,latency\n{rows}")
    code, output = run(*sides, "--rows", "runs", "--format", "json")
    assert code == 0, output
    found = json.loads(output)
    assert [row["quantity"] for row in found["rows"]] == ["latency"]
    assert found["rows"][0]["ratio"] == pytest.approx(12.05 / 10.05)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("status-code", "200", "503"),
        ("status", "OK", "KO"),
        ("Exitval", "0", "3"),
        ("code", "301", "0"),
        ("code", "OK", "Unavailable"),
        ("responseCode", "200", "Non HTTP response code: SocketTimeoutException"),
        ("rc", "0", "-9"),
        ("result", "PASS", "FAIL"),
        ("state", "completed", "timeout"),
        ("outcome", "success", "cancelled"),
        ("status", "2xx", "5xx"),
        ("timed_out", "false", "true"),
        ("error", "", "connection refused"),
    ],
)
def test_status_and_exit_codes_count_failures(tmp_path, name, good, bad):
    def log(failed):
        rows = [
            f"{1 if k < failed else 5 + k / 100},{bad if k < failed else good}" for k in range(20)
        ]
        return f"latency (ms),{name}\n" + "\n".join(rows) + "\n"

    a, b = (
        write(tmp_path / n, [log(f) for f in counts])
        for n, counts in (("a", (0, 1, 0, 1)), ("b", (9, 10, 9, 10)))
    )
    rows = compared(a, b, "--lower-is-better", "latency")
    assert rows["failures", ""]["verdict"] == "worse"
    assert rows["failures", ""]["difference"] == pytest.approx(9.5 / 20 - 0.5 / 20)
    assert rows["latency", ""]["mean_b"] > 0.005


def test_a_text_of_other_words_or_codes_is_no_failure(tmp_path):
    a, b = (
        write(
            tmp_path / n, [f"latency,code,status\n{v},7,{k}th\n" for k, v in enumerate((5, 6, 7))]
        )
        for n in "ab"
    )
    assert not [q for q, _ in compared(a, b, "--quantity", "*") if q == "failures"]


def test_a_word_of_one_side_is_understood_by_those_of_the_other(tmp_path):
    texts = {"a": "OK", "b": "Unavailable"}
    sides = [
        write(tmp_path / n, [f"latency,status\n5,{word}\n6,{word}\n7,OK\n"] * 3)
        for n, word in texts.items()
    ]
    found = compared(*sides, "--lower-is-better", "latency")
    assert found["failures", ""]["mean_b"] == pytest.approx(2 / 3)
    assert found["latency", ""]["mean_b"] == 7


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("Error %", "0.000%", "12.5%"),
        ("success_rate", "1.0", "0.7"),
        ("success %", "100", "70"),
        ("non_2xx", "0", "30"),
        ("Errs", "0", "30"),
        ("dropped packets", "0", "30"),
    ],
)
def test_shares_and_numbers_of_failures_are_judged(tmp_path, name, good, bad):
    a, b = (
        write(
            tmp_path / n, [f"label,rps,{name}\nx,{10 + k + 5 * (n == 'b')},{v}\n" for k in range(3)]
        )
        for n, v in (("a", good), ("b", bad))
    )
    code, output = run(a, b, "--higher-is-better", "rps", "--fail-on", "slower", "--format", "json")
    assert code == 1 and json.loads(output)["rows"][0]["verdict"] == "worse", output


def test_the_uncertainty_of_a_mean_is_no_failure(tmp_path):
    a, b = (
        write(tmp_path / n, [f"Method,Mean,Error\nx,{10 + k / 10},{v}\n" for k in range(3)])
        for n, v in (("a", 0.25), ("b", 2.5))
    )
    assert {q for q, _ in compared(a, b, "--lower-is-better", "Mean")} == {"Mean"}


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("error", ("± 3", "± 4")),
        ("exit", ("7", "9")),
        ("pass", ("0", "1")),
        ("state", ("idle", "busy")),
        ("result", ("120", "340")),
        ("requests_failed", ("0", "1")),
        ("code", ("A1", "B2")),
    ],
)
def test_other_columns_say_nothing_about_failed_rows(tmp_path, name, cells):
    rows = [f"{k + 5},{cells[k % 2]}" for k in range(4)]
    sides = [write(tmp_path / n, ["\n".join([f"ms,{name}", *rows, ""])] * 2) for n in "ab"]
    found = {quantity for quantity, _ in compared(*sides, "--quantity", "*")}
    assert "failures" not in found and "ms" in found


def test_results_that_are_equal_in_every_run_of_a_side_are_no_keys(tmp_path):
    a, b = (
        write(
            tmp_path / n,
            [f"clients,rps,p50_ms\n1,{9 + k / 10},1\n2,{18 + k / 10},{p50}\n" for k in range(3)],
        )
        for n, p50 in (("a", 2), ("b", 4))
    )
    found = compared(a, b, "--lower-is-better", "p50_ms", "--higher-is-better", "rps")
    assert found["p50", "clients=2"]["verdict"] == "slower"
    assert found["rps", "clients=2"]["ratio"] == pytest.approx(1)


def test_cells_with_units_are_results_where_they_differ(tmp_path):
    a, b = (
        write(
            tmp_path / n,
            [f"Method,Mean,Allocated\nx,{k + 9},{of}\ny,{k + 5},64 B\n" for k in range(3)],
        )
        for n, of in (("a", "512 B"), ("b", "1.00 KB"))
    )
    found = compared(a, b, "--lower-is-better", "Allocated", "--lower-is-better", "Mean")
    assert found["Allocated", "Method=x"]["ratio"] == pytest.approx(1000 / 512)
    assert found["Mean", "Method=x"]["ratio"] == pytest.approx(1)


def test_numbers_that_name_what_was_run_are_not_compared(tmp_path):
    for n, version in (("a", "1.2"), ("b", "1.3")):
        write(tmp_path / n, [f"version,port,ms\n{version},8080,{9 + k}\n" for k in range(3)])
    table = virtperf.compare(tmp_path / "a", tmp_path / "b", lower=["*"])
    assert [row.quantity for row in table.rows] == ["ms"]
    assert "not compared: version, port (it names what was run)" in table.notes


def test_times_below_zero_are_not_judged(tmp_path):
    a, b = (
        write(tmp_path / n, [f"elapsed_ms\n{of + k * (of > 0)}\n" for k in range(3)])
        for n, of in (("a", 5), ("b", -1))
    )
    code, output = run(a, b, "--lower-is-better", "elapsed", "--fail-on", "slower")
    assert code == 2 and "3 of 3 runs of B have elapsed 0 or less" in output


@pytest.mark.parametrize("cell", ["N/A", "-", ""])
def test_a_run_without_its_only_number_is_counted(tmp_path, cell):
    a = write(tmp_path / "a", [f"name,ms\nx,{9 + k}\n" for k in range(3)])
    b = write(tmp_path / "b", [f"name,ms\nx,{9 + k if k else cell}\n" for k in range(3)])
    table = virtperf.compare(a, b, lower=["ms"])
    assert [(row.runs_a, row.runs_b) for row in table.rows] == [(3, 2)]
    assert "B: 1 of 3 runs has no ms: r0.csv" in table.notes


def test_no_failure_on_either_side_is_a_result(tmp_path):
    sides = [write(tmp_path / n, ["errors\n0\n"] * 3) for n in "ab"]
    code, output = run(*sides, "--fail-on", "slower")
    assert code == 0 and "the same, exactly" in output


def test_kinds_of_failures_that_only_one_side_lists_are_judged(tmp_path):
    texts = {"a": '{"qps": 10%d, "codes": {"200": 50}}', "b": '{"qps": 15%d, "codes": {"503": 50}}'}
    for n, text in texts.items():
        (tmp_path / n).mkdir()
        for k in range(3):
            (tmp_path / n / f"{k}.json").write_text(text % k)
    code, output = run(
        tmp_path / "a", tmp_path / "b", "--higher-is-better", "qps", "--fail-on", "slower"
    )
    assert code == 1 and output.startswith("Failures (codes/503): b has 50, a has 0")
    assert "note: codes/503: taken as 0 where a file does not list it" in output


def test_levels_of_a_column_of_one_table_are_sides(tmp_path):
    rows = [
        f"{k},{b},{x + r / 10}"
        for r in range(4)
        for k, f in (("old", 1), ("new", 2))
        for b, x in (("boot", 9 * f), ("stop", 5))
    ]
    (tmp_path / "t.csv").write_text("\n".join(["kernel,bench,s", *rows, ""]))
    code, output = run(
        tmp_path / "t.csv",
        "--factor",
        "kernel=old",
        "--factor",
        "kernel=new",
        "--rows",
        "runs",
        "--lower-is-better",
        "s",
        "--format",
        "json",
    )
    assert code == 0, output
    found = {row["condition"]: row for row in json.loads(output)["rows"]}
    assert (found["bench=boot"]["verdict"], found["bench=boot"]["runs_a"]) == ("slower", 4)
    assert found["bench=stop"]["ratio"] == pytest.approx(1)


@pytest.mark.parametrize("rest", ["copy,900,MB/s\n", ""])
def test_units_of_rows_are_converted(tmp_path, rest):
    a, b = (
        write(tmp_path / n, [f"name,value,unit\nboot,{v + k * f},{u}\n{rest}" for k in range(3)])
        for n, v, f, u in (("a", 100, 1, "ms"), ("b", 0.15, 0.001, "s"))
    )
    rows = compared(a, b, "--lower-is-better", "value")
    found = {at.partition(", ")[0]: row for (_, at), row in rows.items()}
    assert found["name=boot" if rest else ""]["ratio"] == pytest.approx(0.151 / 0.101, rel=1e-3)
    assert not any(at.startswith("geometric") for at in found)


def test_rows_in_other_units_are_never_compared(tmp_path):
    sides = [
        write(tmp_path / n, [f"name,value,unit\nx,{k},{n}-ticks\n" for k in (5, 6)]) for n in "ab"
    ]
    code, output = run(*sides)
    assert code == 2 and "unit=a-ticks" in output


def test_moments_of_rows_are_not_compared(tmp_path):
    a, b = (
        write(tmp_path / n, [f"Starttime,seconds\n{t + k}.25,{k + 1}\n" for k in range(4)])
        for n, t in (("a", 1772359200), ("b", 1782359200))
    )
    table = virtperf.compare(a, b)
    assert [row.quantity for row in table.rows] == ["seconds"]
    assert any("not compared: Starttime (times of the rows)" in note for note in table.notes)


def test_failures_are_counts_if_a_table_of_any_side_has_counts(tmp_path):
    a = write(
        tmp_path / "a", ["load,rate,failed\n1,10,0\n2,20,0\n", "load,rate,failed\n1,11,0\n2,21,0\n"]
    )
    b = write(
        tmp_path / "b", ["load,rate,failed\n1,10,5\n2,20,0\n", "load,rate,failed\n1,11,6\n2,21,1\n"]
    )
    found = compared(a, b)
    assert [found["failed", f"load={n}"]["mean_a"] for n in (1, 2)] == [0, 0]
    assert [found["failed", f"load={n}"]["mean_b"] for n in (1, 2)] == [5.5, 0.5]


def test_rows_of_percentiles_are_not_averaged(tmp_path):
    for side, slow in (("a", 1.0), ("b", 2.0)):
        texts = [
            "percentile,ms\n" + "".join(f"{p},{n + slow * p}\n" for p in range(1, 101))
            for n in (0, 1)
        ]
        write(tmp_path / side, texts)
    found = compared(tmp_path / "a", tmp_path / "b")
    assert (
        len(found) == 101 and found["ms", "percentile=99"]["mean_b"] == 198.5
    )  # with the geometric mean


ROWS = "1,812.5,12.31\n2,799.25,12.52\n"


@pytest.mark.parametrize(
    "heading",
    [
        "run,throughput (MB/s),latency (ms)\n",
        "run,throughput,latency\n,MB/s,ms\n",
        "run,throughput,latency\n[-],[MB/s],[ms]\n",
        "Disk test,,\n,,\n# kernel 6.1\nrun,throughput (MB/s),latency (ms)\n",
        "#run,throughput (MB/s),latency (ms)\n",
        "run,throughput (MBps),latency (msec)\n",
    ],
)
def test_titles_and_units_around_a_heading_are_understood(tmp_path, heading):
    a = write(tmp_path / "a", [heading + ROWS])
    b = write(tmp_path / "b", [heading + ROWS.replace(",12.", ",14.").replace(",8", ",7")])
    found = compared(a, b)
    assert {quantity for quantity, _ in found} == {"throughput", "latency"}
    assert found["throughput", ""]["mean_a"] == pytest.approx((812.5 + 799.25) / 2 * 1e6)
    assert found["latency", ""]["mean_a"] == pytest.approx((12.31 + 12.52) / 2 * 1e-3)
    assert ("lines above the heading" in run(a, b)[1]) == heading.startswith("Disk")


@pytest.mark.parametrize("heading", [",latency\n", "#run,latency\n"])
def test_a_heading_above_a_row_of_numbers_is_no_title(tmp_path, heading):
    a, b = (write(tmp_path / side, [f"{heading}1,12.5 ms\n2,13.5 ms\n"]) for side in "ab")
    assert compared(a, b)["latency", ""]["mean_a"] == pytest.approx(0.013)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Title,\n\nrun,x\n,ms\n1,2.5\n2,3.5\n3,oops\n", "line 7: column 'x (ms)' contains"),
        ("run,x\n1,812 ± 3\n2,814 ± 2\n", "found '812 ± 3'"),
        ('run,x\n1,"812,500"\n', "Write 812500 if the comma is between thousands, 812.500 if"),
        (",net,disk\nrun,MB/s,kB/s\n1,2.5,3\n", "column without a name"),
        ("run,x\n1,2\n\nrun,x\n1,3\n2,4\n", "Keep one table per file"),
        ("test,result\nread,100 MB/s\nping,3 ms\n", "line 2: column 'result' contains"),
        ("run,time\n1,0:12:31\n2,0:12:35\n", "A result is a column of numbers"),
    ],
)
def test_errors_of_tables_say_what_to_do(tmp_path, text, words):
    path = tmp_path / "t.csv"
    path.write_text(text)
    code, output = run(path, path)
    assert code == 2
    assert words in output


@pytest.mark.parametrize(
    "form", ["0{}.05.2024 10:00", "05/0{}/2024 10:00 AM", "0{}-May-2024", "Wed May  {} 10:00 2024"]
)
def test_rows_are_not_matched_by_dates(tmp_path, form):
    """In whatever form, and under whatever name: days would pair runs that have nothing in common."""
    sides = [
        write(
            tmp_path / side,
            ["measured on,x\n" + "".join(f"{form.format(day)},{day}.5\n" for day in days)],
        )
        for side, days in (("a", (1, 2, 3)), ("b", (2, 3, 4)))
    ]
    ((cell, row),) = compared(*sides).items()
    assert cell == ("x", "")
    assert (row["mean_a"], row["mean_b"]) == (2.5, 3.5)


def test_kernels_are_no_dates(tmp_path):
    sides = [write(tmp_path / side, ["kernel,x\n5.10.120,1.5\n6.1.10,2.5\n"]) for side in "ab"]
    assert {at for _, at in compared(*sides)} >= {"kernel=5.10.120", "kernel=6.1.10"}


@pytest.mark.parametrize(
    "text",
    [
        "metric,value\nthroughput,800\nlatency,12\n",
        "name,value\nthroughput (MB/s),800\nlatency (ms),12\n",
        "name,unit,value\na,MB/s,800\nb,ms,12\n",
    ],
)
def test_quantities_of_a_long_table_have_no_common_mean(tmp_path, text):
    sides = [write(tmp_path / side, [text]) for side in "ab"]
    found = compared(*sides)
    assert len(found) == 2
    assert not any("geometric mean" in at for _, at in found)


def test_a_column_named_total_is_no_reason_to_leave_out_another(tmp_path):
    sides = [write(tmp_path / side, ["mem_percent,mem_total\n12.5,24e9\n"]) for side in "ab"]
    assert {name for name, _ in compared(*sides)} == {"mem", "mem_total"}


def test_a_unit_beside_a_value_in_json_is_its_unit(tmp_path):
    for side, factor in (("a", 1), ("b", 2)):
        rows = [
            {"name": "x", "time": {"value": 1.5 * factor, "unit": "ms", "n": 3}},
            {"name": "y", "time": {"value": 250 * factor, "unit": "us", "n": 3}},
        ]
        (tmp_path / f"{side}.json").write_text(json.dumps({"results": rows}))
    found = compared(tmp_path / "a.json", tmp_path / "b.json")
    means = {at: row["mean_a"] for (name, at), row in found.items() if name == "time" and "=" in at}
    assert means == pytest.approx({"name=x": 1.5e-3, "name=y": 250e-6})
    assert found["time", "name=x"]["unit"] == "s"
