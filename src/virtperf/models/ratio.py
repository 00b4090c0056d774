"""Ratio of two means: a gamma model with log link (statsmodels), Fieller's interval, intervals on
the log scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from statsmodels.genmod.families import Gamma
from statsmodels.genmod.families.links import Log
from statsmodels.genmod.generalized_linear_model import GLM

from rawperf.core.errors import ModelError
from virtperf.core.mean import satterthwaite
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.result import Estimate, t_interval, t_quantile

METHODS = ("log link", "fieller", "log")
SAME = 1e-9
"""Relative differences below which replicates are taken as equal."""
UNEQUAL = 0.05
"""P-value of the F test of two relative variances below which a warning says that they differ."""


@dataclass(frozen=True)
class Mean:
    """A mean of replicates, its standard error, and the degrees of freedom of that."""

    value: float
    se: float
    df: int

    @classmethod
    def of(cls, sample: Array) -> Mean:
        """Return the mean of independent replicates; raises `ModelError` where it or its error is
        not finite.
        """
        value, se = float(sample.mean()), float(sample.std(ddof=1) / math.sqrt(len(sample)))
        if not (math.isfinite(value) and math.isfinite(se)):
            raise ModelError(
                "the replicates are too large",
                expected="a finite mean and standard error",
                found=f"{value}, {se}",
                remedy="give them in another unit",
            )
        return cls(value, se, len(sample) - 1)


def replicates(sample: ArrayLike, name: str) -> Array:
    """Return a checked sample of at least two values."""
    values = checks.column(sample, name)
    if len(values) < 2:
        raise ModelError(
            f"{name} has one value", expected="at least two replicates", remedy="repeat the run"
        )
    return values


def ratio_of_means(
    a: ArrayLike,
    b: ArrayLike,
    *,
    method: str | None = None,
    paired: bool = False,
    alpha: float = 0.05,
) -> Estimate:
    """Estimate ``mean(a) / mean(b)`` from replicates.

    Parameters
    ----------
    a, b : array_like, shape (m,) and (n,)
    method : {"log link", "fieller", "log"}
        A gamma model with log link (`fit_log_link`): noise in proportion to the mean, the same
        share for both, as for the other models; Fieller's set (see `fieller`); or ``exp(log ratio
        +- t se)`` with the delta-method se of the log ratio. The last two give each sample its own
        variance, with Welch's degrees of freedom. Default: "log link" for independent samples, else
        "fieller".
    paired : bool
        Rows belong together, in order: their covariance counts, with n - 1 degrees of freedom.

    Raises
    ------
    ModelError
        For fewer than two replicates, unequal lengths of pairs, a zero denominator, or values that
        are not positive with "log link" (means, with "log").
    """
    method = checks.one_of(
        method or ("fieller" if paired else "log link"), METHODS, "interval method"
    )
    x, y = replicates(a, "numerator"), replicates(b, "denominator")
    if method == "log link":
        if paired:
            raise checks.ArgumentError(
                "a log link is for independent samples of proportional noise"
            )
        return _log_link(x, y, alpha)
    top, bottom, covariance, df = sides(x, y, paired)
    if method == "fieller":
        return fieller(top.value, bottom.value, top.se**2, bottom.se**2, covariance, df, alpha)
    if top.value <= 0 or bottom.value <= 0:
        raise ModelError(
            "the log-ratio interval needs positive means",
            found=f"{top.value:g} and {bottom.value:g}",
            remedy="take Fieller's interval",
        )
    value, u, v = top.value / bottom.value, top.se / top.value, bottom.se / bottom.value
    variance = u * u + v * v - 2 * covariance / (top.value * bottom.value)
    found = t_interval(math.log(value), math.sqrt(max(variance, 0.0)), df, alpha, "log-ratio").map(
        _exp
    )
    return replace(found, value=value)


def sides(x: Array, y: Array, paired: bool) -> tuple[Mean, Mean, float, float]:
    """Both means, the covariance of the two (of pairs), and the degrees of freedom of their ratio.

    Those of independent samples are Satterthwaite's of ``top - r bottom`` at the estimated ratio r,
    where the delta method on the log scale has the same.
    """
    top, bottom = Mean.of(x), Mean.of(y)
    if paired:
        checks.same_length(("numerator", x), ("denominator", y))
        return top, bottom, float(np.cov(x, y)[0, 1]) / len(x), float(len(x) - 1)
    if bottom.value == 0:
        raise ModelError(
            "the denominator's mean is zero", remedy="compare differences instead of ratios"
        )
    r = top.value / bottom.value
    return top, bottom, 0.0, satterthwaite((top.se**2, (r * bottom.se) ** 2), (top.df, bottom.df))


def fit_log_link(x: Array, y: Array) -> Any:
    """Fit statsmodels' gamma model with log link to two samples: its second parameter is
    ``log(mean(x) / mean(y))``.

    The dispersion (Pearson) is the squared coefficient of variation, pooled over both samples.
    Values enter as shares of the mean of `y`, because statsmodels takes deviations below 1e-10, in
    any unit, for none.
    """
    design = np.column_stack((np.ones(len(x) + len(y)), np.repeat([1.0, 0.0], (len(x), len(y)))))
    start = [0.0, math.log(x.mean() / y.mean())]  # the estimate itself
    return GLM(np.concatenate((x, y)) / y.mean(), design, family=Gamma(Log())).fit(
        start_params=start, scale="X2", use_t=True
    )


def _log_link(x: Array, y: Array, alpha: float) -> Estimate:
    for sample, name in ((x, "numerator"), (y, "denominator")):
        checks.column(sample, name, positive=True)
    value = float(x.mean() / y.mean())
    if max(np.ptp(x) / x.mean(), np.ptp(y) / y.mean()) < SAME:
        note = "the replicates do not differ: an interval without width says nothing about runs that were not made"
        return Estimate(value, value, value, checks.level(alpha), "log link", (note,))
    results = fit_log_link(x, y)
    found = t_interval(
        math.log(value), float(results.bse[1]), results.df_resid, alpha, "log link"
    ).map(_exp)
    spreads = [float(sample.var(ddof=1) / sample.mean() ** 2) for sample in (x, y)]
    p = 0.0
    if min(spreads) > 0:
        below = float(special.fdtr(len(x) - 1, len(y) - 1, spreads[0] / spreads[1]))
        p = 2 * min(below, 1 - below)
    differ = "the relative spreads of the samples differ ({:.2g} and {:.2g} %): Fieller's interval gives each its own"
    notes = (differ.format(*(100 * math.sqrt(v) for v in spreads)),) if p < UNEQUAL else ()
    return replace(found, value=value, warnings=notes)


def ratio_of_pairs(a: ArrayLike, b: ArrayLike, *, alpha: float = 0.05) -> Estimate:
    """Estimate the typical ratio of pairs ``a[i] / b[i]``: their geometric mean with a t interval
    on the log scale.

    ``exp(mean(d) +- t(1 - alpha/2, n - 1) sd(d) / sqrt(n))`` with ``d = log(a / b)``. What two runs
    of a pair share, say a slow day, drops out of d whatever its size. The interval is exact where d
    is normal; the ratio of geometric means is what it estimates, not that of arithmetic means.

    Raises
    ------
    ModelError
        For fewer than two pairs, unequal lengths, or values that are not positive.
    """
    x, y = replicates(a, "numerator"), replicates(b, "denominator")
    checks.same_length(("numerator", x), ("denominator", y))
    checks.column(x, "numerator", positive=True)
    checks.column(y, "denominator", positive=True)
    found = Mean.of(np.log(x) - np.log(y))
    return t_interval(found.value, found.se, found.df, alpha, "paired log-ratio").map(_exp)


def _exp(value: float) -> float:
    return math.exp(value) if value < 709 else math.inf


def fieller(
    a: float, b: float, var_a: float, var_b: float, cov_ab: float, df: float, alpha: float = 0.05
) -> Estimate:
    """Return ``a / b`` with Fieller's (1954) interval ``{r : |a - r b| <= t se(a - r b)}``.

    Both are normal estimates. The limits are infinite, with a warning, if b does not differ from
    zero at `alpha` (``g = t**2 var_b / b**2 >= 1``).

    Raises
    ------
    ModelError
        If b is zero.
    """
    if b == 0:
        raise ModelError("the denominator is zero", remedy="compare differences instead of ratios")
    t2 = t_quantile(df, alpha) ** 2
    square, cross, free = b * b - t2 * var_b, a * b - t2 * cov_ab, a * a - t2 * var_a
    under = cross * cross - square * free
    if not square > 0:
        note = f"the denominator does not differ from zero (g = {t2 * var_b / (b * b):.3g}): "
        if under > 0:
            ends = sorted(
                ((cross - math.sqrt(under)) / square, (cross + math.sqrt(under)) / square)
            )
            note += f"the set is everything outside {ends[0]:.6g} to {ends[1]:.6g}"
        else:
            note += "no value is excluded"
        return Estimate(a / b, -math.inf, math.inf, 1 - alpha, "Fieller", (note,))
    half = math.sqrt(max(under, 0.0))
    return Estimate(a / b, (cross - half) / square, (cross + half) / square, 1 - alpha, "Fieller")


def ratio_of_printed(top: tuple[float, float], bottom: tuple[float, float]) -> Estimate:
    """Return the ratio of two printed numbers between the extremes that their rounding leaves.

    It says nothing about the spread of what was measured, which a single printed value does not
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
                f"the {name} is no printed number with its half step",
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
