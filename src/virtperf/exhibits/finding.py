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
    printed = int(points["printed"].notna().sum())
    if printed == len(rows):
        lead = "Values as printed. "
    else:
        lead = "Reconstructed values. " if points["reconstructed"].notna().any() else ""
        lead += f"{plural(printed, 'value').capitalize()} as printed. " if printed else ""
    series = points.groupby("series", sort=False)
    several = len(series) > 1
    sentences = [_course(label, part.dropna(subset="told"), factor) for label, part in series]
    sentences += [_bands(rows, factor, several), _measured(rows, factor, several, printed == len(rows))]
    return lead + " ".join(filter(None, sentences))


def _course(label: object, told: pd.DataFrame, factor: Factor) -> str:
    """How a series runs: the levels in their order, each with the value that words speak of."""
    levels, values = told["x"].tolist(), told["told"].tolist()
    if not values:
        return f"{label}: no values yet."
    if not all(isinstance(level, int | float) for level in levels):
        shown = (f"{_short(v)} ({level_words(factor, level)})" for v, level in zip(values, levels, strict=True))
        return f"{label}: {joined(shown)}."
    first = f"{_short(values[0])} at {level_words(factor, levels[0])}"
    if len(values) == 1:
        return f"{label}: {first}."
    lowest, highest = min(values), max(values)
    if highest - lowest < FLAT * max(abs(lowest), abs(highest)):
        return f"{label}: constant, about {_short((highest + lowest) / 2)}."

    def at(value: float) -> str:
        return f"{_short(value)} at {level_text(factor, levels[values.index(value)])}"

    last = f"{_short(values[-1])} at {level_text(factor, levels[-1])}"
    if values == sorted(values):
        return f"{label}: rising from {first} to {last}."
    if values == sorted(values, reverse=True):
        return f"{label}: falling from {first} to {last}."
    if 0 < values.index(highest) < len(values) - 1:
        return f"{label}: from {first} up to {at(highest)}, then down to {last}."
    return f"{label}: from {first} down to {at(lowest)}, then up to {last}."


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
