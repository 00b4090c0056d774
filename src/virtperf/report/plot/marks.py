"""Layers of a figure and its legend: ranges allowed by a text, marks by provenance, and the frames
of a caller combined for them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.markers import MarkerStyle
from matplotlib.patches import Patch
from matplotlib.transforms import Transform

from rawperf.core.errors import RawperfError, did_you_mean
from virtperf.core.provenance import Provenance
from virtperf.report.plot.axis import AxisMetadata
from virtperf.report.plot.theme import (
    CHARACTER_WIDTH,
    FIGURE_WIDTH,
    FONT_SIZE,
    INK_COLOUR,
    SURFACE_COLOUR,
    SeriesStyle,
    series_style,
)
from virtperf.report.range_words import WIDE
from virtperf.report.wording import pretty, printable, wrap_text

PRINTED, SOLID, CROSS, OWN_DATA = "printed", "solid", "cross", "own"
_MARK_OF_PROVENANCE = {
    Provenance.PUBLISHED: PRINTED,
    Provenance.MEASURED: SOLID,
    Provenance.EXAMPLE: CROSS,
}
WITH_INTERVAL = (SOLID, CROSS, OWN_DATA)  # the uncertainty of a printed number is its range
TEXT, WITH_ASSUMPTIONS = "text", "given"  # kinds of ranges: by the text alone, with assumptions
WIDTH_SHARES = {
    TEXT: 0.8,
    WITH_ASSUMPTIONS: 0.45,
}  # widths; the inner box is narrower, to show both
FILL_ALPHAS = {TEXT: 0.2, WITH_ASSUMPTIONS: 0.6}
EDGE_ALPHAS = {TEXT: 0.5, WITH_ASSUMPTIONS: 1.0}
LINK_ALPHA = 0.07
MEAN_AREA, PRINTED_AREA, RUN_AREA = (
    46,
    32,
    20,
)  # areas of marks, in square points; small over printed ranges
_RANGE_COLUMNS = {
    TEXT: ("low_text", "high_text", "pieces_text"),
    WITH_ASSUMPTIONS: ("low", "high", "pieces"),
}


def combine_marks(
    keys: Sequence[str],
    points: pd.DataFrame | None,
    means: pd.DataFrame | None,
    printed: pd.DataFrame | None,
) -> pd.DataFrame:
    """Combine frames to one row a mark: `keys` (columns that identify a point), mark, value, low,
    high.

    The mark of a mean follows from its column `provenance`; without that column it is a reader's
    own data, also solid.
    """
    parts = []
    if means is not None:
        kinds = (
            means["provenance"].map(_MARK_OF_PROVENANCE)
            if "provenance" in means
            else pd.Series(OWN_DATA, index=means.index)
        )
        parts.append(means.assign(mark=kinds.fillna(OWN_DATA)))
    if printed is not None:
        parts.append(printed.assign(mark=PRINTED))
    elif points is not None and "printed" in points:
        parts.append(
            points.assign(value=points["printed"], low=math.nan, high=math.nan, mark=PRINTED)
        )
    columns = [*keys, "mark", "value", "low", "high"]
    frames = [part.reindex(columns=columns).dropna(subset=["value"]) for part in parts]
    frames = [part.reset_index(drop=True) for part in frames if len(part)]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)


def expand_ranges(keys: Sequence[str], points: pd.DataFrame | None) -> pd.DataFrame:
    """Expand ranges to one row a piece: `keys` (columns that identify a point), kind (`TEXT` or
    `WITH_ASSUMPTIONS`), low, high.

    If both kinds are equal at every point, only `TEXT` is kept; without the columns of the text
    alone there is only the other kind.
    """
    frame = pd.DataFrame() if points is None else points
    kinds = [kind for kind, names in _RANGE_COLUMNS.items() if {*names[:2]} <= {*frame.columns}]
    rows: list[dict[str, Any]] = []
    for kind in kinds:
        low, high, pieces = _RANGE_COLUMNS[kind]
        for row in frame.to_dict("records"):
            ends = [row[low], row[high]] if not len(row.get(pieces, ())) else row[pieces]
            if not math.isnan(ends[0]):
                at = {name: row.get(name) for name in keys}
                rows += [
                    at | {"kind": kind, "low": a, "high": b}
                    for a, b in zip(ends[::2], ends[1::2], strict=True)
                ]
    bands = pd.DataFrame(rows, columns=[*keys, "kind", "low", "high"])
    text, ours = (
        bands[bands["kind"] == kind].drop(columns="kind").reset_index(drop=True)
        for kind in (TEXT, WITH_ASSUMPTIONS)
    )
    return bands[bands["kind"] == TEXT] if len(kinds) == 2 and text.equals(ours) else bands


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

    A range wider than a factor of `WIDE` is a bracket: a tall box would look like data.
    """
    bottom, top = axes.get_ylim()
    draw_brackets(axes, x, bands, style, transform, width)
    for kind, share in WIDTH_SHARES.items():
        is_drawn = (bands["kind"] == kind).to_numpy() & ~is_wide(bands)
        if not is_drawn.any():
            continue
        low, high = (
            bands[end].to_numpy(dtype=float)[is_drawn].clip(bottom, top) for end in ("low", "high")
        )
        style_args: dict[str, Any] = {
            "bottom": low,
            "transform": transform,
            "zorder": 2 if kind == TEXT else 2.2,
        }
        edge = to_rgba(style.colour, EDGE_ALPHAS[kind])
        axes.bar(
            x[is_drawn],
            high - low,
            width * share,
            **style_args,
            label=kind,
            linewidth=1,
            edgecolor=edge,
            color=to_rgba(style.colour, FILL_ALPHAS[kind]),
        )
        if style.hatch and kind == TEXT:  # hatching within a pale box would be as pale as the box
            axes.bar(
                x[is_drawn],
                high - low,
                width * share,
                **style_args,
                label="hatch",
                linewidth=0,
                edgecolor=edge,
                color="none",
                hatch=style.hatch,
            )


def is_wide(bands: pd.DataFrame) -> np.ndarray:
    """Mask of non-negative ranges wider than a factor of `WIDE`; shape (n,)."""
    return ((bands["low"] >= 0) & (bands["high"] > WIDE * bands["low"])).to_numpy(dtype=bool)


def draw_brackets(
    axes: Axes,
    x: np.ndarray,
    bands: pd.DataFrame,
    style: SeriesStyle,
    transform: Transform,
    width: float,
) -> None:
    """Draw wide ranges as vertical brackets; without a head if they extend beyond the y axis."""
    bottom, top = axes.get_ylim()
    for kind, share in WIDTH_SHARES.items():
        is_drawn = (bands["kind"] == kind).to_numpy() & is_wide(bands)
        if not is_drawn.any():
            continue
        at, half, gap = (
            x[is_drawn],
            np.full(is_drawn.sum(), width * share / 2),
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
    style_args: dict[str, Any] = {"transform": transform, "zorder": 1.9}
    if not solid:
        axes.bar(
            x,
            values,
            0.2 * width,
            **style_args,
            label="column",
            linewidth=0,
            color=to_rgba(style.colour, 0.3),
        )
        return
    axes.bar(
        x,
        values,
        WIDTH_SHARES[TEXT] * width,
        **style_args,
        label="column",
        linewidth=1,
        edgecolor=style.colour,
        color=to_rgba(style.colour, 0.55),
    )
    axes.bar(
        x,
        values,
        WIDTH_SHARES[TEXT] * width,
        **style_args,
        label="hatch",
        linewidth=0,
        edgecolor=style.colour,
        color="none",
        hatch=style.hatch,
    )


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


QUANTITY = "quantity"  # column of the measured quantity in a study's frames
PANEL_COLUMN = "panel"  # column derived from it if quantities of one unit share a panel
UNNAMED = ""  # the only panel or series of a figure without such a column


@dataclass(frozen=True)
class Layers:
    """Layers of a figure, a panel or a series: `marks`, `bands` and single `runs` from
    `combine_marks` and `expand_ranges`.

    `rows` and `series` are panels and series in order of appearance. `explains_marks`: whether
    the legend explains marks, unnecessary for a caller's own runs. `frames`: the caller's frames,
    whose levels are on the axis even if empty.
    """

    x: str
    hue: str | None
    row: str | None
    marks: pd.DataFrame
    bands: pd.DataFrame
    runs: pd.DataFrame
    rows: tuple[Any, ...]
    series: tuple[Any, ...]
    metadata: AxisMetadata
    y: str
    ylabel: str
    explains_marks: bool
    frames: tuple[pd.DataFrame, ...]

    def style(self, label: Any) -> SeriesStyle:
        """Style of a series: its colour in the study, else by position in the figure."""
        return series_style(self.metadata.colours.get(str(label), self.series.index(label)))

    def select_panel(self, row: Any) -> Layers:
        """Layers of one panel."""
        return replace(self._select(self.row, row) if self.row else self, rows=(row,))

    def select_series(self, label: Any) -> Layers:
        """Layers of one series; `series` keeps all."""
        return self._select(self.hue, label) if self.hue else self

    def levels(self, label: Any) -> list[Any]:
        """Levels at which a series has data."""
        layers = self.select_series(label)
        return list(
            dict.fromkeys(
                v
                for frame in (layers.bands, layers.marks, layers.runs)
                for v in frame[self.x].tolist()
            )
        )

    def _select(self, column: str, value: Any) -> Layers:
        marks, bands, runs = (
            frame[frame[column] == value] for frame in (self.marks, self.bands, self.runs)
        )
        return replace(self, marks=marks, bands=bands, runs=runs)


def combine_frames(
    points: pd.DataFrame | None,
    means: pd.DataFrame | None,
    printed: pd.DataFrame | None,
    runs: pd.DataFrame | None = None,
    *,
    x: str,
    y: str,
    hue: str | None,
    row: str | None,
    labels: Mapping[str, str] | None,
    xlabel: str | None,
    ylabel: str | None,
) -> Layers:
    """Combine frames to layers; raises `RawperfError` if there is none, or one lacks a named
    column, or points lack ranges.
    """
    named_frames = {"points": points, "means": means, "printed": printed, "runs": runs}
    frames = {name: frame for name, frame in named_frames.items() if frame is not None}
    if not frames:
        raise RawperfError(
            "no data to draw", expected="one of the frames points, means, printed, runs"
        )
    metadata = AxisMetadata.of(
        frames.values(), {**(labels or {}), **({x: xlabel} if xlabel else {})}
    )
    if all(QUANTITY in frame for frame in frames.values()):
        frames = {
            n: f.assign(**{PANEL_COLUMN: f[QUANTITY].map(metadata.panel)})
            for n, f in frames.items()
        }
    panels = list(
        dict.fromkeys(
            p for f in frames.values() if PANEL_COLUMN in f for p in f[PANEL_COLUMN].tolist()
        )
    )
    if row is None and len(panels) > 1:
        row = PANEL_COLUMN  # different units share no axis
    keys = [column for column in (row, hue, x) if column is not None]
    for name, frame in frames.items():
        for column in (*keys, *(() if name in ("points", "printed") else (y,))):
            if column not in frame.columns:
                raise RawperfError(
                    f"{name} has no column {column!r}", remedy=did_you_mean(column, frame.columns)
                )
    _require_ranges(frames.get("points"))
    single_panel = str(panels[0]) if len(panels) == 1 and str(panels[0]) in metadata.labels else y
    points, means, printed, runs = (frames.get(name) for name in named_frames)
    means, runs = (
        None if frame is None else frame.assign(value=frame[y]) for frame in (means, runs)
    )
    mark_rows, bands = combine_marks(keys, points, means, printed), expand_ranges(keys, points)
    run_rows = combine_marks(keys, None, runs, None)
    only_own_data = {*mark_rows["mark"], *run_rows["mark"]} <= {OWN_DATA} and not len(bands)

    def distinct(column: str | None) -> tuple[Any, ...]:
        if column is None:
            return (UNNAMED,)
        return tuple(
            dict.fromkeys(v for frame in frames.values() for v in frame[column].tolist())
        ) or (UNNAMED,)

    return Layers(
        x,
        hue,
        row,
        mark_rows,
        bands,
        run_rows,
        distinct(row),
        distinct(hue),
        metadata,
        single_panel if y == "value" else y,
        ylabel or "",
        not only_own_data,
        tuple(frames.values()),
    )


def _require_ranges(points: pd.DataFrame | None) -> None:
    """Raise `RawperfError` for points that have neither ranges nor printed numbers."""
    if points is None or "printed" in points.columns:
        return
    if not any({*names[:2]} <= {*points.columns} for names in _RANGE_COLUMNS.values()):
        missing = [name for name in ("low", "high") if name not in points.columns]
        raise RawperfError(
            f"points has no column{'s' if len(missing) > 1 else ''} {' and '.join(map(repr, missing))}",
            expected="ranges in the columns low and high",
            found=", ".join(map(str, points.columns)),
            remedy="pass values without ranges by name: runs=frame, or means=frame",
        )


LINE_HEIGHT = FONT_SIZE * 1.6  # height of a line of the legend
HANDLE_WIDTH = 44  # width of a legend handle with the space around it
MAX_COLUMNS = 4  # columns of the legend
LABEL_CHARACTERS = 32  # characters of a legend line, so that two columns fit
WIDE_RANGE_LABEL = "range wider than a factor of 2"
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
_RUN_LABELS = {
    SOLID: (INK_COLOUR, "single runs, measured"),
    CROSS: (INK_COLOUR, "single runs, made up"),
    OWN_DATA: (INK_COLOUR, "single runs, own data"),
}

LegendEntry = tuple[Any, str]
"""An artist, or a tuple of artists drawn over each other, and its text."""


def draw_legend(
    figure: Figure, series: Sequence[LegendEntry], layers: Sequence[LegendEntry]
) -> None:
    """Draw the legend below the axes and increase the figure's height accordingly."""
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
    columns = max(1, min(MAX_COLUMNS, len(entries), int(FIGURE_WIDTH // widest)))
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


def series_entry(layers: Layers, label: Any, *, bars: bool) -> LegendEntry:
    """Legend entry of a series: its marker and, with several levels, its line; a box for bars, or
    if ranges have no mark.
    """
    style, series_layers, levels = (
        layers.style(label),
        layers.select_series(label),
        layers.levels(label),
    )
    if bars or not {*levels} <= {*series_layers.marks[layers.x], *series_layers.runs[layers.x]}:
        inner = "none" if style.hatch else to_rgba(style.colour, 0.45)
        return Patch(facecolor=inner, edgecolor=style.colour, hatch=style.hatch, linewidth=1), label
    dash: Any = style.dash if len(levels) > 1 else "none"
    measured = not len(series_layers.bands) and set(series_layers.marks["mark"]) <= {
        SOLID,
        OWN_DATA,
    }
    fill = style.colour if measured else SURFACE_COLOUR
    return Line2D(
        [],
        [],
        color=style.colour,
        linestyle=dash,
        marker=style.marker,
        markerfacecolor=fill,
        markeredgewidth=1.5,
        markersize=6.5,
    ), label


def layer_entries(layers: Layers, *, bars: bool, curves: bool, level: float) -> list[LegendEntry]:
    """Legend entries of the layers in a figure. A measured mean has its interval in the legend, and
    no mark on `bars`, unless there are ranges, beside which it is a mark.
    """
    mark_rows, bands = layers.marks, layers.bands
    kinds, percent = set(mark_rows["mark"]), f"{pretty(100 * level)} %"
    entries: list[LegendEntry] = []
    text = (bands["kind"] == TEXT).any()
    for kind, words in (
        (TEXT, "text alone"),
        (WITH_ASSUMPTIONS, "with our assumptions" if text else "range"),
    ):
        if (bands["kind"] == kind).any():
            entries.append((range_handle(INK_COLOUR, kind), words))
    if is_wide(bands).any():
        entries.append((bracket_handle(), WIDE_RANGE_LABEL))
    if np.isinf(bands["high"].astype(float)).any():
        entries.append((_mark_handle("^", INK_COLOUR), "no upper limit"))
    if PRINTED in kinds:
        half = _mark_handle("o", INK_COLOUR)
        half.set(fillstyle="bottom", markerfacecoloralt=SURFACE_COLOUR)
        entries.append((half, "printed"))
    for kind, words, interval in (
        (SOLID, "measured", f", {percent} interval"),
        (OWN_DATA, "own data", ""),
    ):
        if kind in kinds and layers.explains_marks:
            limits = (
                mark_rows.loc[mark_rows["mark"] == kind, ["low", "high"]].notna().all(axis=1).any()
            )
            bracket = [bracket_handle()] if interval and limits else []
            mark = [] if bars and bands.empty and interval else [_mark_handle("o", INK_COLOUR)]
            if handles := (*bracket, *mark):  # a bar without an interval has neither
                entries.append((handles, words + interval * bool(limits)))
    if CROSS in kinds:
        entries.append((_mark_handle("x", INK_COLOUR), "made-up example"))
    for kind, (fill, words) in _RUN_LABELS.items():
        if layers.explains_marks and kind in set(layers.runs["mark"]):
            entries.append((_mark_handle("x" if kind == CROSS else "o", fill, 4), words))
    if curves:
        entries.append((Line2D([], [], color=INK_COLOUR), f"fitted, dots: {percent} interval"))
    return entries


def range_handle(colour: str, kind: str) -> Patch:
    """Legend handle of a kind of ranges."""
    fill, edge = to_rgba(colour, FILL_ALPHAS[kind]), to_rgba(colour, EDGE_ALPHAS[kind])
    return Patch(facecolor=fill, edgecolor=edge, linewidth=1)


def bracket_handle() -> Line2D:
    """Legend handle of a wide range."""
    return _mark_handle(_BRACKET, "none", 13)


def _mark_handle(marker: Any, fill: str, size: float = 7) -> Line2D:
    return Line2D(
        [],
        [],
        linestyle="none",
        marker=marker,
        color=INK_COLOUR,
        markerfacecolor=fill,
        markersize=size,
        markeredgewidth=1.4,
    )
