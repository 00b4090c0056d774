"""Figures of the synthesis: shared ratios side by side, and throughput over an overcommitment
ratio.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.transforms import offset_copy

from virtperf.report.palette import GRID, SERIES_COLOURS
from virtperf.report.plot import marks
from virtperf.report.plot.axis import set_y_axis
from virtperf.report.plot.marks import WIDE_RANGE_LABEL, bracket_handle, draw_legend, range_handle
from virtperf.report.plot.theme import (
    INK_COLOUR,
    MUTED_COLOUR,
    SURFACE_COLOUR,
    SeriesStyle,
    create_panels,
    series_style,
    theme,
)
from virtperf.report.synthesis.capacity import RATIOS, CurveValues
from virtperf.report.synthesis.definition import RATIO, QuantityRow
from virtperf.report.synthesis.values import REFERENCE, Value
from virtperf.report.wording import wrap_text

VALUE_HEIGHT_PT = 32.0
"""Height of one value in points: its name and its bar."""
NAME_WIDTH = 62
"""Characters of a line of text, which fit on a phone."""
LARGEST_RATIO = 2.5
"""Upper limit of the axis of ratios; larger values are arrows."""
BAND = 0.42
"""Height of the band of a value's bar, as a share of the height of a value."""
RANGE_COLOUR = SERIES_COLOURS[0].light
CURVE_DISTANCE = 6.0
"""Largest offset in points between curves at one ratio (dodging)."""
RATIOS_WIDTH = 340
"""Approximate width in points of a panel beside its legend."""
PANEL_WITH_KEYS = 310
"""Height of a panel with a title and a legend above it."""
AXIS_MARGIN = 0.06
"""Relative margin of the axis beyond the smallest and the largest ratio."""


def ratios_figure(
    rows: Mapping[str, QuantityRow], values_by_row: Mapping[str, Sequence[Value]]
) -> Figure | None:
    """Draw all bounded ratios, grouped by quantity, one line a value; None without any.

    A bar is a range allowed or stated by a text (an arrow if clipped), a mark with a line is a mean
    of runs with its interval. The dark vertical line is 1: no change. Vertical lines stop above
    each name, which they would cross.
    """
    groups = {
        rows[name].says: limited
        for name, values in values_by_row.items()
        if rows[name].unit == RATIO and (limited := [v for v in values if _has_limit(v)])
    }
    if not groups:
        return None
    heads = {labels: wrap_text(labels, NAME_WIDTH) for labels in groups}
    names = {
        value.name: wrap_text(value.name, NAME_WIDTH)
        for values in groups.values()
        for value in values
    }
    lines = sum(head.count("\n") + 1 for head in heads.values())
    lines += sum(names[v.name].count("\n") for values in groups.values() for v in values)
    height = VALUE_HEIGHT_PT * sum(len(values) + 0.3 for values in groups.values()) + 14 * lines
    with theme():
        figure, (axes,) = create_panels(height=height + 75)
        place, places = 0.0, []
        for labels, values in groups.items():
            place += 0.3 + 0.45 * (1 + heads[labels].count("\n"))
            _draw_name(axes, place - 0.55, heads[labels], weight="bold")
            for value in values:
                place += 0.45 * names[value.name].count("\n")
                _draw_name(axes, place - 0.1, names[value.name])
                _draw_value(axes, place + 0.12, value)
                places.append(place + 0.12)
                place += 1
        for ratio in np.arange(0, LARGEST_RATIO + 0.1, 0.5):
            _draw_ratio_line(axes, ratio, places)
        axes.set_ylim(place, -0.4)
        axes.set_xlim(0, LARGEST_RATIO)
        axes.set_yticks([])
        axes.grid(visible=False)
        axes.tick_params(axis="x", labeltop=True)
        axes.set_xlabel("Ratio (1: no change)")
        draw_legend(
            figure,
            [],
            [
                (Patch(facecolor=RANGE_COLOUR, alpha=0.35), "range that a text allows or states"),
                (Line2D([], [], marker="o", color=INK_COLOUR), "measured, with its interval"),
                (Line2D([], [], marker=">", color=INK_COLOUR, linestyle="none"), "beyond the axis"),
            ],
        )
    return figure


def _draw_name(axes: Axes, at: float, text: str, *, weight: str = "normal") -> None:
    """Draw a line of text above a bar, from the left edge of the plot."""
    axes.annotate(
        text,
        (0.005, at),
        xycoords=("axes fraction", "data"),
        ha="left",
        va="bottom",
        zorder=5,
        fontweight=weight,
    )


def _draw_ratio_line(axes: Axes, ratio: float, places: Sequence[float]) -> None:
    """Draw the vertical line of one ratio, interrupted between the values."""
    y = np.array([(at - BAND / 2, at + BAND / 2, math.nan) for at in places]).ravel()
    colour = MUTED_COLOUR if ratio == 1 else GRID.light
    axes.plot(np.full(len(y), ratio), y, color=colour, linewidth=1, zorder=1)


def capacity(curves: Sequence[CurveValues], of: str, measure: str, level: float) -> Figure | None:
    """Draw one measure over an overcommitment ratio, a panel for each study and reference; None
    without such curves.

    The line at 1 is the reference, a range of this single value.
    """
    curves_by_panel: dict[str, list[CurveValues]] = {}
    for curve_values in curves:
        curve = curve_values.curve
        if (curve.of, curve_values.measure) == (of, measure) and {
            v.kind for _, vs in curve_values.points for v in vs
        } - {REFERENCE}:
            words = f"{curve_values.system or curve.study}: {measure} relative to {curve.against}"
            curves_by_panel.setdefault(words, []).append(curve_values)
    if not curves_by_panel:
        return None
    every_ratio = [
        ratio
        for panel_curves in curves_by_panel.values()
        for curve_values in panel_curves
        for ratio, _ in curve_values.points
    ]
    room = AXIS_MARGIN * (max(every_ratio) - min(every_ratio))
    with theme():
        figure, every = create_panels(len(curves_by_panel), height=PANEL_WITH_KEYS)
        every[-1].set_xlim(min(every_ratio) - room, max(every_ratio) + room)
        every[-1].set_xlabel(RATIOS[of])
        for axes, (words, panel_curves) in zip(every, curves_by_panel.items(), strict=True):
            set_y_axis(axes, 0, _top(panel_curves), words)
            axes.axhline(1, color=MUTED_COLOUR, linewidth=1, zorder=1)
            distance = _distance(axes, panel_curves)
            handles = [
                _draw_curve(
                    axes, distance, k - (len(panel_curves) - 1) / 2, curve_values, series_style(k)
                )
                for k, curve_values in enumerate(panel_curves)
            ]
            lines = axes.child_axes[0].get_xlabel().count("\n")
            axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1.1 + 0.12 * lines))
        highs = [
            (high, _top(panel_curves))
            for panel_curves in curves_by_panel.values()
            for curve_values in panel_curves
            for _, values in curve_values.points
            for value in values
            for _, high in value.pieces
        ]
        legend = [
            (range_handle(INK_COLOUR, marks.TEXT), "range"),
            (bracket_handle(), WIDE_RANGE_LABEL),
            (
                Line2D([], [], marker="o", color=INK_COLOUR),
                f"measured, {100 * level:g} % interval",
            ),
        ]
        if any(math.isinf(high) for high, _ in highs):
            arrow = Line2D([], [], marker=6, color=INK_COLOUR, linestyle="none")
            legend.append((arrow, "no upper limit"))
        if any(top < high < math.inf for high, top in highs):
            arrow = Line2D([], [], marker=6, color=INK_COLOUR, linestyle="none")
            arrow.set_markerfacecolor(SURFACE_COLOUR)
            legend.append((arrow, "extends above the axis"))
        draw_legend(figure, [], legend)
    return figure


def _distance(axes: Axes, curves: Sequence[CurveValues]) -> float:
    """Offset in points between the curves of a panel: smaller where ratios are near each other, so
    that boxes of neighbouring ratios do not overlap.
    """
    left, right = axes.get_xlim()
    ratios = sorted({ratio for curve in curves for ratio, _ in curve.points})
    nearest = min((b - a for a, b in pairwise(ratios)), default=math.inf)
    return min(CURVE_DISTANCE, nearest / (right - left) * RATIOS_WIDTH / (len(curves) + 1))


def _draw_curve(
    axes: Axes, distance: float, place: float, curve: CurveValues, style: SeriesStyle
) -> Artist:
    """Draw one curve, dodged by `place` steps of `distance` points, and return its legend
    handle.
    """
    left, right = axes.get_xlim()
    at = offset_copy(axes.transData, axes.get_figure(root=True), x=distance * place, units="points")
    rows = pd.DataFrame(
        [
            {"x": ratio, "kind": value.kind, "value": value.value, "low": low, "high": high}
            for ratio, values in curve.points
            for value in values
            for low, high in value.pieces
        ]
    )
    measured = rows[rows["kind"] == "measured"]
    ranges = rows[rows["kind"] != "measured"].assign(kind=marks.TEXT)
    marks.draw_range_boxes(
        axes,
        ranges["x"].to_numpy(),
        ranges,
        style,
        at,
        1.1 * distance * (right - left) / RATIOS_WIDTH,
    )
    marks.draw_arrows(axes, ranges["x"].to_numpy(), ranges, style.colour, at)
    marks.draw_intervals(axes, measured["x"].to_numpy(), measured, style.colour, at)
    marks.draw_marks(
        axes, measured["x"].to_numpy(), measured["value"].to_numpy(), marks.SOLID, style, at
    )
    if len(measured):
        return Line2D(
            [],
            [],
            color=style.colour,
            marker=style.marker,
            linestyle="none",
            label=curve.curve.label,
        )
    return Patch(
        facecolor="none", edgecolor=style.colour, hatch=style.hatch, label=curve.curve.label
    )


def _draw_value(axes: Axes, at: float, value: Value) -> None:
    """Draw one value."""
    colour = INK_COLOUR if value.kind == "measured" else RANGE_COLOUR
    for low, high in value.pieces:
        shown = max(low, 0.0), min(high, LARGEST_RATIO)
        if value.kind == "measured":
            if value.value > LARGEST_RATIO:
                axes.plot([LARGEST_RATIO], [at], ">", color=colour, markersize=7, clip_on=False)
                continue
            axes.plot(shown, (at, at), color=colour, linewidth=2, zorder=3)
            axes.plot([value.value], [at], "o", color=colour, markersize=6, zorder=4)
            continue
        axes.barh(
            at,
            shown[1] - shown[0],
            left=shown[0],
            height=0.3,
            color=colour,
            alpha=0.35,
            linewidth=0,
            zorder=2,
        )
        if shown[1] - shown[0] < 0.02:
            axes.plot(
                [np.mean(shown)] * 2, (at - 0.15, at + 0.15), color=colour, linewidth=2, zorder=3
            )
        if high > LARGEST_RATIO:
            axes.plot(
                [LARGEST_RATIO], [at], ">", color=colour, markersize=7, clip_on=False, zorder=3
            )


def _has_limit(value: Value) -> bool:
    return any(math.isfinite(end) and end > 0 for piece in value.pieces for end in piece)


def _top(curves: Sequence[CurveValues]) -> float:
    ends = [
        end
        for curve in curves
        for _, values in curve.points
        for v in values
        for piece in v.pieces
        for end in piece
    ]
    return float(min(LARGEST_RATIO, max(1.2, *(1.1 * end for end in ends if math.isfinite(end)))))
