"""Order charts: the points of a figure by the order that a text states, without a scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from virtperf.report.axis_words import AxisWords
from virtperf.report.plot import axis, marks
from virtperf.report.plot.theme import (
    MUTED_COLOUR,
    create_panels,
    series_styles,
    theme,
)

Point = tuple[str, Any]  # label of the series, level of the axis

DODGED_WIDTH = 0.6  # of the distance between two levels, for all series together
RANK_HEIGHT = 16  # points between two ranks
MIN_HEIGHT, MAX_HEIGHT = 70, 130  # of the panel with its axis, in points
AT_LEAST = (0, (1.5, 2))  # dashes of a relation that allows equal values


def order(
    points: pd.DataFrame,
    ranks: Mapping[Point, int],
    pairs: Mapping[tuple[Point, Point], bool],
    *,
    x: str,
    ylabel: str,
) -> Figure:
    """Draw each point at its rank, and a line for each pair; the height has no scale.

    Points of which the text says nothing are not drawn. Points without a descending path between
    them are not compared.

    Parameters
    ----------
    points : DataFrame
        The figure's points in the columns series and `x`, with the axes of a study attached.
    ranks : mapping of (series, level) to int
        Rank of each point that the text orders; 1 is the lowest.
    pairs : mapping of (greater, smaller) to bool
        The stated pairs without those that follow from others; whether strictly greater.
    x, ylabel : str
        Column of the axis; the quantity.
    """
    words = AxisWords.of([points], {})
    levels = axis.axis_levels(points[x].tolist(), words["levels"].get(x, ()), numeric=False)
    series = [s for s in dict.fromkeys(points["series"]) if any(s == label for label, _ in ranks)]
    styles = series_styles(series, words["colours"])
    step = DODGED_WIDTH / len(series)

    def place(point: Point) -> tuple[float, int]:
        shift = (series.index(point[0]) - (len(series) - 1) / 2) * step
        return levels.positions[point[1]] + shift, ranks[point]

    top = max(ranks.values())
    with theme():
        figure, (axes,) = create_panels(height=min(MIN_HEIGHT + RANK_HEIGHT * top, MAX_HEIGHT))
        for (greater, smaller), strict in pairs.items():
            within = greater[0] == smaller[0]
            ends = zip(place(greater), place(smaller), strict=True)
            axes.plot(
                *map(list, ends),
                color=styles[greater[0]].colour if within else MUTED_COLOUR,
                linestyle="-" if strict else AT_LEAST,
                linewidth=1.6 if within else 0.8,
                zorder=2 if within else 1.5,
            )
        for label, style in styles.items():
            at, height = zip(*(place(point) for point in ranks if point[0] == label), strict=True)
            axes.scatter(
                at,
                height,
                s=marks.MEAN_AREA,
                color=style.colour,
                marker=style.marker,
                zorder=3,
            )
        dotted = "" if all(pairs.values()) else "; dotted: or equal"
        label = f"{ylabel}: order only (of joined points, the upper is more{dotted})"
        axis.set_y_axis(axes, 0.5, top + 0.5, label, begins=False)
        axes.set_yticks([])
        axes.grid(visible=False)
        levels.draw(axes, words.label(x), labelled=True)
        named = [
            (Line2D([], [], color=o.colour, marker=o.marker, markersize=6.5), label)
            for label, o in styles.items()
        ]
        marks.draw_legend(figure, named if len(series) > 1 else [], [])
    return figure
