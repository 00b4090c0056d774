"""Percentiles of response times merged over drivers and runs, and their ratio between two
conditions.

A percentile of all requests requires all requests: samples, or histograms, are merged. The mean of
percentiles of several drivers is not a percentile of anything.

The independent unit between two conditions is the run. The standard error of the logarithm of a
merged percentile is that of its bootstrap distribution over runs (resampled with replacement), with
the variance multiplied by ``n / (n - 1)``, since like that of a mean it is too small by that
factor. The interval is Student's t around the estimate: a bootstrap percentile interval would be
far too narrow with few runs. Runs in blocks are compared within blocks.

References
----------
Efron, B., Tibshirani, R. J. (1993). An Introduction to the Bootstrap, chapters 6 and 12. Hesterberg, T.
C. (2015). What teachers should know about the bootstrap. Am. Stat. 69, 371-386, section 4. Tene, G.
(2015). How not to measure latency. HdrHistogram.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rawperf.core.errors import ModelError
from virtperf.core import order_statistics
from virtperf.core.contrasts import LogRatio, paired_log_ratio
from virtperf.core.statistics import welch_df

RESAMPLES = 1999
SEED = 20090131
BATCH = 100
"""Number of resamples processed at a time, to limit memory."""
MAX_VALUES = 4096
"""Maximum number of distinct values between the percentiles of single runs; more are rounded to a
grid of this size, evenly spaced on the log scale."""


@dataclass(frozen=True, eq=False)
class Distribution:
    """Single values, or the buckets of a histogram: `values` in ascending order, with their counts."""

    values: np.ndarray
    counts: np.ndarray

    @staticmethod
    def of(values: Any, counts: Any = None) -> Distribution:
        """Build from single values, or bucket values with counts, in any order.

        Raises `ModelError` for no values, values that are not finite, and negative counts.
        """
        x = np.asarray(values, dtype=float)
        n = np.ones(len(x)) if counts is None else np.asarray(counts, dtype=float)
        if not (np.isfinite(x).all() and np.isfinite(n).all() and (n >= 0).all()):
            raise ModelError("a value or a count is not finite, or a count is negative")
        x, places = np.unique(x[n > 0], return_inverse=True)
        if not len(x):
            raise ModelError("there are no values", expected="at least one sample or bucket")
        return Distribution(x, np.bincount(places, n[n > 0]))

    @cached_property
    def total(self) -> float:
        """Total number of values."""
        return float(self.counts.sum())

    @property
    def mean(self) -> float:
        """Mean of all values."""
        return float(self.values @ self.counts) / self.total

    @cached_property
    def _cumulative(self) -> np.ndarray:
        return np.cumsum(self.counts)

    def at_most(self, limits: np.ndarray) -> np.ndarray:
        """Cumulative counts at each of `limits`."""
        below = np.concatenate([[0.0], self._cumulative])
        return below[np.searchsorted(self.values, limits, side="right")]

    def percentile(self, percent: float) -> float:
        """Return a percentile of all values, by `core.order_statistics.percentile`."""
        _require_percent(percent)
        return order_statistics.percentile(self.values, percent / 100, self.counts)


def merge_distributions(distributions: Sequence[Distribution]) -> Distribution:
    """Merge the values of several drivers or runs.

    Raises `ModelError` for anything but distributions: percentiles can't be merged.
    """
    if not distributions or not all(isinstance(each, Distribution) for each in distributions):
        raise ModelError(
            "percentiles of several drivers can't be merged into one",
            expected="samples or histograms of each driver",
            remedy="keep single response times, or a histogram log, and merge these",
        )
    return Distribution.of(
        np.concatenate([each.values for each in distributions]),
        np.concatenate([each.counts for each in distributions]),
    )


def percentile_ratio(
    a: Sequence[Distribution],
    b: Sequence[Distribution],
    percent: float,
    *,
    blocks_a: Sequence[str] = (),
    blocks_b: Sequence[str] = (),
) -> LogRatio:
    """Ratio of a percentile of all values of the runs `a` to that of the runs `b`.

    If all runs have blocks, they are used like for means in `core.contrasts`: with several common
    blocks, the ratio is the mean of the log ratios within blocks, each of the merged values of the
    block's runs.

    Returns
    -------
    LogRatio
        The standard error without common blocks is that of the bootstrap over runs; NaN where a
        side has a single run.

    Raises
    ------
    ModelError
        A percentile is not positive.
    """
    _require_percent(percent)
    if not (blocks_a and blocks_b and all((*blocks_a, *blocks_b))):
        return _bootstrap_ratio(a, b, percent)
    of_a, of_b = _by_block(a, blocks_a), _by_block(b, blocks_b)
    common = [block for block in of_a if block in of_b]
    if len(common) > 1:
        x, y = (
            np.array(
                [
                    _positive_percentile(merge_distributions(side[block]), percent)
                    for block in common
                ]
            )
            for side in (of_a, of_b)
        )
        return paired_log_ratio(x, y, f"within {len(common)} blocks")
    if common and min(len(side[common[0]]) for side in (of_a, of_b)) > 1:
        within = _bootstrap_ratio(of_a[common[0]], of_b[common[0]], percent)
        return replace(within, design="within one block")
    x_blocks = [merge_distributions(runs) for runs in of_a.values()]
    y_blocks = [merge_distributions(runs) for runs in of_b.values()]
    ratio = _bootstrap_ratio(x_blocks, y_blocks, percent)
    return replace(ratio, design="by blocks", confounded=True)


def _bootstrap_ratio(
    a: Sequence[Distribution], b: Sequence[Distribution], percent: float
) -> LogRatio:
    value = _positive_percentile(merge_distributions(a), percent) / _positive_percentile(
        merge_distributions(b), percent
    )
    n = min(len(a), len(b))
    if n < 2:
        return LogRatio(value, math.nan, 1.0, n)
    variances = [
        float(_RunBootstrap(side, percent).logs(SEED + place).var()) * len(side) / (len(side) - 1)
        for place, side in enumerate((a, b))
    ]
    dfs = [len(side) - 1.0 for side in (a, b)]
    df = welch_df(variances, dfs)
    return LogRatio(value, math.sqrt(sum(variances)), df, n, "bootstrap over runs")


class _RunBootstrap:
    """Bootstrap of a percentile over runs.

    It lies between the smallest and the largest percentile of the runs, so only counts in that
    range are needed.
    """

    def __init__(self, runs: Sequence[Distribution], percent: float) -> None:
        each = [_positive_percentile(run, percent) for run in runs]
        low, high = min(each), max(each)
        grid = np.unique(
            np.concatenate([r.values[(r.values >= low) & (r.values <= high)] for r in runs])
        )
        if len(grid) > MAX_VALUES:
            grid = np.geomspace(low, high, MAX_VALUES)
            grid[-1] = high
        self._grid = np.log(grid)
        self._at_most = np.array([run.at_most(grid) for run in runs])
        self._totals = np.array([run.total for run in runs])
        self._share = percent / 100 * (1 - 1e-12)

    def logs(self, seed: int) -> np.ndarray:
        """Log percentiles of `RESAMPLES` resamples, reproducible for a seed."""
        if len(self._grid) == 1:
            return np.zeros(RESAMPLES)
        from scipy import stats

        bootstrap = stats.bootstrap(
            (np.arange(len(self._totals)),),
            self._statistic,
            n_resamples=RESAMPLES,
            batch=BATCH,
            vectorized=True,
            method="percentile",
            rng=np.random.default_rng(seed),
        )
        return np.asarray(bootstrap.bootstrap_distribution)

    def _statistic(self, drawn: np.ndarray, axis: int = -1) -> np.ndarray:
        runs = np.arange(len(self._totals))
        times = (np.asarray(drawn)[..., None] == runs).sum(axis=-2)  # multiplicity of each run
        reached = times @ self._at_most >= self._share * (times @ self._totals)[..., None]
        return np.asarray(self._grid[reached.argmax(axis=-1)])


def _by_block(runs: Sequence[Distribution], blocks: Sequence[str]) -> dict[str, list[Distribution]]:
    by_block: dict[str, list[Distribution]] = {}
    for block, run in sorted(zip(blocks, runs, strict=True), key=lambda pair: pair[0]):
        by_block.setdefault(block, []).append(run)
    return by_block


def _positive_percentile(distribution: Distribution, percent: float) -> float:
    value = distribution.percentile(percent)
    if not value > 0:
        raise ModelError(f"the {percent:g}th percentile is not positive", found=f"{value:g}")
    return value


def _require_percent(percent: float) -> None:
    if not 0 < percent < 100:
        raise ModelError(
            "the percentile is out of range",
            expected="a number between 0 and 100, such as 99.9",
            found=f"{percent:g}",
        )
