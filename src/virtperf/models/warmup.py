"""Where a series changes its level: a changepoint method for warm-ups, to be compared with truncation rules.

A truncation rule such as MSER asks which cut gives the best mean; a changepoint method asks where the level changed.
The exact optimum over all numbers and places of changes is found by dynamic programming.

References
----------
Jackson, B., et al. (2005). An algorithm for optimal partitioning of data on an interval. IEEE Signal Process. Lett.
    12, 105-108.
Lavielle, M., Moulines, E. (2000). Least-squares estimation of an unknown number of shifts in a time series. J. Time
    Ser. Anal. 21, 33-59.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array

FEWEST = 20
SHORTEST = 2
"""Samples of a segment."""
FACTOR = 3.0
"""Of the penalty ``FACTOR log(n)`` a change, in units of the long-run variance: a change adds a level and a place."""
LARGEST_CORRELATION = 0.95


@dataclass(frozen=True)
class Changes:
    """Where the level of a series changes.

    Attributes
    ----------
    points : tuple of int
        First sample after each change.
    cut : int
        Samples to leave out at the beginning: the last change in the first half, 0 without one.
    status : str
        ``steady``; ``not steady`` where the level changes in the second half too; ``too short``.
    """

    points: tuple[int, ...]
    cut: int
    status: str


def changepoint_warmup(x: Array) -> Changes:
    """Find the end of a warm-up as the last change of level in the first half of a series.

    Each change must gain ``3 log(n)`` times the long-run variance ``sigma**2 (1 + r) / (1 - r)``, since correlated
    noise looks like changes of level (Lavielle and Moulines 2000). Variance and correlation of neighbours are those of
    the second half, where the warm-up ought to be over.

    Parameters
    ----------
    x : ndarray, shape (n,)
        Equally spaced samples from the run's start.

    Raises
    ------
    ModelError
        For samples that are not finite.
    """
    series = checks.column(x, "sample")
    n = len(series)
    if n < FEWEST:
        return Changes((), 0, "too short")
    late = _without_step(series[n // 2 :])
    squares, m = float(late @ late), len(late)
    if squares == 0:  # no noise: every difference is a change
        return _changes(tuple(int(p) for p in np.flatnonzero(np.diff(series)) + 1), n)
    # The same correction of its bias as for a mean's error: one parameter was fitted.
    r = min(max((m * float(late[1:] @ late[:-1]) / squares + 1) / (m - 3), 0.0), LARGEST_CORRELATION)
    variance = squares / (m - 1) * (1 + r) / (1 - r)
    return _changes(mean_changes(series, FACTOR * np.log(n) * variance), n)


def _without_step(x: Array) -> Array:
    """Residuals on the mean, or on two means if one step explains more than half of the variance."""
    z = x - x.mean()
    places = np.arange(SHORTEST, len(x) - SHORTEST + 1)
    gain = np.cumsum(z)[places - 1] ** 2 * len(x) / (places * (len(x) - places))
    at = int(places[np.argmax(gain)])
    if gain.max() <= float(z @ z) / 2:
        return z
    return np.concatenate((z[:at] - z[:at].mean(), z[at:] - z[at:].mean()))


def _changes(points: tuple[int, ...], n: int) -> Changes:
    early = [p for p in points if p <= n // 2]
    return Changes(points, early[-1] if early else 0, "steady" if len(early) == len(points) else "not steady")


def mean_changes(x: Array, penalty: float) -> tuple[int, ...]:
    """Return the changes of level that minimise the sum of squares within segments plus `penalty` a change.

    Exact, by optimal partitioning (Jackson et al. 2005), with n**2 / 2 operations. PELT adds a pruning that series of
    hundreds of samples do not need. Segments have at least two samples.

    Parameters
    ----------
    x : ndarray, shape (n,)
    penalty : float
        In squared units of x; positive.

    Returns
    -------
    tuple of int
        First sample after each change, in order.
    """
    if not penalty > 0:
        raise ModelError("a change needs a price", expected="a positive penalty", found=repr(penalty))
    n = len(x)
    z = x - x.mean()
    total = np.concatenate([[0.0], np.cumsum(z)])
    square = np.concatenate([[0.0], np.cumsum(z * z)])
    best = np.full(n + 1, np.inf)
    best[0] = -penalty
    last = np.zeros(n + 1, dtype=int)
    for end in range(SHORTEST, n + 1):
        starts = np.arange(end - SHORTEST + 1)
        within = square[end] - square[starts] - (total[end] - total[starts]) ** 2 / (end - starts)
        costs = best[starts] + within
        chosen = int(np.argmin(costs))
        best[end], last[end] = costs[chosen] + penalty, chosen
    points: list[int] = []
    end = n
    while last[end] > 0:
        end = int(last[end])
        points.append(end)
    return tuple(reversed(points))
