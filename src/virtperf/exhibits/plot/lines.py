"""Figures over one factor: bands of what a text allows, means, printed numbers, runs, fitted curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Transform, offset_copy

from virtperf.exhibits.plot import axis, curves, legend, marks
from virtperf.exhibits.plot.layers import Layers, gathered
from virtperf.exhibits.plot.theme import Look, look, panels, theme

APART = 9  # points between series that share a level
BESIDE = 9  # a measured mark stands that much to the right of the band


def lines(
    points: pd.DataFrame | None = None, *, x: str, y: str = "value", hue: str | None = None, row: str | None = None,
    runs: pd.DataFrame | None = None, means: pd.DataFrame | None = None, printed: pd.DataFrame | None = None,
    fits: Any = None, xlabel: str | None = None, ylabel: str | None = None, labels: Mapping[str, str] | None = None,
    level: float = 0.95,
) -> Figure:  # fmt: skip
    """Draw series over one variable; every argument but `x` may be left out.

    ``lines(runs=frame, x="guests", y="throughput", hue="system")`` draws anybody's own measurements.

    Parameters
    ----------
    points : DataFrame
        What a text allows, as ``LoadedStudy.points`` gives it: low, high, perhaps low_text, high_text, centre, printed.
    x, y, hue, row : str
        Columns: the axis, the values of `runs` and `means`, what is told apart by colour and mark, and what gets a
        panel of its own.
    runs, means, printed : DataFrame
        Values; means with their interval in the columns low and high. A column `provenance` chooses the mark: solid for
        measured and own data, hollow for what was made from a text, a cross for examples.
    fits : mapping of str to fit, or a fit
        Fitted curves by series: objects with ``predict(x)`` or statsmodels' ``get_prediction``.
    xlabel, ylabel : str
        Words at the axes; frames of a study bring their own.
    labels : mapping
        Words for columns and for the values of `row`.
    level : float
        Confidence level of curves, and what the legend calls the intervals of means.

    Returns
    -------
    matplotlib.figure.Figure
        One axes a panel: ``figure.axes[0].set_title("...")``. Positions on the axes are the frames' own values.
    """
    layers = gathered(points, means, printed, runs, x=x, y=y, hue=hue, row=row, labels=labels, xlabel=xlabel,
                      ylabel=ylabel)  # fmt: skip
    levels = axis.levels_of(layers.given, x, layers.words)
    fitted = curves.curves_of(fits, layers.series, {s: layers.levels(s) for s in layers.series}, x, level)
    with theme():
        figure, axes = panels(len(layers.rows))
        for panel, name in zip(axes, layers.rows, strict=True):
            _panel(panel, layers.part(name), levels, fitted)
            levels.draw(panel, layers.words.label(x), labelled=panel is axes[-1])
        entries = [
            legend.series_entry(str(label), look(k), solid=layers.is_solid(label), line=layers.several(label))
            for k, label in enumerate(layers.series) if hue is not None
        ]  # fmt: skip
        extra = legend.layer_entries(layers, bars=False, curves=bool(fitted), level=level)
        legend.legend(figure, entries, extra if layers.needs_words or fitted else [])
    return figure


def _panel(axes: Axes, layers: Layers, levels: axis.Levels, fitted: Mapping[str, pd.DataFrame]) -> None:
    shown = [label for label in layers.series if layers.has(label)]
    drawn = [fitted[label] for label in shown if label in fitted]
    low, high = layers.bounds
    fitted_values = [c["value"] for c in drawn]
    values = axis.finite(layers.marks["value"], layers.marks["high"], layers.runs["value"], *fitted_values)
    top = axis.top_of(values, axis.finite(layers.bands["high"], layers.bands["high_text"]), high)
    lowest = axis.finite(layers.marks["value"], layers.marks["low"], layers.runs["value"], layers.bands["low"],
                         layers.bands["low_text"])  # fmt: skip
    axis.y_axis(axes, axis.bottom_of(lowest, top, low, lines=True), top, layers.label)
    for k, label in enumerate(shown):
        shift = (k - (len(shown) - 1) / 2) * APART
        style = look(layers.series.index(label))
        _series(axes, layers.only(label), levels, style, shift, fitted.get(label))


def _series(
    axes: Axes, layers: Layers, levels: axis.Levels, style: Look, shift: float, curve: pd.DataFrame | None
) -> None:
    def at(frame: pd.DataFrame) -> np.ndarray:
        return np.array([levels.where[v] for v in frame[layers.x]], dtype=float)

    def beside(points: float) -> Transform:
        return offset_copy(axes.transData, fig=axes.get_figure(root=True), x=shift + points, units="points")

    bands, place = layers.bands, at(layers.bands)
    if len(bands):
        order = np.argsort(place)
        marks.link(axes, place[order], bands.iloc[order], style.colour, beside(0))
        marks.bars(axes, place, bands, style.colour, beside(0))
        marks.hairlines(axes, place, bands, style.colour, beside(0))
        marks.arrows(axes, place, bands, style.colour, beside(0))
    if curve is not None:
        curves.draw(axes, curve, style)
    else:
        joined = layers.joined()
        if len(joined) > 1:
            sns.lineplot(
                x=at(joined), y=joined["value"].to_numpy(dtype=float), ax=axes, color=style.colour,
                linestyle=style.dash, zorder=3, estimator=None, transform=beside(0), legend=False,
            )  # fmt: skip
    banded = set(bands[layers.x])
    for kind, rows in layers.marks.groupby("mark", sort=False):
        hollow = set(layers.marks.loc[layers.marks["mark"] == marks.HOLLOW, layers.x])
        # A printed number stands left of a hollow mark, a measured one right of a band; alone they stand in its place.
        near = [float(v in hollow) if kind == marks.PRINTED else float(v in banded | hollow) for v in rows[layers.x]]
        way = {marks.PRINTED: -BESIDE, marks.SOLID: BESIDE, marks.CROSS: BESIDE, marks.OWN: BESIDE}.get(str(kind), 0)
        for moved in sorted(set(near)):
            part = rows[np.array(near) == moved]
            where = beside(way * moved)
            if kind in marks.WITH_INTERVAL:
                marks.intervals(axes, at(part), part, style.colour, where)
            marks.scatter(axes, at(part), part["value"].to_numpy(dtype=float), str(kind), style, where)
    for kind, rows in layers.runs.groupby("mark", sort=False):
        where = beside(BESIDE if banded else 0)
        marks.scatter(axes, at(rows), rows["value"].to_numpy(dtype=float), str(kind), style, where, area=marks.RUN)
