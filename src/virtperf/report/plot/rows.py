"""Orders as rows of places from the greatest to the smallest, without a scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from virtperf.report.plot.order_chart import AT_LEAST
from virtperf.report.plot.theme import (
    CHARACTER_WIDTH,
    FONT_SIZE,
    INK_COLOUR,
    MUTED_COLOUR,
    NARROW_WIDTH,
    create_panels,
    figure_width,
    theme,
)
from virtperf.report.wording import wrap_text

if TYPE_CHECKING:
    from virtperf.report.orders import OrderRow

LINE = FONT_SIZE * 1.3  # height of a line of text, in points
DOT_AREA = 70  # square points
DOTS_APART = 9  # points between the dots of one place, which stand one above the other
LANE_GAP = 12  # points above the dots of a lane
LABEL_GAP = 12  # points between the labels of two columns
ROW_GAP = 8  # points between two rows
MAX_COLUMN = 130  # points between two columns


def rows(orders: Sequence[OrderRow], *, ylabel: str) -> Figure:
    """Draw each order as a row of dots, one for each point, and lines between its places.

    Parameters
    ----------
    orders : sequence of OrderRow
        The rows, one below the other.
    ylabel : str
        The quantity, "" for several.
    """
    n_columns = max(row.n_columns for row in orders)
    width = NARROW_WIDTH if _needed_width(orders) <= NARROW_WIDTH / n_columns else figure_width()
    column = min(MAX_COLUMN, width / n_columns)
    dotted = not all(all(row.lines.values()) for row in orders)
    several = any(len(place.points) > 1 or place.lane for row in orders for place in row.places)
    together = "; it does not order other dots" if several else ""
    header = wrap_text(
        f"{f'{ylabel}: order' if ylabel else 'Order'} only, greatest on the left; lines join what the text "
        f"compares{' (dotted: or equal)' if dotted else ''}{together}",
        int(width / CHARACTER_WIDTH),
    )
    labels = [
        [
            wrap_text(place.label, int((column - LABEL_GAP) / CHARACTER_WIDTH))
            for place in row.places
        ]
        for row in orders
    ]
    with theme():
        figure, (axes,) = create_panels(1, width=width)
        top = _write(axes, 0, header)
        for row, texts in zip(orders, labels, strict=True):
            top -= ROW_GAP
            if row.title:
                title = wrap_text(row.title, int(width / CHARACTER_WIDTH))
                top = _write(axes, top, title)
            top = _draw_row(axes, row, texts, column, top)
        axes.set_axis_off()
        axes.set(xlim=(0, width), ylim=(top, 0))
        figure.set_figheight(-top / 72)
        figure.set_layout_engine("none")
        axes.set_position((0, 0, 1, 1))
    return figure


def _needed_width(orders: Sequence[OrderRow]) -> float:
    """Width of the longest word of a label, in points."""
    labels = [place.label for row in orders for place in row.places]
    return LABEL_GAP + CHARACTER_WIDTH * max(len(word) for text in labels for word in text.split())


def _write(axes: Axes, top: float, text: str) -> float:
    """Write text below `top`; gives its lower end."""
    axes.text(0, top, text, va="top", linespacing=1.2)
    return top - LINE * (text.count("\n") + 1)


def _draw_row(
    axes: Axes,
    row: OrderRow,
    texts: Sequence[str],
    column: float,
    top: float,
) -> float:
    """Draw the places of a row below `top`; gives its lower end."""
    heights: dict[int, float] = {}
    stacks: dict[int, float] = {}  # half the height of the highest stack of a lane
    for place, text in zip(row.places, texts, strict=True):
        lines = LINE * (text.count("\n") + 1)
        heights[place.lane] = max(heights.get(place.lane, 0.0), lines)
        stack = DOTS_APART * (len(place.points) - 1) / 2
        stacks[place.lane] = max(stacks.get(place.lane, 0.0), stack)
    levels = {}
    for lane in sorted(heights):
        levels[lane] = top - LANE_GAP - stacks[lane]
        top -= 2 * LANE_GAP + 2 * stacks[lane] + heights[lane]
    at = [((place.column + 0.5) * column, levels[place.lane]) for place in row.places]
    for (greater, smaller), strict in row.lines.items():
        (left, upper), (right, lower) = at[greater], at[smaller]
        # a line that changes its lane does so between two columns, beside the labels
        turn = left + column / 2 if lower < upper else right - column / 2
        axes.plot(
            [left, turn, turn, right],
            [upper, upper, lower, lower],
            color=MUTED_COLOUR,
            linestyle="-" if strict else AT_LEAST,
            linewidth=1.2,
            zorder=1,
        )
    for place, text, (x, y) in zip(row.places, texts, at, strict=True):
        shifts = [k - (len(place.points) - 1) / 2 for k in range(len(place.points))]
        axes.scatter(
            [x] * len(shifts),
            [y + shift * DOTS_APART for shift in shifts],
            s=DOT_AREA,
            color=INK_COLOUR,
            zorder=2,
        )
        axes.text(
            x, y - stacks[place.lane] - LANE_GAP * 0.7, text, ha="center", va="top", linespacing=1.2
        )
    return top
