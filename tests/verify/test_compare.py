"""Items compared: the statuses, the shift in interval widths, and that exchanging the sides changes neither."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from virtperf.verify.compare import IDENTICAL, MISSING, MOVED, NEW, WITHIN, compare, compare_all, merged, same_words
from virtperf.verify.items import KINDS, Item
from virtperf.verify.tolerances import DEFAULTS, Tolerance

EXCHANGED = {IDENTICAL: IDENTICAL, WITHIN: WITHIN, MOVED: MOVED, MISSING: NEW, NEW: MISSING}
numbers = st.one_of(st.floats(-1e9, 1e9), st.sampled_from([math.nan, math.inf, -math.inf]))
words = st.sampled_from(["", "reproduced", "median 4.5 s", "median 4.501 s", "n = 1,234"])
curves = st.lists(st.floats(-1e6, 1e6), max_size=4).map(tuple)
items = st.builds(
    Item, st.just("figure-1"), st.just("a, 1"), st.just("measured"), st.sampled_from(KINDS), numbers, numbers, numbers,
    words, curves,
)  # fmt: skip
tolerances = st.builds(Tolerance, st.floats(0, 0.1), st.floats(0, 1), st.integers(0, 9))


@given(items, tolerances)
def test_an_item_is_identical_to_itself(item: Item, tolerance: Tolerance) -> None:
    assert compare(item, replace(item), tolerance).status == IDENTICAL


@given(items, items, tolerances)
def test_exchanged_sides_have_the_same_shift(a: Item, b: Item, tolerance: Tolerance) -> None:
    there, back = compare(a, b, tolerance), compare(b, a, tolerance)
    assert EXCHANGED[there.status] == back.status
    assert there.widths == back.widths or (math.isnan(there.widths) and math.isnan(back.widths))


@given(items, tolerances)
def test_an_item_of_one_side_is_missing_or_new(item: Item, tolerance: Tolerance) -> None:
    assert compare(item, None, tolerance).status == MISSING
    assert compare(None, item, tolerance).status == NEW


@given(
    st.floats(-1e6, 1e6), st.floats(0.1, 1e3), st.floats(-5, 5).filter(lambda v: abs(v) > 0.01), st.sampled_from(KINDS)
)
def test_a_shifted_interval_moves_by_its_widths(value: float, width: float, shift: float, kind: str) -> None:
    # limits and value all move by shift widths, so the largest shift is exactly that
    old = Item("e", "l", "f", kind, value, value - width / 2, value + width / 2)
    new = Item("e", "l", "f", kind, *(v + shift * width for v in old.numbers))
    found = compare(old, new, Tolerance(0, 0))
    assert found.status == MOVED
    assert found.widths == pytest.approx(abs(shift), rel=1e-4)


@given(st.floats(-1e6, 1e6).filter(lambda v: abs(v) > 1e-3), st.floats(-0.9, 0.9))
def test_floating_noise_is_within_tolerance_and_more_is_not(value: float, share: float) -> None:
    def status(factor: float) -> str:
        a = Item("e", "l", "f", "means", value)
        return compare(a, replace(a, value=value * (1 + factor)), DEFAULTS["means"]).status

    assert status(share * 1e-9) in (IDENTICAL, WITHIN)
    assert status(math.copysign(2e-6, share)) == MOVED


def test_a_limit_that_comes_or_goes_is_an_infinite_shift() -> None:
    old = Item("e", "l", "f", "limits", 5, 4, 6)
    assert compare(old, replace(old, high=math.inf), DEFAULTS["limits"]).widths == math.inf
    assert compare(replace(old, value=math.nan), old, DEFAULTS["limits"]).widths == math.inf


def test_the_last_exported_digit_may_be_rounding() -> None:
    # 7 digits of 61.32754: one unit of the last is 0.00001
    a = Item("e", "l", "f", "limits", 61.32754)
    assert compare(a, replace(a, value=61.32755), DEFAULTS["limits"]).status == WITHIN
    assert compare(a, replace(a, value=61.32756), DEFAULTS["limits"]).status == MOVED
    assert compare(a, replace(a, value=61.32755), DEFAULTS["means"]).status == MOVED


def test_a_curve_moves_in_shares_of_its_range() -> None:
    old = Item("e", "l", "f", "means", curve=(0.0, 10.0, 20.0))
    assert compare(old, replace(old, curve=(0.0, 15.0, 20.0)), DEFAULTS["means"]).widths == 0.25
    assert compare(old, replace(old, curve=(0.0, 10.0)), DEFAULTS["means"]).status == MOVED


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("median 4.5 s", "median 4.5 s", True),
        ("median 4.5 s", "median 4.501 s", True),  # four digits are exported
        ("median 4.5 s", "median 4.6 s", False),
        ("1,200 ok", "1,201 ok", True),
        ("65 claims", "66 claims", False),
        ("reproduced", "refuted", False),
        ("version 1.2.3", "version 1.2.4", False),
    ],
)
def test_words_agree_where_their_numbers_do(a: str, b: str, same: bool) -> None:
    assert same_words(a, b, DEFAULTS["registers"]) is same


def test_items_are_matched_by_exhibit_row_and_field() -> None:
    old = [Item("figure-1", str(k), "measured", "means", float(k)) for k in range(4)]
    new = [*old[:1], *old[2:], Item("figure-2", "1", "measured", "means", 1.0)]
    found = [(c.item.exhibit, c.item.label, c.status) for c in compare_all(old, new, DEFAULTS)]
    assert found == [
        ("figure-1", "0", IDENTICAL), ("figure-1", "1", MISSING), ("figure-1", "2", IDENTICAL),
        ("figure-1", "3", IDENTICAL), ("figure-2", "1", NEW),
    ]  # fmt: skip


@given(st.lists(st.integers(0, 9), unique=True), st.lists(st.integers(0, 9), unique=True))
def test_merged_names_keep_both_orders_where_they_can(old: list[int], new: list[int]) -> None:
    found = merged(old, new)
    assert sorted(found) == sorted({*old, *new})
    assert [n for n in found if n in new] == new


def test_other_statements_that_set_the_same_limit_are_no_move() -> None:
    old = Item("e", "l", "low_set_by", "limits", low=5.0, words="a;b")
    assert compare(old, replace(old, words="b;c"), DEFAULTS["limits"]).status == WITHIN
    assert compare(old, replace(old, words="b;c", low=5.1), DEFAULTS["limits"]).status == MOVED
    assert (
        compare(old, replace(old, low=5.1), DEFAULTS["limits"]).status == IDENTICAL
    )  # the limit is an item of its own


def test_a_centre_may_move_by_what_its_solver_leaves_open_and_its_limits_may_not() -> None:
    old = Item("e", "l", "allowed", "limits", 96.52152, 0.0, 120.0)
    assert compare(old, replace(old, value=96.52154), DEFAULTS["limits"]).status == WITHIN
    assert compare(old, replace(old, value=96.522), DEFAULTS["limits"]).status == MOVED
    assert compare(old, replace(old, high=120.0002), DEFAULTS["limits"]).status == MOVED
