"""Predictions of a `glm_curve.GLMCurve`: intervals of its mean, and of one new observation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.result import t_quantile

METHODS = ("profile", "delta")


def table(fit: Any, x: Array, interval: str, alpha: float, weights: ArrayLike | None, method: str) -> pd.DataFrame:
    """What `GLMCurve.predict` returns with an interval."""
    value, gradient = fit._curve(x)
    checks.one_of(interval, ("mean", "observation"), "interval")
    checks.one_of(method, METHODS, "interval method")
    se = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", gradient, fit.cov_b, gradient), 0.0))
    if method == "delta":
        half = t_quantile(fit.df_resid, alpha) * se
        low, high = value - half, value + half
    else:
        low, high = fit.band(x, alpha)
    if interval == "observation":
        spread = np.sqrt(fit.scale / weights_of_new(fit.weights, weights, len(x)))
        low, high = _with_noise(fit, value, low, high, t_quantile(fit.df_resid, alpha) * spread, method)
        se = np.hypot(se, spread * (value if fit.noise == "proportional" else 1.0))
    outside = (x < fit.x.min()) | (x > fit.x.max())
    return pd.DataFrame({"value": value, "se": se, "low": low, "high": high, "extrapolated": outside})


def _with_noise(fit: Any, value: Array, low: Array, high: Array, noise: Array, method: str) -> tuple[Array, Array]:
    with np.errstate(all="ignore"):
        if fit.noise == "proportional" and method == "profile":
            under, over = np.hypot(np.log(value / low), noise), np.hypot(np.log(high / value), noise)
            return value * np.exp(-under), value * np.exp(over)
        size = noise * (value if fit.noise == "proportional" else 1.0)
        return value - np.hypot(value - low, size), value + np.hypot(high - value, size)


def weights_of_new(fitted: Array, new: ArrayLike | None, rows: int) -> Array:
    """The weights of new observations: as given, or the weight that all fitted rows share.

    Raises
    ------
    ModelError
        If they are needed and not given.
    """
    if new is not None:
        checked = checks.column(np.atleast_1d(np.asarray(new)), "weight of a new row", positive=True)
        checks.same_length(("weights of new rows", checked), ("new x", np.empty(rows)))
        return checked
    if np.ptp(fitted) > 1e-9 * fitted.max():
        raise ModelError(
            "the noise of a new observation is not known, because the fitted rows have unequal weights",
            remedy="give the weights of the new rows, or fit proportional noise without weights",
        )
    return np.full(rows, fitted[0])
