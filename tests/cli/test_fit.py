"""virtperf fit: the numbers of the models, tables of several kinds, groups, errors; in a folder that is no repository."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from validation.curves import throughput
from virtperf.models.usl import fit_usl

COLUMNS = ("--x", "guests", "--y", "throughput")
LOAD = np.array([1.0, 2, 4, 8, 16, 24, 32])
NOISE = 0.03 * np.array([1, -1, 2, -2, 1, -1, 0.5])


@pytest.fixture
def table(tmp_path):
    parts = []
    for system, theta in {"zvm": (0.03, 0.002, 10.0), "xen": (0.15, 0.003, 14.0)}.items():
        y = throughput(LOAD, np.array(theta)) + NOISE
        parts.append(pd.DataFrame({"system": system, "guests": LOAD.astype(int), "throughput": y}))
    frame = pd.concat(parts)
    frame.to_csv(tmp_path / "load.csv", index=False)
    frame.to_parquet(tmp_path / "load.parquet")
    (tmp_path / "load.json").write_text(frame.to_json(orient="records", double_precision=15))
    return frame


def numbers(result) -> dict:
    document = json.loads(result.output)
    assert document["schema"] == "virtperf-fit/2"
    return document


def named(entries: list[dict]) -> dict[str, dict]:
    return {entry["name"]: entry for entry in entries}


@pytest.mark.parametrize("file", ["load.csv", "load.parquet", "load.json"])
def test_json_has_the_numbers_of_the_model_for_each_group(run, table, file):
    document = numbers(run("fit", "usl", file, *COLUMNS, "--group", "system", "--json"))
    assert [f["groups"] for f in document["fits"]] == [["zvm"], ["xen"]]
    rows = table[table["system"] == "zvm"]
    expected = fit_usl(rows["guests"], rows["throughput"])
    first = document["fits"][0]
    assert named(first["parameters"])["gamma"]["value"] == pytest.approx(
        expected.params[2], rel=1e-9
    )
    peak = expected.peak_load()
    assert named(first["quantities"])["peak_load"]["high"] == pytest.approx(peak.high, rel=1e-6)
    assert named(first["quantities"])["peak_load"]["method"] == "profile likelihood"


def test_the_layout_of_json_is_stable(run, table):
    document = numbers(
        run("fit", "scaling", "load.csv", *COLUMNS, "--where", "system=zvm", "--json")
    )
    assert list(document) == [
        "schema",
        "file",
        "model",
        "title",
        "x",
        "y",
        "weights",
        "noise",
        "group",
        "level",
        "fits",
        "warnings",
    ]
    (fit,) = document["fits"]
    assert list(fit) == [
        "groups",
        "rows",
        "formula",
        "parameters",
        "quantities",
        "tests",
        "measures",
        "table",
        "verdict",
        "warnings",
    ]
    assert list(fit["parameters"][0]) == [
        "name",
        "value",
        "se",
        "low",
        "high",
        "method",
        "warnings",
    ]
    assert list(fit["quantities"][0]) == ["name", "value", "low", "high", "method", "warnings"]
    assert {t["name"] for t in fit["tests"]} == {"amdahl_against_smaller", "usl_against_smaller"}


def test_an_end_without_limit_is_null_and_says_so_in_words(run, tmp_path):
    (tmp_path / "t.csv").write_text(
        "n,x\n" + "".join(f"{n},{9.9 * n + e}\n" for n, e in zip(LOAD, NOISE, strict=True))
    )
    document = numbers(run("fit", "usl", "t.csv", "--x", "n", "--y", "x", "--json"))
    asymptote = named(document["fits"][0]["quantities"]).get("asymptote")
    assert asymptote is None or asymptote["high"] is None
    assert "none" in run("fit", "usl", "t.csv", "--x", "n", "--y", "x").output


def test_a_table_on_the_terminal(run, table):
    text = run("fit", "usl", "load.csv", *COLUMNS, "--group", "system").output
    assert "zvm: Universal Scalability Law: X(N) =" in text
    assert text.count("peak_load") == 2
    assert "95 % profile likelihood" in text
    assert (
        "90 % profile likelihood"
        in run("fit", "usl", "load.csv", *COLUMNS, "--where", "system=xen", "--level", "0.9").output
    )


def test_of_and_to_choose_and_order_two_groups(run, table):
    plain = numbers(
        run("fit", "ratio", "load.csv", "--y", "throughput", "--group", "system", "--json")
    )
    turned = numbers(
        run(
            "fit",
            "ratio",
            "load.csv",
            "--y",
            "throughput",
            "--group",
            "system",
            "--of",
            "xen",
            "--to",
            "zvm",
            "--json",
        )
    )
    assert plain["fits"][0]["groups"] == ["zvm", "xen"]
    assert plain["fits"][0]["quantities"][0]["value"] == pytest.approx(
        1 / turned["fits"][0]["quantities"][0]["value"]
    )
    said = run(
        "fit",
        "ratio",
        "load.csv",
        "--y",
        "throughput",
        "--group",
        "system",
        "--of",
        "kvm",
        "--to",
        "zvm",
        status=1,
    )
    assert "expected --of and --to, two of zvm, xen" in said.output


def test_factors(run, tmp_path):
    rows = ["cpus,memory,workload,runtime"]
    for cpus, base in ((1, 100.0), (2, 60.0)):
        for memory, more in (("small", 8.0), ("large", 0.0)):
            rows += [
                f"{cpus},{memory},w{k},{base + more + (3.5 if cpus == 1 else 3) * k + e}"
                for k in range(3)
                for e in (0.1, -0.2, 0.15)
            ]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    factors = ("--group", "cpus", "--group", "memory")
    (fit,) = numbers(run("fit", "anova", "t.csv", "--y", "runtime", *factors, "--json"))["fits"]
    assert [t["name"] for t in fit["tests"]] == ["cpus", "memory", "cpus:memory"]
    assert (
        named(fit["tests"])["cpus"]["pvalue"] < 1e-6 < named(fit["tests"])["cpus:memory"]["pvalue"]
    )
    assert named(fit["quantities"])["mean_at_cpus=2, memory=large"]["value"] == pytest.approx(
        63.0167, abs=1e-3
    )
    one = numbers(run("fit", "anova", "t.csv", "--y", "runtime", "--group", "cpus", "--json"))
    assert [t["name"] for t in one["fits"][0]["tests"]] == ["cpus"]
    assert (
        "at most once"
        in run("fit", "line", "t.csv", "--x", "cpus", "--y", "runtime", *factors, status=2).output
    )


def test_the_output_of_read_can_be_fitted(run, root, tmp_path):
    from tests.toy_runs import sar

    (tmp_path / "sar.txt").write_bytes(sar())
    run("--root", str(root), "read", "sar.txt", "-o", "sar.json")
    document = numbers(
        run(
            "fit",
            "line",
            "sar.json",
            "--x",
            "t",
            "--y",
            "metric_value",
            "--where",
            "metric=cpu_user",
            "--json",
        )
    )
    assert named(document["fits"][0]["parameters"])["slope"]["value"] == pytest.approx(0, abs=1e-9)
    assert document["fits"][0]["rows"] == 10


def test_rows_without_a_number_are_left_out_and_named(run, tmp_path):
    (tmp_path / "t.csv").write_text("n,x\n1,10\n2,\n3,30.5\n4,NA\n5,49\n")
    document = numbers(run("fit", "line", "t.csv", "--x", "n", "--y", "x", "--json"))
    assert document["fits"][0]["rows"] == 3
    assert document["warnings"] == ["2 row(s) without a number were left out: line 3, 5"]


def test_errors_name_the_column_the_line_and_the_group(run, tmp_path, table):
    (tmp_path / "t.csv").write_text("n,x\n1,10\n2,many\n")
    said = run("fit", "line", "t.csv", "--x", "n", "--y", "x", status=1).output
    assert (
        said == "Error: t.csv line 3: column 'x' holds something that is no number; found 'many'\n"
    )
    assert (
        "no column 'load'; expected one of system"
        in run("fit", "usl", "load.csv", "--x", "load", "--y", "throughput", status=1).output
    )
    (tmp_path / "few.csv").write_text("g,n,x\na,1,10\na,2,19\n")
    assert (
        "a: 2 rows can't determine 3 parameters"
        in run("fit", "usl", "few.csv", "--x", "n", "--y", "x", "--group", "g", status=1).output
    )
    assert "usl needs --x" in run("fit", "usl", "load.csv", "--y", "throughput", status=2).output
    assert (
        "ratio needs --group"
        in run("fit", "ratio", "load.csv", "--y", "throughput", status=2).output
    )
    assert (
        "equivalence needs margin"
        in run(
            "fit", "equivalence", "load.csv", "--y", "throughput", "--group", "system", status=1
        ).output
    )
    assert "there is no model 'uls'" in run("fit", "uls", "load.csv", *COLUMNS, status=2).output
    assert (
        "expected COLUMN=VALUE"
        in run("fit", "usl", "load.csv", *COLUMNS, "--where", "system", status=2).output
    )


def test_the_list_of_models_is_complete(run):
    from virtperf.models.catalog import CATALOG

    listed = {line.split()[0] for line in run("fit", "--list").output.splitlines()[1:]}
    assert listed == set(CATALOG)


def test_predictions_and_noise(run, table):
    given = (
        "fit",
        "line",
        "load.csv",
        *COLUMNS,
        "--where",
        "system=zvm",
        "--at",
        "4",
        "--at",
        "64",
        "--json",
    )
    (fit,) = numbers(run(*given))["fits"]
    assert [row["at"] for row in fit["table"]] == [4, 64]
    assert list(fit["table"][0]) == [
        "at",
        "value",
        "mean_low",
        "mean_high",
        "observation_low",
        "observation_high",
    ]
    assert any("tested range 1 to 32" in w for w in fit["warnings"])
    (other,) = numbers(run(*given, "--noise", "constant"))["fits"]
    assert other["table"][0]["value"] != fit["table"][0]["value"]


def test_negative_values_ask_for_constant_noise(run, tmp_path):
    (tmp_path / "t.csv").write_text("n,x\n1,-1\n2,1\n3,2\n4,4\n")
    said = run("fit", "line", "t.csv", "--x", "n", "--y", "x", status=1).output
    assert "is not positive" in said and "Take the noise as constant" in said
    assert (
        "slope" in run("fit", "line", "t.csv", "--x", "n", "--y", "x", "--noise", "constant").output
    )


def test_changes_of_a_series_are_named_by_their_revision(run, tmp_path):
    rows = [f"r{k},{100 + (5 if k >= 12 else 0) + 0.3 * (k % 3)}" for k in range(24)]
    (tmp_path / "t.csv").write_text("revision,score\n" + "\n".join(rows) + "\n")
    (fit,) = numbers(
        run("fit", "changepoints", "t.csv", "--x", "revision", "--y", "score", "--json")
    )["fits"]
    assert fit["verdict"] == "1 change"
    assert fit["quantities"][0]["name"] == "change_at_r12"
    assert [row["first"] for row in fit["table"]] == ["r0", "r12"]


def test_pairs_of_several_means(run, tmp_path):
    rows = [
        f"{g},{base + e}"
        for g, base in (("a", 10), ("b", 12), ("c", 10.1))
        for e in (0.1, -0.2, 0.15)
    ]
    (tmp_path / "t.csv").write_text("system,score\n" + "\n".join(rows) + "\n")
    given = ("fit", "pairwise", "t.csv", "--y", "score", "--group", "system", "--json")
    assert set(named(numbers(run(*given))["fits"][0]["quantities"])) == {"a / b", "a / c", "b / c"}
    assert set(named(numbers(run(*given, "--to", "c"))["fits"][0]["quantities"])) == {
        "a / c",
        "b / c",
    }


def test_a_test_says_what_it_speaks_against(run, table):
    text = run("fit", "line", "load.csv", *COLUMNS, "--where", "system=zvm").output
    assert "it speaks against 'the relation is a straight line'" in text


def test_what_a_planner_asks(run, table):
    asked = ("--response", "0.2", "--think", "0.1", "--efficiency", "0.5")
    document = numbers(
        run("fit", "usl", "load.csv", *COLUMNS, "--where", "system=zvm", *asked, "--json")
    )
    found = named(document["fits"][0]["quantities"])
    rows = table[table["system"] == "zvm"]
    fit = fit_usl(rows["guests"], rows["throughput"])
    for name, own in (
        ("load_within_response_0.2_0.1", fit.load_within_response(0.2, 0.1)),
        ("load_at_efficiency_0.5", fit.load_at_efficiency(0.5)),
    ):
        given = found[name]["value"], found[name]["low"], found[name]["high"]
        assert given == pytest.approx((own.value, own.low, own.high), rel=1e-5)


def test_a_loss_is_asked_of_two_pieces(run, tmp_path):
    y = [100, 101, 99, 100, 96, 91, 84]
    frame = pd.DataFrame({"ratio": [1.1, 2.1, 2.3, 2.5, 2.8, 3.2, 3.8], "throughput": y})
    frame.to_csv(tmp_path / "memory.csv", index=False)
    columns = ("memory.csv", "--x", "ratio", "--y", "throughput", "--loss", "0.05")
    quantities = named(
        numbers(run("fit", "plateau-decline", *columns, "--json"))["fits"][0]["quantities"]
    )
    assert 2.5 < quantities["loss_0.05"]["low"] < quantities["loss_0.05"]["value"] < 3.2
    result = run("fit", "line", *columns, status=1)
    assert "there is no loss" in result.stderr
