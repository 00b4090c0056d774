"""Straight lines by statsmodels: WLS, and Huber's estimator (RLM) for data with outliers."""

from __future__ import annotations

import warnings as python_warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from rawperf.core.errors import ModelError
from virtperf.core.estimate import Estimate
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.diagnostics import RowNote, fit_with_notes
from virtperf.models.noise import power_of, resolve_noise
from virtperf.models.result import NO_DF, FitResult, FTest, f_test

NAMES = ("intercept", "slope")
OUTLIER_WEIGHT = 0.5
"""Huber weight below which a row is named as an outlier: more than 2.7 robust deviations."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LineResult(FitResult):
    """A fitted straight line ``y = intercept + slope x``; see `FitResult` for inherited members."""

    @property
    def exact(self) -> bool:
        """Whether the line interpolates all points up to rounding error."""
        return _is_interpolated(self.fittedvalues, self.y)

    def intercept(self, alpha: float = 0.05) -> Estimate:
        """Return the intercept with its interval."""
        return self.estimate("intercept", alpha)

    def slope(self, alpha: float = 0.05) -> Estimate:
        """Return the slope with its interval."""
        return self.estimate("slope", alpha)

    def linearity_test(self) -> FTest:
        """Test the line against a parabola, with the line's weights (F test)."""
        from statsmodels.regression.linear_model import WLS

        checks.enough(self.x, (*NAMES, "curvature"), name="x")
        centred = (self.x - self.x.mean()) / np.ptp(self.x)
        parabola = WLS(self.y, np.vander(centred, 3), weights=self.weights).fit()
        return f_test(self.rss - parabola.ssr, 1, parabola.ssr, parabola.df_resid)

    def _tests(self) -> dict[str, Callable[[], FTest]]:
        return {**super()._tests(), "linearity": self.linearity_test}

    def _curve(self, new: Array) -> tuple[Array, Array]:
        design = np.vander(new, 2, increasing=True)
        return design @ self.theta, design


def fit_line(
    x: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    noise: str | None = None,
) -> LineResult:
    """Fit ``y = intercept + slope x``.

    Parameters
    ----------
    x, y : array_like, shape (n,)
    weights : array_like, shape (n,), optional
        Proportional to one over the variance of each row; excludes `noise`.
    noise : {"constant", "counts", "proportional"}
        Equal variance for every row (the default, ordinary least squares), or a variance
        proportional to the line's value, or to its square, as runs of computers often have: the
        weights are then the inverse of that power of the line itself, as in a Poisson or Gamma GLM
        with identity link.

    Raises
    ------
    ModelError
        Rows are not finite, there are fewer than two rows or distinct x, or the line is not
        positive where the noise depends on it.
    """
    noise = resolve_noise(noise, weights, "constant")
    power = power_of(noise)
    xs, ys = checks.column(x, "x"), _response(y, power)
    checks.same_length(("x", xs), ("y", ys))
    w = checks.weights_or_ones(weights, len(xs))
    return fit_with_notes(partial(_fit, noise=noise), xs, ys, w)


def _fit(xs: Array, ys: Array, row_weights: Array, noise: str) -> LineResult:
    """Fit validated columns."""
    from statsmodels.regression.linear_model import WLS
    from statsmodels.tools.sm_exceptions import SingularMatrixWarning

    power = power_of(noise)
    checks.enough(xs, NAMES, name="x")
    w = row_weights if power == 0 else _identity_link_fit(xs, ys, power) ** -power
    centre = float(xs.mean())
    model = WLS(ys, np.vander(xs, 2, increasing=True), weights=w)
    model.data.xnames = list(NAMES)
    with python_warnings.catch_warnings():
        # x far from zero: handled by the centred columns below
        python_warnings.simplefilter("ignore", SingularMatrixWarning)
        results = model.fit()
    # Far from zero the columns 1 and x are nearly collinear; centring restores the digits.
    back = np.array([[1.0, -centre], [0.0, 1.0]])
    centred = WLS(ys, np.vander(xs - centre, 2, increasing=True), weights=w).fit()
    covariance = np.full((2, 2), np.nan)
    if len(xs) > len(NAMES):
        covariance = back @ centred.cov_params() @ back.T
    warnings: tuple[str, ...] = ()
    if len(xs) == len(NAMES):
        warnings = (f"{NO_DF}: there are no standard errors",)
    elif _is_interpolated(np.asarray(centred.fittedvalues), ys):
        warnings = ("the fit is exact: intervals of zero width say nothing about further runs",)
    return LineResult(
        model="Straight line: y = intercept + slope x",
        param_names=NAMES,
        theta=back @ centred.params,
        covariance=np.asarray(covariance),
        x=xs,
        y=ys,
        weights=w,
        fittedvalues=np.asarray(centred.fittedvalues),
        df_resid=len(xs) - len(NAMES),
        warnings=warnings,
        results=results,
        noise=noise,
    )


def _is_interpolated(fitted: Array, y: Array) -> bool:
    return bool(np.allclose(fitted, y, rtol=1e-12, atol=1e-12 * float(np.ptp(y))))


def fit_robust_line(x: ArrayLike, y: ArrayLike) -> LineResult:
    """Fit a straight line by Huber's M estimator, robust to single outliers (statsmodels' RLM).

    Outliers stay in the fit with a reduced weight; a warning names each of them.

    Raises
    ------
    ModelError
        Rows are not finite, or there are fewer than four.

    References
    ----------
    Huber, P. J. (1964). Robust estimation of a location parameter. Ann. Math. Stat. 35, 73-101.
    """
    from statsmodels.robust.norms import HuberT
    from statsmodels.robust.robust_linear_model import RLM

    xs, ys = checks.column(x, "x"), checks.column(y, "y")
    checks.same_length(("x", xs), ("y", ys))
    checks.enough(xs, NAMES, name="x")
    if len(xs) < 4:
        raise ModelError(
            f"{len(xs)} rows are too few to detect outliers", expected="at least 4 rows"
        )
    results = RLM(ys, np.vander(xs, 2, increasing=True), M=HuberT()).fit()
    if not results.scale > 1e-12 * float(np.ptp(ys)):
        raise ModelError(
            "more than half of the rows lie on one line exactly",
            remedy="use ordinary least squares",
        )
    outliers = tuple(
        RowNote(
            i,
            f"(x = {xs[i]:g}, y = {ys[i]:g}) is an outlier: its Huber weight is {w:.2f}",
        )
        for i, w in enumerate(results.weights)
        if w < OUTLIER_WEIGHT
    )
    return LineResult(
        model="Straight line, Huber's M estimator: y = intercept + slope x",
        param_names=NAMES,
        theta=results.params,
        covariance=results.cov_params(),
        x=xs,
        y=ys,
        weights=np.asarray(results.weights),
        fittedvalues=results.fittedvalues,
        df_resid=len(xs) - len(NAMES),
        warnings=outliers,
        results=results,
        noise="weights",
    )


def _response(y: ArrayLike, power: int) -> Array:
    remedy = "use constant noise"
    return checks.column(y, "y", positive=power == 2, nonnegative=power == 1, remedy=remedy)


def _identity_link_fit(x: Array, y: Array, power: int) -> Array:
    """Fitted values of a Poisson (power 1) or Gamma (2) model with identity link."""
    from statsmodels.genmod.families import Gamma, Poisson, links
    from statsmodels.genmod.generalized_linear_model import GLM
    from statsmodels.regression.linear_model import WLS

    family = Poisson if power == 1 else Gamma
    design = np.column_stack((np.ones(len(x)), (x - x.mean()) / np.ptp(x)))
    start = WLS(y, design, weights=np.maximum(y, y.max() * 1e-3) ** -power).fit().params
    with python_warnings.catch_warnings(), np.errstate(all="ignore"):
        python_warnings.simplefilter("ignore")  # about a link that allows negative means
        model = GLM(y, design, family=family(links.Identity()))
        fitted = model.fit(start_params=start, tol_criterion="params", atol=0.0, rtol=1e-12)
    mean = np.asarray(fitted.fittedvalues)
    if not np.min(mean) > 0:
        raise ModelError(
            "the line is not positive everywhere, so the variance can't depend on it",
            expected="positive fitted values",
            found=f"{float(np.min(mean)):g}",
            remedy="use constant noise",
        )
    return mean
