"""Two straight pieces that meet at a breakpoint: a linear model by statsmodels, whose breakpoint is searched for."""

from __future__ import annotations

import math

import numpy as np
import statsmodels.api as sm
from numpy.typing import ArrayLike

from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.noise import NOISES, check_noise
from virtperf.models.question import NO_DF
from virtperf.models.result import inverse_gram
from virtperf.models.segmented_law import FORMULAS, NAMES, curve, design, names_of_columns, search
from virtperf.models.segmented_result import SegmentedResult

__all__ = ["NAMES", "SegmentedResult", "fit_segmented"]

REWEIGHTINGS = 3  # of proportional noise


def fit_segmented(
    x: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None, form: str = "free", noise: str = "constant"
) -> SegmentedResult:
    """Fit two straight pieces that meet at a breakpoint, by exact least squares (Hudson 1966).

    Parameters
    ----------
    x, y : array_like, shape (n,)
    weights : array_like, shape (n,), optional
        Proportional to one over the variance of each row.
    form : {"free", "plateau-decline", "rise-plateau"}
        Two free slopes; no slope before the break; no slope after it. The sign of a slope is not forced, but a warning
        says if it contradicts the name. The breakpoint is sought where each sloping piece has two distinct x.
    noise : {"constant", "proportional"}
        Standard deviation the same everywhere, or a share of the mean (positive y): weights are then divided by the
        squares of the fitted values, which are found in a few rounds. Replicates that speak against the choice make a
        warning.

    Returns
    -------
    SegmentedResult

    Raises
    ------
    ModelError
        For rows that are not finite, or too few rows or distinct x.

    Notes
    -----
    The global optimum is found in closed form in each gap between neighbouring x: time and memory are O(n**2). With
    the breakpoint known, the model is linear, and statsmodels fits it.

    References
    ----------
    Hudson, D. J. (1966). Fitting segmented curves whose join points have to be estimated. J. Am. Stat. Assoc. 61.
    """
    names = NAMES[checks.one_of(form, tuple(NAMES), "form")]
    proportional = checks.one_of(noise, tuple(NOISES), "kind of noise") == "proportional"
    xs, ys = checks.column(x, "x"), checks.column(y, "y", positive=proportional)
    checks.same_length(("x", xs), ("y", ys))
    checks.enough(xs, names, name="x")
    given = w = checks.weights_or_ones(weights, len(xs))
    for _ in range(REWEIGHTINGS if proportional else 0):
        psi = best_place(xs, ys, w, form)[0]
        fitted = sm.WLS(ys, design(form, xs, psi), weights=w).fit().fittedvalues
        w = given / np.maximum(fitted, ys.min() / 2) ** 2
    psi, warnings = best_place(xs, ys, w, form)
    model = sm.WLS(ys, design(form, xs, psi), weights=w)
    model.data.xnames = names_of_columns(form, psi)
    results = model.fit()
    params = np.append(np.asarray(results.params), psi)
    if form == "free":
        params[2] += params[1]
    elif form == "rise-plateau":
        params[1] = -params[1]
    fitted, gradient = curve(form, xs, params)
    df = len(xs) - len(params)
    rss = float(np.sum(w * (ys - fitted) ** 2))
    inverse, known = inverse_gram(np.sqrt(w)[:, None] * gradient)
    if not known:
        warnings = (*warnings, "the pieces do not differ, or the breakpoint is an x: there are no standard errors")
    falls = {"plateau-decline": params[1] > 0, "rise-plateau": params[1] < 0, "free": False}[form]
    if falls:
        verb = "rises" if form == "plateau-decline" else "falls"
        warnings = (*warnings, f"the sloping piece {verb}, against {form!r}")
    if df <= 0:
        warnings = (*warnings, f"{NO_DF}: the curve goes through all points, and no interval has a limit")
    checked = check_noise(xs, ys, given) if ys.min() > 0 else None
    contradicted = checked.warning(noise) if checked else None
    return SegmentedResult(
        model=f"Two-piece line ({form}): {FORMULAS[form]}", param_names=names, params=params,
        covariance=inverse * (rss / df if df > 0 else math.nan), x=xs, y=ys, weights=w, fittedvalues=fitted,
        df_resid=df, warnings=(*warnings, contradicted) if contradicted else warnings, form=form, noise=noise,
        given=given, results=results,
    )  # fmt: skip


def best_place(x: Array, y: Array, w: Array, form: str) -> tuple[float, tuple[str, ...]]:
    kinks, sign = search(x, y, w, form)
    psi, warnings = kinks.best()
    return sign * psi, warnings
