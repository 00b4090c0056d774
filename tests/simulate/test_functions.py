"""Simulated series have the mean, the correlation and the bounds that they were asked for."""

from __future__ import annotations

import numpy as np
import pytest

from virtperf.simulate.expressions import (
    FUNCTIONS,
    ExpressionError,
    Value,
    constant,
    share_noise,
    uneven,
)
from virtperf.simulate.signals import autocorrelated


def call(name, *values):
    return FUNCTIONS[name](*(v if isinstance(v, Value) else constant(v) for v in values))


def series(*values, times="minutes"):
    return Value(np.array(values, dtype=float)[:, None], times)


def weights(*values):
    return Value(np.array([values], dtype=float), "", "guests")


def test_noise_has_unit_spread_and_the_asked_correlation():
    noise = autocorrelated(np.random.default_rng(1), (100_000, 2), 0.4)
    assert noise.std(axis=0) == pytest.approx([1, 1], abs=0.01)
    for one in noise.T:
        # standard error of a lag-1 correlation is about 1/sqrt(n) = 0.003
        assert np.corrcoef(one[:-1], one[1:])[0, 1] == pytest.approx(0.4, abs=0.015)
    assert abs(np.corrcoef(noise.T)[0, 1]) < 0.02


def test_the_ramp_starts_at_nothing_and_reaches_its_level():
    ramp = call("ramp", series(0, 45, 600), 45)
    assert ramp.data[:, 0] == pytest.approx([0, 1 - np.exp(-1), 1], abs=1e-3)


def test_a_peak_is_one_in_its_middle_and_nothing_far_away():
    peak = call("peak", series(0, 90, 100, 110, 300), 100, 10)
    assert peak.data[:, 0] == pytest.approx([0, np.exp(-1), 1, np.exp(-1), 0], abs=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.997, 1.0])
def test_noisy_shares_stay_shares_and_keep_their_mean(share):
    noise = np.random.default_rng(2).standard_normal(100_000)
    noisy = share_noise(np.array(share), 0.02 * noise)
    assert noisy.min() >= 0
    assert noisy.max() <= 1
    assert noisy.mean() == pytest.approx(share, abs=2e-4)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99, 1.0])
def test_uneven_shares_have_exactly_their_mean(share):
    noise = np.random.default_rng(3).standard_normal((50, 8))
    for strength in (0.01, 10.0):
        found = uneven(np.full((50, 1), share), strength * noise)
        assert found.min() >= 0 and found.max() <= 1
        assert found.mean(axis=1) == pytest.approx(np.full(50, share))


def test_parts_are_whole_and_add_up():
    parts = call("parts", series(10.4, 7), weights(750, 2048, 1800))
    assert parts.data.sum(axis=1).tolist() == [10, 7]
    assert np.array_equal(parts.data, np.round(parts.data)) and parts.data.min() >= 0
    assert (parts.times, parts.entities) == ("minutes", "guests")


def test_sums_over_time_and_over_entities():
    x = Value(np.array([[1.0, 10.0], [2.0, 20.0]]), "minutes", "guests")
    assert call("cumsum", x).data.tolist() == [[1, 10], [3, 30]]
    for name, found in (
        ("last", [2, 20]),
        ("total", [3, 30]),
        ("average", [1.5, 15]),
        ("highest", [2, 20]),
    ):
        assert (call(name, x).data.tolist(), call(name, x).times) == ([found], "")
    assert (call("together", x).data.tolist(), call("together", x).entities) == ([[11], [22]], "")
    assert call("share", weights(1, 3)).data.tolist() == [[0.25, 0.75]]
    with pytest.raises(ExpressionError, match="does not vary over time"):
        call("cumsum", weights(1, 3))


def test_what_is_left_out_can_be_filled():
    assert np.isnan(call("only", series(0, 1), 5).data[:, 0]).tolist() == [True, False]
    assert call("filled", series(np.nan, 2), 0).data[:, 0].tolist() == [0, 2]
