"""How many runs are needed: to see an effect, to show equivalence, to decide a claim (statsmodels.stats.power)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special, stats
from statsmodels.stats.power import TTestIndPower

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array

QUESTIONS = ("difference", "equivalence", "claim")
MOST = 1000
NODES = 200
"""Nodes of the integral over the pooled variance."""


def relative_spread(*samples: ArrayLike) -> tuple[float, int]:
    """The coefficient of variation of pilot runs, pooled over conditions, and its degrees of freedom.

    Parameters
    ----------
    *samples : array_like
        Positive replicates of one condition each; a single run says nothing of the spread.
    """
    total, df = 0.0, 0
    for sample in samples:
        values = checks.column(sample, "pilot runs", positive=True)
        total += float(np.sum((values / values.mean() - 1) ** 2))
        df += len(values) - 1
    if df == 0:
        raise ModelError("there are no pilot runs", expected="at least two of one condition")
    return math.sqrt(total / df), df


def power(
    runs: int, *, cv: float, question: str = "difference", effect: float = 0.05, margin: float | None = None,
    low: float = 0.0, high: float = math.inf, alpha: float = 0.05,
) -> float:  # fmt: skip
    """Probability that so many runs of each of two conditions answer a question about their ratio.

    The noise is proportional with one coefficient of variation, the ratio is judged on the log scale with ``2 n - 2``
    degrees of freedom, as `ratio_of_means` does.

    Parameters
    ----------
    runs : int
        Of each condition, at least 2.
    cv : float
        Standard deviation between runs as a share of the mean.
    question : {"difference", "equivalence", "claim"}
        Does the interval of the ratio exclude 1? Does it (at the level ``1 - 2 alpha``) lie within the margin? Does it
        lie inside the range of a claim, or outside of it altogether?
    effect : float
        The true change: 0.05 stands for a ratio of 1.05, -0.05 for 0.95. For an equivalence often 0.
    margin : float, optional
        Of the equivalence, as a share: 0.03 stands for ratios from 1/1.03 to 1.03.
    low, high : float
        The ratios that the claim allows.
    alpha : float
    """
    n = int(runs)
    if n < 2:
        raise ModelError("power needs replicates", expected="at least 2 runs of each condition", found=str(runs))
    if not (cv > 0 and math.isfinite(cv)):
        raise ModelError("the coefficient of variation is not positive", found=repr(cv))
    checks.one_of(question, QUESTIONS, "question")
    checks.level(alpha)
    if not effect > -1:
        raise ModelError("the effect takes away more than there is", expected="above -1", found=repr(effect))
    shift, sd = math.log1p(effect), math.sqrt(math.log1p(cv * cv))
    if question == "difference":
        found = float(TTestIndPower().power(abs(shift) / sd, n, alpha)) if shift else alpha
        return 1.0 if math.isnan(found) else found  # the noncentral t distribution gives up where nothing is missing
    if question == "equivalence":
        if margin is None or margin <= 0:
            raise ModelError("an equivalence needs a margin", expected="a positive share, such as 0.03")
        return _inside(shift, sd, n, -math.log1p(margin), math.log1p(margin), 2 * alpha)
    if not 0 <= low < high:
        raise ModelError("the claim allows no ratio", expected="0 <= low < high", found=f"{low:g} to {high:g}")
    ends = (math.log(low) if low > 0 else -math.inf, math.log(high) if math.isfinite(high) else math.inf)
    return _inside(shift, sd, n, *ends, alpha) + _outside(shift, sd, n, *ends, alpha)


def runs_needed(*, target: float = 0.8, most: int = MOST, **question: Any) -> int | None:
    """The fewest runs of each condition whose `power` is at least `target`; None where `most` are not enough."""
    if not 0 < target < 1:
        raise checks.ArgumentError("the power is out of range", expected="a number between 0 and 1", found=repr(target))

    def enough(n: int) -> bool:
        return power(n, **question) >= target

    if not enough(most):
        return None
    few, many = 1, 2
    while not enough(many):
        few, many = many, min(2 * many, most)
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if enough(middle) else (middle, many)
    return many


def power_table(runs: ArrayLike, **question: Any) -> pd.DataFrame:
    """`power` at several numbers of runs: columns ``runs, power``."""
    counts = [int(n) for n in np.atleast_1d(np.asarray(runs))]
    return pd.DataFrame({"runs": counts, "power": [power(n, **question) for n in counts]})


def _inside(shift: float, sd: float, n: int, low: float, high: float, alpha: float) -> float:
    """Probability that the interval lies between the limits; over the distribution of the pooled deviation."""
    s, weight, half, se = _nodes(sd, n, alpha)
    room = special.ndtr((high - half * s - shift) / se) - special.ndtr((low + half * s - shift) / se)
    return float(weight @ np.maximum(room, 0.0))


def _outside(shift: float, sd: float, n: int, low: float, high: float, alpha: float) -> float:
    s, weight, half, se = _nodes(sd, n, alpha)
    below = special.ndtr((low - half * s - shift) / se)
    above = special.ndtr((shift - high - half * s) / se)
    return float(weight @ (below + above))


def _nodes(sd: float, n: int, alpha: float) -> tuple[Array, Array, float, float]:
    """Quantiles of the pooled deviation with equal weights, half a width for a deviation of 1, the standard error."""
    df = 2 * n - 2
    share = (np.arange(NODES) + 0.5) / NODES
    s = sd * np.sqrt(stats.chi2.ppf(share, df) / df)
    root = math.sqrt(2 / n)
    return s, np.full(NODES, 1 / NODES), float(special.stdtrit(df, 1 - alpha / 2)) * root, sd * root
