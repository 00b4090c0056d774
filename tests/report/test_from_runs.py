"""Derived numbers of measured runs are those that a notebook's own call of the models gives."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from virtperf import models
from virtperf.core.provenance import Provenance
from virtperf.report.from_runs import estimate
from virtperf.report.loaded import LoadedStudy
from virtperf.study.derived import Derivation, Derived, derivations, derivations_of


def asked(loaded: LoadedStudy, **entry: Any) -> Derivation:
    derived = Derived.model_validate({"id": "x", "about": ["figure-2"], "label": "x", **entry})
    return derivations_of(loaded.study, derived)[0]


def measured(loaded: LoadedStudy) -> pd.DataFrame:
    runs = loaded.runs("figure-2")
    return runs[(runs["provenance"] == "measured") & (runs["system"] == "a")]


PAIR = {"of": "throughput[guests=8]", "to": "throughput[guests=4]"}


def test_a_ratio_and_a_change(loaded: LoadedStudy) -> None:
    (expected,) = models.ratios(
        "value", measured(loaded), of={"guests": 8}, to={"guests": 4}
    ).values()
    ratio = estimate(loaded.data, asked(loaded, kind="ratio", **PAIR), 0.95)
    change = estimate(loaded.data, asked(loaded, kind="percent_change", **PAIR), 0.95)
    assert (ratio.value, ratio.low, ratio.high) == pytest.approx(
        (expected.value, expected.low, expected.high)
    )
    assert (
        change.low == pytest.approx(100 * (expected.low - 1))
        and change.origin.provenance is Provenance.MEASURED
    )
    assert sorted(ratio.origin.runs) == sorted(measured(loaded)["run_id"])


def test_a_difference_takes_at_most_half_more_than_the_smaller_degrees_of_freedom(
    loaded: LoadedStudy,
) -> None:
    # 152 - 100 with variance 4 of three runs each: Satterthwaite's 4 degrees of freedom are cut to
    # 1.5 * 2 = 3, t(3, 0.975) = 3.1824, half-width 3.1824 * 2 * sqrt(2 / 3)
    found = estimate(loaded.data, asked(loaded, kind="difference", **PAIR), 0.95)
    assert found.value == pytest.approx(52) and found.high - found.value == pytest.approx(
        5.197, abs=2e-3
    )


def test_a_value_is_the_stored_mean(loaded: LoadedStudy) -> None:
    found = estimate(loaded.data, asked(loaded, kind="value", of="2 throughput[guests=8]"), 0.95)
    assert found.value == pytest.approx(304) and found.high - found.value == pytest.approx(
        2 * 4.968, abs=2e-3
    )


def test_a_line_through_the_runs(loaded: LoadedStudy) -> None:
    entry = {
        "kind": "line",
        "of": "throughput",
        "over": "guests",
        "levels": [4, 8],
        "gives": {"slope": ""},
    }
    expected = models.line("value ~ guests", measured(loaded)).only.slope(0.1)
    found = estimate(loaded.data, asked(loaded, **entry), 0.9)
    assert (found.value, found.low, found.high) == (expected.value, expected.low, expected.high)


def test_without_measured_runs_of_all_quantities_there_is_nothing(loaded: LoadedStudy) -> None:
    none = [
        d
        for d in derivations(loaded.study)
        if d.derived.id in ("law", "peak", "storage") or "2 guests" in d.label
    ]
    assert (
        len(none) == 6 and [estimate(loaded.data, d, 0.95) for d in none] == [None] * 6
    )  # example runs do not count


def test_a_sum_has_no_model(loaded: LoadedStudy) -> None:
    both = asked(
        loaded,
        kind="ratio",
        of="throughput[guests=8] + throughput[guests=4]",
        to="throughput[guests=4]",
    )
    assert estimate(loaded.data, both, 0.95) is None
