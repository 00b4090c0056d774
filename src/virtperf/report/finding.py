"""What a figure shows, in sentences computed from its points: caption and alternative text.

A single value is told only where the range is narrow, a course only where the ranges leave no
other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any

import pandas as pd

from virtperf.report.axis_words import level_words, tick_label
from virtperf.report.frames import allowed, merge_pieces, shown_as_printed
from virtperf.report.range_words import WIDE
from virtperf.report.wording import joined, plural, short_number
from virtperf.study.definition import Factor

MAX_NAMED_POINTS = 6  # points of one series, and measured points, whose values are told
COURSE_ENDS = 0.1  # half-width of the ends of a course, as a share of their middle
ORDER_ONLY = 10.0
"""A point that claims order among others is told as such where its range is open, or its upper limit
more than so many times the lower one: the range says something of the value otherwise."""
LOPSIDED = 2.0
"""Up to how many times as far a range reaches to one side of a printed number as to the other."""
VISIBLE = 0.01
"""As a share of the printed number: a range that reaches no further is told by it in any case."""
MAX_ORDERS = 3  # claims that are told where they state nothing but an order
MAX_CLAIM_CHARACTERS = 80  # characters of such a claim
SPLIT = "Two ranges: the paper contradicts itself there, and each way to resolve that leaves one of them."


def finding(points: pd.DataFrame, factor: Factor, orders: Sequence[str] = ()) -> str:
    """One sentence a series: its values or ranges, or its course where the ranges fix it; then
    orders, then runs.

    `points` are as `joined` makes them, with a column `ordered`: whether a claim orders the point
        among others.
    `factor` is that of the figure's axis, `orders` the claims that state nothing but an order.
    """
    points, own = _with_measured(points)
    rows: list[Any] = list(points.itertuples(index=False))
    others = [row for row, measured in zip(rows, own, strict=True) if not measured]
    lead = (
        "Measured means."
        if own.all()
        else "Printed values."
        if shown_as_printed(points).all()
        else ""
    )
    ours = sum(p.known and (p.low, p.high) != (p.low_text, p.high_text) for p in others)
    lead = (
        f"Values with our assumptions, which narrow {ours} of {plural(len(rows), 'range')}:"
        if ours and not lead
        else lead
    )
    alike: dict[str, list[str]] = {}
    for label in dict.fromkeys(row.series for row in rows):
        said = _series([row for row in rows if row.series == label], factor)
        alike.setdefault(said, []).append(str(label))
    sentences = [
        f"{'; '.join(labels) if ',' in ''.join(labels) else joined(labels)}: {said}."
        for said, labels in alike.items()
        if said
    ]
    wide = any(p.known and _phrase(p).startswith(_ORDER) for p in rows)
    brief = [claim for claim in orders if len(claim) <= MAX_CLAIM_CHARACTERS][
        : MAX_ORDERS if wide else 0
    ]
    told = f"The text says: {' '.join(brief)}" if brief else ""
    split = SPLIT if any(" or " in said for said in alike) else ""
    several = points["series"].nunique() > 1
    return " ".join(
        filter(None, [lead, *sentences, split, told, _measured(others, factor, several)])
    )


def _with_measured(points: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """Where a text says nothing of a point, its measured mean and interval take the place of value
    and range.
    """
    own = ~points["known"] & points["printed"].isna() & points["measured"].notna()
    ends = {end: points[f"measured_{end}"].fillna(points["measured"]) for end in ("low", "high")}
    taken = {"low": ends["low"], "high": ends["high"], "printed": points["measured"], "known": own}
    return points.assign(
        **{name: points[name].mask(own, values) for name, values in taken.items()}
    ), own


_ORDER = "order only"


def _series(points: list[Any], factor: Factor) -> str:
    """The points of one series in the order of their levels; "" where only runs say something of
    them.
    """
    known = [p for p in points if p.known or math.isfinite(p.printed)]
    if not known:
        return "" if any(math.isfinite(p.measured) for p in points) else "no values"
    numeric = all(isinstance(p.x, int | float) for p in known)
    course = _course(known, factor) if numeric and len(known) > 2 else ""
    if course:
        return course
    parts: list[str] = []
    for phrase, group in groupby(known, key=_phrase):
        levels = [p.x for p in group]
        words = [tick_label(factor, x) for x in levels]
        words[0] = words[0] if parts and numeric else level_words(factor, levels[0])
        parts.append(f"{phrase} at {joined(words)}" if numeric else f"{phrase} ({joined(words)})")
    if len(parts) > MAX_NAMED_POINTS:
        parts = [*parts[: MAX_NAMED_POINTS - 1], f"{parts[-1]}; the numbers have the rest"]
    return ", ".join(parts)


def _phrase(point: Any) -> str:
    """What is known of one point: a value, a range, or an order among others."""
    printed = math.isfinite(point.printed)
    aside = f" (printed: {short_number(point.printed)})" if printed else ""
    if len(merge_pieces(point.pieces)) > 2 and math.isfinite(point.high):
        return f"{allowed(point.pieces)}{aside}"
    if printed and (not point.known or _stands_for(point)):
        return short_number(point.printed)
    if short_number(point.low) == short_number(point.high):
        return f"{short_number(point.low)}{aside}"
    if point.high <= WIDE * point.low:
        return f"{short_number(point.low)} to {short_number(point.high)}{aside}"
    if point.ordered and not point.high <= ORDER_ONLY * point.low:
        return f"{_ORDER}{aside}"
    if math.isinf(point.high):
        return (
            f"at least {short_number(point.low)}" if point.low > 0 else "no upper limit"
        ) + aside
    high = short_number(point.high)
    return (
        f"between {short_number(point.low)} and {high}{aside}"
        if point.low > 0
        else f"at most {high}{aside}"
    )


def _stands_for(point: Any) -> bool:
    """Whether a printed number tells the range around it: not where the range reaches much further to
    one side, since another number is printed, too, or other claims cut off the other side.
    """
    below, above = point.printed - point.low, point.high - point.printed
    if min(below, above) < 0:
        return False
    near, far = sorted((below, above))
    return far <= LOPSIDED * near or far <= VISIBLE * abs(point.printed)


def is_wide(point: Any) -> bool:
    """Whether nothing is printed of a point, and its range has no upper end or one over `WIDE`
    times the lower.
    """
    if math.isfinite(point.printed):
        return False
    return (
        not point.known
        or math.isinf(point.high)
        or (point.high > WIDE * point.low and not is_narrow(point.low, point.high))
    )


def is_narrow(low: float, high: float) -> bool:
    """Whether a range is closed and at most `COURSE_ENDS` of its middle to either side."""
    return high - low <= COURSE_ENDS * (high + low) and math.isfinite(high)


def _course(points: list[Any], factor: Factor) -> str:
    """How values run that their ranges leave only one direction at every step; "" where some step
    is open.
    """
    # 1 where a point is above the one before for certain, -1 where it is below, 0 where their
    # ranges overlap.
    steps = [int(b.low > a.high) - int(b.high < a.low) for a, b in pairwise(points)]
    turns = [k for k, (a, b) in enumerate(pairwise(steps), 1) if a != b]
    if (
        0 in steps
        or len(turns) > 1
        or not all(is_narrow(p.low, p.high) for p in (points[0], points[-1]))
    ):
        return ""
    # "from 84.5 to 102 to 1,320" would be read as three values
    values = [_phrase(p).replace(" to ", "–") for p in points]
    ends = [f"{v} at {tick_label(factor, p.x)}" for v, p in zip(values, points, strict=True)]
    first = f"{values[0]} at {level_words(factor, points[0].x)}"
    ways = {1: "rising", -1: "falling"}
    if not turns:
        return f"{ways[steps[0]]} from {first} to {ends[-1]}"
    return (
        f"{ways[steps[0]]} from {first} to {ends[turns[0]]}, then {ways[steps[-1]]} to {ends[-1]}"
    )


def _measured(points: list[Any], factor: Factor, several: bool) -> str:
    measured = [p for p in points if not math.isnan(p.measured)]
    if not measured:
        return ""
    shown = []
    for point in measured:
        series = f"{point.series}{', ' if isinstance(point.x, str) else ' at '}" if several else ""
        shown.append(f"{short_number(point.measured)} ({series}{level_words(factor, point.x)})")
    text = (
        f"Measured: {joined(shown)}."
        if len(measured) <= MAX_NAMED_POINTS
        else f"{plural(len(measured), 'measured point')}."
    )
    compared = [p for p in measured if p.known and not p.reference]
    ends = [
        (p.measured, p.measured)
        if math.isnan(p.measured_low)
        else (p.measured_low, p.measured_high)
        for p in compared
    ]
    inside = sum(
        low <= p.high and high >= p.low for p, (low, high) in zip(compared, ends, strict=True)
    )
    if not compared:
        return text
    if all(low == high for low, high in ends):
        verb = "lies" if inside == 1 else "lie"
        return f"{text} {inside} of {len(compared)} {verb} within what the text allows."
    if len(compared) == 1:
        said = f"The interval {'overlaps' if inside else 'does not overlap'}"
    else:
        said = f"{inside} of {len(compared)} intervals {'overlaps' if inside == 1 else 'overlap'}"
    return f"{text} {said} what the text allows."
