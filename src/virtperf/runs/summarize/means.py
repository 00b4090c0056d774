"""Means of one series with an honest error.

Neighbouring samples of a run are correlated, so a standard error that takes them as independent is
too small, by
``sqrt((1 + r) / (1 - r))`` for a correlation r of neighbours. Three remedies stand here: the
series' slowest cosines (the default), batch means, and a first-order autoregressive model.

References
----------
Müller, U. K. (2007). A theory of robust long-run variance estimation. J. Econometrics 141,
1331-1352. Lazarus, E., Lewis, D. J., Stock, J. H., Watson, M. W. (2018). HAR inference:
recommendations for practice.
    J. Bus. Econ. Stat. 36, 541-559.
Whittle, P. (1953). Estimation and information in stationary time series. Arkiv för Matematik 2,
423-434. Schmeiser, B. (1982). Batch size effects in the analysis of simulation output. Oper. Res.
30, 556-568. Marriott, F. H. C., Pope, J. A. (1954). Bias in the estimation of autocorrelations.
Biometrika 41, 390-402.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy import fft, special

from virtperf.core import order_statistics
from virtperf.core.mean import COUNTED, INDEPENDENT, ORDERED, Mean, student

LARGEST_CORRELATION = 0.95
NOISE, NOISE_WEIGHT = 4.0, 0.1
"""White noise over a slow part: its variance relative to the part's, and its weight before the data
are seen.
"""
FREQUENCIES = 1024
"""Cosines that tell models apart; a longer series has them all below the frequencies that matter
for its mean.
"""
FEWEST_TIMES = 10
FEWEST_FOR_TIMES = 20
"""Correlation times that a run should last, and the samples below which it can't show them."""


def ar1_mean(x: np.ndarray, level: float) -> Mean:
    """Mean with the standard error under first-order autocorrelation.

    With correlation r of neighbours, ``var(mean) = sigma**2 f / n`` with
    ``f = (1 + r) / (1 - r) - 2 r (1 - r**n) / (n (1 - r)**2)``, and the sample variance
    underestimates ``sigma**2`` by the factor ``(n - f) / (n - 1)``. r is corrected for its bias
    (Marriott and Pope) and taken from 0 to 0.95: an error is never made smaller by a negative
    estimate from few samples. Degrees of freedom are ``n / f - 1``.
    """
    x = np.asarray(x, dtype=float)
    n = len(x)
    if n < 2:
        return _one(x, level)
    f = n / effective_samples(x)
    se = float(np.sqrt(x.var(ddof=1) * (n - 1) / (n - f) * f / n))
    return _mean(x, se, max(n / f - 1, 1.0), level, "AR(1)")


def effective_samples(x: np.ndarray) -> float:
    """How many independent samples would tell as much as these, by a first-order autoregressive
    model; at most n.
    """
    return len(x) / inflation(correlation(x - x.mean(), 1), len(x))


def cosine_mean(x: np.ndarray, level: float) -> Mean:
    """Mean with the standard error from the slowest cosines of the series.

    It covers as promised from few samples on (docs/calibration.md).
    The variance of a mean is the spectrum at frequency zero over n. The squared coefficients of the
    first B cosines estimate the spectrum next to it, each with one degree of freedom, whence
    Student's t with B (Müller 2007; Lazarus et al. 2018, whose ``B = 0.4 n**(2/3)`` is taken,
    rounded, and at least 2). In short series even these cosines are quick, and correlation makes
    the spectrum fall between zero and them: the variance is multiplied by how far it falls,
    averaged over the models of `_spectra` with the weights that the series gives them.
    """
    x = np.asarray(x, dtype=float)
    n = len(x)
    if n < 2:
        return _one(x, level)
    waves, power = _waves(n), _powers(x)
    if not power.any():
        return _mean(x, 0.0, float(waves), level, "cosines")
    models = _spectra(n)
    falls = models.weights(power) @ (models.at_zero / models.at_cosines[:, :waves].mean(axis=1))
    return _mean(
        x, float(np.sqrt(power[:waves].mean() * falls / n)), float(waves), level, "cosines"
    )


def too_short(x: np.ndarray) -> bool:
    """Whether a series probably lasts fewer than `FEWEST_TIMES` of its correlation times.

    Its interval may then be too short: the slow part hardly shows (docs/calibration.md). Fewer than
    `FEWEST_FOR_TIMES` samples can't tell.
    """
    x = np.asarray(x, dtype=float)
    if len(x) < FEWEST_FOR_TIMES or not (power := _powers(x)).any():
        return False
    models = _spectra(len(x))
    return bool(models.weights(power)[models.time > len(x) / FEWEST_TIMES].sum() > 0.5)


@dataclass(frozen=True)
class _Spectra:
    """Spectra of m models of a series: at its J slowest cosines and at zero; correlation times in
    samples.
    """

    at_cosines: np.ndarray  # (m, J)
    at_zero: np.ndarray  # (m,), n times the variance of the mean
    time: np.ndarray  # (m,)
    before: np.ndarray  # (m,), weights before the data are seen

    def weights(self, power: np.ndarray) -> np.ndarray:
        """The likelihood of each model (Whittle 1953, the scale profiled out) times its weight,
        scaled to sum 1.
        """
        power = power[: self.at_cosines.shape[1]]
        scale = np.log(np.mean(power / self.at_cosines, axis=1)) * len(power)
        likelihood = -(scale + np.log(self.at_cosines).sum(axis=1)) / 2
        found = self.before * np.exp(likelihood - likelihood.max())
        return found / found.sum()


@lru_cache(maxsize=16)
def _spectra(n: int) -> _Spectra:
    """First-order autoregressive models whose correlation time ``(1 + r) / (1 - r)`` doubles from 1
    to 2 n samples.

    Each stands alone and beneath white noise. A grid is enough, since only the average over it
    matters.
    """
    time = 2.0 ** np.arange(int(np.log2(2 * n)) + 1)
    time, noise = np.append(time, time[1:]), np.repeat([0.0, NOISE], [len(time), len(time) - 1])
    r = (time - 1) / (time + 1)
    angles = np.pi * np.arange(1, min(n - 1, max(FREQUENCIES, 2 * _waves(n))) + 1) / n
    slow = (1 - r**2)[:, None] / (1 + r[:, None] ** 2 - 2 * r[:, None] * np.cos(angles))
    at_zero = np.array([inflation(each, n) for each in r]) + noise
    return _Spectra(slow + noise[:, None], at_zero, time, np.where(noise, NOISE_WEIGHT, 1.0))


def _waves(n: int) -> int:
    return min(max(2, round(0.4 * n ** (2 / 3))), n - 1)


def _powers(x: np.ndarray) -> np.ndarray:
    """Squared coefficients of the series' cosines but the constant one, scaled so that white noise
    has its variance.
    """
    return fft.dct(x - x.mean())[1:] ** 2 / (
        2 * len(x)
    )  # dct doubles the sums of products with the cosines


def median(x: np.ndarray, level: float) -> Mean:
    """The median, as `series_quantile` takes it."""
    return replace(series_quantile(x, 0.5, level), method="median")


def series_quantile(x: np.ndarray, share: float, level: float) -> Mean:
    """The quantile below which a share of a series over time lies, with the interval between two
    order statistics that covers it, whatever the distribution.

    Their ranks are those for as many independent samples as `effective_samples` finds in the
    series; where there are too few for the level, there is no interval.
    """
    x = np.asarray(x, dtype=float)
    n, n_eff = len(x), effective_samples(x)
    width = float(special.ndtri((1 + level) / 2))
    reach = width * n * np.sqrt(share * (1 - share) / n_eff)
    first, last = int(np.floor(n * share - reach)), int(np.ceil(n * share + reach)) + 1
    low, high = np.sort(x)[[first - 1, last - 1]] if first >= 1 and last <= n else (np.nan, np.nan)
    se = float(high - low) / (2 * width)
    value = float(np.quantile(x, share))
    return Mean(value, se, n_eff - 1, float(low), float(high), level, n, "quantile")


def maximum(x: np.ndarray, level: float) -> Mean:
    """The largest sample; how far from it another run's would be, one run can't tell."""
    return without_error(float(np.max(x)), len(x), level, "maximum")


def independent_mean(x: np.ndarray, level: float) -> Mean:
    """The mean of independent samples, with Student's interval."""
    x = np.asarray(x, dtype=float)
    if len(x) < 2:
        return _one(x, level)
    return _mean(x, float(x.std(ddof=1) / np.sqrt(len(x))), len(x) - 1.0, level, INDEPENDENT)


def independent_quantile(x: np.ndarray, share: float, level: float) -> Mean:
    """A quantile of independent samples between order statistics."""
    return _between(x, order_statistics.quantile(x, share, level), level, ORDERED)


def independent_spread(x: np.ndarray, level: float) -> Mean:
    """The interquartile range of independent samples."""
    return _between(x, order_statistics.interquartile_range(x, level), level, ORDERED)


def independent_share(x: np.ndarray, limit: float, level: float) -> Mean:
    """The share of independent samples above a limit, in the unit 1."""
    return _between(x, order_statistics.share_above(x, limit, level), level, COUNTED)


def _between(x: np.ndarray, limits: order_statistics.Limits, level: float, method: str) -> Mean:
    value, low, high = limits
    se = (high - low) / (2 * float(special.ndtri((1 + level) / 2)))
    return Mean(value, se, len(x) - 1.0, low, high, level, len(x), method)


def total(x: np.ndarray, level: float) -> Mean:
    """The sum of all samples, such as that of the parts of a whole; one number a run."""
    return without_error(float(np.sum(x)), 1, level, "sum")


def without_error(value: float, n: int, level: float, method: str) -> Mean:
    """A value whose error can't be known: a total, one sample, a maximum."""
    return student(value, np.nan, np.nan, level=level, n=n, method=method)


def correlation(residuals: np.ndarray, parameters: int) -> float:
    """Correlation of neighbouring residuals, corrected for the bias that fitting so many parameters
    causes.
    """
    n = len(residuals)
    squares = float(residuals @ residuals)
    if squares == 0 or n < parameters + 4:
        return 0.0
    raw = float(residuals[1:] @ residuals[:-1]) / squares
    return min(max((n * raw + parameters) / (n - parameters - 2), 0.0), LARGEST_CORRELATION)


def inflation(r: float, n: int) -> float:
    """How many times the variance of a mean of `n` samples exceeds that of independent ones."""
    return max((1 + r) / (1 - r) - 2 * r * (1 - r**n) / (n * (1 - r) ** 2), 1.0)


def _one(x: np.ndarray, level: float) -> Mean:
    return without_error(float(x.mean()) if len(x) else np.nan, len(x), level, "one sample")


def _mean(x: np.ndarray, se: float, df: float, level: float, method: str) -> Mean:
    return student(float(x.mean()), se, float(df), level=level, n=len(x), method=method)
