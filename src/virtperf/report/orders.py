"""Orders of a figure's points that a paper's claims state: as descending chains
(``none > SN > disk``), and as ranks for a chart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from virtperf.core.numbers import join_words, pretty
from virtperf.core.verdicts import DISPUTED
from virtperf.report.axis_words import level_words, tick_label
from virtperf.report.frames import StudyData
from virtperf.report.partial_order import Edges, OrderedPoint, Ties, group_places, partial_order
from virtperf.study.claim_kinds.base import unit_words
from virtperf.study.claim_kinds.order import OrderClaim
from virtperf.study.claim_kinds.pair import (
    DifferenceClaim,
    EquivalenceClaim,
    PercentChangeClaim,
    QuotientClaim,
)
from virtperf.study.claims import Claim
from virtperf.study.definition import Exhibit, Factor, Study
from virtperf.study.quantities import Instance, Level, Quantity, quantities_of

MIN_ORDERED_POINTS, MAX_ORDERED_POINTS = 7, 25
"""Points in a panel of a drawn order: fewer are a line of text, more can't be told apart."""
MIN_RANKS = 3  # of a drawn order: mere pairs are a line of text
MAX_POINTS_OF_A_ROW = 8  # figures with more have a row for each series
MAX_ROWS, MAX_COLUMNS, MAX_LANES = 4, 7, 4  # of rows that are drawn
MAX_SLACK = 0.5
"""Largest share of the height over which a drawn point could be moved without breaking an order: the
place of a point with more would be an invention.
"""


@dataclass(frozen=True)
class OrderPanel:
    """A panel of a chart of an order.

    `title`: levels of the factor that separates the panels, "" for a single panel. `series`: labels
    of series in study.yaml by their names in the panel, in order. `ranks`: of each drawn point
    (name, level), 1 the lowest; points of a series have the same one where the order allows it.
    `pairs`: (greater, smaller) of one series or one level, without those that follow from others;
    whether strictly. `ties`: points that claims call alike; at one level they have the same rank
    where the order allows it.
    """

    title: str
    series: Mapping[str, str]
    ranks: Mapping[OrderedPoint, int]
    pairs: Edges
    ties: Ties = frozenset()


@dataclass(frozen=True)
class OrderChart:
    """Panels of a chart of the order that claims state; `n_points`: ordered points that are not drawn,
    because the claims determine their place too little; `n_pairs`: stated pairs that no line shows,
    since their points are in different panels, or differ in both series and level.
    """

    panels: tuple[OrderPanel, ...]
    n_points: int
    n_pairs: int


@dataclass(frozen=True)
class OrderPlace:
    """Points that an order does not tell apart, with their joint `label`; 0 is the `column` of the
    greatest, and the uppermost `lane`.
    """

    points: tuple[OrderedPoint, ...]
    label: str
    column: int
    lane: int


@dataclass(frozen=True)
class OrderRow:
    """An order to be drawn from left to right; `lines`: indices of places (greater, smaller), without
    those that follow from others; whether strictly.
    """

    title: str
    places: tuple[OrderPlace, ...]
    lines: Mapping[tuple[int, int], bool]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return 1 + max(place.column for place in self.places)


def order_claims(data: StudyData, exhibit: Exhibit) -> tuple[set[Quantity], list[OrderClaim]]:
    """Plotted quantities that claims of the paper order among each other, and these claims: those that
    state nothing but orders.

    Disputed claims (`DISPUTED`) don't count.
    """
    ordered: set[Quantity] = set()
    remaining = []
    about = [claim for claim in _undisputed(data, exhibit) if isinstance(claim, OrderClaim)]
    plotted = {quantity for _, _, quantity in data.study.points(exhibit)}
    for claim in sorted(about, key=_precedence):
        related = (set(quantities_of(instance.parts)) for instance in claim.instances)
        within = [of for of in related if of <= plotted]
        if within:
            ordered |= set().union(*within)
            remaining.append(claim)
    return ordered, remaining


def _undisputed(data: StudyData, exhibit: Exhibit) -> Iterator[Claim]:
    """The paper's claims about a figure that no others contradict."""
    for claim in data.paper_claims:
        if (
            exhibit.id in claim.exhibits
            and data.result(claim.id).get("text_verdict") not in DISPUTED
        ):
            yield claim


def _precedence(claim: Claim) -> float:
    """Place of a claim among those about a figure: claims that are no mere orders come last."""
    return claim.precedence if isinstance(claim, OrderClaim) else math.inf


def order_lines(data: StudyData, exhibit: Exhibit) -> list[str]:
    """Orders of a figure's points stated by claims, as descending chains.

    Chains hold the points of one series or of one level; all other ordered pairs are listed by
    point. Series or levels with the same chain share a line.
    """
    points, edges = _stated_pairs(data, exhibit)
    factor = data.study.axis(exhibit)
    labels = list(dict.fromkeys(series for series, _ in points))
    levels = list(dict.fromkeys(x for _, x in points))

    def level_words_of(point: OrderedPoint) -> str:
        return level_words(factor, point[1])

    along: dict[str, list[str]] = {}
    for label in labels:
        chain_edges = {pair: s for pair, s in edges.items() if pair[0][0] == label == pair[1][0]}
        for words in _chains(
            chain_edges, lambda point: tick_label(factor, point[1]), level_words_of
        ):
            along.setdefault(words, []).append(label)
    across: dict[str, list[str]] = {}
    for level in levels:
        chain_edges = {pair: s for pair, s in edges.items() if pair[0][1] == level == pair[1][1]}
        for words in _chains(chain_edges, lambda point: point[0]):
            of = across.setdefault(words, [])
            of.append(tick_label(factor, level) if of else level_words(factor, level))
    return [
        *(
            words if len(labels) == 1 else f"{_series_names(data.study, exhibit, of)}: {words}"
            for words, of in along.items()
        ),
        *(
            words if len(of) == len(levels) else f"{_join_names(of)}: {words}"
            for words, of in across.items()
        ),
        *_other_pairs(edges, points, factor),
    ]


def order_chart(data: StudyData, exhibit: Exhibit) -> OrderChart | None:
    """The order of a figure's points that claims state, as panels of a chart.

    One panel has all points if they are few. Else there is one for each level of the factor in which
    the series differ most; levels whose points have the same order share a panel. None if no panel
    has enough points, or too many, if claims contradict each other, and if a picture would say less
    than the lines, or more than the claims (`_is_drawn`).
    """
    points, edges = _stated_pairs(data, exhibit)
    ties = _stated_ties(data, exhibit)
    whole = partial_order(edges)
    if whole is None:
        return None
    levels = list(dict.fromkeys(x for _, x in points))
    if len(whole.ascending) <= MAX_ORDERED_POINTS:
        labels = dict.fromkeys(series for series, _ in points)
        panels, n_pairs = [_panel("", {label: label for label in labels}, edges, levels, ties)], 0
        drawn = len(panels[0].ranks.keys() & set(whole.ascending))
    else:
        factor, places = _panel_places(data.study, exhibit)
        if factor is None:
            return None
        by_level: dict[Level, Edges] = {}
        n_pairs = 0
        for (a, b), strict in edges.items():
            (level, first), (other, second) = places[a[0]], places[b[0]]
            if level == other:
                by_level.setdefault(level, {})[(first, a[1]), (second, b[1])] = strict
            else:
                n_pairs += b in whole.direct[a]
        tied: dict[Level, Ties] = {}
        for a, b in ties:
            (level, first), (other, second) = places[a[0]], places[b[0]]
            if level == other:
                pair = (first, a[1]), (second, b[1])
                tied[level] = tied.get(level, frozenset()) | {pair}
        separate = [
            _panel(
                tick_label(factor, level),
                _names_at(places, level),
                by_level[level],
                levels,
                tied.get(level, frozenset()),
            )
            for level in sorted(by_level, key=factor.levels.index)
        ]
        separate = [panel for panel in separate if len(panel.ranks) >= MIN_ORDERED_POINTS]
        by_title = {tick_label(factor, level): pairs for level, pairs in by_level.items()}
        drawn = sum(
            len(panel.ranks.keys() & {point for pair in by_title[panel.title] for point in pair})
            for panel in separate
        )
        panels = _merged(separate, factor)
    if not panels or not all(_is_drawn(panel, levels) for panel in panels):
        return None
    shown = [
        replace(panel, pairs={pair: s for pair, s in panel.pairs.items() if _is_along(*pair)})
        for panel in panels
    ]
    n_pairs += sum(len(p.pairs) - len(s.pairs) for p, s in zip(panels, shown, strict=True))
    return OrderChart(tuple(shown), len(whole.ascending) - drawn, n_pairs)


def order_rows(data: StudyData, exhibit: Exhibit) -> list[OrderRow]:
    """The orders of a figure's points that claims state, as rows of places from the greatest to the
    smallest.

    One row has all points if they are few; else there is one for each series, and one for each level,
    and those with the same order share it. Empty if claims contradict each other, if all rows are
    mere pairs, or if one has too many places for a picture.
    """
    points, edges = _stated_pairs(data, exhibit)
    factor = data.study.axis(exhibit)
    if not edges or group_places(edges) is None:
        return []
    labels = list(dict.fromkeys(series for series, _ in points))
    if len(points) <= MAX_POINTS_OF_A_ROW:
        rows = [_row("", edges, lambda group: _point_names(group, points, factor))]
    else:
        rows = [
            *_shared_rows(
                edges,
                labels,
                part=0,
                name=lambda group: _join_names([tick_label(factor, x) for _, x in group]),
                title=lambda names: _by_levels(data, exhibit, names),
            ),
            *_shared_rows(
                edges,
                list(dict.fromkeys(x for _, x in points)),
                part=1,
                name=lambda group: _join_names([label for label, _ in group]),
                title=lambda xs: _levels_named([tick_label(factor, x) for x in xs], factor),
            ),
        ]
    rows = [row for row in rows if row.n_columns >= MIN_RANKS]
    crowded = any(
        row.n_columns > MAX_COLUMNS or max(place.lane for place in row.places) >= MAX_LANES
        for row in rows
    )
    return [] if crowded or len(rows) > MAX_ROWS else rows


def _shared_rows(
    edges: Edges,
    found: Sequence[Any],
    *,
    part: int,
    name: Callable[[list[OrderedPoint]], str],
    title: Callable[[list[Any]], str],
) -> Iterator[OrderRow]:
    """One row for the series (`part` 0) or levels (1) in `found` whose points have the same order."""
    alike: dict[Any, tuple[list[Any], Edges]] = {}
    for value in found:
        own = {
            pair: strict
            for pair, strict in edges.items()
            if pair[0][part] == value == pair[1][part]
        }
        if own:
            key = frozenset(((a[1 - part], b[1 - part]), strict) for (a, b), strict in own.items())
            alike.setdefault(key, ([], own))[0].append(value)
    for values, own in alike.values():
        yield _row(title(values), own, name)


def _row(title: str, edges: Edges, name: Callable[[list[OrderedPoint]], str]) -> OrderRow:
    found = group_places(edges)
    assert found is not None
    columns = found.columns()
    lanes = found.lanes(columns)
    heads = list(found.groups)
    places = tuple(
        OrderPlace(tuple(found.groups[head]), name(found.groups[head]), columns[head], lanes[head])
        for head in heads
    )
    lines = {(heads.index(a), heads.index(b)): strict for (a, b), strict in found.strict.items()}
    return OrderRow(title, places, lines)


def _by_levels(data: StudyData, exhibit: Exhibit, labels: Sequence[str]) -> str:
    """Names of series, of what their levels are numbers of, and of an only series the differences
    between two points that claims print.
    """
    study = data.study
    names, factor = _series_names(study, exhibit, labels), study.axis(exhibit)
    if any(not isinstance(x, int | float) for _, x, _ in study.points(exhibit)):
        return names
    differences = _differences(data, exhibit, labels[0]) if len(labels) == 1 else ()
    return "; ".join([f"{names}, by {factor.label}", *differences])


def _differences(data: StudyData, exhibit: Exhibit, label: str) -> Iterator[str]:
    """Printed differences between two points of a series: ``3.2 IFLs between 200 and 10``."""
    study = data.study
    levels = {((1.0, q),): x for series, x, q in study.points(exhibit) if series.label == label}
    for claim in _undisputed(data, exhibit):
        if not isinstance(claim, DifferenceClaim | PercentChangeClaim) or claim.value is None:
            continue
        for instance in claim.instances:
            ends = [levels[part.terms] for part in instance.parts if part.terms in levels]
            if len(ends) == 2:
                places = join_words([tick_label(study.axis(exhibit), x) for x in ends])
                change = isinstance(claim, PercentChangeClaim)
                unit = claim.unit_suffix(study) if change else unit_words(study, instance)
                yield f"{pretty(abs(claim.value))}{unit} between {places}"


def _point_names(
    group: Sequence[OrderedPoint], points: Sequence[OrderedPoint], factor: Factor
) -> str:
    """Join points: the levels of each series; no level of a series with one, no name of an only
    series.
    """
    several = len({series for series, _ in points}) > 1
    of: dict[str, list[str]] = {}
    for series, x in group:
        of.setdefault(series, []).append(tick_label(factor, x))
    return _join_names(
        [
            series
            if several and sum(label == series for label, _ in points) == 1
            else ", ".join([series] * several + [_levels_named(levels, factor)])
            for series, levels in of.items()
        ]
    )


def _is_drawn(panel: OrderPanel, levels: Sequence[Any]) -> bool:
    """Whether a panel has enough points and ranks, and not too many; its series differ, since one chain
    of all of them is a line of text; and no series rises or falls between neighbouring levels where
    claims do not say so.
    """
    ranks = panel.ranks
    if not MIN_ORDERED_POINTS <= len(ranks) <= MAX_ORDERED_POINTS:
        return False
    places = {(x, rank) for (_, x), rank in ranks.items()}
    if max(ranks.values()) < MIN_RANKS or len(places) == len({x for x, _ in places}):
        return False
    order = partial_order(panel.pairs)
    assert order is not None
    for name in panel.series:
        for a, b in pairwise((name, x) for x in levels if (name, x) in ranks):
            below_a, below_b = (order.below.get(point, frozenset()) for point in (a, b))
            if ranks[a] != ranks[b] and a not in below_b and b not in below_a:
                return False
    return True


def _is_along(a: OrderedPoint, b: OrderedPoint) -> bool:
    """Whether two points have the same series or the same level: lines between others cross the
    chart.
    """
    return a[0] == b[0] or a[1] == b[1]


def _panel_places(
    study: Study, exhibit: Exhibit
) -> tuple[Factor | None, dict[str, tuple[Level, str]]]:
    """Factor that separates the panels, and by the label of each series its level of it and its name
    within the panel: its levels of the other factors in which series differ.
    """
    first: dict[str, Quantity] = {}
    for series, _, quantity in study.points(exhibit):
        first.setdefault(series.label, quantity)
    over = exhibit.series[0].over
    levels = {
        name: list(dict.fromkeys(quantity.level(name) for quantity in first.values()))
        for name in study.factors
        if name != over
    }
    varied = {name: found for name, found in levels.items() if len(found) > 1}
    if len(varied) < 2:
        return None, {}
    panels = max(varied, key=lambda name: len(varied[name]))
    others = [study.factors[name] for name in varied if name != panels]
    return study.factors[panels], {
        label: (
            quantity.level(panels),
            ", ".join(tick_label(factor, quantity.level(factor.name)) for factor in others),
        )
        for label, quantity in first.items()
    }


def _series_names(study: Study, exhibit: Exhibit, labels: Sequence[str]) -> str:
    """Join labels of series; those of all levels of two factors name each level once."""
    factor, places = _panel_places(study, exhibit)
    levels = dict.fromkeys(places[label][0] for label in labels if label in places)
    names = dict.fromkeys(places[label][1] for label in labels if label in places)
    worded = all(name[:1].isalpha() for name in names)  # a bare number has no noun here
    if factor is None or not worded or len(levels) < 2 or len(levels) * len(names) != len(labels):
        return _join_names(labels)
    return "; ".join([*names, _levels_named([tick_label(factor, x) for x in levels], factor)])


def _levels_named(levels: Iterable[str], factor: Factor) -> str:
    """Join levels, with the name of their factor unless they have names."""
    return f"{join_words(levels)}{'' if factor.level_labels else f' {factor.label}'}"


def _names_at(places: Mapping[str, tuple[Level, str]], level: Level) -> dict[str, str]:
    """First label of each name within a panel."""
    names: dict[str, str] = {}
    for label, (at, name) in places.items():
        if at == level:
            names.setdefault(name, label)
    return names


def _panel(
    title: str,
    series: Mapping[str, str],
    edges: Edges,
    levels: Sequence[Any] = (),
    ties: Ties = frozenset(),
) -> OrderPanel:
    """A panel of points whose place the edges determine (`MAX_SLACK`), and of those that are tied to
    them.
    """
    order = partial_order(edges)
    if order is None:
        return OrderPanel(title, {}, {}, {})
    ranks, depths = order.ranks(), order.depths()
    top = max(ranks.values(), default=0)
    drawn = {p for p in ranks if top + 1 - depths[p] - ranks[p] <= MAX_SLACK * (top - 1)}
    order = partial_order(
        {pair: strict for pair, strict in edges.items() if drawn.issuperset(pair)}
    )
    assert order is not None
    ranks = _with_tied(order.places(levels, ties), edges, ties)
    order = partial_order({pair: s for pair, s in edges.items() if ranks.keys() >= {*pair}})
    assert order is not None
    pairs = {(a, b): edges[a, b] for a, others in order.direct.items() for b in others}
    used = {name for name, _ in ranks}
    named = {name: label for name, label in series.items() if name in used}
    return OrderPanel(title, named, ranks, pairs, ties)


def _with_tied(
    ranks: Mapping[OrderedPoint, int], edges: Edges, ties: Ties
) -> dict[OrderedPoint, int]:
    """Ranks, also of points that are tied to one with a rank at their level, unless an edge excludes
    this.
    """
    tied = {b: ranks[a] for a, b in sorted(ties, key=str) if a in ranks and a[1] == b[1]}
    together = {**tied, **ranks}
    wrong = {
        point
        for (a, b), strict in edges.items()
        if together.keys() >= {a, b} and together[a] < together[b] + strict
        for point in (a, b)
    }
    return {p: rank for p, rank in together.items() if p in ranks or p not in wrong}


def _merged(panels: Iterable[OrderPanel], factor: Factor) -> list[OrderPanel]:
    """Join the panels with the same order; the titles name their levels."""
    alike: dict[Any, list[OrderPanel]] = {}
    for panel in panels:
        same = frozenset(panel.ranks.items()), frozenset(panel.pairs.items()), panel.ties
        alike.setdefault(same, []).append(panel)
    return [
        OrderPanel(
            _levels_named([panel.title for panel in group], factor),
            group[0].series,
            group[0].ranks,
            group[0].pairs,
            group[0].ties,
        )
        for group in alike.values()
    ]


def _stated_pairs(data: StudyData, exhibit: Exhibit) -> tuple[list[OrderedPoint], Edges]:
    """All points of a figure, and the pairs that claims order; quotients add those of points that are in
    an order anyway, or tied to one that is, else their sentence says more.
    """
    points = {quantity: (series.label, x) for series, x, quantity in data.study.points(exhibit)}
    ties = _stated_ties(data, exhibit)
    edges: Edges = {}
    for claim in sorted(_undisputed(data, exhibit), key=_precedence):
        ordered = {point for pair in edges for point in pair}
        ordered |= {b for a, b in ties if a in ordered and a[1] == b[1]}
        for instance in claim.instances:
            for greater, smaller, strict in _pairs(claim, instance):
                if greater in points and smaller in points and greater != smaller:
                    pair = points[greater], points[smaller]
                    if isinstance(claim, OrderClaim) or ordered.issuperset(pair):
                        edges[pair] = edges.get(pair, False) or strict
    return list(points.values()), edges


def _stated_ties(data: StudyData, exhibit: Exhibit) -> Ties:
    """Pairs of points of a figure that claims call equal within a margin, in both directions."""
    points = {quantity: (series.label, x) for series, x, quantity in data.study.points(exhibit)}
    found = set()
    for claim in _undisputed(data, exhibit):
        if not isinstance(claim, EquivalenceClaim):
            continue
        for instance in claim.instances:
            if any(len(part.terms) != 1 or part.terms[0][0] != 1 for part in instance.parts):
                continue
            a, b = (points.get(part.terms[0][1]) for part in instance.parts)
            if a is not None and b is not None and a != b:
                found |= {(a, b), (b, a)}
    return frozenset(found)


def _pairs(claim: Claim, instance: Instance) -> Iterator[tuple[Quantity, Quantity, bool]]:
    """Yield (greater, smaller, strict) for pairs of a relation; none for sums and multiples.

    A quotient that can't be 1 orders its two sides, such as that of "slightly higher".
    """
    parts = instance.parts
    if any(len(part.terms) != 1 or part.terms[0][0] != 1 for part in parts):
        return
    if isinstance(claim, QuotientClaim) and not isinstance(claim, EquivalenceClaim):
        of, to = (part.terms[0][1] for part in parts)
        low, high = claim.quotient_limits
        if low > 1 or high < 1:
            yield (of, to, True) if low > 1 else (to, of, True)
    if not isinstance(claim, OrderClaim):
        return
    in_order = sorted(claim.steps(parts), key=lambda step: min(map(parts.index, step)))
    for smaller, larger in in_order:
        yield larger.terms[0][1], smaller.terms[0][1], claim.is_strict


def _chains(
    edges: Edges,
    name: Callable[[OrderedPoint], str],
    first: Callable[[OrderedPoint], str] | None = None,
) -> Iterator[str]:
    """Cover the transitive reduction by chains, the longest first; points with the same points
    above and below share a place. `first` formats the first point of a chain.
    """
    found = group_places(edges)
    if found is None:
        return
    groups, strict = found.groups, found.strict
    uncovered = set(strict)
    steps = {a: [b for b in found.ascending if (a, b) in uncovered] for a in groups}
    while uncovered:
        longest: dict[OrderedPoint, list[OrderedPoint]] = {}
        for point in found.ascending:
            tails = [longest[b] for b in steps[point] if (point, b) in uncovered]
            longest[point] = [point, *max(tails, key=len, default=[])]
        chain = max(longest.values(), key=len)
        uncovered -= set(pairwise(chain))
        words = [_join_names(map(name, groups[point])) for point in chain]
        if first is not None:
            lead, *more = groups[chain[0]]
            words[0] = _join_names([first(lead), *map(name, more)])
        signs = [" > " if strict[pair] else " ≥ " for pair in pairwise(chain)]
        yield words[0] + "".join(map("".join, zip(signs, words[1:], strict=True)))


def _other_pairs(edges: Edges, points: Sequence[OrderedPoint], factor: Factor) -> Iterator[str]:
    """Pairs of the transitive reduction between points of different series and different levels."""
    order = partial_order(edges)
    if order is None:
        return
    for point in reversed(order.ascending):
        smaller = [b for b in order.direct[point] if b[0] != point[0] and b[1] != point[1]]
        if not smaller:
            continue
        strict = all(edges[point, other] for other in smaller)
        if order.below[point] == set(points) - {point}:
            smaller_text = "every other point"
        else:
            of: dict[str, list[Any]] = {}
            for label, level in sorted(smaller, key=points.index):
                of.setdefault(label, []).append(level)
            smaller_text = "; ".join(
                label
                if {b for b in points if b[0] == label} <= order.below[point]
                else f"{label}, {join_levels(levels, factor)}"
                for label, levels in of.items()
            )
        sign = ">" if strict else "≥"
        yield f"{point[0]}, {level_words(factor, point[1])} {sign} {smaller_text}"


def join_levels(levels: Sequence[Any], factor: Factor) -> str:
    """Join levels, the first in words: ``112 GiB real memory and 96``."""
    first, *others = levels
    return join_words([level_words(factor, first), *(tick_label(factor, x) for x in others)])


def _join_names(names: Iterable[str]) -> str:
    """Join names, with semicolons if a name contains a comma."""
    all_names = list(names)
    return "; ".join(all_names) if any("," in name for name in all_names) else join_words(all_names)
