"""The legend below a figure: first its series, then every layer that it has, each with its mark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from virtperf.report.plot import marks
from virtperf.report.plot.layers import Layers
from virtperf.report.plot.theme import CHARACTER, FIGURE_WIDTH, FONT, INK_COLOUR, SURFACE_COLOUR
from virtperf.report.wording import pretty, printable, wrapped

LINE_HEIGHT = FONT * 1.6  # height of a line of the legend
HANDLE = 44  # width of a mark with the space around it
MAX_COLUMNS = 4  # columns
WRAP = 32  # characters of a line, so that two columns fit
OVER = "range over a factor of 2"
_BRACKET = [
    (-0.4, -1),
    (0.4, -1),
    (0, -1),
    (0, 1),
    (-0.4, 1),
    (0.4, 1),
    (0, 1),
    (0, -1),
]  # a mark is a closed line
_RUNS = {
    marks.SOLID: (INK_COLOUR, "single runs, measured"),
    marks.CROSS: (INK_COLOUR, "single runs, made up"),
    marks.OWN_DATA: (INK_COLOUR, "single runs, own data"),
}

LegendEntry = tuple[Artist, str]


def legend(figure: Figure, series: Sequence[LegendEntry], layers: Sequence[LegendEntry]) -> None:
    """Draw the legend below the axes and make the figure as much taller."""
    entries = [(handle, wrapped(printable(text), WRAP)) for handle, text in [*series, *layers]]
    if not entries:
        return
    widest = max(len(line) for _, text in entries for line in text.split("\n")) * CHARACTER + HANDLE
    columns = max(1, min(MAX_COLUMNS, len(entries), int(FIGURE_WIDTH // widest)))
    rows = [entries[k : k + columns] for k in range(0, len(entries), columns)]
    down = [
        row[k] for k in range(columns) for row in rows if k < len(row)
    ]  # Matplotlib fills column by column
    lines = sum(max(text.count("\n") + 1 for _, text in row) for row in rows)
    figure.set_figheight(figure.get_figheight() + LINE_HEIGHT * lines / 72)
    figure.legend(
        [handle for handle, _ in down],
        [text for _, text in down],
        loc="outside lower center",
        ncols=columns,
        handlelength=2.2,
        columnspacing=1.4,
        labelspacing=0.45,
        borderaxespad=0.2,
        numpoints=1,
    )


def series_entry(layers: Layers, label: Any, *, bars: bool) -> LegendEntry:
    """A series: its marker and, between several, its line; a box where it is bars or has a range
    without a mark.
    """
    style, own, levels = layers.look(label), layers.only(label), layers.levels(label)
    if bars or not {*levels} <= {*own.marks[layers.x], *own.runs[layers.x]}:
        inner = "none" if style.hatch else to_rgba(style.colour, 0.45)
        return Patch(facecolor=inner, edgecolor=style.colour, hatch=style.hatch, linewidth=1), label
    dash: Any = style.dash if len(levels) > 1 else "none"
    measured = not len(own.bands) and set(own.marks["mark"]) <= {marks.SOLID, marks.OWN_DATA}
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


def layer_entries(layers: Layers, *, curves: bool, level: float) -> list[LegendEntry]:
    """The layers that a figure has."""
    drawn, bands = layers.marks, layers.bands
    kinds, percent = set(drawn["mark"]), f"{pretty(100 * level)} %"
    entries: list[LegendEntry] = []
    text = (bands["kind"] == marks.TEXT).any()
    for kind, words in (
        (marks.TEXT, "text alone"),
        (marks.WITH_ASSUMPTIONS, "with our assumptions" if text else "range"),
    ):
        if (bands["kind"] == kind).any():
            entries.append((box(INK_COLOUR, kind), words))
    if marks.wide_bands(bands).any():
        entries.append((bracket(), OVER))
    if np.isinf(bands["high"].astype(float)).any():
        entries.append((_mark("^", INK_COLOUR), "no upper limit"))
    if marks.PRINTED in kinds:
        half = _mark("o", INK_COLOUR)
        half.set(fillstyle="bottom", markerfacecoloralt=SURFACE_COLOUR)
        entries.append((half, "printed"))
    for kind, words, interval in (
        (marks.SOLID, "measured", f", {percent} interval"),
        (marks.OWN_DATA, "own data", ""),
    ):
        if kind in kinds and layers.needs_words:
            limits = drawn.loc[drawn["mark"] == kind, ["low", "high"]].notna().all(axis=1).any()
            entries.append((_mark("o", INK_COLOUR), words + interval * bool(limits)))
    if marks.CROSS in kinds:
        entries.append((_mark("x", INK_COLOUR), "made-up example"))
    for kind, (fill, words) in _RUNS.items():
        if layers.needs_words and kind in set(layers.runs["mark"]):
            entries.append((_mark("x" if kind == marks.CROSS else "o", fill, 4), words))
    if curves:
        entries.append((Line2D([], [], color=INK_COLOUR), f"fitted, dots: {percent} interval"))
    return entries


def box(colour: str, kind: str) -> Patch:
    """The box of a kind of ranges."""
    fill, edge = to_rgba(colour, marks.ALPHAS[kind]), to_rgba(colour, marks.EDGES[kind])
    return Patch(facecolor=fill, edgecolor=edge, linewidth=1)


def bracket() -> Line2D:
    """The mark of a wide range."""
    return _mark(_BRACKET, "none", 13)


def _mark(marker: Any, fill: str, size: float = 7) -> Line2D:
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
