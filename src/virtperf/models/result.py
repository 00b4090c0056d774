"""Results of all models: fits and tests."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rawperf.core.errors import ModelError, ParameterError
from virtperf.core.estimate import Estimate, Missing, student
from virtperf.core.provenance import Origin
from virtperf.core.statistics import t_quantile
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.noise import WEIGHTS, power_of
from virtperf.models.profile import limits

NO_NOISE = "the curve interpolates the points: the noise can't be estimated, and the interval has zero width"
NO_DF = "no degrees of freedom are left"
PROFILE = "profile likelihood"
MISFIT_LEVEL = 0.01
"""P-value of the lack-of-fit test below which a fit has a warning, and a scaling law no peak."""


@dataclass(frozen=True)
class FTest:
    """An F test."""

    statistic: float
    df_num: float
    df_denom: float
    pvalue: float

    available: ClassVar[bool] = True


def f_test(explained: float, df_num: float, rss: float, df_denom: float) -> FTest:
    """F test of `explained`, a reduction of the residual sum of squares.

    ``F = (explained / df_num) / (rss / df_denom)``, where `rss` belongs to the larger model.
    """
    if df_denom <= 0:
        raise ModelError(
            "no degrees of freedom are left for the test",
            remedy="measure more points or replicates",
        )
    gain = max(explained, 0.0) / df_num  # rounding can make the difference slightly negative
    noise = rss / df_denom
    statistic = gain / noise if noise > 0 else (math.inf if gain > 0 else 0.0)
    pvalue = 0.0 if math.isinf(statistic) else float(special.fdtrc(df_num, df_denom, statistic))
    return FTest(statistic, df_num, df_denom, pvalue)


def t_interval(value: float, se: float, df: float, alpha: float, method: str = "t") -> Estimate:
    """Return Student's t interval of the estimate; without degrees of freedom or a standard error
    it is unbounded, with a warning.
    """
    level = checks.level(alpha)
    if df > 0 and math.isfinite(se):
        return student(value, se, df, level=level, method=method)
    why = NO_DF if not df > 0 else "there is no standard error at a bound"
    return Estimate(value, -math.inf, math.inf, level, method, (why,), None, se, df)


def call_with_origin(
    origin: Origin | None, function: Callable[..., Any], *arguments: Any, **named: Any
) -> Any:
    """Call the function and set the origin of its result; `Missing` on a `ModelError`."""
    try:
        result = function(*arguments, **named)
    except ModelError as err:
        return Missing(str(err), origin)
    if origin is None or not isinstance(result, Estimate | Missing | FitResult):
        return result
    return replace(result, origin=origin)


def exp(value: float) -> float:
    """The exponential, infinite beyond the range of floats."""
    return math.exp(value) if value < 709 else math.inf


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class FitResult(ABC):
    """Base class of fitted regression models, with names of statsmodels results: ``params``,
    ``bse``, ``conf_int()``, ``nobs``, ``df_resid``, ``resid``, ``fittedvalues``, ``predict()``,
    ``summary()``; all others are those of `results`, such as ``results.aic``.

    Residuals are assumed independent and normal with variance ``scale / weights``. Quantities that
    the rows do not determine raise a ModelError.

    Parameters
    ----------
    model : str
        Name and formula in one line.
    param_names : tuple of str, length p
    theta : ndarray, shape (p,)
        Parameter values; `params` has them with their names.
    covariance : ndarray, shape (p, p)
        Covariance of the parameters; NaN for a parameter on its bound.
    x : ndarray, shape (n,) or (n, k)
    y, weights, fittedvalues : ndarray, shape (n,)
        Of a robust curve, y has clipped pseudo-values in place of the observations.
    df_resid : int
        Rows minus freely estimated parameters.
    results : object
        The statsmodels results (or None); for a curve fitted in another form, for example as its
        reciprocal, those of that form.
    noise : {"proportional", "counts", "constant", "weights"}
        Variance function: proportional to the squared mean, to the mean, constant, or by the given
        weights. For lines and two-piece lines, `weights` include it.
    origin : Origin or None
        Inputs of the rows; estimates of the fit carry it.
    """

    model: str
    param_names: tuple[str, ...]
    theta: Array
    covariance: Array
    x: Array
    y: Array
    weights: Array
    fittedvalues: Array
    df_resid: int
    warnings: tuple[str, ...] = ()
    results: Any = None
    noise: str = "constant"
    origin: Origin | None = None

    available: ClassVar[bool] = True  # False for `Missing`
    positive_x: ClassVar[bool] = False  # whether the curve is defined for positive x only

    def __repr__(self) -> str:
        values = ", ".join(f"{name} {value:.6g}" for name, value in self.params.items())
        return f"<{self.model.partition(':')[0]}: {values}; {self.nobs} rows>"

    @property
    def params(self) -> pd.Series:
        """The parameters by name."""
        return pd.Series(self.theta, index=list(self.param_names))

    @property
    def nobs(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def resid(self) -> Array:
        """Observed minus fitted values, in the unit of y."""
        return self.y - self.fittedvalues

    @property
    def rss(self) -> float:
        """Weighted residual sum of squares."""
        return self.deviance

    @property
    def deviance(self) -> float:
        """Objective function at the optimum."""
        return self.deviance_of(self.fittedvalues)

    @property
    def exact(self) -> bool:
        """Whether the curve interpolates all points up to rounding error."""
        return False

    def deviance_of(self, means: Array) -> float:
        """Deviance of the rows from given means."""
        return float(np.sum(self.weights * (self.y - means) ** 2))

    @property
    def scale(self) -> float:
        """Residual variance ``rss / df_resid`` (NaN without degrees of freedom)."""
        return self.rss / self.df_resid if self.df_resid > 0 else math.nan

    @property
    def bse(self) -> pd.Series:
        """Standard errors of `params`, by name."""
        return pd.Series(np.sqrt(np.diag(self.covariance)), index=list(self.param_names))

    def index(self, name: str) -> int:
        """Return the position of a parameter."""
        return self.param_names.index(checks.require_one_of(name, self.param_names, "parameter"))

    def t_quantile(self, alpha: float) -> float:
        """Student's two-sided quantile at the level ``1 - alpha``; infinite without degrees of
        freedom.
        """
        return float(t_quantile(self.df_resid, checks.level(alpha)))

    def estimate(self, name: str, alpha: float = 0.05) -> Estimate:
        """Return one parameter with its interval ``params +- t(1 - alpha/2, df_resid) * bse``."""
        value, error = float(self.theta[self.index(name)]), float(self.bse[name])
        return replace(t_interval(value, error, self.df_resid, alpha), origin=self.origin)

    @property
    def noise_notes(self) -> tuple[str, ...]:
        """Why profiled intervals have no limits, or no width; empty if the noise is known."""
        if self.df_resid <= 0:
            return (NO_DF,)
        return (NO_NOISE,) if self.exact else ()

    def profile_limits(
        self,
        value: Array,
        se: Array,
        domain: tuple[Array, Array],
        alpha: float,
        deviance: Callable[[Array, Array], Array],
        tolerance: float = 1e-11,
    ) -> tuple[Array, Array, bool]:
        """Return the profile likelihood limits of m quantities, ``{c : D(c) <= D + scale F(1 -
        alpha; 1, df)}``, and whether a better fit than the optimum was found; see
        `virtperf.models.profile.limits`.

        Parameters
        ----------
        deviance : callable
            ``(c, k) -> D(c)`` of the quantities of index k, with the other parameters refitted.
        """
        quantile, best, scale = self.t_quantile(alpha), self.deviance, self.scale
        if math.isinf(quantile) or math.isnan(scale):
            return *domain, False
        if self.exact or scale <= 0:
            return value, value, False
        least = best

        def excess(c: Array, which: Array) -> Array:
            nonlocal least
            deviances = deviance(c, which)
            least = min(least, float(deviances.min()))
            return np.sqrt(np.maximum(deviances - best, 0.0) / scale)

        low, high = limits(excess, value, se, domain, quantile, tolerance)
        return low, high, least < (1 - 1e-6) * best

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return the limits of all parameters, columns 0 and 1 as in statsmodels; see `estimate`."""
        estimates = [self.estimate(name, alpha) for name in self.param_names]
        return pd.DataFrame([[e.low, e.high] for e in estimates], index=list(self.param_names))

    def predict(
        self, new: ArrayLike, interval: str | None = None, alpha: float = 0.05
    ) -> Array | pd.DataFrame:
        """Evaluate the fitted curve, inside or outside the range of x.

        Parameters
        ----------
        new : array_like
            Values of x.
        interval : {None, "mean", "observation"}
            Interval of the curve, by the model's own method, or of a new observation: the distances
            of the curve's limits and the noise are added in quadrature on each side (Zou and Donner
            2008, *Stat. Med.* 27); for a straight line that is the usual prediction interval.
        alpha : float
            One minus the confidence level.

        Returns
        -------
        ndarray, shape (m,), or DataFrame
            The values; with `interval` the columns ``value, se, low, high``, where ``se`` is that of
            the delta method, and ``extrapolated``: whether x is outside the range of the rows.

        Raises
        ------
        ParameterError
            An x is not finite, beyond `MAX_NUMBER`, or outside the domain of the curve: a
            scalability curve at 0 and below.
        ModelError
            The variance of a new observation is unknown, because the rows have unequal weights.
        """
        x = self._checked_x(new)
        value, gradient = self._curve(x)
        if interval is None:
            return value
        checks.require_one_of(interval, ("mean", "observation"), "interval")
        se = self._curve_error(gradient)
        low, high = self._band(x, value, se, alpha)
        if interval == "observation":
            size = np.abs(value) ** (power_of(self.noise) / 2)
            spread = math.sqrt(self.scale / self._common_weight())
            se, noise = np.hypot(se, spread * size), self.t_quantile(alpha) * spread
            with np.errstate(all="ignore"):
                if self._log_limits:
                    low = value * np.exp(-np.hypot(np.log(value / low), noise))
                    high = value * np.exp(np.hypot(np.log(high / value), noise))
                else:
                    low = value - np.hypot(value - low, noise * size)
                    high = value + np.hypot(high - value, noise * size)
        outside = (x < self.x.min()) | (x > self.x.max())
        return pd.DataFrame(
            {"value": value, "se": se, "low": low, "high": high, "extrapolated": outside}
        )

    @property
    def _log_limits(self) -> bool:
        """Whether noise is added to the curve's limits on the log scale."""
        return False

    def _curve_error(self, gradient: Array) -> Array:
        """Standard errors of the curve from its gradient, by the delta method."""
        return delta_errors(gradient, self.covariance)

    def _band(self, x: Array, value: Array, se: Array, alpha: float) -> tuple[Array, Array]:
        """Limits of the curve."""
        half = self.t_quantile(alpha) * se
        return value - half, value + half

    def _common_weight(self) -> float:
        """Weight of all rows, and so of a new one, without the noise model's variance function."""
        if self.noise != WEIGHTS:
            return 1.0
        if np.ptp(self.weights) > 1e-9 * self.weights.max():
            raise ModelError(
                "the variance of a new observation is unknown, because the fitted rows have unequal weights",
                remedy="fit a noise model without weights",
            )
        return float(self.weights[0])

    def row_deviation(self) -> Array:
        """Relative standard deviation of each row by noise model and weights; times ``sqrt(scale)``
        the absolute one.
        """
        return np.asarray(1 / np.sqrt(self.weights))

    def tangent(self) -> tuple[Array, Array]:
        """Residuals, shape (n,), and Jacobian in the estimated coefficients, shape (n, k), both
        divided by `row_deviation`.
        """
        size = self.row_deviation()
        return self.resid / size, self._curve(self.x)[1] / size[:, None]

    def deviances_without(self, rows: NDArray[np.intp]) -> Array:
        """Leave-one-out deviances for some rows, shape (m,), from residual and leverage (for linear
        or nearly linear models); NaN where the other rows allow no fit.
        """
        table = self.influence().iloc[rows]
        room = 1 - table["leverage"].to_numpy()
        residual = self.tangent()[0][rows]
        with np.errstate(all="ignore"):
            return np.where(room > 1e-9, self.rss - residual**2 / room, math.nan)

    def headline(self) -> tuple[str, float]:
        """Name and value of the quantity to report first."""
        return self.param_names[-1], float(self.theta[-1])

    def influence(self) -> pd.DataFrame:
        """Return regression diagnostics of each row: residual, leverage and influence.

        Returns
        -------
        DataFrame
            One row per row of the fit: ``x, y, fitted``; ``leverage``, the diagonal of the hat
            matrix; ``studentized``, the externally studentized residual (Student's t with
            ``df_resid - 1`` degrees of freedom); ``cooks_distance``. NaN where undefined.
        """
        from statsmodels.regression.linear_model import OLS

        residual, tangent = self.tangent()
        df = self.df_resid
        with np.errstate(all="ignore"):
            # near the estimate, a fit is the linear regression of its residuals on its tangent
            found = OLS(residual, column_basis(tangent)).fit().get_influence()
            leverage = found.hat_matrix_diag
            known = leverage < 1 - 1e-9
            internal = np.where(known, found.resid_studentized_internal, math.nan)
            remaining = np.where(internal**2 < df, df - internal**2, 0.0)
            external = internal * (np.sqrt((df - 1) / remaining) if df > 1 else math.nan)
            cooks = np.where(known, found.cooks_distance[0], math.nan)
        return pd.DataFrame(
            {
                "x": self.x,
                "y": self.y,
                "fitted": self.fittedvalues,
                "leverage": leverage,
                "studentized": external,
                "cooks_distance": cooks,
            }
        )

    def lack_of_fit(self) -> FTest:
        """Lack-of-fit F test against the pure error of replicates (rows of equal conditions).

        The pure error is the deviance of the means of each condition.

        Raises
        ------
        ModelError
            No condition is replicated, or there are no more conditions than parameters.
        """
        _, group = np.unique(self._conditions(), axis=0, return_inverse=True)
        group = np.asarray(group).ravel()
        levels = int(group.max()) + 1
        free = self.nobs - self.df_resid
        if levels == self.nobs or levels <= free:
            raise ModelError(
                f"{levels} distinct x in {self.nobs} rows allow no lack-of-fit test",
                expected=f"replicates, and more than {free} distinct x",
            )
        pure = self.deviance_of(self._group_means(group)[group])
        return f_test(self.deviance - pure, levels - free, pure, self.nobs - levels)

    def _conditions(self) -> Array:
        """What replicates have in common, one row per row."""
        return self.x

    def _group_means(self, group: NDArray[np.intp]) -> Array:
        """Weighted mean of each group of rows."""
        return np.asarray(
            np.bincount(group, self.weights * self.y) / np.bincount(group, self.weights)
        )

    def means(self) -> pd.DataFrame:
        """Mean of the rows and fitted value at each x: columns ``x, rows, mean, fitted``."""
        frame = pd.DataFrame({"x": self.x, "mean": self.y, "fitted": self.fittedvalues})
        groups = frame.groupby("x")
        table = groups.mean()
        table.insert(0, "rows", groups.size())
        return table.reset_index()

    def quantities(self, alpha: float = 0.05) -> dict[str, Estimate | Missing]:
        """Derived quantities by name; see the methods of these names."""
        return {}

    def tests(self) -> dict[str, FTest]:
        """The tests that the rows allow, by name."""
        found = {name: call_with_origin(None, test) for name, test in self._tests().items()}
        return {name: test for name, test in found.items() if test.available}

    def _tests(self) -> dict[str, Callable[[], FTest]]:
        return {"lack of fit": self.lack_of_fit}

    def summary(self, alpha: float = 0.05) -> str:
        """Format the fit as plain text, deterministically."""
        noise = "weights given" if self.noise == WEIGHTS else f"{self.noise} noise"
        lines = [
            self.model,
            f"rows {self.nobs}, residual degrees of freedom {self.df_resid}, residual SD "
            f"{math.sqrt(self.scale):.6g}, {noise}",
            f"{'':<20}{'estimate':>14}{'std err':>14}{'low':>14}{'high':>14}  "
            f"{100 * (1 - alpha):g} % interval",
        ]
        concerned: dict[str, list[str]] = {}  # deduplicated warnings with their quantities
        errors = dict(self.bse)
        parameters = {name: self.estimate(name, alpha) for name in self.param_names}
        for name, e in (parameters | self.quantities(alpha)).items():
            if isinstance(e, Missing):
                lines.append(f"{name:<20}  {e}")
                continue
            se = f"{errors[name]:.6g}" if name in errors else ""
            lines.append(
                f"{name:<20}{e.value:>14.6g}{se:>14}{e.low:>14.6g}{e.high:>14.6g}  {e.method}"
            )
            for warning in e.warnings:
                if not any(
                    printed.startswith(warning.partition(":")[0]) for printed in self.warnings
                ):
                    concerned.setdefault(warning, []).append(name)
        lines += [
            f"{name}: F({t.df_num:g}, {t.df_denom:g}) = {t.statistic:.4g}, p = {t.pvalue:.4g}"
            for name, t in self.tests().items()
        ]
        lines += [f"warning: {w}" for w in dict.fromkeys(self.warnings)]
        lines += [f"warning: {', '.join(names)}: {w}" for w, names in concerned.items()]
        return "\n".join(lines) + "\n"

    def _checked_x(self, new: ArrayLike) -> Array:
        """Validate new x, in the domain of the curve; raises `ParameterError`."""
        values = np.atleast_1d(np.asarray(new))
        remedy = f"{self.model.partition(':')[0]} is defined for x above 0 only"
        try:
            return checks.column(values, "new x", positive=self.positive_x, remedy=remedy)
        except ModelError as err:
            raise err.copy_as(ParameterError) from None

    @abstractmethod
    def _curve(self, new: Array) -> tuple[Array, Array]:
        """Return values, shape (m,), and their gradient in the parameters, shape (m, p)."""


def column_basis(tangent: Array) -> Array:
    """Orthonormal basis of the column space."""
    norms = np.linalg.norm(tangent, axis=0)
    u, s, _ = np.linalg.svd(tangent / np.where(norms > 0, norms, 1.0), full_matrices=False)
    return u[:, s > 1e-10 * s[:1]]


def delta_errors(gradient: Array, covariance: Array) -> Array:
    """Standard errors of m functions of the parameters by the delta method, from their gradients of
    shape (m, p).
    """
    variance = np.einsum("ij,jk,ik->i", gradient, covariance, gradient)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))
