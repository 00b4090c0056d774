"""Line and bar figures as records: layers, limits as text, numbers, user-drawn figures."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from rawperf.core.errors import RawperfError
from tests.report import toy
from tests.report.plain import links, plain
from tests.report.toy import DOLLARS, HOSTILE, change
from virtperf import models, plot
from virtperf.core import stage_tables
from virtperf.core.estimate import Estimate
from virtperf.core.numbers import NO_BREAK
from virtperf.report import frames
from virtperf.report.axis_words import colours
from virtperf.report.frames import load
from virtperf.report.kinds import _figure
from virtperf.report.kinds._figure import (
    bar_number,
    drawn_points,
    is_mostly_open,
    seen_points,
)
from virtperf.report.loaded import LoadedStudy, load_study
from virtperf.report.records import Paragraph
from virtperf.report.trace import traces
from virtperf.study.parts import Finding


def numbers(loaded: LoadedStudy, exhibit: str) -> pd.DataFrame:
    return loaded.show(exhibit).record.numbers[0].frame()


def test_layers_keep_their_provenance(loaded: LoadedStudy) -> None:
    table = numbers(loaded, "figure-2").set_index(["series", "guests"])
    row = table.loc[(HOSTILE, 8)]
    assert (row["measured"], row["measured_high"]) == (152, pytest.approx(156.968, abs=1e-3))
    assert (row["allowed"], row["text_alone"]) == ("165.5 166.5",) * 2
    assert (row["allowed_low"], row["allowed_high"], row["low_set_by"]) == (
        165.5,
        166.5,
        "more-at-8",
    )
    assert row["measured_runs"] == "measured-a-8-r1;measured-a-8-r2;measured-a-8-r3"
    assert pd.isna(row["example"]) and table.loc[(HOSTILE, 2), "example"] == 75
    assert pd.isna(table.loc[(DOLLARS, 2), "allowed_high"])  # unbounded
    assert loaded.show("figure-2").record.provenance == ("reconstructed", "measured", "example")
    assert loaded.show("figure-3").record.provenance == ("published", "reconstructed", "measured")


def test_examples_are_shown_only_on_request(toy_data: Path) -> None:
    record = load_study("toy", toy_data).show("figure-2").record
    assert record.numbers[0].frame()["example"].isna().all() and "example" not in record.provenance
    assert record.drawing and "made-up example" not in record.drawing


def test_band_without_assumptions_is_that_of_the_text(toy_data: Path) -> None:
    table = numbers(load_study("toy", toy_data, assumptions=False), "figure-2")
    assert (table["allowed_low"][0], table["allowed_high"][0]) == (10, 90)


def test_text_table_holds_the_plotted_numbers(loaded: LoadedStudy) -> None:
    text = repr(loaded.show("figure-2"))
    assert text.splitlines()[0] == "Figure 2. Throughput over guests"
    assert re.search(r"8 +165\.5 to 166\.5 +165\.5 to 166\.5 +152 \(147 to 157\)", text)
    assert re.search(r"\$host_1\$.*  2 +20 or more +40 or more", text)
    assert len(text.splitlines()) == 4 + 7  # title, caption, note, header, one line per point


def test_claims_and_runs_are_in_the_numbers_and_the_trace(loaded: LoadedStudy) -> None:
    exhibit = loaded.show("figure-2")
    assert "trace:toy/figure-2" in links(exhibit)
    numbers = exhibit.record.numbers[0].frame()
    assert "more-at-8" in set(numbers["low_set_by"])
    assert any("measured-a-8-r1" in runs for runs in numbers["measured_runs"])
    assert exhibit.record.claims == ("more-at-8", "best-at-8", "flat")
    assert "165.5 to 166.5" in plain(exhibit) and "152 (147 to 157)" in plain(exhibit)


def test_empty_columns_are_omitted(loaded: LoadedStudy, bare: LoadedStudy) -> None:
    columns = {"The text alone allows", "With our assumptions", "Printed", "Measured"}
    assert columns < set(plain(loaded.show("figure-3")).splitlines())
    assert not columns & set(plain(bare.show("figure-2")).splitlines())


def test_pieces_of_a_range_are_separate(loaded: LoadedStudy, tmp_path: Path) -> None:
    data = toy.build(tmp_path)
    path = data / "reconstructed" / "toy" / "points.parquet"
    points = stage_tables.POINTS.read(path)
    points.at[2, "pieces"] = [20.0, 30.0, 165.5, math.inf]
    points.loc[2, ["low", "high"]] = 20.0, math.inf
    stage_tables.POINTS.write(points, path)
    exhibit = load_study("toy", data).show("figure-2")
    assert "20 to 30 or 165.5 or more" in plain(exhibit)
    assert exhibit.record.numbers[0].frame()["allowed"][2] == "20 30; 165.5 inf"
    assert "20 to 30 or 165.5 or more" in next(
        t.allowed for t in traces(load("toy", data)) if t.x == "8"
    )


def test_figure_before_the_stages_states_missing_results(bare: LoadedStudy) -> None:
    drawn = {f"figure-{k}": bool(bare.show(f"figure-{k}").record.drawing) for k in (2, 3, 5)}
    assert drawn == {"figure-2": True, "figure-3": True, "figure-5": False}  # one stated level
    assert "no values" in bare.show("figure-2").record.caption
    assert "System A: 80 (hardware encryption)" in bare.show("figure-3").record.caption
    assert "not computed" in bare.show("figure-5").record.caption


def test_picture_is_described_by_the_caption(loaded: LoadedStudy) -> None:
    record = loaded.show("figure-2").record
    assert record.description == record.caption and "<svg" in record.drawing


def test_user_changes_reach_the_record(loaded: LoadedStudy) -> None:
    figure = plot.lines(
        loaded.points("figure-2"), x="guests", hue="series", means=loaded.means("figure-2")
    )
    figure.axes[0].set_title("My own title")
    figure.axes[0].axhline(77.0, color="#123456")
    drawing = loaded.show("figure-2", figure).record.drawing
    assert ">My own title<" in drawing and "#123456" in drawing
    usual = loaded.show("figure-2").record.drawing
    assert usual and "My own title" not in usual


def test_record_is_deterministic(loaded: LoadedStudy) -> None:
    for exhibit in ("figure-2", "figure-3", "figure-4", "figure-5"):
        assert loaded.show(exhibit).record == loaded.show(exhibit).record


def test_fits_are_drawn_and_their_curves_stored(measured: LoadedStudy) -> None:
    loaded, runs = measured, measured.runs("figure-2")
    fits = models.line("value ~ guests", runs, by="series")
    record = loaded.show("figure-2", None, fits).record
    assert [n.name for n in record.numbers] == ["toy-figure-2", "toy-figure-2-curves"]
    curves = record.numbers[1].frame()
    assert set(curves["series"]) == {HOSTILE} and (curves["x"].min(), curves["x"].max()) == (2, 16)
    assert "fitted, dots: 95 % interval" in record.drawing


def test_missing_fit_has_a_reason(loaded: LoadedStudy) -> None:
    runs = frames.runs(loaded.data, "figure-2").query("provenance == 'example'")
    fits = models.line("value ~ guests", runs, by="series")
    assert not fits[HOSTILE].available
    record = loaded.show("figure-2", None, fits).record
    assert (
        f"No curve for {HOSTILE}: {fits[HOSTILE].reason}" in plain(record)
        and len(record.numbers) == 1
    )


def test_unrelated_data_is_rejected(measured: LoadedStudy) -> None:
    loaded, runs = measured, measured.runs("figure-2")
    fits = models.line("value ~ guests", runs, by="series")
    with pytest.raises(RawperfError, match="has no fitted curves"):
        loaded.show("figure-3", None, fits)
    with pytest.raises(RawperfError, match=r"study\.estimates"):
        loaded.show("figure-2", None, {"peak": Estimate(1, 0, 2, 0.95, "profile")})
    with pytest.raises(RawperfError, match="this figure has no such series"):
        loaded.show("figure-2", None, {"System Z": fits[HOSTILE], "System Y": fits[HOSTILE]})


def test_runs_without_reference_are_reported_as_omitted(
    measured: LoadedStudy, tmp_path: Path
) -> None:
    data = toy.build(tmp_path)
    change(data, stage_tables.MEANS, {"provenance": "measured", "scale": "relative"}, scale="gone")
    exhibit = load_study("toy", data).show("figure-2")
    assert "can't be put on the paper's scale" in plain(
        exhibit
    ) and "not run: Throughput (4 guests)." in plain(exhibit)
    assert exhibit.record.numbers[0].frame()["measured"].isna().all()
    assert "left out" not in plain(measured.show("figure-2"))


def test_colours_follow_the_series_of_the_study(tmp_path: Path) -> None:
    path = toy.build(tmp_path) / "published" / "toy" / "study.yaml"
    text = path.read_text()
    path.write_text(text.replace("{label: System A, at:", "{label: System A, colour: Memory, at:"))
    found = colours(load_study("toy", tmp_path / "data").study)
    assert found["System A"] == found["Memory"] != found["System B"]
    path.write_text(text.replace("{label: System A, at:", "{label: System A, colour: Memroy, at:"))
    with pytest.raises(
        RawperfError, match=r"figure-3: no series is named 'Memroy'.*Did you mean 'Memory'"
    ):
        load_study("toy", tmp_path / "data")


def test_labels_of_one_figure_have_different_colours(loaded: LoadedStudy) -> None:
    found = colours(loaded.study)
    for exhibit in loaded.study.exhibits:
        labels = [series["label"] for series in exhibit.spec.get("series", ())]
        assert len({found[label] for label in labels}) == len(labels)


def points_with(**ranges: tuple[float, float]) -> pd.DataFrame:
    """Points of a figure by series, one at each level, without printed numbers and runs."""
    rows = [
        {"series": name[0], "quantity": "throughput", "x": name, "low": low, "high": high}
        for name, (low, high) in ranges.items()
    ]
    points = pd.DataFrame(rows).assign(reference=False, known=True, pieces=[()] * len(rows))
    points = points.assign(printed=math.nan, measured=math.nan, example=math.nan)
    return points.assign(
        low_text=points["low"], high_text=points["high"], pieces_text=[()] * len(rows)
    )


def test_long_ranges_over_a_factor_of_two_are_not_drawn_nor_others_of_their_series(
    loaded: LoadedStudy,
) -> None:
    points = points_with(a1=(80, 100), b1=(10, 50), b2=(0, 5), c1=(0, 5), d1=(60, math.inf))
    assert drawn_points(loaded.study, points)["x"].tolist() == ["a1", "c1"]
    compared = points.assign(measured=[math.nan, 30, *[math.nan] * 3])  # drawn, without its range
    drawn = drawn_points(loaded.study, compared).set_index("x")
    assert drawn.index.tolist() == ["a1", "b1", "c1"] and math.isnan(drawn.loc["b1", "low"])


def test_series_next_to_nothing_are_not_drawn(loaded: LoadedStudy) -> None:
    points = points_with(a1=(900, 990), a2=(90, 99), b1=(0, 20), b2=(0, 5), c1=(0, 20), c2=(20, 40))
    assert seen_points(loaded.study, points)["x"].tolist() == ["a1", "a2", "c1", "c2"]
    marked = points.assign(printed=[math.nan] * 3 + [5.0] + [math.nan] * 2)
    assert len(seen_points(loaded.study, marked)) == len(points)


def test_figure_is_left_to_orders_if_most_points_have_nothing_to_draw(loaded: LoadedStudy) -> None:
    wide = {f"b{k}": (1.0, 90.0) for k in range(7)}
    known = {f"a{k}": (80.0, 100.0) for k in range(4)}
    few = dict(list(known.items())[:3])

    def is_open(points: pd.DataFrame) -> bool:
        return is_mostly_open(points, drawn_points(loaded.study, points))

    assert is_open(points_with(**wide, **few))  # 7 of 10
    assert not is_open(points_with(**wide, **known))  # 7 of 11
    assert not is_open(points_with(**wide).assign(known=False))  # no stage has run


def with_findings(loaded: LoadedStudy, *sentences: str) -> LoadedStudy:
    """The toy study with findings whose figure is Figure 2, which is left to orders."""
    fields = {"rests_on": ["more-at-8"], "figure": "figure-2"}
    found = [Finding.model_validate({"says": says, **fields}) for says in sentences]
    study = loaded.study.model_copy(update={"findings": tuple(found)})
    exhibit = study.exhibit("figure-2").model_copy()
    exhibit._spec = {**exhibit.spec, "order": True}
    exhibits = tuple(exhibit if e.id == exhibit.id else e for e in study.exhibits)
    study = study.model_copy(update={"exhibits": exhibits})
    return LoadedStudy(replace(loaded.context, data=replace(loaded.data, study=study)))


def test_further_findings_stand_in_place_of_orders(
    loaded: LoadedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_figure, "_draw_order", lambda *_: Figure())
    first, second = "With eight guests, it gains.", "It gains {more-at-8}, it says."
    assert with_findings(loaded, first).exhibit("figure-2").figure is not None
    shown = with_findings(loaded, first, second).exhibit("figure-2")
    assert shown.figure is None and shown.record.shows.startswith(first)
    sentence = shown.record.blocks[0]
    assert isinstance(sentence, Paragraph) and sentence.words == f"It gains 66{NO_BREAK}%, it says."


def test_a_figure_names_levels_on_its_own_axis(loaded: LoadedStudy) -> None:
    exhibit = loaded.study.exhibit("figure-2").model_copy()
    exhibit._spec = {**exhibit.spec, "labels": {8: "eight"}}
    assert loaded.study.axis(exhibit).show(8) == "eight"
    assert loaded.study.factors["guests"].show(8) == "8"


def test_number_above_a_bar_is_printed_or_rounded_outwards() -> None:
    assert bar_number(31.5, 20.0, 40.0) == "31.5"
    assert bar_number(math.nan, 61.4, 63.4) == "61–64"
    assert bar_number(math.nan, 81.6, 82.4) == "82"
    assert bar_number(math.nan, 20.0, 40.0) is None and bar_number(math.nan, 2.0, 2.1) is None
