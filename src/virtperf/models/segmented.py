"""Two straight pieces that meet at a breakpoint: a linear model by statsmodels, whose breakpoint is
searched for.
"""

from __future__ import annotations

import math

import numpy as np
import statsmodels.api as sm
from numpy.typing import ArrayLike

from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.noise import check_noise
from virtperf.models.pieces import FORMS, curve, design, search
from virtperf.models.result import NO_DF, inverse_gram
from virtperf.models.segmented_result import SegmentedResult

REWEIGHTINGS = 3  # of proportional noise


def fit_segmented(
    x: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    form: str = "free",
    noise: str = "constant",
) -> SegmentedResult:
    """Fit two straight pieces that meet at a breakpoint, by exact least squares.

    Parameters
    ----------
    x, y : array_like, shape (n,)
    weights : array_like, shape (n,), optional
        Proportional to one over the variance of each row.
    form : {"free", "plateau-decline", "rise-plateau"}
        Two free slopes; no slope before the break; no slope after it. The sign of a slope is not
        forced, but a warning says if it contradicts the name. The breakpoint is sought where each
        sloping piece has two distinct x.
    noise : {"constant", "proportional"}
        As in `usl.fit_usl`; proportional noise (positive y) divides the weights by the squares of
        the fitted values, which are found in a few rounds.

    Raises
    ------
    ModelError
        For rows that are not finite, or too few rows or distinct x.

    Notes
    -----
    The global optimum is found in closed form in each gap between neighbouring x: time and memory
    are O(n**2). With the breakpoint known, the model is linear, and statsmodels fits it.

    References
    ----------
    Hudson, D. J. (1966). Fitting segmented curves whose join points have to be estimated. J. Am.
    Stat. Assoc. 61.
    """
    kind = FORMS[checks.one_of(form, tuple(FORMS), "form")]
    proportional = checks.noise(noise) == "proportional"
    xs, ys = checks.column(x, "x"), checks.column(y, "y", positive=proportional)
    checks.same_length(("x", xs), ("y", ys))
    checks.enough(xs, kind.names, name="x")
    given = w = checks.weights_or_ones(weights, len(xs))
    for _ in range(REWEIGHTINGS if proportional else 0):
        psi, _ = _best_place(xs, ys, w, form)
        fitted = sm.WLS(ys, design(form, xs, psi), weights=w).fit().fittedvalues
        w = given / np.maximum(fitted, ys.min() / 2) ** 2
    psi, notes = _best_place(xs, ys, w, form)
    model = sm.WLS(ys, design(form, xs, psi), weights=w)
    hinge = f"max(x - {psi:.6g}, 0)" if kind.sign > 0 else f"max({psi:.6g} - x, 0)"
    model.data.xnames = ["1", "x", hinge] if form == "free" else ["1", hinge]
    results = model.fit()
    params = np.append(np.array(kind.turn) @ np.asarray(results.params), psi)
    fitted, gradient = curve(form, xs, params)
    df = len(xs) - len(params)
    rss = float(np.sum(w * (ys - fitted) ** 2))
    inverse, known = inverse_gram(np.sqrt(w)[:, None] * gradient)
    if not known:
        notes.append(
            "the pieces do not differ, or the breakpoint is an x: there are no standard errors"
        )
    if form == "plateau-decline" and params[1] > 0:
        notes.append(f"the sloping piece rises, against {form!r}")
    if form == "rise-plateau" and params[1] < 0:
        notes.append(f"the sloping piece falls, against {form!r}")
    if df <= 0:
        notes.append(f"{NO_DF}: the curve goes through all points, and no interval has a limit")
    if ys.min() > 0:
        notes.extend(check_noise(xs, ys, given, noise))
    return SegmentedResult(
        model=f"Two-piece line ({form}): {kind.formula}",
        param_names=kind.names,
        params=params,
        covariance=inverse * (rss / df if df > 0 else math.nan),
        x=xs,
        y=ys,
        weights=w,
        fittedvalues=fitted,
        df_resid=df,
        warnings=tuple(notes),
        form=form,
        noise=noise,
        given=given,
        results=results,
    )


def _best_place(x: Array, y: Array, weights: Array, form: str) -> tuple[float, list[str]]:
    psi, notes = search(x, y, weights, form).best()
    return FORMS[form].sign * psi, list(notes)
