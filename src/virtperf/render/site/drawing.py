"""A claim's numbers as a small drawing: what is printed, what the other statements allow, what runs give."""

from __future__ import annotations

import math
from typing import Any

from virtperf.study.claims import Claim

WIDTH, HEIGHT, EDGE = 132, 18, 6


def interval_drawing(claim: Claim, result: dict[str, Any]) -> str:
    """An `svg` element without text, since the numbers stand beside it; empty where there is no number to draw.

    The bar is the printed number with its rounding, the line what the paper's other statements allow (an arrow where
    they set no limit), the hollow mark what reconstructed runs give, the solid one what measured runs give.
    """
    printed = (claim.low, claim.high)
    allowed = (_number(result, "implied_low", -math.inf), _number(result, "implied_high", math.inf))
    runs = [
        (
            _number(result, name, math.nan),
            _number(result, f"{limits}_low", math.nan),
            _number(result, f"{limits}_high", math.nan),
            solid,
        )
        for name, limits, solid in (("reconstructed_estimate", "reconstructed", False), ("estimate", "estimate", True))
    ]
    ends = [v for v in (*printed, *allowed, *(v for run in runs for v in run[:3])) if math.isfinite(v)]
    if not any(map(math.isfinite, printed)) or not ends:
        return ""
    low, high = min(ends), max(ends)
    room = (high - low) or max(abs(high), 1.0)
    if high == low:
        low, high = low - room / 2, high + room / 2

    def x(value: float) -> float:
        clipped = min(max(value, low), high)
        return round(EDGE + (clipped - low) / (high - low) * (WIDTH - 2 * EDGE), 1)

    parts = [_line(x, allowed), _bar(x, printed)]
    for value, least, most, solid in runs:
        if math.isfinite(value):
            whisker = f'<path d="M{x(least)} 13H{x(most)}"/>' if math.isfinite(least + most) and most > least else ""
            fill = "currentColor" if solid else "var(--vp-surface)"
            parts.append(f'{whisker}<circle cx="{x(value)}" cy="13" r="3" fill="{fill}"/>')
    return (
        f'<svg class="vp-range" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" fill="none" '
        f'stroke="currentColor" aria-hidden="true" focusable="false">{"".join(parts)}</svg>'
    )


def _line(x: Any, allowed: tuple[float, float]) -> str:
    left, right = x(allowed[0]), x(allowed[1])
    drawn = f'<path d="M{left} 5H{right}"/>'
    if math.isinf(allowed[0]):
        drawn += f'<path d="M{left + 4} 2L{left} 5L{left + 4} 8"/>'
    if math.isinf(allowed[1]):
        drawn += f'<path d="M{right - 4} 2L{right} 5L{right - 4} 8"/>'
    return drawn


def _bar(x: Any, printed: tuple[float, float]) -> str:
    left, right = x(printed[0]), x(printed[1])
    return (
        f'<rect x="{left - 1}" y="2" width="{max(round(right - left, 1), 0) + 2}" height="6" class="vp-range-printed"/>'
    )


def _number(result: dict[str, Any], name: str, absent: float) -> float:
    value = result.get(name)
    number = float(value) if isinstance(value, int | float) else math.nan
    return absent if math.isnan(number) else number
