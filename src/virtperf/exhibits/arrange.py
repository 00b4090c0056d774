"""One arrangement of nested boxes: every container a row of columns, a column of rows, or a stack.

Within a container a child stands one layer after the latest of its predecessors (Sugiyama, Tagawa and Toda 1981).
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from virtperf.exhibits.topology import Diagram, Edge

CHAR_PX = 6.9  # of 12 px text, generously
SMALL_CHAR_PX = 6.3
LINE_PX = 15
PAD = 8
INSET = 12  # between a container's frame and what it holds
HEAD = 22  # room for a container's label
GAP = 18
Rect = tuple[float, float, float, float]  # left, top, width, height
Joint = tuple[str, str, list[str]]  # two neighbours, and the label between them


@dataclass(frozen=True)
class Layout:
    """Where everything stands, in pixels from the top left; `lines` is the wrapped text of every leaf."""

    rects: Mapping[str, Rect]
    lines: Mapping[str, list[str]]
    width: float
    height: float


def box_lines(label: str) -> list[str]:
    return textwrap.wrap(label, 15, break_long_words=True) or [" "]


def layers(diagram: Diagram, container: str) -> list[list[str]]:
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


def joints(diagram: Diagram, container: str) -> list[Joint]:
    """The edges between the container's children: both ends, and the label's lines."""
    lifted = ((_lift(diagram, edge, container), edge) for edge in diagram.edges)
    return [(*ends, label_lines(edge.label)) for ends, edge in lifted if ends is not None]


class Arranger:
    """Places one arrangement: sizes from the inside out, positions from the outside in."""

    def __init__(
        self,
        diagram: Diagram,
        way: Mapping[str, str],
        layers: Mapping[str, list[list[str]]],
        lines: Mapping[str, list[str]],
        joints: Mapping[str, list[Joint]],
    ) -> None:
        self.diagram, self.way, self.layers, self.lines, self.joints = diagram, way, layers, lines, joints
        self.rects: dict[str, Rect] = {}
        self._sizes: dict[str, tuple[float, float]] = {}

    @property
    def width(self) -> float:
        """Of the whole, known before anything is placed."""
        return self._size("")[0]

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
            for start, end, label in self.joints[container]:
                if (start in before and end in after) or (end in before and start in after):
                    longest = max(map(len, label), default=0) * SMALL_CHAR_PX
                    gap = max(gap, longest + 20 if across else len(label) * 13 + 16, 30.0)
            gaps.append(gap)
        return gaps

    def _size(self, node: str) -> tuple[float, float]:
        if node not in self._sizes:
            self._sizes[node] = self._measure(node)
        return self._sizes[node]

    def _measure(self, node: str) -> tuple[float, float]:
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
