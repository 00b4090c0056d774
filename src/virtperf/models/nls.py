"""Nonlinear least squares with an analytic Jacobian, weights, bounds and profile-likelihood intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.levenberg import Minimum, detour, minimise
from virtperf.models.profile import Path, limits
from virtperf.models.result import Estimate, FitResult, inverse_gram, t_quantile

INNER_ITERATIONS = 100  # of a fit along a profile, which starts near its optimum


@dataclass(frozen=True)
class Curve:
    """A regression curve ``y = value(x, params)`` with its analytic Jacobian.

    Parameters
    ----------
    formula : str
        Name and formula in one line.
    param_names : tuple of str, length p
    value : callable
        ``(x, params) -> y``, of shape (n,); x has shape (n,) or, with k regressors, (n, k). Infinite values forbid a
        parameter vector.
    jacobian : callable
        ``(x, params) -> d y / d params``, of shape (n, p).
    lower, upper : tuple of float, optional
        Bounds of the parameters; without them every real number is allowed.
    """

    formula: str
    param_names: tuple[str, ...]
    value: Callable[[Array, Array], Array]
    jacobian: Callable[[Array, Array], Array]
    lower: tuple[float, ...] | None = None
    upper: tuple[float, ...] | None = None

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper bounds, each of shape (p,)."""
        p = len(self.param_names)
        low = np.full(p, -np.inf) if self.lower is None else np.array(self.lower, dtype=float)
        high = np.full(p, np.inf) if self.upper is None else np.array(self.upper, dtype=float)
        return low, high


@dataclass(frozen=True, eq=False, kw_only=True)
class NLSResult(FitResult):
    """A fitted nonlinear curve; see `FitResult`.

    Parameters
    ----------
    curve : Curve
    at_bound : tuple of bool, length p
        True for a parameter whose best value is its bound: it has no standard error, and its profile interval is
        one-sided.
    """

    curve: Curve
    at_bound: tuple[bool, ...]

    def estimate(self, name: str, alpha: float = 0.05, method: str = "profile") -> Estimate:
        """Return one parameter with its interval.

        Parameters
        ----------
        name : str
        alpha : float
            One minus the confidence level.
        method : {"profile", "t"}
            Profile likelihood, ``{b : RSS(b) <= RSS + s**2 F(1 - alpha; 1, df)}`` with the other parameters refitted
            inside their bounds (Bates and Watts 1988, section 6.1), or the linear approximation
            ``b +- t(1 - alpha/2, df) se``.
        """
        checks.one_of(method, ("profile", "t"), "interval method")
        if method == "t":
            return super().estimate(name, alpha)
        k = self.index(name)
        lower, upper = self.curve.bounds
        rest = np.arange(len(self.params)) != k
        tangent = np.eye(len(self.params))[:, rest]

        def embed(c: float, phi: Array) -> tuple[Array, Array]:
            theta = np.empty(len(rest))
            theta[k], theta[rest] = c, phi
            return theta, tangent

        path = Path(
            embed=embed,
            phi=self.params[rest],
            bounds=lambda c: (lower[rest], upper[rest]),
            value=float(self.params[k]),
            se=float(self.bse[k]),
            domain=(float(lower[k]), float(upper[k])),
        )
        return self.profile(path, alpha, name)

    def profile(self, path: Path, alpha: float, name: str) -> Estimate:
        """Return the profile-likelihood estimate of the quantity that is constant along `path`."""
        # The nearest coordinates known so far are the next start: it matters far from the optimum.
        known = [(path.value, path.phi)]
        least = [self.rss]

        def rss_at(c: float) -> float:
            _, start = min(known, key=lambda pair: abs(pair[0] - c))
            found = self.along(path, c, start)
            known.append((c, found.params))
            least[0] = min(least[0], found.rss)
            return found.rss

        low, high = limits(rss_at, path, rss=self.rss, scale=self.scale, quantile=t_quantile(self.df_resid, alpha))
        notes = []
        if path.value in path.domain:
            notes.append(f"{name} is on its bound {path.value:g}: the interval is one-sided")
        if self.df_resid <= 0:
            notes.append("no degrees of freedom are left")
        if least[0] < (1 - 1e-6) * self.rss - (1e-13 * float(np.linalg.norm(self.y))) ** 2:
            notes.append("the profile found a better fit than the reported optimum: other starts are needed")
        return Estimate(path.value, low, high, 1 - alpha, "profile likelihood", tuple(notes))

    def along(self, path: Path, c: float, start: Array) -> Minimum:
        """Minimise the weighted sum of squares over the coordinates of `path` where its quantity is c."""
        root = np.sqrt(self.weights)

        def residuals(phi: Array) -> Array:
            return root * (self.curve.value(self.x, path.embed(c, phi)[0]) - self.y)

        def jacobian(phi: Array) -> Array:
            theta, tangent = path.embed(c, phi)
            return root[:, None] * (self.curve.jacobian(self.x, theta) @ tangent)

        if start.size == 0:
            return Minimum(start, residuals(start), np.empty((self.nobs, 0)), np.empty(0, dtype=bool), True)
        # An offset of 1e-5 leaves an error of 1e-10 of the sum of squares: enough for a limit.
        size = float(np.linalg.norm(root * self.y))
        return minimise(
            residuals, jacobian, start, *path.bounds(c), size=size, tolerance=1e-5, iterations=INNER_ITERATIONS
        )

    def conf_int(self, alpha: float = 0.05, method: str = "profile") -> Array:
        """Return the limits of all parameters, shape (p, 2); see `estimate` for the methods."""
        return super().conf_int(alpha, method)

    def refit(self, y: Array) -> Array:
        """Return the parameters for other observations at the same x, starting from this fit (for resampling)."""
        found = _minimise(self.curve, self.x, y, self.weights, self.params)
        if not found.converged:
            raise ModelError("the refit did not converge", remedy="resample with another seed or fewer parameters")
        return found.params

    def _default_estimate(self, name: str, alpha: float) -> Estimate:
        return self.estimate(name, alpha)

    def _new(self, new: ArrayLike) -> Array:
        return checks.rows(np.atleast_2d(np.asarray(new)), "new x") if self.x.ndim == 2 else super()._new(new)

    def _curve(self, new: Array) -> tuple[Array, Array]:
        return self.curve.value(new, self.params), self.curve.jacobian(new, self.params)


def fit_nls(
    curve: Curve,
    x: ArrayLike,
    y: ArrayLike,
    starts: Sequence[ArrayLike],
    *,
    weights: ArrayLike | None = None,
) -> NLSResult:
    """Fit `curve` by (weighted) least squares from several starts and keep the best.

    Parameters
    ----------
    curve : Curve
    x : array_like, shape (n,) or (n, k)
        One regressor, or k.
    y : array_like, shape (n,)
    starts : sequence of array_like, each of shape (p,)
    weights : array_like, shape (n,), optional
        Proportional to one over the variance of each row.

    Returns
    -------
    NLSResult

    Raises
    ------
    ModelError
        For rows that are not finite, too few rows or distinct x, or if no start converges.
    """
    xs, ys = checks.rows(x, "x"), checks.column(y, "y")
    checks.same_length(("x", xs), ("y", ys))
    checks.enough(xs, curve.param_names, name="x")
    return best_fit(NLSResult, curve, xs, ys, checks.weights_or_ones(weights, len(xs)), starts)


Result = TypeVar("Result", bound=NLSResult)


def best_fit(
    result: type[Result], curve: Curve, x: Array, y: Array, weights: Array, starts: Sequence[ArrayLike], **extra: object
) -> Result:
    """Fit checked data from several starts, and return the best as a `result` with its `extra` fields."""
    tried = [_minimise(curve, x, y, weights, np.asarray(start, dtype=float)) for start in starts]
    good = [t for t in tried if t.converged]
    if not good:
        raise ModelError(
            f"no start led to an optimum of: {curve.formula}",
            remedy="give starts nearer to the data or fewer parameters",
        )
    best = min(good, key=lambda t: t.rss)
    lower, upper = curve.bounds
    # A bound that is reached with a zero gradient is an interior optimum that happens to lie there.
    held = ~best.free & ((best.params <= lower) | (best.params >= upper))
    df = len(x) - int(np.sum(~held))
    warnings = [
        f"{name} is on its bound {value:g}; standard errors of the others are conditional on it"
        for name, value, at in zip(curve.param_names, best.params, held, strict=True)
        if at
    ]
    covariance = np.full((len(held), len(held)), np.nan)
    inverse, determined = inverse_gram(best.jacobian[:, ~held])
    covariance[np.ix_(~held, ~held)] = inverse * (best.rss / df if df > 0 else math.nan)
    if not determined:
        warnings.append("the data do not determine all parameters: the Jacobian is singular at the optimum")
    return result(
        model=curve.formula,
        param_names=curve.param_names,
        params=best.params,
        covariance=covariance,
        x=x,
        y=y,
        weights=weights,
        fittedvalues=curve.value(x, best.params),
        df_resid=df,
        warnings=tuple(warnings),
        curve=curve,
        at_bound=tuple(bool(h) for h in held),
        **extra,
    )


def _minimise(curve: Curve, x: Array, y: Array, weights: Array, start: Array) -> Minimum:
    root = np.sqrt(weights)
    size = float(np.linalg.norm(root * y))

    def residuals(theta: Array) -> Array:
        return root * (curve.value(x, theta) - y)

    def jacobian(theta: Array) -> Array:
        return root[:, None] * curve.jacobian(x, theta)

    found = minimise(residuals, jacobian, start, *curve.bounds, size=size)
    if not found.converged and math.isfinite(found.rss):
        near = detour(residuals, jacobian, start, *curve.bounds)
        found = minimise(residuals, jacobian, near, *curve.bounds, size=size)
    return found
