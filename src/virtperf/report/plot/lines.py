"""Figures over one factor: ranges allowed by a text, means, printed numbers, runs, fitted curves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Transform, offset_copy

from virtperf.report.plot import axis, curves, marks, svg
from virtperf.report.plot.long import (
    MARK,
    OWN_DATA,
    PRINTED,
    RANGE,
    RUN,
    SOLID,
    TEXT,
    UNNAMED,
    WITH_ASSUMPTIONS,
    LongFrame,
    long_frame,
)
from virtperf.report.plot.theme import (
    NARROW_WIDTH,
    PANEL_HEIGHT,
    SeriesStyle,
    create_panels,
    figure_width,
    series_styles,
    theme,
)
from virtperf.report.range_words import NARROW


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
    units: str | None = None,
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
    units : str
        Column of `runs`: values of one unit, such as a machine, are joined by a line.
    legend : {"figure", "panel"}
        Whether all panels share the legend and the colours of series, or each panel names its own
        series.

    Returns
    -------
    matplotlib.figure.Figure
        One axes a panel: ``figure.axes[0].set_title("...")``. Positions on the axes are the values
        of the frames.
    """
    words = {**(labels or {}), **({x: xlabel} if xlabel else {})}
    frame = long_frame(
        points, means, printed, runs, x=x, y=y, hue=hue, row=row, labels=words, units=units
    )
    apart = legend == "panel"
    return _draw_figure(frame, fits, level, ylabel, bars=False, log=log, units=units, apart=apart)


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

    A group has no gaps for missing bars. A mean is a bar, over which a range of a text and a printed
    number are drawn. Without `points` and `means`, a bar is the mean of its runs. Without means, the
    axis may begin above 0.
    """
    if points is None and means is None and runs is not None:
        keys = [c for c in (row, hue, x, "provenance", "quantity") if c is not None and c in runs]
        if y in runs and x in runs:  # else `long_frame` raises an error with the column name
            means = runs.groupby(keys, sort=False)[y].mean().reset_index()
            means.attrs = dict(runs.attrs)
    words = {**(labels or {}), **({x: xlabel} if xlabel else {})}
    frame = long_frame(points, means, printed, runs, x=x, y=y, hue=hue, row=row, labels=words)
    return _draw_figure(frame, None, level, ylabel, bars=True)


def _draw_figure(
    frame: LongFrame,
    fits: Any,
    level: float,
    ylabel: str | None,
    *,
    bars: bool,
    log: bool = False,
    units: str | None = None,
    apart: bool = False,
) -> Figure:
    """Draw a figure; `apart`: each panel has styles and a legend of its own series."""
    rows, words = frame.rows, frame.axes
    series_of = {
        name: tuple(s for s in frame.series if not apart or s in present)
        for name in frame.panels
        for present in [set(rows.loc[rows["panel"] == name, "series"])]
    }
    most = max(map(len, series_of.values()))
    margin_pt = (most - 0.5) * _max_series_width(rows, bars) + 8
    levels = axis.axis_levels(
        frame.levels, words["levels"].get(frame.x, ()), numeric=not bars, margin_pt=margin_pt
    )
    width, group_pt = figure_width(), most * _min_series_width(rows, bars)
    levels = replace(levels, width_pt=width - axis.PANEL_MARGIN)
    narrow = replace(levels, width_pt=NARROW_WIDTH - axis.PANEL_MARGIN)
    if narrow.min_distance_pt >= group_pt and narrow.has_room >= levels.has_room:
        width, levels = NARROW_WIDTH, narrow
    of_series = {label: rows[rows["series"] == label] for label in frame.series}
    seen = set(rows["series"][marks.is_seen(rows)])
    fitted = curves.evaluate_curves(
        fits, {label: part["x"].tolist() for label, part in of_series.items()}, frame.x, level
    )
    with theme():
        height = PANEL_HEIGHT + apart * PANEL_LEGEND_HEIGHT
        figure, axes = create_panels(len(frame.panels), height=height, width=width)
        for panel, name in zip(axes, frame.panels, strict=True):
            part, styles = (
                rows[rows["panel"] == name],
                series_styles(series_of[name], words["colours"]),
            )
            label, bounds = ylabel or words.label(name), words["bounds"].get(str(name), NO_BOUNDS)
            _draw_panel(panel, part, label, bounds, levels, styles, fitted, bars=bars, log=log)
            levels.draw(panel, words.label(frame.x), labelled=panel is axes[-1])
            if apart:
                in_panel = {label: part[part["series"] == label] for label in styles}
                marks.draw_panel_legend(panel, _series_entries(in_panel, styles, bars))
        marks.draw_legend(
            figure,
            []
            if apart
            else _series_entries({s: of_series[s] for s in of_series if s in seen}, styles, bars),
            marks.layer_entries(
                rows,
                bars=bars,
                curves=bool(fitted),
                level=level,
                unit=words.label(units) if units else "",
                style=next(iter(styles.values())) if len(of_series) == 1 else None,
            ),
        )
    return figure


def _series_entries(
    of_series: Mapping[Any, pd.DataFrame], styles: Mapping[Any, SeriesStyle], bars: bool
) -> list[marks.LegendEntry]:
    return [
        marks.series_entry(rows, label, styles[label], bars=bars)
        for label, rows in of_series.items()
        if label != UNNAMED
    ]


PANEL_LEGEND_HEIGHT = 60
"""Room for the legend of a panel, in points."""
NO_BOUNDS = (0.0, math.inf)  # natural bounds of a quantity without declared ones
COLUMNS = (SOLID, OWN_DATA)  # kinds of marks that are columns in a bar figure
GROUP_WIDTH = 0.84  # of the distance between two levels, for all series together
MAX_SERIES_WIDTH = {False: 14.0, True: 56.0}  # points of a series at a level; lines, bars
MIN_SERIES_WIDTH = 8.0  # points of a bar or a range in a figure for a phone
MARK_WIDTH = 5.0
"""Points of a series without ranges: wider, its marks would seem to be at other numbers."""
TOO_NEAR = 0.02  # of the height of an axis, between marks of two series
MEASURED_OFFSET = 0.7  # of that width; shift of a measured mark to the right of a range

OffsetGroups = Iterator[tuple[Transform, np.ndarray, pd.DataFrame]]


def _min_series_width(rows: pd.DataFrame, bars: bool) -> float:
    has_ranges = (rows["layer"] == RANGE).any()
    return MIN_SERIES_WIDTH if bars or has_ranges else MARK_WIDTH


def _max_series_width(rows: pd.DataFrame, bars: bool) -> float:
    has_ranges = (rows["layer"] == RANGE).any()
    return MAX_SERIES_WIDTH[bars] if bars or has_ranges else MARK_WIDTH


def _draw_panel(
    axes: Axes,
    rows: pd.DataFrame,
    label: str,
    bounds: Sequence[float],
    levels: axis.AxisLevels,
    styles: Mapping[Any, SeriesStyle],
    fitted: Mapping[Any, pd.DataFrame],
    *,
    bars: bool,
    log: bool,
) -> None:
    """Draw a panel, without level ticks and legend."""
    ranges, marked, runs = (rows[rows["layer"] == layer] for layer in (RANGE, MARK, RUN))
    at = {series: list(dict.fromkeys(rows["x"][rows["series"] == series])) for series in styles}
    at = {series: drawn_levels for series, drawn_levels in at.items() if drawn_levels}
    values = axis.finite_values(
        marked[["value", "low", "high"]],
        runs["value"],
        *(fitted[series]["value"] for series in at if series in fitted),
    )
    low, high = bounds
    top = axis.upper_limit(values, ranges, high)
    columns = bars and not {*COLUMNS}.isdisjoint(marked["kind"])
    alone = len(rows[["series", "x"]].drop_duplicates()) == 1  # comparable with 0 only
    highest = min(top, max([*values, *ranges["high"].dropna()], default=top))
    bottom = axis.lower_limit(
        [*values, *axis.finite_values(ranges["low"])], highest, low, from_zero=columns or alone
    )
    if log:
        axis.set_log_axis(axes, [*values, *axis.finite_values(ranges[["low", "high"]])], label)
    else:
        end = axis.end_at_tick(bottom, highest if highest > bottom else top)
        axis.set_y_axis(axes, bottom, end, label)
    # groups of bars have no gaps; lines are dodged by the same offset at all levels
    shown = {level for drawn_levels in at.values() for level in drawn_levels}
    groups = {
        level: [series for series in at if level in at[series] or not bars]
        for level in levels.positions
        if level in shown
    }
    on_place = (PRINTED, *COLUMNS) if bars else (PRINTED,)
    has_offset_marks = len(ranges) and (len(runs) or not marked["kind"].isin(on_place).all())
    width_factor = 1 + MEASURED_OFFSET if has_offset_marks else 1.0
    width = min(
        _max_series_width(rows, bars),
        GROUP_WIDTH
        * levels.distance_pt(groups)
        / width_factor
        / max([1, *map(len, groups.values())]),
    )
    texts = dict(zip(levels.positions, levels.tick_labels, strict=True))
    exact = levels.numeric and not has_offset_marks
    apart = not exact or _overlap(rows, max(axes.get_ylim()))
    for series, drawn_levels in at.items():
        # a mark beside the number that it belongs to is to the right of it
        first = {v: 0 if exact else (len(groups[v]) - 1) / 2 for v in drawn_levels}
        places = {v: apart * (groups[v].index(series) - first[v]) for v in drawn_levels}
        shifts = {
            v: (place * width_factor - (width_factor - 1) / 2) * width
            for v, place in places.items()
        }
        own = rows[rows["series"] == series]
        _Series(axes, own, styles[series], levels, shifts, width, bars).draw(fitted.get(series))
        for level, shift in shifts.items():
            if text := svg.tip_text(own[own["x"] == level]):
                name = ", ".join(filter(None, (str(series), texts[level])))
                place = levels.positions[level]
                svg.add_tip(axes, place, shift, width * width_factor, f"{name}: {text}")


def _overlap(rows: pd.DataFrame, top: float) -> bool:
    """Whether ranges of two series overlap at a level, or their marks are at the same height, by
    `TOO_NEAR` of the `top`.
    """
    ends = rows.assign(
        low=rows[["low", "value"]].min(axis=1), high=rows[["high", "value"]].max(axis=1)
    )
    spans = ends.groupby(["x", "series"], sort=False).agg({"low": "min", "high": "max"})
    marked = not rows["kind"].isin((TEXT, WITH_ASSUMPTIONS, PRINTED)).all()
    least = TOO_NEAR * top if marked else -TOO_NEAR * top
    for _, level in spans.groupby("x", sort=False):
        ordered = level.sort_values("low").to_numpy(dtype=float)
        if (ordered[1:, 0] - np.maximum.accumulate(ordered[:, 1])[:-1] < least).any():
            return True
    return False


@dataclass(frozen=True)
class _Series:
    """One series of a panel: `shifts` are the offsets in points at each level (dodging), `width`
    the width in points.
    """

    axes: Axes
    rows: pd.DataFrame
    style: SeriesStyle
    levels: axis.AxisLevels
    shifts: Mapping[Any, float]
    width: float
    bars: bool

    def draw(self, curve: pd.DataFrame | None) -> None:
        """Draw ranges first, then more precise layers on top."""
        style, ranges = self.style, self._layer(RANGE)
        for at, x, rows in self._by_offset(ranges):
            marks.draw_range_boxes(self.axes, x, rows, style, at, self._data_width)
            marks.draw_arrows(self.axes, x, rows, style.colour, at)
            if not self.bars:
                narrower = rows["kind"] == WITH_ASSUMPTIONS
                inner = (narrower | ~rows["x"].isin(rows["x"][narrower])).to_numpy()
                marks.fill_between_points(self.axes, x[inner], rows[inner], style.colour, at)
        if self.bars:
            self._draw_narrow(ranges)
        for kind, rows in self._layer(MARK).groupby("kind", sort=False):
            (self._draw_bars if self.bars else self._draw_points)(
                str(kind), rows, joined=curve is None
            )
        for _, unit in self._layer(RUN).dropna(subset="unit").groupby("unit", sort=False):
            for at, x, part in self._by_offset(unit, beside=True):
                marks.join_unit(self.axes, x, part["value"].to_numpy(dtype=float), at)
        for kind, rows in self._layer(RUN).groupby("kind", sort=False):
            for at, x, part in self._by_offset(rows, beside=True):
                values = part["value"].to_numpy(dtype=float)
                marks.draw_marks(self.axes, x, values, str(kind), style, at, area=marks.RUN_AREA)
        if curve is not None:
            curves.draw_curve(self.axes, curve, style)
        elif not self.bars and self._layer(MARK).empty:
            self._draw_line(self._layer(RUN).groupby("x")["value"].mean().reset_index())

    def _layer(self, layer: str) -> pd.DataFrame:
        return self.rows[self.rows["layer"] == layer]

    def _draw_points(self, kind: str, rows: pd.DataFrame, *, joined: bool) -> None:
        """Draw marks of a line figure; printed numbers are joined only if every level has one."""
        beside = kind != PRINTED
        for at, x, part in self._by_offset(rows, beside=beside):
            self._draw_marks(kind, at, x, part)
        if joined and (beside or set(rows["x"]) == set(self.shifts)):
            self._draw_line(rows, beside=beside)

    def _draw_bars(self, kind: str, rows: pd.DataFrame, **_: bool) -> None:
        """Draw marks of a bar figure: measured values are columns, printed numbers marks on thin bars
        where the axis begins at 0 and nothing is measured.
        """
        solid, measured = kind in COLUMNS, set(self.rows["x"][self._is_column])
        for at, x, part in self._by_offset(rows, beside=kind not in (PRINTED, *COLUMNS)):
            values = part["value"].to_numpy(dtype=float)
            thin = ~part["x"].isin(measured).to_numpy() & (kind == PRINTED) & self._from_zero
            drawn = thin | solid
            width = self._data_width
            if drawn.any():
                marks.draw_bars(
                    self.axes, x[drawn], values[drawn], self.style, at, width, solid=solid
                )
            if solid:
                marks.draw_intervals(self.axes, x, part, self.style.colour, at)
            else:
                self._draw_marks(kind, at, x, part)

    def _draw_narrow(self, ranges: pd.DataFrame) -> None:
        """Draw thin bars up to narrow ranges: their boxes are little more than lines, which are easily
        overlooked.
        """
        ends = ranges.groupby("x").agg({"low": "min", "high": "max"}).astype(float)
        narrow = ends.index[ends["high"] * (1 - NARROW) <= ends["low"] * (1 + NARROW)]
        bare = ranges["x"].isin(narrow) & ~ranges["x"].isin(set(self._layer(MARK)["x"]))
        if not self._from_zero:
            return
        for at, x, rows in self._by_offset(ranges[bare].drop_duplicates("x")):
            values = rows["low"].to_numpy(dtype=float)
            width = self._data_width
            marks.draw_bars(self.axes, x, values, self.style, at, width, solid=False)

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
    def _is_column(self) -> pd.Series:
        return self.rows["kind"].isin(COLUMNS) & (self.rows["layer"] == MARK)

    @property
    def _from_zero(self) -> bool:
        return bool(self.axes.get_ylim()[0] <= 0)

    @property
    def _levels_with_ranges(self) -> set[Any]:
        return set(self._layer(RANGE)["x"])

    @property
    def _data_width(self) -> float:
        return self.width * self.levels.data_per_point

    def _by_offset(self, rows: pd.DataFrame, *, beside: bool = False) -> OffsetGroups:
        """Group rows by their offset from the levels; yields the transform, the positions and the
        rows.
        """
        shift = MEASURED_OFFSET * self.width if beside and self._levels_with_ranges else 0.0
        offsets = np.array([self.shifts[level] + shift for level in rows["x"]])
        for points in np.unique(offsets):
            part = rows[offsets == points]
            x = part["x"].map(self.levels.positions).to_numpy(dtype=float)
            where = offset_copy(
                self.axes.transData, self.axes.get_figure(root=True), x=points, units="points"
            )
            order = np.argsort(x, kind="stable")
            yield where, x[order], part.iloc[order]
