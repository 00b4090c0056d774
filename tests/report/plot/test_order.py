"""Order charts: places of points, lines of stated pairs, legend."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from virtperf.report import plot
from virtperf.report.plot.order import Point

POINTS = pd.DataFrame(
    {"series": ["a", "a", "b", "b", "c"], "guests": [1, 2, 1, 2, 1], "quantity": "throughput"}
)
RANKS: dict[Point, int] = {("b", 1): 1, ("a", 1): 2, ("a", 2): 3}
PAIRS = {(("a", 2), ("a", 1)): True, (("a", 1), ("b", 1)): False}


def chart() -> Axes:
    return plot.order(POINTS, RANKS, PAIRS, x="guests", ylabel="Throughput").axes[0]


def test_each_ordered_point_stands_at_its_rank_and_the_others_are_not_drawn() -> None:
    places = {
        (round(x), y)
        for points in chart().collections
        for x, y in points.get_offsets().tolist()  # type: ignore[union-attr]
    }
    assert places == {(0, 1), (0, 2), (1, 3)}


def test_each_pair_is_a_line_that_descends_and_dotted_where_equal_values_are_allowed() -> None:
    lines = [line for line in chart().lines if len(line.get_ydata()) == 2]  # type: ignore[arg-type]
    assert [list(line.get_ydata()) for line in lines] == [[3, 2], [2, 1]]
    assert [line.get_linestyle() for line in lines] == ["-", "--"]
    assert lines[0].get_color() != lines[1].get_color()  # within a series, across series


def test_series_without_an_ordered_point_are_not_in_the_legend() -> None:
    (legend,) = chart().get_figure().legends  # type: ignore[union-attr]
    texts = [text.get_text() for text in legend.get_texts()]
    assert sorted(texts) == ["a", "b"]
