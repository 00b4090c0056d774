"""Order chains are equivalent to the claims."""

from __future__ import annotations

import re
from itertools import pairwise, product

from hypothesis import given
from hypothesis import strategies as st

from virtperf.report.loaded import LoadedStudy
from virtperf.report.orders import (
    Edges,
    OrderedPoint,
    _chains,
    _differences,
    _is_drawn,
    _merged,
    _other_pairs,
    _pairs,
    _panel,
    _row,
    order_lines,
)
from virtperf.study.claim_kinds.pair import RatioClaim
from virtperf.study.quantities import Expression, Instance, Quantity

LEVELS = "abcdefg"


def read_back(lines: list[str]) -> set[tuple[str, str]]:
    """(greater, smaller) pairs of chains such as ``a > b and c ≥ d``, with their transitive closure."""
    found = set()
    for line in lines:
        groups = [re.split(r", | and ", part) for part in re.split(" [>≥] ", line)]
        found |= {pair for above, below in pairwise(groups) for pair in product(above, below)}
    return closure(found)


def closure(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    while new := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs = pairs | new
    return pairs


orders = st.sets(
    st.tuples(st.sampled_from(LEVELS), st.sampled_from(LEVELS)).filter(
        lambda pair: pair[0] < pair[1]
    )
)


@given(orders)
def test_chains_imply_exactly_the_given_orders(message: set[tuple[str, str]]) -> None:
    edges: Edges = {(("s", a), ("s", b)): True for a, b in message}
    lines = list(_chains(edges, lambda point: point[1]))
    assert read_back(lines) == closure(message)
    assert len(lines) <= len(message)


@given(orders)
def test_row_draws_the_greater_of_a_pair_to_the_left(message: set[tuple[str, str]]) -> None:
    if not message:
        return
    edges: Edges = {(("s", a), ("s", b)): True for a, b in message}
    row = _row("", edges, lambda group: " and ".join(x for _, x in group))
    columns = {point: place.column for place in row.places for point in place.points}
    assert all(columns[greater] < columns[smaller] for greater, smaller in edges)
    assert columns.keys() == {point for pair in edges for point in pair}
    assert len({(place.column, place.lane) for place in row.places}) == len(row.places)
    joined = {
        (a, b)
        for greater, smaller in row.lines
        for (_, a), (_, b) in product(row.places[greater].points, row.places[smaller].points)
    }
    assert closure(joined) == closure(message)


def test_sign_is_strict_only_if_all_its_orders_are() -> None:
    a, b, c = (("s", name) for name in "abc")
    edges: Edges = {(a, b): True, (a, c): False}
    assert list(_chains(edges, lambda point: point[1])) == ["a ≥ b and c"]
    assert list(_chains({(a, b): True}, lambda point: point[1])) == ["a > b"]


def test_mutually_ordered_points_are_omitted() -> None:
    a, b = ("s", "a"), ("s", "b")
    assert list(_chains({(a, b): False, (b, a): False}, lambda point: point[1])) == []


def test_maximum_is_stated_in_one_line(loaded: LoadedStudy) -> None:
    points: list[OrderedPoint] = [(series, guests) for series in "st" for guests in (2, 4, 8)]
    edges: Edges = {(points[0], other): True for other in points[1:]}
    factor = loaded.study.factors["guests"]
    assert list(_other_pairs(edges, points, factor)) == ["s, 2 guests > every other point"]


@given(orders)
def test_panel_draws_the_greater_of_a_pair_above(pairs: set[tuple[str, str]]) -> None:
    edges: Edges = {(("s", a), ("s", b)): True for a, b in pairs}
    panel = _panel("", {"s": "s"}, edges)
    assert all(panel.ranks[a] > panel.ranks[b] for a, b in panel.pairs)
    assert panel.pairs.keys() <= edges.keys()


def test_points_whose_place_the_claims_leave_open_are_not_drawn() -> None:
    chain = [("s", level) for level in "abcde"]
    apart = ("t", "a"), ("t", "b")
    edges: Edges = dict.fromkeys([*pairwise(chain), apart], True)
    panel = _panel("", {"s": "s", "t": "t"}, edges)
    assert set(panel.ranks) == set(chain) and list(panel.series) == ["s"]


def test_points_are_in_the_middle_of_their_possible_ranks() -> None:
    chain = [("s", level) for level in "abcdef"]
    loose = [("t", level) for level in "abcd"]
    edges: Edges = dict.fromkeys([*pairwise(chain), *pairwise(loose)], True)
    panel = _panel("", {"s": "s", "t": "t"}, edges)
    assert [panel.ranks[p] for p in chain] == [6, 5, 4, 3, 2, 1]
    assert [panel.ranks[p] for p in loose] == [5, 4, 3, 2]


def test_panels_with_the_same_order_are_joined(loaded: LoadedStudy) -> None:
    edges: Edges = {(("s", "a"), ("s", "b")): True}
    factor = loaded.study.factors["guests"]
    panels = [_panel(title, {"s": "s"}, edges) for title in ("8", "4")]
    assert [panel.title for panel in _merged(panels, factor)] == ["8 and 4 guests"]


def test_order_lines_of_a_figure_name_series_and_levels(loaded: LoadedStudy) -> None:
    exhibit = loaded.study.exhibit("figure-2")
    label = next(series.label for series in exhibit.series if series.at.get("system") == "a")
    assert order_lines(loaded.data, exhibit) == [f"{label}: 8 guests > 2, 4 and 16"]


def test_printed_difference_between_two_points_of_a_series_is_told(loaded: LoadedStudy) -> None:
    exhibit = next(e for e in loaded.study.exhibits if e.id == "figure-2")
    told = {s.label: list(_differences(loaded.data, exhibit, s.label)) for s in exhibit.series}
    assert [text for texts in told.values() for text in texts] == [
        "66\N{NO-BREAK SPACE}% between 8 and 4"
    ]


def test_a_series_stays_level_where_no_claim_orders_its_points() -> None:
    levels, series = "abcd", "tsr"
    edges: Edges = {
        ((upper, level), (lower, level)): True
        for upper, lower in pairwise(series)
        for level in levels
    }
    edges[("t", "c"), ("t", "d")] = True  # the only claim along the axis: it falls at the end
    panel = _panel("", {name: name for name in series}, edges, levels)
    assert [panel.ranks["t", level] for level in levels] == [4, 4, 4, 3]


def test_points_that_claims_call_alike_have_one_rank_unless_an_order_excludes_it() -> None:
    chain = [("s", level) for level in "abc"]
    edges: Edges = {**dict.fromkeys(pairwise(chain), True), (chain[1], ("u", "b")): True}
    names = {name: name for name in "stu"}
    alike = {((name, level), ("s", level)) for name in "tu" for level in "ab"}
    ties = frozenset(alike | {(b, a) for a, b in alike})
    panel = _panel("", names, edges, "abc", ties)
    assert panel.ranks["t", "a"] == panel.ranks["s", "a"]
    assert panel.ranks["t", "b"] == panel.ranks["s", "b"] > panel.ranks["u", "b"]
    assert ("t", "c") not in panel.ranks


def test_a_quotient_that_cannot_be_one_orders_its_sides() -> None:
    sides = [Quantity("q", (("at", name),)) for name in "ab"]
    instance = Instance(tuple(Expression(((1.0, side),)) for side in sides))
    for low, high, wanted in ((1.1, 2.0, "ab"), (0.5, 0.9, "ba"), (0.9, 1.1, "")):
        claim = RatioClaim.model_construct(kind="ratio", low=low, high=high)
        found = [q.level("at") for pair in _pairs(claim, instance) for q in pair[:2]]
        assert "".join(map(str, found)) == wanted


def test_an_order_is_drawn_only_if_its_picture_says_what_the_claims_say() -> None:
    levels, series = "abcd", "tsr"
    stacked: Edges = {
        ((upper, x), (lower, x)): True for upper, lower in pairwise(series) for x in levels
    }
    along: Edges = {((name, a), (name, b)): True for name in series for a, b in pairwise(levels)}
    names = {name: name for name in series}

    def is_drawn(edges: Edges) -> bool:
        return _is_drawn(_panel("", names, edges, levels), levels)

    assert is_drawn(stacked) and is_drawn(stacked | along)
    assert not is_drawn(along)  # one chain of all series is a line
    later = {pair: True for pair in stacked if pair[0][1] != "a"}
    steps = (("s", "a"), ("r", "a")), (("s", "b"), ("s", "a")), (("s", "d"), ("s", "c"))
    gap = later | dict.fromkeys(steps, True)
    panel = _panel("", names, gap, levels)
    assert panel.ranks["s", "b"] > panel.ranks["s", "c"]  # which no claim says
    assert not is_drawn(gap)
