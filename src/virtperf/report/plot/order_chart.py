"""Order charts: the points of a figure by the order that a text states, without a scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from virtperf.report.axis_words import AxisWords
from virtperf.report.plot import axis, marks
from virtperf.report.plot.theme import (
    CHARACTER_WIDTH,
    MANY_PANELS_SHARE,
    MUTED_COLOUR,
    NARROW_WIDTH,
    PANEL_SHARES,
    SeriesStyle,
    create_panels,
    figure_width,
    series_styles,
    theme,
)
from virtperf.report.wording import printable

if TYPE_CHECKING:
    from virtperf.report.orders import OrderPanel
    from virtperf.report.partial_order import OrderedPoint

RANK_HEIGHT = 16  # points between two ranks
MIN_HEIGHT, MAX_HEIGHT = 70, 200  # of a panel with its axis, in points
MIN_LEVEL_WIDTH = 28  # points between two levels of a figure for a phone
TIE_STEP = 0.3  # ranks between two series that stand together
LABEL_RANKS = 0.8  # ranks above and below a label at the end of a series that must be free
LABEL_GAP = 8  # points between the last mark of a series and its label
MAX_LABEL_SHARE = 0.5  # of a panel, for the labels at the ends of series
AT_LEAST = (0, (1.5, 2))  # dashes of a relation that allows equal values

Places = dict["OrderedPoint", tuple[float, float]]


def order(points: pd.DataFrame, panels: Sequence[OrderPanel], *, x: str, ylabel: str) -> Figure:
    """Draw each point at its rank, and a line for each pair; the height has no scale.

    Points of one series and neighbouring levels are not joined where no pair is stated. Series are
    named at their ends if there is room, else in a legend.

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
    width = figure_width()
    levels = replace(levels, width_pt=width - axis.PANEL_MARGIN)
    narrow = replace(levels, width_pt=NARROW_WIDTH - axis.PANEL_MARGIN)
    if narrow.min_distance_pt >= MIN_LEVEL_WIDTH and narrow.has_room >= levels.has_room:
        width, levels = NARROW_WIDTH, narrow
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
        figure, axes = create_panels(len(panels), height=height / share, width=width)
        dotted = " (dotted: or equal)" if not all(all(p.pairs.values()) for p in panels) else ""
        label = f"{ylabel}, order only: of joined points the upper is more{dotted}"
        named = len(series) > 1
        for drawn, panel in zip(axes, panels, strict=True):
            first = drawn is axes[0]
            title = ". ".join(filter(None, (panel.title, label if first else "")))
            axis.set_y_axis(drawn, 0.5, max(panel.ranks.values()) + 0.5, title, begins=False)
            places = _places(panel, levels)
            _draw_panel(drawn, panel, levels, styles, places)
            levels.draw(drawn, words.label(x), labelled=drawn is axes[-1])
            if named and len(panels) == 1 and (ends := _free_ends(places)):
                _label_ends(drawn, ends, levels)
                named = False
        marks.draw_legend(
            figure,
            [
                (Line2D([], [], color=o.colour, marker=o.marker, markersize=6.5), name)
                for name, o in styles.items()
                if named
            ],
            [],
        )
    return figure


def _places(panel: OrderPanel, levels: axis.AxisLevels) -> Places:
    """Position of each point: its level and rank, beside others with both the same."""
    together: dict[tuple[Any, int], list[OrderedPoint]] = {}
    for name in panel.series:
        for point, rank in panel.ranks.items():
            if point[0] == name:
                together.setdefault((point[1], rank), []).append(point)
    return {
        point: (levels.positions[level], rank + ((len(group) - 1) / 2 - k) * TIE_STEP)
        for (level, rank), group in together.items()
        for k, point in enumerate(group)
    }


def _draw_panel(
    axes: Axes,
    panel: OrderPanel,
    levels: axis.AxisLevels,
    styles: Mapping[str, SeriesStyle],
    places: Places,
) -> None:
    for (greater, smaller), strict in panel.pairs.items():
        if greater[1] == smaller[1]:
            _join(axes, places[greater], places[smaller], MUTED_COLOUR, strict, linewidth=0.8)
    for name in panel.series:
        style, own = styles[name], [p for p in places if p[0] == name]
        own.sort(key=lambda point: levels.positions[point[1]])
        for a, b in pairwise(own):
            ordered = panel.ranks[a] != panel.ranks[b]
            if not (ordered or _is_tied(panel, a, b)):
                continue  # a level line would look like equal values
            strict = all(panel.pairs.get(pair, True) for pair in ((a, b), (b, a)))
            _join(axes, places[a], places[b], style.colour, strict, linewidth=1.6)
        at, height = zip(*(places[point] for point in own), strict=True)
        axes.scatter(
            at, height, s=marks.MEAN_AREA, color=style.colour, marker=style.marker, zorder=3
        )
    axes.set_yticks([])
    axes.grid(visible=False)


def _is_tied(panel: OrderPanel, a: OrderedPoint, b: OrderedPoint) -> bool:
    """Whether claims call two points of a series alike, or both like a third one of it."""
    alike = {c for c, d in panel.ties if d == a} & {c for c, d in panel.ties if d == b}
    return (a, b) in panel.ties or any(c[0] == a[0] for c in alike)


def _join(
    axes: Axes,
    a: tuple[float, float],
    b: tuple[float, float],
    colour: str,
    strict: bool,
    **style: Any,
) -> None:
    dashes: Any = "-" if strict else AT_LEAST
    axes.plot(*zip(a, b, strict=True), color=colour, linestyle=dashes, zorder=2, **style)


def _free_ends(places: Places) -> Places:
    """Last point of each series, if there is room for a label beside each; else none."""
    ends: Places = {}
    for name in dict.fromkeys(name for name, _ in places):
        last = max((p for p in places if p[0] == name), key=lambda point: places[point])
        at, height = places[last]
        near = (
            abs(other - height) < LABEL_RANKS
            for point, (x, other) in places.items()
            if point != last and x >= at
        )
        if any(near):
            return {}
        ends[last] = places[last]
    return ends


def _label_ends(axes: Axes, ends: Places, levels: axis.AxisLevels) -> None:
    """Name the series beside their last points, and make room at the right for it."""
    left, right = axes.get_xlim()
    for (name, _), place in ends.items():
        axes.annotate(
            printable(name),
            place,
            (LABEL_GAP, 0),
            textcoords="offset points",
            va="center",
        )
    # the room for a label is a share of the panel, which has more data units with it
    shares = {name: (LABEL_GAP + len(name) * CHARACTER_WIDTH) / levels.width_pt for name, _ in ends}
    furthest = max(
        left + (at - left) / (1 - min(shares[name], MAX_LABEL_SHARE))
        for (name, _), (at, _) in ends.items()
    )
    axes.set_xlim(left, max(right, furthest))
