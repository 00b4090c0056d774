"""The same drawing in fewer bytes: what neighbours share is said once, what a straight line needs are its ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from xml.etree.ElementTree import Element, tostring

import numpy as np
from defusedxml.ElementTree import fromstring
from numpy.typing import NDArray

TOLERANCE_PX = 0.05  # how far a curve may move; coordinates are rounded to 0.1 anyway
Points = NDArray[np.float64]
_POLYLINE = re.compile(r"M -?[\d.]+ -?[\d.]+(?: L -?[\d.]+ -?[\d.]+){2,}")
_SHARED = ("clip-path", "style")


def compact(body: str) -> str:
    """Rewrite the content of an `svg` element: the drawing stays, in the same order of painting."""
    root = fromstring(f"<svg>{body}</svg>")
    definitions = Element("defs")
    children = list(_flat(root, definitions))
    for path in (*children, *definitions):
        if "d" in path.attrib:
            path.set("d", simplified(path.get("d", "")))
    root[:] = ([definitions] if len(definitions) else []) + _shared(_joined(_grid_first(children)), _SHARED)
    text = tostring(root, encoding="unicode").replace(" />", "/>")
    return text.removeprefix("<svg>").removesuffix("</svg>")


def simplified(d: str) -> str:
    """An open line without the points that lie within `TOLERANCE_PX` of it (Douglas and Peucker 1973)."""
    if not _POLYLINE.fullmatch(d):
        return d
    words = np.array(d.replace("M", "L").split("L")[1:])
    points = np.array([word.split() for word in words], dtype=float)
    keep = np.zeros(len(points), dtype=bool)
    keep[[0, -1]] = True
    open_pieces = [(0, len(points) - 1)]
    while open_pieces:
        first, last = open_pieces.pop()
        if last - first < 2:
            continue
        apart = _distances(points[first + 1 : last], points[first], points[last])
        furthest = int(apart.argmax())
        if apart[furthest] > TOLERANCE_PX:
            middle = first + 1 + furthest
            keep[middle] = True
            open_pieces += [(first, middle), (middle, last)]
    return "M" + "L".join(words[keep]).rstrip()


def _distances(
    points: NDArray[np.float64], start: NDArray[np.float64], end: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How far points are from the piece of a line between `start` and `end`."""
    along = end - start
    length = float(along @ along)
    share = np.clip((points - start) @ along / length, 0, 1) if length else np.zeros(len(points))
    return np.hypot(*(points - start - share[:, None] * along).T)


def _flat(parent: Element, definitions: Element) -> Iterator[Element]:
    """All shapes without the groups around them, which pass on their clip path; definitions go apart."""
    for child in parent:
        if child.tag == "defs":
            definitions.extend(child)
        elif child.tag == "g" and not set(child.attrib) - {"clip-path"}:
            for inner in _flat(child, definitions):
                if "clip-path" in child.attrib:
                    inner.attrib.setdefault("clip-path", child.attrib["clip-path"])
                yield inner
        else:
            yield child


def _grid_first(children: Iterable[Element]) -> list[Element]:
    """Tick labels behind the grid lines that they stand between; lines and labels do not overlap."""
    ordered: list[Element] = []
    labels: list[Element] = []
    for child in children:
        if child.tag == "text":
            labels.append(child)
            continue
        if not (labels and ordered and _looks(child) == _looks(ordered[-1])):
            ordered += labels
            labels = []
        ordered.append(child)
    return ordered + labels


def _looks(child: Element) -> tuple[str | None, ...]:
    return (child.tag, *(child.get(name) for name in _SHARED))


def _joined(children: Iterable[Element]) -> list[Element]:
    """Neighbouring lines that look alike as one path."""
    joined: list[Element] = []
    for child in children:
        before = joined[-1] if joined else None
        if (
            before is not None
            and child.tag == "path"
            and "fill:none" in child.get("style", "")
            and set(child.attrib) <= {"d", *_SHARED}
            and _looks(child) == _looks(before)
        ):
            before.set("d", f"{before.get('d')} {child.get('d')}")
        else:
            joined.append(child)
    return joined


def _shared(children: Iterable[Element], names: tuple[str, ...]) -> list[Element]:
    """Groups for runs of shapes with the same clip path, and within them for those with the same style."""
    if not names:
        return list(children)
    found: list[Element] = []
    for value, run in groupby(children, key=lambda child: child.get(names[0])):
        members = list(run)
        # A clip path on a `use` itself would be moved with it by browsers.
        alone = len(members) == 1 and not (names[0] == "clip-path" and members[0].tag == "use")
        if value is None or alone or "opacity:" in re.sub(r"(fill|stroke)-opacity:", "", value):
            found += _shared(members, names[1:])
            continue
        group = Element("g", {names[0]: value})
        for member in members:
            del member.attrib[names[0]]
        group.extend(_shared(members, names[1:]))
        found.append(group)
    return found
