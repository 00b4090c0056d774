"""Predictions of a fitted curve: confidence limits of the mean, and prediction limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rawperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.noise import power_of
from virtperf.models.result import FitResult, t_quantile


def prediction(
    fit: FitResult,
    x: Array,
    value: Array,
    se: Array,
    ends: tuple[Array, Array],
    alpha: float,
    *,
    weights: Array | None = None,
    logs: bool = False,
) -> pd.DataFrame:
    """Build the result table of `predict` with an interval.

    A new observation deviates from the fitted curve by the error of the curve and by its own noise.
    Their distances are added in quadrature on each side (Zou and Donner 2008); for a straight line
    that is the usual prediction interval.

    Parameters
    ----------
    x, value, se : ndarray, shape (m,)
    ends : pair of ndarray, shape (m,)
        Limits of the mean.
    weights : ndarray, shape (m,), optional
        Weights of new observations, for a prediction interval.
    logs : bool
        Whether distances are on the log scale.

    References
    ----------
    Zou, G. Y., Donner, A. (2008). Construction of confidence limits about effect measures. Stat.
    Med. 27.
    """
    low, high = ends
    if weights is not None:
        size = np.abs(value) ** (power_of(fit.noise) / 2)
        spread = np.sqrt(fit.scale / weights)
        se, noise = np.hypot(se, spread * size), t_quantile(fit.df_resid, alpha) * spread
        with np.errstate(all="ignore"):
            if logs:
                low = value * np.exp(-np.hypot(np.log(value / low), noise))
                high = value * np.exp(np.hypot(np.log(high / value), noise))
            else:
                low = value - np.hypot(value - low, noise * size)
                high = value + np.hypot(high - value, noise * size)
    outside = (x < fit.x.min()) | (x > fit.x.max())
    return pd.DataFrame(
        {"value": value, "se": se, "low": low, "high": high, "extrapolated": outside}
    )


def new_observation_weights(fitted: Array, new: ArrayLike | None, rows: int) -> Array:
    """Return the weights of new observations: as given, or the common weight of all fitted rows.

    Raises
    ------
    ModelError
        Weights are needed and not given.
    """
    if new is not None:
        checked = checks.column(
            np.atleast_1d(np.asarray(new)), "weight of a new row", positive=True
        )
        checks.same_length(("weights of new rows", checked), ("new x", np.empty(rows)))
        return checked
    if np.ptp(fitted) > 1e-9 * fitted.max():
        raise ModelError(
            "the variance of a new observation is unknown, because the fitted rows have unequal weights",
            remedy="give the weights of the new rows, or fit a noise model without weights",
        )
    return np.full(rows, fitted[0])


@dataclass(frozen=True, eq=False)
class CurvePrediction:
    """Predictions of a fitted curve, with the attribute names of statsmodels."""

    fit: FitResult
    x: Array

    @property
    def predicted_mean(self) -> Array:
        """Fitted curve at `x`."""
        return np.asarray(self.fit.predict(self.x))

    def conf_int(self, alpha: float = 0.05, obs: bool = False) -> Array:
        """Limits of the mean, or with `obs` of a new observation, shape (m, 2)."""
        table = self.fit.predict(self.x, "observation" if obs else "mean", alpha)
        assert isinstance(table, pd.DataFrame)  # with an interval it is one
        return table[["low", "high"]].to_numpy()

    def summary_frame(self, alpha: float = 0.05) -> pd.DataFrame:
        """Columns ``mean, mean_se, mean_ci_lower, mean_ci_upper, obs_ci_lower, obs_ci_upper``; the
        last two are NaN where the noise of a new row is unknown.
        """
        table = self.fit.predict(self.x, "mean", alpha)
        assert isinstance(table, pd.DataFrame)  # with an interval it is one
        try:
            new = self.conf_int(alpha, obs=True)
        except ModelError:
            new = np.full((len(self.x), 2), math.nan)
        return pd.DataFrame(
            {
                "mean": table["value"],
                "mean_se": table["se"],
                "mean_ci_lower": table["low"],
                "mean_ci_upper": table["high"],
                "obs_ci_lower": new[:, 0],
                "obs_ci_upper": new[:, 1],
            }
        )
