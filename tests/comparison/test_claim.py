"""A paper's claim tested on runs of one's own."""

from __future__ import annotations

import json
import math
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import virtperf as vp
from rawperf.core.errors import ParameterError
from virtperf.cli import main
from virtperf.comparison.claim import claim, find_claim, listed
from virtperf.comparison.percentiles import distribution, of_single_values, replace_by_percentiles
from virtperf.comparison.sides import Side
from virtperf.core.order_statistics import percentile
from virtperf.core.paths import Layout
from virtperf.runs.run_reader import RunReader
from virtperf.verdicts.regions import Decision

CLAIM = "zvm-xen-2009/xen-software-costs-27-percent"


@pytest.fixture
def layout(root: Path) -> Layout:
    return Layout(root)


def written(folder: Path, values: list[float], name: str = "throughput") -> Path:
    """One CSV file a run, as a script of one's own would write it."""
    folder.mkdir()
    for n, value in enumerate(values):
        (folder / f"run{n}.csv").write_text(f"{name}\n{value}\n")
    return folder


def invoke(root: Path, *arguments: str):
    return CliRunner().invoke(main, ["--root", str(root), "claim", *arguments])


@pytest.mark.parametrize(
    ("share", "verdict"),
    [(0.73, "holds here"), (0.5, "does not hold here")],
)
def test_verdict_and_interval_are_those_of_the_log_ratio(
    layout: Layout, tmp_path: Path, share: float, verdict: str
) -> None:
    plain = [100.0, 100.4, 99.7, 100.1]
    secure = [share * v for v in (99.9, 100.1, 100.2, 99.8)]
    found = find_claim(layout, CLAIM)
    result = claim(
        found, written(tmp_path / "a", secure), written(tmp_path / "b", plain), root=layout.root
    )
    assert result.verdict == verdict
    logs = [np.asarray(x) for x in (secure, plain)]
    ratio = logs[0].mean() / logs[1].mean()
    assert result.numbers["estimate"] == pytest.approx(100 * ratio - 100, abs=1e-9)
    se = math.sqrt(sum((x.std(ddof=1) / x.mean()) ** 2 / len(x) for x in logs))
    widest = 100 * ratio * (math.exp(stats.t(3).ppf(0.975) * se) - 1)
    assert 0 < result.numbers["estimate_high"] - result.numbers["estimate"] <= widest * 1.001


def test_few_noisy_runs_are_undecided_and_say_how_many_would_decide(
    layout: Layout, tmp_path: Path
) -> None:
    places = [
        written(tmp_path / "a", [60.0, 85.0, 75.0]),
        written(tmp_path / "b", [90.0, 110.0, 100.0]),
    ]
    result = claim(CLAIM, *places, root=layout.root)
    assert result.decision is Decision.UNDECIDED
    assert "would decide" in result.note


def test_units_of_a_level_are_converted(layout: Layout, tmp_path: Path) -> None:
    found = find_claim(layout, "firecracker-nsdi-2020/less-than-125-ms")
    folder = tmp_path / "boots"
    folder.mkdir()
    for n, value in enumerate([0.1, 0.101, 0.099, 0.1005]):
        (folder / f"run{n}.csv").write_text(f"boot_time_s\n{value}\n")
    result = claim(found, folder, root=layout.root)
    assert result.numbers["estimate"] == pytest.approx(100.125)
    assert result.verdict == "holds here"


RUNS = "data/measured/firecracker-nsdi-2020"


def test_boots_in_the_papers_form_are_judged_by_its_percentile(
    layout: Layout, root: Path, tmp_path: Path
) -> None:
    draw = np.random.default_rng(1)
    logged = draw.normal(110, 4, 400).round().astype(int)
    file = tmp_path / "boot-of-mine-fc.dat"
    file.write_text("".join(f"{1000 * ms + 300} {ms}\n" for ms in logged))
    result = claim("firecracker-nsdi-2020/less-than-125-ms", file, root=layout.root)
    assert result.verdict == "holds here"
    assert result.numbers["estimate"] == np.quantile(logged, 0.99, method="inverted_cdf")
    assert (
        result.numbers["estimate_low"]
        <= result.numbers["estimate"]
        <= result.numbers["estimate_high"]
    )
    slow = find_claim(layout, "firecracker-nsdi-2020/less-than-125-ms")
    file.write_text("".join(f"{1000 * ms + 9300} {ms + 60}\n" for ms in logged))
    assert claim(slow, file, root=layout.root).verdict == "does not hold here"


def test_packed_runs_of_the_authors_second_machine(layout: Layout, root: Path) -> None:
    found = find_claim(layout, "firecracker-nsdi-2020/fc-twice")
    names = ("qemu", "fc-api")
    places = [f"{root}/{RUNS}/rn.haswell-boot-serial-{n}/boot-serial-{n}.dat" for n in names]
    with zipfile.ZipFile(root / RUNS / "runs" / "all.zip") as packed:
        qemu, fc = (
            np.loadtxt(packed.open(f"rn.haswell-boot-serial-{n}/boot-serial-{n}.dat"))
            for n in names
        )
    result = claim(found, *places, root=layout.root)
    medians = [np.quantile(x, 0.5, method="inverted_cdf") for x in (qemu, fc[:, 1])]
    ratio = medians[0] / 1000 / medians[1]
    assert result.numbers["estimate"] == pytest.approx(ratio, rel=1e-9)
    assert result.verdict == "holds here"
    with pytest.raises(ParameterError, match="has no Boot time, pre-configured"):
        claim(found, *places[::-1], root=layout.root)


def test_missing_condition_is_named(layout: Layout, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="compares 2 conditions, and 1 place is given") as err:
        claim(CLAIM, written(tmp_path / "a", [1.0, 2.0]), root=layout.root)
    assert "no encryption" in str(err.value) or "encryption" in str(err.value)


def test_claim_of_several_conditions_needs_levels(layout: Layout) -> None:
    found = find_claim(layout, "zvm-xen-2009/no-loss-down-to-7-gb")
    with pytest.raises(ParameterError, match="has 5 sets of conditions"):
        found.at({})
    (instance,) = found.at({"central_storage": 7168}).claim.instances
    assert dict(instance.parts[0].terms[0][1].at)["central_storage"] == 7168


def test_search_finds_all_words(layout: Layout) -> None:
    names = [claim["claim"] for claim in listed(layout, ("encryption", "27 %")).data["claims"]]
    assert CLAIM in names
    assert all("zvm" in name for name in names)


def test_commands_print_and_fail_on_request(root: Path, tmp_path: Path) -> None:
    a = written(tmp_path / "a", [50.0, 50.5, 49.8])
    b = written(tmp_path / "b", [100.0, 100.4, 99.7])
    shown = invoke(root, "show", CLAIM)
    assert shown.exit_code == 0 and "Xen loses 27 %" in shown.output
    result = invoke(root, "test", CLAIM, str(a), str(b), "--format", "json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.output)
    assert data["verdict"] == "does not hold here" and data["estimate"] == pytest.approx(
        -49.93, abs=0.2
    )
    failing = invoke(root, "test", CLAIM, str(a), str(b), "--fail-on", "fails")
    assert failing.exit_code == 1 and "does not hold here" in failing.output
    page = tmp_path / "claim.html"
    invoke(root, "test", CLAIM, str(a), str(b), "-o", str(page))
    assert "does not hold here" in page.read_text()


def test_a_kept_test_is_repeated_from_anywhere(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "a", [50.0, 50.5, 49.8], "requests")
    written(tmp_path / "b", [100.0, 100.4, 99.7], "requests")
    kept = tmp_path / "test.yaml"
    monkeypatch.chdir(tmp_path)
    first = invoke(root, "test", CLAIM, "a", "b", "--quantity", "requests", "--keep", str(kept))
    assert first.exit_code == 0, first.output
    monkeypatch.chdir(root)
    again = invoke(root, "test", str(kept))
    assert again.output.splitlines()[:2] == first.output.splitlines()[:2]
    assert invoke(root, "test", str(kept), "a").exit_code == 2
    kept.write_text(kept.read_text().replace("quantity", "quantiti"))
    wrong = invoke(root, "test", str(kept))
    assert wrong.exit_code == 2 and "unknown key 'quantiti'" in wrong.output


def test_words_that_yaml_takes_for_truth_values_need_quotes(root: Path, tmp_path: Path) -> None:
    kept = tmp_path / "test.yaml"
    kept.write_text(f"claim: {CLAIM}\nruns: [r.csv]\nwhere:\n  tls: [on, off]\n")
    wrong = invoke(root, "test", str(kept))
    assert wrong.exit_code == 2
    assert "line 4: where/tls" in wrong.output and "quotes" in wrong.output


def test_in_python_it_is_shown_as_markdown(root: Path, tmp_path: Path) -> None:
    a = written(tmp_path / "a", [50.0, 50.5, 49.8])
    b = written(tmp_path / "b", [100.0, 100.4, 99.7])
    result = vp.claim(CLAIM, a, b, root=root)
    assert result.verdict == "does not hold here"
    assert "does not hold here" in result._repr_markdown_() and " at 0x" not in repr(result)


def test_unknown_claim_is_an_error_with_similar_names(root: Path) -> None:
    result = invoke(root, "show", "zvm-xen-2009/xen-software-costs-27-percnt")
    assert result.exit_code == 2 and "xen-software-costs-27-percent" in result.output


BOOTS = "firecracker-nsdi-2020/less-than-125-ms"


def table(path: Path, values: np.ndarray, name: str = "boot_ms") -> Path:
    """One CSV file with a row a value."""
    path.write_text("\n".join([name, *map(str, values.tolist()), ""]))
    return path


def test_percentile_is_that_of_the_rows_of_a_table(layout: Layout, tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    boots = draw.normal(100, 4, 600).round(2)
    result = claim(BOOTS, table(tmp_path / "boots.csv", boots), root=layout.root)
    x = np.sort(boots)
    ranks = stats.binom(len(x), 0.99).ppf([0.025, 0.975]).astype(int)
    assert result.numbers["estimate"] == pytest.approx(np.quantile(x, 0.99, method="inverted_cdf"))
    assert result.numbers["estimate_low"] == pytest.approx(x[ranks[0] - 1], abs=0.5)
    assert result.numbers["estimate_high"] == pytest.approx(x[ranks[1]], abs=0.5)
    assert result.verdict == "holds here" and "600 samples" in result.note
    assert "independent samples" in str(result)


def test_percentiles_of_several_tables_are_replicates(layout: Layout, tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    runs = [draw.normal(mean, 4, 200).round(2) for mean in (98, 99, 100, 101)]
    for n, run in enumerate(runs):
        table(tmp_path / f"run{n}.csv", run)
    result = claim(BOOTS, tmp_path, root=layout.root)
    each = [np.quantile(run, 0.99, method="inverted_cdf") for run in runs]
    low, high = stats.t(3, np.mean(each), stats.sem(each)).interval(0.95)
    found = [result.numbers[name] for name in ("estimate", "estimate_low", "estimate_high")]
    assert found == pytest.approx([np.mean(each), low, high])
    assert "4 runs" in result.note


def test_too_few_rows_for_a_percentile_decide_nothing(layout: Layout, tmp_path: Path) -> None:
    boots = np.random.default_rng(1).normal(100, 4, 30).round(2)
    result = claim(BOOTS, table(tmp_path / "boots.csv", boots), root=layout.root)
    assert result.decision is Decision.UNDECIDED


def test_rows_are_runs_on_request(layout: Layout, tmp_path: Path) -> None:
    secure, plain = (np.array([72.9, 73.1, 73.2, 72.8]), np.array([100.0, 100.4, 99.7, 100.1]))
    places = [
        table(tmp_path / "a.csv", secure, "throughput"),
        table(tmp_path / "b.csv", plain, "throughput"),
    ]
    one = claim(CLAIM, *places, root=layout.root)
    assert one.decision is Decision.UNDECIDED and "--rows runs" in str(one)
    result = claim(CLAIM, *places, rows="runs", root=layout.root)
    assert result.verdict == "holds here" and "4 runs" in result.note
    assert "--rows" not in str(result)


def both_in_one_table(folder: Path) -> tuple[Path, dict[str, list[float]]]:
    """A table of results, in which a column tells the conditions apart, and its values."""
    values = {"on": [73.1, 72.6, 73.4, 72.9, 73.3], "off": [99.2, 100.4, 101.0, 99.9, 100.2]}
    rows = [f"{tls},12,{n},{v}" for tls, of in values.items() for n, v in enumerate(of, start=1)]
    path = folder / "results.csv"
    path.write_text("\n".join(["tls,guests,round,rate", *rows, ""]))
    return path, values


def test_one_table_has_both_conditions(root: Path, tmp_path: Path) -> None:
    path, values = both_in_one_table(tmp_path)
    kept = tmp_path / "kept.yaml"
    given = ("--where", "tls=on", "--where", "tls=off", "--quantity", "rate", "--rows", "runs")
    result = invoke(root, "test", CLAIM, str(path), *given, "--keep", str(kept), "--format", "json")
    found = json.loads(result.output)
    on, off = (np.array(values[tls]) for tls in ("on", "off"))
    assert found["estimate"] == pytest.approx(100 * (on.mean() / off.mean() - 1))
    welch = stats.ttest_ind(np.log(on), np.log(off), equal_var=False).confidence_interval()
    ends = [100 * math.expm1(x) for x in (welch.low, welch.high)]
    assert [found["estimate_low"], found["estimate_high"]] == pytest.approx(ends, abs=0.02)
    assert found["sides"] == [f"{path}, tls=on", f"{path}, tls=off"]
    again = invoke(root, "test", str(kept), "--format", "json")
    assert json.loads(again.output)["reason"] == found["reason"]


def test_a_number_of_a_table_tells_conditions_apart(layout: Layout, tmp_path: Path) -> None:
    path = tmp_path / "load.csv"
    path.write_text("guests,rate\n1,73\n12,100\n1,72.8\n12,100.1\n1,73.3\n12,99.8\n12,100.3\n")
    result = claim(
        CLAIM, path, where={"guests": (1, 12)}, quantity="rate", rows="runs", root=layout.root
    )
    assert [len(side.runs) for side in result.runs] == [3, 4]


def test_jobs_of_one_report_are_compared_within_runs(layout: Layout, tmp_path: Path) -> None:
    for n, (on, off) in enumerate([(73, 100), (147, 200), (36.3, 50)]):
        jobs = [
            {"jobname": name, "read": {"iops": iops, "bw": 1, "total_ios": 5, "runtime": 9}}
            for name, iops in (("on", on), ("off", off))
        ]
        report = {"fio version": "fio-3.33", "timestamp": 1, "time": "x", "jobs": jobs}
        (tmp_path / f"run{n}.json").write_text(json.dumps(report))
    result = claim(
        CLAIM, tmp_path, where={"job": ("on", "off")}, quantity="read_iops", root=layout.root
    )
    logs = np.log([73 / 100, 147 / 200, 36.3 / 50])
    half = stats.t(2).ppf(0.975) * stats.sem(logs)
    ends = [100 * math.expm1(x) for x in (logs.mean() - half, logs.mean() + half)]
    assert [result.numbers[f"estimate_{end}"] for end in ("low", "high")] == pytest.approx(ends)


@pytest.mark.parametrize(
    ("where", "problem"),
    [
        (
            (),
            r"give --where tls=LEVEL --where tls=LEVEL, in this order: results.csv has tls \(off, on\)",
        ),
        (("tls=on", "tls=off", "tls=on"), "tls has 3 levels"),
        (("tls=on", "tls=on"), "the same run is listed twice"),
        (("tls=on", "tls=of"), r"no row of .*results.csv has tls=of; expected tls: off, on"),
    ],
)
def test_conditions_that_are_not_told_apart(root: Path, tmp_path: Path, where, problem) -> None:
    path, _ = both_in_one_table(tmp_path)
    options = [part for text in where for part in ("--where", text)]
    result = invoke(root, "test", CLAIM, str(path), "--quantity", "rate", *options)
    assert result.exit_code == 2 and re.search(problem, result.output, re.I)


def fio_report(path: Path, iops: float, depth: int, disk: str) -> None:
    job = {"jobname": "r", "read": {"iops": iops, "bw": 1, "total_ios": 5, "runtime": 9}}
    path.write_text(
        json.dumps(
            {
                "fio version": "fio-3.33",
                "timestamp": 1,
                "time": "x",
                "global options": {"iodepth": str(depth)},
                "jobs": [job],
                "disk_util": [{"name": disk, "read_ios": 5, "util": 4.0}],
            }
        )
    )


READS = "firecracker-nsdi-2020/fc-read-iops"


def test_a_column_of_another_part_of_the_files_selects_nothing(root: Path, tmp_path: Path) -> None:
    for n, disk in enumerate(("vda", "vda", "loop0", "loop0")):
        fio_report(tmp_path / f"{n}.json", 13000 + n, 32, disk)
    result = invoke(root, "test", READS, str(tmp_path), "--where", "disk=loop0")
    assert result.exit_code == 2
    assert "disk does not tell values of read_iops apart" in result.output
    both = invoke(root, "test", CLAIM, str(tmp_path), "--quantity", "read_iops")
    assert "Give one folder, file or pattern for each" in both.output


def test_runs_with_different_options_are_named(layout: Layout, tmp_path: Path) -> None:
    for n, depth in enumerate((1, 1, 32, 32)):
        fio_report(tmp_path / f"{n}.json", 13000 + n, depth, "vda")
    result = claim(READS, tmp_path, root=layout.root)
    assert "runs with different iodepth are taken as replicates" in str(result)
    assert "matched" not in str(result)
    same = claim(READS, f"{tmp_path}/[23].json", root=layout.root)
    assert "options of " in str(same) and "iodepth=32" in str(same)
    one = claim(READS, tmp_path, where={"iodepth": "32"}, root=layout.root)
    assert "different iodepth" not in str(one)
    assert one.numbers["estimate"] == pytest.approx(13002.5)


def test_runs_of_another_repository_than_the_working_folder_are_named(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root / "docs")
    places = [f"../data/measured/linux-2026/encryption-session-1-{c}-r?" for c in ("cbc", "none")]
    elsewhere, here = claim(CLAIM, *places, root="."), claim(CLAIM, *places, root="..")
    assert "give --root .." in str(elsewhere) and "--root" not in str(here)
    assert "within 6 blocks" in here.note and "blocks" not in elsewhere.note


def test_differences_name_the_unit_of_the_runs(layout: Layout, tmp_path: Path) -> None:
    sides = [table(tmp_path / f"{n}.csv", np.arange(n, n + 60.0)) for n in (90, 300)]
    result = claim("firecracker-nsdi-2020/fc-faster", *sides, root=layout.root)
    assert "measured 0.21" in result.note and "quantity of your runs: boot, in s" in str(result)


def test_numbers_one_a_line_need_a_name(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "boots.txt"
    path.write_text("".join(f"{n}.5\n" for n in range(60)))
    result = invoke(root, "test", BOOTS, str(path))
    assert (
        result.exit_code == 2 and "Write a name with its unit into the first line" in result.output
    )
    path.write_text("boot_ms\n" + path.read_text())
    assert claim(BOOTS, path, root=root).numbers["estimate"] == pytest.approx(59.5)


def test_sets_of_conditions_are_told_by_their_levels(root: Path, tmp_path: Path) -> None:
    name = "firecracker-nsdi-2020/overhead-smallest"
    result = invoke(root, "test", name, str(tmp_path))
    assert "memory_mb=128 | memory_mb=256 | " in result.output
    assert "such as --at memory_mb=128" in result.output
    shown = invoke(root, "show", name).output
    assert "one of   --at memory_mb=128, --at" in shown and shown.count("Memory overhead (") == 3


def test_conditions_show_the_levels_in_which_they_differ(layout: Layout) -> None:
    found = find_claim(layout, "firecracker-nsdi-2020/fc-twice")
    assert [found.condition(q) for q in found.conditions] == [
        "Boot time (monitor: QEMU)",
        "Boot time, pre-configured (monitor: Firecracker)",
    ]


def test_search_finds_tools_and_beginnings_of_words(layout: Layout) -> None:
    def names(*words: str) -> set[str]:
        return {each["claim"] for each in listed(layout, words).data["claims"]}

    assert {READS, "firecracker-nsdi-2020/slower-reads"} <= names("fio", "reads")
    assert CLAIM in names("wrk", "encryption")
    assert not any("threads-20000" in name for name in names("read"))
    nothing = listed(layout, ("encryption", "TLS"))
    assert nothing.notes[0] == "no claim has TLS" and "Boot time" not in nothing.notes[0]
    assert "Memory overhead" in nothing.notes[1]


def test_time_in_place_of_a_rate_is_refused(layout: Layout, tmp_path: Path) -> None:
    sides = [written(tmp_path / name, [1.0, 1.1], name="run (s)") for name in ("a", "b")]
    with pytest.raises(ParameterError, match=r"run is in s, a unit of time.*a unit of rate"):
        claim(CLAIM, *sides, root=layout.root)


def test_failed_rows_zeros_and_too_few_values_are_said(layout: Layout, tmp_path: Path) -> None:
    path = tmp_path / "boots.csv"
    path.write_text("boot_ms,exit_code\n110,0\n112,0\n0,0\n9,1\n")
    result = claim("firecracker-nsdi-2020/less-than-125-ms", path, root=layout.root)
    assert result.decision is Decision.UNDECIDED
    notes = "\n".join(result.shown().notes)
    assert "1 of 4 failed, and count in no other number" in notes
    assert "1 of 3 values have boot 0" in notes
    assert "needs at least 368 values, 365 more than these" in notes  # 0.99**368 < 2.5 %


def test_runs_of_two_machines_are_said(layout: Layout, tmp_path: Path) -> None:
    for side, rates in (("a", (73, 74)), ("b", (100, 99))):
        for n, rate in enumerate(rates):
            run = tmp_path / side / f"r{n}"
            run.mkdir(parents=True)
            (run / "t.csv").write_text(f"throughput\n{rate}\n")
            cpu = "A" if side == "a" and n else "B"
            about = {"study": "own", "run": f"r{n}", "provenance": "measured", "factors": {}}
            about |= {"replicate": n + 1, "machine": {"cpu": cpu}}
            (run / "run.yaml").write_text(json.dumps(about))
    notes = claim(CLAIM, tmp_path / "a", tmp_path / "b", root=layout.root).notes
    assert "a: runs with different cpu are taken as replicates" in notes
    assert "the conditions differ in cpu too, which may be the cause" in notes


def test_percentile_of_a_histogram_is_that_of_compare(layout: Layout, root: Path) -> None:
    log = root / "tests/rawperf/samples/hdrhistogram/two-drivers.hlog"
    rule = {"statistic": "quantile", "share": 0.99}
    reader = RunReader(layout, singles=True)
    run = reader.run(log)
    (cell,) = run.singles
    side = Side("log", (run,), reader.quantities.known)
    (of_compare,) = replace_by_percentiles([side], [99])
    expected = percentile(run.singles[cell][0], 0.99, run.singles[cell][1])
    assert of_single_values(distribution(run, cell), rule).value == expected
    assert [*of_compare.runs[0].values.values()] == [expected]


def test_values_of_different_things_are_not_runs_of_one_condition(
    layout: Layout, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("page,throughput\nhome,100\ncart,20\n")
    places = [tmp_path / "a.csv", tmp_path / "b.csv"]
    with pytest.raises(ParameterError, match=r"2 values of throughput.*--where page=home"):
        claim(CLAIM, *places, root=layout.root)
    assert claim(CLAIM, *places, where={"page": "home"}, root=layout.root).numbers["estimate"] == 0


def test_metric_of_the_papers_quantity_is_found(layout: Layout, root: Path) -> None:
    report = root / "tests/rawperf/samples/fio/fio-3.33.json"
    jobs = json.loads(report.read_text())["jobs"]
    name = "firecracker-nsdi-2020/fc-read-iops"
    result = claim(name, report, where={"job": jobs[0]["jobname"]}, root=layout.root)
    assert result.quantity == "read_iops"
    assert result.numbers["estimate"] == pytest.approx(jobs[0]["read"]["iops"])


def test_a_number_without_a_unit_says_how_to_name_it(layout: Layout, tmp_path: Path) -> None:
    file = table(tmp_path / "boots.csv", np.array([100.0, 101.0]), "boot")
    with pytest.raises(ParameterError, match=r"unit of boot is not known.*boot_ms"):
        claim(BOOTS, file, root=layout.root)


def test_failures_that_a_tool_reports_are_notes(layout: Layout, root: Path) -> None:
    reports = [
        root / "tests/rawperf/samples/wrk" / f"{name}.txt" for name in ("wrk-failing", "wrk")
    ]
    shown = str(claim(CLAIM, *reports, root=layout.root))
    assert "wrk-failing.txt: http_errors above 0" in shown
    assert "wrk.txt: http" not in shown and "connections=2" in shown


def test_limits_have_their_unit_and_orders_none(layout: Layout) -> None:
    assert find_claim(layout, BOOTS).limits.replace("\u00a0", " ") == "at most 124.9 ms"
    assert find_claim(layout, CLAIM).limits == "−27.5 to −26.5 %"
    assert find_claim(layout, "dcss-2011/cache-is-faster").limits == "this order"
