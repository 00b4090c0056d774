"""Text for the range of a derived number: a single value only if the range is narrow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from virtperf.core.numbers import as_precise, interval, pretty
from virtperf.report.wording import short_number
from virtperf.study.derived_kinds.base import Bounds, Derivation

NARROW = 0.05  # relative half-width up to which one value represents a range
WIDE = 2.0  # ratio of the limits above which a range does not represent a value
LONG = 0.25
"""Length of a wide range, relative to the largest well-known value beside it, above which it says hardly
anything; a shorter one says that the value is small.
"""

OPEN = "not bounded"


def is_within_factor(low: Any, high: Any) -> Any:
    """Whether a range, or each of several, is not wider than a factor of `WIDE`."""
    return high <= WIDE * low


def is_wide(low: pd.Series, high: pd.Series) -> pd.Series:
    """Mask of non-negative ranges without an upper limit, or wider than a factor of `WIDE`."""
    return (low >= 0) & ~is_within_factor(low, high)


def says_little(low: pd.Series, high: pd.Series, largest: pd.Series) -> pd.Series:
    """Mask of wide ranges that are longer than `LONG`, relative to the `largest` value beside each."""
    return is_wide(low, high) & (high - low > LONG * largest)


MAX_LIMIT_RATIO = 100.0
"""Ratio of the limits above which only one end of a ratio is reported: the other results from the
smallest difference that counts (`resolution`), which is ours and no limit of the text.
"""


def range_words(pieces: Sequence[float], bounds: Bounds, *, searched: bool = False) -> str:
    """Format a range: ``about 1.5 (1.495 to 1.505)``, ``1.2 to 2``, ``at least 2``, ``at most 3``,
    ``order only: above 1``.

    `pieces` are low1, high1, low2, high2, ... in ascending order. `searched`: the range is an inner
    approximation, and the number can lie outside.
    """
    if (
        bounds.same == 1
        and not searched
        and 0 < MAX_LIMIT_RATIO * pieces[0] < pieces[-1] < math.inf
    ):
        pieces = [0.0, *pieces[1:]] if pieces[-1] <= 2 else [*pieces[:-1], math.inf]
    low, high = pieces[0], pieces[-1]
    no_low, no_high = low <= bounds.low, high >= bounds.high
    pairs = list(zip(pieces[::2], pieces[1::2], strict=True))
    if no_low and no_high and len(pairs) == 1:
        return OPEN
    if searched:
        return _searched_range(pairs)
    if is_order_only(pieces, bounds):
        return f"order only: {'above' if no_high else 'below'} {pretty(bounds.same)}"
    return " or ".join(_interval_text(a, b, bounds) for a, b in pairs)


def is_order_only(pieces: Sequence[float], bounds: Bounds) -> bool:
    """Whether an open range says no more than which side is larger.

    Its limit differs from `Bounds.same` only by the smallest difference that counts
    (`resolution`), which is ours and no limit of the text.
    """
    low, high = pieces[0], pieces[-1]
    is_near = MAX_LIMIT_RATIO * (low - bounds.low) < high - bounds.low < math.inf
    no_low, no_high = low <= bounds.low or is_near, high >= bounds.high
    mirrored = 1 / bounds.order if bounds.same == 1 else bounds.same - bounds.order
    if no_low == no_high:
        return False
    return bounds.same <= low <= bounds.order if no_high else mirrored <= high <= bounds.same


def order_only_limits(pieces: Sequence[float], bounds: Bounds) -> list[float]:
    """Limits of a range with `is_order_only`: `Bounds.same` in place of the limit that the smallest
    difference sets.
    """
    if pieces[-1] >= bounds.high:
        return [bounds.same, *pieces[1:]]
    return [*pieces[:-1], bounds.same]


def _searched_range(pairs: Sequence[tuple[float, float]]) -> str:
    """Format an inner approximation found by search: values outside are not excluded."""
    if len(pairs) == 1 and short_number(pairs[0][0]) == short_number(pairs[0][1]):
        return f"{short_number(pairs[0][0])} in all data sets tried"
    ends = (
        f"{short_number(low)} {f'to {short_number(high)}' if math.isfinite(high) else 'or more'}"
        for low, high in pairs
    )
    return f"{' or '.join(ends)} found"


def _interval_text(low: float, high: float, bounds: Bounds) -> str:
    """Format one interval of an exact range."""
    no_low, no_high = low <= bounds.low, high >= bounds.high
    if no_low or no_high:
        return f"at least {short_number(low)}" if no_high else f"at most {short_number(high)}"
    middle = (low + high) / 2
    if pretty(low) == pretty(high):
        return interval(low, high)
    if low * high > 0 and high - low <= 2 * NARROW * abs(middle) * (1 + 1e-9):
        value, first, last = as_precise(middle, low, high)
        return f"about {value} ({first} to {last})"
    return f"{short_number(low)} to {short_number(high)}"


def peak_words(levels: Sequence[str], derivation: Derivation) -> str:
    """Format the possible levels of a maximum: ``12``, ``12, 15 or 18``, ``any of those tested``."""
    if len(levels) == len(derivation.parts):
        return "any of those tested"
    return (
        levels[0]
        if len(levels) == 1
        else f"{', '.join(levels[:-1])} or {levels[-1]}"
        if levels
        else OPEN
    )
