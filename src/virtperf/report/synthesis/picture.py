"""The picture of a question: numbers of several studies, one below the other on one scale."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from virtperf.core.numbers import NO_BREAK, pretty
from virtperf.report.palette import GRID, SERIES_COLOURS
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
    STATES,
    informative_limits,
    pieces_frame,
)
from virtperf.report.wording import wrap_text

WIDE_WIDTH = 720
"""Width of a picture with names at the left and values at the right, in points."""
LINE_PT = 14.5
"""Height of a line of text in points."""
GAP_PT = 7.0
"""Space between two values, and twice that above a heading."""
BAND_PT = 14.0
"""Height of the band of a value's mark."""
NAMES_PT, VALUES_PT = 300, 165
"""Widths of the columns beside the axis of a wide picture."""
NAME_WIDTH, VALUE_WIDTH, HEAD_WIDTH = 46, 23, 96
"""Characters of a line in these columns, and of a heading across all of them."""
PHONE_WIDTH = 48
"""Characters of a line of text that fit on a phone."""
LEAST_BESIDE = 20
"""Characters for which there must be room beside a value."""
LARGEST_RATIO = 5.0
"""Largest ratio on a linear axis; an axis with larger ones is logarithmic."""
_TICKS = tuple(m * 10.0**k for k in range(-6, 9) for m in (1, 2, 5))


@dataclass(frozen=True)
class _Scale:
    """Limits of an axis, its ticks, and whether it is logarithmic."""

    low: float
    high: float
    ticks: tuple[float, ...]
    log: bool = False


def draw_numbers(
    numbers: pd.DataFrame,
    axis: str = "",
    colours: Mapping[str, int] | None = None,
    *,
    one: str = "no change",
    narrow: bool = False,
) -> Figure | None:
    """Draw the bounded numbers of the rows with `drawn`, grouped by row, each with its system and
    condition, its words, and whether it is printed or measured; None without any.

    A bar is a range that a text allows or states, a diamond a printed number or one computed from
    such numbers, a dot with a line a mean of runs with its interval; an arrow is beyond the axis,
    which is logarithmic if a ratio is above `LARGEST_RATIO`. The dark vertical line is the ratio 1.

    Parameters
    ----------
    numbers : DataFrame
        Rows of `numbers.answers_frame`, those drawn of one unit.
    axis : str
        Title of the axis: quantity and unit; by default the unit.
    colours : mapping
        Positions in the palette by the beginning of the name of a condition or a system.
    one : str
        What the ratio 1 means.
    narrow : bool
        Whether each value is below its name, which suits a phone.
    """
    drawn = numbers[numbers["drawn"] != ""]
    limited = [any(0 < end < math.inf for end in pieces) for pieces in drawn["pieces"]]
    drawn = drawn[np.array(limited, dtype=bool) | drawn["value"].notna()]
    if drawn.empty:
        return None
    drawn = drawn.assign(
        pieces=drawn["pieces"].map(informative_limits),
        colour=[
            _colour(names, colours or {})
            for names in drawn[["compared", "system"]].itertuples(index=False, name=None)
        ],
    )
    drawn["source"] = [_source(number) for number in _each(drawn)]
    percent, unit = bool(drawn["percent"].all()), drawn["unit"].iloc[0]
    if unit != RATIO:
        drawn = drawn.assign(words=drawn["words"] + f"{NO_BREAK}{unit}")
    scale = _scale(drawn, percent=percent)
    with theme():
        figure, (axes,) = create_panels(height=10, width=NARROW_WIDTH if narrow else WIDE_WIDTH)
        write = _write_on_a_phone if narrow else _write_beside
        places, height = write(axes, drawn)
        figure.set_figheight((height + 55) / 72)
        half = BAND_PT / 2 if narrow else LINE_PT
        for tick in scale.ticks:
            colour = MUTED_COLOUR if tick == 1 and unit == RATIO else GRID.light
            low, high = (np.add(places, shift) for shift in (-half, half))
            axes.vlines(np.full(len(places), tick), low, high, color=colour, linewidth=1, zorder=1)
        if scale.log:
            axes.set_xscale("log")
        split = drawn["pieces"].map(len) > 2
        _draw_values(axes, pieces_frame(drawn.assign(at=places, split=split)), scale)
        axes.set_ylim(height, 0)
        axes.set_xlim(scale.low, scale.high)
        axes.set_yticks([])
        axes.xaxis.set_major_locator(FixedLocator(scale.ticks))
        axes.xaxis.set_minor_locator(NullLocator())

        def tick_words(value: float, _: object) -> str:
            text = pretty((100 if percent else 1) * value)
            return f"{text}\n({one})" if unit == RATIO and value == 1 else text

        axes.xaxis.set_major_formatter(FuncFormatter(tick_words))
        axes.grid(visible=False)
        title = axis or ("%" if percent else "Ratio" if unit == RATIO else unit)
        axes.set_xlabel(
            wrap_text(f"{title} (logarithmic axis)" if scale.log else title, PHONE_WIDTH)
        )
    return figure


def _colour(names: tuple[str, ...], colours: Mapping[str, int]) -> str:
    """Colour of a condition, else of a system; that of text without one."""
    known = ((name, start) for name in names for start in colours if name.startswith(start))
    start = max(known, key=lambda found: (found[0] == names[0], len(found[1])), default=None)
    return SERIES_COLOURS[colours[start[1]]].light if start else INK_COLOUR


def _is_one_value(value: float, low: float, high: float) -> bool:
    """Whether a number is a printed one, or a range as narrow as a rounded number."""
    return math.isfinite(value) or (math.isfinite(high) and high - low <= ROUNDED_WIDTH * high)


def _source(number: Any) -> str:
    if number.kind == MEASURED:
        return "measured by the authors" if number.by_authors else "measured"
    if number.kind == STATES:
        return "printed" if math.isfinite(number.value) else "stated"
    low, *_, high = number.pieces
    return "computed" if _is_one_value(number.value, low, high) else "range by the text"


def _each(frame: pd.DataFrame) -> Iterator[Any]:
    """Yield the rows, of which the checker of types does not know the columns."""
    yield from frame.itertuples(index=False)


def _rows(drawn: pd.DataFrame) -> Iterator[tuple[str, str, Any]]:
    """Yield heading, system and number of each value; "" for a heading or a system that is that of the
    value before.
    """
    heading = system = ""
    for number in _each(drawn):
        if number.drawn != heading:
            heading, system = number.drawn, ""
            yield heading, number.system, number
        else:
            yield "", "" if number.system == system else number.system, number
        system = number.system


def _write_beside(axes: Axes, drawn: pd.DataFrame) -> tuple[list[float], float]:
    """Write names at the left of the axis and values at its right; return the height of each value
    and the whole one, in points from the top.
    """
    places: list[float] = []
    y = -GAP_PT

    def text(words: str, x: float, right: float, **style: Any) -> None:
        axes.annotate(
            words,
            (right, y),
            (x, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="top",
            **style,
        )

    for heading, system, number in _rows(drawn):
        y += GAP_PT
        if heading:
            y += GAP_PT
            text(head := wrap_text(heading, HEAD_WIDTH), -NAMES_PT, 0, fontweight="bold")
            y += LINE_PT * (1 + head.count("\n")) + GAP_PT / 2
        name, values = (
            wrap_text(number.compared, NAME_WIDTH),
            wrap_text(number.words, VALUE_WIDTH),
        )
        lines = max(
            bool(system) + 1 + name.count("\n"),
            2 + values.count("\n"),
        )
        start = y
        text(values, 10, 1, fontweight="bold")
        y += LINE_PT * (1 + values.count("\n"))
        text(number.source, 10, 1, color=MUTED_COLOUR)
        y = start
        if system:
            text(system, -NAMES_PT, 0)
            y += LINE_PT
        text(name, -NAMES_PT, 0, color=MUTED_COLOUR)
        places.append(start + LINE_PT * lines / 2)
        y = start + LINE_PT * lines
    axes.annotate(" ", (1, 0), (VALUES_PT, 0), xycoords="axes fraction", textcoords="offset points")
    return places, y + GAP_PT


def _write_on_a_phone(axes: Axes, drawn: pd.DataFrame) -> tuple[list[float], float]:
    """Write value and name above each mark; return as `_write_beside`."""
    places: list[float] = []
    y = -GAP_PT
    left: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "va": "top", "zorder": 5}
    for heading, system, number in _rows(drawn):
        if heading:
            y += 2 * GAP_PT
            head = wrap_text(heading, PHONE_WIDTH - 2)
            axes.text(0.005, y, head, fontweight="bold", **left)
            y += LINE_PT * (1 + head.count("\n"))
        if system:
            axes.text(0.005, y, system, **left)
            y += LINE_PT
        beside = PHONE_WIDTH - round(1.15 * len(number.words))  # bold letters are wider
        text = f"{number.compared} ({number.source})"
        value = axes.text(0.005, y, number.words, fontweight="bold", **left)
        if beside < LEAST_BESIDE:
            y += LINE_PT
            axes.text(0.005, y, text := wrap_text(text, PHONE_WIDTH), color=MUTED_COLOUR, **left)
        else:
            style: dict[str, Any] = {"va": "top", "color": MUTED_COLOUR}
            style |= {"xycoords": value, "textcoords": "offset points"}
            axes.annotate(text := wrap_text(text, beside), (1, 1), (6, 0), **style)
        y += LINE_PT * (1 + text.count("\n")) + BAND_PT / 2
        places.append(y)
        y += BAND_PT / 2 + GAP_PT / 2
    return places, y


def _scale(drawn: pd.DataFrame, *, percent: bool) -> _Scale:
    """The axis that has all finite limits, and 1 for ratios; from 0 for other units, and for ratios
    of which one is below a third of the largest.
    """
    ends = [end for pieces in drawn["pieces"] for end in pieces if math.isfinite(end)]
    ends += [value for value in drawn["value"] if math.isfinite(value)]
    is_ratio = drawn["unit"].iloc[0] == RATIO
    if not is_ratio:
        high = 1.08 * max(ends)
        step = next(tick for tick in _TICKS if high / tick <= 7)
        return _Scale(0.0, high, tuple(np.arange(0, high, step)))
    low, high = min(1.0, *ends), max(1.0, *ends)
    if high > LARGEST_RATIO:
        low, high = min(1.0, *filter(None, ends)) / 1.3, high * 1.3
        return _Scale(low, high, tuple(tick for tick in _TICKS if low <= tick <= high), log=True)
    low = 0.0 if low < high / 3 else low
    step = next(tick for tick in _TICKS if (high - low) / tick <= 6)
    low = max(0.0, low - 0.3 * step)
    ticks = (step * k for k in range(math.ceil(low / step - 1e-9), math.floor(high / step) + 2))
    high += 0.3 * step
    return _Scale(low, high, tuple(round(tick, 9) for tick in ticks if tick <= high))


def _draw_values(axes: Axes, pieces: pd.DataFrame, scale: _Scale) -> None:
    """Draw ranges and means at the heights in the column `at`; `split`: a piece of a range in several,
    which is no rounded number, however narrow.
    """
    for piece in _each(pieces):
        measured, at, colour = piece.kind == MEASURED, piece.at, piece.colour
        low, high = max(piece.low, scale.low), min(piece.high, scale.high)
        middle = piece.value if math.isfinite(piece.value) else (piece.low + piece.high) / 2
        if (middle if measured else piece.high) > scale.high:
            axes.plot([scale.high], [at], ">", color=colour, markersize=7, clip_on=False, zorder=3)
        if measured and middle <= scale.high:
            axes.hlines([at], low, high, color=colour, linewidth=2, zorder=3)
            axes.plot([middle], [at], "o", color=colour, markersize=6, zorder=4)
        elif not (measured or piece.split) and _is_one_value(piece.value, piece.low, piece.high):
            axes.plot([middle], [at], "D", color=colour, markersize=6, zorder=4)
        elif not measured:
            axes.barh(
                [at],
                [high - low],
                left=[low],
                height=0.75 * BAND_PT,
                color=colour,
                alpha=0.35,
                edgecolor=colour,
                zorder=2,
            )
