"""Is the noise of replicates constant, or a share of the mean?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from virtperf.models import checks
from virtperf.models.checks import Array

NOISES = {"proportional": 2, "constant": 0}
"""Kinds of noise: the power of the mean that the variance is proportional to."""
REFUSED = 0.01  # p-value below which the replicates speak against a kind of noise


@dataclass(frozen=True)
class NoiseCheck:
    """What replicates say about the variance ``scale * mean**power / weight``.

    Parameters
    ----------
    power : float
        Of the greatest likelihood.
    pvalues : dict of str to float
        Likelihood-ratio test of each kind of noise.
    df : int
        Degrees of freedom within replicates.
    """

    power: float
    pvalues: dict[str, float]
    df: int

    def warning(self, noise: str) -> str | None:
        """What a reader should know if a fit assumes `noise`; None if the replicates allow it."""
        other = next(name for name in NOISES if name != noise)
        if self.pvalues[noise] >= REFUSED or self.pvalues[other] <= self.pvalues[noise]:
            return None
        grows = "grow with the mean" if noise == "constant" else "do not grow with the mean"
        return (
            f"the replicates' deviations {grows}: {other} noise describes them better than {noise} noise "
            f"(p = {self.pvalues[noise]:.2g})"
        )


def check_noise(x: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> NoiseCheck | None:
    """Compare the spread of replicates with their means.

    The restricted likelihood of normal replicates with variance ``scale * mean**power / weight`` is maximised over the
    power and the scale; each kind of noise is tested against that maximum, its statistic being chi-squared with one
    degree of freedom (Davidian and Carroll 1987).

    Parameters
    ----------
    x : array_like, shape (n,)
        Rows with equal x are replicates.
    y : array_like, shape (n,)
        Positive.
    weights : array_like, shape (n,), optional

    Returns
    -------
    NoiseCheck or None
        None with fewer than two means that have a spread, or fewer than four degrees of freedom.

    References
    ----------
    Davidian, M., Carroll, R. J. (1987). Variance function estimation. J. Am. Stat. Assoc. 82, 1079-1091.
    """
    xs, ys = checks.column(x, "x"), checks.column(y, "y", positive=True)
    w = checks.weights_or_ones(weights, len(ys))
    _, group = np.unique(xs, return_inverse=True)
    mean = np.bincount(group, w * ys) / np.bincount(group, w)
    squares = np.bincount(group, w * (ys - mean[group]) ** 2)
    df = np.bincount(group) - 1.0
    total = float(df.sum())
    log_mean = np.log(mean)
    if total < 4 or np.sum(df > 0) < 2 or np.ptp(log_mean[df > 0]) < 1e-6 or not squares.sum() > 0:
        return None

    def loss(power: float) -> float:
        return float(total * np.log(squares @ np.exp(-power * log_mean)) + power * (df @ log_mean))

    best = optimize.minimize_scalar(loss, bounds=(-6, 10), method="bounded")
    tests: dict[str, float] = {}
    for name, power in NOISES.items():
        tests[name] = float(special.chdtrc(1, max(loss(power) - float(best.fun), 0.0)))
    return NoiseCheck(float(best.x), tests, int(total))


def gamma_llf(y: Array, weights: Array, mean: Array) -> float:
    """Return the log-likelihood of Gamma observations at the best dispersion, as AICc compares it between models."""
    ratio = y / mean
    size = float(np.mean(weights * 2 * (ratio - 1 - np.log(ratio))))

    def loss(log_dispersion: float) -> float:
        shape = weights / np.exp(log_dispersion)
        terms = shape * (np.log(shape * ratio) - ratio) - np.log(y) - special.gammaln(shape)
        return -float(np.sum(terms))

    at = np.log(size)
    return -float(optimize.minimize_scalar(loss, bounds=(at - 3, at + 3), method="bounded").fun)
