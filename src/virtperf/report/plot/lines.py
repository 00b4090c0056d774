"""Figures over one factor: ranges allowed by a text, means, printed numbers, runs, fitted curves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Transform, offset_copy

from virtperf.report.plot import axis, curves, marks, svg
from virtperf.report.plot.marks import Layers, combine_frames
from virtperf.report.plot.theme import PANEL_HEIGHT, SeriesStyle, create_panels, theme


def lines(
    points: pd.DataFrame | None = None,
    *,
    x: str,
    y: str = "value",
    hue: str | None = None,
    row: str | None = None,
    runs: pd.DataFrame | None = None,
    means: pd.DataFrame | None = None,
    printed: pd.DataFrame | None = None,
    fits: Any = None,
    xlabel: str | None = None,
    ylabel: str | None = None,
    labels: Mapping[str, str] | None = None,
    level: float = 0.95,
    log: bool = False,
    legend: Literal["figure", "panel"] = "figure",
) -> Figure:
    """Draw series over one variable; every argument but `x` is optional.

    ``lines(runs=frame, x="guests", y="throughput", hue="system")`` draws measurements of any
    source.

    Parameters
    ----------
    points : DataFrame
        Ranges allowed by a text, from ``LoadedStudy.points``: low, high, perhaps pieces, the same
        without assumptions (low_text, high_text, pieces_text), printed.
    x, y, hue, row : str
        Columns: the axis, the values of `runs` and `means`, the series, shown by colour and mark,
        and the panels. Without `row`, quantities of different units have separate panels.
    runs, means, printed : DataFrame
        Values; means with their interval in the columns low and high. A column `provenance` selects
        the mark: solid for measured and own data, half-filled for printed numbers, a cross for
        examples.
    fits : mapping of str to fit, or a fit
        Fitted curves by series: objects with ``predict(x)`` or statsmodels' ``get_prediction``.
    xlabel, ylabel : str
        Axis labels; the default are those attached to frames of a study.
    labels : mapping
        Display names for columns and for the values of `row`.
    level : float
        Confidence level of curves, and of the intervals of means in the legend.
    log : bool
        A logarithmic axis of values, from the lowest positive one.
    legend : {"figure", "panel"}
        Whether all panels share the legend and the colours of series, or each panel names its own
        series.

    Returns
    -------
    matplotlib.figure.Figure
        One axes a panel: ``figure.axes[0].set_title("...")``. Positions on the axes are the values
        of the frames.
    """
    return _draw_figure(
        points,
        means,
        printed,
        runs,
        fits,
        level,
        bars=False,
        log=log,
        legend=legend,
        x=x,
        y=y,
        hue=hue,
        row=row,
        labels=labels,
        xlabel=xlabel,
        ylabel=ylabel,
    )


def bars(
    points: pd.DataFrame | None = None,
    *,
    x: str,
    y: str = "value",
    hue: str | None = None,
    row: str | None = None,
    runs: pd.DataFrame | None = None,
    means: pd.DataFrame | None = None,
    printed: pd.DataFrame | None = None,
    xlabel: str | None = None,
    ylabel: str | None = None,
    labels: Mapping[str, str] | None = None,
    level: float = 0.95,
) -> Figure:
    """Draw grouped bars, one group a level of `x`; the arguments are those of `lines`.

    A group has no gaps for missing bars. A mean is a bar if the point has no range of a text, else
    a mark beside it. Without `points` and `means`, a bar is the mean of its runs.
    """
    if points is None and means is None and runs is not None:
        keys = [c for c in (row, hue, x, "provenance", "quantity") if c is not None and c in runs]
        if y in runs and x in runs:  # else `combine_frames` raises an error with the column name
            means = runs.groupby(keys, sort=False)[y].mean().reset_index()
            means.attrs = dict(runs.attrs)
    return _draw_figure(
        points,
        means,
        printed,
        runs,
        None,
        level,
        bars=True,
        x=x,
        y=y,
        hue=hue,
        row=row,
        labels=labels,
        xlabel=xlabel,
        ylabel=ylabel,
    )


def _draw_figure(
    points: pd.DataFrame | None,
    means: pd.DataFrame | None,
    printed: pd.DataFrame | None,
    runs: pd.DataFrame | None,
    fits: Any,
    level: float,
    *,
    bars: bool,
    x: str,
    log: bool = False,
    legend: str = "figure",
    **columns: Any,
) -> Figure:
    layers = combine_frames(points, means, printed, runs, x=x, **columns)
    panels, apart = [layers.select_panel(name) for name in layers.rows], legend == "panel"
    if apart:
        panels = [replace(p, series=tuple(s for s in p.series if p.levels(s))) for p in panels]
    most = max(len(panel.series) for panel in panels)
    margin_pt = most * _max_series_width(layers, bars) / 2 + 8
    levels = axis.axis_levels(
        layers.frames, x, layers.metadata, numeric=not bars, margin_pt=margin_pt
    )
    fitted = curves.evaluate_curves(fits, {s: layers.levels(s) for s in layers.series}, x, level)
    with theme():
        height = PANEL_HEIGHT + apart * PANEL_LEGEND_HEIGHT
        figure, axes = create_panels(len(panels), height=height)
        for panel, own in zip(axes, panels, strict=True):
            _draw_panel(panel, own, levels, fitted, bars=bars, log=log)
            levels.draw(panel, layers.metadata.label(x), labelled=panel is axes[-1])
            if apart:
                entries = [marks.series_entry(own, s, bars=bars) for s in own.series]
                marks.draw_panel_legend(panel, entries)
        series = layers.series if layers.hue is not None and not apart else ()
        extra = marks.layer_entries(layers, bars=bars, curves=bool(fitted), level=level)
        marks.draw_legend(
            figure,
            [marks.series_entry(layers, s, bars=bars) for s in series],
            extra if layers.explains_marks or fitted else [],
        )
    return figure


PANEL_LEGEND_HEIGHT = 60
"""Room for the legend of a panel, in points."""
GROUP_WIDTH = 0.84  # of the distance between two levels, for all series together
MAX_SERIES_WIDTH = {False: 14.0, True: 56.0}  # points of a series at a level; lines, bars
MARK_WIDTH = 5.0
"""Points of a series without ranges: wider, its marks would seem to be at other numbers."""
MEASURED_OFFSET = 0.7  # of that width; shift of a measured mark to the right of a range

OffsetGroups = Iterator[tuple[Transform, np.ndarray, pd.DataFrame]]


def _max_series_width(layers: Layers, bars: bool) -> float:
    return MAX_SERIES_WIDTH[bars] if bars or len(layers.bands) else MARK_WIDTH


def _draw_panel(
    axes: Axes,
    layers: Layers,
    levels: axis.AxisLevels,
    fitted: Mapping[str, pd.DataFrame],
    *,
    bars: bool,
    log: bool = False,
) -> None:
    """Draw a panel, without level ticks and legend."""
    at = {
        label: series_levels for label in layers.series if (series_levels := layers.levels(label))
    }
    curve_values = [fitted[label]["value"] for label in at if label in fitted]
    values = axis.finite_values(
        layers.marks[["value", "low", "high"]], layers.runs["value"], *curve_values
    )
    quantity = str(layers.rows[0]) if layers.row is not None else layers.y
    label = layers.ylabel or layers.metadata.label(quantity)
    low, high = layers.metadata.bounds.get(quantity, (0.0, math.inf))
    top = axis.upper_limit(values, layers.bands, high)
    bottom = axis.lower_limit(
        [*values, *axis.finite_values(layers.bands["low"])], top, low, lines=not bars
    )
    if log:
        axis.set_log_axis(
            axes, [*values, *axis.finite_values(layers.bands[["low", "high"]])], label
        )
    else:
        axis.set_y_axis(axes, bottom, axis.reduce_margin(top, bottom, values, high), label)
    # groups of bars have no gaps; lines are dodged by the same offset at all levels
    shown = {level for series_levels in at.values() for level in series_levels}
    groups = {
        level: [label for label in at if level in at[label] or not bars]
        for level in levels.positions
        if level in shown
    }
    has_offset_marks = len(layers.bands) and (
        len(layers.runs) or (layers.marks["mark"] != marks.PRINTED).any()
    )
    width_factor = 1 + MEASURED_OFFSET if has_offset_marks else 1.0
    width = min(
        _max_series_width(layers, bars),
        GROUP_WIDTH
        * levels.distance_pt(groups)
        / width_factor
        / max(1, *map(len, groups.values())),
    )
    for series, drawn_levels in at.items():
        places = {v: groups[v].index(series) - (len(groups[v]) - 1) / 2 for v in drawn_levels}
        shifts = {
            v: (place * width_factor - (width_factor - 1) / 2) * width
            for v, place in places.items()
        }
        own_layers = layers.select_series(series)
        _Series(axes, own_layers, layers.style(series), levels, shifts, width, bars).draw(
            fitted.get(series)
        )
        _add_tips(axes, own_layers, str(series), levels, shifts, width * width_factor)


def _add_tips(
    axes: Axes,
    layers: Layers,
    series: str,
    levels: axis.AxisLevels,
    shifts: Mapping[Any, float],
    width: float,
) -> None:
    """Add a tooltip to every point of a series: name, level, values."""
    texts = dict(zip(levels.positions, levels.tick_labels, strict=True))
    for level, shift in shifts.items():
        bands, points = (frame[frame[layers.x] == level] for frame in (layers.bands, layers.marks))
        if text := svg.tip_text(bands, points):
            name = ", ".join(filter(None, (series, texts[level])))
            tip = svg.Tip(axes, levels.positions[level], shift, width, f"{name}: {text}")
            svg.add_tip(tip)


@dataclass(frozen=True)
class _Series:
    """One series of a panel: `shifts` are the offsets in points at each level (dodging), `width`
    the width in points.
    """

    axes: Axes
    layers: Layers
    style: SeriesStyle
    levels: axis.AxisLevels
    shifts: Mapping[Any, float]
    width: float
    bars: bool

    def draw(self, curve: pd.DataFrame | None) -> None:
        """Draw ranges first, then more precise layers on top."""
        layers, style = self.layers, self.style
        for at, x, rows in self._by_offset(layers.bands):
            marks.draw_range_boxes(self.axes, x, rows, style, at, self._data_width)
            marks.draw_arrows(self.axes, x, rows, style.colour, at)
            if not self.bars:
                inner = (rows["kind"] == layers.bands["kind"].iloc[-1]).to_numpy()
                marks.fill_between_points(self.axes, x[inner], rows[inner], style.colour, at)
        for kind, rows in layers.marks.groupby("mark", sort=False):
            (self._draw_bars if self.bars else self._draw_points)(
                str(kind), rows, joined=curve is None
            )
        for kind, rows in layers.runs.groupby("mark", sort=False):
            for at, x, part in self._by_offset(rows, beside=True):
                marks.draw_marks(
                    self.axes,
                    x,
                    part["value"].to_numpy(dtype=float),
                    str(kind),
                    style,
                    at,
                    area=marks.RUN_AREA,
                )
        if curve is not None:
            curves.draw_curve(self.axes, curve, style)
        elif not self.bars and not len(layers.marks):
            self._draw_line(layers.runs.groupby(layers.x)["value"].mean().reset_index())

    def _draw_points(self, kind: str, rows: pd.DataFrame, *, joined: bool) -> None:
        """Draw marks of a line figure; printed numbers are joined only if every level has one."""
        beside = kind != marks.PRINTED
        for at, x, part in self._by_offset(rows, beside=beside):
            self._draw_marks(kind, at, x, part)
        if joined and (beside or set(rows[self.layers.x]) == set(self.shifts)):
            self._draw_line(rows, beside=beside)

    def _draw_bars(self, kind: str, rows: pd.DataFrame, **_: bool) -> None:
        """Draw marks of a bar figure: measured values are bars at levels without a range, printed
        numbers thin bars.
        """
        printed = kind == marks.PRINTED
        solid = kind in (marks.SOLID, marks.OWN_DATA)
        barred = np.array(
            [printed or (solid and v not in self._levels_with_ranges) for v in rows[self.layers.x]],
            dtype=bool,
        )
        for at, x, part in self._by_offset(rows[barred]):
            values = part["value"].to_numpy(dtype=float)
            marks.draw_bars(
                self.axes, x, values, self.style, at, self._data_width, solid=not printed
            )
            if not printed:
                marks.draw_intervals(self.axes, x, part, self.style.colour, at)
        for at, x, part in self._by_offset(rows if printed else rows[~barred], beside=not printed):
            self._draw_marks(kind, at, x, part)

    def _draw_marks(self, kind: str, at: Transform, x: np.ndarray, rows: pd.DataFrame) -> None:
        if kind in marks.WITH_INTERVAL:
            marks.draw_intervals(self.axes, x, rows, self.style.colour, at)
        marks.draw_marks(self.axes, x, rows["value"].to_numpy(dtype=float), kind, self.style, at)

    def _draw_line(self, rows: pd.DataFrame, *, beside: bool = True) -> None:
        for at, x, part in self._by_offset(rows, beside=beside):
            if len(part) > 1:
                sns.lineplot(
                    x=x,
                    y=part["value"].to_numpy(dtype=float),
                    ax=self.axes,
                    color=self.style.colour,
                    zorder=3,
                    linestyle=self.style.dash,
                    estimator=None,
                    transform=at,
                    legend=False,
                )

    @property
    def _levels_with_ranges(self) -> set[Any]:
        return set(self.layers.bands[self.layers.x])

    @property
    def _data_width(self) -> float:
        return self.width * self.levels.data_per_point

    def _by_offset(self, rows: pd.DataFrame, *, beside: bool = False) -> OffsetGroups:
        """Group rows by their offset from the levels; yields the transform, the positions and the
        rows.
        """
        shift = MEASURED_OFFSET * self.width if beside and self._levels_with_ranges else 0.0
        offsets = np.array([self.shifts[level] + shift for level in rows[self.layers.x]])
        for points in np.unique(offsets):
            part = rows[offsets == points]
            x = part[self.layers.x].map(self.levels.positions).to_numpy(dtype=float)
            where = offset_copy(
                self.axes.transData, self.axes.get_figure(root=True), x=points, units="points"
            )
            order = np.argsort(x, kind="stable")
            yield where, x[order], part.iloc[order]
