"""Order charts: the points of a figure by the order that a text states, without a scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from virtperf.report.axis_words import AxisWords
from virtperf.report.plot import axis, marks
from virtperf.report.plot.theme import (
    MANY_PANELS_SHARE,
    MUTED_COLOUR,
    PANEL_SHARES,
    SeriesStyle,
    create_panels,
    figure_width,
    series_styles,
    theme,
)

if TYPE_CHECKING:
    from virtperf.report.orders import OrderedPoint, OrderPanel

DODGED_WIDTH = 0.6  # of the distance between two levels, for all series together
RANK_HEIGHT = 16  # points between two ranks
MIN_HEIGHT, MAX_HEIGHT = 70, 130  # of a panel with its axis, in points
AT_LEAST = (0, (1.5, 2))  # dashes of a relation that allows equal values


def order(points: pd.DataFrame, panels: Sequence[OrderPanel], *, x: str, ylabel: str) -> Figure:
    """Draw each point at its rank, and a line for each pair; the height has no scale.

    Parameters
    ----------
    points : DataFrame
        The figure's points in the column `x`, with the axes of a study attached.
    panels : sequence of OrderPanel
        Ranks of the points and stated pairs, one panel below the other.
    x, ylabel : str
        Column of the axis; the quantity.
    """
    words = AxisWords.of([points], {})
    drawn_levels = {level for panel in panels for _, level in panel.ranks}
    shown = [level for level in points[x] if level in drawn_levels]
    levels = axis.axis_levels(shown, words["levels"].get(x, ()), numeric=False)
    levels = replace(levels, width_pt=figure_width() - axis.PANEL_MARGIN)
    series = {name: label for panel in panels for name, label in panel.series.items()}
    known = words["colours"]
    colours = {name: known[label] for name, label in series.items() if label in known}
    styles = series_styles(series, colours)
    top = max(rank for panel in panels for rank in panel.ranks.values())
    height = min(MIN_HEIGHT + RANK_HEIGHT * top, MAX_HEIGHT)
    share = PANEL_SHARES.get(
        len(panels), MANY_PANELS_SHARE
    )  # the height of a panel depends on its ranks alone
    with theme():
        figure, axes = create_panels(len(panels), height=height / share)
        dotted = " (dotted: or equal)" if not all(all(p.pairs.values()) for p in panels) else ""
        label = f"{ylabel}: order only; of joined points the upper is more{dotted}"
        for drawn, panel in zip(axes, panels, strict=True):
            first = drawn is axes[0]
            title = ". ".join(filter(None, (panel.title, label if first else "")))
            axis.set_y_axis(drawn, 0.5, max(panel.ranks.values()) + 0.5, title, begins=False)
            _draw_panel(drawn, panel, levels, styles)
            levels.draw(drawn, words.label(x), labelled=drawn is axes[-1])
        named = [
            (Line2D([], [], color=o.colour, marker=o.marker, markersize=6.5), name)
            for name, o in styles.items()
        ]
        marks.draw_legend(figure, named if len(series) > 1 else [], [])
    return figure


def _draw_panel(
    axes: Axes, panel: OrderPanel, levels: axis.AxisLevels, styles: dict[str, SeriesStyle]
) -> None:
    step, names = DODGED_WIDTH / len(styles), list(styles)

    def place(point: OrderedPoint) -> tuple[float, int]:
        shift = (names.index(point[0]) - (len(names) - 1) / 2) * step
        return levels.positions[point[1]] + shift, panel.ranks[point]

    for (greater, smaller), strict in panel.pairs.items():
        within = greater[0] == smaller[0]
        ends = zip(place(greater), place(smaller), strict=True)
        axes.plot(
            *map(list, ends),
            color=styles[greater[0]].colour if within else MUTED_COLOUR,
            linestyle="-" if strict else AT_LEAST,
            linewidth=1.6 if within else 0.8,
            zorder=2 if within else 1.5,
        )
    for name in panel.series:
        style = styles[name]
        at, height = zip(*(place(p) for p in panel.ranks if p[0] == name), strict=True)
        axes.scatter(
            at, height, s=marks.MEAN_AREA, color=style.colour, marker=style.marker, zorder=3
        )
    axes.set_yticks([])
    axes.grid(visible=False)
