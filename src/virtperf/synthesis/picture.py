"""The synthesis in pictures: shared ratios side by side, and throughput against an overcommitment ratio."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from virtperf.exhibits.plot import lines
from virtperf.exhibits.plot.theme import MUTED_COLOUR, SURFACE_COLOUR, look, panels, theme
from virtperf.exhibits.wording import wrapped
from virtperf.synthesis.capacity import RATIOS, Course
from virtperf.synthesis.definition import RATIO, Row
from virtperf.synthesis.values import REFERENCE, Value

LINE = 20.0
"""Points of height that one value takes."""
MOST = 2.5
"""The largest ratio drawn; what lies beyond is an arrow."""


def ratios(rows: Mapping[str, Row], found: Mapping[str, Sequence[Value]], studies: Sequence[str]) -> Figure:
    """All ratios with a limit, grouped by quantity, one line a value; colours are studies.

    A bar is a range that a text allows or states (an arrow where it goes on), a mark with a line a mean of runs with
    its interval. The vertical line is 1: no change.
    """
    groups = {
        rows[name].says: limited
        for name, values in found.items()
        if rows[name].unit == RATIO and (limited := [v for v in values if _limited(v)])
    }
    heads = {says: wrapped(says, 78) for says in groups}
    height = sum(LINE * (len(values) + 0.4) + 14 * (1 + heads[says].count("\n")) for says, values in groups.items())
    with theme():
        figure, (axes,) = panels(height=height + 45)
        place, ticks = 0.0, {}
        for says, values in groups.items():
            place += 0.45 + 0.7 * (1 + heads[says].count("\n"))
            axes.annotate(
                heads[says], (0.005, place - 0.55), xycoords=("figure fraction", "data"), ha="left", va="bottom",
                fontweight="bold", annotation_clip=False, zorder=5,
                bbox={"facecolor": SURFACE_COLOUR, "edgecolor": "none", "pad": 1},
            )  # fmt: skip
            for value in values:
                _value(axes, place, value, look(studies.index(value.study)).colour)
                ticks[place] = f"{value.label} ({value.study})"
                place += 1
        axes.axvline(1, color=MUTED_COLOUR, linewidth=1, zorder=1)
        axes.set_ylim(place, -0.4)
        axes.set_xlim(0, MOST)
        axes.set_yticks(list(ticks), list(ticks.values()))
        axes.grid(visible=False, axis="y")
        axes.grid(visible=True, axis="x")
        axes.set_xlabel("Ratio (1: no change)")
    return figure


def capacity(found: Sequence[Course], of: str, measure: str, level: float) -> Figure | None:
    """One measure against an overcommitment ratio, a panel for each study and reference; None without such curves.

    The line at 1 is the reference, itself a range of this one value.
    """
    rows = [
        {"ratio": ratio, "system": course.curve.label, "value": value.value, "provenance": value.provenance,
         "panel": f"{measure.capitalize()}, 1 is that of {course.curve.against} ({course.curve.study})",
         "low": value.pieces[0][0], "high": value.pieces[-1][1], "pieces": [e for piece in value.pieces for e in piece],
         "measured": value.kind == "measured"}
        for course in found if (course.curve.of, course.curve.measure) == (of, measure)
        if any(value.kind != REFERENCE for _, values in course.points for value in values)
        for ratio, values in course.points for value in values
    ]  # fmt: skip
    if not rows:
        return None
    frame = pd.DataFrame(rows)
    parts = dict(iter(frame.groupby("measured")))
    figure = lines(
        parts.get(False), x="ratio", hue="system", row="panel", means=parts.get(True), xlabel=RATIOS[of], level=level
    )
    for axes in figure.axes:
        axes.axhline(1, color=MUTED_COLOUR, linewidth=1, zorder=1)
    return figure


def _value(axes: Axes, at: float, value: Value, colour: str) -> None:
    """One line of the picture."""
    for low, high in value.pieces:
        shown = max(low, 0.0), min(high, MOST)
        if value.kind == "measured":
            axes.plot(shown, (at, at), color=colour, linewidth=2, zorder=3)
            axes.plot([value.value], [at], "o", color=colour, markersize=6, zorder=4)
            continue
        axes.barh(at, shown[1] - shown[0], left=shown[0], height=0.55, color=colour, alpha=0.35, linewidth=0, zorder=2)
        if shown[1] - shown[0] < 0.02:
            axes.plot([np.mean(shown)] * 2, (at - 0.27, at + 0.27), color=colour, linewidth=2, zorder=3)
        if high > MOST:
            axes.plot([MOST], [at], ">", color=colour, markersize=7, clip_on=False, zorder=3)


def _limited(value: Value) -> bool:
    return any(math.isfinite(end) and end > 0 for piece in value.pieces for end in piece)
