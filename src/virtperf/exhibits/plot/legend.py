"""The legend below a figure: first its series, then every layer that it has, each with its mark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from virtperf.exhibits.plot import marks
from virtperf.exhibits.plot.layers import Layers
from virtperf.exhibits.plot.theme import CHARACTER, FONT, INK_COLOUR, SURFACE_COLOUR, WIDTH, Look, grow
from virtperf.exhibits.wording import pretty, printable, wrapped

LINE = FONT * 1.6  # height of a line of the legend
HANDLE = 44  # width of a mark with the space around it
MOST = 4  # columns
WRAP = 32  # characters of a line, so that two columns fit
_RUNS = {
    marks.HOLLOW: (SURFACE_COLOUR, "single runs, simulated"), marks.SOLID: (INK_COLOUR, "single runs, measured"),
    marks.CROSS: (INK_COLOUR, "single runs, made up"), marks.OWN: (INK_COLOUR, "single runs, own data"),
}  # fmt: skip

Entry = tuple[Artist, str]


def legend(figure: Figure, series: Sequence[Entry], layers: Sequence[Entry]) -> None:
    """Draw the legend below the axes and make the figure as much taller."""
    entries = [(handle, wrapped(printable(text), WRAP)) for handle, text in [*series, *layers]]
    if not entries:
        return
    widest = max(len(line) for _, text in entries for line in text.split("\n")) * CHARACTER + HANDLE
    columns = max(1, min(MOST, len(entries), int(WIDTH // widest)))
    rows = [entries[k : k + columns] for k in range(0, len(entries), columns)]
    down = [row[k] for k in range(columns) for row in rows if k < len(row)]  # Matplotlib fills column by column
    grow(figure, LINE * sum(max(text.count("\n") + 1 for _, text in row) for row in rows))
    figure.legend(
        [handle for handle, _ in down], [text for _, text in down], loc="outside lower center", ncols=columns,
        handlelength=2.2, columnspacing=1.4, labelspacing=0.45, borderaxespad=0.2, numpoints=1,
    )  # fmt: skip


def series_entry(label: str, style: Look, *, bars: bool = False, solid: bool = False, line: bool = True) -> Entry:
    """A series: its line and marker, or its bar."""
    if bars:
        inner = style.colour if solid else "none"
        return Patch(facecolor=inner, edgecolor=style.colour, hatch=style.hatch * 2, linewidth=1.3), label
    fill = style.colour if solid else SURFACE_COLOUR
    dash: Any = style.dash if line else "none"
    return Line2D([], [], color=style.colour, linestyle=dash, marker=style.marker, markerfacecolor=fill,
                  markeredgewidth=1.5, markersize=6.5), label  # fmt: skip


def layer_entries(layers: Layers, *, bars: bool, curves: bool, level: float) -> list[Entry]:
    """The layers that a figure has."""
    drawn, bands = layers.marks, layers.bands
    kinds = set(drawn["mark"])
    percent = f"{pretty(100 * level)} %"
    entries: list[Entry] = []
    wider = len(bands) > 0 and bool(marks.without_assumptions(bands).any())
    if len(bands):
        words = "allowed by text and assumptions" if wider else "allowed by the text"
        entries.append((Patch(facecolor=INK_COLOUR, alpha=0.3), words))
    if wider:
        end = Line2D([], [], color=INK_COLOUR, marker="|", linestyle="-", linewidth=1, markersize=8)
        open_ended = bool(bands["high_text"].map(math.isinf).any())
        entries.append((end, f"allowed by the text alone{' (no cap: no limit)' * open_ended}"))
    if len(bands) and bands["high"].map(math.isinf).any():
        entries.append((_mark(6, INK_COLOUR), "no upper limit"))
    if marks.HOLLOW in kinds:
        outline = Patch(facecolor="none", edgecolor=INK_COLOUR, linewidth=1.3)
        entries.append((outline if bars else _mark("o", SURFACE_COLOUR), "reconstructed, not measured"))
    if marks.PRINTED in kinds:
        half = _mark("o", INK_COLOUR)
        half.set(fillstyle="bottom", markerfacecoloralt=SURFACE_COLOUR)
        entries.append((half, "printed in the paper"))
    for kind, words, interval in ((marks.SOLID, "measured", f", {percent} interval"), (marks.OWN, "own data", "")):
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


def _mark(marker: Any, fill: str, size: float = 7) -> Line2D:
    return Line2D(
        [], [], linestyle="none", marker=marker, color=INK_COLOUR, markerfacecolor=fill, markersize=size,
        markeredgewidth=1.4,
    )  # fmt: skip
