"""The picture of a question: numbers of several studies, one below the other on one scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from virtperf.core.numbers import pretty
from virtperf.report.palette import GRID, SERIES_COLOURS
from virtperf.report.plot.marks import draw_legend
from virtperf.report.plot.theme import (
    INK_COLOUR,
    MUTED_COLOUR,
    NARROW_WIDTH,
    create_panels,
    theme,
)
from virtperf.report.synthesis.definition import RATIO
from virtperf.report.synthesis.numbers import (
    MEASURED,
    ROUNDED_WIDTH,
    informative_limits,
    pieces_frame,
)
from virtperf.report.wording import wrap_text

VALUE_HEIGHT_PT = 27.5
"""Height of one value in points: its name and its bar."""
NAME_WIDTH = 48
"""Characters of a line of text, which fit on a phone."""
LARGEST_RATIO = 2.5
"""Largest ratio on a linear axis; an axis with larger ones is logarithmic."""
BAND = 0.42
"""Height of the band of a value's bar, as a share of the height of a value."""
RANGE_COLOUR = SERIES_COLOURS[0].light
_TICKS = tuple(m * 10.0**k for k in range(-6, 9) for m in (1, 2, 5))


@dataclass(frozen=True)
class _Scale:
    """Limits of an axis, its ticks, and the text below it."""

    low: float
    high: float
    ticks: tuple[float, ...]
    label: str
    log: bool = False


def draw_numbers(numbers: pd.DataFrame) -> Figure | None:
    """Draw the bounded numbers of the rows with `drawn`, grouped by row, each with its words; None
    without any. `numbers` are rows of `numbers.answers_frame`, those drawn of one unit.

    A bar is a range that a text allows or states, a diamond a printed number, a mark with a line a
    mean of runs with its interval; an arrow is beyond the axis, which is logarithmic for ratios
    that differ much. The dark vertical line is the ratio 1: no change. Vertical lines stop above
    each name, which they would cross.
    """
    drawn = numbers[numbers["drawn"] != ""]
    limited = [any(0 < end < math.inf for end in pieces) for pieces in drawn["pieces"]]
    drawn = drawn[np.array(limited, dtype=bool) | drawn["value"].notna()]
    if drawn.empty:
        return None
    drawn = drawn.assign(pieces=drawn["pieces"].map(informative_limits))
    scale, unit = _scale(drawn), drawn["unit"].iloc[0]
    place, places = 0.0, []
    heads: list[tuple[float, str]] = []
    names: list[tuple[float, str, str]] = []
    groups = drawn.groupby("drawn", sort=False)
    for quantity, values in groups:
        head = wrap_text(quantity, NAME_WIDTH)
        place += 0.3 + 0.45 * (1 + head.count("\n"))
        heads.append((place - 0.55, head))
        for name, words in zip(values["name"], values["words"], strict=True):
            shown = wrap_text(name, NAME_WIDTH - len(words))
            place += 0.45 * shown.count("\n")
            names.append((place - 0.1, words, shown))
            places.append(place + 0.12)
            place += 1
    lines = groups.ngroups + sum(text.count("\n") for text in (*dict(heads).values(),))
    lines += sum(text.count("\n") for *_, text in names)
    height = VALUE_HEIGHT_PT * (len(drawn) + 0.3 * groups.ngroups) + 14 * lines
    with theme():
        figure, (axes,) = create_panels(height=height + 55, width=NARROW_WIDTH)
        where = axes.get_yaxis_transform()  # x from the edge of the plot
        left: dict[str, Any] = {"transform": where, "va": "bottom", "zorder": 5}
        for at, text in heads:
            axes.text(0.005, at, text, fontweight="bold", **left)
        for at, words, text in names:
            lines_below = "\n" * text.count("\n")  # the number is beside the first line
            number = axes.text(0.005, at, words + lines_below, fontweight="bold", **left)
            axes.annotate(
                text, (1, 0), (6, 0), xycoords=number, textcoords="offset points", va="bottom"
            )
        for tick in scale.ticks:
            colour = MUTED_COLOUR if tick == 1 and unit == RATIO else GRID.light
            low, high = (np.add(places, shift) for shift in (-BAND / 2, BAND / 2))
            axes.vlines(np.full(len(places), tick), low, high, color=colour, linewidth=1, zorder=1)
        if scale.log:
            axes.set_xscale("log")
        kinds = _draw_values(axes, pieces_frame(drawn.assign(at=places)), scale)
        axes.set_ylim(place, -0.4)
        axes.set_xlim(scale.low, scale.high)
        axes.set_yticks([])
        axes.xaxis.set_major_locator(FixedLocator(scale.ticks))
        axes.xaxis.set_minor_locator(NullLocator())
        factor = 100 if scale.label == _PERCENT_LABEL else 1
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: pretty(factor * value)))
        axes.grid(visible=False)
        axes.set_xlabel(f"{scale.label}, logarithmic axis" if scale.log else scale.label)
        draw_legend(figure, [], kinds)
    return figure


_RATIO_LABEL = "Ratio (1: no change)"
_PERCENT_LABEL = "% (100: no change)"


def _scale(drawn: pd.DataFrame) -> _Scale:
    """The axis that has all finite limits; a ratio far from 1 has a logarithmic one."""
    ends = [end for pieces in drawn["pieces"] for end in pieces if 0 < end < math.inf]
    ends += [value for value in drawn["value"] if math.isfinite(value)]
    unit = drawn["unit"].iloc[0]
    label = _PERCENT_LABEL if drawn["percent"].all() else _RATIO_LABEL
    if unit == RATIO and max(ends) <= LARGEST_RATIO and min(ends) >= 1 / LARGEST_RATIO / 2:
        high = min(LARGEST_RATIO, 1.08 * max(1.0, *ends))
        step = 0.5 if high > 1.5 else 0.25
        return _Scale(0.0, high, tuple(np.arange(0, high, step)), label)
    if unit == RATIO:
        low, high = min(1.0, *ends) / 1.3, max(1.0, *ends) * 1.3
        ticks = tuple(tick for tick in _TICKS if low <= tick <= high)
        return _Scale(low, high, ticks, label, log=True)
    high = 1.08 * max(ends)
    step = next(tick for tick in _TICKS if high / tick <= 7)
    ticks = tuple(np.arange(0, high, step))
    return _Scale(0.0, high, ticks, unit)


def _draw_values(axes: Axes, pieces: pd.DataFrame, scale: _Scale) -> list[tuple[Artist, str]]:
    """Draw ranges and means at the heights in the column `at`; return what a legend says of them."""
    measured = (pieces["kind"] == MEASURED).to_numpy()
    end = pieces["value"].where(measured, pieces["high"])
    beyond = (end > scale.high).to_numpy()
    shown = pieces.assign(
        low=pieces["low"].clip(scale.low), high=pieces["high"].clip(upper=scale.high)
    )
    width = (pieces["high"] - pieces["low"]) / pieces["high"]  # NaN if unbounded
    narrow = ((width <= ROUNDED_WIDTH) | pieces["value"].notna()).to_numpy()
    printed, ranges = shown[~measured & narrow], shown[~measured & ~narrow]
    means = shown[measured & ~beyond]
    legend: list[tuple[Artist, str]] = []
    if len(ranges):
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
        patch = Patch(facecolor=RANGE_COLOUR, alpha=0.35)
        legend.append((patch, "range by the text"))
    if len(printed):
        middle = printed["value"].fillna((printed["low"] + printed["high"]) / 2)
        axes.plot(middle, printed["at"], "D", color=RANGE_COLOUR, markersize=6, zorder=4)
        mark = Line2D([], [], marker="D", color=RANGE_COLOUR, linestyle="none")
        legend.append((mark, "printed or computed"))
    if len(means):
        axes.hlines(
            means["at"], means["low"], means["high"], color=INK_COLOUR, linewidth=2, zorder=3
        )
        axes.plot(means["value"], means["at"], "o", color=INK_COLOUR, markersize=6, zorder=4)
        legend.append((Line2D([], [], marker="o", color=INK_COLOUR), "measured, interval"))
    for mask, colour in ((~measured, RANGE_COLOUR), (measured, INK_COLOUR)):
        clipped = shown["at"][mask & beyond]
        if len(clipped):  # the layout includes even an empty artist that is not clipped
            right = np.full(len(clipped), scale.high)
            axes.plot(right, clipped, ">", color=colour, markersize=7, clip_on=False, zorder=3)
            mark = Line2D([], [], marker=">", color=colour, linestyle="none")
            legend.append((mark, "beyond the axis"))
    return legend
