"""The one mean: a value with its standard error, degrees of freedom and interval, and the runs
behind it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from virtperf.core.provenance import Origin

MAX_NUMBER = 1e150
"""The largest number that is taken as data: the square of a larger one is infinite."""
MAX_DF_FACTOR = 1.5
"""Degrees of freedom of a comparison are at most so many times the fewest of any mean. Welch's
alone are too many where few runs stand beside many: of 95 % intervals from 2 and 10 runs up to 12 %
miss, with the cap at most 7 %."""


INDEPENDENT, ORDERED, COUNTED = "independent samples", "order statistics", "binomial"
BUCKETED = "buckets"
"""Methods of a number of independent samples, which repeat it as runs do: their mean, a quantile or
a distance of quantiles, a share; and a quantile or a share of which only the bucket is known."""


@dataclass(frozen=True)
class Mean:
    """A mean with its interval (Student's t) at a confidence level; error and limits are NaN where
    none can be had.

    `n`: runs, or samples of one run.
    `method`: how the error was made: ``runs`` (spread over runs), or that of the one run's samples.
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
        """The same mean with an interval of another confidence level."""
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
        """Whether independent samples repeat it, so that `n` are these."""
        return self.method in (INDEPENDENT, ORDERED, COUNTED, BUCKETED)

    def _stretched(self, level: float) -> Mean:
        """Both ends as far away as a normal distribution would have them at that level: close to
        it only, since the samples are not at hand.
        """
        factor = float(special.ndtri((1 + level) / 2) / special.ndtri((1 + self.level) / 2))
        low, high = (self.value + factor * (end - self.value) for end in (self.low, self.high))
        return replace(self, low=low, high=high, level=level)

    def shifted(self, by: float) -> Mean:
        """The same mean with a constant added."""
        return replace(self, value=self.value + by, low=self.low + by, high=self.high + by)

    def scaled(self, factor: float) -> Mean:
        """The same mean in a unit that is `factor` times smaller."""
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
    """A mean from its standard error: the interval is Student's t with `df` degrees of freedom."""
    half = (
        float(special.stdtrit(df, (1 + level) / 2)) * se
        if math.isfinite(se) and df > 0
        else math.nan
    )
    return Mean(value, se, df, value - half, value + half, level, n, method, origin)


def over_runs(
    values: Sequence[float],
    errors: Sequence[float],
    dfs: Sequence[float],
    *,
    level: float,
    method: str = "one run",
) -> Mean:
    """The mean over the runs of one condition, from means, standard errors and degrees of freedom
    of each.

    With two or more runs the error is their spread over ``sqrt(n)`` with ``n - 1`` degrees of
    freedom, since run-to-run variation is what a reader wants to see past. One run has the error
    and degrees of freedom of its own samples.
    """
    x = np.asarray(values, dtype=float)
    if len(x) > 1:
        se = float(x.std(ddof=1)) / math.sqrt(len(x))
        return student(float(x.mean()), se, len(x) - 1.0, level=level, n=len(x), method="runs")
    return student(float(x[0]), float(errors[0]), float(dfs[0]), level=level, n=1, method=method)


def over_bucketed(runs: Sequence[Mean], *, level: float) -> Mean:
    """The mean over runs of numbers that each run only knows between two ends.

    Runs that fall into the same bucket have equal values and need not be equal, so that their
    spread says nothing: the interval reaches from the lower end of the mean of the lower ends to the
    upper end of that of the upper ones. `n` counts the events of all runs.
    """
    if len(runs) == 1:
        return runs[0].at(level)
    none = [math.nan] * len(runs)
    value, low, high = (
        over_runs([getattr(run, end) for run in runs], none, none, level=level)
        for end in ("value", "low", "high")
    )
    ends = low.low, high.high if math.isfinite(high.value) else math.inf
    se = (ends[1] - ends[0]) / (2 * float(special.ndtri((1 + level) / 2)))
    n = sum(run.n for run in runs)
    return Mean(value.value, se, len(runs) - 1.0, *ends, level, n, BUCKETED)


def satterthwaite(variances: Sequence[float], dfs: Sequence[float]) -> float:
    """Degrees of freedom of a sum of independent terms (Welch and Satterthwaite).

    ``sum(v)**2 / sum(v**2 / df)`` over the terms whose variance is not zero; where all are zero,
        the fewest of any.
    """
    v, df = np.asarray(variances, dtype=float), np.asarray(dfs, dtype=float)
    if not v.sum():
        return float(df.min())
    v, df = v[v != 0], df[v != 0]
    return float(v.sum() ** 2 / (v**2 / df).sum())
