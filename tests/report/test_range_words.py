"""Wording of ranges: a value only if narrow, an order if no more is known."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from virtperf.report.loaded import LoadedStudy
from virtperf.report.range_words import (
    OPEN,
    is_order_only,
    order_only_limits,
    range_words,
)
from virtperf.study.derived_kinds.base import Bounds

INF = math.inf
RATIO, CHANGE, PLAIN, SHARE = (
    Bounds(0, INF, 1, 1.1),
    Bounds(-100, INF, 0, 10),
    Bounds(),
    Bounds(0, 1),
)


@each_case(
    ("pieces", "bounds", "words"),
    [
        ([1.495, 1.505], RATIO, "about 1.500 (1.495 to 1.505)"),
        ([1.5, 2.5], RATIO, "1.5 to 2.5"),
        ([1.8, 2.2], RATIO, "1.8 to 2.2"),
        ([1.79, 2.21], RATIO, "1.79 to 2.21"),
        ([0, 0.499], RATIO, "at most 0.499"),
        ([1.5, INF], RATIO, "at least 1.5"),
        ([0, INF], RATIO, OPEN),
        ([1.02, INF], RATIO, "order only: above 1"),
        ([0, 0.98], RATIO, "order only: below 1"),
        ([0, 0.5], RATIO, "at most 0.5"),
        ([0.001, 0.445], RATIO, "at most 0.445"),
        ([1.002, 463], RATIO, "order only: above 1"),
        ([0.969, 452], RATIO, "at least 0.969"),
        ([2, 150], RATIO, "2 to 150"),
        ([2, INF], CHANGE, "order only: above 0"),
        ([-100, -1], CHANGE, "order only: below 0"),
        ([-99.9, -0.49], CHANGE, "order only: below 0"),  # less than a hundredth is left
        ([-98.9, 0], CHANGE, "−98.9 to 0"),
        ([20, INF], CHANGE, "at least 20"),
        ([100, 100], RATIO, "exactly 100"),
        (
            [0.39, 0.41, 0.59, 0.61],
            RATIO,
            "about 0.400 (0.390 to 0.410) or about 0.600 (0.590 to 0.610)",
        ),
        ([0, 1, 5, INF], RATIO, "at most 1 or at least 5"),
        ([-8.473, 14.67], PLAIN, "−8.47 to 14.7"),
        ([0, 2], PLAIN, "0 to 2"),
        ([-INF, 3], PLAIN, "at most 3"),
        ([0, 1], SHARE, OPEN),
    ],
)
def test_exact_ranges(pieces, bounds, words):
    assert range_words(pieces, bounds) == words


@each_case(
    ("pieces", "words"),
    [
        ([0.2, 0.3], "0.2 to 0.3 found"),
        ([5.54, INF], "5.54 or more found"),
        ([0, 0.3], "0 to 0.3 found"),
        ([0, 0], "0 in all data sets tried"),
        ([1, 2, 3, 4], "1 to 2 or 3 to 4 found"),
        ([0, 1], OPEN),
    ],
)
def test_searched_ranges_are_not_called_limits(pieces, words):
    assert range_words(pieces, SHARE, searched=True) == words


@each_case(
    ("pieces", "bounds", "limits"),
    [
        ([1.08, INF], RATIO, [1, INF]),
        ([0, 0.98], RATIO, [0, 1]),
        ([2, INF], CHANGE, [0, INF]),
        ([-100, -1], CHANGE, [-100, 0]),
    ],
)
def test_limit_of_an_order_alone_is_the_neutral_value(pieces, bounds, limits):
    assert is_order_only(pieces, bounds)
    assert order_only_limits(pieces, bounds) == limits


@each_case(
    ("pieces", "bounds"),
    [
        ([1.2, INF], RATIO),
        ([0.969, INF], RATIO),
        ([1.02, 1.05], RATIO),
        ([0, INF], RATIO),
        ([0, 0.8], RATIO),
        ([2, INF], PLAIN),
    ],
)
def test_ranges_with_a_limit_of_the_text_are_more_than_an_order(pieces, bounds):
    assert not is_order_only(pieces, bounds)


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6))
def test_only_narrow_ranges_become_single_values(low, width):
    words = range_words([low, low + width], PLAIN)
    middle = low + width / 2
    assert not words.startswith("about") or width <= 0.1 * abs(middle) * (1 + 1e-9) + 1e-9


def test_natural_bounds_depend_on_kind_and_quantity(loaded: LoadedStudy) -> None:
    found = {d.label: d.bounds(loaded.study) for d in loaded.study.derivations}
    assert found["guests at the peak"] == Bounds()
    assert found["<b>A</b>: contention"] == SHARE and found["<b>A</b>: most throughput"].low == 0
    assert found["b, 4 guests"] == Bounds(0.0) and found["20 GB - 10 GB"].same == 0
    ratio = next(bounds for label, bounds in found.items() if label.endswith("8 / 2 guests"))
    assert (ratio.low, ratio.same) == (0, 1) and ratio.order == pytest.approx(1.1)
