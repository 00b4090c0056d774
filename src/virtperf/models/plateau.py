"""The level that a series keeps most of the time, and its highest excursion from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.result import Estimate

SCALE = 1.4826  # median absolute deviation to standard deviation, for normal data
LIMIT = 4.0  # robust standard deviations within which a sample belongs to the plateau


@dataclass(frozen=True)
class Plateau:
    """A level, the share of samples that keep it, and the peak.

    Attributes
    ----------
    level : Estimate
        Median of the samples, with the interval between two order statistics.
    share : float
        Of the samples that lie within `LIMIT` robust standard deviations of the level.
    peak, peak_at : float
        The highest sample and its time.
    """

    level: Estimate
    share: float
    peak: float
    peak_at: float


def find_plateau(t: ArrayLike, y: ArrayLike, *, alpha: float = 0.05) -> Plateau:
    """Find the level that a series keeps most of the time.

    The median is not moved by excursions that take less than half of the time. Its interval between two order
    statistics is exact for independent samples of any distribution (David and Nagaraja 2003, section 7.1); positive
    autocorrelation makes it too short, which the estimate's warning says where the lag-one correlation is above 0.2.

    Parameters
    ----------
    t, y : array_like, shape (n,)
        Times in ascending order, and values; at least 6, since fewer have no 95 % interval.

    Raises
    ------
    ModelError
        Rows that are not finite, times that do not ascend, too few samples for the level asked.
    """
    times, values = checks.column(t, "time"), checks.column(y, "value")
    checks.same_length(("time", times), ("value", values))
    if np.any(np.diff(times) <= 0):
        row = int(np.argmax(np.diff(times) <= 0)) + 2
        raise ModelError(f"time in row {row} does not ascend", remedy="sort the samples, one a time")
    n = len(values)
    rank = int(stats.binom.ppf(alpha / 2, n, 0.5))
    if rank < 1:
        raise ModelError(
            f"{n} samples have no {100 * (1 - alpha):g} % interval of a median", expected="at least 6 for 95 %",
            remedy="measure longer",
        )  # fmt: skip
    ordered = np.sort(values)
    middle = float(np.median(values))
    spread = SCALE * float(np.median(np.abs(values - middle)))
    kept = np.abs(values - middle) <= max(LIMIT * spread, 1e-12 * abs(middle))
    centred = values[kept] - values[kept].mean()
    power = float(centred @ centred)
    lag = float(centred[1:] @ centred[:-1]) / power if power > 0 else 0.0
    notes = (f"neighbouring samples correlate ({lag:.2f}): the interval is too short",) if lag > 0.2 else ()
    level = Estimate(middle, float(ordered[rank - 1]), float(ordered[n - rank]), 1 - alpha, "order statistics", notes)
    top = int(np.argmax(values))
    return Plateau(level, float(kept.mean()), float(values[top]), float(times[top]))
