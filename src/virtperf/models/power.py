"""Power analysis and sample size: detecting an effect, showing equivalence, deciding a claim.

statsmodels.stats.power supports t tests with pooled variances only; intervals of ratios and
verdicts have Welch-Satterthwaite degrees of freedom.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import optimize, special

from rawperf.core.errors import ModelError, ParameterError
from virtperf.core.statistics import t_quantile
from virtperf.models import checks
from virtperf.models.checks import Array

QUESTIONS = ("difference", "equivalence", "claim")
MAX_RUNS = 1000
MAX_RATIO = 100.0
DEVIATION_NODES, SHARE_NODES = 200, 40
"""Quadrature nodes for the pooled variance, and for the share of one condition in it."""


def relative_spread(*samples: ArrayLike) -> tuple[float, int]:
    """Return the coefficient of variation of pilot runs, pooled over conditions, and its degrees of
    freedom.

    Each sample has the positive replicates of one condition; a single run contributes nothing.
    """
    total, df = 0.0, 0
    for sample in samples:
        values = checks.column(sample, "pilot runs", positive=True)
        total += float(np.sum((values / values.mean() - 1) ** 2))
        df += len(values) - 1
    if df == 0:
        raise ModelError(
            "there are no replicated pilot runs", expected="at least two of one condition"
        )
    return math.sqrt(total / df), df


def power(
    runs: int,
    *,
    cv: float,
    question: str = "difference",
    effect: float = 0.05,
    margin: float | None = None,
    low: float = 0.0,
    high: float = math.inf,
    alpha: float = 0.05,
) -> float:
    """Power of `runs` runs per condition to answer a question about the ratio of two conditions.

    The noise is proportional with a common coefficient of variation; the ratio is judged on the log
    scale with the degrees of freedom of `ratio_of_means` and verdicts, which do not pool variances
    (Welch and Satterthwaite).

    Parameters
    ----------
    runs : int
        Per condition, at least 2.
    cv : float
        Coefficient of variation between runs.
    question : {"difference", "equivalence", "claim"}
        Does the interval of the ratio exclude 1? Is it (at the level ``1 - 2 alpha``) within the
        margin? Is it inside the range of a claim, or entirely outside?
    effect : float
        True relative change: 0.05 is a ratio of 1.05, -0.05 one of 0.95. Often 0 for an
        equivalence.
    margin : float, optional
        Equivalence margin: 0.03 means ratios from 1/1.03 to 1.03.
    low, high : float
        Range of ratios allowed by the claim.

    Raises
    ------
    ModelError
        Names the argument: fewer than 2 runs, a number that is NaN, infinite (except `high`) or out
        of range, an effect of 0 for a difference.
    """
    n = int(runs)
    if n < 2:
        raise ModelError(
            "power needs replicates", expected="at least 2 runs of each condition", found=str(runs)
        )
    if not (cv > 0 and math.isfinite(cv)):
        raise ModelError(
            "the coefficient of variation (cv) is not positive and finite", found=repr(cv)
        )
    variance = math.log1p(cv * cv)
    if not (variance > 0 and math.isfinite(variance)):
        raise ModelError(
            "the coefficient of variation (cv) is out of range",
            expected="1e-150 to 1e150",
            found=repr(cv),
        )
    checks.require_one_of(question, QUESTIONS, "question")
    checks.level(alpha)
    if not (effect > -1 and math.isfinite(effect)):
        raise ModelError(
            "the effect is out of range",
            expected="a finite number above -1",
            found=repr(effect),
        )
    shift, sd = math.log1p(effect), math.sqrt(variance)
    if question == "difference":
        if effect == 0:
            raise ModelError(
                "an effect of 0 can't be detected",
                expected="an effect other than 0",
                remedy="test for equivalence, with a margin",
            )
        return _probability_outside(shift, _nodes(sd, n, alpha), 0.0, 0.0)
    if question == "equivalence":
        if margin is None or not (margin > 0 and math.isfinite(margin)):
            raise ModelError(
                "an equivalence test needs a margin",
                expected="a positive share, such as 0.03",
                found=None if margin is None else repr(margin),
            )
        nodes = _nodes(sd, n, 2 * alpha)
        return _probability_inside(shift, nodes, -math.log1p(margin), math.log1p(margin))
    if not (0 <= low < high and math.isfinite(low)):
        raise ModelError(
            "the claim allows no ratio", expected="0 <= low < high", found=f"{low:g} to {high:g}"
        )
    ends = (
        math.log(low) if low > 0 else -math.inf,
        math.log(high) if math.isfinite(high) else math.inf,
    )
    nodes = _nodes(sd, n, alpha)
    return _probability_inside(shift, nodes, *ends) + _probability_outside(shift, nodes, *ends)


def runs_needed(*, target: float = 0.8, **question: Any) -> int | None:
    """Smallest number of runs per condition with a `power` of at least `target`; None if 1000 are
    not enough.
    """
    if not 0 < target < 1:
        raise ParameterError(
            "the power is out of range", expected="a number between 0 and 1", found=repr(target)
        )
    if power(MAX_RUNS, **question) < target:
        return None
    few, many = 1, 2
    while power(many, **question) < target:
        few, many = many, min(2 * many, MAX_RUNS)
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if power(middle, **question) >= target else (middle, many)
    return many


def detectable_effect(
    runs: int, *, cv: float, target: float = 0.8, alpha: float = 0.05
) -> float | None:
    """Smallest relative increase that `runs` runs per condition detect as a difference with a
    `power` of `target`: 0.05 is a ratio of 1.05, and a decrease to 1 / 1.05 is detected as often.

    None if a ratio of `MAX_RATIO` is not detected. Raises `ModelError` as `power` does.
    """

    def missing(shift: float) -> float:
        return power(runs, cv=cv, effect=math.expm1(shift), alpha=alpha) - target

    least, most = 1e-9, math.log(MAX_RATIO)
    if missing(most) < 0:
        return None
    return math.expm1(optimize.brentq(missing, least, most)) if missing(least) < 0 else 0.0


def power_table(runs: ArrayLike, **question: Any) -> pd.DataFrame:
    """Tabulate `power` over numbers of runs: columns ``runs, power``."""
    counts = [int(n) for n in np.atleast_1d(np.asarray(runs))]
    return pd.DataFrame({"runs": counts, "power": [power(n, **question) for n in counts]})


_Nodes = tuple[Array, Array, float]
"""Half widths of the interval at quadrature nodes of the pooled deviation, their weights, the true
standard error."""


def _probability_inside(shift: float, nodes: _Nodes, low: float, high: float) -> float:
    """Probability that the interval is within the limits, integrated over the pooled deviation."""
    half, weight, se = nodes
    room = special.ndtr((high - half - shift) / se) - special.ndtr((low + half - shift) / se)
    return float(weight @ np.maximum(room, 0.0))


def _probability_outside(shift: float, nodes: _Nodes, low: float, high: float) -> float:
    half, weight, se = nodes
    return float(
        weight
        @ (special.ndtr((low - half - shift) / se) + special.ndtr((shift - high - half) / se))
    )


def _nodes(sd: float, n: int, alpha: float) -> _Nodes:
    """Equiprobable nodes of the half width: over the pooled deviation with 2 n - 2 degrees of
    freedom, and over the share of one condition in it, which determines the degrees of freedom of
    the quantile.
    """
    share = special.betaincinv((n - 1) / 2, (n - 1) / 2, _midpoints(SHARE_NODES))
    df = (n - 1) / (share**2 + (1 - share) ** 2)
    # quantiles of chi-squared with 2 n - 2 degrees of freedom, over these
    s = sd * np.sqrt(special.gammaincinv(n - 1, _midpoints(DEVIATION_NODES)) / (n - 1))
    root = math.sqrt(2 / n)
    quantile = t_quantile(df, 1 - alpha)
    if not np.isfinite(quantile).all():
        raise ModelError(
            "the interval is infinite",
            expected="an alpha whose quantiles are finite, such as 0.05",
            found=repr(alpha),
        )
    half = np.outer(quantile, root * s).ravel()
    return half, np.full(len(half), 1 / len(half)), sd * root


def _midpoints(count: int) -> Array:
    return (np.arange(count) + 0.5) / count
