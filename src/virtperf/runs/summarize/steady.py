"""Steady-state analysis of one series: warm-up detection, stationarity, and the mean with a
standard error under autocorrelation.

Adjacent samples of a run are correlated, so the standard error of independent samples is too small,
by ``sqrt((1 + r) / (1 - r))`` for lag-1 autocorrelation r. Two remedies are implemented: the
series' slowest cosines (the default), and a first-order autoregressive model.

References
----------
Müller, U. K. (2007). A theory of robust long-run variance estimation. J. Econometrics 141,
1331-1352. Lazarus, E., Lewis, D. J., Stock, J. H., Watson, M. W. (2018). HAR inference:
recommendations for practice. J. Bus. Econ. Stat. 36, 541-559. Whittle, P. (1953). Estimation and
information in stationary time series. Arkiv för Matematik 2, 423-434. Marriott, F. H. C., Pope,
J. A. (1954). Bias in the estimation of autocorrelations. Biometrika 41, 390-402. White, K. P. (1997).
An effective truncation heuristic for bias reduction in simulation output. Simulation 69, 323-334.
White, K. P., Cobb, M. J., Spratt, S. C. (2000). A comparison of five steady-state truncation
heuristics for simulation. Winter Simulation Conference, 755-760. Hoad, K., Robinson, S., Davies, R.
(2010). Automating warm-up length estimation. J. Oper. Res. Soc. 61, 1389-1403.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from scipy import fft

from virtperf.core import order_statistics
from virtperf.core.estimate import INDEPENDENT, Estimate, student
from virtperf.core.statistics import normal_error, normal_quantile, t_pvalue, t_quantile

MAX_CORRELATION = 0.95
NOISE, NOISE_WEIGHT = 4.0, 0.1
"""White noise added to an autoregressive component: its variance relative to the component's, and
its prior weight."""
FREQUENCIES = 1024
"""Number of cosines used to discriminate models; for longer series they are all below the
frequencies that matter for the mean."""
LONGEST, LONGEST_HIDDEN = 3, 2
"""Longest correlation times of the models, in lengths of the series: alone, and hidden in white noise.
Longer ones than the series widen the intervals of windows of a few correlation times only."""


def ar1_mean(x: np.ndarray, level: float) -> Estimate:
    """Mean with the standard error under first-order autocorrelation.

    With lag-1 autocorrelation r, ``var(mean) = sigma**2 f / n`` with
    ``f = (1 + r) / (1 - r) - 2 r (1 - r**n) / (n (1 - r)**2)``, and the sample variance
    underestimates ``sigma**2`` by the factor ``(n - f) / (n - 1)``. r is bias-corrected (Marriott
    and Pope) and clipped to 0 to 0.95: a negative estimate from few samples never reduces the
    error. Degrees of freedom are ``n / f - 1``.
    """
    x = np.asarray(x, dtype=float)
    n = len(x)
    if n < 2:
        return _single_sample_mean(x, level)
    f = n / effective_samples(x)
    se = float(np.sqrt(x.var(ddof=1) * (n - 1) / (n - f) * f / n))
    return _mean(x, se, max(n / f - 1, 1.0), level, "AR(1)")


def effective_samples(x: np.ndarray) -> float:
    """Effective sample size under a first-order autoregressive model; at most n."""
    return len(x) / inflation(correlation(x - x.mean(), 1), len(x))


def cosine_mean(x: np.ndarray, level: float) -> Estimate:
    """Mean with the standard error from the slowest cosines of the series.

    The interval has its nominal coverage even for few samples (docs/calibration.md).
    The variance of a mean is the spectrum at frequency zero over n. The squared coefficients of the
    first B cosines estimate the spectrum near zero, each with one degree of freedom, hence
    Student's t with B (Müller 2007; ``B = 0.4 n**(2/3)`` from Lazarus et al. 2018, rounded, and at
    least 2). In short series even these frequencies are high, and with autocorrelation the spectrum
    falls between zero and them: the variance is multiplied by this ratio, averaged over the models
    of `_spectra` with their posterior weights.
    """
    x = np.asarray(x, dtype=float)
    n = len(x)
    if n < 2:
        return _single_sample_mean(x, level)
    n_cosines, power = _n_cosines(n), _powers(x)
    if not power.any():
        return _mean(x, 0.0, float(n_cosines), level, "cosines")
    models = _spectra(n)
    spectrum_ratio = models.weights(power) @ models.ratios
    return _mean(
        x,
        float(np.sqrt(power[:n_cosines].mean() * spectrum_ratio / n)),
        float(n_cosines),
        level,
        "cosines",
    )


@dataclass(frozen=True)
class _Spectra:
    """Spectra of m models of a series of one length, at its J slowest cosines."""

    at_cosines: np.ndarray  # (m, J)
    ratios: (
        np.ndarray
    )  # (m,), the spectrum at zero over its mean at the cosines of the mean's error
    prior: np.ndarray  # (m,), prior weights

    def weights(self, power: np.ndarray) -> np.ndarray:
        """Posterior weights of the models: prior times Whittle likelihood (Whittle 1953, with the
        scale profiled out), normalized.
        """
        power = power[: self.at_cosines.shape[1]]
        scale = np.log(np.mean(power / self.at_cosines, axis=1)) * len(power)
        likelihood = -(scale + self._log_sums) / 2
        weights = self.prior * np.exp(likelihood - likelihood.max())
        return weights / weights.sum()

    @cached_property
    def _log_sums(self) -> np.ndarray:
        return np.log(self.at_cosines).sum(axis=1)


@lru_cache(maxsize=16)
def _spectra(n: int) -> _Spectra:
    """Grid of first-order autoregressive models with correlation times ``(1 + r) / (1 - r)`` of one
    sample and those halved from `LONGEST` n on, and with added white noise those that double from 1
    up to `LONGEST_HIDDEN` n.

    A grid suffices, since only the average over it matters.
    """
    halved = LONGEST * n / 2.0 ** np.arange(int(np.log2(LONGEST * n)))
    alone = np.append(1.0, halved[::-1])
    hidden = 2.0 ** np.arange(1, int(np.log2(LONGEST_HIDDEN * n)) + 1)
    time = np.concatenate([alone, hidden])
    noise = np.repeat([0.0, NOISE], [len(alone), len(hidden)])
    r = (time - 1) / (time + 1)
    angles = np.pi * np.arange(1, min(n - 1, max(FREQUENCIES, 2 * _n_cosines(n))) + 1) / n
    slow = (1 - r**2)[:, None] / (1 + r[:, None] ** 2 - 2 * r[:, None] * np.cos(angles))
    at_zero = np.array([inflation(each, n) for each in r]) + noise
    at_cosines = slow + noise[:, None]
    ratios = at_zero / at_cosines[:, : _n_cosines(n)].mean(axis=1)
    return _Spectra(at_cosines, ratios, np.where(noise, NOISE_WEIGHT, 1.0))


def _n_cosines(n: int) -> int:
    return min(max(2, round(0.4 * n ** (2 / 3))), n - 1)


def _powers(x: np.ndarray) -> np.ndarray:
    """Squared cosine coefficients of the series without the constant one, scaled so that those of
    white noise equal its variance on average.
    """
    return fft.dct(x - x.mean())[1:] ** 2 / (
        2 * len(x)
    )  # scipy's dct returns twice the sums of products with the cosines


def median(x: np.ndarray, level: float) -> Estimate:
    """Median of a time series; see `series_quantile`."""
    return replace(series_quantile(x, 0.5, level), method="median")


def series_quantile(x: np.ndarray, share: float, level: float) -> Estimate:
    """Quantile of a time series with a distribution-free interval between two order statistics.

    The ranks are those for an effective sample size of `effective_samples`; there is no interval if
    that is too small for the level.
    """
    x = np.asarray(x, dtype=float)
    n, n_eff = len(x), effective_samples(x)
    width = normal_quantile(level)
    reach = width * n * np.sqrt(share * (1 - share) / n_eff)
    first, last = int(np.floor(n * share - reach)), int(np.ceil(n * share + reach)) + 1
    bounded = first >= 1 and last <= n
    low, high = np.sort(x)[[first - 1, last - 1]].tolist() if bounded else (np.nan, np.nan)
    value = order_statistics.percentile(x, share)
    se, df = normal_error(low, high, level), n_eff - 1
    return Estimate(value, low, high, level, "quantile", se=se, df=df, n=n)


def maximum(x: np.ndarray, level: float) -> Estimate:
    """Maximum of the samples; a single run shows no error of it."""
    return without_error(float(np.max(x)), len(x), level, "maximum")


def independent_mean(x: np.ndarray, level: float) -> Estimate:
    """Mean of independent samples with Student's t interval."""
    x = np.asarray(x, dtype=float)
    if len(x) < 2:
        return _single_sample_mean(x, level)
    return _mean(x, float(x.std(ddof=1) / np.sqrt(len(x))), len(x) - 1.0, level, INDEPENDENT)


def total(x: np.ndarray, level: float) -> Estimate:
    """Sum of all samples, such as the parts of a whole; one number per run."""
    return without_error(float(np.sum(x)), 1, level, "sum")


def without_error(value: float, n: int, level: float, method: str) -> Estimate:
    """A value with an unknown error: a total, one sample, a maximum."""
    return student(value, np.nan, np.nan, level=level, n=n, method=method)


def correlation(residuals: np.ndarray, parameters: int) -> float:
    """Lag-1 autocorrelation of residuals, corrected for the bias of `parameters` fitted parameters."""
    n = len(residuals)
    squares = float(residuals @ residuals)
    if squares == 0 or n < parameters + 4:
        return 0.0
    raw = float(residuals[1:] @ residuals[:-1]) / squares
    return min(max((n * raw + parameters) / (n - parameters - 2), 0.0), MAX_CORRELATION)


def inflation(r: float, n: int) -> float:
    """Variance inflation of the mean of `n` samples by autocorrelation r."""
    return max((1 + r) / (1 - r) - 2 * r * (1 - r**n) / (n * (1 - r) ** 2), 1.0)


def _single_sample_mean(x: np.ndarray, level: float) -> Estimate:
    return without_error(float(x.mean()) if len(x) else np.nan, len(x), level, "one sample")


def _mean(x: np.ndarray, se: float, df: float, level: float, method: str) -> Estimate:
    return student(float(x.mean()), se, float(df), level=level, n=len(x), method=method)


BATCH = 5
MIN_BATCHES = 10
MIN_BATCHES_AFTER_CUT = 5
"""Minimum number of batches after the cut: with fewer, MSER's statistic falls by chance (Hoad et
al. 2010)."""
MIN_FOR_STATIONARITY = 12
ALPHA = 0.01
MIN_FOR_SLOPE = 3


@dataclass(frozen=True)
class Warmup:
    """Result of warm-up detection.

    `cut`: number of initial samples to discard, the best cut in the first half; 0 for a series that
        is too short.
    `status`: ``steady``; ``not steady`` if the best cut is in the second half, so that the series
        has not settled; ``too short`` for a decision.
    """

    cut: int
    status: str


def mser(x: np.ndarray) -> Warmup:
    """Find the warm-up cut of equally spaced samples by the marginal standard error rule (MSER-5:
    batches of five).

    For k batch means ``z``, the cut after ``d`` batches minimises ``sum((z[d:] -
    mean(z[d:]))**2) / (k - d)**2``. A cut in the first half is accepted; a later one means that the
    series has not settled.
    """
    x = np.asarray(x, dtype=float)
    k = len(x) // BATCH
    if k < MIN_BATCHES:
        return Warmup(0, "too short")
    z = x[: k * BATCH].reshape(k, BATCH).mean(axis=1)
    z = z - z[-1]  # avoids cancellation in the sums of squares below
    remaining = np.arange(k, 0, -1)
    first = np.cumsum(z[::-1])[::-1]
    squares = np.cumsum(z[::-1] ** 2)[::-1]
    statistic = np.maximum(squares - first**2 / remaining, 0.0) / remaining**2
    best = int(np.argmin(statistic[: k - MIN_BATCHES_AFTER_CUT + 1]))
    cut = int(np.argmin(statistic[: k // 2 + 1]))
    return Warmup(cut * BATCH, "steady" if best == cut else "not steady")


def warmup(x: np.ndarray) -> Warmup:
    """Detect the warm-up by MSER-5 with a confirmation of its alarm.

    In one of ten stationary series, MSER's best cut is in the second half by chance. So a series is
    classified as not steady only if the part after the best cut of the first half is not constant
    either (`stationarity`).
    """
    truncation = mser(x)
    if (
        truncation.status == "not steady"
        and stationarity(np.asarray(x, dtype=float)[truncation.cut :]) == "constant"
    ):
        return Warmup(truncation.cut, "steady")
    return truncation


def departs(early: np.ndarray, late: np.ndarray, level: float) -> bool:
    """Test whether an early stretch has another mean than the steady state that follows it.

    The noise of both stretches is estimated from the late one: under the null hypothesis it is the
    same, and if the early one is a ramp its own variance is meaningless.
    """
    if len(early) == 0 or len(late) < 2:
        return False
    steady = ar1_mean(late, level)
    f = inflation(correlation(late - late.mean(), 1), len(early))
    sigma2 = steady.se**2 * effective_samples(late)  # se^2 = sigma^2 f / n
    difference = abs(float(np.mean(early)) - steady.value)
    se = np.sqrt(sigma2 * f / len(early) + steady.se**2)
    return bool(difference > t_quantile(steady.df, level) * se)


def stationarity(x: np.ndarray) -> str:
    """Classify a series as ``constant``, ``drift`` (a trend), ``step``, or ``undetermined`` with
    few samples.

    A straight line and the best single step are fitted by least squares to equally spaced samples,
    and each is tested at level `ALPHA`. Tests account for autocorrelation by the effective sample
    size of the residuals; the step's p-value is multiplied by the effective number of candidate
    positions (Bonferroni). If both are significant, the smaller residual variance decides.
    """
    x = np.asarray(x, dtype=float)
    if len(x) < MIN_FOR_STATIONARITY:
        return "undetermined"
    if np.ptp(x) <= 1e-12 * np.abs(x).max():
        return "constant"
    fits = {"drift": _drift(x), "step": _step(x)}
    rejected = {kind: squares for kind, (squares, p) in fits.items() if p < ALPHA}
    return min(rejected, key=lambda kind: rejected[kind]) if rejected else "constant"


def trend(x: np.ndarray) -> float:
    """Relative change of a series over its window, as a share of its mean, by a least-squares line
    over equally spaced samples. NaN for fewer than three samples or a mean of zero.
    """
    x = np.asarray(x, dtype=float)
    n, mean = len(x), float(np.mean(x)) if len(x) else 0.0
    if n < MIN_FOR_SLOPE or mean == 0:
        return float("nan")
    t = np.arange(n) - (n - 1) / 2
    return float(t @ x) / float(t @ t) * n / mean


def _drift(x: np.ndarray) -> tuple[float, float]:
    """Return the residual sum of squares of the straight line, and its p-value."""
    n = len(x)
    t = np.arange(n) - (n - 1) / 2
    slope = float(t @ x) / float(t @ t)
    squares, p, _ = _tested(slope, x - x.mean() - slope * t, 1 / float(t @ t))
    return squares, p


def _step(x: np.ndarray) -> tuple[float, float]:
    """Return the residual sum of squares of the best step, and its p-value."""
    n = len(x)
    z = x - x.mean()
    edge = max(3, n // 10)
    places = np.arange(edge, n - edge + 1)
    before = np.cumsum(z)[places - 1]
    gain = before**2 * n / (places * (n - places))  # reduction of the sum of squares
    at = int(places[np.argmax(gain)])
    low, high = float(z[:at].mean()), float(z[at:].mean())
    squares, p, n_eff = _tested(
        high - low, z - np.where(np.arange(n) < at, low, high), 1 / at + 1 / (n - at)
    )
    return squares, p * max(min(len(places), n_eff), 1.0)


def _tested(
    estimate: float, residuals: np.ndarray, per_variance: float
) -> tuple[float, float, float]:
    """Return residual sum of squares, p-value of the estimate, and effective sample size.

    The estimate's variance is the residual variance times `per_variance`, inflated by
    autocorrelation.
    """
    n = len(residuals)
    f = inflation(correlation(residuals, 2), n)
    squares = float(residuals @ residuals)
    se = np.sqrt(squares / (n - 2) * f * per_variance)
    if se == 0:
        return squares, 0.0 if estimate else 1.0, n / f
    return squares, t_pvalue(estimate / se, max(n / f - 2, 1.0)), n / f
