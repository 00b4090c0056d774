"""The picture of a question: ratios of several studies, one below the other on one scale."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from virtperf.report.palette import GRID, SERIES_COLOURS
from virtperf.report.plot.marks import draw_legend
from virtperf.report.plot.theme import INK_COLOUR, MUTED_COLOUR, create_panels, theme
from virtperf.report.synthesis.definition import RATIO
from virtperf.report.synthesis.numbers import MEASURED, pieces_frame
from virtperf.report.wording import wrap_text

VALUE_HEIGHT_PT = 32.0
"""Height of one value in points: its name and its bar."""
NAME_WIDTH = 62
"""Characters of a line of text, which fit on a phone."""
LARGEST_RATIO = 2.5
"""Upper limit of the axis of ratios; larger values are arrows."""
BAND = 0.42
"""Height of the band of a value's bar, as a share of the height of a value."""
RANGE_COLOUR = SERIES_COLOURS[0].light


def draw_ratios(numbers: pd.DataFrame) -> Figure | None:
    """Draw the bounded ratios of the rows with `drawn`, else of the first row of ratios, grouped by
    row; None without any. `numbers` are rows of `numbers.answers_frame`.

    A bar is a range allowed or stated by a text (an arrow if clipped), a mark with a line is a mean
    of runs with its interval. The dark vertical line is 1: no change. Vertical lines stop above
    each name, which they would cross.
    """
    ratios = numbers[numbers["unit"] == RATIO]
    chosen = (ratios["drawn"] != "").to_numpy()
    drawn = ratios[chosen if chosen.any() else ratios["row"].factorize()[0] == 0]
    limited = [any(0 < end < math.inf for end in pieces) for pieces in drawn["pieces"]]
    drawn = drawn[np.array(limited, dtype=bool)]
    if drawn.empty:
        return None
    place, places = 0.0, []
    texts: list[tuple[float, str, str]] = []
    titles = drawn["drawn"].where(drawn["drawn"] != "", drawn["quantity"])
    groups = drawn.groupby(titles, sort=False)
    for quantity, values in groups:
        head = wrap_text(quantity, NAME_WIDTH)
        place += 0.3 + 0.45 * (1 + head.count("\n"))
        texts.append((place - 0.55, head, "bold"))
        for name in values["name"]:
            shown = wrap_text(name, NAME_WIDTH)
            place += 0.45 * shown.count("\n")
            texts.append((place - 0.1, shown, "normal"))
            places.append(place + 0.12)
            place += 1
    lines = groups.ngroups + sum(text.count("\n") for _, text, _ in texts)
    height = VALUE_HEIGHT_PT * (len(drawn) + 0.3 * groups.ngroups) + 14 * lines
    with theme():
        figure, (axes,) = create_panels(height=height + 75)
        for at, text, weight in texts:
            where = axes.get_yaxis_transform()  # x from the edge of the plot
            axes.text(0.005, at, text, transform=where, va="bottom", fontweight=weight, zorder=5)
        for ratio in np.arange(0, LARGEST_RATIO + 0.1, 0.5):
            colour = MUTED_COLOUR if ratio == 1 else GRID.light
            low, high = (np.add(places, shift) for shift in (-BAND / 2, BAND / 2))
            at_ratio = np.full(len(places), ratio)
            axes.vlines(at_ratio, low, high, color=colour, linewidth=1, zorder=1)
        _draw_values(axes, pieces_frame(drawn.assign(at=places)))
        axes.set_ylim(place, -0.4)
        axes.set_xlim(0, LARGEST_RATIO)
        axes.set_yticks([])
        axes.grid(visible=False)
        axes.tick_params(axis="x", labeltop=True)
        axes.set_xlabel("Ratio (1: no change)")
        draw_legend(
            figure,
            [],
            [
                (Patch(facecolor=RANGE_COLOUR, alpha=0.35), "range that a text allows or states"),
                (Line2D([], [], marker="o", color=INK_COLOUR), "measured, with its interval"),
                (Line2D([], [], marker=">", color=INK_COLOUR, linestyle="none"), "beyond the axis"),
            ],
        )
    return figure


def _draw_values(axes: Axes, pieces: pd.DataFrame) -> None:
    """Draw ranges and means at the heights in the column `at`."""
    measured = (pieces["kind"] == MEASURED).to_numpy()
    beyond = (pieces["value"].where(measured, pieces["high"]) > LARGEST_RATIO).to_numpy()
    shown = pieces.assign(low=pieces["low"].clip(0), high=pieces["high"].clip(upper=LARGEST_RATIO))
    ranges, means = shown[~measured], shown[measured & ~beyond]
    axes.barh(
        ranges["at"],
        ranges["high"] - ranges["low"],
        left=ranges["low"],
        height=0.3,
        color=RANGE_COLOUR,
        alpha=0.35,
        edgecolor=RANGE_COLOUR,
        zorder=2,
    )
    axes.hlines(means["at"], means["low"], means["high"], color=INK_COLOUR, linewidth=2, zorder=3)
    axes.plot(means["value"], means["at"], "o", color=INK_COLOUR, markersize=6, zorder=4)
    for mask, colour in ((~measured, RANGE_COLOUR), (measured, INK_COLOUR)):
        clipped = shown["at"][mask & beyond]
        if len(clipped):  # the layout includes even an empty artist that is not clipped
            right = np.full(len(clipped), LARGEST_RATIO)
            axes.plot(right, clipped, ">", color=colour, markersize=7, clip_on=False, zorder=3)
