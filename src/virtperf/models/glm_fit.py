"""Generalized linear models fitted by statsmodels, and what a reader should know of a fit before
its numbers.
"""

from __future__ import annotations

import math
import warnings as python_warnings
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import statsmodels.api as sm
from numpy.typing import ArrayLike

from rawperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.glm_curve import FREE, PLACES, GLMCurve
from virtperf.models.irls import Mean, solve
from virtperf.models.noise import NOISES, check_noise
from virtperf.models.result import NO_DF, NO_NOISE, t_quantile

MISFIT = 0.01  # p-value of a lack-of-fit test below which a fit warns


C = TypeVar("C", bound=GLMCurve)


def fit_curve(
    curve: type[C],
    load: ArrayLike,
    values: ArrayLike,
    what: str,
    *,
    weights: ArrayLike | None,
    kind: str,
    bounded: bool,
    noise: str,
) -> C:
    """Fit a curve of a load; `what` names its values, the rest is as in `usl.fit_usl`.

    Raises
    ------
    ModelError
        For rows that are not positive or not finite, too few rows or distinct loads, or a fit that
        is none.
    """
    checks.one_of(kind, tuple(PLACES), "kind of scalability curve")
    mean = Mean(curve.inverse, NOISES[checks.noise(noise)])
    x, y = checks.column(load, "load", positive=True), checks.column(values, what, positive=True)
    checks.same_length(("load", x), (what, y))
    places = list(PLACES[kind])
    names = tuple(curve.names[i] for i in places)
    checks.enough(x, names, name="load")
    w = checks.weights_or_ones(weights, len(x))
    design, free = curve.columns(x), np.array(FREE[kind])
    found = solve(mean, design, y[None, :], w[None, :], free=free, bounded=bounded)
    best = found.b[0]
    if not (np.isfinite(found.deviance[0]) and found.converged[0]):
        raise ModelError(
            f"the fit did not converge: {curve.formulas[kind]}",
            remedy="fit a smaller curve or measure more loads",
        )
    if not curve.columns(np.ones(1))[0] @ best > 0:
        raise ModelError(
            f"the {what} at a load of one would not be positive",
            remedy="fit a smaller curve or measure small loads",
        )
    used = free & (best != 0)
    turn, labels = curve.stated(used)
    results = _fit_glm(
        design @ turn, labels, y, w, mean, np.linalg.lstsq(turn, best, rcond=None)[0]
    )
    b, df = turn @ np.asarray(results.params), len(x) - int(used.sum())
    cov_b = turn @ results.cov_params() @ turn.T if df > 0 else np.full((3, 3), math.nan)
    parameters, slope = curve.parameters(b)
    covariance = slope[places] @ cov_b @ slope[places].T
    held = (not (used[0] and used[1]) and kind != "linear", not used[2] and kind == "usl", False)
    at_bound = tuple(held[i] for i in places)
    covariance[:, at_bound], covariance[at_bound, :] = math.nan, math.nan
    eta = design @ b
    fit = curve(
        model=curve.formulas[kind],
        param_names=names,
        params=parameters[places],
        covariance=covariance,
        x=x,
        y=y,
        weights=w,
        fittedvalues=1 / eta if curve.inverse else eta,
        df_resid=df,
        results=results,
        noise=noise,
        kind=kind,
        bounded=bounded,
        b=b,
        cov_b=cov_b,
        at_bound=at_bound,
    )
    return replace(fit, warnings=_notes_of(fit))


def _fit_glm(
    design: Array, names: list[str], y: Array, weights: Array, mean: Mean, start: Array
) -> Any:
    links = sm.families.links
    link = links.InversePower() if mean.inverse else links.Identity()
    family = sm.families.Gaussian(link) if mean.power == 0 else sm.families.Gamma(link)
    # statsmodels warns of every link that is not the usual one, and of the scale where no degrees
    # of freedom are left.
    with python_warnings.catch_warnings(), np.errstate(all="ignore"):
        python_warnings.simplefilter("ignore")
        model = sm.GLM(y, design, family=family, var_weights=weights)
        model.data.xnames = names
        settings: dict[str, Any] = {
            "maxiter": 50,
            "tol_criterion": "params",
            "atol": 0.0,
            "rtol": 1e-11,
        }
        try:
            return model.fit(start_params=start, **settings)
        except ValueError:  # from an exact start it divides nothing by nothing
            return model.fit(start_params=start * (1 + 1e-7), **settings)


def _notes_of(fit: GLMCurve) -> tuple[str, ...]:
    """Bounds, noise that the replicates contradict, misfit."""
    notes = [
        f"{name} is on its bound {value:g}: standard errors of the others are conditional on it, and 95 % intervals of "
        "what depends on it cover up to 98 %"
        for name, value, held in zip(fit.param_names, fit.params, fit.at_bound, strict=True)
        if held
    ]
    if fit.df_resid <= 0:
        return (*notes, f"{NO_DF}: the curve goes through all points, and no interval has a limit")
    if fit.exact:
        return (*notes, NO_NOISE)
    if fit.bounded:
        notes.extend(_within_reach(fit))
    notes.extend(check_noise(fit.x, fit.y, fit.weights, fit.noise))
    if fit.nobs - fit.df_resid < len(np.unique(fit.x)) < fit.nobs:
        p = fit.lack_of_fit().pvalue
        if p < MISFIT:
            notes.append(
                f"the curve misses the means of the replicates by more than their spread explains (p = {p:.2g})"
            )
    return tuple(notes)


def _within_reach(fit: GLMCurve) -> list[str]:
    """Say which of alpha and beta could be zero: the intervals are then not exact but
    conservative.
    """
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
    return [
        f"the data allow {' and '.join(near)} of 0, the bound: 95 % intervals of what depends on it cover up to 98 %"
    ]
