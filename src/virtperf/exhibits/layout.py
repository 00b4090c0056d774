"""Layout of nested boxes: every container is a row of columns, a column of rows or a stack; the best mix is searched.

Within a container a child stands one layer after the latest of its predecessors (Sugiyama, Tagawa and Toda 1981); the
search over arrangements of containers replaces their step that lessens crossings, since diagrams here are small.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, product

CHAR_PX = 6.9  # of 12 px text, generously
SMALL_CHAR_PX = 6.3
LINE_PX = 15
PAD = 8
INSET = 12  # between a container's frame and what it holds
HEAD = 22  # room for a container's label
GAP = 18
SEARCH = 2500  # arrangements that are tried

Rect = tuple[float, float, float, float]  # left, top, width, height


@dataclass(frozen=True)
class Node:
    """A component; one that is another's parent is drawn as a frame."""

    id: str
    label: str
    parent: str


@dataclass(frozen=True)
class Edge:
    """A connection."""

    start: str
    end: str
    label: str


@dataclass(frozen=True)
class Diagram:
    """Nodes and edges, checked by `diagram.read_diagram`."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def children(self, node_id: str) -> list[Node]:
        """What a container holds; the empty id is the whole diagram."""
        return [n for n in self.nodes if n.parent == node_id]

    def path(self, node_id: str) -> list[str]:
        """A node's id and those of the containers around it, innermost first."""
        parents = {n.id: n.parent for n in self.nodes}
        path = [node_id]
        while parents[path[-1]]:
            path.append(parents[path[-1]])
        return path


@dataclass(frozen=True)
class Layout:
    """Where everything stands, in pixels from the top left; `lines` is the wrapped text of every leaf."""

    rects: Mapping[str, Rect]
    lines: Mapping[str, list[str]]
    width: float
    height: float


def lay_out(diagram: Diagram, width: float) -> Layout:
    """The arrangement that fits the width and has the shortest edges through the fewest foreign boxes."""
    containers = ["", *(n.id for n in diagram.nodes if diagram.children(n.id))]
    siblings = {c: _layers(diagram, c) for c in containers}
    lines = {n.id: _wrap(n.label) for n in diagram.nodes if n.id not in containers}
    best: tuple[tuple[float, ...], Layout] | None = None
    ways = product(("columns", "rows", "stack"), repeat=len(containers))
    for way in islice(ways, SEARCH):
        arranged = _Arranger(diagram, dict(zip(containers, way, strict=True)), siblings, lines).layout()
        score = (max(0.0, arranged.width - width), _cost(diagram, arranged))
        if best is None or score < best[0]:
            best = (score, arranged)
    assert best is not None
    return best[1]


def _wrap(label: str) -> list[str]:
    return textwrap.wrap(label, 15, break_long_words=True) or [" "]


def _layers(diagram: Diagram, container: str) -> list[list[str]]:
    """The container's children in layers; edges that close a cycle don't count."""
    members = [n.id for n in diagram.children(container)]
    after: dict[str, list[str]] = {m: [] for m in members}
    for edge in diagram.edges:
        lifted = _lift(diagram, edge, container)
        if lifted is not None:
            after[lifted[0]].append(lifted[1])
    layer = dict.fromkeys(members, 0)
    for _ in members:  # relax along edges that do not lead back: at most one round a member
        for start in members:
            for end in after[start]:
                if not _reaches(after, end, start) or members.index(start) < members.index(end):
                    layer[end] = max(layer[end], min(layer[start] + 1, len(members) - 1))
    used = sorted(set(layer.values()))
    return [[m for m in members if layer[m] == k] for k in used]


def _reaches(after: Mapping[str, list[str]], start: str, end: str) -> bool:
    seen, queue = {start}, [start]
    while queue:
        for following in after[queue.pop()]:
            if following not in seen:
                seen.add(following)
                queue.append(following)
    return end in seen


def _lift(diagram: Diagram, edge: Edge, container: str) -> tuple[str, str] | None:
    """The two children of the container that an edge joins, or None."""
    ends = []
    for node in (edge.start, edge.end):
        path = [*diagram.path(node), ""]
        k = path.index(container) if container in path else 0
        if k == 0:
            return None
        ends.append(path[k - 1])
    return (ends[0], ends[1]) if ends[0] != ends[1] else None


class _Arranger:
    """Places one arrangement: sizes from the inside out, positions from the outside in."""

    def __init__(
        self,
        diagram: Diagram,
        way: Mapping[str, str],
        layers: Mapping[str, list[list[str]]],
        lines: Mapping[str, list[str]],
    ) -> None:
        self.diagram, self.way, self.layers, self.lines = diagram, way, layers, lines
        self.rects: dict[str, Rect] = {}

    def layout(self) -> Layout:
        width, height = self._size("")
        self._place("", 0.0, 0.0)
        return Layout(self.rects, self.lines, width, height)

    def _groups(self, container: str) -> tuple[list[list[str]], bool]:
        """Groups one after another, and whether they follow each other from left to right."""
        layers, way = self.layers[container], self.way[container]
        if way == "stack":
            return [[m] for layer in layers for m in layer], False
        return layers, way == "columns"

    def _gaps(self, container: str, groups: list[list[str]], *, across: bool) -> list[float]:
        """Room between neighbouring groups: more where a labelled edge has to pass."""
        gaps = []
        for before, after in pairwise(groups):
            gap = float(GAP)
            for edge in self.diagram.edges:
                lifted = _lift(self.diagram, edge, container)
                if lifted and {lifted[0] in before, lifted[1] in before} == {True, False} and set(lifted) & set(after):
                    label = label_lines(edge.label)
                    longest = max(map(len, label), default=0) * SMALL_CHAR_PX
                    gap = max(gap, longest + 20 if across else len(label) * 13 + 16, 30.0)
            gaps.append(gap)
        return gaps

    def _size(self, node: str) -> tuple[float, float]:
        if node in self.lines:
            lines = self.lines[node]
            return max(64.0, max(map(len, lines)) * CHAR_PX + 2 * PAD), len(lines) * LINE_PX + 2 * PAD
        groups, across = self._groups(node)
        sizes = [[self._size(m) for m in group] for group in groups]
        along = 0 if across else 1
        length = sum(max(s[along] for s in group) for group in sizes) + sum(self._gaps(node, groups, across=across))
        breadth = max(sum(s[1 - along] for s in group) + GAP * (len(group) - 1) for group in sizes)
        width, height = (length, breadth) if across else (breadth, length)
        if not node:
            return width, height
        label = len(next(n.label for n in self.diagram.nodes if n.id == node)) * CHAR_PX + 2 * PAD
        return max(width + 2 * INSET, min(label + 2.0, 260.0)), height + INSET + HEAD

    def _place(self, node: str, left: float, top: float) -> None:
        width, height = self._size(node)
        if node:
            self.rects[node] = (left, top, width, height)
        if node in self.lines:
            return
        inset, head = (INSET, HEAD) if node else (0, 0)
        inner_width, inner_height = width - 2 * inset, height - head - (INSET if node else 0)
        groups, across = self._groups(node)
        position = (left + inset) if across else (top + head)
        for group, gap in zip(groups, [*self._gaps(node, groups, across=across), 0.0], strict=True):
            sizes = [self._size(m) for m in group]
            depth = max(s[0 if across else 1] for s in sizes)
            breadth = sum(s[1 if across else 0] for s in sizes) + GAP * (len(group) - 1)
            start = (
                (top + head + (inner_height - breadth) / 2) if across else (left + inset + (inner_width - breadth) / 2)
            )
            for member, size in zip(group, sizes, strict=True):
                if across:
                    self._place(member, position + (depth - size[0]) / 2, start)
                    start += size[1] + GAP
                else:
                    self._place(member, start, position + (depth - size[1]) / 2)
                    start += size[0] + GAP
            position += depth + gap


def label_lines(label: str) -> list[str]:
    """An edge's label in short lines."""
    return textwrap.wrap(label, 14, break_long_words=True)


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


def _cost(diagram: Diagram, layout: Layout) -> float:
    """Edges' length, and what they hide: boxes, frames and labels that are not theirs, each other."""
    cost = 0.6 * layout.height
    lines = []
    for edge in diagram.edges:
        line = ends(layout, edge)
        lines.append(line)
        cost += ((line[2] - line[0]) ** 2 + (line[3] - line[1]) ** 2) ** 0.5
        around = {*diagram.path(edge.start), *diagram.path(edge.end)}
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
