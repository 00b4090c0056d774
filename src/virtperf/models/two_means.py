"""Ratios and differences of two means: independent samples, pairs, and printed numbers.

The intervals of samples are those of `core.contrasts`, as for verdicts.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from rawperf.core.errors import ModelError
from virtperf.core.contrasts import (
    LinearRatio,
    LogRatio,
    Replicates,
    independent_log_ratio,
    linear_ratio,
    paired_log_ratio,
)
from virtperf.core.estimate import Estimate, student
from virtperf.models import checks
from virtperf.models.checks import Array

METHODS = ("log-ratio", "fieller")
EQUAL_REPLICATES = 1e-9
"""Relative tolerance within which replicates count as equal."""
NO_LIMITS = "the denominator does not differ significantly from zero: the ratio has no limits"
NO_SPREAD = "the replicates are equal: an interval of zero width says nothing about further runs"


def replicates(sample: ArrayLike, name: str, *, positive: bool = False) -> Array:
    """Return a checked sample of at least two values, with a mean and a spread within the range of
    floats.
    """
    values = checks.column(sample, name, positive=positive)
    if len(values) < 2:
        raise ModelError(
            f"{name} has one value", expected="at least two replicates", remedy="repeat the run"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        mean, spread = float(values.mean()), float(values.std(ddof=1))
    if not (math.isfinite(mean) and math.isfinite(spread)):
        raise ModelError(
            "the replicates are too large",
            expected="a finite mean and standard error",
            found=f"{mean}, {spread}",
            remedy="give them in another unit",
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
    method : {"log-ratio", "fieller"}
        ``exp(log ratio +- t se)`` with the delta-method se of the log ratio, or Fieller's set
        (`core.statistics.fieller`): both with separate variances and the degrees of freedom of
        `welch_df`, as for verdicts.

    Raises
    ------
    ModelError
        Fewer than two replicates, a zero denominator, or means that are not positive ("log-ratio").
    """
    checks.require_one_of(method, METHODS, "interval method")
    x, y = replicates(a, "numerator"), replicates(b, "denominator")
    top, bottom = float(x.mean()), float(y.mean())
    if bottom == 0:
        raise ModelError(
            "the denominator's mean is zero", remedy="compare differences instead of ratios"
        )
    if method == "fieller":
        estimate = _estimate(_linear(x, y, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]), "Fieller", alpha)
        return estimate if math.isfinite(estimate.low) else replace(estimate, warnings=(NO_LIMITS,))
    if top <= 0 or bottom <= 0:
        raise ModelError(
            "the log-ratio interval needs positive means",
            found=f"{top:g} and {bottom:g}",
            remedy="use Fieller's interval",
        )
    return _estimate(independent_log_ratio(x, y), "log-ratio", alpha, _zero_spread_note(x, y))


def difference_of_means(a: ArrayLike, b: ArrayLike, *, alpha: float = 0.05) -> Estimate:
    """Estimate ``mean(a) - mean(b)`` from independent replicates: Student's t with separate
    variances and the degrees of freedom of `ratio_of_means`.
    """
    x, y = replicates(a, "first sample"), replicates(b, "second sample")
    contrast = _linear(x, y, [1.0, -1.0, 0.0], [0.0, 0.0, 1.0])
    estimate = student(contrast.value, contrast.se, contrast.df, level=checks.level(alpha))
    return replace(estimate, warnings=_zero_spread_note(x, y))


def _linear(x: Array, y: Array, over: list[float], under: list[float]) -> LinearRatio:
    samples = [Replicates(sample, ("",) * len(sample)) for sample in (x, y)]
    return linear_ratio(samples, np.array(over), np.array(under))


def _zero_spread_note(x: Array, y: Array) -> tuple[str, ...]:
    spread = max(float(np.ptp(x)) / abs(x.mean() or 1.0), float(np.ptp(y)) / abs(y.mean() or 1.0))
    return (NO_SPREAD,) if spread < EQUAL_REPLICATES else ()


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
    x = replicates(a, "numerator", positive=True)
    y = replicates(b, "denominator", positive=True)
    checks.same_length(("numerator", x), ("denominator", y))
    return _estimate(paired_log_ratio(x, y), "paired log-ratio", alpha)


def _estimate(
    contrast: LogRatio | LinearRatio, method: str, alpha: float, notes: tuple[str, ...] = ()
) -> Estimate:
    return replace(contrast.estimate(checks.level(alpha)), method=method, warnings=notes)


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
