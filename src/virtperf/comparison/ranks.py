"""Rank-based comparison of two sides, which one outlying run hardly changes.

Independent runs: the Mann-Whitney test, and Hodges and Lehmann's estimate of the ratio, the median
of all ratios of a run of B to a run of A, with the interval that belongs to the test. Runs in
blocks: Wilcoxon's signed ranks of the log ratios of blocks, and the median of their Walsh averages.

References
----------
Hollander, M., Wolfe, D. A., Chicken, E. (2014). Nonparametric Statistical Methods, 3rd ed., sections
3.1 to 3.3 and 4.1 to 4.3. Wiley.
"""

from __future__ import annotations

import math

import numpy as np

from virtperf.core.contrasts import Replicates
from virtperf.core.estimate import Estimate
from virtperf.core.statistics import normal_quantile

MAX_EXACT = 10_000
"""Pairs of runs up to which limits are exact, by the null distribution; beyond, it is normal."""
MAX_PAIRS = 10_000_000
"""Pairs of runs of which a median is computed."""


def compare_ranks(a: Replicates, b: Replicates, level: float) -> tuple[Estimate, float] | None:
    """Compare positive values by ranks; None for more than `MAX_PAIRS` pairs of runs.

    Returns
    -------
    tuple
        The ratio of B to A with its interval at `level` (NaN limits with too few runs), whose method
        is the name of the test, and the two-sided p-value.
    """
    from scipy import stats

    in_blocks = a.in_blocks and b.in_blocks
    blocks = [block for block in a.by_block if block in b.by_block] if in_blocks else []
    n = len(blocks)
    if max(a.n * b.n, n**2) > MAX_PAIRS:
        return None
    if n > 1:
        logs = np.array([math.log(b.by_block[k] / a.by_block[k]) for k in blocks])
        i, j = np.triu_indices(n)
        averages = (logs[i] + logs[j]) / 2
        variance = n * (n + 1) * (2 * n + 1) / 24
        counts = _signed_rank_counts(n) if len(averages) <= MAX_EXACT else None
        p = float(stats.wilcoxon(logs).pvalue) if logs.any() else 1.0
        name = f"Wilcoxon's signed ranks within {n} blocks"
    else:
        averages = np.subtract.outer(np.log(b.values), np.log(a.values)).ravel()
        variance = a.n * b.n * (a.n + b.n + 1) / 12
        counts = _mann_whitney_counts(a.n, b.n) if len(averages) <= MAX_EXACT else None
        p = float(stats.mannwhitneyu(b.values, a.values, alternative="two-sided").pvalue)
        name = "Mann-Whitney"
    if counts is not None:
        at_most = np.cumsum(counts) / counts.sum()
        rank = int(np.searchsorted(at_most, (1 - level) / 2, side="right"))  # P(T < rank) <= tail
    else:
        rank = int(len(averages) / 2 - normal_quantile(level) * math.sqrt(variance) + 0.5)
    ordered = np.sort(averages)
    low, high = (ordered[rank - 1], ordered[-rank]) if rank else (math.nan, math.nan)
    value = math.exp(float(np.median(ordered)))
    return Estimate(value, math.exp(low), math.exp(high), level, name), p


def _mann_whitney_counts(m: int, n: int) -> np.ndarray:
    """Number of arrangements by the statistic U, 0 to m n: the partitions of U into at most m parts
    of at most n.
    """
    counts = np.zeros((m + 1, m * n + 1))  # by number of parts
    counts[0, 0] = 1.0
    for part in range(1, n + 1):
        for number in range(1, m + 1):
            counts[number, part:] += counts[number - 1, :-part]
    return counts.sum(axis=0)


def _signed_rank_counts(n: int) -> np.ndarray:
    """Number of sign assignments by the statistic of signed ranks, 0 to n (n + 1) / 2."""
    counts = np.ones(1)
    for rank in range(1, n + 1):
        without, with_rank = np.pad(counts, (0, rank)), np.pad(counts, (rank, 0))
        counts = without + with_rank
    return counts
