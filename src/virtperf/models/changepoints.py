"""Where the distribution of a series changes: E-divisive with a permutation test, for revisions or
dates.

It is the method of MongoDB's and Apache Otava's watch over benchmark results. No package with
maintenance offers it;
`ruptures` has other costs and no test.

References
----------
Matteson, D. S., James, N. A. (2014). A nonparametric approach for multiple change point analysis of
multivariate data.
    J. Am. Stat. Assoc. 109, 334-345.
Daly, D., et al. (2020). The use of change point detection to identify software performance
regressions in a continuous
    integration system. ICPE '20, 67-75.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rawperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.ratio import ratio_of_means
from virtperf.models.result import Estimate

PERMUTATIONS, SEED = 999, 20
SHORTEST = 3
"""Values of a segment: fewer have hardly a spread."""
MOST = 2000
"""Values of a series: the distances of all pairs are kept."""


@dataclass(frozen=True)
class Change:
    """One change.

    Attributes
    ----------
    at : object
        The x of the first value after the change: a revision, a date.
    pvalue : float
        Of the permutation test: (1 + permutations with as large a statistic) / (1 + permutations).
    ratio : Estimate or None
        Mean after over mean before, of the segments on both sides; None for values that are not
        positive. The place was sought, so that the interval is too short for a change that is
        hardly there.
    """

    at: Any
    pvalue: float
    ratio: Estimate | None


@dataclass(frozen=True)
class Changepoints:
    """The changes of a series, in its order, and its segments: ``first, last`` (x of the ends),
    ``n, mean, sd``.
    """

    changes: tuple[Change, ...]
    segments: pd.DataFrame


def find_changepoints(x: Iterable[Any], y: ArrayLike, *, alpha: float = 0.01) -> Changepoints:
    """Find the changes of a series of independent values, the most evident one first, until the
    test finds no more.

    The split of a segment that maximises ``n m / (n + m) (2 E|X - Y| - E|X - X'| - E|Y - Y'|)`` is
    a change if this is larger than for all but a share `alpha` of shuffled segments.

    Parameters
    ----------
    x : sequence, length n
        What the values stand at, in order; it only names the changes.
    y : array_like, shape (n,)
    alpha : float
        Size of each permutation test; a series is tested again and again, so that 0.05 finds too
        many changes.

    Raises
    ------
    ModelError
        For values that are not finite, fewer than 6 of them, or more than 2000.
    """
    checks.level(alpha)
    names, values = list(x), checks.column(y, "y")
    checks.same_length(("x", names), ("y", values))
    if not 2 * SHORTEST <= len(values) <= MOST:
        raise ModelError(
            f"{len(values)} values can't be searched for changes",
            expected=f"{2 * SHORTEST} to {MOST} values",
        )
    rng = np.random.default_rng(SEED)
    distances = np.abs(values[:, None] - values[None, :])
    found: dict[int, float] = {}
    open_ = [(0, len(values))]
    while open_:
        start, end = open_.pop()
        if end - start < 2 * SHORTEST:
            continue
        part = distances[start:end, start:end]
        place, statistic = _best(part, SHORTEST)
        orders = rng.permuted(np.tile(np.arange(end - start), (PERMUTATIONS, 1)), axis=1)
        larger = sum(_best(part[np.ix_(o, o)], SHORTEST)[1] >= statistic for o in orders)
        pvalue = (1 + larger) / (1 + PERMUTATIONS)
        if statistic > 0 and pvalue <= alpha:
            found[start + place] = pvalue
            open_ += [(start, start + place), (start + place, end)]
    ends = list(itertools.pairwise([0, *sorted(found), len(values)]))
    segments = [values[a:b] for a, b in ends]
    table = pd.DataFrame(
        [
            {
                "first": names[a],
                "last": names[b - 1],
                "n": b - a,
                "mean": s.mean(),
                "sd": s.std(ddof=1),
            }
            for (a, b), s in zip(ends, segments, strict=True)
        ]
    )
    changes = tuple(
        Change(names[place], found[place], _ratio(before, after, alpha))
        for place, (before, after) in zip(sorted(found), itertools.pairwise(segments), strict=True)
    )
    return Changepoints(changes, table)


def _best(distances: Array, shortest: int) -> tuple[int, float]:
    """The best first place of the second part, and the statistic there."""
    n = len(distances)
    corner = np.cumsum(np.cumsum(distances, axis=0), axis=1)
    place = np.arange(shortest, n - shortest + 1)
    before = corner[place - 1, place - 1]
    across = corner[place - 1, n - 1] - before
    after = corner[n - 1, n - 1] - before - 2 * across
    m = n - place
    energy = 2 * across / (place * m) - before / (place * (place - 1)) - after / (m * (m - 1))
    statistic = place * m / n * energy
    best = int(np.argmax(statistic))
    return int(place[best]), float(statistic[best])


def _ratio(before: Array, after: Array, alpha: float) -> Estimate | None:
    return (
        ratio_of_means(after, before, alpha=alpha) if min(before.min(), after.min()) > 0 else None
    )
