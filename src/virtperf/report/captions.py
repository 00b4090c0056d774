"""Captions and alternative texts computed from a figure's points.

A single value is given only if the range is narrow, a trend only if the ranges determine it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any

import pandas as pd

from virtperf.core.numbers import join_words, plural
from virtperf.report.axis_words import level_words, tick_label
from virtperf.report.frames import allowed, is_printed_value, merge_pieces
from virtperf.report.range_words import is_within_factor
from virtperf.report.wording import short_number
from virtperf.study.definition import Factor

MAX_NAMED_POINTS = 6  # most values listed for one series, and for measured points
NARROW_HALF_WIDTH = 0.1  # relative half-width up to which a range is narrow
MAX_ASYMMETRY = 2.0
"""Largest ratio of the distances from a printed number to the ends of the range it represents."""
NEGLIGIBLE_SHARE = 0.01
"""Relative to the printed number: a range that extends no further is always reported by it."""
MAX_ORDERS = 3  # order-only claims quoted in a caption
MAX_CLAIM_CHARACTERS = 80  # longer order-only claims are not quoted
SPLIT_START = "Several ranges"
SPLIT_NOTE = f"{SPLIT_START}: the claims contradict each other there, and each resolution leaves one of them."


def caption(points: pd.DataFrame, factor: Factor, orders: Sequence[str] = ()) -> str:
    """Caption: one sentence a series with values, ranges or a trend; then orders, then measured
    runs.

    `points`: the frame of `frames.point_table` with a column `ordered`: whether a claim orders the
        point among others.
    `factor`: the factor of the figure's axis. `orders`: the claims that state only an order.
    """
    rows: list[Any] = [row for _, row in points.iterrows()]
    of_text = [p for p in rows if p.known or math.isfinite(p.printed)]
    described = of_text or [p for p in rows if math.isfinite(p.measured)]
    lead = (
        "Measured values."
        if described and not of_text
        else "Printed values."
        if is_printed_value(points).all()
        else ""
    )
    ours = sum(p.known and (p.low, p.high) != (p.low_text, p.high_text) for p in of_text)
    lead = (
        f"Values with our assumptions, which narrow {ours} of {plural(len(rows), 'range')}:"
        if ours and not lead
        else lead
    )
    labels_by_sentence: dict[str, list[str]] = {}
    for label in dict.fromkeys(row.series for row in rows):
        of_series = [point for point in described if point.series == label]
        if not of_series and any(math.isfinite(p.measured) for p in rows if p.series == label):
            continue  # a series of runs only, beside others with a text
        sentence = _series(of_series, factor)
        labels_by_sentence.setdefault(sentence, []).append(str(label))
    sentences = [
        f"{'; '.join(labels) if ',' in ''.join(labels) else join_words(labels)}: {sentence}."
        for sentence, labels in labels_by_sentence.items()
    ]
    wide = any(_phrase(p).startswith(_ORDER) for p in of_text if p.known)
    short_claims = [claim for claim in orders if len(claim) <= MAX_CLAIM_CHARACTERS][
        : MAX_ORDERS if wide else 0
    ]
    text_sentence = f"The text says: {' '.join(short_claims)}" if short_claims else ""
    split = SPLIT_NOTE if any(" or " in sentence for sentence in labels_by_sentence) else ""
    several = points["series"].nunique() > 1
    measured = _measured(rows, factor, several) if of_text else ""
    return " ".join(filter(None, [lead, *sentences, split, text_sentence, measured]))


_ORDER = "order only"


def _series(points: list[Any], factor: Factor) -> str:
    """Describe the points of one series in level order, all by the text or all by their runs."""
    if not points:
        return "no values"
    known = points
    numeric = all(isinstance(p.x, int | float) for p in known)
    trend = _trend(known, factor) if numeric and len(known) > 2 else ""
    if trend:
        return trend
    parts: list[str] = []
    for phrase, group in groupby(known, key=_phrase):
        levels = [p.x for p in group]
        words = [tick_label(factor, x) for x in levels]
        words[0] = words[0] if parts and numeric else level_words(factor, levels[0])
        parts.append(
            f"{phrase} at {join_words(words)}" if numeric else f"{phrase} ({join_words(words)})"
        )
    if len(parts) > MAX_NAMED_POINTS:
        parts = [*parts[: MAX_NAMED_POINTS - 1], f"{parts[-1]}; for the rest see the numbers"]
    return ", ".join(parts)


def _phrase(point: Any) -> str:
    """Describe one point by the text: a value, a range, or only an order; without a text by its
    runs: their mean, with the interval if it is wide.
    """
    printed = math.isfinite(point.printed)
    if not point.known and not printed:
        ends = _ends(point)
        sides = " to ".join(map(short_number, ends))
        return f"{short_number(point.measured)}{'' if is_narrow(*ends) else f' ({sides})'}"
    aside = f" (printed: {short_number(point.printed)})" if printed else ""
    if len(merge_pieces(point.pieces)) > 2 and math.isfinite(point.high):
        return f"{allowed(point.pieces)}{aside}"
    if printed and (not point.known or _printed_represents_range(point)):
        return short_number(point.printed)
    if short_number(point.low) == short_number(point.high):
        return f"{short_number(point.low)}{aside}"
    if is_within_factor(point.low, point.high):
        return f"{short_number(point.low)} to {short_number(point.high)}{aside}"
    if math.isinf(point.high) and point.ordered:
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


def _printed_represents_range(point: Any) -> bool:
    """Whether a printed number represents the range around it: not if the range is much longer on
    one side, because another number is printed, too, or other claims cut off the other side.
    """
    below, above = point.printed - point.low, point.high - point.printed
    if min(below, above) < 0:
        return False
    near, far = sorted((below, above))
    return far <= MAX_ASYMMETRY * near or far <= NEGLIGIBLE_SHARE * abs(point.printed)


def is_narrow(low: float, high: float) -> bool:
    """Whether a range is bounded and its half-width is at most `NARROW_HALF_WIDTH` of its middle."""
    return high - low <= NARROW_HALF_WIDTH * (high + low) and math.isfinite(high)


def _trend(points: list[Any], factor: Factor) -> str:
    """Describe a trend whose direction is determined by the ranges at every step; "" if one is not."""
    ends = [_ends(p) for p in points]
    # 1: certainly above the previous point, -1: certainly below, 0: the ranges overlap
    steps = [int(b[0] > a[1]) - int(b[1] < a[0]) for a, b in pairwise(ends)]
    turns = [k for k, (a, b) in enumerate(pairwise(steps), 1) if a != b]
    if 0 in steps or len(turns) > 1 or not all(is_narrow(*ends[k]) for k in (0, -1)):
        return ""
    # "from 84.5 to 102 to 1,320" would be read as three values
    values = [_phrase(p).replace(" to ", "–") for p in points]
    places = [f"{v} at {tick_label(factor, p.x)}" for v, p in zip(values, points, strict=True)]
    first = f"{values[0]} at {level_words(factor, points[0].x)}"
    ways = {1: "rising", -1: "falling"}
    if not turns:
        return f"{ways[steps[0]]} from {first} to {places[-1]}"
    return f"{ways[steps[0]]} from {first} to {places[turns[0]]}, then {ways[steps[-1]]} to {places[-1]}"


def _ends(point: Any) -> tuple[float, float]:
    """Limits by the text, else the interval of the runs, or their mean without one."""
    if point.known:
        return point.low, point.high
    if math.isfinite(point.printed):
        return point.printed, point.printed
    return _run_ends(point)


def _run_ends(point: Any) -> tuple[float, float]:
    """Interval of the runs, or their mean without one."""
    if math.isnan(point.measured_low):
        return point.measured, point.measured
    return point.measured_low, point.measured_high


def _measured(points: list[Any], factor: Factor, several: bool) -> str:
    measured = [p for p in points if not math.isnan(p.measured)]
    if not measured:
        return ""
    shown = []
    for point in measured:
        series = f"{point.series}{', ' if isinstance(point.x, str) else ' at '}" if several else ""
        shown.append(f"{short_number(point.measured)} ({series}{level_words(factor, point.x)})")
    text = (
        f"Measured: {join_words(shown)}."
        if len(measured) <= MAX_NAMED_POINTS
        else f"{plural(len(measured), 'measured point')}."
    )
    compared = [p for p in measured if p.known and not p.reference]
    ends = [_run_ends(p) for p in compared]
    inside = sum(
        low <= p.high and high >= p.low for p, (low, high) in zip(compared, ends, strict=True)
    )
    if not compared:
        return text
    if all(low == high for low, high in ends):
        verb = "lies" if inside == 1 else "lie"
        return (
            f"{text} {inside} of {len(compared)} {verb} within the range that the "
            "text allows, without the tolerance of verdicts."
        )
    if len(compared) == 1:
        overlap = f"The interval {'overlaps' if inside else 'does not overlap'}"
    else:
        overlap = (
            f"{inside} of {len(compared)} intervals {'overlaps' if inside == 1 else 'overlap'}"
        )
    return f"{text} {overlap} the range that the text allows."
