"""What a figure shows, in sentences computed from its points: caption and alternative text."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from virtperf.exhibits.axis_words import level_text, level_words
from virtperf.exhibits.joined import rows_of
from virtperf.exhibits.wording import PROSE_SIGNIFICANT, joined, plural, pretty
from virtperf.study.definition import Factor

NAMED = 6  # measured points whose values are told
FLAT = 0.01  # a series whose values differ by less than this share of the largest is called constant


def finding(points: pd.DataFrame, factor: Factor) -> str:
    """One sentence a series and one on the bands: direction, extremes, widest and open bands, measured points.

    Parameters
    ----------
    points : DataFrame
        As `exhibits.joined.joined` makes it.
    factor : Factor
        Of the figure's axis.
    """
    rows = rows_of(points)
    series: dict[str, list[Any]] = {}
    for row in rows:
        series.setdefault(row.series, []).append(row)
    printed = sum(not math.isnan(p.printed) for p in rows)
    if printed == len(rows):
        lead = "Values as printed. "
    else:
        lead = "Reconstructed values. " if points["reconstructed"].notna().any() else ""
        lead += f"{plural(printed, 'value').capitalize()} as printed. " if printed else ""
    several = len(series) > 1
    sentences = [_course(label, part, factor) for label, part in series.items()]
    sentences += [_bands(rows, factor, several), _measured(rows, factor, several, printed == len(rows))]
    return lead + " ".join(filter(None, sentences))


def _course(label: str, points: list[Any], factor: Factor) -> str:
    values = [(float(p.told), p) for p in points if not math.isnan(p.told)]
    if not values:
        return f"{label}: no values yet."
    first, last = values[0], values[-1]

    def at(pair: tuple[float, Any], *, unit: bool = False) -> str:
        where = level_words(factor, pair[1].x) if unit else level_text(factor, pair[1].x)
        return f"{_short(pair[0])} at {where}"

    numbers = [v for v, _ in values]
    if not all(isinstance(p.x, int | float) for _, p in values):
        return f"{label}: {joined(f'{_short(v)} ({level_words(factor, p.x)})' for v, p in values)}."
    if len(values) == 1:
        return f"{label}: {at(first, unit=True)}."
    highest, lowest = max(values, key=lambda pair: pair[0]), min(values, key=lambda pair: pair[0])
    if max(numbers) - min(numbers) < FLAT * max(abs(n) for n in numbers):
        return f"{label}: constant, about {_short((max(numbers) + min(numbers)) / 2)}."
    if numbers == sorted(numbers):
        return f"{label}: rising from {at(first, unit=True)} to {at(last)}."
    if numbers == sorted(numbers, reverse=True):
        return f"{label}: falling from {at(first, unit=True)} to {at(last)}."
    if highest is not first and highest is not last:
        return f"{label}: from {at(first, unit=True)} up to {at(highest)}, then down to {at(last)}."
    return f"{label}: from {at(first, unit=True)} down to {at(lowest)}, then up to {at(last)}."


def _short(value: float) -> str:
    return pretty(value, PROSE_SIGNIFICANT)


def _bands(points: list[Any], factor: Factor, several: bool) -> str:
    known = [p for p in points if p.banded]
    parts = []
    open_ended = [p for p in known if math.isinf(p.high)]
    if open_ended:
        parts.append(f"The text sets no upper limit for {joined(_place(p, factor, several) for p in open_ended)}.")
    closed = [p for p in known if math.isfinite(p.high) and math.isfinite(p.low)]
    widest = max(closed, key=_relative_width, default=None)
    if widest is not None and _relative_width(widest) > 1e-9:
        where = _place(widest, factor, several)
        parts.append(f"Least certain: {where}, {_short(widest.low)} to {_short(widest.high)}.")
    return " ".join(parts)


def _place(point: Any, factor: Factor, several: bool) -> str:
    words = level_words(factor, point.x)
    joint = ", " if isinstance(point.x, str) else " at "
    return f"{point.series}{joint}{words}" if several else words


def _relative_width(point: Any) -> float:
    scale = max(abs(point.low), abs(point.high))
    return (point.high - point.low) / scale if scale else 0.0


def _measured(points: list[Any], factor: Factor, several: bool, all_printed: bool) -> str:
    measured = [p for p in points if not math.isnan(p.measured)]
    if not measured:
        return "" if all_printed else "Not yet tested by measurement."
    text = plural(len(measured), "measured point")
    if len(measured) <= NAMED:
        shown = [f"{_short(p.measured)} ({_place(p, factor, several)})" for p in measured]
        text = f"Measured: {joined(shown)}. {text}"
    compared = [p for p in measured if p.known and not p.sets_scale]
    inside = sum(p.measured_low <= p.high and p.measured_high >= p.low for p in compared)
    if not compared:
        return f"{text}."
    if len(compared) == 1:
        which = "which" if len(measured) == 1 else "the one of which that can be compared"
        return f"{text}, {which} {'agrees' if inside else 'does not agree'} with what the text allows."
    all_of = "which" if len(compared) == len(measured) else f"the {len(compared)} that can be compared"
    which = f"{'all' if inside == len(compared) else inside or 'none'} of {all_of}"
    return f"{text}, {which} {'agree' if inside > 1 else 'agrees'} with what the text allows."
