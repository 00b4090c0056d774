"""Figures of distributions: empirical cumulative distributions of independent samples, with their
confidence bands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullLocator
from matplotlib.transforms import blended_transform_factory
from numpy.typing import ArrayLike

from virtperf.core.numbers import pretty
from virtperf.core.order_statistics import band_half_width, percentile
from virtperf.core.schema import require_columns
from virtperf.report.axis_words import AxisWords
from virtperf.report.plot import axis, marks
from virtperf.report.plot.theme import (
    INK_COLOUR,
    MUTED_COLOUR,
    NARROW_WIDTH,
    SURFACE_COLOUR,
    SeriesStyle,
    create_panels,
    series_styles,
    theme,
)
from virtperf.report.wording import wrap_text

MARKED_QUANTILES, MARKED_WORDS = (0.5, 0.99), "median and 99th percentile"
"""Quantiles marked on each curve, and their names in the legend."""
MAX_STEPS = 250
"""Largest number of steps of a drawn curve, its height in points; larger samples are thinned by
rank, with the first and the last kept.
"""
BAND_ALPHA = 0.18
DISTRIBUTION_HEIGHT = 300  # points of the panel
MAX_CURVES = 4
ROW_QUANTILES = (0.01, 0.25, 0.5, 0.75, 0.99)
ROW_HEIGHT, AXIS_HEIGHT = 33, 55  # points of a row with its name, and of the axis below
DISTRIBUTION_TICKS = (1, 1.5, 2, 3, 5, 7)  # of a power of ten


def distribution(
    frame: pd.DataFrame,
    *,
    level: float = 0.95,
    log: bool = False,
    xlabel: str | None = None,
    stated: Mapping[str, float] | None = None,
) -> Figure:
    """Draw the empirical cumulative distribution of the column `value`, one curve for each `series`
    if the frame has that column.

    Each curve has a band that covers the whole true distribution at `level` (Dvoretzky, Kiefer,
    Wolfowitz) if its samples are independent, and marks at `MARKED_QUANTILES`. For rows with `lower`
    and `count`, which are histogram buckets from `lower` to `value`, the marks are at the upper
    bounds and the band includes the positions within buckets. `log`: a logarithmic axis of values.
    `stated`: values by their label that are drawn as vertical lines.

    More than `MAX_CURVES` series of samples are rows of quantiles (`ROW_QUANTILES`): so many curves
    cross each other.
    """
    require_columns(frame, ["value"])
    hue = "series" if "series" in frame.columns else None
    metadata = AxisWords.of([frame], {})
    series = list(dict.fromkeys(frame[hue])) if hue else [None]
    styles = series_styles(series, metadata["colours"])
    in_rows = len(series) > MAX_CURVES and not _has_buckets(frame)
    with theme():
        height = len(series) * ROW_HEIGHT + AXIS_HEIGHT if in_rows else DISTRIBUTION_HEIGHT
        figure, (panel,) = create_panels(1, height=height, width=NARROW_WIDTH)
        if log:
            panel.set_xscale("log")
            panel.xaxis.set_major_locator(LogLocator(subs=DISTRIBUTION_TICKS))
            panel.xaxis.set_minor_locator(NullLocator())
        if in_rows:
            _draw_rows(panel, frame, styles)
        else:
            axis.set_y_axis(panel, 0, 1.02, "Cumulative share of samples, %")
            panel.yaxis.set_major_formatter(lambda share, _: pretty(100 * share, 6))
        for label, style in () if in_rows else styles.items():
            rows = (frame[frame[hue] == label] if hue else frame).sort_values(
                "value", kind="stable"
            )
            if len(rows) and _has_buckets(rows):
                _draw_bucket_curve(panel, rows, style, level, log)
            elif len(rows):
                values = rows["value"].to_numpy(float)
                _draw_curve(panel, values, style, level)
                at = [percentile(values, share) for share in MARKED_QUANTILES]
                _draw_marks(panel, at, MARKED_QUANTILES, style)
        drawn = (
            np.concatenate([np.asarray(line.get_xdata(), float) for line in panel.lines])
            if in_rows
            else frame["value"][np.isfinite(frame["value"]) & (frame["value"] > 0)]
        )
        if log and len(drawn):
            panel.set_xlim(*axis.enclosing_ticks([drawn.min(), drawn.max()], DISTRIBUTION_TICKS))
        panel.xaxis.set_major_formatter(lambda value, _: pretty(value, 6))
        panel.grid(visible=True, axis="x")
        for value in (stated or {}).values():
            panel.axvline(value, color=INK_COLOUR, linewidth=1.2, zorder=1.5)
        axis_label = xlabel or metadata.label("value")
        panel.set_xlabel(
            wrap_text(
                f"{axis_label} (logarithmic axis)" if log else axis_label,
                int((axis.width_of(panel) - axis.PANEL_MARGIN) / 7),
            ),
            labelpad=6,
        )
        panel.set_ylabel("")
        entries, layers = (
            ([], _row_layers()) if in_rows else _curve_entries(styles, _has_buckets(frame), level)
        )
        layers += [(Line2D([], [], color=INK_COLOUR, linewidth=1.2), text) for text in stated or ()]
        marks.draw_legend(figure, entries if hue else [], layers)
    return figure


def _curve_entries(
    styles: Mapping[Any, SeriesStyle], buckets: bool, level: float
) -> tuple[list[marks.LegendEntry], list[marks.LegendEntry]]:
    """Legend entries of curves, and of what they share."""
    mark: dict[str, Any] = {"markerfacecolor": SURFACE_COLOUR, "markersize": 6.5}
    entries: list[marks.LegendEntry] = [
        (
            Line2D([], [], color=style.colour, linestyle=style.dash, marker=style.marker, **mark),
            str(label),
        )
        for label, style in styles.items()
    ]
    band = Patch(facecolor=MUTED_COLOUR, alpha=BAND_ALPHA, linewidth=0)
    layers: list[marks.LegendEntry] = [(band, f"{pretty(100 * level)} % simultaneous band")]
    if not buckets:
        dot = Line2D([], [], linestyle="none", marker="o", color=INK_COLOUR, **mark)
        layers.append((dot, f"marks: {MARKED_WORDS}"))
    return entries, layers


def _draw_rows(panel: Axes, frame: pd.DataFrame, styles: Mapping[Any, SeriesStyle]) -> None:
    """Draw a row a series, the first at the top: its name with its median, above a line over the middle
    98 % of the samples, and a bar over the middle half.
    """
    panel.set_ylim(len(styles) - 0.7, -0.8)
    panel.set_yticks([])
    panel.grid(visible=False, axis="y")
    beside = blended_transform_factory(panel.transAxes, panel.transData)
    for row, (label, style) in enumerate(styles.items()):
        values = frame.loc[frame["series"] == label, "value"].to_numpy(float)
        if not len(values):
            continue
        low, first, median, third, high = (percentile(values, share) for share in ROW_QUANTILES)
        line: dict[str, Any] = {"color": style.colour, "solid_capstyle": "butt", "zorder": 3}
        panel.plot([low, high], [row, row], linewidth=1.5, **line)
        panel.plot([first, third], [row, row], linewidth=7, alpha=0.55, **line)
        panel.plot(
            [median],
            [row],
            marker="o",
            color=style.colour,
            markeredgecolor=SURFACE_COLOUR,
            zorder=4,
        )
        text = f"{label}: {pretty(median, 3)}"
        panel.text(0.01, row - 0.28, text, transform=beside, va="bottom", zorder=5)


def _row_layers() -> list[marks.LegendEntry]:
    """Legend entries of what a row is made of."""
    line: dict[str, Any] = {"color": MUTED_COLOUR, "solid_capstyle": "butt"}
    dot = Line2D(
        [], [], linestyle="none", marker="o", color=MUTED_COLOUR, markeredgecolor=SURFACE_COLOUR
    )
    return [
        (dot, "median, the number beside the name"),
        (Line2D([], [], linewidth=7, alpha=0.55, **line), "middle half of the samples"),
        (Line2D([], [], linewidth=1.5, **line), "1st to 99th percentile"),
    ]


def _has_buckets(frame: pd.DataFrame) -> bool:
    """Whether rows are histogram buckets, marked at their upper bounds."""
    return "lower" in frame and bool((frame["lower"] != frame["value"]).any())


def _draw_curve(panel: Axes, values: np.ndarray, style: SeriesStyle, level: float) -> None:
    """Draw one curve with its band, both thinned to the visible steps."""
    n = len(values)
    places = np.unique(np.linspace(0, n - 1, min(n, MAX_STEPS)).round().astype(int))
    steps, half = np.unique(values[places]), band_half_width(n, level)
    share = np.searchsorted(values, steps, side="right") / n
    _draw_band(panel, steps, share - half, share + half, style)
    before = len(panel.lines)
    sns.ecdfplot(
        x=steps,
        weights=np.diff(share, prepend=0.0),
        ax=panel,
        color=style.colour,
        linestyle=style.dash,
        linewidth=1.5,
        zorder=3,
    )
    for line in panel.lines[before:]:  # drop the first point, at minus infinity
        line.set_data(np.asarray(line.get_xdata())[1:], np.asarray(line.get_ydata())[1:])


def _draw_band(
    panel: Axes, at: np.ndarray, low: np.ndarray, high: np.ndarray, style: SeriesStyle
) -> None:
    """Draw a confidence band as a step function, clipped to [0, 1]."""
    panel.fill_between(
        at,
        np.clip(low, 0, 1),
        np.clip(high, 0, 1),
        step="post",
        color=style.colour,
        alpha=BAND_ALPHA,
        linewidth=0,
        zorder=2,
    )


def _draw_bucket_curve(
    panel: Axes, rows: pd.DataFrame, style: SeriesStyle, level: float, log: bool
) -> None:
    """Draw the curve of a histogram: a point at each upper bound, where the share is known; the
    band covers every curve consistent with the buckets.
    """
    ended = rows[np.isfinite(rows["value"])]
    n, half = rows["count"].sum(), band_half_width(int(rows["count"].sum()), level)
    begin = ended["lower"].to_numpy(float)
    if log:  # no 0 on a logarithmic axis
        begin = np.where(begin > 0, begin, ended["value"].to_numpy(float) / 2)
    ends = ended["value"].to_numpy(float)
    bounds = np.unique(np.concatenate([begin, ends]))
    counts = ended["count"].to_numpy(float)
    least = np.array([counts[ends <= at].sum() for at in bounds]) / n
    most = np.array([counts[begin <= at].sum() for at in bounds]) / n
    _draw_band(panel, bounds, least - half, most + half, style)
    panel.step(
        bounds,
        least,
        where="post",
        color=style.colour,
        linestyle=style.dash,
        linewidth=1.5,
        zorder=3,
    )
    _draw_marks(panel, ends, np.cumsum(counts) / n, style)


def _draw_marks(panel: Axes, values: ArrayLike, shares: ArrayLike, style: SeriesStyle) -> None:
    panel.plot(
        values,
        shares,
        linestyle="none",
        marker=style.marker,
        color=style.colour,
        markerfacecolor=SURFACE_COLOUR,
        markeredgewidth=1.5,
        markersize=6.5,
        zorder=4,
    )
