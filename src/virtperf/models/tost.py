"""Equivalence by two one-sided tests (TOST) against a margin that is declared beforehand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW, ttost_ind, ttost_paired

from rawperf.core.errors import ModelError
from virtperf.core.provenance import Origin
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.ratio import METHODS, fieller, ratio_of_means, replicates, sides
from virtperf.models.result import Estimate, t_quantile

NO_SPREAD = "the replicates do not differ"
RULE = (
    "equivalent if both one-sided tests reject at alpha (the 1 - 2 alpha interval lies inside the margins); "
    "not equivalent if the interval lies outside the margins; undecided otherwise"
)


@dataclass(frozen=True)
class Equivalence:
    """Outcome of an equivalence test.

    Parameters
    ----------
    estimate : Estimate
        Difference or ratio with the interval of level 1 - 2 alpha that belongs to the test.
    margin : tuple of float
        Lower and upper margin, in the unit of the estimate.
    pvalue : float
        The larger of the two one-sided p-values.
    verdict : {"equivalent", "not equivalent", "undecided"}
    rule : str
        How the verdict follows.
    """

    estimate: Estimate
    margin: tuple[float, float]
    pvalue: float
    alpha: float
    verdict: str
    rule: str = RULE
    origin: Origin | None = None

    available: ClassVar[bool] = True


def tost_difference(
    a: ArrayLike,
    b: ArrayLike,
    margin: float | tuple[float, float],
    *,
    paired: bool = False,
    equal_var: bool = False,
    alpha: float = 0.05,
) -> Equivalence:
    """Test whether ``mean(a) - mean(b)`` lies within a margin (Schuirmann 1987), by statsmodels.

    Parameters
    ----------
    a, b : array_like
        Replicates; of equal length and order if `paired`.
    margin : float or (low, high)
        A number m stands for (-m, m).
    paired, equal_var : bool
        Paired t tests; pooled variance instead of Welch's.
    alpha : float
        Size of each one-sided test.

    Raises
    ------
    ModelError
        For fewer than two replicates, no spread at all, or margins that do not enclose zero.
    """
    low, high = margin if isinstance(margin, tuple) else (-margin, margin)
    if not low < 0 < high:
        raise ModelError(
            "the margins do not enclose zero", expected="low < 0 < high", found=f"{low!r}, {high!r}"
        )
    x, y = _samples(a, b, paired, alpha)
    p, estimate = _tost(x, y, low, high, paired, equal_var, alpha)
    return _decide(estimate, (low, high), p, alpha)


def tost_ratio(
    a: ArrayLike,
    b: ArrayLike,
    margin: float | tuple[float, float],
    *,
    method: str | None = None,
    paired: bool = False,
    alpha: float = 0.05,
) -> Equivalence:
    """Test whether the ratio of two means lies within a margin; see `tost_difference`.

    Parameters
    ----------
    margin : float or (low, high)
        A number m above 1 stands for (1/m, m).
    method : {"log link", "fieller", "log"}
        As in `ratio_of_means`; "log" takes the ratio of geometric means, tested on the logarithms.

    Raises
    ------
    ModelError
        For fewer than two replicates, no spread at all, margins that do not enclose 1, values that
        are not positive.
    """
    low, high = margin if isinstance(margin, tuple) else (1 / margin if margin else 0.0, margin)
    if not 0 < low < 1 < high:
        raise ModelError(
            "the margins do not enclose 1",
            expected="0 < low < 1 < high",
            found=f"{low!r}, {high!r}",
        )
    method = checks.one_of(
        method or ("fieller" if paired else "log link"), METHODS, "interval method"
    )
    x, y = _samples(a, b, paired, alpha)
    if method == "fieller":
        p, estimate = _fieller_tost(x, y, low, high, paired, alpha)
        return _decide(estimate, (low, high), p, alpha)
    checks.column(x, "numerator", positive=True)
    checks.column(y, "denominator", positive=True)
    if method == "log":
        p, estimate = _tost(
            np.log(x), np.log(y), math.log(low), math.log(high), paired, False, alpha
        )
        return _decide(estimate.map(math.exp), (low, high), p, alpha)
    estimate = ratio_of_means(x, y, method=method, alpha=2 * alpha)
    if estimate.low == estimate.high:
        raise ModelError(NO_SPREAD, remedy="a test needs replicates that differ")
    df = float(len(x) + len(y) - 2)
    se = math.log(estimate.high / estimate.value) / t_quantile(df, 2 * alpha)
    gaps = (math.log(estimate.value / low) / se, math.log(high / estimate.value) / se)
    return _decide(
        estimate, (low, high), max(float(special.stdtr(df, -gap)) for gap in gaps), alpha
    )


def _samples(a: ArrayLike, b: ArrayLike, paired: bool, alpha: float) -> tuple[Array, Array]:
    x, y = replicates(a, "first sample"), replicates(b, "second sample")
    if paired:
        checks.same_length(("first sample", x), ("second sample", y))
    if not 0 < alpha < 0.5:
        raise ModelError(
            "alpha is out of range", expected="a number between 0 and 0.5", found=repr(alpha)
        )
    return x, y


def _tost(
    x: Array, y: Array, low: float, high: float, paired: bool, equal_var: bool, alpha: float
) -> tuple[float, Estimate]:
    if (np.ptp(x - y) if paired else max(np.ptp(x), np.ptp(y))) == 0:
        raise ModelError(NO_SPREAD, remedy="a test needs replicates that differ")
    if paired:
        p = ttost_paired(x, y, low, high)[0]
        ends = DescrStatsW(x - y).tconfint_mean(alpha=2 * alpha)
    else:
        variance = "pooled" if equal_var else "unequal"
        p = ttost_ind(x, y, low, high, usevar=variance)[0]
        ends = CompareMeans(DescrStatsW(x), DescrStatsW(y)).tconfint_diff(
            alpha=2 * alpha, usevar=variance
        )
    value = float(x.mean() - y.mean())
    return float(p), Estimate(value, float(ends[0]), float(ends[1]), 1 - 2 * alpha, "t")


def _fieller_tost(
    x: Array, y: Array, low: float, high: float, paired: bool, alpha: float
) -> tuple[float, Estimate]:
    top, bottom, covariance, df = sides(x, y, paired)
    if bottom.value <= 0:
        raise ModelError("the denominator's mean is not positive", found=f"{bottom.value:g}")
    if top.se == 0 and bottom.se == 0:
        raise ModelError(NO_SPREAD, remedy="a test needs replicates that differ")

    def statistic(r: float) -> float:
        variance = top.se**2 + (r * bottom.se) ** 2 - 2 * r * covariance
        gap = top.value - r * bottom.value
        # Pairs that are exactly proportional at r leave no variance: the sign of the gap then
        # decides.
        return gap / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, gap)

    p = max(float(special.stdtr(df, -statistic(low))), float(special.stdtr(df, statistic(high))))
    return p, fieller(top.value, bottom.value, top.se**2, bottom.se**2, covariance, df, 2 * alpha)


def _decide(
    estimate: Estimate, margin: tuple[float, float], pvalue: float, alpha: float
) -> Equivalence:
    low, high = margin
    if pvalue < alpha:
        verdict = "equivalent"
    elif estimate.low > high or estimate.high < low:
        verdict = "not equivalent"
    else:
        verdict = "undecided"
    return Equivalence(estimate, margin, pvalue, alpha, verdict)
