"""A number with its confidence interval, error, method and origin; or the reason why there is none.

`student` makes Student's t interval of a standard error, `mean_over_runs` that of the runs of one
condition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rawperf.core.errors import ModelError
from virtperf.core.provenance import Origin
from virtperf.core.statistics import (
    error_of_sum,
    normal_error,
    normal_quantile,
    t_pvalue,
    t_quantile,
)

if TYPE_CHECKING:
    import pandas as pd

INDEPENDENT, ORDERED, COUNTED = "independent samples", "order statistics", "binomial"
BUCKETED = "buckets"
"""Methods of statistics of independent samples: the mean, a quantile or an interquartile range, a
proportion; and a quantile or a proportion of bucketed (interval-censored) values."""


@dataclass(frozen=True)
class Estimate:
    """A point estimate with its confidence interval.

    Parameters
    ----------
    value, low, high : float
        In the unit of the quantity; a limit of ``-inf`` or ``inf`` means that the data impose none,
        NaN that there is no interval.
    level : float
        Confidence level of the interval, e.g. 0.95.
    method : str
        Interval method, for example "runs" (the spread between runs), "profile likelihood",
        "Fieller", "log-ratio", "t", "rounding"; docs/methods.md lists them.
    warnings : tuple of str
        Caveats to be shown beside the number.
    origin : Origin or None
        Inputs of the number.
    se, df : float
        Standard error and its degrees of freedom; NaN where the method has none.
    n : int
        Number of runs, or of samples of one run; 0 where the method does not count them.
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    warnings: tuple[str, ...] = ()
    origin: Origin | None = None
    se: float = math.nan
    df: float = math.nan
    n: int = 0

    available: ClassVar[bool] = True  # False for `Missing`

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def bounded(self) -> bool:
        """Whether both limits are finite."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def of_samples(self) -> bool:
        """Whether the replicates (`n`) are independent samples, not runs."""
        return self.method in (INDEPENDENT, ORDERED, COUNTED, BUCKETED)

    @property
    def pvalue(self) -> float:
        """Two-sided p-value of a true value of zero, by Student's t; NaN without an error."""
        if self.se == 0:
            return 0.0 if self.value else 1.0
        return float(t_pvalue(self.value / self.se, self.df))

    def map(self, function: Callable[[float], float], *warnings: str) -> Estimate:
        """Transform by a monotone function of the quantity (decreasing functions swap the limits);
        the result has no standard error.
        """
        low, high = sorted((function(self.low), function(self.high)))
        value = function(self.value)
        return replace(self.noted(*warnings), value=value, low=low, high=high, se=math.nan)

    def noted(self, *warnings: str) -> Estimate:
        """The estimate with further warnings."""
        return replace(self, warnings=(*self.warnings, *warnings))

    def at(self, level: float) -> Estimate:
        """The estimate with Student's t interval, or that of samples, at another confidence level."""
        if level == self.level:
            return self
        if self.method in (ORDERED, COUNTED, BUCKETED):
            return self._stretched(level)
        again = student(self.value, self.se, self.df, level=level, method=self.method)
        return replace(self, low=again.low, high=again.high, level=level)

    def _stretched(self, level: float) -> Estimate:
        """Rescale both ends to another level by the ratio of normal quantiles: an approximation,
        since the samples are not available.
        """
        factor = normal_quantile(level) / normal_quantile(self.level)
        low, high = (self.value + factor * (end - self.value) for end in (self.low, self.high))
        return replace(self, low=low, high=high, level=level)

    def without_interval(self) -> Estimate:
        """Only the value."""
        nan = math.nan
        return replace(self, low=nan, high=nan, se=nan, df=nan)

    def within(self, low: float, high: float) -> Estimate:
        """Cut the interval at the natural bounds of its quantity; the value stays inside."""
        ends = max(self.low, min(low, self.value)), min(self.high, max(high, self.value))
        return replace(self, low=ends[0], high=ends[1])

    def shifted(self, by: float) -> Estimate:
        """Return the estimate with a constant added."""
        return replace(self, value=self.value + by, low=self.low + by, high=self.high + by)

    def scaled(self, factor: float) -> Estimate:
        """Return the estimate in a unit that is `factor` times smaller."""
        low, high = sorted((factor * self.low, factor * self.high))
        return replace(
            self, value=factor * self.value, se=abs(factor) * self.se, low=low, high=high
        )

    def __str__(self) -> str:
        low = "no finite lower limit" if self.low == -math.inf else f"{self.low:.4g}"
        high = "no finite upper limit" if self.high == math.inf else f"{self.high:.4g}"
        return f"{self.value:.4g} ({100 * self.level:g} % {self.method}: {low} to {high})"


class NoResult(ModelError, AttributeError):
    """Attribute access on a missing result."""


@dataclass(frozen=True)
class Missing:
    """Placeholder for a fit, an estimate or a test that could not be computed, with the reason.

    It has the attributes of an `Estimate` (NaN numbers), so that it fits in a table of them. Access
    to any other attribute, say the peak of a missing fit, raises `NoResult` with the reason.
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

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # looked up by protocols, such as pickling and display
            raise AttributeError(name)
        raise NoResult(f"there is no {name}, because there is no fit: {self.reason}")

    def __contains__(self, value: float) -> bool:
        return False

    def map(self, function: Callable[[float], float], *warnings: str) -> Missing:
        """Stays missing, for the same reason."""
        return self

    def __float__(self) -> float:
        return math.nan

    def __str__(self) -> str:
        return f"not available: {self.reason}"

    def __format__(self, spec: str) -> str:
        return str(self)


class Estimates(dict[Hashable, Any]):
    """Estimates by label, with the title of their table; displayed in notebooks as `frame`."""

    def __init__(
        self, estimates: Mapping[Any, Any] | Iterable[tuple[Any, Any]] = (), title: str = ""
    ) -> None:
        super().__init__(estimates)
        self.title = title

    def frame(self) -> pd.DataFrame:
        """Return a frame with one row per label: value, low, high, level, method, warnings; for a
        `Missing` NaN, with its reason as the warning.
        """
        import pandas as pd

        rows = {
            label: {
                **{name: getattr(e, name) for name in ("value", "low", "high", "level", "method")},
                "warnings": "; ".join(e.warnings) if e.available else e.reason,
            }
            for label, e in self.items()
            if hasattr(e, "low")  # not a test
        }
        return pd.DataFrame.from_dict(rows, orient="index")

    def _repr_html_(self) -> str:
        return str(self.frame().to_html())

    def __repr__(self) -> str:
        return "\n".join(f"{label}: {e}" for label, e in self.items())


def student(
    value: float,
    se: float,
    df: float,
    *,
    level: float,
    n: int = 0,
    method: str = "t",
) -> Estimate:
    """Build an estimate with a Student's t interval from its standard error and degrees of freedom;
    NaN limits where these are unknown.
    """
    half = t_quantile(df, level) * se if math.isfinite(se) and df > 0 else math.nan
    return Estimate(value, value - half, value + half, level, method, (), None, se, df, n)


def mean_over_runs(
    values: Sequence[float],
    errors: Sequence[float] = (math.nan,),
    dfs: Sequence[float] = (math.nan,),
    *,
    level: float,
    method: str = "one run",
) -> Estimate:
    """Return the mean over the runs of one condition, from the mean, standard error and degrees of
    freedom of each.

    With two or more runs the standard error is that between runs, with ``n - 1`` degrees of
    freedom, since run-to-run variation is the relevant error. A single run keeps the error and
    degrees of freedom of its own samples.
    """
    x = np.asarray(values, dtype=float)
    if len(x) > 1:
        se = float(x.std(ddof=1)) / math.sqrt(len(x))
        return student(float(x.mean()), se, len(x) - 1.0, level=level, n=len(x), method="runs")
    return student(float(x[0]), float(errors[0]), float(dfs[0]), level=level, n=1, method=method)


def mean_over_bucketed(runs: Sequence[Estimate], *, level: float) -> Estimate:
    """Return the mean over runs of interval-censored values.

    Runs in the same bucket have equal values without being equal, so their spread is not
    informative: the interval reaches from the lower limit of the mean of the lower ends to the
    upper limit of that of the upper ends; an end is infinite if that of a run is. `n` counts the
    events of all runs.
    """
    if len(runs) == 1:
        return runs[0].at(level)
    value = mean_over_runs([run.value for run in runs], level=level).value
    lows, highs = [run.low for run in runs], [run.high for run in runs]
    finite = all(map(math.isfinite, lows)), all(map(math.isfinite, highs))
    low = mean_over_runs(lows, level=level).low if finite[0] else -math.inf
    high = mean_over_runs(highs, level=level).high if finite[1] else math.inf
    se, n = normal_error(low, high, level), sum(run.n for run in runs)
    return Estimate(value, low, high, level, BUCKETED, (), None, se, len(runs) - 1.0, n)


def quotient(of: Estimate, to: Estimate) -> Estimate:
    """Ratio of two independent means, with the error of the delta method."""
    value = of.value / to.value
    variances = [(of.se / to.value) ** 2, (value * to.se / to.value) ** 2]
    se, df = error_of_sum(variances, [of.df, to.df])
    return student(value, se, df, level=of.level, n=min(of.n, to.n), method="ratio of means")
