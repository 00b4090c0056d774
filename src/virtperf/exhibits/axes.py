"""Axes: what their labels say, where their ticks stand, where they end."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes

from virtperf.exhibits.layers import Point
from virtperf.exhibits.style import FONT_PX, Size
from virtperf.exhibits.words import joined, pretty, printable, wrapped
from virtperf.quantities import Level, Quantity
from virtperf.study import Factor, Study

CHARACTER_PX = 0.62 * FONT_PX  # the mean width of a character of the widest likely font
TALL = 2.2  # an axis reaches at most this many times beyond the highest point; wider bands run out of the top


def level_text(factor: Factor, level: Level) -> str:
    """A level as a tick label; numbers with thousands separators."""
    if level in factor.level_labels or isinstance(level, str):
        return printable(factor.show(level))
    return pretty(float(level), 6)


def level_words(factor: Factor, level: Level) -> str:
    """A level within a sentence: ``12 guests``, ``20,480 MB central storage``, ``hardware encryption``."""
    text = level_text(factor, level)
    return text if isinstance(level, str) else f"{text} {factor.label}"


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
    words = joined(texts) if texts else "the value" if numbers else "this point"
    words += f" at {joined(numbers)}" if numbers else ""
    return kind.unit.replace("reference", words)


def _agreement(a: Quantity, b: Quantity) -> int:
    return sum(x == y for x, y in zip(a.at, b.at, strict=True))


def positions(points: Iterable[Point], factor: Factor) -> tuple[list[Level], dict[Level, float], bool]:
    """The axis' levels in the study's order, where they stand, and whether the axis is numeric."""
    levels = list(dict.fromkeys(p.x for p in points))
    numeric = all(isinstance(level, int | float) for level in levels)
    if numeric:
        return levels, {level: float(level) for level in levels}, True
    levels.sort(key=factor.levels.index)
    return levels, {level: float(k) for k, level in enumerate(levels)}, False


def x_axis(
    axes: Axes, levels: list[Level], where: dict[Level, float], factor: Factor, size: Size, *, numeric: bool
) -> float:
    """Set limits, ticks and label of the x axis; returns the data units of one CSS pixel (negative if it descends).

    A numeric axis runs the way in which the study lists its levels, so that "more overcommitted" may be on the right.
    """
    width = axes.get_position().width * size.width
    ends = sorted(where.values())
    span = (ends[-1] - ends[0]) or 1.0
    margin = span * (26 / max(width - 52, 1)) if numeric else 0.5
    low, high = ends[0] - margin, ends[-1] + margin
    descends = numeric and len(levels) > 1 and where[levels[0]] > where[levels[-1]]
    axes.set_xlim((high, low) if descends else (low, high))
    per_pixel = (high - low) / width * (-1 if descends else 1)
    axes.set_xticks([where[level] for level in levels])
    room = min((b - a for a, b in itertools.pairwise(ends)), default=span) / abs(per_pixel)
    labels = [level_text(factor, level) for level in levels]
    if numeric and max(map(len, labels)) * CHARACTER_PX + 6 > room:
        axes.set_xticklabels(_thinned(labels, levels, where, abs(per_pixel)), rotation=90)
    else:
        characters = max(6, int(room / CHARACTER_PX) - 1)
        axes.set_xticklabels(labels if numeric else [wrapped(label, characters) for label in labels])
    label = printable(factor.label)
    axes.set_xlabel(wrapped(label[:1].upper() + label[1:], int(width / CHARACTER_PX)), labelpad=6)
    return per_pixel


def _thinned(labels: list[str], levels: list[Level], where: dict[Level, float], per_pixel: float) -> list[str]:
    """Turned labels need a line's height each: those that stand too near to the last one shown are left empty."""
    shown, last = dict.fromkeys(levels, ""), -math.inf
    for level, label in sorted(zip(levels, labels, strict=True), key=lambda pair: where[pair[0]]):
        if (where[level] - last) / per_pixel >= FONT_PX + 2:
            shown[level], last = label, where[level]
    return [shown[level] for level in levels]


def y_top(points: Sequence[Point], bound: float, also: Iterable[float] = ()) -> float:
    """Where the y axis ends: above all points, and above all bands unless they are `TALL` times as high."""
    body = [v for p in points for v in (p.hollow, *_ends(p)) if math.isfinite(v)] + [
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


def y_axis(axes: Axes, top: float, label: str, size: Size, *, low: float) -> None:
    """Set limits, ticks and label of the y axis: it begins at 0 unless the quantity can be negative.

    The label stands above the axis, where it needs no turned head and no left margin.
    """
    bottom = 0.0 if low >= 0 else -top
    axes.set_ylim(bottom, top)
    axes.locator_params(axis="y", nbins=5 if size.narrow else 6)
    axes.yaxis.set_major_formatter(lambda value, _: pretty(value, 6))
    axes.set_title(wrapped(printable(label), int((size.width - 30) / CHARACTER_PX)), loc="left", pad=10, x=-0.0)


def left_margin(tops: Iterable[float]) -> int:
    """Room for the widest y tick label, in CSS pixels."""
    return max(40, *(round(len(pretty(top, 2)) * CHARACTER_PX) + 16 for top in tops))
