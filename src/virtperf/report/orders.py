"""What claims of a paper order among the points of a figure, as chains: ``none > SN > disk``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any

from virtperf.report.axis_words import level_words, tick_label
from virtperf.report.claim_words import quantities
from virtperf.report.data import StudyData
from virtperf.report.wording import joined
from virtperf.study.claims import Claim, Instance
from virtperf.study.definition import Exhibit, Factor
from virtperf.study.quantities import Quantity

ORDER_KINDS = ("argmax", "argmin", "monotone", "ordering")
"""Kinds of claims that state nothing but an order, those that say most of a figure first."""
DISPUTED = ("contradicted", "depends")
"""Verdicts of claims that the paper's other claims exclude, or may exclude."""
_RELATIONS = {
    "increasing": (True, True),
    "decreasing": (False, True),
    "nonincreasing": (False, False),
    "nondecreasing": (True, False),
}
"""Of a direction: whether values ascend, and whether strictly."""
OrderedPoint = tuple[str, Any]  # label of the series, level of the axis
Edges = dict[tuple[OrderedPoint, OrderedPoint], bool]  # (greater, smaller): whether strictly


def order_claims(data: StudyData, exhibit: Exhibit) -> tuple[set[Quantity], list[Claim]]:
    """The plotted quantities that claims of the paper order among each other, and these claims.

    Claims that the paper's other claims exclude, or may exclude, don't count.
    """
    plotted = {quantity for _, _, quantity in data.study.points(exhibit)}
    about = [c for c in data.paper_claims if exhibit.id in c.exhibits and c.kind in ORDER_KINDS]
    found: set[Quantity] = set()
    kept = []
    for claim in sorted(about, key=lambda claim: ORDER_KINDS.index(claim.kind)):
        within = [of for of in map(quantities, claim.instances) if of <= plotted]
        if within and data.result(claim.id).get("text_verdict") not in DISPUTED:
            found |= set().union(*within)
            kept.append(claim)
    return found, kept


def order_lines(data: StudyData, exhibit: Exhibit) -> list[str]:
    """Chains of the points of a figure from the greatest to the smallest, as the claims order them.

    Points of one series are one chain, points of one level of the axis another; what orders points
    of neither kind is told point by point. Chains that say the same of several series or levels are
    one line.
    """
    _, claims = order_claims(data, exhibit)
    points = {quantity: (series.label, x) for series, x, quantity in data.study.points(exhibit)}
    edges: Edges = {}
    for claim in claims:
        for instance in claim.instances:
            for greater, smaller, strict in _pairs(claim, instance):
                if greater in points and smaller in points and greater != smaller:
                    pair = points[greater], points[smaller]
                    edges[pair] = edges.get(pair, False) or strict
    factor = data.study.factors[exhibit.series[0].over]
    labels = list(dict.fromkeys(series for series, _ in points.values()))
    levels = list(dict.fromkeys(x for _, x in points.values()))

    def level_words_of(point: OrderedPoint) -> str:
        return level_words(factor, point[1])

    along: dict[str, list[str]] = {}
    for label in labels:
        own = {pair: s for pair, s in edges.items() if pair[0][0] == label == pair[1][0]}
        for words in _chains(own, lambda point: tick_label(factor, point[1]), level_words_of):
            along.setdefault(words, []).append(label)
    across: dict[str, list[str]] = {}
    for level in levels:
        own = {pair: s for pair, s in edges.items() if pair[0][1] == level == pair[1][1]}
        for words in _chains(own, lambda point: point[0]):
            of = across.setdefault(words, [])
            of.append(tick_label(factor, level) if of else level_words(factor, level))
    return [
        *(words if len(labels) == 1 else f"{_listed(of)}: {words}" for words, of in along.items()),
        *(
            words if len(of) == len(levels) else f"{_listed(of)}: {words}"
            for words, of in across.items()
        ),
        *_other_pairs(edges, list(points.values()), factor),
    ]


def _pairs(claim: Claim, instance: Instance) -> Iterator[tuple[Quantity, Quantity, bool]]:
    """(greater, smaller, strictly) of one relation; nothing of sums and multiples."""
    terms = [part.terms for part in instance.parts]
    if any(len(of) != 1 or of[0][0] != 1 for of in terms):
        return
    of = [part[0][1] for part in terms]
    if claim.kind == "argmax":
        yield from ((of[0], other, claim.strict) for other in of[1:])
    elif claim.kind == "argmin":
        yield from ((other, of[0], claim.strict) for other in of[1:])
    else:
        ascending, strict = _RELATIONS.get(claim.direction, (True, claim.strict))
        for first, second in pairwise(of):
            yield (second, first, strict) if ascending else (first, second, strict)


@dataclass(frozen=True)
class _Order:
    """Points from the smallest to the greatest: what is below each by any number of steps, and by
    one that no others imply.
    """

    ascending: list[OrderedPoint]
    below: dict[OrderedPoint, frozenset[OrderedPoint]]
    direct: dict[OrderedPoint, list[OrderedPoint]]


def _order(edges: Edges) -> _Order | None:
    """None where points are ordered both ways, each at least the other."""
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
    return _Order(ascending, below, direct)


def _chains(
    edges: Edges,
    name: Callable[[OrderedPoint], str],
    first: Callable[[OrderedPoint], str] | None = None,
) -> Iterator[str]:
    """Longest chains that together hold every order which no others imply; points with the same
    ones above and below them stand together. `first` names the first point of a chain.
    """
    order = _order(edges)
    if order is None:
        return
    above = {
        p: frozenset(a for a in order.ascending if p in order.below[a]) for p in order.ascending
    }
    classes: dict[tuple[frozenset[OrderedPoint], frozenset[OrderedPoint]], list[OrderedPoint]] = {}
    for point in dict.fromkeys(point for pair in edges for point in pair):
        classes.setdefault((above[point], order.below[point]), []).append(point)
    heads = {point: group[0] for group in classes.values() for point in group}
    groups = {group[0]: group for group in classes.values()}
    unsaid = {(heads[a], heads[b]) for a, others in order.direct.items() for b in others}
    steps = {a: [b for b in order.ascending if (a, b) in unsaid] for a in groups}
    strict: Edges = {}
    for (a, b), strictly in edges.items():
        pair = heads[a], heads[b]
        strict[pair] = strict.get(pair, True) and strictly
    while unsaid:
        longest: dict[OrderedPoint, list[OrderedPoint]] = {}
        for point in filter(groups.__contains__, order.ascending):
            tails = [longest[b] for b in steps[point] if (point, b) in unsaid]
            longest[point] = [point, *max(tails, key=len, default=[])]
        chain = max(longest.values(), key=len)
        unsaid -= set(pairwise(chain))
        words = [_listed(map(name, groups[point])) for point in chain]
        if first is not None:
            lead, *more = groups[chain[0]]
            words[0] = _listed([first(lead), *map(name, more)])
        signs = [" > " if strict[pair] else " ≥ " for pair in pairwise(chain)]
        yield words[0] + "".join(map("".join, zip(signs, words[1:], strict=True)))


def _other_pairs(edges: Edges, points: Sequence[OrderedPoint], factor: Factor) -> Iterator[str]:
    """What is ordered between points of different series and levels, and follows from nothing
    else.
    """
    order = _order(edges)
    if order is None:
        return
    for point in reversed(order.ascending):
        smaller = [b for b in order.direct[point] if b[0] != point[0] and b[1] != point[1]]
        if not smaller:
            continue
        strict = all(edges[point, other] for other in smaller)
        if order.below[point] == set(points) - {point}:
            told = "every other point"
        else:
            of: dict[str, list[Any]] = {}
            for label, level in sorted(smaller, key=points.index):
                of.setdefault(label, []).append(level)
            told = "; ".join(
                label
                if {b for b in points if b[0] == label} <= order.below[point]
                else f"{label} ({_listed(tick_label(factor, x) for x in levels)})"
                for label, levels in of.items()
            )
        yield f"{point[0]} ({tick_label(factor, point[1])}) {'>' if strict else '≥'} {told}"


def _listed(names: Iterable[str]) -> str:
    """Names with commas in them are set apart by semicolons."""
    listed = list(names)
    return "; ".join(listed) if any("," in name for name in listed) else joined(listed)
