"""Straight lines and other linear models, by statsmodels: WLS, robust covariances (HC3), Huber's
estimator (RLM).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from statsmodels.regression.linear_model import WLS, RegressionResults
from statsmodels.robust.norms import HuberT
from statsmodels.robust.robust_linear_model import RLM

from rawperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.result import NO_DF, Estimate, FitResult, FTest, f_test

COVARIANCES = ("nonrobust", "HC3")
ROUNDS = 50
"""Most rounds of weights of proportional noise; four or five are usual."""
OUTLIER = 0.5
"""A row to which Huber's norm gives less than this weight is named as an outlier: more than 2.7
robust deviations.
"""


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearResult(FitResult):
    """A fitted linear model; see `FitResult` for the common part.

    Parameters
    ----------
    cov_type : {"nonrobust", "HC3", "Huber"}
        How `covariance` was estimated.
    degree : int or None
        Degree of the polynomial in x, or None if `x` is a design matrix of shape (n, p).
    """

    cov_type: str
    degree: int | None = None

    @property
    def rsquared(self) -> float:
        """Share of the (weighted) variation around the mean that the model explains; 0 where y does
        not vary.
        """
        mean = np.average(self.y, weights=self.weights)
        around = float(np.sum(self.weights * (self.y - mean) ** 2))
        return 1 - self.rss / around if around > 0 else 0.0

    def joint_test(self, **values: float) -> FTest:
        """Test whether the named parameters have the given values at once.

        ``F = d' inv(V) d / q`` with the difference d from the estimates and their covariance V. A
        point belongs to the joint confidence region of level 1 - alpha if its p-value exceeds
        alpha: ``joint_test(intercept=0, slope=1)``.
        """
        if not values:
            raise ModelError("a joint test needs at least one parameter", expected="name=value")
        places = [self.index(name) for name in values]
        gap = self.params[places] - checks.column(list(values.values()), "tested value")
        quadratic = float(gap @ np.linalg.solve(self.covariance[np.ix_(places, places)], gap))
        claim = ", ".join(f"{name} = {value:g}" for name, value in values.items())
        # With the covariance known up to scale, the quadratic form over q is the F statistic
        # itself.
        return f_test(quadratic, len(places), self.df_resid, self.df_resid, claim)

    def _new(self, new: ArrayLike) -> Array:
        if self.degree is not None:
            return super()._new(new)
        return np.atleast_2d(np.asarray(new, dtype=float))

    def _curve(self, new: Array) -> tuple[Array, Array]:
        design = new if self.degree is None else np.vander(new, self.degree + 1, increasing=True)
        return design @ self.params, design


@dataclass(frozen=True, eq=False, kw_only=True)
class LineResult(LinearResult):
    """A fitted straight line ``y = intercept + slope x``."""

    def intercept(self, alpha: float = 0.05) -> Estimate:
        """Return the intercept with its interval."""
        return self.estimate("intercept", alpha)

    def slope(self, alpha: float = 0.05) -> Estimate:
        """Return the slope with its interval."""
        return self.estimate("slope", alpha)

    def linearity_test(self) -> FTest:
        """Test the line against a parabola, with the line's weights (an F test, whatever `cov_type`
        is).
        """
        checks.enough(self.x, ("intercept", "slope", "curvature"), name="x")
        bent = fit_polynomial(self.x, self.y, 2, weights=self.weights)
        return f_test(
            self.rss - bent.rss, 1, bent.rss, bent.df_resid, "the relation is a straight line"
        )


def fit_line(
    x: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    noise: str = "constant",
    cov_type: str = "nonrobust",
) -> LineResult:
    """Fit ``y = intercept + slope x``.

    Parameters
    ----------
    x, y : array_like, shape (n,)
    weights : array_like, shape (n,), optional
        Proportional to one over the variance of each row; not with proportional noise.
    noise : {"constant", "proportional"}
        Every row has the same variance; or its standard deviation is a share of the line's value,
        as that of runs of computers often is: the weights are then one over the squared value of
        the line itself (y is positive).
    cov_type : {"nonrobust", "HC3"}
        HC3 (MacKinnon and White 1985) allows unequal variances; with few points it is much wider.

    Raises
    ------
    ModelError
        For rows that are not finite, fewer than two rows or identical x, or a line that is not
        positive.
    """
    options: dict[str, Any] = {"weights": weights, "noise": noise, "cov_type": cov_type}
    return _fit_powers(LineResult, x, y, ("intercept", "slope"), options)


def fit_robust_line(x: ArrayLike, y: ArrayLike) -> LineResult:
    """Fit a straight line by Huber's M estimator, which a single outlying run does not move far
    (statsmodels' RLM).

    Outliers stay in the fit with a small weight; a warning names each of them.

    Raises
    ------
    ModelError
        For rows that are not finite, or fewer than four rows.
    """
    xs, ys = checks.column(x, "x"), checks.column(y, "y")
    checks.same_length(("x", xs), ("y", ys))
    checks.enough(xs, ("intercept", "slope"), name="x")
    if len(xs) < 4:
        raise ModelError(f"{len(xs)} rows can't tell an outlier", expected="at least 4 rows")
    results = RLM(ys, np.vander(xs, 2, increasing=True), M=HuberT()).fit()
    if not results.scale > 1e-12 * float(np.ptp(ys)):
        raise ModelError(
            "more than half of the rows lie on one line exactly", remedy="fit an ordinary line"
        )
    outliers = tuple(
        f"row {i + 1} (x = {xs[i]:g}, y = {ys[i]:g}) is an outlier: it counts {100 * w:.0f} % of another row"
        for i, w in enumerate(results.weights)
        if w < OUTLIER
    )
    return LineResult(
        model="Straight line, Huber's M estimator: y = intercept + slope x",
        param_names=("intercept", "slope"),
        params=results.params,
        covariance=results.cov_params(),
        x=xs,
        y=ys,
        weights=np.asarray(results.weights),
        fittedvalues=results.fittedvalues,
        df_resid=len(xs) - 2,
        warnings=outliers,
        results=results,
        noise="weights",
        cov_type="Huber",
        degree=1,
    )


def fit_polynomial(x: ArrayLike, y: ArrayLike, degree: int, **options: Any) -> LinearResult:
    """Fit a polynomial of the given degree; parameters ``b0, b1, ...``; options as those of
    `fit_line`.
    """
    return _fit_powers(LinearResult, x, y, tuple(f"b{k}" for k in range(degree + 1)), options)


def fit_linear(
    design: ArrayLike, y: ArrayLike, names: Sequence[str], **options: Any
) -> LinearResult:
    """Fit ``y = design @ params`` for a design of shape (n, p), without intercept; options as those
    of `fit_line`.
    """
    matrix = np.asarray(design, dtype=float)
    if matrix.ndim != 2 or matrix.shape[1] != len(names):
        raise ModelError(
            "the design has the wrong shape", expected=f"(n, {len(names)})", found=str(matrix.shape)
        )
    for name, values in zip(names, matrix.T, strict=True):
        checks.column(values, name)
    return _fit(LinearResult, matrix, matrix, y, tuple(names), None, **options)


Result = TypeVar("Result", bound=LinearResult)


def _fit_powers(
    kind: type[Result], x: ArrayLike, y: ArrayLike, names: tuple[str, ...], options: dict[str, Any]
) -> Result:
    xs = checks.column(x, "x")
    checks.enough(xs, names, name="x")
    return _fit(
        kind, np.vander(xs, len(names), increasing=True), xs, y, names, len(names) - 1, **options
    )


def _fit(
    kind: type[Result],
    design: Array,
    x: Array,
    y: ArrayLike,
    names: tuple[str, ...],
    degree: int | None,
    *,
    weights: ArrayLike | None = None,
    noise: str = "constant",
    cov_type: str = "nonrobust",
) -> Result:
    checks.one_of(cov_type, COVARIANCES, "covariance type")
    proportional = checks.noise(noise, weights) == "proportional"
    ys = checks.column(y, "y", positive=proportional, remedy="take the noise as constant")
    checks.same_length(("x", design), ("y", ys))
    n, p = design.shape
    if n < p:
        raise ModelError(
            f"{n} rows can't determine {p} parameters ({', '.join(names)})",
            expected=f"at least {p} rows",
        )
    w = checks.weights_or_ones(weights, n) if not proportional else ys**-2.0
    basis, back = _basis(design, x, degree)
    weighted = basis * np.sqrt(w)[:, None]
    scaled = weighted / np.linalg.norm(weighted, axis=0)
    if not np.all(np.isfinite(scaled)) or np.linalg.matrix_rank(scaled, tol=1e-13) < p:
        raise ModelError(
            f"the rows do not determine {', '.join(names)}",
            expected="linearly independent columns",
            remedy="measure at other x or drop a parameter",
        )
    fitted = WLS(ys, basis, weights=w).fit()
    if proportional:
        fitted, w = _proportional(ys, basis, fitted)
    results = _results(fitted, design, names, back)
    if cov_type == "HC3" and n > p:
        results = _robust(results)
    warnings: tuple[str, ...] = ()
    if n == p:
        covariance = np.full((p, p), np.nan)
        warnings = (f"{NO_DF}: there are no standard errors",)
    else:
        covariance = (
            results.cov_params() if cov_type == "HC3" else back @ fitted.cov_params() @ back.T
        )
        if np.allclose(fitted.fittedvalues, ys, rtol=1e-12, atol=1e-12 * float(np.ptp(ys))):
            warnings = (
                "the fit is exact: intervals without width say nothing about runs that were not made",
            )
    formula = "y = " + " + ".join(names) if degree is None else f"Polynomial of degree {degree}"
    return kind(
        model="Straight line: y = intercept + slope x" if kind is LineResult else formula,
        param_names=names,
        params=back @ fitted.params,
        covariance=np.asarray(covariance),
        x=x,
        y=ys,
        weights=w,
        fittedvalues=np.asarray(fitted.fittedvalues),
        df_resid=n - p,
        warnings=warnings,
        results=results,
        noise="weights" if weights is not None else noise,
        cov_type=cov_type,
        degree=degree,
    )


def _basis(design: Array, x: Array, degree: int | None) -> tuple[Array, Array]:
    """Columns that are far from dependent, shape (n, p), and the matrix from their parameters to
    the model's, (p, p).

    Polynomials are fitted in ``(x - centre) / half of the range``: powers of x itself lose up to
    ten digits.
    """
    if degree is None:
        size = np.linalg.norm(design, axis=0)
        return design / size, np.diag(1 / size)
    centre, half = round(float(x.max() + x.min()) / 2), float(np.ptp(x)) / 2
    power = np.arange(degree + 1)
    lower = power[None, :] - power[:, None]
    factor = np.where(
        lower >= 0, (-float(centre)) ** np.maximum(lower, 0) / half ** power[None, :], 0.0
    )
    back = special.comb(power[None, :], power[:, None]) * factor
    return np.vander((x - centre) / half, degree + 1, increasing=True), back


def _proportional(y: Array, basis: Array, fitted: Any) -> tuple[Any, Array]:
    """Weights of one over the squared fitted values, until they no longer change: a gamma model
    with identity link.
    """
    for _ in range(ROUNDS):
        mean = fitted.fittedvalues
        if np.min(mean) <= 0:
            raise ModelError(
                "the line is not positive everywhere, so noise can't be proportional to it",
                expected="positive fitted values",
                found=f"{float(np.min(mean)):g}",
                remedy="take the noise as constant",
            )
        w = mean**-2.0
        again = WLS(y, basis, weights=w).fit()
        change = float(np.max(np.abs(again.fittedvalues / mean - 1)))
        fitted = again
        if change < 1e-12:
            break
    return fitted, fitted.fittedvalues**-2.0


def _results(fitted: Any, design: Array, names: tuple[str, ...], back: Array) -> Any:
    """statsmodels' results for the model's own parameters."""
    model = WLS(fitted.model.endog, design, weights=fitted.model.weights)
    model.exog_names[:] = list(names)
    # What `fit` would leave in the model for summaries and robust covariances.
    model.pinv_wexog, model.rank = np.linalg.pinv(model.wexog, rcond=1e-15), design.shape[1]
    return RegressionResults(
        model, back @ fitted.params, back @ fitted.normalized_cov_params @ back.T
    )


def _robust(results: Any) -> Any:
    """The results with the covariance HC3."""
    design, w = results.model.exog, results.model.weights
    if (
        np.max(np.einsum("ij,jk,ik->i", design, results.normalized_cov_params, design) * w)
        > 1 - 1e-12
    ):
        raise ModelError(
            "one row alone determines a parameter, so HC3 has no value",
            remedy="replicate that point, or use no HC3",
        )
    return results.get_robustcov_results("HC3", use_t=True)
