"""Loads that differ between sides, or are pooled."""

import numpy as np
import pytest

import virtperf

NOISE = np.random.default_rng(1)


@pytest.fixture
def write(tmp_path, monkeypatch):
    """A side of tables, with one row per load."""
    monkeypatch.chdir(tmp_path)

    def of(side: str, tables: list[list[int]], level: float = 100.0) -> None:
        (tmp_path / side).mkdir()
        for number, loads in enumerate(tables):
            rows = [
                f"{n},{level * n / (1 + 0.05 * n) * (1 + 0.02 * NOISE.standard_normal()):.6g}\n"
                for n in loads
            ]
            table = "clients,throughput\n" + "".join(rows)
            (tmp_path / side / f"{number}.csv").write_text(table)

    return of


def notes() -> list[str]:
    table = virtperf.compare("old", "new", higher=["throughput"])
    others = ("rows are matched by", "not compared", "left out")
    return [
        remark
        for remark in table.remarks()
        if "clients" in remark and not any(words in remark for words in others)
    ]


def test_different_loads_of_the_sides_are_reported(write):
    write("old", [[2]] * 4)
    write("new", [[4]] * 4)
    (note,) = notes()
    assert note.startswith("clients is 2 in the runs of A and 4 in those of B: if it is a setting")


def test_rows_at_equal_loads_are_matched(write):
    write("old", [[1, 4, 16]] * 4)
    write("new", [[1, 4, 8]] * 4, 50)
    table = virtperf.compare("old", "new", higher=["throughput"])
    single = [row for row in table.rows if not row.is_mean]
    assert {row.condition for row in single} == {"clients=1", "clients=4"}
    assert all(row.ratio == pytest.approx(0.5, rel=0.05) for row in single)
    for letter, load in (("A", 16), ("B", 8)):
        assert f"{letter}: left out, since not on both sides: clients={load}" in table.remarks()


def test_runs_at_several_loads_are_not_replicates(write):
    write("old", [[n] for n in (1, 2, 4, 8, 16, 24)])
    write("new", [[n] for n in (1, 2, 4, 8, 16, 24)], 90)
    (note,) = notes()
    assert note.startswith("clients explains most of the variation between the runs of a side")
    assert "compare runs with equal clients" in note
    paired = virtperf.compare("old", "new", higher=["throughput"], paired=True)
    assert not any("not replicates" in remark for remark in paired.remarks())


def test_runs_with_different_lists_of_loads_are_not_replicates(write):
    write("old", [[1, 2, 4, 8]] * 6)
    write("new", [[1, 2, 4, 8]] * 3 + [[1, 2, 4, 16]] * 3)
    (note,) = notes()
    assert note == (
        "clients is 1, 2, 4, 8 in 3 of 6 runs of B, and 1, 2, 4, 16 in 3: these runs are not "
        "replicates; compare runs with equal clients"
    )


def test_counts_by_row_are_not_loads(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for side in ("old", "new"):
        (tmp_path / side).mkdir()
        for run in range(8):
            rows = [
                f"{n},{100 * n * NOISE.normal(1, 0.02)},{NOISE.poisson(0.3)},{NOISE.poisson(n)}\n"
                for n in (1, 2, 4, 8)
            ]
            table = "clients,throughput,errors,retries\n" + "".join(rows)
            (tmp_path / side / f"{run}.csv").write_text(table)
    table = virtperf.compare("old", "new", higher=["throughput"])
    assert not any("not replicates" in remark for remark in table.remarks())


@pytest.mark.parametrize("loads", [[1, 4, 16], [4]])
def test_equal_loads_are_not_reported(write, loads):
    write("old", [loads] * 6)
    write("new", [loads] * 6, 90)
    assert not notes()


def test_measured_numbers_are_not_loads(tmp_path, monkeypatch):
    """Counts vary between runs, and other measurements are not integers."""
    monkeypatch.chdir(tmp_path)
    for side in ("old", "new"):
        (tmp_path / side).mkdir()
        for run in range(6):
            errors, seconds = NOISE.poisson(2), NOISE.normal(10, 0.1)
            (tmp_path / side / f"{run}.csv").write_text(f"errors,seconds\n{errors},{seconds:.4f}\n")
    table = virtperf.compare("old", "new")
    assert not any(
        "different levels" in remark or "not replicates" in remark for remark in table.remarks()
    )
