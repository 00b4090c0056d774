"""Generalized linear models fitted by statsmodels, and what a reader should know of a fit before its numbers."""

from __future__ import annotations

import warnings as python_warnings
from typing import Any

import numpy as np
import statsmodels.api as sm

from virtperf.models.checks import Array
from virtperf.models.glm_curve import GLMCurve
from virtperf.models.irls import Mean, solve
from virtperf.models.noise import check_noise
from virtperf.models.question import NO_DF, NO_NOISE
from virtperf.models.result import t_quantile

MISFIT = 0.01  # p-value of a lack-of-fit test below which a fit warns


def fit_glm(design: Array, names: list[str], y: Array, weights: Array, mean: Mean, start: Array) -> Any:
    """Fit by statsmodels, from a start.

    Parameters
    ----------
    design : ndarray, shape (n, q)
    names : list of str
        Of the columns, for the summary.
    y, weights : ndarray, shape (n,)
    mean : Mean
    start : ndarray, shape (q,)

    Returns
    -------
    GLMResults
    """
    links = sm.families.links
    link = links.InversePower() if mean.inverse else links.Identity()
    family = sm.families.Gaussian(link) if mean.power == 0 else sm.families.Gamma(link)
    # statsmodels warns of every link that is not the usual one, and of the scale where no degrees of freedom are left.
    with python_warnings.catch_warnings(), np.errstate(all="ignore"):
        python_warnings.simplefilter("ignore")
        model = sm.GLM(y, design, family=family, var_weights=weights)
        model.data.xnames = names
        settings: dict[str, Any] = {"maxiter": 50, "tol_criterion": "params", "atol": 0.0, "rtol": 1e-11}
        try:
            return model.fit(start_params=start, **settings)
        except ValueError:  # from an exact start it divides nothing by nothing
            return model.fit(start_params=start * (1 + 1e-7), **settings)


def notes_of(fit: GLMCurve) -> tuple[str, ...]:
    """What a reader should know before the numbers: bounds, noise that the replicates contradict, misfit."""
    notes = [
        f"{name} is on its bound {value:g}: standard errors of the others are conditional on it, and 95 % intervals of "
        "what depends on it cover up to 98 %"
        for name, value, held in zip(fit.param_names, fit.params, fit.at_bound, strict=True)
        if held
    ]
    if fit.df_resid <= 0:
        notes.append(f"{NO_DF}: the curve goes through all points, and no interval has a limit")
        return tuple(notes)
    if fit.exact:
        notes.append(NO_NOISE)
        return tuple(notes)
    if fit.bounded:
        notes.extend(_within_reach(fit))
    checked = check_noise(fit.x, fit.y, fit.weights)
    contradicted = checked.warning(fit.noise) if checked else None
    if contradicted:
        notes.append(contradicted)
    levels = len(np.unique(fit.x))
    if fit.nobs - fit.df_resid < levels < fit.nobs:
        p = fit.lack_of_fit().pvalue
        if p < MISFIT:
            notes.append(
                f"the curve misses the means of the replicates by more than their spread explains (p = {p:.2g})"
            )
    return tuple(notes)


def _within_reach(fit: GLMCurve) -> list[str]:
    """Say which of alpha and beta could be zero: the intervals are then not exact but conservative."""
    free, near = fit.free(), []
    threshold = fit.deviance + t_quantile(fit.df_resid, 0.05) ** 2 * fit.scale
    for place, name in ((1, "alpha"), (2, "beta")):
        if free[place] and not fit.at_bound[fit.index(name)]:
            without = np.where(np.arange(3) == place, False, free)
            design, y, w = fit.columns(fit.x), fit.y[None, :], fit.weights[None, :]
            if solve(fit.mean(), design, y, w, free=without).deviance[0] <= threshold:
                near.append(name)
    if not near:
        return []
    words = " and ".join(near)
    return [f"the data allow {words} of 0, the bound: 95 % intervals of what depends on it cover up to 98 %"]
