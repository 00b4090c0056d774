"""Rows of an order: dots from the greatest to the smallest, lines between what claims compare."""

from __future__ import annotations

from virtperf.report import plot
from virtperf.report.orders import OrderPlace, OrderRow

PLACES = (
    OrderPlace((("a", 1), ("a", 2)), "a, 1 and 2", 0, 0),
    OrderPlace((("b", 1),), "b", 1, 0),
    OrderPlace((("b", 2),), "b, 2", 1, 1),
)
ROW = OrderRow("4 guests", PLACES, {(0, 1): True, (0, 2): False})


def test_each_point_is_a_dot_and_a_lower_lane_is_below() -> None:
    figure = plot.rows([ROW], ylabel="Throughput")
    first, second, third = (d.get_offsets().tolist() for d in figure.axes[0].collections)  # type: ignore[union-attr]
    assert len(first) == 2 and len(second) == len(third) == 1
    assert first[0][0] == first[1][0] < second[0][0] == third[0][0]
    assert first[0][1] < second[0][1] < first[1][1]  # points of one place stand one above the other
    assert second[0][1] > third[0][1]
    texts = [text.get_text().replace("\n", " ") for text in figure.axes[0].texts]
    assert texts[0].startswith("Throughput: order only") and "dotted: or equal" in texts[0]
    assert "it does not order other dots" in texts[0].replace("\n", " ")
    assert texts[1:] == ["4 guests", "a, 1 and 2", "b", "b, 2"]


def test_lines_are_dotted_where_equal_is_allowed() -> None:
    lines = plot.rows([ROW], ylabel="").axes[0].lines
    assert [line.get_linestyle() for line in lines] == ["-", "--"]
