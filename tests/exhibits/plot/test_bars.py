"""Bar figures, by the properties of what stands on their axes."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib.axes import Axes

from tests.exhibits.plot.drawn import dots, legend, words
from virtperf.exhibits import plot
from virtperf.exhibits.loaded import LoadedStudy


def columns(axes: Axes) -> list[tuple[float, float]]:
    """Middle and height of the bars that begin at 0, widest first left to right."""
    bars = [p for p in axes.patches if p.get_label() != "band"]
    return sorted({(round(p.get_x() + p.get_width() / 2, 6), round(p.get_height(), 6)) for p in bars})


def test_anybodys_runs_become_bars_of_their_means(own: pd.DataFrame) -> None:
    (axes,) = plot.bars(runs=own, x="users", y="tps", hue="tool").axes
    means = own.groupby(["users", "tool"], sort=True)["tps"].mean()
    heights = [height for _, height in columns(axes)]
    # users ascend; within a group, tools stand in order of appearance
    assert heights == pytest.approx([means[u, tool] for u in (1, 2, 4, 8) for tool in ("wrk", "ab")])
    assert [t.get_text() for t in axes.get_xticklabels()] == ["1", "2", "4", "8"]
    assert len(dots(axes)) == len(own) and legend(axes) == ["wrk", "ab"]


def test_bands_stand_on_their_bars(loaded: LoadedStudy) -> None:
    points = loaded.points("figure-3")
    (axes,) = plot.bars(points, x="cipher", hue="series", means=loaded.means("figure-3")).axes
    bands = sorted((p.get_y(), p.get_y() + p.get_height()) for p in axes.patches if p.get_label() == "band")
    banded = points[points["printed"].isna()]
    assert bands == sorted(zip(banded["low"], banded["high"], strict=True))
    assert words(axes) == "CPU utilization, %"
    assert [t.get_text() for t in axes.get_xticklabels()] == ["not encrypted", "hardware encryption", "software"]


def test_a_group_holds_only_the_bars_that_it_has(loaded: LoadedStudy) -> None:
    (axes,) = plot.bars(loaded.points("figure-3"), x="cipher", hue="series").axes
    bands = [p for p in axes.patches if p.get_label() == "band"]
    middles = sorted({*(m for m, _ in columns(axes)), *(round(p.get_x() + p.get_width() / 2, 6) for p in bands)})
    assert len(middles) == 5 and 1.0 in middles  # hardware encryption has one bar, in the middle of its group
    assert middles[0] + middles[1] == pytest.approx(0) and middles[3] + middles[4] == pytest.approx(4)


def test_measured_and_printed_have_their_marks(loaded: LoadedStudy) -> None:
    figure = plot.bars(loaded.points("figure-3"), x="cipher", hue="series", means=loaded.means("figure-3"))
    (measured,) = loaded.means("figure-3")["value"]
    assert measured in [height for _, height in columns(figure.axes[0])]  # a solid bar upon its band
    assert {"printed in the paper", "measured, 95 % interval"} <= {t.replace("\n", " ") for t in legend(figure.axes[0])}
