"""Confidence limits of the noncentrality of an F test, and the effect sizes that follow from it."""

from __future__ import annotations

import math

from scipy import optimize, special

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.result import Estimate, FTest

KINDS = ("omega", "eta")
# Above this F the noncentral distribution is replaced by its limit; see `_limit`.
LARGE = 1e7


def noncentrality(statistic: float, df_num: float, df_denom: float, alpha: float = 0.05) -> tuple[float, float]:
    """Return the limits of the noncentrality of an F statistic (Steiger 2004).

    The limits solve ``P(F' <= statistic | limit) = 1 - alpha/2`` and ``= alpha/2``; one that would be negative is 0.

    Notes
    -----
    Not `statsmodels.stats.oneway.confint_noncentrality`: the inverse that it calls stops at 10,000 without a word.
    """
    checks.level(alpha)
    if not (statistic >= 0 and df_num > 0 and df_denom > 0):
        raise ModelError("an F statistic is not negative", found=f"F = {statistic!r} on {df_num!r}, {df_denom!r}")
    if math.isinf(statistic):
        return math.inf, math.inf
    return _limit(statistic, df_num, df_denom, 1 - alpha / 2), _limit(statistic, df_num, df_denom, alpha / 2)


def _limit(statistic: float, df_num: float, df_denom: float, probability: float) -> float:
    def excess(value: float) -> float:
        return float(special.ncfdtr(df_num, df_denom, value, statistic)) - probability

    if excess(0.0) <= 0:
        return 0.0
    if statistic > LARGE:
        # The numerator hardly varies any more: F' = (value / df_num) / (chi2 / df_denom).
        return df_num * statistic * float(special.chdtri(df_denom, probability)) / df_denom
    high = df_num * statistic + 1.0
    while excess(high) > 0:
        high *= 2
    return float(optimize.brentq(excess, 0.0, high, xtol=1e-12, rtol=1e-14))


def effect_size(test: FTest, rows: int, *, kind: str = "omega", alpha: float = 0.05) -> Estimate:
    """Estimate the share of variance that an effect explains, beside the residual variance alone.

    In the population it is ``effect / (effect + residual)``, with the mean square of the effect's values over the rows
    and the residual variance. Partial omega squared, ``d (F - 1) / (d (F - 1) + n)``, estimates it nearly without bias
    (cut at 0); partial eta squared, ``d F / (d F + residual df)``, is what the sample shows, and is too large.

    Parameters
    ----------
    test : FTest
        With d numerator degrees of freedom.
    rows : int
        Number of rows n.
    kind : {"omega", "eta"}
    alpha : float

    Returns
    -------
    Estimate
        Limits ``L / (L + n)`` of the noncentrality L (`noncentrality`), the same for both kinds.
    """
    checks.one_of(kind, KINDS, "effect size")
    f, d = test.statistic, test.df_num
    notes: list[str] = []
    if math.isinf(f):
        value = 1.0
    elif kind == "eta":
        value = d * f / (d * f + test.df_denom)
    else:
        value = max(d * (f - 1) / (d * (f - 1) + rows), 0.0)
        if f < 1:
            notes.append("F is below 1: the estimate is cut at 0")
    low, high = (1.0 if math.isinf(at) else at / (at + rows) for at in noncentrality(f, d, test.df_denom, alpha))
    if high == 0:
        notes.append("F is smaller than it would be by chance: no effect size of the interval's level goes with it")
    elif not low <= value <= high:
        notes.append("the sample's share lies outside of the interval of the population's: it is biased upwards")
    return Estimate(value, low, high, 1 - alpha, "noncentral F", tuple(notes))
