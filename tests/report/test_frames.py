"""Data frames of a study: one row per point or run, typed, in the figure's unit, with provenance."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.report.toy import DOLLARS, HOSTILE, change
from virtperf.core import stage_tables
from virtperf.core.estimate import student
from virtperf.report import frames
from virtperf.report.loaded import LoadedStudy, load_study


def test_points_are_typed_and_in_study_order(loaded: LoadedStudy) -> None:
    points = loaded.points("figure-2")
    assert list(points["guests"]) == [2, 4, 8, 16, 2, 4, 8] and points["guests"].dtype == "int64"
    assert list(points["system"].unique()) == ["a", "b"] and list(points["series"].unique()) == [
        HOSTILE,
        DOLLARS,
    ]
    row = points[(points["system"] == "a") & (points["guests"] == 16)].iloc[0]
    assert (row["low"], row["high"], row["low_by"], row["high_by"]) == (
        162.7,
        166.5,
        ["flat"],
        ["best-at-8", "flat"],
    )
    assert (row["study"], row["exhibit"], row["quantity"]) == ("toy", "figure-2", "throughput")
    assert math.isinf(points["high"].iloc[4]) and points["pieces_text"].iloc[0] == [10, 90]
    assert list(points["reference"]) == [False, True, *[False] * 5]


def test_points_have_no_limits_before_the_stages_have_run(bare: LoadedStudy) -> None:
    points = bare.points("figure-2")
    assert len(points) == 7 and points[["low", "high", "low_text", "high_text"]].isna().all(
        axis=None
    )
    assert not points["pieces"].map(len).any()
    assert bare.means("figure-2").empty and bare.runs("figure-2").empty
    assert frames.timeline(bare.data, "figure-5").empty
    assert {"guests", "value", "se", "run_id", "provenance"} <= set(bare.runs("figure-2").columns)


def test_printed_numbers_have_their_rounding_error(loaded: LoadedStudy) -> None:
    printed = loaded.printed("figure-3")
    assert printed[["series", "cipher", "value"]].to_numpy().tolist() == [
        ["System A", "hardware", 80.0]
    ]
    assert printed["se"].tolist() == [pytest.approx(0.5 / math.sqrt(3))]
    assert set(printed["provenance"]) == {"published"}
    points = loaded.points("figure-3")
    assert points.set_index(["series", "cipher"])["printed"].dropna().to_dict() == {
        ("System A", "hardware"): 80.0
    }


def test_runs_are_measured_and_in_the_unit_of_the_figure(
    measured: LoadedStudy, loaded: LoadedStudy
) -> None:
    runs = measured.runs("figure-2")
    assert list(runs["value"]) == [
        98,
        100,
        102,
        150,
        152,
        154,
    ]  # relative, not the raw values, which are three times as large
    assert set(runs["guests"]) == {4, 8} and set(runs["provenance"]) == {"measured"}
    assert set(loaded.runs("figure-2")["provenance"]) == {
        "measured"
    }  # no fit mixes both provenances


def test_means_are_the_stored_ones_at_the_requested_level(
    loaded: LoadedStudy, toy_data: Path
) -> None:
    # Three replicates 150, 152, 154: mean 152, s = 2, t(2, 0.975) = 4.3027, half-width 4.3027 * 2 / sqrt(3) = 4.968.
    def at_8(study: LoadedStudy) -> dict:
        means = study.means("figure-2")
        return means[(means["provenance"] == "measured") & (means["guests"] == 8)].iloc[0].to_dict()

    row = at_8(loaded)
    assert row["value"] == pytest.approx(152) and row["high"] - row["value"] == pytest.approx(
        4.968, abs=1e-3
    )
    assert row["runs"] == [f"measured-a-8-r{k}" for k in (1, 2, 3)] and row["n"] == 3
    wide = at_8(load_study("toy", toy_data, level=0.99))
    expected = student(152, row["se"], 2, level=0.99, n=3, method="runs")
    assert (wide["low"], wide["high"]) == (
        pytest.approx(expected.low),
        pytest.approx(expected.high),
    )


def test_stored_mean_is_not_recomputed(tmp_path: Path) -> None:
    from tests.report import toy

    data = toy.build(tmp_path)
    where = {"provenance": "measured", "guests": 8, "scale": "relative", "quantity": "throughput"}
    change(data, stage_tables.MEANS, where, value=123.0, low=120.0)
    means = load_study("toy", data).means("figure-2")
    assert means.loc[
        (means["provenance"] == "measured") & (means["guests"] == 8), ["value", "low"]
    ].to_numpy().tolist() == [[123.0, 120.0]]


def test_condition_outside_all_figures(measured: LoadedStudy) -> None:
    study = measured.study
    runs = frames.condition(measured.data, study.quantity_at("throughput", {"guests": 8}))
    assert list(runs["value"]) == [150, 152, 154] and set(runs["system"]) == {"a"}
    assert frames.condition(measured.data, study.quantity_at("throughput", {"guests": 16})).empty


def test_timeline_contains_every_sample(loaded: LoadedStudy) -> None:
    frame = frames.timeline(loaded.data, "figure-5")
    assert set(frame["run_id"]) == {"measured-a-4-r1"} and set(frame["provenance"]) == {"measured"}
    assert frame.groupby("series", sort=False).size().to_dict() == {HOSTILE: 30, "Memory": 30}


def test_runs_over_time_are_relative_to_their_window(measured: LoadedStudy) -> None:
    table = measured.over_time()
    assert set(table["provenance"]) == {"measured"}
    for run in measured.data.index["runs"]:
        if (
            run["provenance"] != "measured"
            or not (rows := table[table["run_id"] == run["run_id"]]).size
        ):
            continue
        inside = rows[rows["t_s"].between(*run["window_s"])]
        assert rows["t_s"].is_monotonic_increasing and len(rows) > len(inside) > 1
        expected = rows["value"] / inside["value"].mean()
        assert rows["relative"].to_numpy() == pytest.approx(expected.to_numpy())
        assert set(rows["window_begin_s"]) == {run["window_s"][0]}
    assert table["run_id"].nunique() > 1


def test_axis_labels_are_kept_in_frames(loaded: LoadedStudy) -> None:
    axes = loaded.points("figure-2").query("system == 'a'").attrs["axes"]
    assert axes["labels"] == {
        "guests": "Guests",
        "throughput": f"Throughput, % of {HOSTILE} at 4 guests",
    }
    assert loaded.points("figure-3").attrs["axes"]["bounds"] == {"utilization": [0, 100]}
    assert loaded.points("figure-4").attrs["axes"]["levels"]["storage"][0] == (20480, "20,480")


def test_quantities_of_one_unit_share_an_axis(tmp_path: Path) -> None:
    from tests.report import toy

    path = toy.build(tmp_path) / "published" / "toy" / "study.yaml"
    path.write_text(
        path.read_text()
        .replace(
            "{label: Throughput, quantity: throughput, at:",
            "{label: Throughput, quantity: swapped, at:",
        )
        .replace(
            "  resident: {label: Resident memory,",
            "  swapped: {label: 'Resident memory, peak', unit: MiB, bounds: [1, null]}\n  resident: {label: Resident memory,",
        )
    )
    axes = load_study("toy", tmp_path / "data").points("figure-4").attrs["axes"]
    assert set(axes["panels"]) == {"swapped", "resident"} and len(set(axes["panels"].values())) == 1
    panel = axes["panels"]["resident"]
    assert axes["labels"][panel] == "Resident memory, MiB" and axes["bounds"][panel] == [
        0,
        math.inf,
    ]
    assert load_study("toy", tmp_path / "data").points("figure-2").attrs["axes"]["panels"] == {}


def test_number_with_a_reading_of_its_rounding_is_printed(tmp_path: Path) -> None:
    from tests.report import toy

    claims = toy.build(tmp_path) / "published" / "toy" / "claims.yaml"
    text = claims.read_text()
    of = 'of: "utilization[guests=4, cipher=hardware]", value: 80, half_width: 0.5'
    assert of in text
    claims.write_text(text.replace(of, f"{of}, reading: rounded twice"))
    assert load_study("toy", tmp_path / "data").printed("figure-3")["value"].tolist() == [80]
    counted = of.replace("0.5", "0")  # "all of them"
    claims.write_text(text.replace(of, f"{counted}, reading: all means 80"))
    assert load_study("toy", tmp_path / "data").printed("figure-3").empty


def test_interval_of_a_mean_ends_at_a_natural_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.report import toy

    near = ("measured", "b", 4, "none", "utilization", (99.0, 99.8, 99.9))
    monkeypatch.setattr(toy, "RUNS", [*toy.RUNS[:2], near])
    means = load_study("toy", toy.build(tmp_path)).means("figure-3")
    (row,) = means.to_dict("records")
    assert (
        row["high"] == 100 and row["low"] < 99 and row["value"] == pytest.approx(99.5667, rel=1e-4)
    )


def test_interval_of_a_mean_outside_the_bounds_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.report import toy

    beyond = ("measured", "b", 4, "none", "utilization", (100.1, 100.2, 100.3))
    monkeypatch.setattr(toy, "RUNS", [*toy.RUNS[:2], beyond])
    (row,) = load_study("toy", toy.build(tmp_path)).means("figure-3").to_dict("records")
    assert (
        row["high"] - row["value"] == pytest.approx(row["value"] - row["low"])
        and row["low"] < 100.2
    )


def test_axis_of_a_share_says_of_what(tmp_path: Path) -> None:
    from tests.report import toy

    path = toy.build(tmp_path) / "published" / "toy" / "study.yaml"
    old = 'utilization: {label: CPU utilization, unit: "%",'
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, f"{old} share_of: the memory touched,"))
    axes = load_study("toy", tmp_path / "data").points("figure-3").attrs["axes"]
    assert axes["labels"]["utilization"] == "CPU utilization, % of the memory touched"
