"""Steady state of one series: where its warm-up ends, whether it stays where it is; its mean is in
`means`.

References
----------
White, K. P. (1997). An effective truncation heuristic for bias reduction in simulation output.
Simulation 69, 323-334. White, K. P., Cobb, M. J., Spratt, S. C. (2000). A comparison of five
steady-state truncation heuristics for simulation.
    Winter Simulation Conference, 755-760.
Hoad, K., Robinson, S., Davies, R. (2010). Automating warm-up length estimation. J. Oper. Res. Soc.
61, 1389-1403.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from virtperf.runs.summarize.means import ar1_mean, correlation, effective_samples, inflation

BATCH = 5
FEWEST_BATCHES = 10
LEFT_BATCHES = 5
"""MSER's statistic is of no use where fewer batches than this are left: it falls by chance (Hoad et
al. 2010).
"""
FEWEST_FOR_TREND = 12
FEWEST_FOR_SLOPE = 3


@dataclass(frozen=True)
class Warmup:
    """Where a warm-up ends.

    `cut`: samples to leave out at the beginning, the best cut in the first half; 0 where the series
        is too short.
    `status`: ``steady``; ``not steady`` where the best cut lies in the second half, which says that
        the series had not settled; ``too short`` to say anything.
    """

    cut: int
    status: str


def mser(x: np.ndarray) -> Warmup:
    """The cut of equally spaced samples that minimises the marginal standard error (MSER-5: batches
    of five).

    Over means ``z`` of batches, the cut after ``d`` batches minimises ``sum((z[d:] -
    mean(z[d:]))**2) / (k - d)**2``, for k batches. A cut in the first half is taken; a later one
    means that the series is still moving.
    """
    x = np.asarray(x, dtype=float)
    k = len(x) // BATCH
    if k < FEWEST_BATCHES:
        return Warmup(0, "too short")
    z = x[: k * BATCH].reshape(k, BATCH).mean(axis=1)
    z = z - z[-1]  # the sums of squares below lose no digits to a large level
    left = np.arange(k, 0, -1)
    first = np.cumsum(z[::-1])[::-1]
    squares = np.cumsum(z[::-1] ** 2)[::-1]
    statistic = np.maximum(squares - first**2 / left, 0.0) / left**2
    best = int(np.argmin(statistic[: k - LEFT_BATCHES + 1]))
    cut = int(np.argmin(statistic[: k // 2 + 1]))
    return Warmup(cut * BATCH, "steady" if best == cut else "not steady")


def warmup(x: np.ndarray) -> Warmup:
    """MSER-5 with its alarm confirmed.

    In one of ten series that are steady from the beginning, MSER's best cut lies in the second half
    by chance. So the series counts as not steady only where what follows the best cut of the first
    half is not constant either (`stationarity`).
    """
    found = mser(x)
    if (
        found.status == "not steady"
        and stationarity(np.asarray(x, dtype=float)[found.cut :]) == "constant"
    ):
        return Warmup(found.cut, "steady")
    return found


def departs(early: np.ndarray, late: np.ndarray, level: float) -> bool:
    """Whether an early stretch has another mean than the steady state that follows it.

    The noise of both stretches is taken from the late one: if the early one belongs to the same
    steady state it has the same noise, and if it is a ramp its own variance says nothing.
    """
    if len(early) == 0 or len(late) < 2:
        return False
    steady = ar1_mean(late, level)
    f = inflation(correlation(late - late.mean(), 1), len(early))
    sigma2 = steady.se**2 * effective_samples(late)  # se^2 = sigma^2 f / n
    apart = abs(float(np.mean(early)) - steady.value)
    se = np.sqrt(sigma2 * f / len(early) + steady.se**2)
    return bool(apart > special.stdtrit(steady.df, (1 + level) / 2) * se)


def stationarity(x: np.ndarray, alpha: float = 0.01) -> str:
    """Whether a series keeps its level: ``constant``, ``drift`` (a trend), ``step``;
    ``undetermined`` for few samples.

    A straight line and the best single step are fitted by least squares to equally spaced samples,
    each with the chance
    `alpha` to be seen in a constant series. Errors respect autocorrelation: each is tested with the
    effective number of samples of its own residuals; the step's p-value is multiplied by the number
    of independent places that it could have (Bonferroni). Of two significant ones the one with less
    residual variance wins.
    """
    x = np.asarray(x, dtype=float)
    if len(x) < FEWEST_FOR_TREND:
        return "undetermined"
    if np.ptp(x) <= 1e-12 * np.abs(x).max():
        return "constant"
    fits = {"drift": _drift(x), "step": _step(x)}
    found = {kind: squares for kind, (squares, p) in fits.items() if p < alpha}
    return min(found, key=lambda kind: found[kind]) if found else "constant"


def trend(x: np.ndarray) -> float:
    """By how much a series changes from the begin to the end of its window, as a share of its mean:
    the least-squares line over equally spaced samples. NaN for fewer than three samples or a mean of
    zero.
    """
    x = np.asarray(x, dtype=float)
    n, mean = len(x), float(np.mean(x)) if len(x) else 0.0
    if n < FEWEST_FOR_SLOPE or mean == 0:
        return float("nan")
    t = np.arange(n) - (n - 1) / 2
    return float(t @ x) / float(t @ t) * n / mean


def _drift(x: np.ndarray) -> tuple[float, float]:
    """Sum of squares beside the straight line, and its p-value."""
    n = len(x)
    t = np.arange(n) - (n - 1) / 2
    slope = float(t @ x) / float(t @ t)
    squares, p, _ = _tested(slope, x - x.mean() - slope * t, 1 / float(t @ t))
    return squares, p


def _step(x: np.ndarray) -> tuple[float, float]:
    """The same of the best step."""
    n = len(x)
    z = x - x.mean()
    edge = max(3, n // 10)
    places = np.arange(edge, n - edge + 1)
    before = np.cumsum(z)[places - 1]
    gain = before**2 * n / (places * (n - places))  # what a step there takes off the sum of squares
    at = int(places[np.argmax(gain)])
    low, high = float(z[:at].mean()), float(z[at:].mean())
    squares, p, n_eff = _tested(
        high - low, z - np.where(np.arange(n) < at, low, high), 1 / at + 1 / (n - at)
    )
    return squares, p * max(min(len(places), n_eff), 1.0)


def _tested(
    estimate: float, residuals: np.ndarray, per_variance: float
) -> tuple[float, float, float]:
    """Sum of squares of the residuals, p-value of the estimate, effective number of samples.

    The estimate's variance is that of a residual times `per_variance`, inflated by their
    correlation.
    """
    n = len(residuals)
    f = inflation(correlation(residuals, 2), n)
    squares = float(residuals @ residuals)
    se = np.sqrt(squares / (n - 2) * f * per_variance)
    if se == 0:
        return squares, 0.0 if estimate else 1.0, n / f
    return squares, float(2 * special.stdtr(max(n / f - 2, 1.0), -abs(estimate) / se)), n / f
