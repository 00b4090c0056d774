"""Noise models: variance as a power of the mean."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import special

from rawperf.core.errors import ParameterError
from virtperf.models import checks
from virtperf.models.checks import Array

NOISES: Mapping[str, int] = {"proportional": 2, "counts": 1, "constant": 0}
"""Noise model to power of the mean: Gamma, (quasi-)Poisson and Gaussian models."""
WEIGHTS = "weights"
"""Noise model of a fit with given weights; the variance does not depend on the mean."""
REJECTION_LEVEL = 0.01
"""P-value below which replicates contradict a noise model."""


def resolve_noise(noise: str | None, weights: ArrayLike | None, default: str) -> str:
    """Return the noise model of a fit: as requested, by weights, or the default.

    Raises
    ------
    ParameterError
        An unknown noise model, or one together with weights, which also define the variance.
    """
    if weights is None:
        return checks.require_one_of(
            default if noise is None else noise, tuple(NOISES), "noise model"
        )
    if noise is not None:
        raise ParameterError(
            "weights and a noise model are mutually exclusive", remedy="choose one of them"
        )
    return WEIGHTS


def power_of(noise: str) -> int:
    """Exponent of the mean in the variance function."""
    return NOISES.get(noise, 0)


def check_noise(x: Array, y: Array, weights: Array, noise: str) -> tuple[str, ...]:
    """Return a warning if replicates (rows with equal x) reject a noise model in favour of another.

    The restricted likelihood of normal replicates with variance ``scale * mean**power / weight`` is
    maximised over the power and the scale; each noise model is tested by the likelihood ratio,
    chi-squared with one degree of freedom. There is no test with fewer than two means with a
    spread, fewer than four degrees of freedom, a mean of zero, or weights, which define the
    variance.

    References
    ----------
    Davidian, M., Carroll, R. J. (1987). Variance function estimation. J. Am. Stat. Assoc. 82,
    1079-1091.
    """
    if noise == WEIGHTS:
        return ()
    _, group = np.unique(x, return_inverse=True)
    mean = np.bincount(group, weights * y) / np.bincount(group, weights)
    squares = np.bincount(group, weights * (y - mean[group]) ** 2)
    df = np.bincount(group) - 1.0
    total = float(df.sum())
    if total < 4 or np.sum(df > 0) < 2 or not squares.sum() > 0 or not mean.min() > 0:
        return ()
    log_mean = np.log(mean)
    if np.ptp(log_mean[df > 0]) < 1e-6:
        return ()

    def loss(power: float) -> float:
        return float(total * np.log(squares @ np.exp(-power * log_mean)) + power * (df @ log_mean))

    least = float(scipy.optimize.minimize_scalar(loss, bounds=(-6, 10), method="bounded").fun)
    p = {
        name: float(special.chdtrc(1, max(loss(power) - least, 0.0)))
        for name, power in NOISES.items()
    }
    other = max(p, key=lambda name: p[name])
    if p[noise] >= REJECTION_LEVEL or other == noise:
        return ()
    grows = "grow" if NOISES[other] > NOISES[noise] else "grow less"
    if other == "constant":
        grows = "do not grow"
    return (
        f"the replicates' deviations {grows} with the mean: {other} noise describes them better than "
        f"{noise} noise (p = {p[noise]:.2g})",
    )
