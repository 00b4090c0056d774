"""A changed number as a small drawing: before above, now below, on one scale; a changed figure as two pictures."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Sequence

from virtperf.exhibits.display import Shown
from virtperf.exhibits.standalone import standalone_svg
from virtperf.verify.documents import Fragment
from virtperf.verify.items import Item

WIDTH, HEIGHT, EDGE = 132, 26, 6
ROWS = (7, 19)  # where the two intervals lie, from the top
STEPS = 60  # points of a curve that are drawn

Scale = Callable[[float], float]


def change_drawing(old: Item | None, new: Item | None) -> str:
    """An `svg` element without text, since the numbers stand beside it; empty where there is nothing to draw.

    The hollow mark and the line above are the item before, the solid mark and the line below the item now. An arrow is
    a limit that there is not.
    """
    if any(item is not None and item.curve for item in (old, new)):
        return _curves(old, new)
    items = [item.numbers if item else (math.nan,) * 3 for item in (old, new)]
    ends = [v for numbers in items for v in numbers if math.isfinite(v)]
    if not ends:
        return ""
    x = _scale(ends)
    drawn = "".join(
        _interval(x, numbers, y, solid=k == 1) for k, (numbers, y) in enumerate(zip(items, ROWS, strict=True))
    )
    return _svg(drawn)


def _interval(x: Scale, numbers: tuple[float, float, float], y: int, *, solid: bool) -> str:
    value, low, high = numbers
    parts = []
    if math.isfinite(low) or math.isfinite(high):
        left = x(low) if math.isfinite(low) else EDGE / 2
        right = x(high) if math.isfinite(high) else WIDTH - EDGE / 2
        parts.append(f'<path d="M{left} {y}H{right}{_end(left, y, low, 1)}{_end(right, y, high, -1)}"/>')
    if math.isfinite(value):
        fill = "currentColor" if solid else "var(--vp-surface)"
        parts.append(f'<circle cx="{x(value)}" cy="{y}" r="3" fill="{fill}"/>')
    return "".join(parts)


def _end(at: float, y: int, limit: float, inwards: int) -> str:
    """A limit's stroke, or an arrow head where there is none."""
    if math.isfinite(limit):
        return f"M{at} {y - 3}V{y + 3}"
    return f"M{at + 4 * inwards} {y - 3}L{at} {y}L{at + 4 * inwards} {y + 3}"


def _curves(old: Item | None, new: Item | None) -> str:
    curves = [[v for v in (item.curve if item else ()) if math.isfinite(v)] for item in (old, new)]
    ends = [v for curve in curves for v in curve]
    if not ends:
        return ""
    low, high = min(ends), max(ends)
    room = (high - low) or 1.0
    lines = []
    for curve, dash in zip(curves, (' stroke-dasharray="2 2"', ""), strict=True):
        few = _thinned(curve)
        step = (WIDTH - 2 * EDGE) / max(1, len(few) - 1)
        points = " ".join(
            f"{EDGE + k * step:.1f},{HEIGHT - 3 - (v - low) / room * (HEIGHT - 6):.1f}" for k, v in enumerate(few)
        )
        lines.append(f'<polyline points="{points}"{dash}/>' if few else "")
    return _svg("".join(lines))


def _thinned(values: Sequence[float]) -> list[float]:
    step = max(1, math.ceil(len(values) / STEPS))
    return list(values[::step])


def _scale(ends: Sequence[float]) -> Scale:
    low, high = min(ends), max(ends)
    if high == low:
        low, high = low - 1, high + 1

    def x(value: float) -> float:
        return round(EDGE + (value - low) / (high - low) * (WIDTH - 2 * EDGE), 1)

    return x


def _svg(body: str) -> str:
    return (
        f'<svg class="vp-range" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" fill="none" '
        f'stroke="currentColor" aria-hidden="true" focusable="false">{body}</svg>'
    )


def picture(fragment: Fragment | None, label: str) -> str:
    """A figure's wide drawing as an image of its own, so that nothing in it meets the page's ids and styles."""
    if fragment is None or not fragment.drawings:
        return ""
    svg = standalone_svg(Shown(fragment.drawings[0].svg, ""))
    address = base64.b64encode(svg.encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{address}" alt="{label}" style="width:100%;height:auto">'
