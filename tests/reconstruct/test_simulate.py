"""Simulated series have the mean, the correlation and the bounds that they were asked for."""

from __future__ import annotations

import numpy as np
import pytest

from virtperf.reconstruct.series import autocorrelated, ramped, share_noise


def test_noise_has_unit_spread_and_the_asked_correlation():
    noise = autocorrelated(np.random.default_rng(1), 200_000, 0.4)
    assert noise.std() == pytest.approx(1, abs=0.01)
    # standard error of a lag-1 correlation is about 1/sqrt(n) = 0.002
    assert np.corrcoef(noise[:-1], noise[1:])[0, 1] == pytest.approx(0.4, abs=0.01)


def test_the_ramp_starts_at_nothing_and_reaches_its_level():
    ramp = ramped(np.array([0.0, 45.0, 600.0]), 200.0, 45.0)
    assert ramp == pytest.approx([0, 200 * (1 - np.exp(-1)), 200], abs=1e-3)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.997, 1.0])
def test_noisy_shares_stay_shares_and_keep_their_mean(share):
    noise = np.random.default_rng(2).standard_normal(100_000)
    noisy = share_noise(share, 0.02, noise)
    assert noisy.min() >= 0
    assert noisy.max() <= 1
    assert noisy.mean() == pytest.approx(share, abs=2e-4)
