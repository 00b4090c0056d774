"""`virtperf compare`: text, exit status, Markdown, JSON and its schema."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import jsonschema
import pytest
from pydantic import TypeAdapter

from tests.comparison.test_compare import A, B, raw_files
from virtperf.comparison.comparison_table import ComparisonTable

MAX_MODULES = 80
"""Modules of the packages that a comparison of two dozen numbers may import."""


@pytest.fixture
def command(run, tmp_path):
    raw_files(tmp_path / "a", A)
    raw_files(tmp_path / "b", B)
    return lambda *words, **named: run("compare", *words, **named).output


def test_command_prints_sentence_and_table(command):
    text = command("a", "b", "--margin", "2%")
    second, first, *rest = text.splitlines()
    assert first == "b serves 10.0 % less than a, 9.2 to 10.8 % (throughput): slower."
    assert second.startswith("b takes 11.1 % longer than a, 10.1 to 12.2 %")
    assert any(line.startswith("quantity") and "p (Holm)" in line for line in rest)


def test_exit_status_reflects_the_verdict(command):
    for words, status in (
        (("a", "b", "--fail-on", "slower"), 1),
        (("b", "a", "--fail-on", "slower"), 0),
        (("b", "a", "--fail-on", "slower", "--fail-on", "faster"), 1),
        (("a", "b", "--margin", "30%", "--fail-on", "slower"), 0),
        (("a", "b/run-1.txt", "--fail-on", "slower"), 0),
        (("a", "b/run-1.txt", "--fail-on", "undecided"), 1),
        (("a", "absent", "--fail-on", "slower"), 2),
        (("a", "b", "--input-format", "nonsense", "--fail-on", "slower"), 2),
        (("a",), 2),
        (("--aa", "a", "b"), 2),
        (("a", "b", "--margin", "much"), 2),
    ):
        command(*words, status=status)


def test_input_errors_of_other_gates_are_no_verdict(run, root):
    assert "no such file" in run("history", "absent.csv", "--fail-on", "slower", status=2).output
    claim = ("--root", str(root), "claim", "test", "zvm-xen-2009/xen-software-costs-27-percent")
    assert "absent" in run(*claim, "absent", "b", "--fail-on", "fails", status=2).output


def test_contradictory_options_are_rejected(command):
    name = "throughput"
    directions = ("--higher-is-better", "through*", "--lower-is-better", name)
    output = command("a", "b", *directions, status=2)
    assert f"Error: {name} can't be both higher-is-better and lower-is-better" in output


def test_quantities_that_are_always_zero_are_listed(command, tmp_path):
    for side in "cd":
        (tmp_path / side).mkdir()
        for run in range(3):
            rows = f"ops,err\n{10 + run + 5 * ord(side)},0\n"
            (tmp_path / side / f"{run}.csv").write_text(rows)
    text = command("c", "d", "--higher-is-better", "ops", "--lower-is-better", "err")
    assert "note: left out: err (0 in all runs of both sides: no ratio is defined)" in text
    assert "left out: err" not in command("c", "d")


def test_single_run_per_side_is_noted_first(command):
    text = command("a", "b/run-1.txt")
    assert text.startswith(
        "Whether run-1.txt differs from a is undecided: B has one run: the variance between runs can't be estimated"
    )


def test_json_conforms_to_its_schema(command):
    for words in (("a", "b"), ("a", "b/run-1.txt"), ("--aa", "a")):
        found = json.loads(command(*words, "--format", "json"))
        schema = TypeAdapter(ComparisonTable).json_schema(mode="serialization")
        jsonschema.validate(found, schema)
    assert found["equal_runs"][0]["splits"] == 200
    found = json.loads(command("a", "b", "--format", "json"))
    ratios = {row["quantity"]: row["ratio"] for row in found["rows"]}
    assert math.isclose(ratios["throughput"], sum(B) / sum(A))
    assert {row["verdict"] for row in found["rows"]} == {"slower"}
    assert found["sentences"][1].startswith("b serves")


def test_markdown_is_a_table(command):
    lines = command("a", "b", "--format", "markdown").splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 4
    assert len({line.count("|") for line in table}) == 1
    assert lines[1].startswith("- b serves 10.0 % less than a")


@pytest.mark.parametrize(
    ("suffix", "form"), [("csv", "seconds\n{}\n"), ("json", '{{"seconds": {}}}')]
)
def test_a_small_comparison_imports_few_modules(tmp_path, suffix, form):
    for side in (1, 2):
        for run in range(12):
            file = tmp_path / str(side) / f"{run}.{suffix}"
            file.parent.mkdir(exist_ok=True)
            file.write_text(form.format(side + run / 100))
    code = """
import sys
from virtperf.cli import main
main(["compare", "1", "2", "--lower-is-better", "seconds"], standalone_mode=False)
print(sum(name.partition(".")[0] in ("rawperf", "virtperf") for name in sys.modules))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "slower" in done.stdout
    assert int(done.stdout.split()[-1]) <= MAX_MODULES


def test_level_given_twice_is_refused(command):
    text = command("a", "b", "--where", "n=1", "--where", "n=2", status=2)
    assert "--where n is given twice: one level holds for all runs" in text
