"""A result that can't be had is shown with its reason and takes nothing else with it."""

from __future__ import annotations

import pytest

from virtperf.core.errors import ModelError
from virtperf.exhibits.attempt import Unavailable, attempt
from virtperf.exhibits.estimates import estimates_exhibit
from virtperf.models.result import Estimate


def fails() -> None:
    raise ModelError("two replicates are needed", found="0")


def test_a_result_passes_through():
    assert attempt(max, 1, 2) == 2


def test_the_packages_own_errors_become_reasons():
    assert attempt(fails) == Unavailable("two replicates are needed; found 0")


def test_a_fault_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        attempt(lambda: 1 / 0)


def test_whatever_is_asked_of_it_the_answer_is_itself():
    missing = attempt(fails)
    assert missing.preferred(0.05).peak_load is missing
    assert attempt(max, missing, 3) is missing
    assert attempt(sorted, [], key=missing) is missing


def test_the_others_are_still_shown():
    shown = estimates_exhibit(
        {"good": Estimate(1.5, 1.4, 1.6, 0.95, "t"), "bad": attempt(fails)}, title="Ratios", provenance="reconstructed"
    )
    assert "1.5" in shown.html
    assert "not available" in shown.html
    assert "two replicates are needed" in repr(shown)
