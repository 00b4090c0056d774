"""Order charts: places of points, lines of stated pairs, panels, legend."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from virtperf.report import plot
from virtperf.report.orders import OrderPanel

POINTS = pd.DataFrame(
    {"series": ["a", "a", "b", "b", "c"], "guests": [1, 2, 1, 2, 1], "quantity": "throughput"}
)
PANEL = OrderPanel(
    "",
    {"a": "a", "b": "b"},
    {("b", 1): 1, ("a", 1): 2, ("a", 2): 3},
    {(("a", 2), ("a", 1)): True, (("a", 1), ("b", 1)): False},
)


def chart(*panels: OrderPanel) -> Figure:
    return plot.order(POINTS, panels or (PANEL,), x="guests", ylabel="Throughput")


def test_each_ordered_point_stands_at_its_rank_and_the_others_are_not_drawn() -> None:
    places = {
        (round(x), y)
        for points in chart().axes[0].collections
        for x, y in points.get_offsets().tolist()  # type: ignore[union-attr]
    }
    assert places == {(0, 1), (0, 2), (1, 3)}


def test_each_pair_is_a_line_that_descends_and_dotted_where_equal_values_are_allowed() -> None:
    lines = [line for line in chart().axes[0].lines if len(line.get_ydata()) == 2]  # type: ignore[arg-type]
    assert [list(line.get_ydata()) for line in lines] == [[3, 2], [2, 1]]
    assert [line.get_linestyle() for line in lines] == ["-", "--"]
    assert lines[0].get_color() != lines[1].get_color()  # within a series, across series


def test_panels_have_titles_and_one_legend() -> None:
    few = OrderPanel("5 CPUs", {"a": "a"}, {("a", 1): 1, ("a", 2): 2}, {(("a", 2), ("a", 1)): True})
    figure = chart(OrderPanel("20 CPUs", PANEL.series, PANEL.ranks, PANEL.pairs), few)
    above = [axes.child_axes[0].get_xlabel() for axes in figure.axes]
    assert above[0].startswith("20 CPUs. Throughput") and above[1] == "5 CPUs"
    (legend,) = figure.legends
    assert sorted(text.get_text() for text in legend.get_texts()) == ["a", "b"]
