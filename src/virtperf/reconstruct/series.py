"""Time series around a known mean: warm-up ramp, autocorrelated noise. Since the truth is known, recovery is tested."""

from __future__ import annotations

import numpy as np


def autocorrelated(rng: np.random.Generator, n: int, correlation: float) -> np.ndarray:
    """Standard normal noise of `n` samples, AR(1) with that correlation of neighbours, shape (n,)."""
    shocks = rng.standard_normal(n)
    noise = np.empty(n)
    noise[0] = shocks[0]
    spread = np.sqrt(1 - correlation**2)
    for i in range(1, n):
        noise[i] = correlation * noise[i - 1] + spread * shocks[i]
    return noise


def ramped(t: np.ndarray, mean: float, ramp_s: float) -> np.ndarray:
    """A level that is approached from zero with time constant `ramp_s` (caches fill, code gets compiled)."""
    return mean * -np.expm1(-t / ramp_s)


def share_noise(share: np.ndarray | float, cv: float, noise: np.ndarray) -> np.ndarray:
    """Noise on a utilization that can't leave [0, 1]: its spread shrinks towards both ends, its mean stays."""
    share = np.asarray(share, dtype=float)
    room = np.minimum(share, 1 - share)
    return share + np.clip(cv * noise * np.minimum(share, 4 * room), -room, room)
