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
    CHARACTER_WIDTH,
    NARROW_WIDTH,
    PANEL_HEIGHT,
    SeriesStyle,
    create_panels,
    figure_width,
    series_styles,
    theme,
)


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
    from_zero: bool = False,
    words: str | None = None,
) -> Figure:
    """Draw grouped bars, one group a level of `x`; the arguments are those of `lines`.

    A group has no gaps for missing bars. A mean is a bar, over which a range of a text and a printed
    number are drawn. Without `points` and `means`, a bar is the mean of its runs. Without means, the
    axis may begin above 0, unless `from_zero`. `words` is a column of texts that are written above the bars
    if all have room.
    """
    if points is None and means is None and runs is not None:
        keys = [c for c in (row, hue, x, "provenance", "quantity") if c is not None and c in runs]
        if y in runs and x in runs:  # else `long_frame` raises an error with the column name
            means = runs.groupby(keys, sort=False)[y].mean().reset_index()
            means.attrs = dict(runs.attrs)
    names = {**(labels or {}), **({x: xlabel} if xlabel else {})}
    frame = long_frame(
        points, means, printed, runs, x=x, y=y, hue=hue, row=row, labels=names, words=words
    )
    return _draw_figure(frame, None, level, ylabel, bars=True, from_zero=from_zero)


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
    from_zero: bool = False,
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
    width = figure_width()
    # marks of numbers that are apart in height stand at their levels, beside each other or not
    crowded = bars or not levels.numeric or _has_overlap(rows)
    group_pt = most * _min_series_width(rows, bars) if crowded else 0.0
    levels = replace(levels, width_pt=width - axis.PANEL_MARGIN)
    narrow = replace(levels, width_pt=NARROW_WIDTH - axis.PANEL_MARGIN)
    if narrow.min_distance_pt >= group_pt and narrow.has_room >= levels.has_room:
        width, levels = NARROW_WIDTH, narrow
    of_series = {label: rows[rows["series"] == label] for label in frame.series}
    seen = set(rows["series"][marks.is_seen(rows)])
    named = {} if bars or apart or log or fits else _free_ends(rows, levels, width)
    if named:
        beside = margin_pt - _max_series_width(rows, bars) / 2 - levels.margin_pt
        levels = replace(levels, end_pt=max(0.0, beside + max(map(_name_width, named))))
    fitted = curves.evaluate_curves(
        fits, {label: part["x"].tolist() for label, part in of_series.items()}, frame.x, level
    )
    with theme():
        height = PANEL_HEIGHT + apart * PANEL_LEGEND_HEIGHT
        figure, axes = create_panels(len(frame.panels), height=height, width=width)
        drawn: dict[str, SeriesStyle] = {}
        for panel, name in zip(axes, frame.panels, strict=True):
            part, styles = (
                rows[rows["panel"] == name],
                series_styles(series_of[name], words["colours"]),
            )
            drawn = styles | drawn
            label, bounds = ylabel or words.label(name), words["bounds"].get(str(name), NO_BOUNDS)
            _draw_panel(
                panel,
                part,
                label,
                bounds,
                levels,
                styles,
                fitted,
                named,
                bars=bars,
                log=log,
                from_zero=from_zero,
            )
            levels.draw(panel, words.label(frame.x), labelled=panel is axes[-1])
            if apart:
                in_panel = {label: part[part["series"] == label] for label in styles}
                marks.draw_panel_legend(panel, _series_entries(in_panel, styles, bars))
        keyed = not (apart or named or _is_told(frame, ylabel))
        labelled = keyed and _are_printed_series(rows)
        marks.draw_legend(
            figure,
            _series_entries(
                {s: of_series[s] for s in of_series if s in seen}, styles, bars, labelled
            )
            if keyed
            else [],
            marks.layer_entries(
                rows,
                bars=bars,
                curves=bool(fitted),
                level=level,
                unit=words.label(units) if units else "",
                styles=drawn,
                panels=dict(zip(frame.panels, axes, strict=True)),
                labelled=labelled,
            ),
        )
    return figure


def _is_told(frame: LongFrame, ylabel: str | None) -> bool:
    """Whether a figure names its series without a legend: each is a level of the axis, or the only one
    of a panel whose label begins with its name.
    """
    rows = frame.rows
    if len(rows) and (rows["series"] == rows["x"]).all():
        return True
    named = rows[["panel", "series"]].drop_duplicates()
    return named["panel"].is_unique and all(
        series == UNNAMED or (ylabel or frame.axes.label(panel)).startswith(str(series))
        for panel, series in named.itertuples(index=False)
    )


END_GAP = 5.0  # points between the last box of a series and its name
MAX_NAME_SHARE = 0.32  # of the width of a figure, for the longest name at the end of a series
NAME_HEIGHT = 0.1  # of the largest number in a panel, around a name at the end of a series


def _name_width(name: Any) -> float:
    return END_GAP + len(str(name)) * CHARACTER_WIDTH


def _free_ends(
    rows: pd.DataFrame, levels: axis.AxisLevels, width: float
) -> dict[Any, tuple[Any, float]]:
    """Last level of each series and its height there, for names beside the ends in place of a legend;
    empty without room. Series with runs have a legend: it also explains their marks.
    """
    is_range = rows["layer"] == RANGE
    names = list(dict.fromkeys(rows["series"][marks.is_seen(rows)]))
    kinds = set(rows["kind"][~is_range])
    if len(names) < 2 or not levels.numeric or rows["panel"].nunique() > 1 or kinds - {PRINTED}:
        return {}
    if list(levels.positions.values()) != sorted(levels.positions.values()):
        return {}
    inner = rows.assign(
        low=rows["low"].fillna(rows["value"]).astype(float),
        high=rows["high"].fillna(rows["value"]).astype(float),
    )
    near = NAME_HEIGHT * inner["high"].where(np.isfinite(inner["high"])).max() / 2
    ends: dict[Any, tuple[Any, float]] = {}
    for name in names:
        own, others = inner[inner["series"] == name], inner[inner["series"] != name]
        last = own["x"].max()
        best = own[own["x"] == last].sort_values("kind", key=lambda k: k == TEXT).iloc[0]
        height = (best["low"] + best["high"]) / 2
        beyond = others[others["x"] >= last]
        if not math.isfinite(height) or _name_width(name) > MAX_NAME_SHARE * width:
            return {}
        if len(beyond) and beyond["low"].min() - near < height < beyond["high"].max() + near:
            return {}
        if any(last == at and abs(height - other) < 2 * near for at, other in ends.values()):
            return {}
        ends[name] = last, float(height)
    return ends


def _are_printed_series(rows: pd.DataFrame) -> bool:
    """Whether some series, but not all, have printed numbers alone, and no other has any."""
    printed = (rows["kind"] == PRINTED).groupby(rows["series"])
    return bool(
        printed.any().any() and not printed.all().all() and (printed.any() == printed.all()).all()
    )


def _series_entries(
    of_series: Mapping[Any, pd.DataFrame],
    styles: Mapping[Any, SeriesStyle],
    bars: bool,
    labelled: bool = False,
) -> list[marks.LegendEntry]:
    return [
        marks.series_entry(rows, label, styles[label], bars=bars, labelled=labelled)
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
MARK_WIDTH, MIN_MARK_WIDTH = 5.0, 3.5
"""Points of a series without ranges: wider, its marks would seem to be at other numbers."""
TOO_NEAR = 0.02  # of the height of an axis, between marks of two series
WORDS_ROOM = 1.1  # of the highest bar, so that words above it are within the axes
WORDS_GAP = 6  # points between a bar and the words above it
MEASURED_OFFSET = 0.7  # of that width; shift of a measured mark to the right of a range

OffsetGroups = Iterator[tuple[Transform, np.ndarray, pd.DataFrame]]


def _min_series_width(rows: pd.DataFrame, bars: bool) -> float:
    has_ranges = (rows["layer"] == RANGE).any()
    return MIN_SERIES_WIDTH if bars or has_ranges else MIN_MARK_WIDTH


def _has_overlap(rows: pd.DataFrame) -> bool:
    """Whether a figure has ranges, or marks of two series at the same height at a level."""
    if (rows["layer"] == RANGE).any():
        return True
    return any(
        _overlapping(part, float(part[["value", "high"]].astype(float).max().max()))
        for _, part in rows.groupby("panel")
    )


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
    named: Mapping[Any, tuple[Any, float]],
    *,
    bars: bool,
    log: bool,
    from_zero: bool = False,
) -> None:
    """Draw a panel, without level ticks and legend; `named`: where series are named (`_free_ends`)."""
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
        [*values, *axis.finite_values(ranges["low"])],
        highest,
        low,
        from_zero=columns or alone or from_zero,
    )
    # groups of bars have no gaps; lines are dodged by the same offset at all levels that are no numbers
    shown = {level for drawn_levels in at.values() for level in drawn_levels}
    groups = {
        level: [series for series in at if level in at[series] or not bars]
        for level in levels.positions
        if level in shown
    }
    room = levels.distance_pt(groups) / max([1, *map(len, groups.values())])
    longest = rows["words"].dropna().astype(str).str.len().max()
    raised = bottom + WORDS_ROOM * (highest - bottom)
    # an axis does not go beyond a natural bound, so words would be in its title
    if longest * CHARACTER_WIDTH <= room and raised <= high:
        highest = raised
    else:
        rows = rows.assign(words=None)
    if log:
        axis.set_log_axis(axes, [*values, *axis.finite_values(ranges[["low", "high"]])], label)
    else:
        end = axis.end_at_tick(bottom, highest if highest > bottom else top)
        axis.set_y_axis(axes, bottom, end, label)
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
    apart = _overlapping(rows, max(axes.get_ylim())) if exact else shown
    for series, drawn_levels in at.items():
        # a mark beside the number that it belongs to is to the right of it
        first = {v: 0 if exact else (len(groups[v]) - 1) / 2 for v in drawn_levels}
        places = {v: (v in apart) * (groups[v].index(series) - first[v]) for v in drawn_levels}
        shifts = {
            v: (place * width_factor - (width_factor - 1) / 2) * width
            for v, place in places.items()
        }
        own = rows[rows["series"] == series]
        if series in named:
            end, height = named[series]
            gap = shifts[end] + width / 2 + END_GAP
            marks.name_end(axes, str(series), levels.positions[end], height, gap)
        drawn = _Series(axes, own, styles[series], levels, shifts, width, bars)
        drawn.draw(fitted.get(series))
        for level, shift in shifts.items():
            if text := svg.tip_text(own[own["x"] == level]):
                name = ", ".join(filter(None, (str(series), texts[level])))
                place = levels.positions[level]
                svg.add_tip(axes, place, shift, width * width_factor, f"{name}: {text}")


def _overlapping(rows: pd.DataFrame, top: float) -> set[Any]:
    """Levels at which ranges of two series overlap, or their marks are at the same height, by
    `TOO_NEAR` of the `top`.
    """
    ends = rows.assign(
        low=rows[["low", "value"]].min(axis=1), high=rows[["high", "value"]].max(axis=1)
    )
    spans = ends.groupby(["x", "series"], sort=False).agg({"low": "min", "high": "max"})
    marked = not rows["kind"].isin((TEXT, WITH_ASSUMPTIONS, PRINTED)).all()
    least = TOO_NEAR * top if marked else -TOO_NEAR * top
    found = set()
    for level, span in spans.groupby("x", sort=False):
        ordered = span.sort_values("low").to_numpy(dtype=float)
        if (ordered[1:, 0] - np.maximum.accumulate(ordered[:, 1])[:-1] < least).any():
            found.add(level)
    return found


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
        boxed = ranges[ranges["boxed"].astype(bool)]
        for at, x, rows in self._by_offset(boxed):
            marks.draw_range_boxes(self.axes, x, rows, style, at, self._data_width)
            marks.draw_arrows(self.axes, x, rows, style.colour, at)
        for at, x, rows in self._joined(ranges):
            if not self.bars:
                narrower = rows["kind"] == WITH_ASSUMPTIONS
                inner = (narrower | ~rows["x"].isin(rows["x"][narrower])).to_numpy()
                marks.fill_between_points(self.axes, x[inner], rows[inner], style.colour, at)
        if self.bars:
            self._draw_stems(boxed)
            self._write_words()
        for kind, rows in self._layer(MARK).groupby("kind", sort=False):
            (self._draw_bars if self.bars else self._draw_points)(
                str(kind), rows, joined=curve is None
            )
        for _, unit in self._layer(RUN).dropna(subset="unit").groupby("unit", sort=False):
            for at, x, part in self._joined(unit, beside=True):
                values = part["value"].to_numpy(dtype=float)
                marks.join_unit(self.axes, x, values, style.colour, at)
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

    def _draw_stems(self, ranges: pd.DataFrame) -> None:
        """Draw thin bars up to ranges where the axis begins at 0, as under printed numbers: a box in the
        air beside such a bar would seem to be another kind of value, and a narrow one is overlooked.
        """
        if not self._from_zero:
            return
        marked, vague = set(self._layer(MARK)["x"]), set(ranges["x"][ranges["open"].astype(bool)])
        bare = ranges[~ranges["x"].isin(marked | vague)]
        ends = bare.groupby("x", sort=False).agg({"low": "min", "high": "max"}).astype(float)
        # up to the end that is nearest to 0, so that no bar is behind its box
        nearest = ends["low"].clip(lower=0) + ends["high"].clip(upper=0)
        for at, x, rows in self._by_offset(nearest[nearest != 0].rename("value").reset_index()):
            values, width = rows["value"].to_numpy(dtype=float), self._data_width
            marks.draw_bars(self.axes, x, values, self.style, at, width, solid=False)

    def _write_words(self) -> None:
        """Write the words of a bar above it."""
        drawn = self.rows[(self.rows["layer"] != RANGE) | self.rows["boxed"].astype(bool)]
        told = drawn[drawn["words"].notna()].drop_duplicates("x")
        tops = drawn[["value", "high"]].astype(float).max(axis=1).groupby(drawn["x"]).max()
        for at, x, rows in self._by_offset(told):
            above = offset_copy(at, self.axes.get_figure(root=True), y=WORDS_GAP, units="points")
            for place, level, words in zip(x, rows["x"], rows["words"], strict=True):
                text = str(words)
                self.axes.text(place, tops[level], text, transform=above, ha="center", va="bottom")

    def _draw_marks(self, kind: str, at: Transform, x: np.ndarray, rows: pd.DataFrame) -> None:
        if kind in marks.WITH_INTERVAL:
            marks.draw_intervals(self.axes, x, rows, self.style.colour, at)
        marks.draw_marks(self.axes, x, rows["value"].to_numpy(dtype=float), kind, self.style, at)

    def _draw_line(self, rows: pd.DataFrame, *, beside: bool = True) -> None:
        for at, x, part in self._joined(rows, beside=beside):
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
        offsets = self._offsets(rows, beside)
        for points in np.unique(offsets):
            part = rows[offsets == points]
            x = self._positions(part)
            where = offset_copy(
                self.axes.transData, self.axes.get_figure(root=True), x=points, units="points"
            )
            order = np.argsort(x, kind="stable")
            yield where, x[order], part.iloc[order]

    def _joined(self, rows: pd.DataFrame, *, beside: bool = False) -> OffsetGroups:
        """As `_by_offset`, for points that a line joins: several offsets are added to the positions."""
        offsets = self._offsets(rows, beside)
        if len(np.unique(offsets)) < 2:
            yield from self._by_offset(rows, beside=beside)
            return
        left, right = self.levels.limits
        x = self._positions(rows) + offsets * self.levels.data_per_point * np.sign(right - left)
        order = np.argsort(x, kind="stable")
        yield self.axes.transData, x[order], rows.iloc[order]

    def _offsets(self, rows: pd.DataFrame, beside: bool) -> np.ndarray:
        """Offset of each row from its level, in points."""
        shift = MEASURED_OFFSET * self.width if beside and self._levels_with_ranges else 0.0
        return np.array([self.shifts[level] + shift for level in rows["x"]])

    def _positions(self, rows: pd.DataFrame) -> np.ndarray:
        return rows["x"].map(self.levels.positions).to_numpy(dtype=float)
