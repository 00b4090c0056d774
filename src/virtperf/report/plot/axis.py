"""Axes: positions of levels, ticks, labels, limits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.textpath import TextPath
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, NullLocator

from virtperf.core.numbers import pretty
from virtperf.report.plot.theme import CHARACTER_WIDTH, FIGURE_WIDTH, FONT_SIZE
from virtperf.report.range_words import is_within_factor
from virtperf.report.wording import printable, wrap_text

NONZERO_START_SHARE = (
    0.8  # an axis may start above 0 if all values and bands exceed this share of the highest
)
FAR_RANGE_FACTOR = 4.0  # ranges that exceed all well-known values by this factor are clipped
CLIPPED_HEIGHT_FACTOR = 2.2  # axis limit then, as a multiple of the largest well-known value
MAX_LABELLED_TICKS = 14  # numeric levels that each get a tick label
LOG_MARGIN_FACTOR = 1.05  # a logarithmic axis ends at least this factor beyond the values
FEW_DECADES = 1000.0
LOG_TICKS = (1.0, 2.0, 5.0)
MAX_INTERVALS = 6  # between ticks of the y axis
TICK_STEPS = (1, 2, 2.5, 5, 10)  # between ticks, times a power of ten: at least three intervals
LEAST_LENGTH = 0.06  # of an axis that begins above 0, as a share of its highest value
HEAD_SHARE = 0.03  # of the axis, which is left free above its highest mark
LABEL_GAP_PT = 4  # points between two tick labels
LABEL_PAD_PT = 8  # points between an axis and the label above it
PANEL_MARGIN = 80  # approximate width of a figure beside its panels
PANEL_WIDTH = FIGURE_WIDTH - PANEL_MARGIN


@dataclass(frozen=True)
class AxisLevels:
    """Positions and tick labels on an x axis.

    `positions`: position of every level in data units, the level itself if `numeric`, else its index;
    `tick_labels`: in the same order; `margin_pt`: margin in points beyond the first and the last
    number; `width_pt`: width of the panel; `end_pt`: more room beyond the last number, for the names of
    series.
    """

    positions: Mapping[Any, float]
    tick_labels: tuple[str, ...]
    numeric: bool
    margin_pt: float = 28.0
    width_pt: float = PANEL_WIDTH
    end_pt: float = 0.0

    @property
    def limits(self) -> tuple[float, float]:
        """Left and right limit of the axis; reversed if the levels descend."""
        places = list(self.positions.values()) or [0.0]
        low, high = min(places), max(places)
        per_point = ((high - low) or 1.0) / (self.width_pt - 2 * self.margin_pt - self.end_pt)
        margin = self.margin_pt * per_point if self.numeric else 0.5
        end = self.end_pt * per_point if self.numeric else 0.0
        ends = (low - margin, high + margin + end)
        return ends[::-1] if places[0] > places[-1] else ends

    def draw(self, axes: Axes, label: str, *, labelled: bool) -> None:
        """Set limits, ticks and label; only the lowest of several panels is `labelled`."""
        axes.set_xlim(*self.limits)
        axes.grid(visible=False, axis="x")
        axes.tick_params(axis="x", length=4 if self.numeric else 0, labelbottom=labelled)
        axes.set_xlabel("")
        if not self.numeric or len(self.positions) <= MAX_LABELLED_TICKS:
            axes.set_xticks(list(self.positions.values()), self._tick_labels())
        else:
            axes.xaxis.set_major_formatter(lambda value, _: pretty(value, 6))
        if labelled:
            axes.set_xlabel(wrap_text(label, int(self.width_pt / CHARACTER_WIDTH)), labelpad=6)

    @property
    def data_per_point(self) -> float:
        """Data units per point."""
        left, right = self.limits
        return abs(right - left) / self.width_pt

    @property
    def min_distance_pt(self) -> float:
        """Distance of the two nearest levels, in points."""
        return self.distance_pt(self.positions)

    def distance_pt(self, levels: Iterable[Any]) -> float:
        """Distance of the two nearest of these levels, in points."""
        left, right = self.limits
        places = sorted(self.positions[level] for level in levels)
        near = min((b - a for a, b in pairwise(places)), default=abs(right - left))
        return near / self.data_per_point

    @property
    def has_room(self) -> bool:
        """Whether all labels have room side by side, words unbroken."""
        if self.numeric:
            return not self._labels_overlap()
        words = {word for text in self.tick_labels for word in text.split()}
        return self.min_distance_pt >= max(map(text_width, words), default=0.0) + LABEL_GAP_PT

    def _labels_overlap(self) -> bool:
        """Whether two neighbouring labels have no room side by side."""
        placed = sorted(zip(self.positions.values(), self.tick_labels, strict=True))
        return any(not self._beside(a, b) for a, b in pairwise(placed))

    def _beside(self, left: tuple[float, str], right: tuple[float, str]) -> bool:
        """Whether two labels have room side by side, each given with its position."""
        needed = (len(left[1]) + len(right[1])) / 2 * CHARACTER_WIDTH + 6
        return needed <= (right[0] - left[0]) / self.data_per_point

    def _tick_labels(self) -> list[str]:
        """Tick labels without overlap: wrapped text; of numbers the largest, the smallest, and each
        between that has room.
        """
        if not self.numeric:
            characters = max(6, int(self.min_distance_pt / CHARACTER_WIDTH) - 1)
            if self.has_room:  # the mean character is wider than those of some words
                words = (word for text in self.tick_labels for word in text.split())
                characters = max([characters, *map(len, words)])
            return [wrap_text(text, characters) for text in self.tick_labels]
        shown: list[tuple[float, str]] = []
        smallest, *larger = sorted(zip(self.positions.values(), self.tick_labels, strict=True))
        for placed in (*larger[-1:], smallest, *larger[-2::-1]):
            if all(self._beside(*sorted((placed, other))) for other in shown):
                shown.append(placed)
        labels = dict(shown)
        return [labels.get(place, "") for place in self.positions.values()]


def text_width(text: str) -> float:
    """Width of a text in points, in a font somewhat wider than that of the layout."""
    return 1.05 * float(TextPath((0, 0), text, size=FONT_SIZE).get_extents().width)


def axis_levels(
    found: Iterable[Any],
    labelled: Iterable[tuple[Any, str]] = (),
    *,
    numeric: bool = True,
    margin_pt: float = 0.0,
) -> AxisLevels:
    """Levels of an axis: in the order of `labelled`, levels with their labels, if all are there; else
    numbers ascending, text in order of appearance.

    `numeric` False treats numbers as categories, as bars need.
    """
    levels, known = list(dict.fromkeys(found)), dict(labelled)
    if all(level in known for level in levels):
        levels = [level for level in known if level in set(levels)]
        tick_labels = [known[level] for level in levels]
    else:
        numbers = all(isinstance(level, int | float) for level in levels)
        levels = sorted(levels) if numbers else levels
        tick_labels = [
            pretty(float(v), 6) if isinstance(v, int | float) else printable(v) for v in levels
        ]
    numeric = numeric and all(isinstance(level, int | float) for level in levels)
    positions = {level: float(level) if numeric else float(k) for k, level in enumerate(levels)}
    return AxisLevels(positions, tuple(tick_labels), numeric, max(margin_pt, AxisLevels.margin_pt))


def upper_limit(values: Iterable[float], bands: pd.DataFrame, bound: float = math.inf) -> float:
    """Upper limit of a y axis: above all values and ranges, or clipped at `CLIPPED_HEIGHT_FACTOR`
    times the largest well-known value if the rest exceeds it by `FAR_RANGE_FACTOR`.

    `values` are those of marks and curves; ranges that are `is_within_factor` are well known.
    """
    low, high = (bands[end].to_numpy(dtype=float) for end in ("low", "high"))
    known = finite_values(np.fromiter(values, float), high[is_within_factor(low, high)])
    ends = [*known, *finite_values(high), *(1.25 * v for v in finite_values(low[np.isinf(high)]))]
    well, top = max(known, default=0.0), max(ends, default=1.0)
    if 0 < FAR_RANGE_FACTOR * well < top and well >= max(finite_values(low), default=0.0):
        top = CLIPPED_HEIGHT_FACTOR * well
    top = (top or 1.0) * 1.06
    return min(top, bound * 1.05) if math.isfinite(bound) else top


def lower_limit(
    values: Iterable[float], highest: float, bound: float = 0.0, *, from_zero: bool = True
) -> float:
    """Lower limit of a y axis: 0, or below everything if values or the natural bound are negative.

    Unless `from_zero`, as columns need, it starts just below all values if an axis from 0 would
    flatten them.
    """
    lowest = min((v for v in values if math.isfinite(v)), default=0.0)
    if lowest < 0 or bound < 0:
        return min(1.06 * lowest, -highest if bound < 0 else 0.0)
    if from_zero or lowest < NONZERO_START_SHARE * highest:
        return 0.0
    length = max(highest - lowest, LEAST_LENGTH * highest)
    step = 10.0 ** math.floor(math.log10(length)) if length > 0 else 1.0
    return max(0.0, math.floor((lowest - 0.1 * length) / step) * step)


def end_at_tick(bottom: float, highest: float) -> float:
    """Upper limit of a y axis from `bottom` whose last tick is at or above the `highest` mark, with less
    than a third of the axis above it.
    """
    top = highest
    for _ in range(len(TICK_STEPS)):  # a higher limit may have a larger step
        ticks = np.asarray(_y_locator().tick_values(bottom, top))
        last = float(ticks[ticks >= highest - 1e-9 * abs(highest)][0])
        limit = max(last, highest + HEAD_SHARE * (last - bottom))
        if limit == top:
            break
        top = limit
    return top


def _y_locator() -> MaxNLocator:
    return MaxNLocator(nbins=MAX_INTERVALS, steps=list(TICK_STEPS))


def set_y_axis(axes: Axes, bottom: float, top: float, label: str, *, begins: bool = True) -> None:
    """Set limits, ticks and label of the y axis; the label names the start of the axis if above 0
    (and `begins`).

    The label is horizontal above the axis, where it needs no margin: it is the label of a second x
    axis on top, ``axes.child_axes[0]``, so that a title stays above it.
    """
    axes.set_ylim(bottom, top)
    axes.grid(visible=True, axis="y")
    axes.yaxis.set_major_locator(_y_locator())
    axes.yaxis.set_major_formatter(lambda value, _: pretty(value, 6))
    _label_above(axes, label + (f" (axis from {pretty(bottom)})" if bottom > 0 and begins else ""))


def width_of(axes: Axes) -> float:
    """Width of the figure of `axes`, in points."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return float(72 * figure.get_figwidth())


def _label_above(axes: Axes, label: str) -> None:
    upper_axis = axes.secondary_xaxis("top")
    upper_axis.set_xticks([])
    upper_axis.xaxis.set_minor_locator(NullLocator())
    upper_axis.spines["top"].set_visible(False)
    upper_axis.set_xlabel(
        wrap_text(label, int((width_of(axes) - 30) / CHARACTER_WIDTH)),
        loc="left",
        labelpad=LABEL_PAD_PT,
    )


def set_log_axis(axes: Axes, values: Sequence[float], label: str) -> None:
    """Set a logarithmic y axis around the positive values, with a label as in `set_y_axis`.

    Values at 0, such as the lower end of a range, are clipped to the axis.
    """
    positive = [value for value in values if value > 0] or [1.0]
    axes.set_yscale("log", nonpositive="clip")
    _label_above(axes, f"{label} (logarithmic axis)")
    few = max(positive) < FEW_DECADES * min(positive)  # powers of ten alone are too few labels
    axes.set_ylim(*enclosing_ticks(positive, LOG_TICKS if few else (1.0,)))
    axes.yaxis.set_major_formatter(lambda value, _: pretty(value, 6))
    axes.yaxis.set_minor_formatter(lambda *_: "")
    if few:
        axes.yaxis.set_major_locator(LogLocator(subs=LOG_TICKS))
    axes.grid(visible=True, axis="y")


def enclosing_ticks(values: Sequence[float], ticks: Sequence[float]) -> tuple[float, float]:
    """Nearest logarithmic ticks below and above all positive `values`, apart from the nearest one by
    `LOG_MARGIN_FACTOR`; `ticks` are those of one power of ten.
    """
    low, high = min(values) / LOG_MARGIN_FACTOR, max(values) * LOG_MARGIN_FACTOR
    first, last = (math.floor(math.log10(end)) for end in (low, high))
    places = [tick * 10.0**power for power in range(first, last + 2) for tick in ticks]
    return max(p for p in places if p <= low), min(p for p in places if p >= high)


def finite_values(*columns: Sequence[float] | np.ndarray | pd.Series | pd.DataFrame) -> list[float]:
    """Finite values of the columns, flattened."""
    return [
        float(v)
        for column in columns
        for v in np.ravel(np.asarray(column, dtype=float))
        if math.isfinite(v)
    ]


def set_plain_log_formatters(figure: Figure) -> None:
    """Set plain number formatters on logarithmic axes: the default is mathtext, which drawings do
    not typeset.
    """
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_scale() == "log":
                axis.set_major_formatter(lambda value, _: pretty(value, 6))
                axis.set_minor_formatter(NullFormatter())
