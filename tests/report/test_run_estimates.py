"""Derived numbers of measured runs, against formulas and direct calls of the models."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.intervals import ends
from virtperf import models
from virtperf.core.provenance import Provenance
from virtperf.report.loaded import LoadedStudy
from virtperf.report.run_estimates import estimate
from virtperf.study.derived_kinds import parse_derived
from virtperf.study.derived_kinds.base import Derivation


def asked(loaded: LoadedStudy, **entry: Any) -> Derivation:
    derived = parse_derived({"id": "x", "about": ["figure-2"], "label": "x", **entry})
    return derived.expand(loaded.study)[0]


def measured(loaded: LoadedStudy) -> pd.DataFrame:
    runs = loaded.runs("figure-2")
    return runs[(runs["provenance"] == "measured") & (runs["system"] == "a")]


PAIR = {"of": "throughput[guests=8]", "to": "throughput[guests=4]"}


def sides(loaded: LoadedStudy) -> tuple[np.ndarray, np.ndarray]:
    runs = measured(loaded)
    return tuple(runs.loc[runs["guests"] == guests, "value"].to_numpy() for guests in (8, 4))  # type: ignore[return-value]


def test_ratio_and_relative_change(loaded: LoadedStudy) -> None:
    expected = models.ratio_of_means(*sides(loaded))
    ratio = estimate(loaded.data, asked(loaded, kind="ratio", **PAIR), 0.95)
    change = estimate(loaded.data, asked(loaded, kind="percent_change", **PAIR), 0.95)
    assert (ratio.value, ratio.low, ratio.high) == pytest.approx(
        (expected.value, expected.low, expected.high)
    )
    assert change.low == pytest.approx(100 * (expected.low - 1))
    assert change.origin.provenance is Provenance.MEASURED
    assert sorted(ratio.origin.runs) == sorted(measured(loaded)["run_id"])


def test_ratio_table_has_the_interval_of_the_verdict(loaded: LoadedStudy) -> None:
    table = loaded.ratios("figure-2", to={"guests": 4})
    ratio_8 = next(ratio for label, ratio in table.items() if "8 guests" in label)
    claim = asked(loaded, kind="ratio", **PAIR)
    of, to = ({q: c for c, q in part.terms} for part in claim.parts)
    judged = loaded.data.samples(Provenance.MEASURED).log_ratio(of, to)
    assert judged is not None
    assert (ratio_8.low, ratio_8.high) == ends(judged, 0.95)


def test_difference_includes_the_error_of_its_reference(loaded: LoadedStudy) -> None:
    # (a - b) / (b / 100) with reference b: Fieller's interval of a / b in per cent
    a, b = sides(loaded)
    found = estimate(loaded.data, asked(loaded, kind="difference", **PAIR), 0.95)
    expected = models.ratio_of_means(a, b, method="fieller")
    assert found.value == pytest.approx(52)
    ends = (100 * (expected.low - 1), 100 * (expected.high - 1))
    assert (found.low, found.high) == pytest.approx(ends)


def test_value_is_the_stored_mean(loaded: LoadedStudy) -> None:
    found = estimate(loaded.data, asked(loaded, kind="value", of="2 throughput[guests=8]"), 0.95)
    assert found.value == pytest.approx(304) and found.high - found.value == pytest.approx(
        2 * 4.968, abs=2e-3
    )


def test_line_fitted_to_the_runs(loaded: LoadedStudy) -> None:
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


def test_missing_runs_of_one_quantity_give_no_number(loaded: LoadedStudy) -> None:
    none = [
        d
        for d in loaded.study.derivations
        if d.derived.id in ("law", "peak", "storage") or "2 guests" in d.label
    ]
    assert (
        len(none) == 6 and [estimate(loaded.data, d, 0.95) for d in none] == [None] * 6
    )  # example runs do not count


def test_ratio_of_a_sum_of_independent_runs_uses_fieller(loaded: LoadedStudy) -> None:
    both = asked(
        loaded,
        kind="ratio",
        of="throughput[guests=8] + throughput[guests=4]",
        to="throughput[guests=4]",
    )
    a, b = sides(loaded)
    found, expected = (
        estimate(loaded.data, both, 0.95),
        models.ratio_of_means(a, b, method="fieller"),
    )
    assert (found.low, found.high) == pytest.approx((1 + expected.low, 1 + expected.high))


def test_single_run_per_condition_gives_no_interval(loaded: LoadedStudy) -> None:
    runs = loaded.data.observations
    data = replace(loaded.data, observations=runs[runs["replicate"] == 1].reset_index(drop=True))
    found = estimate(data, asked(loaded, kind="ratio", **PAIR), 0.95)
    assert not found.available and "one run" in found.reason
