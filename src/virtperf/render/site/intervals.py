"""A claim's numbers as a small drawing: what is printed, what the other claims allow, what measured runs give."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from virtperf.study.claims import Claim

WIDTH, HEIGHT, EDGE = 132, 18, 6


@dataclass(frozen=True)
class Interval:
    """Places along the drawing, in its own units: a `line` for what the paper's other claims allow, which ends in an
    arrow where they set no limit (`open_low`, `open_high`); a `bar` (begin and width) for the printed number with its
    rounding; what measured runs give, and its interval as a `whisker`.
    """

    line: tuple[float, float]
    open_low: bool
    open_high: bool
    bar: tuple[float, float]
    measured: float | None
    whisker: tuple[float, float] | None


def interval(claim: Claim, result: Mapping[str, Any]) -> Interval | None:
    """What to draw for a claim; None where there is no number to draw."""
    printed = (claim.low, claim.high)
    allowed = (_number(result, "implied_low", -math.inf), _number(result, "implied_high", math.inf))
    value, low, high = (_number(result, name, math.nan) for name in ("estimate", "estimate_low", "estimate_high"))
    ends = [v for v in (*printed, *allowed, value, low, high) if math.isfinite(v)]
    if not any(map(math.isfinite, printed)) or not ends:
        return None
    x = _scale(min(ends), max(ends))
    bar = (x(printed[0]), x(printed[1]))
    return Interval(
        (x(allowed[0]), x(allowed[1])), math.isinf(allowed[0]), math.isinf(allowed[1]),
        (round(bar[0] - 1, 1), round(bar[1] - bar[0], 1) + 2),
        x(value) if math.isfinite(value) else None,
        (x(low), x(high)) if math.isfinite(low + high) and high > low else None,
    )  # fmt: skip


def _scale(low: float, high: float) -> Callable[[float], float]:
    """Values as places between the edges; those outside stand at an edge."""
    room = max(abs(high), 1.0) / 2 if high == low else 0.0
    return lambda value: round(float(np.interp(value, (low - room, high + room), (EDGE, WIDTH - EDGE))), 1)


def _number(result: Mapping[str, Any], name: str, absent: float) -> float:
    value = result.get(name)
    number = float(value) if isinstance(value, int | float) else math.nan
    return absent if math.isnan(number) else number
