"""What a figure shows, in a sentence computed from its points: caption, alternative text."""

from __future__ import annotations

import math

from virtperf.exhibits.axes import level_text, level_words
from virtperf.exhibits.layers import Point
from virtperf.exhibits.wording import PROSE_SIGNIFICANT, joined, plural, pretty
from virtperf.study.definition import Factor, Study

NAMED = 6  # measured points whose values are told
FLAT = 0.01  # a series whose values differ by less than this share of the largest is called level


def finding(study: Study, points: list[Point]) -> str:
    """One sentence a series and one on the bands: direction, extremes, widest and open bands, measured points."""
    factor = study.factors[points[0].series.over]
    series: dict[str, list[Point]] = {}
    for point in points:
        series.setdefault(point.series.label, []).append(point)
    sentences = [_course(label, part, factor) for label, part in series.items()]
    printed = sum(p.published is not None for p in points)
    if printed == len(points):
        lead = "Values as printed. "
    else:
        computed = any(math.isfinite(p.hollow) for p in points)
        lead = "Reconstructed values, in the middle of what the text allows. " if computed else ""
        lead += f"{plural(printed, 'value').capitalize()} as printed. " if printed else ""
    return lead + " ".join(filter(None, [*sentences, _bands(points, factor), _measured(study, points, factor)]))


def _course(label: str, points: list[Point], factor: Factor) -> str:
    values = [(_told(p), p) for p in points]
    values = [(v, p) for v, p in values if math.isfinite(v)]
    if not values:
        return f"{label}: no values yet."
    first, last = values[0], values[-1]

    def at(pair: tuple[float, Point], *, unit: bool = False) -> str:
        where = level_words(factor, pair[1].x) if unit else level_text(factor, pair[1].x)
        return f"{_short(pair[0])} at {where}"

    numbers = [v for v, _ in values]
    if not all(isinstance(p.x, int | float) for _, p in values):
        return f"{label}: {joined(f'{_short(v)} ({level_words(factor, p.x)})' for v, p in values)}."
    if len(values) == 1:
        return f"{label}: {at(first, unit=True)}."
    highest, lowest = max(values, key=lambda pair: pair[0]), min(values, key=lambda pair: pair[0])
    if max(numbers) - min(numbers) < FLAT * max(abs(n) for n in numbers):
        return f"{label}: level, between {pretty(min(numbers))} and {pretty(max(numbers))}."
    if numbers == sorted(numbers):
        return f"{label}: rising from {at(first, unit=True)} to {at(last)}."
    if numbers == sorted(numbers, reverse=True):
        return f"{label}: falling from {at(first, unit=True)} to {at(last)}."
    if highest is not first and highest is not last:
        return f"{label}: from {at(first, unit=True)} up to {at(highest)}, then down to {at(last)}."
    return f"{label}: from {at(first, unit=True)} down to {at(lowest)}, then up to {at(last)}."


def _told(point: Point) -> float:
    """What the text tells: printed or reconstructed; measured numbers have a sentence of their own."""
    if point.published is not None:
        return point.published.value
    return point.hollow if math.isfinite(point.hollow) or point.measured is None else point.measured.value


def _short(value: float) -> str:
    return pretty(value, PROSE_SIGNIFICANT)


def _bands(points: list[Point], factor: Factor) -> str:
    known = [p for p in points if p.banded]
    if not known:
        return ""
    several = len({p.series.label for p in points}) > 1

    def where(point: Point) -> str:
        return _place(point, factor, several)

    parts = []
    open_ended = [p for p in known if math.isinf(p.high)]
    if open_ended:
        parts.append(f"The text sets no upper limit for {joined(where(p) for p in open_ended)}.")
    closed = [p for p in known if math.isfinite(p.high) and math.isfinite(p.low)]
    widest = max(closed, key=_relative_width, default=None)
    if widest is not None and _relative_width(widest) > 1e-9:
        parts.append(f"The text leaves most room for {where(widest)}: {_short(widest.low)} to {_short(widest.high)}.")
    return " ".join(parts)


def _place(point: Point, factor: Factor, several: bool) -> str:
    words = level_words(factor, point.x)
    joint = ", " if isinstance(point.x, str) else " at "
    return f"{point.series.label}{joint}{words}" if several else words


def _relative_width(point: Point) -> float:
    scale = max(abs(point.low), abs(point.high))
    return (point.high - point.low) / scale if scale else 0.0


def _measured(study: Study, points: list[Point], factor: Factor) -> str:
    measured = [p for p in points if p.measured]
    if not measured:
        return "" if all(p.published for p in points) else "Nothing has been measured yet."
    text = plural(len(measured), "measured point")
    several = len({p.series.label for p in points}) > 1
    if len(measured) <= NAMED:
        shown = [f"{_short(p.measured.value)} ({_place(p, factor, several)})" for p in measured if p.measured]
        text = f"Measured: {joined(shown)}. {text}"
    compared = [p for p in measured if p.known and not _sets_the_scale(study, p)]
    inside = sum(p.measured.low <= p.high and p.measured.high >= p.low for p in compared if p.measured)
    if not compared:
        return f"{text}."
    if len(compared) == 1:
        which = "which" if len(measured) == 1 else "the one of which that can be compared"
        return f"{text}, {which} {'agrees' if inside else 'does not agree'} with what the text allows."
    all_of = "which" if len(compared) == len(measured) else f"the {len(compared)} that can be compared"
    which = f"{'all' if inside == len(compared) else inside or 'none'} of {all_of}"
    return f"{text}, {which} {'agree' if inside > 1 else 'agrees'} with what the text allows."


def _sets_the_scale(study: Study, point: Point) -> bool:
    """Whether a relative value is what it is by convention, so that its agreement says nothing."""
    reference = study.reference_for(point.quantity)
    return point.quantity == (point.anchor or (reference[0] if reference else None))
