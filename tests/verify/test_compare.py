"""Items compared: the statuses, the shift in interval widths, and that exchanging the sides changes neither."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from virtperf.verify.compare import (
    DEFAULTS,
    IDENTICAL,
    MISSING,
    MOVED,
    NEW,
    WITHIN,
    Tolerance,
    compare,
    compare_all,
    same_words,
)
from virtperf.verify.items import KINDS, Item

EXCHANGED = {IDENTICAL: IDENTICAL, WITHIN: WITHIN, MOVED: MOVED, MISSING: NEW, NEW: MISSING}
values = st.one_of(
    st.floats(-1e9, 1e9),
    st.sampled_from(
        [
            math.nan,
            math.inf,
            -math.inf,
            "",
            "reproduced",
            "median 4.5 s",
            "median 4.501 s",
            "n = 1,234",
        ]
    ),
)
items = st.builds(
    Item,
    st.just("figure-1"),
    st.just("a, 1"),
    st.sampled_from(["value", "low"]),
    st.sampled_from(KINDS),
    values,
    st.one_of(st.just(math.nan), st.floats(0.1, 1e3)),
)
tolerances = st.builds(
    Tolerance,
    relative=st.floats(0, 0.1),
    absolute=st.floats(0, 1),
    exported_digits=st.integers(0, 9),
)


@given(items, tolerances)
def test_an_item_is_identical_to_itself(item: Item, tolerance: Tolerance) -> None:
    assert compare(item, replace(item), tolerance).status == IDENTICAL


@given(items, items, tolerances)
def test_exchanged_sides_have_the_same_shift(a: Item, b: Item, tolerance: Tolerance) -> None:
    b = replace(b, field=a.field)
    there, back = compare(a, b, tolerance), compare(b, a, tolerance)
    assert EXCHANGED[there.status] == back.status
    assert there.widths == back.widths or (math.isnan(there.widths) and math.isnan(back.widths))


@given(items, tolerances)
def test_an_item_of_one_side_is_missing_or_new(item: Item, tolerance: Tolerance) -> None:
    assert compare(item, None, tolerance).status == MISSING
    assert compare(None, item, tolerance).status == NEW


@given(st.floats(-1e6, 1e6), st.floats(0.1, 1e3), st.floats(-5, 5).filter(lambda v: abs(v) > 0.01))
def test_a_number_moves_by_the_widths_of_its_interval(
    value: float, width: float, shift: float
) -> None:
    old = Item("e", "l", "value", "means", value, width)
    found = compare(
        old, replace(old, value=value + shift * width), Tolerance(relative=0, absolute=0)
    )
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
    old = Item("e", "l", "high", "limits", 6.0, 2.0)
    assert compare(old, replace(old, value=math.inf), DEFAULTS["limits"]).widths == math.inf
    assert compare(replace(old, value=math.nan), old, DEFAULTS["limits"]).widths == math.inf


def test_the_last_exported_digit_may_be_rounding() -> None:
    # 7 digits of 61.32754: one unit of the last is 0.00001
    a = Item("e", "l", "f", "limits", 61.32754)
    assert compare(a, replace(a, value=61.32755), DEFAULTS["limits"]).status == WITHIN
    assert compare(a, replace(a, value=61.32756), DEFAULTS["limits"]).status == MOVED
    assert compare(a, replace(a, value=61.32755), DEFAULTS["means"]).status == MOVED


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


def test_coordinates_may_differ_by_a_hundredth_of_a_pixel() -> None:
    assert same_words('<path d="M 1.251 3"/>', '<path d="M 1.255 3"/>', DEFAULTS["drawings"])
    assert not same_words('<path d="M 1.25 3"/>', '<path d="M 1.35 3"/>', DEFAULTS["drawings"])


def test_items_are_matched_by_place_row_and_field() -> None:
    old = [Item("figure-1", str(k), "measured", "means", float(k)) for k in range(4)]
    new = [*old[:1], *old[2:], Item("figure-2", "1", "measured", "means", 1.0)]
    found = [(c.item.place, c.item.label, c.status) for c in compare_all(old, new, DEFAULTS)]
    assert found == [
        ("figure-1", "0", IDENTICAL),
        ("figure-1", "2", IDENTICAL),
        ("figure-1", "3", IDENTICAL),
        ("figure-2", "1", NEW),
        ("figure-1", "1", MISSING),
    ]


def test_a_centre_may_move_by_what_its_solver_leaves_open_and_its_limits_may_not() -> None:
    old = Item("e", "l", "centre", "limits", 96.52152, 120.0)
    assert compare(old, replace(old, value=96.52154), DEFAULTS["limits"]).status == WITHIN
    assert compare(old, replace(old, value=96.522), DEFAULTS["limits"]).status == MOVED
    limit = Item("e", "l", "high", "limits", 120.0, 120.0)
    assert compare(limit, replace(limit, value=120.0002), DEFAULTS["limits"]).status == MOVED
