"""Formatting of numbers and intervals."""

from __future__ import annotations

import math

from virtperf.core.numbers import as_precise, rounded, signed, with_interval


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
