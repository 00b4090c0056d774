"""Bar figures: an outline to the reconstructed value, the feasible band on it, a solid bar for the measured value."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from virtperf.exhibits import marks
from virtperf.exhibits.axes import left_margin, plot_width, scale, x_axis, y_axis, y_label, y_top
from virtperf.exhibits.layers import Point
from virtperf.exhibits.style import Look, Size, look, panels
from virtperf.study.definition import Study

BAR = 0.3  # of the distance between two groups
SOLID = 0.4  # of a bar's width


def draw_bar(study: Study, points: list[Point], size: Size) -> Figure:
    """Draw a grouped bar figure in the house style, one panel a quantity; a group holds only the bars that it has."""
    quantities = list(dict.fromkeys(p.quantity.name for p in points))
    labels = list(dict.fromkeys(p.series.label for p in points))
    factor = study.factors[points[0].series.over]
    parts = {name: [p for p in points if p.quantity.name == name] for name in quantities}
    ends = {name: y_top(part, study.quantities[name].high) for name, part in parts.items()}
    left = left_margin(ends.values())
    x = scale(points, factor, plot_width(size, left), numeric=False)
    figure, axes = panels(size, len(quantities), left=left, bottom=x.bottom)
    for panel, (name, part) in zip(axes, parts.items(), strict=True):
        y_axis(panel, ends[name], y_label(study, name, part), size, low=study.quantities[name].low)
        x_axis(panel, x, factor, labelled=panel is axes[-1])
        for level in x.levels:
            group = [p for p in part if p.x == level]
            width = min(BAR, 0.84 / max(len(group), 1))
            for k, point in enumerate(group):
                place = x.where[level] + (k - (len(group) - 1) / 2) * width * 1.12
                _bar(panel, place, width, point, look(labels.index(point.series.label)))
    return figure


def _bar(axes: Axes, x: float, width: float, point: Point, style: Look) -> None:
    bottom, top = axes.get_ylim()
    if math.isfinite(point.hollow):
        axes.bar(
            [x], [point.hollow], width, color="none", edgecolor=style.colour, linewidth=1.6, hatch=style.hatch, zorder=3
        )
    if point.published and not math.isfinite(point.hollow):
        height = point.published.value
        axes.bar([x], [height], width, color=style.colour, alpha=0.25, linewidth=0, zorder=2.5)
        axes.bar([x], [height], width, color="none", edgecolor=style.colour, linewidth=1.2, hatch=style.hatch, zorder=3)
    if point.banded:
        low, high = max(point.low, bottom), min(point.high, top)
        axes.bar(
            [x], [high - low], width, bottom=low, color=style.colour, alpha=marks.BAND_ALPHA, linewidth=0, zorder=2
        )
        if point.high > top:
            axes.plot(
                [x], [top], marker=6, markersize=8, color=style.colour, clip_on=False, zorder=5, markeredgewidth=0
            )
    marks.bare(axes, x + width * 0.38, point, style)
    marks.published(axes, x, point, style)
    if point.measured:
        axes.bar([x], [point.measured.value], width * SOLID, color=style.colour, linewidth=0, zorder=3.5)
        marks.solid(axes, x, point.measured, style)
    marks.example(axes, x + width * 0.2, point.example, style)
