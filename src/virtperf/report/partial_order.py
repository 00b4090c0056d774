"""Partial orders of points: ranks, and places of points that an order does not tell apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

OrderedPoint = tuple[str, Any]  # label of the series, level of the axis
Edges = dict[tuple[OrderedPoint, OrderedPoint], bool]  # (greater, smaller): whether strictly
Ties = frozenset[tuple[OrderedPoint, OrderedPoint]]  # points that claims call alike, both ways


@dataclass(frozen=True)
class PartialOrder:
    """Partial order: points in ascending topological order, transitive closure (`below`),
    transitive reduction (`direct`).
    """

    ascending: list[OrderedPoint]
    below: dict[OrderedPoint, frozenset[OrderedPoint]]
    direct: dict[OrderedPoint, list[OrderedPoint]]

    def ranks(self) -> dict[OrderedPoint, int]:
        """Number of points on the longest path from each point down, itself included."""
        found: dict[OrderedPoint, int] = {}
        for point in self.ascending:
            found[point] = 1 + max((found[other] for other in self.direct[point]), default=0)
        return found

    def depths(self) -> dict[OrderedPoint, int]:
        """Number of points on the longest path from each point up, itself included."""
        found = dict.fromkeys(self.ascending, 1)
        for point in reversed(self.ascending):
            for other in self.direct[point]:
                found[other] = max(found[other], found[point] + 1)
        return found

    def places(
        self, levels: Sequence[Any] = (), ties: Ties = frozenset()
    ) -> dict[OrderedPoint, int]:
        """A rank of each point within those that it may have (`ranks`, `depths`): that of a point of its
        level to which it is tied, else near the next point of its series, so that a series changes
        only where claims say so; of its first point the middle. `levels` are those of the axis, in
        order.
        """
        low, depths = self.ranks(), self.depths()
        above = max(low.values(), default=0) + 1
        high = {point: above - depth for point, depth in depths.items()}
        at = {level: k for k, level in enumerate(levels)}
        level_ties = {a for a, b in ties if a[1] == b[1]}
        found: dict[OrderedPoint, int] = {}
        for point in sorted(
            self.ascending, key=lambda point: (point not in level_ties, high[point] - low[point])
        ):
            near = min(
                (other for other in found if other[0] == point[0]),
                key=lambda other: abs(at.get(other[1], 0) - at.get(point[1], 0)),
                default=None,
            )
            tied = [p for p in found if (p, point) in ties and p[1] == point[1]]
            near = tied[0] if tied else near
            wanted = (low[point] + high[point]) // 2 if near is None else found[near]
            found[point] = low[point] = high[point] = min(max(wanted, low[point]), high[point])
            for other in self.ascending:
                low[other] = max([low[other], *(low[lower] + 1 for lower in self.direct[other])])
            for other in reversed(self.ascending):
                for lower in self.direct[other]:
                    high[lower] = min(high[lower], high[other] - 1)
        return found


def partial_order(edges: Edges) -> PartialOrder | None:
    """Build the partial order; None if the relation has a cycle."""
    smaller: dict[OrderedPoint, set[OrderedPoint]] = {}
    for pair in edges:
        smaller.setdefault(pair[0], set()).add(pair[1])
    try:
        ascending = list(TopologicalSorter(smaller).static_order())
    except CycleError:
        return None
    below: dict[OrderedPoint, frozenset[OrderedPoint]] = {}
    direct: dict[OrderedPoint, list[OrderedPoint]] = {}
    for point in ascending:
        nearest = smaller.get(point, set())
        implied = frozenset().union(*(below[other] for other in nearest))
        direct[point] = [other for other in ascending if other in nearest - implied]
        below[point] = frozenset(nearest) | implied
    return PartialOrder(ascending, below, direct)


@dataclass(frozen=True)
class Places:
    """Points of a partial order with the same points above and below, by one of them (`groups`), these in
    ascending order; pairs of them without those that follow from others: whether strictly.
    """

    groups: dict[OrderedPoint, list[OrderedPoint]]
    ascending: list[OrderedPoint]
    strict: Edges

    def columns(self) -> dict[OrderedPoint, int]:
        """Column of each place: 0 has the greatest; a place below none is beside the next lower one."""
        above: dict[OrderedPoint, list[OrderedPoint]] = {head: [] for head in self.ascending}
        for greater, smaller in self.strict:
            above[smaller].append(greater)
        found: dict[OrderedPoint, int] = {}
        for head in reversed(self.ascending):
            found[head] = max((found[other] + 1 for other in above[head]), default=0)
        for head in (head for head in self.ascending if not above[head]):
            found[head] = min(found[b] for a, b in self.strict if a == head) - 1
        return found

    def lanes(self, columns: Mapping[OrderedPoint, int]) -> dict[OrderedPoint, int]:
        """Lane of each place: that of a place above which no other continues yet, else a new one."""
        tails: dict[OrderedPoint, int] = {}
        for head in self.ascending:
            tails[head] = max((tails[b] + 1 for a, b in self.strict if a == head), default=0)
        found: dict[OrderedPoint, int] = {}
        continued: set[OrderedPoint] = set()
        for head in sorted(self.groups, key=lambda head: (columns[head], -tails[head])):
            free = [a for a, b in self.strict if b == head and a not in continued]
            if free:
                before = min(free, key=found.__getitem__)
                found[head] = found[before]
                continued.add(before)
            else:
                found[head] = max(found.values(), default=-1) + 1
        return found


def group_places(edges: Edges) -> Places | None:
    """The places of the points of a partial order; None if the relation has a cycle."""
    order = partial_order(edges)
    if order is None:
        return None
    above = {
        p: frozenset(a for a in order.ascending if p in order.below[a]) for p in order.ascending
    }
    classes: dict[tuple[frozenset[OrderedPoint], frozenset[OrderedPoint]], list[OrderedPoint]] = {}
    for point in dict.fromkeys(point for pair in edges for point in pair):
        classes.setdefault((above[point], order.below[point]), []).append(point)
    heads = {point: group[0] for group in classes.values() for point in group}
    direct = {(heads[a], heads[b]) for a, others in order.direct.items() for b in others}
    strict: Edges = {}
    for (a, b), strictly in edges.items():
        pair = heads[a], heads[b]
        if pair in direct:
            strict[pair] = strict.get(pair, True) and strictly
    groups = {group[0]: group for group in classes.values()}
    return Places(groups, [p for p in order.ascending if p in groups], strict)
