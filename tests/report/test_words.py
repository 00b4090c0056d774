"""Formatting of numbers and names."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from virtperf.core import numbers as words
from virtperf.report.wording import exhibit_name


@each_case(
    ("value", "expected"),
    [
        (66.0, "66"),
        (65.904, "65.9"),
        (11264.3, "11264"),
        (0.00123456, "0.001235"),
        (-0.00001, "-0.00001"),
        (0.0, "0"),
        (99.996, "100"),
        (math.inf, "inf"),
        (math.nan, "n/a"),
        (None, "n/a"),
        (1e-12, "1.000e-12"),
    ],
)
def test_numbers_keep_four_digits_and_every_digit_before_the_point(
    value: float | None, expected: str
) -> None:
    assert words.number(value) == expected


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12))
def test_rounding_error_is_below_half_a_unit_of_the_fourth_digit(value: float) -> None:
    # Rounding to 4 significant digits moves a number by at most 0.5 / 1000 of itself; integers keep all digits.
    assert math.isclose(float(words.number(value)), value, rel_tol=5.1e-4, abs_tol=1e-300)


def test_numbers_have_separators_and_a_minus_sign() -> None:
    assert words.pretty(-20480.0) == "−20,480"
    assert words.pretty(1234.5) == "1,234" or words.pretty(1234.5) == "1,235"
    assert words.pretty(math.inf) == "unbounded"


@each_case(
    ("low", "high", "expected"),
    [
        (40, 52, "40 to 52"),
        (40, math.inf, "40 or more"),
        (-math.inf, 52, "at most 52"),
        (100, 100, "exactly 100"),
        (math.nan, math.nan, "anything"),
        (11317.9, 11318.1, "about 11,318"),
    ],
)
def test_intervals_mark_missing_limits(low: float, high: float, expected: str) -> None:
    assert words.interval(low, high) == expected


def test_exhibit_names_are_those_of_the_paper() -> None:
    assert exhibit_name("figure-5") == "Figure 5"
    assert exhibit_name("unnumbered-2", "table") == "Unnumbered table 2"
