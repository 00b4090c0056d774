"""Batched fits of many data sets equal single fits."""

from __future__ import annotations

import numpy as np
import pytest

from virtperf.models import many
from virtperf.models.breakpoint_search import BreakpointSearch
from virtperf.models.segmented import fit_segmented
from virtperf.models.usl import fit_usl

LOADS = np.array([6.0, 9.0, 12.0, 15.0, 18.0])
RATIOS = 22990 / np.array([20480, 11264, 10240, 9216, 8192, 7168, 6144.0])


def test_usl_fit_equals_statsmodels():
    throughput = np.random.default_rng(1).uniform(30, 100, (8, 5))
    found = many.usl(LOADS, throughput, at=20.0)
    for k, values in enumerate(throughput):
        fit = fit_usl(LOADS, values)
        contention, coherency, _ = fit.theta
        expected = {
            "contention": contention,
            "coherency": coherency,
            "capacity": fit.throughput_at(20.0).value,
            "peak_load": fit.peak_load().value,
        }
        if coherency > 0:
            expected["peak_throughput"] = fit.peak_throughput().value
        for name, value in expected.items():
            low, high = (ends[k] for ends in found[name])
            assert low == pytest.approx(value, rel=1e-5, abs=1e-7)
            assert high == pytest.approx(value, rel=1e-5, abs=1e-7) or (
                name == "peak_load" and low == 0
            )


def test_peak_of_degenerate_curves():
    found = many.usl(LOADS, np.array([LOADS / (1 + 0.1 * (LOADS - 1)), np.full(5, 7.0)]))
    assert found["peak_load"][0][0] > 1e6  # beta is zero up to rounding
    assert [float(ends[1]) for ends in found["peak_load"]] == [0.0, np.inf]


def test_breakpoints_equal_single_fits():
    y = np.random.default_rng(2).uniform(90, 100, (80, 7))
    found = many.plateau_decline(RATIOS, y)
    for k, values in enumerate(y):
        fit = fit_segmented(RATIOS, values, form="plateau-decline")
        low, high = (ends[k] for ends in found["breakpoint"])
        assert low - 1e-6 <= fit.theta[-1] <= high + 1e-6
        if high < RATIOS[-1]:
            assert high - low < 2e-4 and found["plateau"][0][k] == pytest.approx(
                fit.theta[0], rel=1e-4
            )


def test_equally_good_breakpoints_are_all_returned():
    flat, last = np.full(7, 100.0), np.array([100.0] * 6 + [95.0])
    kinked = 100 - 3 * np.maximum(RATIOS - 2.4, 0)
    found = many.plateau_decline(RATIOS, np.array([flat, last, kinked]))
    first, end = found["breakpoint"]
    assert (first[0], end[0]) == (RATIOS[0], RATIOS[-1])  # no other breakpoint fits as well
    assert (first[1], end[1]) == (pytest.approx(RATIOS[-2], rel=1e-5), RATIOS[-1])
    assert first[2] == pytest.approx(2.4, rel=1e-4) and end[2] == pytest.approx(2.4, rel=1e-4)
    assert np.array(found["plateau"]) == pytest.approx(np.full((2, 3), 100.0), rel=1e-6)


def test_ends_equal_the_search_of_one_data_set():
    for values in np.random.default_rng(3).uniform(0, 10, (200, 7)):
        breaks = BreakpointSearch.of(RATIOS, values, np.ones(7), sloped=False)
        psi = breaks.best()[0]
        explained = float(np.max(breaks.peaks(breaks.e[None, :])[1]))
        low, high, _ = breaks.limits(
            float(breaks.e @ breaks.e) - explained + many.FIT_TOLERANCE * float(values @ values)
        )
        found = [
            float(ends[0]) for ends in many.plateau_decline(RATIOS, values[None, :])["breakpoint"]
        ]
        assert found == pytest.approx([max(low, RATIOS[0]), min(high, RATIOS[-1])], abs=1e-6)
        assert found[0] - 1e-9 <= psi <= found[1] + 1e-9
