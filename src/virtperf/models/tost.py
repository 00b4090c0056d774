"""Equivalence by two one-sided tests (TOST) against a margin that is declared beforehand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW, ttost_ind, ttost_paired

from virtperf.core.errors import ModelError
from virtperf.core.provenance import Origin
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.ratio import METHODS, Mean, fieller, ratio_of_means, replicates, sides
from virtperf.models.result import Estimate, t_quantile

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
    alpha : float
    verdict : {"equivalent", "not equivalent", "undecided"}
    rule : str
        How the verdict follows.
    origin : Origin or None
    """

    estimate: Estimate
    margin: tuple[float, float]
    pvalue: float
    alpha: float
    verdict: str
    rule: str = RULE
    origin: Origin | None = None

    @property
    def available(self) -> bool:
        """True; `Missing` says False."""
        return True


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
        raise ModelError("the margins do not enclose zero", expected="low < 0 < high", found=f"{low!r}, {high!r}")
    x, y = _samples(a, b, paired)
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
    """Test whether the ratio of two means lies within a margin.

    Parameters
    ----------
    a, b : array_like
        Replicates; of equal length and order if `paired`.
    margin : float or (low, high)
        A number m above 1 stands for (1/m, m).
    method : {"log link", "fieller", "log"}
        As in `ratio_of_means`; "log" takes the ratio of geometric means, tested on the logarithms.
    paired : bool
        As in `tost_difference`.
    alpha : float
        Size of each one-sided test.

    Raises
    ------
    ModelError
        For fewer than two replicates, no spread at all, margins that do not enclose 1, values that are not positive.
    """
    low, high = ratio_margin(margin)
    method = checks.one_of(method or ("fieller" if paired else "log link"), METHODS, "interval method")
    x, y = _samples(a, b, paired)
    if method != "fieller":
        checks.column(x, "numerator", positive=True)
        checks.column(y, "denominator", positive=True)
    if method == "log":
        p, estimate = _tost(np.log(x), np.log(y), math.log(low), math.log(high), paired, False, alpha)
        return _decide(estimate.map(math.exp), (low, high), p, alpha)
    if method == "log link":
        estimate = ratio_of_means(x, y, method=method, alpha=2 * _alpha(alpha))
        if estimate.low == estimate.high:
            raise ModelError("the replicates do not differ", remedy="a test needs replicates that differ")
        se, df = math.log(estimate.high / estimate.value), float(len(x) + len(y) - 2)
        se /= t_quantile(df, 2 * alpha)
        gaps = (math.log(estimate.value / low) / se, math.log(high / estimate.value) / se)
        return _decide(estimate, (low, high), max(float(special.stdtr(df, -gap)) for gap in gaps), alpha)
    return _ratio_tost(*sides(x, y, paired), (low, high), alpha)


def ratio_margin(margin: float | tuple[float, float]) -> tuple[float, float]:
    """Return (low, high) of a ratio's margin."""
    low, high = margin if isinstance(margin, tuple) else (1 / margin if margin else 0.0, margin)
    if not 0 < low < 1 < high:
        raise ModelError("the margins do not enclose 1", expected="0 < low < 1 < high", found=f"{low!r}, {high!r}")
    return low, high


def _alpha(alpha: float) -> float:
    if not 0 < alpha < 0.5:
        raise ModelError("alpha is out of range", expected="a number between 0 and 0.5", found=repr(alpha))
    return alpha


def _samples(a: ArrayLike, b: ArrayLike, paired: bool) -> tuple[Array, Array]:
    x, y = replicates(a, "first sample"), replicates(b, "second sample")
    if paired:
        checks.same_length(("first sample", x), ("second sample", y))
    return x, y


def _tost(
    x: Array, y: Array, low: float, high: float, paired: bool, equal_var: bool, alpha: float
) -> tuple[float, Estimate]:
    spread = np.ptp(x - y) if paired else max(np.ptp(x), np.ptp(y))
    if spread == 0:
        raise ModelError("the replicates do not differ", remedy="a test needs replicates that differ")
    variance = "pooled" if equal_var else "unequal"
    if paired:
        p = ttost_paired(x, y, low, high)[0]
        ends = DescrStatsW(x - y).tconfint_mean(alpha=2 * _alpha(alpha))
    else:
        p = ttost_ind(x, y, low, high, usevar=variance)[0]
        ends = CompareMeans(DescrStatsW(x), DescrStatsW(y)).tconfint_diff(alpha=2 * _alpha(alpha), usevar=variance)
    value = float(x.mean() - y.mean())
    return float(p), Estimate(value, float(ends[0]), float(ends[1]), 1 - 2 * alpha, "t")


def _ratio_tost(
    top: Mean, bottom: Mean, covariance: float, df: float, margin: tuple[float, float], alpha: float
) -> Equivalence:
    if bottom.value <= 0:
        raise ModelError("the denominator's mean is not positive", found=f"{bottom.value:g}")
    if top.se == 0 and bottom.se == 0:
        raise ModelError("the replicates do not differ", remedy="a test needs replicates that differ")
    one_sided: Callable[[float, float], float] = lambda r, sign: float(  # noqa: E731
        special.stdtr(df, -sign * _statistic(top, bottom, covariance, r))
    )
    p = max(one_sided(margin[0], 1.0), one_sided(margin[1], -1.0))
    estimate = fieller(top.value, bottom.value, top.se**2, bottom.se**2, covariance, df, 2 * _alpha(alpha))
    return _decide(estimate, margin, p, alpha)


def _statistic(top: Mean, bottom: Mean, covariance: float, r: float) -> float:
    variance = top.se**2 + (r * bottom.se) ** 2 - 2 * r * covariance
    gap = top.value - r * bottom.value
    # Pairs that are exactly proportional at r leave no variance: the sign of the gap then decides.
    return gap / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, gap)


def _decide(estimate: Estimate, margin: tuple[float, float], pvalue: float, alpha: float) -> Equivalence:
    low, high = margin
    if pvalue < alpha:
        verdict = "equivalent"
    elif estimate.low > high or estimate.high < low:
        verdict = "not equivalent"
    else:
        verdict = "undecided"
    return Equivalence(estimate, margin, pvalue, alpha, verdict)
