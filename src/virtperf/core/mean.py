"""The one mean: a value with its standard error, degrees of freedom, interval and origin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from rawperf.core.numbers import MAX_NUMBER
from virtperf.core.provenance import Origin

UNEQUAL_DF_FACTOR = 2.5
"""Ratio of degrees of freedom above which two means have too different numbers of runs for Welch's
(`welch_df`; docs/calibration.md has the coverage)."""


INDEPENDENT, ORDERED, COUNTED = "independent samples", "order statistics", "binomial"
BUCKETED = "buckets"
"""Methods of statistics of independent samples: the mean, a quantile or an interquartile range, a
proportion; and a quantile or a proportion of bucketed (interval-censored) values."""


@dataclass(frozen=True)
class Mean:
    """A mean with a Student's t interval at a confidence level; error and limits are NaN where
    undefined.

    `n`: number of runs, or of samples of one run.
    `method`: source of the error: ``runs`` (between runs), or the method for samples of one run.
    """

    value: float
    se: float
    df: float
    low: float
    high: float
    level: float
    n: int
    method: str
    origin: Origin | None = None

    def at(self, level: float) -> Mean:
        """Return the mean with an interval at another confidence level."""
        if level == self.level:
            return self
        if self.method in (ORDERED, COUNTED, BUCKETED):
            return self._stretched(level)
        return student(
            self.value,
            self.se,
            self.df,
            level=level,
            n=self.n,
            method=self.method,
            origin=self.origin,
        )

    @property
    def of_samples(self) -> bool:
        """Whether the replicates (`n`) are independent samples, not runs."""
        return self.method in (INDEPENDENT, ORDERED, COUNTED, BUCKETED)

    def _stretched(self, level: float) -> Mean:
        """Rescale both ends to another level by the ratio of normal quantiles: an approximation,
        since the samples are not available.
        """
        factor = float(special.ndtri((1 + level) / 2) / special.ndtri((1 + self.level) / 2))
        low, high = (self.value + factor * (end - self.value) for end in (self.low, self.high))
        return replace(self, low=low, high=high, level=level)

    def shifted(self, by: float) -> Mean:
        """Return the mean with a constant added."""
        return replace(self, value=self.value + by, low=self.low + by, high=self.high + by)

    def scaled(self, factor: float) -> Mean:
        """Return the mean in a unit that is `factor` times smaller."""
        low, high = sorted((factor * self.low, factor * self.high))
        return replace(
            self, value=factor * self.value, se=abs(factor) * self.se, low=low, high=high
        )


def student(
    value: float,
    se: float,
    df: float,
    *,
    level: float,
    n: int,
    method: str,
    origin: Origin | None = None,
) -> Mean:
    """Build a mean with a Student's t interval from its standard error and degrees of freedom."""
    half = (
        float(special.stdtrit(df, (1 + level) / 2)) * se
        if math.isfinite(se) and df > 0
        else math.nan
    )
    return Mean(value, se, df, value - half, value + half, level, n, method, origin)


def mean_over_runs(
    values: Sequence[float],
    errors: Sequence[float],
    dfs: Sequence[float],
    *,
    level: float,
    method: str = "one run",
) -> Mean:
    """Return the mean over the runs of one condition, from the mean, standard error and degrees of
    freedom of each.

    With two or more runs the standard error is that between runs, with ``n - 1`` degrees of
    freedom, since run-to-run variation is the relevant error. A single run keeps the error and
    degrees of freedom of its own samples.
    """
    x = np.asarray(values, dtype=float)
    if len(x) > 1:
        se = float(x.std(ddof=1)) / math.sqrt(len(x))
        return student(float(x.mean()), se, len(x) - 1.0, level=level, n=len(x), method="runs")
    return student(float(x[0]), float(errors[0]), float(dfs[0]), level=level, n=1, method=method)


def mean_over_bucketed(runs: Sequence[Mean], *, level: float) -> Mean:
    """Return the mean over runs of interval-censored values.

    Runs in the same bucket have equal values without being equal, so their spread is not
    informative: the interval reaches from the lower limit of the mean of the lower ends to the
    upper limit of that of the upper ends; an end is infinite if that of a run is. `n` counts the
    events of all runs.
    """
    if len(runs) == 1:
        return runs[0].at(level)

    def over_runs(values: Sequence[float]) -> Mean:
        none = [math.nan] * len(values)
        return mean_over_runs(values, none, none, level=level)

    value = over_runs([run.value for run in runs]).value
    lows, highs = [run.low for run in runs], [run.high for run in runs]
    low = over_runs(lows).low if all(map(math.isfinite, lows)) else -math.inf
    high = over_runs(highs).high if all(map(math.isfinite, highs)) else math.inf
    se = (high - low) / (2 * float(special.ndtri((1 + level) / 2)))
    n = sum(run.n for run in runs)
    return Mean(value, se, len(runs) - 1.0, low, high, level, n, BUCKETED)


def satterthwaite(variances: Sequence[float], dfs: Sequence[float]) -> float:
    """Welch-Satterthwaite degrees of freedom of a sum of independent terms.

    ``sum(v)**2 / sum(v**2 / df)`` over the terms with nonzero variance; the smallest `df` if all
    variances are zero.
    """
    v, df = np.asarray(variances, dtype=float), np.asarray(dfs, dtype=float)
    if not v.sum():
        return float(df.min())
    v, df = v[v != 0], df[v != 0]
    if not 1 / MAX_NUMBER < v.max() < MAX_NUMBER:  # the squares are beyond the range of floats
        v = v / v.max()
    return float(v.sum() ** 2 / (v**2 / df).sum())


def welch_df(variances: Sequence[float], dfs: Sequence[float]) -> float:
    """Degrees of freedom of a sum of independent terms with unequal variances.

    Those of Welch and Satterthwaite. They are too large where one term has much fewer runs, which
    happen to agree: 88 % of 95 % intervals of two runs against ten contain the true ratio. If `dfs`
    differ by more than `UNEQUAL_DF_FACTOR`, they are therefore those with which Student's quantile
    for 95 % is the mean of the terms' quantiles, weighted by variance (Cochran and Cox 1950,
    *Experimental Designs*).
    """
    if max(dfs) <= UNEQUAL_DF_FACTOR * min(dfs):
        return satterthwaite(variances, dfs)
    v = np.asarray(variances, dtype=float)
    if not v.any():
        return float(min(dfs))
    v = v / v.max()
    quantile = float(v @ special.stdtrit(np.asarray(dfs, dtype=float), 0.975)) / float(v.sum())
    return float(special.stdtridf(0.975, quantile))
