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


def compare_ranks(
    a: Replicates, b: Replicates, level: float
) -> tuple[float, float | None, float | None, float, str]:
    """Compare positive values by ranks.

    Returns
    -------
    tuple
        The ratio of B to A, its interval at `level` (None with too few runs), the two-sided
        p-value, and the name of the test.
    """
    from scipy import stats

    in_blocks = a.in_blocks and b.in_blocks
    blocks = [block for block in a.by_block if block in b.by_block] if in_blocks else []
    if len(blocks) > 1:
        logs = np.array([math.log(b.by_block[k] / a.by_block[k]) for k in blocks])
        i, j = np.triu_indices(len(logs))
        averages = np.sort((logs[i] + logs[j]) / 2)
        counts = _signed_rank_counts(len(logs))
        p = float(stats.wilcoxon(logs).pvalue) if logs.any() else 1.0
        name = f"Wilcoxon's signed ranks within {len(blocks)} blocks"
    else:
        averages = np.sort(np.subtract.outer(np.log(b.values), np.log(a.values)).ravel())
        counts = _mann_whitney_counts(a.n, b.n)
        p = float(stats.mannwhitneyu(b.values, a.values, alternative="two-sided").pvalue)
        name = "Mann-Whitney"
    low, high = _limits(averages, counts, level)
    return math.exp(float(np.median(averages))), low, high, p, name


def _limits(
    ordered: np.ndarray, counts: np.ndarray, level: float
) -> tuple[float | None, float | None]:
    """Order statistics of the differences at `level`, by the exact null distribution `counts`."""
    at_most = np.cumsum(counts) / counts.sum()
    rank = int(np.searchsorted(at_most, (1 - level) / 2, side="right"))  # P(T < rank) <= tail
    if rank == 0:
        return None, None
    return math.exp(float(ordered[rank - 1])), math.exp(float(ordered[-rank]))


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
