"""Line figures: bands, hollow and solid points over one factor, one panel a quantity, fitted curves on request."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from virtperf.exhibits import marks
from virtperf.exhibits.axes import Scale, left_margin, plot_width, scale, x_axis, y_axis, y_floor, y_label, y_top
from virtperf.exhibits.layers import Point
from virtperf.exhibits.style import Look, Size, look, panels
from virtperf.study.definition import Study

DODGE_PX = 5  # series that share an x stand side by side
SOLID_PX = 9  # points of own runs stand to the right of the band
CURVE_STEPS = 80


def draw_line(study: Study, points: list[Point], size: Size, curves: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw a line figure in the house style.

    Parameters
    ----------
    points : list of Point
        All points of the exhibit; their quantities share the unit within one panel.
    curves : dict of DataFrame
        Fitted curves by series label, as `curve_table` makes them.
    """
    quantities = list(dict.fromkeys(p.quantity.name for p in points))
    labels = list(dict.fromkeys(p.series.label for p in points))
    factor = study.factors[points[0].series.over]
    parts = {name: [p for p in points if p.quantity.name == name] for name in quantities}
    ends = {name: _top(study, part, curves) for name, part in parts.items()}
    left = left_margin(ends.values())
    x = scale(points, factor, plot_width(size, left))
    figure, axes = panels(size, len(quantities), left=left, bottom=x.bottom)
    for panel, (name, part) in zip(axes, parts.items(), strict=True):
        floor = y_floor(part, ends[name])
        y_axis(panel, ends[name], y_label(study, name, part), size, low=study.quantities[name].low, floor=floor)
        x_axis(panel, x, factor, labelled=panel is axes[-1])
        shown = list(dict.fromkeys(p.series.label for p in part))
        for k, label in enumerate(shown):
            shift = (k - (len(shown) - 1) / 2) * 2 * DODGE_PX * x.pixel
            series = [p for p in part if p.series.label == label]
            _series(panel, series, x, look(labels.index(label)), shift, curves.get(label))
    return figure


def _top(study: Study, points: list[Point], curves: Mapping[str, pd.DataFrame]) -> float:
    values = [v for p in points if p.series.label in curves for v in curves[p.series.label]["value"]]
    return y_top(points, study.quantities[points[0].quantity.name].high, values)


def _series(
    axes: Axes, points: list[Point], scaled: Scale, style: Look, shift: float, curve: pd.DataFrame | None
) -> None:
    x = [scaled.where[p.x] + shift for p in points]
    bottom, top = axes.get_ylim()
    if any(p.banded for p in points):
        # The band is stated at the points only; between them the pale link guides the eye.
        low = [max(p.low, bottom) if p.banded else math.nan for p in points]
        high = [min(p.high, top) if p.banded else math.nan for p in points]
        axes.fill_between(x, low, high, color=style.colour, alpha=marks.LINK_ALPHA, linewidth=0, zorder=1)
    if curve is None:
        axes.plot(x, [_joined(p) for p in points], color=style.colour, linestyle=style.dash, zorder=3)
    else:
        _curve(axes, curve, style)
    for position, point in zip(x, points, strict=True):
        marks.bare(axes, position, point, style)
        marks.band(axes, position, point, style, width=8)
        marks.hollow(axes, position, point, style)
        # Beside a hollow point, in its place where there is none.
        beside = SOLID_PX * scaled.pixel if math.isfinite(point.hollow) else 0.0
        marks.published(axes, position - beside, point, style)
        marks.solid(axes, position + SOLID_PX * scaled.pixel, point.measured, style)
        marks.example(axes, position + SOLID_PX * scaled.pixel, point.example, style)


def _joined(point: Point) -> float:
    """What the line between the points follows: hollow points, printed ones where there are none."""
    return point.hollow if math.isfinite(point.hollow) or point.published is None else point.published.value


def _curve(axes: Axes, curve: pd.DataFrame, style: Look) -> None:
    axes.plot(curve["x"], curve["value"], color=style.colour, linestyle=style.dash, zorder=3)
    for limit in ("low", "high"):
        inside = curve[limit].where(curve[limit].between(*axes.get_ylim()))
        if inside.notna().any():
            axes.plot(curve["x"], inside, color=style.colour, linewidth=0.9, linestyle=(0, (1, 2)), zorder=2.5)


def curve_table(fit: Any, levels: list[float], level: float) -> pd.DataFrame:
    """A fitted curve with the interval of its mean over the range of the levels: columns x, value, low, high.

    `fit` has ``predict(x, interval="mean", alpha=...)`` as every model of `virtperf.models` has.
    """
    x = np.linspace(min(levels), max(levels), CURVE_STEPS)
    table = fit.predict(x, interval="mean", alpha=1 - level)
    return pd.DataFrame({"x": x, "value": table["value"], "low": table["low"], "high": table["high"]})
