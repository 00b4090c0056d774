"""Bar figures, checked by their drawn artists."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd
import pytest
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from tests.report.plot.drawn import across, boxes, dots, legend, words
from virtperf.report import plot
from virtperf.report.loaded import LoadedStudy


def test_user_runs_become_bars_of_means(own: pd.DataFrame) -> None:
    (axes,) = plot.bars(runs=own, x="users", y="tps", hue="tool").axes
    means = own.groupby(["users", "tool"])["tps"].mean()
    bars = boxes(axes, "column")  # users are sorted, each at its own position
    assert [(low, high) for _, low, high in bars] == [
        (0, pytest.approx(v)) for v in sorted(means) if v in means.to_numpy()
    ]
    assert {x: sorted(h for place, _, h in bars if place == x) for x in range(4)} == {
        k: pytest.approx(sorted(means[users])) for k, users in enumerate((1, 2, 4, 8))
    }
    assert [t.get_text() for t in axes.get_xticklabels()] == ["1", "2", "4", "8"]
    assert len(dots(axes)) == len(own) and legend(axes) == ["wrk", "ab"]


def test_range_is_one_box_on_a_thin_bar(loaded: LoadedStudy) -> None:
    points = loaded.points("figure-3")
    (axes,) = plot.bars(points, x="cipher", hue="series").axes
    place = {"none": 0, "hardware": 1, "software": 2}
    differ = points["low"].ne(points["low_text"]) | points["high"].ne(points["high_text"])
    rest = ~differ & points["printed"].isna()  # of a printed number there is no box
    for kind, low, high, part in (
        ("text", "low_text", "high_text", points[rest]),
        ("given", "low", "high", points[differ]),
    ):
        wanted = zip(part["cipher"].map(place), part[low], part[high], strict=True)
        assert boxes(axes, kind) == sorted(wanted)
    lowest = points["low"].mask(points["printed"].notna(), points["printed"])
    assert sorted(height for _, _, height in boxes(axes, "column")) == sorted(lowest)
    assert words(axes) == "CPU utilization, %"
    assert [t.get_text().replace("\n", " ") for t in axes.get_xticklabels()] == [
        "not encrypted",
        "hardware encryption",
        "software",
    ]


def test_group_has_no_space_for_missing_bars(loaded: LoadedStudy) -> None:
    points = loaded.points("figure-3").assign(printed=float("nan"))
    (axes,) = plot.bars(points, x="cipher", hue="series").axes
    found = sorted([*across(axes, "text"), *across(axes, "given")])
    ticks = [axes.transData.transform((x, 0))[0] for x in (0, 1, 2)]
    middles = [sum(ends) / 2 for ends in found]
    assert len(found) == 5 and middles[2] == pytest.approx(
        ticks[1], abs=0.5
    )  # one bar, centred in its group
    assert sum(middles[:2]) / 2 == pytest.approx(ticks[0], abs=0.5)
    assert all(a[1] <= b[0] + 0.5 for a, b in pairwise(found))


def test_measured_means_are_columns_with_ranges_and_without(loaded: LoadedStudy) -> None:
    points, means = loaded.points("figure-3"), loaded.means("figure-3")
    (mean,) = means["value"]
    (axes,) = plot.bars(points, x="cipher", hue="series", means=means).axes
    assert {mean, 80} <= {height for _, _, height in boxes(axes, "column")}
    assert {"printed", "measured, 95 % interval"} <= {t.replace("\n", " ") for t in legend(axes)}
    (axes,) = plot.bars(x="cipher", hue="series", means=means).axes
    assert [height for _, _, height in boxes(axes, "column")] == [mean] and dots(axes) == []


def test_axis_without_columns_may_begin_above_0(loaded: LoadedStudy) -> None:
    points = loaded.points("figure-3").assign(low=97.0, high=99.0, low_text=97.0, high_text=99.0)
    points = points.assign(pieces=[[97.0, 99.0]] * len(points), printed=98.0).drop(
        columns="pieces_text"
    )
    (axes,) = plot.bars(points, x="cipher", hue="series").axes
    assert axes.get_ylim()[0] > 90 and words(axes).endswith(f"(axis from {axes.get_ylim()[0]:g})")
    assert boxes(axes, "column") == []  # which would begin at the axis, not at 0
    (axes,) = plot.bars(points, x="cipher", hue="series", means=loaded.means("figure-3")).axes
    assert axes.get_ylim()[0] == 0


def test_ranges_stand_on_thin_bars_unless_open() -> None:
    points = pd.DataFrame(
        {"x": ["a", "b", "c"], "low": [95.0, 50.0, 1.0], "high": [105.0, 60.0, 90.0]}
    )
    (axes,) = plot.bars(points, x="x").axes
    assert boxes(axes, "column") == [(0, 0, 95), (1, 0, 50)]


def test_thin_bars_of_ranges_end_at_the_box_below_0_too() -> None:
    points = pd.DataFrame({"x": ["a", "b"], "low": [-3.0, -1.0], "high": [-2.0, 1.0]})
    (axes,) = plot.bars(points, x="x").axes
    assert [(x, height) for x, _, height in boxes(axes, "column")] == [(0, -2)]


def test_axis_of_a_single_value_begins_at_0() -> None:
    points = pd.DataFrame({"x": ["a", "b"], "low": [97.0, 98.0], "high": [99.0, 99.0]})
    assert plot.bars(points, x="x").axes[0].get_ylim()[0] > 90
    assert plot.bars(points[:1], x="x").axes[0].get_ylim()[0] == 0


def test_legend_key_of_printed_numbers_is_their_mark_and_of_ranges_a_box() -> None:
    points = pd.DataFrame({"x": ["a", "b"], "s": ["marked", "range"], "low": [99.5, 50.0]})
    points = points.assign(high=[100.5, 90.0], printed=[100.0, None])
    (legend,) = plot.bars(points, x="x", hue="s").legends
    names = [text.get_text() for text in legend.get_texts()]
    keys = dict(zip(names, legend.legend_handles, strict=True))
    assert isinstance(keys["marked"], Line2D) and keys["marked"].get_fillstyle() == "bottom"
    assert isinstance(keys["range"], Patch)


def test_example_run_is_never_a_bar(loaded: LoadedStudy) -> None:
    means = loaded.means("figure-2").query("provenance == 'example'")
    (axes,) = plot.bars(x="guests", hue="series", means=means).axes
    assert boxes(axes, "column") == [] and [y for _, y in dots(axes)] == list(means["value"])


def test_words_are_above_the_bars_if_they_have_room() -> None:
    numbers = pd.DataFrame(
        {"part": ["one", "two"], "value": [3.2, 0.8], "words": ["3.2", "about 0.8"]}
    )
    figure = plot.bars(printed=numbers, x="part", words="words", from_zero=True)
    (axes,) = figure.axes
    assert [(t.get_text(), t.get_position()) for t in axes.texts] == [
        ("3.2", (0, 3.2)),
        ("about 0.8", (1, 0.8)),
    ]
    assert axes.get_ylim()[0] == 0 and axes.get_ylim()[1] > 3.2
    long = numbers.assign(
        words="words that are longer than the distance between two bars of a figure"
    )
    (axes,) = plot.bars(printed=long, x="part", words="words").axes
    assert not axes.texts


def test_words_are_not_written_at_a_natural_bound() -> None:
    shares = pd.DataFrame({"part": ["one", "two"], "value": [99.0, 100.0], "words": ["99", "100"]})
    shares.attrs["axes"] = {"bounds": {"value": [0, 100]}}
    (axes,) = plot.bars(printed=shares, x="part", words="words", from_zero=True).axes
    assert not axes.texts and axes.get_ylim()[1] < 110


def test_series_named_on_an_axis_are_not_in_the_legend() -> None:
    numbers = pd.DataFrame({"part": ["one", "two"], "value": [3.0, 1.0]})
    (axes,) = plot.bars(printed=numbers, x="part", hue="part").axes
    assert legend(axes) == ["all values printed"]
    named = numbers.assign(series="Load")
    (axes,) = plot.bars(printed=named, x="part", hue="series", ylabel="Load, IFLs").axes
    assert legend(axes) == ["printed"]
    (axes,) = plot.bars(printed=named, x="part", hue="series", ylabel="CPU, IFLs").axes
    assert legend(axes) == ["Load: printed"]


def test_series_of_printed_numbers_beside_ranges_is_named_so() -> None:
    points = pd.DataFrame({"x": [1, 2], "s": "b", "low": [5.0, 6.0], "high": [7.0, 9.0]})
    printed = pd.DataFrame({"x": [1, 2], "s": "a", "value": [3.0, 4.0]})
    (axes,) = plot.bars(points, printed=printed, x="x", hue="s").axes
    assert sorted(legend(axes)) == ["a: printed", "b", "range"]


def test_what_holds_for_all_series_has_no_mark_of_its_own() -> None:
    numbers = pd.DataFrame({"part": ["one", "two"], "value": [3.0, 1.0], "series": ["a", "b"]})
    (axes,) = plot.bars(printed=numbers, x="part", hue="series").axes
    handles = axes.figure.legends[0].legend_handles
    marks = {text: h.get_marker() for text, h in zip(legend(axes), handles, strict=True)}
    assert marks.keys() == {"a", "b", "all values printed"}
    assert marks["a"] != marks["b"] and marks["all values printed"] == "None"
