"""Is the noise of replicates constant, or a share of the mean?"""

from __future__ import annotations

import numpy as np
from scipy import optimize, special

from virtperf.models.checks import Array

NOISES = {"proportional": 2, "constant": 0}
"""Kinds of noise: the power of the mean that the variance is proportional to."""
REFUSED = 0.01  # p-value below which the replicates speak against a kind of noise


def check_noise(x: Array, y: Array, weights: Array, noise: str) -> tuple[str, ...]:
    """Return a warning where replicates (rows with equal x) speak against a kind of noise and for
    the other.

    The restricted likelihood of normal replicates with variance ``scale * mean**power / weight`` is
    maximised over the power and the scale; each kind of noise is tested against that maximum, its
    statistic being chi-squared with one degree of freedom. Fewer than two means that have a spread,
    or than four degrees of freedom, say nothing.

    References
    ----------
    Davidian, M., Carroll, R. J. (1987). Variance function estimation. J. Am. Stat. Assoc. 82,
    1079-1091.
    """
    _, group = np.unique(x, return_inverse=True)
    mean = np.bincount(group, weights * y) / np.bincount(group, weights)
    squares = np.bincount(group, weights * (y - mean[group]) ** 2)
    df = np.bincount(group) - 1.0
    total = float(df.sum())
    log_mean = np.log(mean)
    if total < 4 or np.sum(df > 0) < 2 or np.ptp(log_mean[df > 0]) < 1e-6 or not squares.sum() > 0:
        return ()

    def loss(power: float) -> float:
        return float(total * np.log(squares @ np.exp(-power * log_mean)) + power * (df @ log_mean))

    least = float(optimize.minimize_scalar(loss, bounds=(-6, 10), method="bounded").fun)
    p = {
        name: float(special.chdtrc(1, max(loss(power) - least, 0.0)))
        for name, power in NOISES.items()
    }
    (other,) = NOISES.keys() - {noise}
    if p[noise] >= REFUSED or p[other] <= p[noise]:
        return ()
    grows = "grow with the mean" if noise == "constant" else "do not grow with the mean"
    return (
        f"the replicates' deviations {grows}: {other} noise describes them better than {noise} noise "
        f"(p = {p[noise]:.2g})",
    )


def gamma_llf(y: Array, weights: Array, mean: Array) -> float:
    """Return the log-likelihood of Gamma observations at the best dispersion, as AICc compares it
    between models.
    """
    ratio = y / mean
    size = float(np.mean(weights * 2 * (ratio - 1 - np.log(ratio))))

    def loss(log_dispersion: float) -> float:
        shape = weights / np.exp(log_dispersion)
        terms = shape * (np.log(shape * ratio) - ratio) - np.log(y) - special.gammaln(shape)
        return -float(np.sum(terms))

    at = np.log(size)
    return -float(optimize.minimize_scalar(loss, bounds=(at - 3, at + 3), method="bounded").fun)
