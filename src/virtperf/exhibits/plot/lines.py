"""Figures over one factor: ranges that a text allows, means, printed numbers, runs, fitted curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from virtperf.exhibits.plot import axis, curves, legend, panel
from virtperf.exhibits.plot.layers import gathered
from virtperf.exhibits.plot.theme import panels, theme


def lines(
    points: pd.DataFrame | None = None, *, x: str, y: str = "value", hue: str | None = None, row: str | None = None,
    runs: pd.DataFrame | None = None, means: pd.DataFrame | None = None, printed: pd.DataFrame | None = None,
    fits: Any = None, xlabel: str | None = None, ylabel: str | None = None, labels: Mapping[str, str] | None = None,
    level: float = 0.95, log: bool = False,
) -> Figure:  # fmt: skip
    """Draw series over one variable; every argument but `x` may be left out.

    ``lines(runs=frame, x="guests", y="throughput", hue="system")`` draws anybody's own measurements.

    Parameters
    ----------
    points : DataFrame
        What a text allows, as ``LoadedStudy.points`` gives it: low, high, perhaps pieces, the same without assumptions
        (low_text, high_text, pieces_text), printed.
    x, y, hue, row : str
        Columns: the axis, the values of `runs` and `means`, what is told apart by colour and mark, and what gets a
        panel of its own. Without `row`, quantities of different units have panels of their own.
    runs, means, printed : DataFrame
        Values; means with their interval in the columns low and high. A column `provenance` chooses the mark: solid for
        measured and own data, half-filled for printed numbers, a cross for examples.
    fits : mapping of str to fit, or a fit
        Fitted curves by series: objects with ``predict(x)`` or statsmodels' ``get_prediction``.
    xlabel, ylabel : str
        Words at the axes; frames of a study bring their own.
    labels : mapping
        Words for columns and for the values of `row`.
    level : float
        Confidence level of curves, and what the legend calls the intervals of means.
    log : bool
        A logarithmic axis of values, from the lowest one above 0 on.

    Returns
    -------
    matplotlib.figure.Figure
        One axes a panel: ``figure.axes[0].set_title("...")``. Positions on the axes are the frames' own values.
    """
    return _figure(
        points, means, printed, runs, fits, level, bars=False, log=log, x=x, y=y, hue=hue, row=row, labels=labels,
        xlabel=xlabel, ylabel=ylabel,
    )  # fmt: skip


def bars(
    points: pd.DataFrame | None = None, *, x: str, y: str = "value", hue: str | None = None, row: str | None = None,
    runs: pd.DataFrame | None = None, means: pd.DataFrame | None = None, printed: pd.DataFrame | None = None,
    xlabel: str | None = None, ylabel: str | None = None, labels: Mapping[str, str] | None = None, level: float = 0.95,
) -> Figure:  # fmt: skip
    """Draw groups, one a level of `x`; the arguments are those of `lines`.

    A group holds only the bars that it has. A mean is a bar where no range of a text stands, else a mark beside it.
    Without `points` and `means`, a bar is the mean of its runs.
    """
    if points is None and means is None and runs is not None:
        keys = [c for c in (row, hue, x, "provenance", "quantity") if c is not None and c in runs]
        if y in runs and x in runs:  # what is missing is told with the names of the columns
            means = runs.groupby(keys, sort=False)[y].mean().reset_index()
            means.attrs = dict(runs.attrs)
    return _figure(
        points, means, printed, runs, None, level, bars=True, x=x, y=y, hue=hue, row=row, labels=labels,
        xlabel=xlabel, ylabel=ylabel,
    )  # fmt: skip


def _figure(
    points: pd.DataFrame | None, means: pd.DataFrame | None, printed: pd.DataFrame | None, runs: pd.DataFrame | None,
    fits: Any, level: float, *, bars: bool, x: str, log: bool = False, **named: Any,
) -> Figure:  # fmt: skip
    layers = gathered(points, means, printed, runs, x=x, **named)
    side = len(layers.series) * panel.WIDEST[bars] / 2 + 8
    levels = axis.levels_of(layers.given, x, layers.words, numeric=not bars, side=side)
    fitted = curves.curves_of(fits, layers.series, {s: layers.levels(s) for s in layers.series}, x, level)
    with theme():
        figure, axes = panels(len(layers.rows))
        for pane, name in zip(axes, layers.rows, strict=True):
            panel.draw(pane, layers.part(name), levels, fitted, bars=bars, log=log)
            levels.draw(pane, layers.words.label(x), labelled=pane is axes[-1])
        series = layers.series if layers.hue is not None else ()
        extra = legend.layer_entries(layers, curves=bool(fitted), level=level)
        legend.legend(figure, [legend.series_entry(layers, s, bars=bars) for s in series],
                      extra if layers.needs_words or fitted else [])  # fmt: skip
    return figure
