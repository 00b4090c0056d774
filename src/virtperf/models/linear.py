"""Straight lines (and other linear models) by ordinary or weighted least squares; HC3 covariances by statsmodels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from statsmodels.regression.linear_model import WLS

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.refine import powers, solve
from virtperf.models.result import Estimate, FitResult, FTest, f_test, inverse_gram

COVARIANCES = ("nonrobust", "HC3")


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearResult(FitResult):
    """A fitted linear model; see `FitResult` for the common part.

    Parameters
    ----------
    cov_type : {"nonrobust", "HC3"}
        How `covariance` was estimated.
    degree : int or None
        Degree of the polynomial in x, or None if `x` is a design matrix of shape (n, p).
    """

    cov_type: str
    degree: int | None = None

    @property
    def rsquared(self) -> float:
        """Share of the (weighted) variation around the mean that the model explains."""
        mean = np.average(self.y, weights=self.weights)
        return 1 - self.rss / float(np.sum(self.weights * (self.y - mean) ** 2))

    def joint_test(self, **values: float) -> FTest:
        """Test whether the named parameters have the given values at once.

        ``F = d' inv(V) d / q`` with the difference d from the estimates and their covariance V. A point belongs to the
        joint confidence region of level 1 - alpha if its p-value exceeds alpha: ``joint_test(intercept=0, slope=1)``.
        """
        if not values:
            raise ModelError("a joint test needs at least one parameter", expected="name=value")
        places = [self.index(name) for name in values]
        gap = self.params[places] - checks.column(list(values.values()), "tested value")
        quadratic = float(gap @ np.linalg.solve(self.covariance[np.ix_(places, places)], gap))
        claim = ", ".join(f"{name} = {value:g}" for name, value in values.items())
        # With the covariance known up to scale, the quadratic form over q is the F statistic itself.
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
        """Return the intercept with its t interval."""
        return self.estimate("intercept", alpha)

    def slope(self, alpha: float = 0.05) -> Estimate:
        """Return the slope with its t interval."""
        return self.estimate("slope", alpha)

    def joint_region(self, alpha: float = 0.05, points: int = 120) -> Array:
        """Return the boundary of the joint confidence region, an ellipse, as points of shape (points, 2).

        Intercept and slope in columns; all pairs whose `joint_test` has a p-value of `alpha` (Draper and Smith 1998,
        section 5.4).
        """
        checks.level(alpha)
        if self.df_resid <= 0:
            raise ModelError("no degrees of freedom are left for a region", remedy="measure at more points")
        radius = np.sqrt(2 * special.fdtri(2, self.df_resid, 1 - alpha))
        angle = np.linspace(0, 2 * np.pi, points)
        circle = np.column_stack((np.cos(angle), np.sin(angle)))
        return self.params + radius * circle @ np.linalg.cholesky(self.covariance).T

    def linearity_test(self) -> FTest:
        """Test the line against a parabola (an F test, whatever `cov_type` is)."""
        checks.enough(self.x, ("intercept", "slope", "curvature"), name="x")
        centred = self.x - self.x.mean()
        names = ("intercept", "slope", "curvature")
        bent = fit_linear(np.vander(centred, 3, increasing=True), self.y, names, weights=self.weights)
        return f_test(self.rss - bent.rss, 1, bent.rss, bent.df_resid, "the relation is a straight line")


def fit_line(
    x: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None, cov_type: str = "nonrobust"
) -> LineResult:
    """Fit ``y = intercept + slope x``.

    Parameters
    ----------
    x, y : array_like, shape (n,)
    weights : array_like, shape (n,), optional
        Proportional to one over the variance of each row.
    cov_type : {"nonrobust", "HC3"}
        HC3 (MacKinnon and White 1985) allows unequal variances; with few points it is much wider.

    Raises
    ------
    ModelError
        For rows that are not finite, fewer than two rows or identical x.
    """
    xs = checks.column(x, "x")
    checks.enough(xs, ("intercept", "slope"), name="x")
    names = ("intercept", "slope")
    return _fit(LineResult, np.vander(xs, 2, increasing=True), xs, y, names, weights, cov_type, 1)


def fit_polynomial(
    x: ArrayLike, y: ArrayLike, degree: int, *, weights: ArrayLike | None = None, cov_type: str = "nonrobust"
) -> LinearResult:
    """Fit a polynomial of the given degree; parameters ``b0, b1, ...``; see `fit_line`."""
    xs = checks.column(x, "x")
    names = tuple(f"b{k}" for k in range(degree + 1))
    checks.enough(xs, names, name="x")
    design, lacking = powers(xs, degree)
    return _fit(LinearResult, design, xs, y, names, weights, cov_type, degree, lacking)


def fit_linear(
    design: ArrayLike,
    y: ArrayLike,
    names: Sequence[str],
    *,
    weights: ArrayLike | None = None,
    cov_type: str = "nonrobust",
) -> LinearResult:
    """Fit ``y = design @ params`` for any design matrix of shape (n, p); no intercept is added; see `fit_line`."""
    matrix = np.asarray(design, dtype=float)
    if matrix.ndim != 2 or matrix.shape[1] != len(names):
        raise ModelError("the design has the wrong shape", expected=f"(n, {len(names)})", found=str(matrix.shape))
    for name, values in zip(names, matrix.T, strict=True):
        checks.column(values, name)
    return _fit(LinearResult, matrix, matrix, y, tuple(names), weights, cov_type, None)


Result = TypeVar("Result", bound=LinearResult)


def _fit(
    kind: type[Result],
    design: Array,
    x: Array,
    y: ArrayLike,
    names: tuple[str, ...],
    weights: ArrayLike | None,
    cov_type: str,
    degree: int | None,
    lacking: Array | None = None,
) -> Result:
    checks.one_of(cov_type, COVARIANCES, "covariance type")
    ys = checks.column(y, "y")
    checks.same_length(("x", design), ("y", ys))
    w = checks.weights_or_ones(weights, len(ys))
    n, p = design.shape
    if n < p:
        raise ModelError(f"{n} rows can't determine {p} parameters ({', '.join(names)})", expected=f"at least {p} rows")
    _, known = inverse_gram(design * np.sqrt(w)[:, None])
    if not known:
        raise ModelError(
            f"the rows do not determine {', '.join(names)}",
            expected="linearly independent columns",
            remedy="measure at other x or drop a parameter",
        )
    found = solve(design, np.zeros_like(design) if lacking is None else lacking, ys, w)
    warnings: list[str] = []
    if n == p:
        covariance = np.full((p, p), np.nan)
        warnings.append("no degrees of freedom are left: there are no standard errors")
    elif cov_type == "HC3":
        covariance = _robust(design, ys, w, found.inverse)
    else:
        covariance = found.inverse * (float(np.sum(w * found.resid**2)) / (n - p))
    formula = "y = " + " + ".join(names) if degree is None else f"Polynomial of degree {degree}"
    return kind(
        model="Straight line: y = intercept + slope x" if kind is LineResult else formula,
        param_names=names,
        params=found.params,
        covariance=covariance,
        x=x,
        y=ys,
        weights=w,
        fittedvalues=ys - found.resid,
        df_resid=n - p,
        warnings=tuple(warnings),
        cov_type=cov_type,
        degree=degree,
    )


def _robust(design: Array, y: Array, weights: Array, inverse: Array) -> Array:
    """Return the HC3 covariance of statsmodels, shape (p, p)."""
    if np.max(np.einsum("ij,jk,ik->i", design, inverse, design) * weights) > 1 - 1e-12:
        raise ModelError(
            "one row alone determines a parameter, so HC3 has no value",
            remedy='replicate that point or use cov_type="nonrobust"',
        )
    scale = np.linalg.norm(design, axis=0)
    fitted = WLS(y, design / scale, weights=weights).fit(method="qr")
    return fitted.get_robustcov_results("HC3", use_t=True).cov_params() / np.outer(scale, scale)
