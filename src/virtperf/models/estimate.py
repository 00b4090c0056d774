"""Numbers with intervals, tests, and what stands where there is none."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from scipy import special

from rawperf.core.errors import ModelError
from virtperf.core.provenance import Origin
from virtperf.models import checks

NO_NOISE = "the curve goes through the points exactly: there is no noise to estimate, and the interval has no width"
NO_DF = "no degrees of freedom are left"


@dataclass(frozen=True)
class Estimate:
    """A number with its interval.

    Parameters
    ----------
    value, low, high : float
        In the unit of the quantity; a limit of ``-inf`` or ``inf`` means that the data set none
        there.
    level : float
        Confidence level of the interval, e.g. 0.95.
    method : str
        How the interval was made: "profile likelihood", "delta", "Fieller", "log-ratio", "t",
        "noncentral F", "t (groups)", "t (treatment x group)", "t (Kenward-Roger)", "order
        statistics", "rounding".
    warnings : tuple of str
        Not errors, but a reader should see them beside the number.
    origin : Origin or None
        What the number was computed from; the frame functions (`virtperf.models.usl` and others)
        set it.
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    warnings: tuple[str, ...] = ()
    origin: Origin | None = None

    available: ClassVar[bool] = True  # `Missing` says False

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def map(self, function: Callable[[float], float], *warnings: str) -> Estimate:
        """Return the estimate of a monotone function of the quantity (falling functions swap the
        limits).
        """
        ends = sorted((function(self.low), function(self.high)))
        notes = (*self.warnings, *warnings)
        return Estimate(
            function(self.value), ends[0], ends[1], self.level, self.method, notes, self.origin
        )

    def __str__(self) -> str:
        low = "no finite lower limit" if self.low == -math.inf else f"{self.low:.4g}"
        high = "no finite upper limit" if self.high == math.inf else f"{self.high:.4g}"
        return f"{self.value:.4g} ({100 * self.level:g} % {self.method}: {low} to {high})"


@dataclass(frozen=True)
class Missing:
    """Stands where a fit, an estimate or a test could not be had, and says why.

    It has the attributes of an `Estimate` (NaN numbers); any other attribute, and any call, gives
    the same `Missing` again, so that a cell that asks a missing fit for its peak gets the reason
    for which there is no fit.
    """

    reason: str
    origin: Origin | None = None

    available: ClassVar[bool] = False
    value: ClassVar[float] = math.nan
    low: ClassVar[float] = math.nan
    high: ClassVar[float] = math.nan
    level: ClassVar[float] = math.nan
    method: ClassVar[str] = ""
    warnings: ClassVar[tuple[str, ...]] = ()

    def __getattr__(self, name: str) -> Missing:
        if name.startswith(
            "_"
        ):  # protocols (pickling, display) ask for these and must hear that there are none
            raise AttributeError(name)
        return self

    def __call__(self, *arguments: Any, **named: Any) -> Missing:
        return self

    def __contains__(self, value: float) -> bool:
        return False

    def __float__(self) -> float:
        return math.nan

    def __str__(self) -> str:
        return f"not available: {self.reason}"

    def __format__(self, spec: str) -> str:
        return str(self)


@dataclass(frozen=True)
class FTest:
    """An F test; `null` is what a small p-value speaks against."""

    statistic: float
    df_num: float
    df_denom: float
    pvalue: float
    null: str
    origin: Origin | None = None

    available: ClassVar[bool] = True


def f_test(explained: float, df_num: float, rss: float, df_denom: float, null: str) -> FTest:
    """Test whether `explained`, a drop of the residual sum of squares, is more than noise.

    ``F = (explained / df_num) / (rss / df_denom)``, where `rss` belongs to the larger model.
    """
    if df_denom <= 0:
        raise ModelError(
            "no degrees of freedom are left for the test",
            remedy="measure more points or replicates",
        )
    gain = (
        max(explained, 0.0) / df_num
    )  # rounding can make the drop of two nested fits slightly negative
    noise = rss / df_denom
    statistic = gain / noise if noise > 0 else (math.inf if gain > 0 else 0.0)
    pvalue = 0.0 if math.isinf(statistic) else float(special.fdtrc(df_num, df_denom, statistic))
    return FTest(statistic, df_num, df_denom, pvalue, null)


def t_quantile(df: float, alpha: float) -> float:
    """Return the two-sided t quantile ``t(1 - alpha/2, df)``: infinite without degrees of
    freedom.
    """
    checks.level(alpha)
    return float(special.stdtrit(df, 1 - alpha / 2)) if df > 0 else math.inf


def t_interval(value: float, se: float, df: float, alpha: float, method: str = "t") -> Estimate:
    """Return ``value +- t(1 - alpha/2, df) * se`` as an estimate."""
    quantile = t_quantile(df, alpha)
    if math.isinf(quantile) or math.isnan(se):
        why = NO_DF if math.isinf(quantile) else "there is no standard error at a bound"
        return Estimate(value, -math.inf, math.inf, 1 - alpha, method, (why,))
    return Estimate(value, value - quantile * se, value + quantile * se, 1 - alpha, method)
