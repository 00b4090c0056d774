"""Time series figures: unsmoothed samples, and levels stated by a text."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MultipleLocator

from virtperf.core.schema import require_columns
from virtperf.report.axis_words import AxisWords
from virtperf.report.plot import axis, marks
from virtperf.report.plot.long import TEXT, WITH_ASSUMPTIONS, range_rows
from virtperf.report.plot.theme import INK_COLOUR, MUTED_COLOUR, create_panels, series_styles, theme
from virtperf.report.wording import clock

TIMELINE_ALPHAS = {TEXT: 0.12, WITH_ASSUMPTIONS: 0.25}
DASHES = (0, (3, 3))
MAX_TICKS = 8
TICK_STEPS_S = (1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600)
"""Seconds between ticks: the smallest step with at most `MAX_TICKS` ticks."""


def timeline(
    frame: pd.DataFrame,
    *,
    x: str = "t_s",
    y: str = "value",
    hue: str | None = "series",
    row: str | None = "unit",
    points: pd.DataFrame | None = None,
    xlabel: str = "Time since the start, min:s",
    ylabel: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> Figure:
    """Draw samples over time, one panel for each value of `row`; nothing is smoothed.

    `frame`: x in seconds and y; optionally hue and row, which count as None if the frame has no
        series and unit.
    `points`: levels stated by a text, drawn across the first panel: series, low, high, perhaps
        printed.
    """
    require_columns(frame, [x, y, *(c for c in (hue, row) if c not in (None, "series", "unit"))])
    hue, row = (c if c is not None and c in frame.columns else None for c in (hue, row))
    metadata = AxisWords.of([frame], labels or {})
    rows = list(dict.fromkeys(frame[row])) if row else [None]
    series = list(dict.fromkeys(frame[hue])) if hue else [None]
    styles = series_styles(series, metadata["colours"])
    bands = range_rows(pd.DataFrame() if points is None else points)
    printed = (
        [] if points is None or "printed" not in points else axis.finite_values(points["printed"])
    )
    with theme():
        figure, axes = create_panels(max(len(rows), 1))
        end = float(frame[x].max()) if len(frame) else 60.0
        for panel, name in zip(axes, rows or [None], strict=True):
            part = frame[frame[row] == name] if row else frame
            stated = points if points is not None and panel is axes[0] else pd.DataFrame()
            top = 1.08 * (
                max(
                    axis.finite_values(part[y], stated[stated.columns.intersection(_ENDS)]),
                    default=1.0,
                )
                or 1.0
            )
            names = list(dict.fromkeys(part[hue])) if hue else []
            unit = f"{names[0]}, {name}" if len(names) == 1 else str(name)
            axis.set_y_axis(
                panel,
                axis.lower_limit(part[y], top),
                top,
                ylabel or (unit if row else metadata.label(y)),
            )
            for label, style in styles.items():
                line = part[part[hue] == label] if hue else part
                if len(line):
                    sns.lineplot(
                        x=line[x].to_numpy(),
                        y=line[y].to_numpy(),
                        ax=panel,
                        color=style.colour,
                        zorder=3,
                        linestyle=style.dash,
                        estimator=None,
                        legend=False,
                    )
            panel.set_xlim(0, end * 1.01)
            panel.xaxis.set_major_formatter(lambda value, _: clock(value))
            panel.xaxis.set_major_locator(
                MultipleLocator(next((s for s in TICK_STEPS_S if end <= MAX_TICKS * s), 3600))
            )
            panel.grid(visible=False, axis="x")
            panel.set_xlabel(xlabel if panel is axes[-1] else "", labelpad=6)
            panel.tick_params(labelbottom=panel is axes[-1])
        _draw_levels(axes[0], bands, printed, end)
        entries = [
            (Line2D([], [], color=o.colour, linestyle=o.dash), str(label))
            for label, o in styles.items()
        ]
        marks.draw_legend(
            figure, entries if hue else [], _legend_entries(set(bands["kind"]), printed)
        )
    return figure


_ENDS = ["low", "high", "low_text", "high_text", "printed"]


def _draw_levels(axes: Axes, bands: pd.DataFrame, printed: list[float], end: float) -> None:
    """Draw the levels stated by a text as bands over the whole time."""
    bottom, top = axes.get_ylim()
    for kind, low, high in zip(bands["kind"], bands["low"], bands["high"], strict=True):
        axes.fill_between(
            [0, end],
            max(low, bottom),
            min(high, top),
            color=MUTED_COLOUR,
            alpha=TIMELINE_ALPHAS[kind],
            linewidth=0,
            zorder=1,
        )
    for value in printed:
        axes.axhline(value, color=INK_COLOUR, linewidth=0.8, linestyle=DASHES, zorder=2)


def _legend_entries(kinds: set[str], printed: list[float]) -> list[marks.LegendEntry]:
    labels = {
        TEXT: "text alone",
        WITH_ASSUMPTIONS: "with our assumptions" if TEXT in kinds else "range",
    }
    entries: list[marks.LegendEntry] = [
        (Patch(facecolor=MUTED_COLOUR, alpha=TIMELINE_ALPHAS[k]), labels[k])
        for k in labels
        if k in kinds
    ]
    if printed:
        entries.append(
            (Line2D([], [], color=INK_COLOUR, linewidth=0.8, linestyle=DASHES), "printed")
        )
    return entries
