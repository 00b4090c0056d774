"""Numbers and intervals as a reader sees them."""

from __future__ import annotations

from virtperf.core.numbers import as_precise


def test_an_interval_decides_how_many_decimals_count():
    assert as_precise(12.345, 11.9, 12.8) == ("12.3", "11.9", "12.8")
    assert as_precise(12.345, 12.2, 12.5) == ("12.35", "12.20", "12.50")


def test_the_short_end_of_an_interval_on_the_log_scale_is_not_rounded_away():
    assert as_precise(13.563, 1.449, 127.0) == ("14", "1.4", "127")
    assert as_precise(1.158, 0.0089, 151.2) == ("1.2", "0.0089", "151")


def test_ends_below_zero_have_the_decimals_of_the_others():
    assert as_precise(1.0, -14.2, 20.0) == ("1", "−14", "20")
