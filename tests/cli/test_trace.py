"""`virtperf trace`: the trace of one value, or keys with a common prefix."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.report import toy


@pytest.fixture
def keys(run: Run, tmp_path: Path) -> list[str]:
    toy.build(tmp_path)
    (tmp_path / "params.yaml").write_text("seed: 1\nlevel: 0.95\n")
    return run("trace", "toy").output.splitlines()


def test_key_prefix_lists_matching_keys(run: Run, keys: list[str]) -> None:
    tables = [key for key in keys if key.startswith("toy/table-")]
    assert "toy/table-1" in tables and len(set(keys)) == len(keys) > len(tables) + 5
    assert all(key.startswith("toy/") and key.count("/") == 3 for key in keys if key not in tables)
    figure = [key for key in keys if key.startswith("toy/figure-2/")]
    assert (
        run("trace", "toy/figure-2").output.splitlines()
        == figure
        == run("trace", "toy/figure-2/").output.splitlines()
    )
    assert json.loads(run("trace", "toy/figure-2", "--json").output) == figure


def test_trace_shows_formula_limits_and_raw_lines(run: Run, keys: list[str]) -> None:
    output = next(text for key in keys if "(measured)" in (text := run("trace", key).output))
    assert "  formula  " in output and "  by the text alone  " in output
    assert (
        f"{toy.HOSTILE_FILE}: lines 8 to 27, 20 samples" in output
        and "window 60 to 260 s" in output
    )
    trace = json.loads(run("trace", output.splitlines()[0], "--json").output)
    assert (
        trace["runs"][0]["files"][0]["first_line"] == 8 and trace["key"] == output.splitlines()[0]
    )


def test_show_prints_the_raw_lines(run: Run, keys: list[str]) -> None:
    key = next(key for key in keys if "(measured)" in run("trace", key).output)
    assert r"\x1b[31m" not in run("trace", key).output
    output = run("trace", key, "--show").output
    file = f"{toy.HOSTILE_FILE}: lines 8 to 27, 20 samples\n"
    texts = [f"{line:>6}  {text}\n" for line, _, text in toy.RAW_LINES]
    assert file + "".join(texts) in output and "\x1b" not in output
    shown = json.loads(run("trace", key, "--show", "--json").output)
    (lines,) = shown["raw_lines"]["measured-a-4-r1"].values()
    assert lines == {str(line): text for line, _, text in toy.RAW_LINES}
    assert shown["runs"][0]["files"][0]["shown"] == [1, 8, 27]
    of_figure = [name for name in keys if name.startswith("toy/figure-2/")]
    whole = run("trace", "toy/figure-2", "--show").output
    assert [line for line in whole.splitlines() if line in keys] == of_figure
    assert len(json.loads(run("trace", "toy/figure-2", "--show", "--json").output)) == len(
        of_figure
    )


def test_trace_of_a_printed_table_shows_file_lines(
    run: Run, keys: list[str], tmp_path: Path
) -> None:
    trace = json.loads(run("trace", "toy/table-1", "--json").output)
    text = (tmp_path / trace["file"]).read_text().splitlines()
    assert len(trace["lines"]) == len(text) - 1
    assert all(text[line - 1].startswith((cell, f'"{cell}')) for line, cell in trace["lines"])
    output = run("trace", "toy/table-1").output
    assert f"  file     {trace['file']}" in output and "line 2: " in output


def test_unknown_key_suggests_similar_keys_or_exhibits(run: Run, keys: list[str]) -> None:
    for wrong, near in (
        ("toy/figur-2", "toy/figure-2"),
        ("toy/table2", "toy/table-1"),
        (f"{keys[0]}0", keys[0]),
    ):
        output = run("trace", wrong, status=1).output
        assert f"no value has the key {wrong!r}. Did you mean " in output and near in output
    output = run("trace", "toy/qqqqqqqqqqqqqqqqqqqqqq", status=1).output
    assert "Known names: toy/figure-" in output and "`virtperf trace toy` lists all keys" in output
    assert "there is no study 'none'" in run("trace", "none/figure-1", status=1).output


def test_trace_before_the_stages_has_no_limits(run: Run, tmp_path: Path) -> None:
    toy.build(tmp_path, stages=False)
    (tmp_path / "params.yaml").write_text("seed: 1\nlevel: 0.95\n")
    output = run("trace", "toy/figure-2/b/8", status=1).output
    assert "data/reconstructed/toy is missing. Run `virtperf pipeline toy`" in output
