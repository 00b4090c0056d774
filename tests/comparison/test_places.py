"""Sides of a comparison other than folders: git revisions, studies, levels of a factor or fact."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import virtperf
from rawperf.core.errors import ParameterError, RawperfError
from tests.comparison.test_compare import A, B, row, run_folders, wrk
from tests.toy_runs import write_run
from virtperf.comparison import studies
from virtperf.comparison.ratio_rows import ComparedQuantity
from virtperf.comparison.sides import RunValues, Side
from virtperf.comparison.studies import MeasuredStudy
from virtperf.core.contrasts import Replicates
from virtperf.study.quantities import Quantity

RATE = "throughput"


def git(folder, *arguments):
    options = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *options, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Runs of one kernel at revision `old`; now those of another kernel, and one unchanged run."""
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "-q")
    for rates, kernel, name in ((A, "6.1", "old"), (B, "6.6", "new")):
        for number, rate in enumerate(rates, 1):
            folder = tmp_path / "runs" / f"r{number}"
            if folder.exists() and number == 6:
                continue
            if folder.exists():
                (folder / "wrk.txt").write_text(wrk(rate))
                continue
            write_run(
                tmp_path / "runs",
                f"r{number}",
                {"wrk.txt": wrk(rate).encode()},
                study="kernels",
                factors={},
                replicate=number,
                block=f"round {number}",
            )
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", kernel)
        git(tmp_path, "tag", name)
    return tmp_path


def test_git_revision_is_compared_with_the_working_tree(repository):
    table = virtperf.compare("runs", revisions=["old", "new"])
    rate = row(table, RATE)
    assert (table.a, table.b, rate.verdict) == ("old", "new", "slower")
    assert (rate.runs_a, rate.runs_b) == (5, 5)  # the sixth run is unchanged
    assert rate.compared == "by block means"  # blocks of different revisions are different blocks
    assert any("1 runs have identical files on both sides" in note for note in table.notes)
    assert [replace(r, side="new") for r in virtperf.compare("old:runs", "runs").rows] == [
        *table.rows
    ]
    assert virtperf.compare("runs", revisions=["old"]).b == "the working tree"


def test_branches_with_similar_names_are_extracted_apart(repository):
    git(repository, "branch", "fix/x", "old")
    git(repository, "branch", "fix-x", "new")
    table = virtperf.compare("runs", revisions=["fix/x", "fix-x"])
    expected = virtperf.compare("runs", revisions=["old", "new"])
    assert row(table, RATE).ratio == row(expected, RATE).ratio
    assert (table.a, table.b) == ("fix/x", "fix-x")


def test_order_of_factors_does_not_separate_runs():
    factors = ({"guests": 2, "think_ms": 0}, {"think_ms": 0, "guests": 2}, {"guests": 4})
    runs = tuple(
        RunValues(f"r{k}", {(RATE, ()): 1.0 + k}, factors=at) for k, at in enumerate(factors)
    )
    cells = Side("a", runs, {}).cells(frozenset({"guests", "think_ms"}))
    assert {at: side.n for (_, at), side in cells.items()} == {
        (("guests", 2), ("think_ms", 0)): 2,
        (("guests", 4),): 1,
    }


def test_revision_without_new_runs_is_rejected(repository):
    with pytest.raises(RawperfError, match="no run was measured again between new and HEAD"):
        virtperf.compare("runs", revisions=["new", "HEAD"])
    with pytest.raises(RawperfError, match="unknown git revision 'older'"):
        virtperf.compare("runs", revisions=["older"])
    with pytest.raises(RawperfError, match="unknown git revision 'older'"):
        virtperf.compare("older:runs", "runs")
    with pytest.raises(RawperfError, match="2026-01-01T12:00: there are no runs"):
        virtperf.compare("2026-01-01T12:00", "runs")


def test_table_at_a_revision_is_labelled_with_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "-q")
    for name, cell in (("old", "bad"), ("new", "9")):
        for number in (1, 2):
            (tmp_path / "runs").mkdir(exist_ok=True)
            rows = f"x\n{number}\n{number + 1}\n{cell}\n"
            (tmp_path / "runs" / f"{number}.csv").write_text(rows)
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", name)
        git(tmp_path, "tag", name)
    with pytest.raises(
        RawperfError, match="column 'x' contains a value that is not a finite number"
    ) as caught:
        virtperf.compare("runs", revisions=["old", "new"])
    assert (caught.value.file, caught.value.line) == ("old:runs/1.csv", 4)


def test_hosts_of_one_folder_are_compared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_folders(tmp_path / "runs" / "a", A)
    for number, folder in enumerate(sorted((tmp_path / "runs" / "a").iterdir())):
        folder.rename(tmp_path / "runs" / folder.name)
        text = (tmp_path / "runs" / folder.name / "run.yaml").read_text()
        host = "alpha" if number < 3 else "beta"
        (tmp_path / "runs" / folder.name / "run.yaml").write_text(
            text.replace("cpu: one", f"cpu: of {host}")
        )
    (tmp_path / "runs" / "a").rmdir()
    factor = ["cpu=of alpha", "cpu=*beta"]
    table = virtperf.compare("runs", factor=factor, where={"guests": 1})
    assert (table.a, table.b) == ("cpu=of alpha", "cpu=*beta")
    assert {(r.runs_a, r.runs_b) for r in table.rows} == {(1, 2)}
    assert [f.fact for f in table.facts] == ["cpu"]
    with pytest.raises(RawperfError, match="no run of runs has cpu=gamma"):
        virtperf.compare("runs", factor=["cpu=gamma", "cpu=*beta"])
    with pytest.raises(RawperfError, match="no run has a factor 'guest'"):
        virtperf.compare("runs", factor=factor, where={"guest": 1})


def test_aa_runs_are_compared_by_label(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for label, rates in (("a", A), ("b", [rate + 0.01 for rate in A])):
        for number, rate in enumerate(rates, 1):
            write_run(
                tmp_path / "alike",
                f"{label}-x-r{number}",
                {"wrk.txt": wrk(rate).encode()},
                factors={},
                replicate=number,
            )
    table = virtperf.compare("alike", aa=True, splits=20)
    rate = row(table, RATE)
    assert (table.a, table.b) == ("alike/a-*", "alike/b-*")
    assert (rate.runs_a, rate.runs_b, rate.verdict) == (6, 6, "undecided")
    assert table.equal_runs[0].possible == 462  # an A/A comparison of twelve runs


def test_undirected_conditions_are_compared_in_all_quantities(tmp_path, monkeypatch):
    definition = tmp_path / "data" / "measured" / "toy" / "study.yaml"
    definition.parent.mkdir(parents=True)
    definition.touch()
    runs = Replicates(np.array(A), ("",) * len(A))
    both = (("rate", "cpu"), ("pages", "memory"))
    study = MeasuredStudy(
        SimpleNamespace(id="toy", factors={"test": None}),
        {Quantity(name, (("test", test),)): runs for name, test in both},
        {"rate": ComparedQuantity("1/s", "higher"), "pages": ComparedQuantity("1")},
        {},
    )
    monkeypatch.setattr(studies, "measured_study", lambda *_: study)
    for where, rows in (({}, 1), ({"test": "cpu"}, 1), ({"test": "memory"}, 1)):
        table = virtperf.compare("toy", aa=True, where=where, splits=5, root=tmp_path)
        assert table.equal_runs[0].rows == rows, where


def test_options_not_applicable_to_stored_values_are_rejected(tmp_path, monkeypatch):
    definition = tmp_path / "data" / "measured" / "toy" / "study.yaml"
    definition.parent.mkdir(parents=True)
    definition.touch()
    study = MeasuredStudy(SimpleNamespace(id="toy", factors={"kernel": None}), {}, {}, {})
    monkeypatch.setattr(studies, "measured_study", lambda *_: study)
    factor = ["kernel=6.1", "kernel=6.6"]
    with pytest.raises(ParameterError, match="--paired does not apply to two levels"):
        virtperf.compare("toy", factor=factor, paired=True, root=tmp_path)
    for calls in (
        lambda: virtperf.compare("toy", factor=factor, format="nonsense", root=tmp_path),
        lambda: virtperf.compare("toy", "toy", format="nonsense", root=tmp_path),
        lambda: virtperf.compare("toy", aa=True, format="nonsense", root=tmp_path),
        lambda: virtperf.history("toy", format="nonsense", root=tmp_path),
    ):
        with pytest.raises(ParameterError, match="--input-format does not apply"):
            calls()


def test_benchmark_suite_iterations_are_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for side, rates in (("a", A), ("b", B)):
        for number, rate in enumerate(rates):
            lkp = tmp_path / f"lkp-{side}" / str(number)
            lkp.mkdir(parents=True)
            (lkp / "stats.json").write_text(
                f'{{"x.ops": {rate}, "vmstat.cpu.sy": 1, "cycles": {10**20}}}'
            )
            (lkp / "dmesg").write_text("whatever")
            mmtests = tmp_path / f"mm-{side}" / f"iter-{number}"
            for test in ("one", "two"):  # two benchmarks with the same monitor
                (mmtests / test).mkdir(parents=True)
                (mmtests / test / "wrk.txt").write_text(wrk(rate * (3 if test == "two" else 1)))
        (tmp_path / f"lkp-{side}" / "matrix.json").write_text("{}")
        (tmp_path / f"mm-{side}" / "tests-timestamp").write_text("start")
    table = virtperf.compare("lkp-a", "lkp-b", higher=["x.ops"])
    assert [(r.quantity, r.verdict, r.runs_a) for r in table.rows] == [("x.ops", "slower", 6)]
    table = virtperf.compare("mm-a", "mm-b")
    found = row(table, f"{RATE} in two/wrk.txt")
    assert (found.runs_a, found.verdict) == (6, "slower")
    assert found.mean_a == pytest.approx(3 * row(table, f"{RATE} in one/wrk.txt").mean_a, rel=1e-3)


SAMPLES = Path(__file__).parents[1] / "rawperf" / "results" / "samples"


@pytest.mark.parametrize("named", ["criterion", "baseline"])
def test_criterions_folder_is_one_run_of_its_newest_samples(named, tmp_path, monkeypatch):
    """Not of its earlier samples, estimates, figures and pages; whatever the folder is called."""
    monkeypatch.chdir(tmp_path)
    means = {}
    for side in "ab":
        recorded = SAMPLES / "criterion-sample" / side / "r1" / "criterion"
        for sample in sorted(recorded.rglob("new/sample.json")):
            benchmark = sample.parents[1].relative_to(recorded).as_posix()
            for folder, text in (("new", sample.read_text()), ("base", "{}")):
                place = tmp_path / side / named / benchmark / folder
                place.mkdir(parents=True)
                (place / "sample.json").write_text(text)
                (place / "tukey.json").write_text("[1.0, 2.0, 3.0, 4.0]")
                about = {"full_id": benchmark, "directory_name": benchmark}
                (place / "benchmark.json").write_text(json.dumps(about))
            report = tmp_path / side / named / "report"
            report.mkdir(exist_ok=True)
            (report / "index.html").write_text("<html></html>")
            read = json.loads(sample.read_text())
            times = np.divide(read["times"], read["iters"]) / 1e9  # ns
            means[side, benchmark] = times.mean()
    table = virtperf.compare(f"a/{named}", f"b/{named}")
    rows = {r.condition.removeprefix("benchmark="): r for r in table.rows if "=" in r.condition}
    assert {*rows} == {benchmark for _, benchmark in means}
    for benchmark, found in rows.items():
        assert found.mean_a == pytest.approx(means["a", benchmark])
        assert found.mean_b == pytest.approx(means["b", benchmark])
