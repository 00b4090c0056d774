"""Layers of a figure and its legend: ranges allowed by a text, and marks by provenance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.markers import MarkerStyle
from matplotlib.patches import Patch
from matplotlib.transforms import Transform

from virtperf.core.numbers import pretty
from virtperf.report.plot.long import (
    CROSS,
    MARK,
    OWN_DATA,
    PRINTED,
    RANGE,
    RUN,
    SOLID,
    TEXT,
    WITH_ASSUMPTIONS,
)
from virtperf.report.plot.theme import (
    CHARACTER_WIDTH,
    FONT_SIZE,
    INK_COLOUR,
    SURFACE_COLOUR,
    SeriesStyle,
)
from virtperf.report.wording import printable, wrap_text

WITH_INTERVAL = (SOLID, CROSS, OWN_DATA)  # the uncertainty of a printed number is its range
BOX_SHARE = 0.8  # of the width of a series at a level
FILL_ALPHAS = {TEXT: 0.2, WITH_ASSUMPTIONS: 0.6}
EDGE_ALPHAS = {TEXT: 0.5, WITH_ASSUMPTIONS: 1.0}
COLUMN_ALPHA = 0.55  # of the fill of a measured value
EXACT_LINE = 3.0  # width of a range without a length, in points
LINK_ALPHA = 0.15
MEAN_AREA, PRINTED_AREA, RUN_AREA = (
    46,
    32,
    20,
)  # areas of marks, in square points; small over printed ranges


def fill_between_points(
    axes: Axes, x: np.ndarray, bands: pd.DataFrame, colour: str, transform: Transform
) -> None:
    """Fill a pale area between points to guide the eye: ranges are known at the points only."""
    bottom, top = axes.get_ylim()
    hull = (
        bands.assign(x=x)
        .groupby("x")
        .agg(low=("low", "min"), high=("high", "max"))
        .clip(bottom, top)
    )
    axes.fill_between(
        hull.index,
        hull["low"],
        hull["high"],
        color=colour,
        alpha=LINK_ALPHA,
        linewidth=0,
        zorder=1,
        transform=transform,
    )


def draw_range_boxes(
    axes: Axes,
    x: np.ndarray,
    bands: pd.DataFrame,
    style: SeriesStyle,
    transform: Transform,
    width: float,
) -> None:
    """Draw ranges as boxes of `width` data units, clipped to the y axis; edges show the narrowest.

    An open range is a bracket: a tall box would look like data.
    """
    bottom, top = axes.get_ylim()
    draw_brackets(axes, x, bands, style, transform, width)
    for kind in (TEXT, WITH_ASSUMPTIONS):
        is_drawn = ((bands["kind"] == kind) & ~bands["open"]).to_numpy(dtype=bool)
        if not is_drawn.any():
            continue
        low, high = (
            bands[end].to_numpy(dtype=float)[is_drawn].clip(bottom, top) for end in ("low", "high")
        )
        edge = to_rgba(style.colour, EDGE_ALPHAS[kind])
        _draw_boxes(
            axes,
            x[is_drawn],
            high - low,
            width * BOX_SHARE,
            kind,
            edge,
            to_rgba(style.colour, FILL_ALPHAS[kind]),
            style.hatch or None,
            bottom=low,
            transform=transform,
            zorder=2,
        )


def _draw_boxes(
    axes: Axes,
    x: np.ndarray,
    heights: np.ndarray,
    width: float,
    label: str,
    edge: Any,
    fill: Any,
    hatch: str | None,
    **place: Any,
) -> None:
    """Draw boxes with an edge, and hatching, if any, over them."""
    # a value without a range is a stroke, which a thin line would hide
    edges = np.where(heights > 0, 1.0, EXACT_LINE)
    axes.bar(x, heights, width, label=label, linewidth=edges, edgecolor=edge, color=fill, **place)
    if hatch is not None:
        style: dict[str, Any] = {"linewidth": 0, "edgecolor": edge, "color": "none"}
        axes.bar(x, heights, width, label="hatch", hatch=hatch, **style, **place)


def draw_brackets(
    axes: Axes,
    x: np.ndarray,
    bands: pd.DataFrame,
    style: SeriesStyle,
    transform: Transform,
    width: float,
) -> None:
    """Draw open ranges as vertical brackets; without a head if they extend beyond the y axis."""
    bottom, top = axes.get_ylim()
    for kind in (TEXT, WITH_ASSUMPTIONS):
        is_drawn = ((bands["kind"] == kind) & bands["open"]).to_numpy(dtype=bool)
        if not is_drawn.any():
            continue
        at, half, gap = (
            x[is_drawn],
            np.full(is_drawn.sum(), width * BOX_SHARE / 2),
            np.full(is_drawn.sum(), np.nan),
        )
        low, high = (bands[end].to_numpy(dtype=float)[is_drawn] for end in ("low", "high"))
        foot, end = low.clip(bottom, top), high.clip(bottom, top)
        head = np.where(high > top, np.nan, end)
        axes.plot(
            np.stack([at - half, at + half, at, at, at - half, at + half, gap], axis=1).ravel(),
            np.stack([foot, foot, foot, end, head, head, gap], axis=1).ravel(),
            color=to_rgba(style.colour, EDGE_ALPHAS[kind]),
            linewidth=1,
            label=kind,
            transform=transform,
            zorder=2,
        )


def draw_arrows(
    axes: Axes, x: np.ndarray, bands: pd.DataFrame, colour: str, transform: Transform
) -> None:
    """Draw arrows at the top of the axis: filled for a range without an upper limit, open for one
    clipped by the axis.
    """
    top = axes.get_ylim()[1]
    high = bands["high"].to_numpy(dtype=float)
    for is_drawn, fill in (
        (np.isinf(high), colour),
        (np.isfinite(high) & (high > top), SURFACE_COLOUR),
    ):
        if is_drawn.any():  # the layout includes even an empty artist that is not clipped
            axes.plot(
                np.unique(x[is_drawn]),
                np.full(len(np.unique(x[is_drawn])), top),
                marker=6,
                markersize=7,
                color=colour,
                markerfacecolor=fill,
                linestyle="none",
                clip_on=False,
                zorder=5,
                transform=transform,
            )


def draw_bars(
    axes: Axes,
    x: np.ndarray,
    values: np.ndarray,
    style: SeriesStyle,
    transform: Transform,
    width: float,
    *,
    solid: bool,
) -> None:
    """Draw bars from 0: solid for measurements, thin and pale for printed numbers."""
    place: dict[str, Any] = {"transform": transform, "zorder": 1.9}
    if solid:
        fill = to_rgba(style.colour, COLUMN_ALPHA)
        width *= BOX_SHARE
        _draw_boxes(axes, x, values, width, "column", style.colour, fill, style.hatch, **place)
    else:
        fill = to_rgba(style.colour, 0.3)
        axes.bar(x, values, 0.2 * width, **place, label="column", linewidth=0, color=fill)


def draw_intervals(
    axes: Axes, x: np.ndarray, marks: pd.DataFrame, colour: str, transform: Transform
) -> None:
    """Draw intervals of means as error bars."""
    value, low, high = (marks[name].to_numpy(dtype=float) for name in ("value", "low", "high"))
    is_finite = np.isfinite(low) & np.isfinite(high)
    if is_finite.any():
        axes.errorbar(
            x[is_finite],
            value[is_finite],
            yerr=np.array([value - low, high - value])[:, is_finite],
            fmt="none",
            ecolor=colour,
            elinewidth=1.3,
            capsize=3,
            zorder=4,
            transform=transform,
        )


def join_unit(
    axes: Axes, x: np.ndarray, values: np.ndarray, colour: str, transform: Transform
) -> None:
    """Join the values of one unit by a thin line in the colour of its series."""
    pale = to_rgba(colour, UNIT_ALPHA)
    axes.plot(x, values, color=pale, linewidth=UNIT_LINE, zorder=2, transform=transform)


def draw_marks(
    axes: Axes,
    x: np.ndarray,
    values: np.ndarray,
    kind: str,
    style: SeriesStyle,
    transform: Transform,
    *,
    area: int = MEAN_AREA,
) -> None:
    """Draw the marks of one layer and series."""
    options: dict[str, Any] = {
        "x": x,
        "y": values,
        "ax": axes,
        "s": area,
        "transform": transform,
        "legend": False,
        "clip_on": False,
    }
    if kind == CROSS:  # never the series' own marker
        sns.scatterplot(**options, marker="x", color=style.colour, linewidth=2, zorder=5)
    elif kind in (SOLID, OWN_DATA):
        sns.scatterplot(
            **options, marker=style.marker, color=style.colour, edgecolor=style.colour, zorder=5
        )
    else:
        options["s"] = min(area, PRINTED_AREA)
        half = MarkerStyle(style.marker, fillstyle="bottom")
        edge: dict[str, Any] = {
            "marker": style.marker,
            "color": SURFACE_COLOUR,
            "edgecolor": style.colour,
        }
        sns.scatterplot(**options, **edge, linewidth=1.5, zorder=4.5)
        sns.scatterplot(**options, marker=half, color=style.colour, linewidth=0, zorder=4.8)


def name_end(axes: Axes, name: str, x: float, y: float, gap: float) -> None:
    """Name a series to the right of its last level, `gap` points away."""
    place: dict[str, Any] = {"textcoords": "offset points", "ha": "left", "va": "center"}
    axes.annotate(printable(name), (x, y), (gap, 0), annotation_clip=False, **place)


LINE_HEIGHT = FONT_SIZE * 1.6  # height of a line of the legend
HANDLE_WIDTH = 44  # width of a legend handle with the space around it
MAX_COLUMNS = 4  # columns of the legend
LABEL_CHARACTERS = 32  # characters of a legend line, so that two columns fit
RANGE_LABEL = "range, our reading"
ASSUMED_LABEL = "range, with our assumptions"
WIDE_RANGE_LABEL = "range wider than a factor of 2"
HATCHED_SHARE = 0.06
"""Of the largest number of a series: a box that is no higher has no room for its hatching."""
SEEN_SHARE = 0.006
"""Of the largest number of a panel: a range that is no higher is a line, or not seen at all."""
HIDDEN_SHARE = 0.035
"""Of the length of an axis: an interval that is no longer is within its mark."""
_BRACKET = [
    (-0.4, -1),
    (0.4, -1),
    (0, -1),
    (0, 1),
    (-0.4, 1),
    (0.4, 1),
    (0, 1),
    (0, -1),
]  # a marker must be a closed path
UNIT_LINE, UNIT_ALPHA = 0.8, 0.6  # of a line that joins the values of one unit; width in points
_RUN_LABELS = {SOLID: "measured", CROSS: "made up", OWN_DATA: "own data"}

LegendEntry = tuple[Any, str]
"""An artist, a tuple of artists drawn over each other, or a `Row`, and its text."""


class Row(tuple[Any, ...]):
    """Legend handles beside each other."""


MAX_KEYS = 3  # handles in a `Row`
_NO_MARK = Line2D([], [], linestyle="none")


def draw_legend(
    figure: Figure, series: Sequence[LegendEntry], layers: Sequence[LegendEntry]
) -> None:
    """Draw the legend below the axes and increase the figure's height accordingly. An only series and
    an only layer have one key.
    """
    if len(series) == len(layers) == 1:
        (drawn, name), (handle, words) = *series, *layers
        series, layers = [(handle if isinstance(drawn, Line2D) else drawn, f"{name}: {words}")], []
    entries = [
        (handle, wrap_text(printable(text), LABEL_CHARACTERS))
        for handle, text in [*series, *layers]
    ]
    if not entries:
        return
    widest = (
        max(len(line) for _, text in entries for line in text.split("\n")) * CHARACTER_WIDTH
        + HANDLE_WIDTH
    )
    columns = max(1, min(MAX_COLUMNS, len(entries), int(72 * figure.get_figwidth() // widest)))
    rows = [entries[k : k + columns] for k in range(0, len(entries), columns)]
    by_column = [row[k] for k in range(columns) for row in rows if k < len(row)]  # column by column
    lines = sum(max(text.count("\n") + 1 for _, text in row) for row in rows)
    figure.set_figheight(figure.get_figheight() + LINE_HEIGHT * lines / 72)
    figure.legend(
        [handle for handle, _ in by_column],
        [text for _, text in by_column],
        loc="outside lower center",
        ncols=columns,
        handlelength=2.2,
        columnspacing=1.4,
        labelspacing=0.45,
        borderaxespad=0.2,
        numpoints=1,
        handler_map={Row: HandlerTuple(ndivide=None, pad=0.2)},
    )


def draw_panel_legend(axes: Axes, series: Sequence[LegendEntry]) -> None:
    """Draw the legend of one panel above its title."""
    lines = axes.child_axes[0].get_xlabel().count("\n")
    axes.legend(
        [handle for handle, _ in series],
        [printable(text) for _, text in series],
        loc="lower left",
        bbox_to_anchor=(0, 1.1 + 0.12 * lines),
    )


def series_entry(
    rows: pd.DataFrame, label: Any, style: SeriesStyle, *, bars: bool, labelled: bool = False
) -> LegendEntry:
    """Legend entry of a series by its `rows`: its marker and, with several levels, its line; a box for
    bars that are more than printed numbers, or if ranges have no mark. `labelled`: the label of a
    series with printed numbers alone says so.
    """
    levels, marked = set(rows["x"]), rows[rows["layer"] != RANGE]
    printed = set(marked["kind"]) == {PRINTED}
    if (bars and not printed) or not levels <= set(marked["x"]):
        # no hatching where the drawn boxes are too low to show it
        tall = (rows["high"] - rows["low"]).astype(float) > HATCHED_SHARE * rows["high"].max()
        hatch = style.hatch if len(marked) or tall.any() else ""
        boxes = set(rows["kind"][rows["boxed"].astype(bool)])
        fill = range_handle(next((k for k in FILL_ALPHAS if k in boxes), ""), style.colour)
        edge = fill.get_edgecolor()
        over = Patch(facecolor="none", edgecolor=edge, hatch=hatch, linewidth=0)
        return (fill, over) if hatch else fill, label
    dash: Any = style.dash if len(levels) > 1 and not bars else "none"
    measured = set(rows["kind"][rows["layer"] != RUN]) <= {SOLID, OWN_DATA}
    handle = Line2D(
        [],
        [],
        color=style.colour,
        linestyle=dash,
        marker=style.marker,
        markerfacecolor=style.colour if measured or printed else SURFACE_COLOUR,
        markeredgewidth=1.5,
        markersize=6.5,
    )
    if printed:
        _half_filled(handle)
    return handle, f"{label}: printed" if labelled and set(rows["kind"]) == {PRINTED} else label


def layer_entries(
    rows: pd.DataFrame,
    *,
    bars: bool,
    curves: bool,
    level: float,
    unit: str = "",
    styles: Mapping[str, SeriesStyle],
    panels: Mapping[Any, Axes],
    labelled: bool = False,
) -> list[LegendEntry]:
    """Legend entries of the layers in a figure; a reader's own runs alone need none, nor do measured means
    without an interval. A measured mean has its interval in the legend, and no mark on `bars`, unless
    there are ranges, beside which it is a mark. `unit` names what joined runs are the mean of; `styles`
    are those of the series: a mark has the shape that is drawn, of several the first. `panels` are the
    axes by panel, with their limits. `labelled`: the labels of series tell which are printed.
    """
    mark_rows, runs = (rows[rows["layer"] == layer] for layer in (MARK, RUN))
    bands = rows[rows["boxed"].astype(bool)]
    kinds, percent = set(mark_rows["kind"]), f"{pretty(100 * level)} %"
    explained = not set(rows["kind"]) <= {OWN_DATA}
    entries: list[LegendEntry] = []
    seen = (bands["high"] - bands["low"]).astype(float) > SEEN_SHARE * largest_end(rows)[
        bands.index
    ]
    of_boxes = set(bands["kind"][seen & ~bands["open"].astype(bool)])
    of_text = (rows["kind"] == TEXT).any()
    # what holds for the marks of all series has no mark of its own
    for_all = len(styles) > 1 and len({*mark_rows["kind"], *bands["kind"]}) == 1
    for kind, words in (
        (TEXT, RANGE_LABEL),
        (WITH_ASSUMPTIONS, ASSUMED_LABEL if of_text else "range"),
    ):
        if kind in of_boxes:
            of_kind = bands[seen & (bands["kind"] == kind)]
            entries.append(
                (_row(range_handle(kind, s.colour) for s in _styles_of(of_kind, styles)), words)
            )
    if bands["open"].any():
        entries.append((bracket_handle(), WIDE_RANGE_LABEL))
    if np.isinf(bands["high"].astype(float)).any():
        entries.append((_mark_handle("^", INK_COLOUR), "no upper limit"))
    if PRINTED in kinds and not labelled:
        printed = mark_rows[mark_rows["kind"] == PRINTED]
        half = _row(
            _half_filled(_mark_handle(s.marker, s.colour)) for s in _styles_of(printed, styles)
        )
        entries.append((_NO_MARK, "all values printed") if for_all else (half, "printed"))
    for kind, words, interval in (
        (SOLID, "measured", f", {percent} interval"),
        (OWN_DATA, "own data", ""),
    ):
        if kind in kinds and explained:
            limits = (
                mark_rows.loc[mark_rows["kind"] == kind, ["low", "high"]].notna().all(axis=1).any()
            )
            share = SEEN_SHARE if bars else HIDDEN_SHARE
            hidden = bool(interval and limits) and _are_hidden(mark_rows, kind, panels, share)
            bracket = [bracket_handle()] if interval and limits and not hidden else []
            ranges = of_boxes or bands["open"].any()
            told = ranges or kind == OWN_DATA or (not bars and (limits or PRINTED in kinds))
            of_kind = mark_rows[mark_rows["kind"] == kind]
            drawn = _row(
                range_handle(kind, s.colour) if bars else _mark_handle(s.marker, s.colour)
                for s in _styles_of(of_kind, styles)
            )
            mark = [drawn] if told and not (for_all and bracket) else []
            handles = (*bracket, *mark)
            if handles or hidden:  # values alone need no entry
                within = (" too narrow to be seen" if bars else " within the mark") * hidden
                key = _NO_MARK if hidden and (bars or for_all) and runs.empty else handles
                entries.append((key, words + interval * bool(limits) + within))
    if CROSS in kinds:
        entries.append((_mark_handle("x", INK_COLOUR), "made-up example"))
    for kind, words in _RUN_LABELS.items():
        if explained and kind in set(runs["kind"]):
            line = UNIT_LINE if unit else 0
            single = _row(
                _mark_handle("x" if kind == CROSS else s.marker, s.colour, 4, line)
                for s in _styles_of(runs[runs["kind"] == kind], styles)
            )
            name = f"one {unit}" if unit else "single runs"
            entries.append((single, f"{name}, {words}"))
    if curves:
        entries.append((Line2D([], [], color=INK_COLOUR), f"fitted, dots: {percent} interval"))
    return entries


def _are_hidden(rows: pd.DataFrame, kind: str, panels: Mapping[Any, Axes], share: float) -> bool:
    """Whether all intervals of a kind are no longer than a share of their axis, linear or logarithmic."""
    for panel, part in rows[rows["kind"] == kind].groupby("panel", sort=False):
        axes = panels[panel]
        scale = axes.yaxis.get_transform().transform
        bottom, top = scale(np.array(axes.get_ylim()))
        ends = part[["low", "high"]].astype(float).dropna()
        low, high = (scale(ends[end].to_numpy()) for end in ends)
        if (high - low > share * (top - bottom)).any():
            return False
    return True


def is_seen(rows: pd.DataFrame) -> pd.Series:
    """Whether each row is more than a range at 0."""
    return (rows["layer"] != RANGE) | ~(
        rows["high"].astype(float) <= SEEN_SHARE * largest_end(rows)
    )


def largest_end(rows: pd.DataFrame) -> pd.Series:
    """Largest finite number of the panel of each row."""
    ends = rows[["value", "high"]].astype(float)
    return ends.where(np.isfinite(ends)).max(axis=1).groupby(rows["panel"]).transform("max")


def range_handle(kind: str, colour: Any) -> Patch:
    """Legend handle of a kind of ranges, or of columns of measured values."""
    fill, edge = FILL_ALPHAS.get(kind, COLUMN_ALPHA), EDGE_ALPHAS.get(kind, 1.0)
    return Patch(facecolor=to_rgba(colour, fill), edgecolor=to_rgba(colour, edge), linewidth=1)


def bracket_handle() -> Line2D:
    """Legend handle of an open range."""
    return _mark_handle(_BRACKET, INK_COLOUR, 13)


def _styles_of(rows: pd.DataFrame, styles: Mapping[str, SeriesStyle]) -> list[SeriesStyle]:
    """The styles of the series in `rows`, of many the first ones."""
    names = set(rows["series"])
    return [style for name, style in styles.items() if name in names][:MAX_KEYS]


def _row(handles: Iterable[Any]) -> Any:
    row = Row(handles)
    return row if len(row) > 1 else row[0]


def _half_filled(handle: Line2D) -> Line2D:
    handle.set(fillstyle="bottom", markerfacecoloralt=SURFACE_COLOUR)
    return handle


def _mark_handle(marker: Any, colour: str, size: float = 7, line: float = 0) -> Line2D:
    """Legend handle of a mark, with a line of the width `line`."""
    return Line2D(
        [],
        [],
        linestyle="-" if line else "none",
        linewidth=line,
        marker=marker,
        color=colour,
        markersize=size,
        markeredgewidth=1.4,
    )
