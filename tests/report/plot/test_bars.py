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


def test_range_is_a_box_without_bar(loaded: LoadedStudy) -> None:
    points = loaded.points("figure-3")
    (axes,) = plot.bars(points, x="cipher", hue="series").axes
    place = {"none": 0, "hardware": 1, "software": 2}
    differ = points["low"].ne(points["low_text"]) | points["high"].ne(points["high_text"])
    for kind, low, high, part in (
        ("text", "low_text", "high_text", points),
        ("given", "low", "high", points[differ]),
    ):
        wanted = zip(part["cipher"].map(place), part[low], part[high], strict=True)
        assert boxes(axes, kind) == sorted(wanted)
    assert [height for _, _, height in boxes(axes, "column")] == [80]  # of the printed number only
    assert words(axes) == "CPU utilization, %"
    assert [t.get_text().replace("\n", " ") for t in axes.get_xticklabels()] == [
        "not encrypted",
        "hardware encryption",
        "software",
    ]


def test_group_has_no_space_for_missing_bars(loaded: LoadedStudy) -> None:
    (axes,) = plot.bars(loaded.points("figure-3"), x="cipher", hue="series").axes
    found = across(axes, "text")
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
    assert sorted(height for _, _, height in boxes(axes, "column")) == [mean, 80]
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


def test_narrow_ranges_stand_on_thin_bars() -> None:
    points = pd.DataFrame({"x": ["a", "b"], "low": [95.0, 50.0], "high": [105.0, 60.0]})
    (axes,) = plot.bars(points, x="x").axes
    assert boxes(axes, "column") == [(0, 0, 95)]


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
