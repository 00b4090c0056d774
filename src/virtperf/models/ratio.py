"""Ratios and differences of two means: independent samples, pairs, and printed numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from rawperf.core.errors import ModelError
from virtperf.core.contrasts import (
    LinearRatio,
    LogRatio,
    Replicates,
    independent_log_ratio,
    linear_ratio,
    paired_log_ratio,
)
from virtperf.core.estimate import Estimate, mean_over_runs
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.result import exp, t_interval

METHODS = ("log-ratio", "fieller", "pooled")
UNEQUAL_CV_LEVEL = 0.05
"""Two-sided p-value below which coefficients of variation count as different."""
EQUAL_REPLICATES = 1e-9
"""Relative tolerance within which replicates count as equal."""
NO_LIMITS = "the denominator does not differ significantly from zero: the ratio has no limits"
NO_SPREAD = "the replicates are equal: an interval of zero width says nothing about further runs"


def replicates(sample: ArrayLike, name: str) -> Array:
    """Return a checked sample of at least two values."""
    values = checks.column(sample, name)
    if len(values) < 2:
        raise ModelError(
            f"{name} has one value", expected="at least two replicates", remedy="repeat the run"
        )
    return values


def ratio_of_means(
    a: ArrayLike, b: ArrayLike, *, method: str = "log-ratio", alpha: float = 0.05
) -> Estimate:
    """Estimate ``mean(a) / mean(b)`` from independent replicates.

    For paired or blocked runs use `ratio_of_pairs`.

    Parameters
    ----------
    a, b : array_like, shape (m,) and (n,)
    method : {"log-ratio", "fieller", "pooled"}
        ``exp(log ratio +- t se)`` with the delta-method se of the log ratio, or Fieller's set
        (`core.statistics.fieller`): both with separate variances and the degrees of freedom of `welch_df`,
        as for verdicts. "pooled" assumes a common
        coefficient of variation: the Gamma model with log link (`fit_log_link`).

    Raises
    ------
    ModelError
        Fewer than two replicates, a zero denominator, means that are not positive ("log-ratio"), or
        values that are not ("pooled").
    """
    checks.require_one_of(method, METHODS, "interval method")
    x, y = replicates(a, "numerator"), replicates(b, "denominator")
    if method == "pooled":
        return _pool(x, y, alpha)
    top, bottom = _mean(x), _mean(y)
    if bottom.value == 0:
        raise ModelError(
            "the denominator's mean is zero", remedy="compare differences instead of ratios"
        )
    if method == "fieller":
        contrast = _linear(x, y, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
        estimate = _contrast_estimate(contrast, "Fieller", alpha)
        return estimate if math.isfinite(estimate.low) else replace(estimate, warnings=(NO_LIMITS,))
    if top.value <= 0 or bottom.value <= 0:
        raise ModelError(
            "the log-ratio interval needs positive means",
            found=f"{top.value:g} and {bottom.value:g}",
            remedy="use Fieller's interval",
        )
    return _contrast_estimate(
        independent_log_ratio(x, y), "log-ratio", alpha, _zero_spread_note(x, y)
    )


def difference_of_means(a: ArrayLike, b: ArrayLike, *, alpha: float = 0.05) -> Estimate:
    """Estimate ``mean(a) - mean(b)`` from independent replicates: Student's t with separate
    variances and the degrees of freedom of `ratio_of_means`.
    """
    x, y = replicates(a, "first sample"), replicates(b, "second sample")
    first, second = _mean(x), _mean(y)
    df = _linear(x, y, [1.0, -1.0, 0.0], [0.0, 0.0, 1.0]).df
    estimate = t_interval(first.value - second.value, math.hypot(first.se, second.se), df, alpha)
    return replace(estimate, warnings=_zero_spread_note(x, y))


def _linear(x: Array, y: Array, over: list[float], under: list[float]) -> LinearRatio:
    samples = [Replicates(sample, ("",) * len(sample)) for sample in (x, y)]
    return linear_ratio(samples, np.array(over), np.array(under))


def _mean(sample: Array) -> Estimate:
    with np.errstate(over="ignore", invalid="ignore"):
        mean = mean_over_runs(list(sample), level=0.95)
    if not (math.isfinite(mean.value) and math.isfinite(mean.se)):
        raise ModelError(
            "the replicates are too large",
            expected="a finite mean and standard error",
            found=f"{mean.value}, {mean.se}",
            remedy="give them in another unit",
        )
    return mean


def _zero_spread_note(x: Array, y: Array) -> tuple[str, ...]:
    spread = max(float(np.ptp(x)) / abs(x.mean() or 1.0), float(np.ptp(y)) / abs(y.mean() or 1.0))
    return (NO_SPREAD,) if spread < EQUAL_REPLICATES else ()


def fit_log_link(x: Array, y: Array) -> Any:
    """Fit a Gamma GLM with log link to two samples; its second parameter is ``log(mean(x) /
    mean(y))``.

    The dispersion (Pearson) is the squared coefficient of variation, pooled over both samples.
    Values are scaled by the mean of `y`, because statsmodels treats deviations below 1e-10 as zero,
    in any unit.
    """
    design = np.column_stack((np.ones(len(x) + len(y)), np.repeat([1.0, 0.0], (len(x), len(y)))))
    start = [0.0, math.log(x.mean() / y.mean())]  # the closed-form solution
    from statsmodels.genmod.families import Gamma, links
    from statsmodels.genmod.generalized_linear_model import GLM

    family = Gamma(links.Log())
    return GLM(np.concatenate((x, y)) / y.mean(), design, family=family).fit(
        start_params=start, scale="X2", use_t=True
    )


def _pool(x: Array, y: Array, alpha: float) -> Estimate:
    for sample, name in ((x, "numerator"), (y, "denominator")):
        checks.column(sample, name, positive=True)
    value = float(x.mean() / y.mean())
    if notes := _zero_spread_note(x, y):
        return Estimate(value, value, value, checks.level(alpha), "log link", notes)
    results = fit_log_link(x, y)
    se, df = float(results.bse[1]), float(results.df_resid)
    estimate = t_interval(math.log(value), se, df, alpha, "log link").map(exp)
    return replace(estimate, value=value, warnings=_unequal_cv_note(x, y))


def _unequal_cv_note(x: Array, y: Array) -> tuple[str, ...]:
    """Warn if an F test rejects equal coefficients of variation."""
    first, second = (float(sample.var(ddof=1) / sample.mean() ** 2) for sample in (x, y))
    if min(first, second) <= 0:
        p = 0.0
    else:
        below = float(special.fdtr(len(x) - 1, len(y) - 1, first / second))
        p = 2 * min(below, 1 - below)
    if p >= UNEQUAL_CV_LEVEL:
        return ()
    shown = f"{100 * math.sqrt(first):.2g} and {100 * math.sqrt(second):.2g} %"
    return (f"the coefficients of variation differ ({shown}): use the log-ratio interval",)


def ratio_of_pairs(a: ArrayLike, b: ArrayLike, *, alpha: float = 0.05) -> Estimate:
    """Estimate the typical ratio of pairs ``a[i] / b[i]``: their geometric mean with a t interval
    on the log scale.

    ``exp(mean(d) +- t(1 - alpha/2, n - 1) sd(d) / sqrt(n))`` with ``d = log(a / b)``. Effects
    common to a pair, say a slow day, cancel in d. The interval is exact for normal d; the estimand
    is the ratio of geometric means, not that of arithmetic means.

    Raises
    ------
    ModelError
        Fewer than two pairs, unequal lengths, or values that are not positive.
    """
    x, y = replicates(a, "numerator"), replicates(b, "denominator")
    checks.same_length(("numerator", x), ("denominator", y))
    checks.column(x, "numerator", positive=True)
    checks.column(y, "denominator", positive=True)
    return _contrast_estimate(paired_log_ratio(x, y), "paired log-ratio", alpha)


def _contrast_estimate(
    contrast: LogRatio | LinearRatio, method: str, alpha: float, notes: tuple[str, ...] = ()
) -> Estimate:
    level = checks.level(alpha)
    low, high = contrast.interval(level)
    return Estimate(contrast.value, low, high, level, method, notes, df=contrast.df, n=contrast.n)


def ratio_of_printed(top: tuple[float, float], bottom: tuple[float, float]) -> Estimate:
    """Return the ratio of two printed numbers with the bounds implied by their rounding.

    These do not reflect the spread of the measured values, which a single printed number does not
    show.

    Parameters
    ----------
    top, bottom : tuple of float
        A number, not negative, and half the step of its last printed digit.

    Raises
    ------
    ModelError
        A number is not finite or negative, a half step is negative, or the denominator may be zero.
    """
    for name, (value, half) in (("numerator", top), ("denominator", bottom)):
        if not (math.isfinite(value) and math.isfinite(half) and value >= 0 and half >= 0):
            raise ModelError(
                f"the {name} or its half step is out of range",
                expected="finite numbers of at least 0",
                found=f"{value!r} +- {half!r}",
            )
    if bottom[0] <= bottom[1]:
        raise ModelError(
            "the denominator may be zero within its rounding",
            found=f"{bottom[0]:g} +- {bottom[1]:g}",
        )
    low = max(top[0] - top[1], 0.0) / (bottom[0] + bottom[1])
    high = (top[0] + top[1]) / (bottom[0] - bottom[1])
    return Estimate(top[0] / bottom[0], low, high, 1.0, "rounding")
