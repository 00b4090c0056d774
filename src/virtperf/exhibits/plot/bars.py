"""Grouped bars: an outline up to what was made from a text, the band on it, a solid bar for what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from virtperf.exhibits.plot import axis, legend, marks
from virtperf.exhibits.plot.layers import Layers, gathered
from virtperf.exhibits.plot.theme import INK_COLOUR, Look, look, panels, theme

WIDEST = 0.3  # of a bar, where 1 is the distance between two groups
GROUP = 0.84  # of a group's bars together
SOLID = 0.4  # of a bar's width


def bars(
    points: pd.DataFrame | None = None, *, x: str, y: str = "value", hue: str | None = None, row: str | None = None,
    runs: pd.DataFrame | None = None, means: pd.DataFrame | None = None, printed: pd.DataFrame | None = None,
    xlabel: str | None = None, ylabel: str | None = None, labels: Mapping[str, str] | None = None, level: float = 0.95,
) -> Figure:  # fmt: skip
    """Draw grouped bars, one group a level of `x`; the arguments are those of `lines`.

    A group holds only the bars that it has. Without `points` and `means`, a bar is the mean of its runs.
    """
    if means is None and runs is not None:
        means = _means(runs, [c for c in (row, hue, x, "provenance") if c is not None and c in runs], y)
    layers = gathered(points, means, printed, runs, x=x, y=y, hue=hue, row=row, labels=labels, xlabel=xlabel,
                      ylabel=ylabel)  # fmt: skip
    levels = axis.levels_of(layers.given, x, layers.words, numeric=False)
    with theme():
        figure, axes = panels(len(layers.rows))
        for panel, name in zip(axes, layers.rows, strict=True):
            _panel(panel, layers.part(name), levels)
            levels.draw(panel, layers.words.label(x), labelled=panel is axes[-1])
        entries = [
            legend.series_entry(str(s), look(k), bars=True, solid=layers.is_solid(s))
            for k, s in enumerate(layers.series)
        ]
        extra = legend.layer_entries(layers, bars=True, curves=False, level=level)
        legend.legend(figure, entries if hue is not None else [], extra if layers.needs_words else [])
    return figure


def _means(runs: pd.DataFrame, keys: list[str], y: str) -> pd.DataFrame:
    """The mean of the runs of each bar."""
    if y not in runs or not keys:
        return runs  # what is missing is told with the names of the columns
    found = runs.groupby(keys, sort=False)[y].mean().reset_index()
    found.attrs = dict(runs.attrs)
    return found


def _panel(axes: Axes, layers: Layers, levels: axis.Levels) -> None:
    low, high = layers.bounds
    values = axis.finite(layers.marks["value"], layers.marks["high"], layers.runs["value"])
    top = axis.top_of(values, axis.finite(layers.bands["high"], layers.bands["high_text"]), high)
    axis.y_axis(axes, axis.bottom_of(values, top, low), top, layers.label)
    for level, place in levels.where.items():
        group = [s for s in layers.series if level in layers.levels(s)]
        width = min(WIDEST, GROUP / max(len(group), 1))
        for k, label in enumerate(group):
            at = place + (k - (len(group) - 1) / 2) * width * 1.12
            _bar(axes, layers.only(label).at(level), at, width, look(layers.series.index(label)))


def _bar(axes: Axes, layers: Layers, x: float, width: float, style: Look) -> None:
    drawn = {str(kind): rows for kind, rows in layers.marks.groupby("mark")}
    transform, place = axes.transData, np.array([x])
    outlined = marks.HOLLOW if marks.HOLLOW in drawn else marks.PRINTED
    if outlined in drawn:
        value = drawn[outlined]["value"]
        if outlined == marks.PRINTED:
            _column(axes, x, value, width, color=style.colour, alpha=0.25, linewidth=0, zorder=2.5)
        _column(axes, x, value, width, facecolor="none", edgecolor=style.colour, hatch=style.hatch, linewidth=1.5,
                zorder=3)  # fmt: skip
    if len(layers.bands):
        (low,), (high,) = marks.inside(axes, layers.bands)
        band = Rectangle((x - width / 2, low), width, high - low, color=style.colour, alpha=marks.BAND_ALPHA,
                         linewidth=0, zorder=2, label="band")  # fmt: skip
        axes.add_patch(band)
        marks.arrows(axes, place, layers.bands, style.colour, transform)
        marks.hairlines(axes, place + 0.38 * width, layers.bands, style.colour, transform)
    for kind in (marks.SOLID, marks.OWN):
        if kind in drawn:
            share = SOLID if outlined in drawn or len(layers.bands) else 1
            _column(axes, x, drawn[kind]["value"], width * share, color=style.colour, linewidth=0, zorder=3.5)
    for kind in (marks.PRINTED, *marks.WITH_INTERVAL):
        if kind in drawn:
            where = place + (0.2 * width if kind == marks.CROSS else 0)
            if kind in marks.WITH_INTERVAL:
                marks.intervals(axes, where, drawn[kind], style.colour, transform)
            if kind not in (marks.SOLID, marks.OWN) or outlined in drawn:  # a bar alone needs no mark
                marks.scatter(axes, where, drawn[kind]["value"].to_numpy(dtype=float), kind, style, transform)
    runs = layers.runs["value"].to_numpy(dtype=float)
    spread = x + np.linspace(-0.25, 0.25, len(runs)) * width if len(runs) > 1 else np.full(len(runs), x)
    for mark, rows in layers.runs.groupby("mark", sort=False):
        there = (layers.runs["mark"] == mark).to_numpy()
        values = rows["value"].to_numpy(dtype=float)
        ink = replace(style, colour=INK_COLOUR)  # on a bar of the series' own colour
        marks.scatter(axes, spread[there], values, str(mark), ink, transform, area=marks.RUN)


def _column(axes: Axes, x: float, value: pd.Series, width: float, **style: object) -> None:
    """One bar in its place."""
    sns.barplot(
        x=[x], y=value.to_numpy(dtype=float)[:1], ax=axes, width=width, native_scale=True, errorbar=None,
        saturation=1, legend=False, **style,
    )  # fmt: skip
