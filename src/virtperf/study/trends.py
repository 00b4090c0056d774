"""Whether the conditions of a study keep their level within the measurement window, by all runs of
each.

One run of a few samples can't tell a trend from chance. The runs of a condition repeat it: their
trends (`OBSERVATIONS`: the change over the window as a share of the mean) are as independent as the
runs, so their mean has a Student interval whatever the samples within a run are correlated with.

References
----------
Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand. J. Stat. 6, 65-70.
Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power approach.
J. Pharmacokinet. Biopharm. 15, 657-680.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from virtperf.core.contrasts import Replicates

CONSTANT, DRIFT, UNDETERMINED = "constant", "drift", "undetermined"
STEADY_MARGIN = 0.05
"""A change over the window by less than this share of the mean counts as none."""
FEWEST_UNITS = 3
"""Runs, or blocks of runs, below which their spread says too little."""


@dataclass(frozen=True)
class Trend:
    """The mean trend of a condition with its two-sided interval; `p` is the chance of such a mean
    where there is none. NaN where too few runs show one.
    """

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan


def mean_trend(rows: Sequence[Mapping[str, Any]], level: float) -> Trend:
    """The trend over runs, rows of `OBSERVATIONS` of one condition; runs of a block count once."""
    known = [row for row in rows if math.isfinite(row["trend"])]
    if not known:
        return Trend()
    values = np.array([row["trend"] for row in known])
    units = Replicates(values, tuple(row["block"] for row in known)).units
    value = float(units.mean())
    if len(units) < FEWEST_UNITS:
        return Trend(value)
    se = float(units.std(ddof=1)) / math.sqrt(len(units))
    if se == 0:
        return Trend(value, value, value, 0.0 if value else 1.0)
    df = len(units) - 1
    half = float(special.stdtrit(df, (1 + level) / 2)) * se
    p = float(2 * special.stdtr(df, -abs(value) / se))
    return Trend(value, value - half, value + half, p)


def steady_words(trends: Sequence[Trend], level: float) -> list[str]:
    """What each trend of a study says.

    `CONSTANT` where the interval lies within `STEADY_MARGIN` of zero (two one-sided tests, each at
    half of the chance that `level` leaves); else `DRIFT` where the trend differs from zero at that
    level, adjusted over all trends of the study (Holm); else `UNDETERMINED`. Empty where no run
    shows a trend.
    """
    tested = sorted((t.p, k) for k, t in enumerate(trends) if math.isfinite(t.p))
    drifting = set()
    for rank, (p, k) in enumerate(tested):
        if p * (len(tested) - rank) > 1 - level:
            break
        drifting.add(k)
    words = []
    for k, trend in enumerate(trends):
        if not math.isfinite(trend.value):
            words.append("")
        elif trend.low >= -STEADY_MARGIN and trend.high <= STEADY_MARGIN:
            words.append(CONSTANT)
        else:
            words.append(DRIFT if k in drifting else UNDETERMINED)
    return words
