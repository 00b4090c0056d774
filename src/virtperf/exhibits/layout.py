"""The best arrangement of a diagram that fits a page: short edges that hide little, found by trying all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

from virtperf.exhibits.arrange import CHAR_PX, HEAD, PAD, Arranger, Layout, Rect, box_lines, joints, layers
from virtperf.exhibits.topology import Diagram, Edge, Node

SEARCH = 2500  # arrangements that are tried


def lay_out(diagram: Diagram, width: float) -> Layout:
    """The arrangement that fits the width and has the shortest edges through the fewest foreign boxes."""
    containers = ["", *(n.id for n in diagram.nodes if diagram.children(n.id))]
    siblings = {c: layers(diagram, c) for c in containers}
    between = {c: joints(diagram, c) for c in containers}
    paths = {n.id: {*diagram.path(n.id)} for n in diagram.nodes}
    lines = {n.id: box_lines(n.label) for n in diagram.nodes if n.id not in containers}
    best: tuple[tuple[float, ...], Layout] | None = None
    # Every container in three ways, each with the neighbours of a layer in the given order and in the reverse one.
    choices = [
        [(way, order) for order in _orders(siblings[c]) for way in ("columns", "rows", "stack")] for c in containers
    ]
    for chosen in islice(product(*choices), SEARCH):
        ways = {c: way for c, (way, _) in zip(containers, chosen, strict=True)}
        orders = {c: order for c, (_, order) in zip(containers, chosen, strict=True)}
        arranger = Arranger(diagram, ways, orders, lines, between)
        excess = max(0.0, arranger.width - width)
        if best is not None and excess > best[0][0]:
            continue
        arranged = arranger.layout()
        score = (excess, _cost(diagram, arranged, paths))
        if best is None or score < best[0]:
            best = (score, arranged)
    assert best is not None
    return best[1]


def _orders(given: list[list[str]]) -> list[list[list[str]]]:
    mirrored = [layer[::-1] for layer in given]
    return [given] if mirrored == given else [given, mirrored]


def ends(layout: Layout, edge: Edge) -> tuple[float, float, float, float]:
    """Where the straight line between two boxes' centres leaves the one and meets the other."""
    (x1, y1, w1, h1), (x2, y2, w2, h2) = (layout.rects[i] for i in (edge.start, edge.end))
    # Boxes that overlap in one direction are joined by a level or upright line within the overlap.
    cx1, cy1, cx2, cy2 = x1 + w1 / 2, y1 + h1 / 2, x2 + w2 / 2, y2 + h2 / 2
    low, high = max(x1, x2) + PAD, min(x1 + w1, x2 + w2) - PAD
    if low <= high:
        cx1 = cx2 = min(max(cx1 if w1 <= w2 else cx2, low), high)
    low, high = max(y1, y2) + PAD, min(y1 + h1, y2 + h2) - PAD
    if low <= high:
        cy1 = cy2 = min(max(cy1 if h1 <= h2 else cy2, low), high)
    a = _leave(cx1, cy1, cx2 - cx1, cy2 - cy1, (x1, y1, w1, h1))
    b = _leave(cx2, cy2, cx1 - cx2, cy1 - cy2, (x2, y2, w2, h2))
    return (*a, *b)


def _leave(x: float, y: float, dx: float, dy: float, rect: Rect) -> tuple[float, float]:
    left, top, width, height = rect
    shares = []
    if dx:
        shares.append(((left + width if dx > 0 else left) - x) / dx)
    if dy:
        shares.append(((top + height if dy > 0 else top) - y) / dy)
    share = min((s for s in shares if s >= 0), default=0.0)
    return x + share * dx, y + share * dy


def crosses(line: tuple[float, float, float, float], rect: Rect) -> bool:
    """Whether a straight line passes through a box (clipping of Liang and Barsky 1984)."""
    x1, y1, x2, y2 = line
    left, top, width, height = rect
    enter, leave = 0.0, 1.0
    for p, q in (
        (x1 - x2, x1 - left), (x2 - x1, left + width - x1), (y1 - y2, y1 - top), (y2 - y1, top + height - y1),
    ):  # fmt: skip
        if p == 0:
            if q < 0:
                return False
        elif p < 0:
            enter = max(enter, q / p)
        else:
            leave = min(leave, q / p)
    return leave - enter > 1e-6


def head(node: Node, rect: Rect) -> Rect:
    """Where a container's label stands."""
    return rect[0] + PAD, rect[1] + 4, min(len(node.label) * CHAR_PX, rect[2] - 2 * PAD), HEAD - 8


def _cost(diagram: Diagram, layout: Layout, paths: Mapping[str, set[str]]) -> float:
    """Edges' length, and what they hide: boxes, frames and labels that are not theirs, each other."""
    cost = 0.6 * layout.height
    lines = []
    for edge in diagram.edges:
        line = ends(layout, edge)
        lines.append(line)
        cost += ((line[2] - line[0]) ** 2 + (line[3] - line[1]) ** 2) ** 0.5
        around = paths[edge.start] | paths[edge.end]
        for node in diagram.nodes:
            rect = layout.rects[node.id]
            if node.id not in around and crosses(line, rect):
                cost += 300 if node.id in layout.lines else 100
            if node.id not in layout.lines and crosses(line, head(node, rect)):
                cost += 90
    return cost + 60 * sum(_cross(a, b) for a, b in _pairs(lines))


def _pairs(lines: Sequence[tuple[float, float, float, float]]) -> Iterator[tuple[tuple[float, ...], tuple[float, ...]]]:
    for k, a in enumerate(lines):
        for b in lines[k + 1 :]:
            yield a, b


def _cross(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    def side(p: tuple[float, ...], x: float, y: float) -> float:
        return (p[2] - p[0]) * (y - p[1]) - (p[3] - p[1]) * (x - p[0])

    return side(a, b[0], b[1]) * side(a, b[2], b[3]) < 0 and side(b, a[0], a[1]) * side(b, a[2], a[3]) < 0
