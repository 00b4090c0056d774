"""What every model returns: a fit in statsmodels' manner, and estimates (`estimate`)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rawperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.estimate import (
    NO_DF,
    NO_NOISE,
    Estimate,
    FTest,
    Missing,
    f_test,
    t_interval,
    t_quantile,
)
from virtperf.models.noise import gamma_llf

__all__ = [
    "NO_DF",
    "NO_NOISE",
    "Estimate",
    "FTest",
    "FitResult",
    "Missing",
    "f_test",
    "inverse_gram",
    "t_interval",
    "t_quantile",
]

EXACT = 1e-26
"""Residual sum of squares, as a share of that of y, that is nothing but rounding."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FitResult(ABC):
    """A fitted regression model.

    The residuals are taken as independent and normal with variance ``scale / weights``.

    Parameters
    ----------
    model : str
        Name and formula in one line.
    param_names : tuple of str, length p
    params : ndarray, shape (p,)
    covariance : ndarray, shape (p, p)
        Covariance of `params`; NaN for a parameter that is held by a bound.
    x : ndarray, shape (n,) or (n, k)
    y, weights, fittedvalues : ndarray, shape (n,)
    df_resid : int
        Rows minus freely estimated parameters.
    results : object
        The results of statsmodels (or None): ``results.summary()``, ``results.get_prediction()``.
    noise : {"constant", "proportional", "weights"}
        How the variance of a row depends on it; with "proportional" the weights are one over the
        squared fit.
    """

    model: str
    param_names: tuple[str, ...]
    params: Array
    covariance: Array
    x: Array
    y: Array
    weights: Array
    fittedvalues: Array
    df_resid: int
    warnings: tuple[str, ...] = ()
    results: Any = None
    noise: str = "constant"

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
        return float(np.sum(self.weights * self.resid**2))

    @property
    def deviance(self) -> float:
        """What the fit minimises."""
        return self.rss

    def deviance_of(self, means: Array) -> float:
        """The deviance of given means."""
        return float(np.sum(self.weights * (self.y - means) ** 2))

    @property
    def scale(self) -> float:
        """Residual variance ``rss / df_resid`` (NaN without degrees of freedom)."""
        return self.rss / self.df_resid if self.df_resid > 0 else math.nan

    @property
    def bse(self) -> Array:
        """Standard errors of `params`."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def llf(self) -> float:
        """Log-likelihood at the optimum (infinite if the fit is exact): normal, or Gamma with
        proportional noise.
        """
        n, rss = self.nobs, self.rss
        if rss <= EXACT * float(np.sum(self.weights * self.y**2)):
            return math.inf
        if self.noise == "proportional":
            return gamma_llf(
                self.y, np.asarray(getattr(self, "given", np.ones(n))), self.fittedvalues
            )
        return float(
            -n / 2 * (math.log(2 * math.pi * rss / n) + 1) + np.sum(np.log(self.weights)) / 2
        )

    @property
    def aicc(self) -> float:
        """Akaike's criterion with the small-sample term of Hurvich and Tsai (infinite if ``n <= p +
        2``); NaN if exact.

        The residual variance is counted as a parameter, as R's AIC does.
        """
        k = len(self.params) + 1
        spare, llf = self.nobs - k - 1, self.llf
        if not math.isfinite(llf):
            return math.nan
        return 2 * k - 2 * llf + 2 * k * (k + 1) / spare if spare > 0 else math.inf

    def cov_params(self) -> Array:
        """Return the covariance of `params`, shape (p, p)."""
        return self.covariance.copy()

    def index(self, name: str) -> int:
        """Return the position of a parameter."""
        return self.param_names.index(checks.one_of(name, self.param_names, "parameter"))

    def estimate(self, name: str, alpha: float = 0.05, method: str = "t") -> Estimate:
        """Return one parameter with its interval ``params +- t(1 - alpha/2, df_resid) * bse``."""
        checks.one_of(method, ("t",), "interval method")
        i = self.index(name)
        return t_interval(float(self.params[i]), float(self.bse[i]), self.df_resid, alpha)

    def conf_int(self, alpha: float = 0.05, method: str | None = None) -> Array:
        """Return the limits of all parameters, shape (p, 2); see `estimate`, whose default `method`
        is taken.
        """
        given = {} if method is None else {"method": method}
        estimates = [self.estimate(name, alpha, **given) for name in self.param_names]
        return np.array([[e.low, e.high] for e in estimates])

    def get_prediction(self, *arguments: Any, **named: Any) -> Any:
        """The prediction of statsmodels' results; see `results`."""
        return self.results.get_prediction(*arguments, **named)

    def predict(
        self,
        new: ArrayLike,
        interval: str | None = None,
        alpha: float = 0.05,
        *,
        weights: ArrayLike | None = None,
    ) -> Array | pd.DataFrame:
        """Evaluate the fitted curve.

        Parameters
        ----------
        new : array_like
            Values of x.
        interval : {None, "mean", "observation"}
            Interval for the curve, or for one new observation; both by the delta method with t
            quantiles.
        alpha : float
            One minus the confidence level.
        weights : array_like, optional
            Weights of the new observations, where the fit had weights; without them they would be a
            guess.

        Returns
        -------
        ndarray, shape (m,), or DataFrame
            The values; with `interval` the columns ``value, se, low, high``.
        """
        value, gradient = self._curve(self._new(new))
        if interval is None:
            return value
        checks.one_of(interval, ("mean", "observation"), "interval")
        # A parameter that a bound holds has no standard error: the band is conditional on the
        # bound.
        cov = np.where(np.isnan(self.covariance), 0.0, self.covariance)
        variance = np.einsum("ij,jk,ik->i", gradient, cov, gradient)
        if interval == "observation":
            variance = variance + self._noise(value, weights)
        half = t_quantile(self.df_resid, alpha) * np.sqrt(np.maximum(variance, 0.0))
        return pd.DataFrame(
            {"value": value, "se": np.sqrt(variance), "low": value - half, "high": value + half}
        )

    def _noise(self, value: Array, weights: ArrayLike | None) -> Array:
        """Variance of new observations around the curve."""
        if self.noise == "proportional":
            return self.scale * value**2
        if self.noise == "weights" and weights is None:
            raise checks.ArgumentError(
                "the fit has weights, so a new observation needs one",
                remedy="give the weights of the new observations",
            )
        return self.scale / (
            np.ones(1) if weights is None else checks.column(weights, "weight", positive=True)
        )

    def lack_of_fit(self) -> FTest:
        """Test the curve against the spread of replicates (rows with the same x).

        The pure error is the deviance of the means of equal x.

        Raises
        ------
        ModelError
            If no x is replicated, or there are no more distinct x than parameters.
        """
        _, group = np.unique(self.x, axis=0, return_inverse=True)
        group = np.asarray(group).ravel()
        levels = int(group.max()) + 1
        free = self.nobs - self.df_resid
        if levels == self.nobs or levels <= free:
            raise ModelError(
                f"{levels} distinct x in {self.nobs} rows allow no lack-of-fit test",
                expected=f"replicates, and more than {free} distinct x",
            )
        mean = np.bincount(group, self.weights * self.y) / np.bincount(group, self.weights)
        pure = self.deviance_of(mean[group])
        return f_test(
            self.deviance - pure,
            levels - free,
            pure,
            self.nobs - levels,
            "the curve goes through the true means",
        )

    def summary(self, alpha: float = 0.05) -> str:
        """Return the fit as plain text: the same bytes for the same fit."""
        head = [
            self.model,
            f"rows {self.nobs}, residual degrees of freedom {self.df_resid}, residual SD {math.sqrt(self.scale):.6g}, "
            f"log-likelihood {self.llf:.6g}, AICc {self.aicc:.6g}",
            f"{'':<14}{'estimate':>14}{'std err':>14}{'low':>14}{'high':>14}  {100 * (1 - alpha):g} % interval",
        ]
        for name, se in zip(self.param_names, self.bse, strict=True):
            e = self.estimate(name, alpha)
            head.append(
                f"{name:<14}{e.value:>14.6g}{se:>14.6g}{e.low:>14.6g}{e.high:>14.6g}  {e.method}"
            )
        return "\n".join([*head, *(f"warning: {w}" for w in self.warnings)]) + "\n"

    def _new(self, new: ArrayLike) -> Array:
        return checks.column(np.atleast_1d(np.asarray(new)), "new x")

    @abstractmethod
    def _curve(self, new: Array) -> tuple[Array, Array]:
        """Return values, shape (m,), and their gradient in the parameters, shape (m, p)."""


def inverse_gram(jacobian: Array) -> tuple[Array, bool]:
    """Return ``inv(J'J)`` by a singular value decomposition of the scaled J, and whether J has full
    rank.

    Without full rank all elements are NaN. Times the residual variance it is the covariance of
    least squares.
    """
    p = jacobian.shape[1]
    norms = np.linalg.norm(jacobian, axis=0)
    if len(jacobian) >= p and np.all(norms > 0):
        _, s, vt = np.linalg.svd(jacobian / norms, full_matrices=False)
        if p == 0 or s[-1] > 1e-13 * s[0]:
            half = vt.T / s / norms[:, None]
            return half @ half.T, True
    return np.full((p, p), np.nan), False
