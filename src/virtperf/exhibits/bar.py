"""Bar figures: an outline to the reconstructed value, the feasible band on it, a solid bar for the measured value."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from virtperf.exhibits import marks
from virtperf.exhibits.axes import left_margin, unit_words, x_axis, y_axis, y_top
from virtperf.exhibits.layers import Point
from virtperf.exhibits.style import NARROW, Look, Size, look, panels
from virtperf.study import Study

BAR = 0.3  # of the distance between two groups
SOLID = 0.4  # of a bar's width


def draw_bar(study: Study, points: list[Point], size: Size) -> Figure:
    """Draw a grouped bar figure in the house style, one panel a quantity; a group holds only the bars that it has."""
    quantities = list(dict.fromkeys(p.quantity.name for p in points))
    labels = list(dict.fromkeys(p.series.label for p in points))
    factor = study.factors[points[0].series.over]
    levels = sorted(dict.fromkeys(p.x for p in points), key=factor.levels.index)
    where = {level: float(k) for k, level in enumerate(levels)}
    parts = {name: [p for p in points if p.quantity.name == name] for name in quantities}
    ends = {name: y_top(part, study.quantities[name].high) for name, part in parts.items()}
    figure, axes = panels(size, len(quantities), left=left_margin(ends.values()), bottom=66 if size is NARROW else 48)
    for panel, (name, part) in zip(axes, parts.items(), strict=True):
        kind = study.quantities[name]
        y_axis(
            panel,
            ends[name],
            f"{kind.label}, {unit_words(study, name, [p.quantity for p in part])}",
            size,
            low=kind.low,
        )
        x_axis(panel, levels, where, factor, size, numeric=False)
        panel.tick_params(axis="x", length=0)
        if panel is not axes[-1]:
            panel.tick_params(labelbottom=False)
            panel.set_xlabel("")
        for level in levels:
            group = [p for p in part if p.x == level]
            width = min(BAR, 0.84 / max(len(group), 1))
            for k, point in enumerate(group):
                x = where[level] + (k - (len(group) - 1) / 2) * width * 1.12
                _bar(panel, x, width, point, look(labels.index(point.series.label)))
    return figure


def _bar(axes: Axes, x: float, width: float, point: Point, style: Look) -> None:
    bottom, top = axes.get_ylim()
    if math.isfinite(point.hollow):
        axes.bar(
            [x], [point.hollow], width, color="none", edgecolor=style.colour, linewidth=1.6, hatch=style.hatch, zorder=3
        )
    if point.known:
        low, high = max(point.low, bottom), min(point.high, top)
        axes.bar(
            [x], [high - low], width, bottom=low, color=style.colour, alpha=marks.BAND_ALPHA, linewidth=0, zorder=2
        )
        if point.high > top:
            axes.plot(
                [x], [top], marker=6, markersize=8, color=style.colour, clip_on=False, zorder=5, markeredgewidth=0
            )
    marks.bare(axes, x + width * 0.38, point, style)
    if point.measured:
        axes.bar([x], [point.measured.value], width * SOLID, color=style.colour, linewidth=0, zorder=3.5)
        marks.solid(axes, x, point.measured, style)
    marks.example(axes, x + width * 0.2, point.example)
