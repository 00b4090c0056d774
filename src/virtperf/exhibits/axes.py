"""Axes: what their labels say, where their ticks stand, where they end."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.axes import Axes

from virtperf.exhibits.layers import Point
from virtperf.exhibits.style import FONT_PX, RIGHT_PX, Size
from virtperf.exhibits.wording import joined, pretty, printable, wrapped
from virtperf.study.definition import Factor, Study
from virtperf.study.quantities import Level, Quantity

CHARACTER_PX = 0.62 * FONT_PX  # the mean width of a character of the widest likely font
CLOSE = 0.75  # an axis begins above 0 where all values and bands lie above this share of its top
TALL = 2.2  # an axis reaches at most this many times beyond the highest point; wider bands run out of the top


def level_text(factor: Factor, level: Level) -> str:
    """A level as a tick label; numbers with thousands separators."""
    if level in factor.level_labels or isinstance(level, str):
        return printable(factor.show(level))
    return pretty(float(level), 6)


def level_words(factor: Factor, level: Level) -> str:
    """A level within a sentence: ``12 guests``, ``20,480 MB central storage``, ``hardware encryption``."""
    text = level_text(factor, level)
    return text if isinstance(level, str) else f"{text} {factor.noun(level)}"


def unit_words(study: Study, name: str, points: Sequence[Quantity]) -> str:
    """A quantity's unit; ``% of reference`` names the reference point: ``% of z/VM at 12 guests``.

    The reference is the one nearest to the figure's points: in as many factors as possible it agrees with one of them.
    It is described by the factors that vary in the figure or differ from all of its points.
    """
    kind = study.quantities[name]
    if not kind.references or "reference" not in kind.unit:
        return kind.unit
    references = [study.quantity_at(name, at) for at, _ in kind.references]
    nearest = max(references, key=lambda ref: max((_agreement(ref, q) for q in points), default=0))
    texts: list[str] = []
    numbers: list[str] = []
    for factor_name, level in nearest.at:
        if {level} == {q.level(factor_name) for q in points}:
            continue
        factor = study.factors[factor_name]
        (texts if isinstance(level, str) else numbers).append(level_words(factor, level))
    words = ", ".join(texts) if texts else "the value" if numbers else "this point"
    words += f" at {joined(numbers)}" if numbers else ""
    return kind.unit.replace("reference", words)


def _agreement(a: Quantity, b: Quantity) -> int:
    return sum(x == y for x, y in zip(a.at, b.at, strict=True))


def y_label(study: Study, name: str, points: Sequence[Point]) -> str:
    """``Throughput, % of z/VM at 12 guests``."""
    unit = unit_words(study, name, [p.quantity for p in points if p.quantity.name == name])
    label = study.quantities[name].label
    return label if unit == "1" else f"{label}, {unit}"


@dataclass(frozen=True)
class Scale:
    """An x axis before it is drawn, so that margins can follow from it.

    Attributes
    ----------
    levels : tuple
        In the study's order for numbers, so that "more overcommitted" may be on the right; else in the factor's.
    where : dict
        Position of every level in data units.
    width : float
        Of the axis, in CSS pixels.
    """

    levels: tuple[Level, ...]
    where: Mapping[Level, float]
    labels: tuple[str, ...]
    numeric: bool
    width: float

    @property
    def limits(self) -> tuple[float, float]:
        """Left and right end of the axis; the left one is the larger if the levels descend."""
        ends = sorted(self.where.values())
        margin = ((ends[-1] - ends[0]) or 1.0) * (26 / max(self.width - 52, 1)) if self.numeric else 0.5
        low, high = ends[0] - margin, ends[-1] + margin
        descends = self.numeric and self.where[self.levels[0]] > self.where[self.levels[-1]]
        return (high, low) if descends else (low, high)

    @property
    def pixel(self) -> float:
        """Data units of one CSS pixel, negative if the axis descends."""
        left, right = self.limits
        return (right - left) / self.width

    @property
    def room(self) -> float:
        """Pixels between the nearest two levels."""
        ends = sorted(self.where.values())
        return min((b - a for a, b in pairwise(ends)), default=self.width * abs(self.pixel)) / abs(self.pixel)

    @property
    def turned(self) -> bool:
        """Whether the labels have to stand upright."""
        return self.numeric and max(map(len, self.labels)) * CHARACTER_PX + 6 > self.room

    @property
    def tick_labels(self) -> list[str]:
        """Labels that do not run into each other: wrapped words, or upright numbers some of which may be left out."""
        if not self.turned:
            characters = max(6, int(self.room / CHARACTER_PX) - 1)
            return list(self.labels) if self.numeric else [wrapped(label, characters) for label in self.labels]
        shown, last = dict.fromkeys(self.levels, ""), -math.inf
        for level, label in sorted(zip(self.levels, self.labels, strict=True), key=lambda pair: self.where[pair[0]]):
            if (self.where[level] - last) / abs(self.pixel) >= FONT_PX + 2:
                shown[level], last = label, self.where[level]
        return [shown[level] for level in self.levels]

    @property
    def bottom(self) -> int:
        """The margin below the axis, in CSS pixels."""
        lines = max(label.count("\n") + 1 for label in self.tick_labels)
        upright = max(map(len, self.labels)) * CHARACTER_PX
        return round(34 + (upright if self.turned else lines * FONT_PX * 1.25))


def scale(points: Sequence[Point], factor: Factor, width: float, *, numeric: bool = True) -> Scale:
    """The x axis of a figure's points; `numeric` False makes groups of numbers too."""
    levels = list(dict.fromkeys(p.x for p in points))
    numeric = numeric and all(isinstance(level, int | float) for level in levels)
    if not numeric:
        levels.sort(key=factor.levels.index)
    where = {level: float(level) if numeric else float(k) for k, level in enumerate(levels)}
    return Scale(tuple(levels), where, tuple(level_text(factor, level) for level in levels), numeric, width)


def x_axis(axes: Axes, x: Scale, factor: Factor, *, labelled: bool) -> None:
    """Set limits, ticks and label of the x axis; only the lowest of several panels is `labelled`."""
    axes.set_xlim(*x.limits)
    axes.set_xticks([x.where[level] for level in x.levels])
    axes.tick_params(axis="x", length=4 if x.numeric else 0, labelbottom=labelled)
    if labelled:
        axes.set_xticklabels(x.tick_labels, rotation=90 if x.turned else 0)
        label = printable(factor.label)
        axes.set_xlabel(wrapped(label[:1].upper() + label[1:], int(x.width / CHARACTER_PX)), labelpad=6)


def y_top(points: Sequence[Point], bound: float, also: Iterable[float] = ()) -> float:
    """Where the y axis ends: above all points, and above all bands unless they are `TALL` times as high."""
    body = [v for p in points for v in (p.hollow, p.shown, *_ends(p)) if math.isfinite(v)] + [
        v for v in also if math.isfinite(v)
    ]
    bands = [v for p in points for v in (p.high, p.high_bare) if math.isfinite(v)]
    highest = max(body, default=0.0)
    top = min(max([highest, *bands]), TALL * highest) if highest > 0 else max(bands, default=1.0)
    top = (top or 1.0) * 1.06
    return min(top, bound * 1.05) if math.isfinite(bound) else top


def _ends(point: Point) -> tuple[float, ...]:
    return tuple(
        v for mean in (point.reconstructed, point.measured, point.example) if mean for v in (mean.value, mean.high)
    )


def y_floor(points: Sequence[Point], top: float) -> float:
    """Where a line figure's y axis begins: at 0, or just below everything where 0 would press all into one line."""
    values = [v for p in points for v in (p.hollow, p.shown, p.low, p.low_bare, *_ends(p)) if math.isfinite(v)]
    values += [mean.low for p in points for mean in (p.reconstructed, p.measured) if mean and math.isfinite(mean.low)]
    lowest = min(values, default=0.0)
    if lowest < CLOSE * top:
        return 0.0
    step = 10.0 ** math.floor(math.log10(top - lowest)) if top > lowest else 1.0
    return max(0.0, math.floor((lowest - 0.1 * (top - lowest)) / step) * step)


def y_axis(axes: Axes, top: float, label: str, size: Size, *, low: float, floor: float = 0.0) -> None:
    """Set limits, ticks and label of the y axis: from 0, from `floor`, or from below 0.

    The label stands above the axis, where it needs no turned head and no left margin; it says where the axis begins.
    """
    bottom = floor if low >= 0 else -top
    label += f" (axis begins at {pretty(floor)})" if floor and low >= 0 else ""
    axes.set_ylim(bottom, top)
    axes.locator_params(axis="y", nbins=5 if size.narrow else 6)
    axes.yaxis.set_major_formatter(lambda value, _: pretty(value, 6))
    axes.set_title(wrapped(printable(label), int((size.width - 30) / CHARACTER_PX)), loc="left", pad=10, x=-0.0)


def left_margin(tops: Iterable[float]) -> int:
    """Room for the widest y tick label, in CSS pixels."""
    return max(40, *(round(len(pretty(top, 2)) * CHARACTER_PX) + 16 for top in tops))


def plot_width(size: Size, left: int) -> float:
    """What margins leave of a drawing's width."""
    return size.width - left - RIGHT_PX
