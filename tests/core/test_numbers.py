"""Formatting of numbers and intervals."""

from __future__ import annotations

import math

from virtperf.core.numbers import as_precise, even_interval, rounded, signed, with_interval


def test_interval_width_decides_decimals():
    assert as_precise(12.345, 11.9, 12.8) == ("12.3", "11.9", "12.8")
    assert as_precise(12.345, 12.2, 12.5) == ("12.35", "12.20", "12.50")


def test_short_side_of_a_log_scale_interval_keeps_its_digits():
    assert as_precise(13.563, 1.449, 127.0) == ("14", "1.4", "127")
    assert as_precise(1.158, 0.0089, 151.2) == ("1.2", "0.0089", "151")


def test_a_computed_range_has_the_digits_of_its_width():
    assert rounded(0.08455, 419.8) == (0.085, 420)
    assert rounded(3.357, 5.11) == (3.4, 5.1)
    assert rounded(0.000346032, 0.000390432) == (0.000346, 0.00039)
    assert rounded(-63.9303, -7.96381) == (-64, -8.0)
    assert rounded(1470.5, 1471.5) == (1470.5, 1471.5)
    assert rounded(2.041, 2.041) == (2.041, 2.041)
    assert rounded(1.005, math.inf) == (1.005, math.inf)


def test_negative_limits_have_the_same_decimals():
    assert as_precise(1.0, -14.2, 20.0) == ("1", "−14", "20")


def test_a_change_of_nearly_everything_is_not_minus_100():
    nothing = math.nan
    assert signed(-99.97251, nothing, nothing)[0] == "-99.973"
    assert signed(-100.0, nothing, nothing)[0] == "-100"
    assert signed(-99.7, nothing, nothing)[0] == "-99.7"


def test_intervals_in_sentences_have_three_digits():
    assert with_interval(2.0006, 2.0001, 2.0011) == "2.00"
    assert with_interval(178.0, 176.6, 179.4) == "178 (177 to 179)"
    assert with_interval(0.0056, 0.00557, 0.00566) == "0.00560 (0.00557 to 0.00566)"
    assert with_interval(3688, 3250, 4182) == "3,688 (3,250 to 4,182)"


def test_digits_show_on_which_side_of_a_number_a_limit_is():
    no_change, allowed = 1.0, (0.909091, 1.1)
    assert with_interval(0.949617, 0.905477, 0.995909) == "0.95 (0.91 to 1.00)"
    assert with_interval(0.949617, 0.905477, 0.995909, beside=[no_change]) == (
        "0.950 (0.905 to 0.996)"
    )
    assert with_interval(1.045519, 0.993251, 1.100537, beside=allowed) == "1.046 (0.993 to 1.101)"
    assert with_interval(0.9426, 0.8936, 0.9943, beside=allowed) == "0.94 (0.89 to 0.99)"
    assert with_interval(0.9, 0.8, 1.0, beside=[1.0, math.nan]) == "0.90 (0.80 to 1.00)"
    assert with_interval(2.0, 1.0, 3.0, beside=[3 - 1e-7]) == "2.0 (1.0 to 3.0)"  # no digit tells


def test_both_ends_of_an_interval_have_the_same_decimals():
    assert even_interval(0.909091, 1.1) == "0.91 to 1.10"
    assert even_interval(-12.29, -7.69, " %") == "−12.3 to −7.7 %"
    assert even_interval(1.0, math.inf) == "1 or more"
    assert even_interval(2.0, 2.0) == "exactly 2"
