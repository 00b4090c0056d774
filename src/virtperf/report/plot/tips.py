"""What stands at a point of a figure, in words: shown where a pointer rests on it, or on a tap."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from virtperf.report.plot import marks
from virtperf.report.wording import interval, short_number

_KEY = "virtperf_tips"
_WORDS = {marks.TEXT: "the text allows", marks.WITH_ASSUMPTIONS: "with our assumptions"}
_MARKS = {marks.PRINTED: "printed ", marks.SOLID: "measured ", marks.CROSS: "example "}


@dataclass(frozen=True)
class Tip:
    """Words at `x` of an axis (data units), `shift` points to its right, over `width` points."""

    axes: Axes
    x: float
    shift: float
    width: float
    text: str


def add(tip: Tip) -> None:
    """Keep a tip with the figure of its axes."""
    tip.axes.get_figure(root=True).__dict__.setdefault(_KEY, []).append(tip)


def words(bands: pd.DataFrame, points: pd.DataFrame) -> str:
    """What is known at one point: its ranges, then printed and measured values; "" for nothing."""
    parts = []
    ranges: dict[str, list[str]] = {}
    for kind, low, high in zip(bands["kind"], bands["low"], bands["high"], strict=True):
        ranges.setdefault(str(kind), []).append(interval(float(low), float(high)))
    told = {kind: " or ".join(found) for kind, found in ranges.items()}
    if told.get(marks.WITH_ASSUMPTIONS) == told.get(marks.TEXT):
        told.pop(marks.WITH_ASSUMPTIONS, None)
    own = _WORDS if marks.TEXT in told else {marks.WITH_ASSUMPTIONS: "allowed"}
    parts += [f"{own[kind]} {found}" for kind, found in told.items()]
    numbers = points[["value", "low", "high"]].to_numpy(dtype=float)
    for kind, (value, low, high) in zip(points["mark"], numbers, strict=True):
        known = kind != marks.PRINTED and math.isfinite(low) and math.isfinite(high)
        ends = f" ({short_number(low)} to {short_number(high)})" if known else ""
        parts.append(f"{_MARKS.get(kind, '')}{short_number(value)}{ends}")
    return "; ".join(parts)


def placed(figure: Figure) -> Iterator[tuple[str, dict[str, float]]]:
    """The words of each tip and its rectangle, in points from the upper left corner of a figure
    that has been drawn, so that its layout is known.
    """
    tips: list[Tip] = figure.__dict__.get(_KEY, [])
    width, height = (72 * float(inches) for inches in figure.get_size_inches())
    for tip in tips:
        box = tip.axes.get_position()
        left, right = tip.axes.get_xlim()
        at = box.x0 + (tip.x - left) / (right - left) * box.width
        x, y = at * width + tip.shift - tip.width / 2, (1 - box.y1) * height
        yield tip.text, {"x": x, "y": y, "width": tip.width, "height": box.height * height}
