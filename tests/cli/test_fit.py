"""`virtperf fit` prints the results of `virtperf.models` for tables of several kinds; groups; errors."""

from __future__ import annotations

import importlib
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

from rawperf.core.errors import ParameterError
from tools.validation.curves import throughput
from virtperf import models
from virtperf.cli.fit import COMPARISONS, CURVES

fit = importlib.import_module("virtperf.cli.fit")

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


@pytest.mark.parametrize("file", ["load.csv", "load.parquet", "load.json"])
def test_prints_the_summary_of_the_model_function(run, table, file):
    printed = run("fit", "usl", file, *COLUMNS, "--by", "system").output
    assert printed == models.usl("throughput ~ guests", table, by="system").summary(0.05)
    assert "zvm" in printed and printed.count("peak_load") == 2


@pytest.mark.parametrize("model", [name for name in CURVES if name != "segmented"])
def test_defaults_are_those_of_the_model_function(run, table, model):
    printed = run("fit", model, "load.csv", *COLUMNS, "--where", "system=zvm").output
    fits = getattr(models, model)("throughput ~ guests", table[table["system"] == "zvm"])
    assert printed.partition("\n\n")[0].strip() == fits.only.summary(alpha=0.05).strip()


def test_comparison_equals_the_model_function(run, table):
    given = ("load.csv", "--y", "throughput", "--group", "system", "--of", "xen", "--to", "zvm")
    conditions = {"of": {"system": "xen"}, "to": {"system": "zvm"}}
    (ratio,) = models.ratios("throughput", table, check_replicates=True, **conditions).values()
    (warning,) = ratio.warnings
    assert "guests explains" in warning
    printed = run("fit", "ratios", *given).output
    assert printed == f"xen / zvm: {ratio}\nwarning: {warning}\n"
    (paired,) = models.pairs("throughput", table, on=["guests"], **conditions).values()
    assert str(paired) in run("fit", "pairs", *given, "--on", "guests").output
    assert "kvm" in run("fit", "ratios", *given[:-3], "kvm", "--to", "zvm", status=1).output


def test_repeated_keys_of_pairs_are_named_with_their_lines(run, table, tmp_path):
    pd.concat([table, table]).to_csv(tmp_path / "twice.csv", index=False)
    said = run(
        *("fit", "pairs", "twice.csv", "--y", "throughput", "--group", "system"),
        *("--of", "xen", "--to", "zvm", "--on", "guests"),
        status=1,
    ).output
    assert "twice.csv: rows can't be paired: guests = 1 is repeated" in said
    assert "found 2 rows (line 9, line 23). Average the repeated rows, or add a column" in said
    sides = {"of": {"system": "xen"}, "to": {"system": "zvm"}}
    frame = pd.concat([table, table], ignore_index=True)
    with pytest.raises(ParameterError, match=r"guests = 1 is repeated.*\(index 7, 21\)"):
        models.pairs("throughput", frame, on="guests", **sides)


def test_a_load_that_is_not_positive_is_named_with_column_and_line(run, table, tmp_path):
    (tmp_path / "zero.csv").write_text("n,r\n1,2.0\n\n0,3.0\n4,5.0\n8,9.0\n")
    said = run("fit", "usl", "zero.csv", "--x", "n", "--y", "r", status=1).output
    assert "zero.csv: load (column 'n') in line 4 is not positive; found 0.0" in said


def test_progress_is_shown_for_many_rows(run, table, monkeypatch):
    shown = []

    @contextmanager
    def status(title):
        shown.append(title)
        yield None

    monkeypatch.setattr(fit, "status", status)
    run("fit", "line", "load.csv", *COLUMNS)
    assert shown == ["reading load.csv"]
    monkeypatch.setattr(fit, "MANY_ROWS", 13)
    run("fit", "line", "load.csv", *COLUMNS)
    given = ("load.csv", "--y", "throughput", "--group", "system", "--of", "xen", "--to", "zvm")
    run("fit", "ratios", *given)
    assert shown[2] == "fitting line to 14 rows" and shown[4] == "fitting ratios to 14 rows"


def test_level_noise_and_weights(run, table):
    where = ("load.csv", *COLUMNS, "--where", "system=zvm")
    assert "90 % interval" in run("fit", "usl", *where, "--level", "0.9").output
    one = table[table["system"] == "zvm"]
    constant = models.usl("throughput ~ guests", one, noise="constant")
    assert run("fit", "usl", *where, "--noise", "constant").output == constant.only.summary()
    both = run("fit", "usl", *where, "--noise", "constant", "--weights", "guests", status=2)
    assert "mutually exclusive" in both.output
    weighted = models.usl("throughput ~ guests", one, weights="guests")
    assert run("fit", "usl", *where, "--weights", "guests").output == weighted.only.summary()


def test_extrapolated_predictions_are_marked(run, table):
    where = ("load.csv", *COLUMNS, "--where", "system=zvm")
    text = run("fit", "usl", *where, "--at", "4", "--at", "64").output
    one = models.usl("throughput ~ guests", table[table["system"] == "zvm"])
    for interval in ("mean", "observation"):
        predicted = one.predict([4.0, 64.0], interval=interval)
        assert predicted["extrapolated"].tolist() == [False, True]
        assert predicted.to_string(index=False, float_format="{:.6g}".format) in text


def test_prediction_at_an_invalid_load_is_rejected(run, table):
    where = ("load.csv", *COLUMNS, "--where", "system=zvm")
    for model in ("usl", "amdahl", "scaling"):
        for at in ("-5", "0"):
            output = run("fit", model, *where, f"--at={at}", status=1).output
            assert f"new x in row 1 of 1 is not positive; found {float(at)}" in output
            assert "is defined for x above 0 only" in output
    assert "\n     -5 " in run("fit", "line", *where, "--at=-5").output
    for model in ("usl", "line", "segmented"):
        for at in ("1e400", "nan"):
            output = run("fit", model, *where, "--at", at, status=2).output
            assert f"'--at': {at} is not a finite number" in output
        assert (
            "new x in row 1 of 1 is too large"
            in run("fit", model, *where, "--at", "1e200", status=1).output
        )


def test_robust_line_predicts_only_the_mean(run, table):
    """Rows are weighted, so the noise of a new row is unknown."""
    where = ("load.csv", *COLUMNS, "--where", "system=zvm", "--at", "4")
    output = run("fit", "robust_line", *where).output
    assert "\nmean\n" in output and "\nobservation\n" not in output


def test_output_of_virtperf_read_can_be_fitted(run, root, tmp_path):
    from tests.toy_runs import sar

    (tmp_path / "sar.txt").write_bytes(sar())
    run("--root", str(root), "read", "sar.txt", "-o", "sar.json")
    given = ("--x", "t", "--y", "metric_value", "--where", "metric=cpu_user")
    assert "rows 10" in run("fit", "line", "sar.json", *given).output


def test_rows_without_a_number_are_dropped_and_reported(run, tmp_path):
    (tmp_path / "t.csv").write_text("n,x\n1,10\n2,\n3,30.5\n4,NA\n5,49\n")
    output = run("fit", "line", "t.csv", "--x", "n", "--y", "x").output
    assert (
        "2 row(s) with missing values were left out: line 3, line 5" in output
        and "rows 3" in output
    )


def test_errors_report_column_line_and_group(run, tmp_path, table):
    (tmp_path / "t.csv").write_text("n,x\n1,10\n2,many\n")
    output = run("fit", "line", "t.csv", "--x", "n", "--y", "x", status=1).output
    assert "t.csv line 3: column 'x' contains a value that is not a finite number" in output
    assert "found 'many'" in output
    (tmp_path / "t.csv").write_text('n,x\n1,"1,955.16"\n2,"3,000.5"\n')
    output = run("fit", "line", "t.csv", "--x", "n", "--y", "x", status=1).output
    assert "Write '1955.16', without thousands separators" in output
    rows = [f"{n},{10 * n}" for n in range(1, 600)]
    rows[498] = "499,1e308"
    (tmp_path / "t.csv").write_text("\n".join(["n,x", *rows]) + "\n")
    output = run("fit", "usl", "t.csv", "--x", "n", "--y", "x", status=1).output
    assert "t.csv line 500: column 'x' contains a number that is too large; expected" in output
    wrong = ("fit", "usl", "load.csv", "--x", "load", "--y", "throughput")
    assert "no column 'load'; expected one of system" in run(*wrong, status=1).output
    (tmp_path / "few.csv").write_text("g,n,x\na,1,10\na,2,19\n")
    few = ("fit", "usl", "few.csv", "--x", "n", "--y", "x", "--by", "g")
    assert "a: 2 rows can't determine 3 parameters" in run(*few, status=1).output
    for given, message in (
        (("usl", "load.csv", "--y", "throughput"), "usl needs --x"),
        (("ratios", "load.csv", "--y", "throughput"), "ratios needs --group, --of, --to"),
        (("line", "load.csv", *COLUMNS, "--form", "free"), "line does not accept --form"),
        (("uls", "load.csv", *COLUMNS), "'uls' is not one of"),
        (("usl", "load.csv", *COLUMNS, "--where", "system"), "expected COLUMN=VALUE"),
    ):
        assert message in run("fit", *given, status=2).output


def test_nonpositive_values_suggest_constant_noise(run, tmp_path):
    (tmp_path / "t.csv").write_text("n,x\n1,-1\n2,1\n3,2\n4,4\n")
    output = run("fit", "usl", "t.csv", "--x", "n", "--y", "x", status=1).output
    assert "is not positive" in output and "constant" in output
    assert "slope" in run("fit", "line", "t.csv", "--x", "n", "--y", "x").output


def test_every_model_is_listed(run):
    listed = {line.split()[0] for line in run("fit", "--list").output.splitlines()[1:]}
    assert listed == {*CURVES, *COMPARISONS} <= set(models.__all__)


def test_outlier_is_reported_with_line_number(run, tmp_path, table):
    typed = table[table["system"] == "zvm"].reset_index(drop=True)
    typed = pd.concat([typed, typed.assign(throughput=1.01 * typed["throughput"])])
    typed.iloc[3, typed.columns.get_loc("throughput")] /= 10
    typed.to_csv(tmp_path / "typed.csv", index=False)
    output = run("fit", "usl", "typed.csv", *COLUMNS).output
    assert "line 5 (x = " in output and "without it" in output
    assert "line 5 (x = " in run("fit", "usl", "typed.csv", *COLUMNS, "--robust").output
