"""Runs that fall into two groups, which no mean describes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

MIN_RUNS = 5
MIN_GROUP = 2  # one outlying run is no group
GAP_OVER_RANGE = 3.0
"""Minimum ratio of the gap between the groups to the larger range within one, of logarithms. Six
values of a log-normal distribution exceed it in 1.2 % of cases, five in 3.3 %."""
LEAST_RATIO = 1.5
"""Minimum ratio of the smallest value of the upper group to the largest of the lower: with a smaller
one a mean is near all values."""


def two_groups(values: Sequence[float]) -> tuple[np.ndarray, np.ndarray] | None:
    """Split positive values at their largest gap on the log scale, the lower group first, each
    ascending; None if they don't fall into two groups.
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    if len(ordered) < MIN_RUNS or ordered[0] <= 0:
        return None
    logs = np.log(ordered)
    cut = int(np.argmax(np.diff(logs))) + 1
    if not MIN_GROUP <= cut <= len(ordered) - MIN_GROUP:
        return None
    gap, widest = logs[cut] - logs[cut - 1], max(np.ptp(logs[:cut]), np.ptp(logs[cut:]))
    if gap < max(GAP_OVER_RANGE * widest, np.log(LEAST_RATIO)):
        return None
    return ordered[:cut], ordered[cut:]
