"""Hatching in an SVG: Matplotlib writes a tile of 72 by 72 with all of its lines, a smaller tile says the same."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from xml.etree import ElementTree as ET

TILE = 24  # smaller ones make browsers write larger PDFs
_LINE = re.compile(r"M\s*(-?[\d.]+)\s+(-?[\d.]+)\s*L\s*(-?[\d.]+)\s+(-?[\d.]+)")


def shorten(pattern: ET.Element) -> None:
    """Make a pattern's tile `TILE` wide and high, where its lines are level, upright or diagonal, and repeat."""
    path = pattern.find("{*}path")
    ground = pattern.find("{*}rect")
    shape = "" if path is None else path.get("d", "")
    lines = [tuple(map(float, found)) for found in _LINE.findall(shape)]
    if path is None or ground is None or _LINE.sub("", shape).strip() or not lines:
        return
    offsets: dict[str, set[float]] = {}
    for x, y, to_x, to_y in lines:
        direction, offset = _direction(x, y, to_x, to_y)
        offsets.setdefault(direction, set()).add(offset)
    if "" in offsets or not all(map(_repeats, offsets.values())):
        return
    path.set("d", "".join(_within(direction, offset) for direction, of in offsets.items() for offset in sorted(of)))
    for element, size in ((pattern, TILE), (ground, TILE + 1)):
        element.attrib |= {"width": str(size), "height": str(size)}


def _direction(x: float, y: float, to_x: float, to_y: float) -> tuple[str, float]:
    """How a line runs, and where: its x, its y, or x + y or y - x; "" for any other slope."""
    if x == to_x:
        return "upright", x
    if y == to_y:
        return "level", y
    if x + y == to_x + to_y:
        return "rising", x + y
    return ("falling", y - x) if y - x == to_y - to_x else ("", 0.0)


def _repeats(offsets: Iterable[float]) -> bool:
    """Whether lines stand equally far apart, so that a tile holds a whole number of them."""
    found = sorted(offsets)
    steps = {round(b - a, 3) for a, b in pairwise(found)}
    return len(steps) == 1 and TILE % steps.pop() == 0


def _within(direction: str, offset: float) -> str:
    """The line across a tile; "" where it is outside."""
    at = f"{offset:g}"
    if direction in ("upright", "level"):
        line = f"M{at} 0V{TILE}" if direction == "upright" else f"M0 {at}H{TILE}"
        return line if 0 <= offset <= TILE else ""
    if direction == "rising":
        return f"M-1 {offset + 1:g}L{offset + 1:g} -1" if 0 <= offset <= 2 * TILE else ""
    return f"M-1 {offset - 1:g}L{TILE + 1} {offset + TILE + 1:g}" if abs(offset) <= TILE else ""
