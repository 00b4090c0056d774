"""Order charts: places of points, lines of stated pairs, panels, legend."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from virtperf.report import plot
from virtperf.report.orders import OrderPanel
from virtperf.report.plot.theme import NARROW_WIDTH

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


def heights(axes: Axes) -> list[list[float]]:
    return [[float(y) for y in line.get_ydata()] for line in axes.lines]  # type: ignore[union-attr]


def test_pairs_are_lines_within_a_series_and_within_a_level_dotted_where_equal_is_allowed() -> None:
    axes = chart().axes[0]
    assert heights(axes) == [[2, 1], [2, 3]]
    assert [line.get_linestyle() for line in axes.lines] == ["--", "-"]
    assert axes.lines[0].get_color() != axes.lines[1].get_color()


def test_points_of_a_series_that_no_claim_orders_are_joined_only_if_alike() -> None:
    apart = replace(PANEL, ranks={**PANEL.ranks, ("b", 2): 1})
    assert heights(chart(apart).axes[0]) == [[2, 1], [2, 3]]
    tied = replace(apart, ties=frozenset({(("b", 1), ("b", 2))}))
    assert [1, 1] in heights(chart(tied).axes[0])


def test_points_with_one_rank_stand_beside_each_other() -> None:
    beside = OrderPanel("", {"a": "a", "b": "b"}, {("a", 1): 2, ("b", 1): 2, ("b", 2): 1}, {})
    (a,), (b, _) = (points.get_offsets().tolist() for points in chart(beside).axes[0].collections)  # type: ignore[union-attr]
    assert a[0] == b[0] and 0 < a[1] - b[1] < 1 and a[1] + b[1] == 4


def test_series_are_named_at_their_ends_if_there_is_room_else_in_a_legend() -> None:
    figure = chart(replace(PANEL, ranks={**PANEL.ranks, ("b", 2): 1}))
    assert not figure.legends and [text.get_text() for text in figure.axes[0].texts] == ["a", "b"]
    crossed = replace(PANEL, ranks={**PANEL.ranks, ("a", 2): 1})
    figure = chart(crossed)  # to the right of the only point of b
    assert figure.legends and not figure.axes[0].texts


def test_panels_have_titles_and_one_legend() -> None:
    few = OrderPanel("5 CPUs", {"a": "a"}, {("a", 1): 1, ("a", 2): 2}, {(("a", 2), ("a", 1)): True})
    figure = chart(OrderPanel("20 CPUs", PANEL.series, PANEL.ranks, PANEL.pairs), few)
    above = [axes.child_axes[0].get_xlabel() for axes in figure.axes]
    assert above[0].startswith("20 CPUs. Throughput") and above[1] == "5 CPUs"
    (legend,) = figure.legends
    assert sorted(text.get_text() for text in legend.get_texts()) == ["a", "b"]


def test_chart_of_few_levels_is_narrow_and_its_labels_stay_within_it() -> None:
    figure = chart()
    assert 72 * figure.get_figwidth() == pytest.approx(NARROW_WIDTH)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    ends = [text.get_window_extent().x1 for text in axes.texts]
    assert ends and max(ends) <= figure.bbox.x1
