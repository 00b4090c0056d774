"""A fitted scalability curve and derived quantities: peak, asymptote, efficiency, predictions.

``X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))`` is one over ``d/N + s + k (N - 1)`` with
``d = (1 - alpha)/gamma``, ``s = alpha/gamma`` and ``k = beta/gamma``: a generalized linear model
with inverse link. The bounds ``0 <= alpha <= 1`` and ``beta >= 0`` are ``d, s, k >= 0``. Each
quantity is one linear equation, so its profile is a sequence of fits with a linear constraint:

| quantity | equation with profiled c | c |
|---|---|---|
| throughput at N | d/N + s + k (N - 1) = c | 1/X |
| peak load | k = c d | 1/N*^2 |
| asymptote | s = c | 1/X |
| efficiency at N | d + s N + k N (N - 1) = c (d + s) | 1/E |

The limits of the peak throughput are the maxima over N of the limits of the throughput at N.

References
----------
Gunther, N. J. (2007). Guerrilla Capacity Planning. Chapters 4 to 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rawperf.core.errors import ModelError
from virtperf.core.estimate import Estimate, Missing
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.irls import ROUNDING_SHARE, Family, along, solve
from virtperf.models.noise import power_of
from virtperf.models.profile import ProfileConstraint, inverse_of, limits
from virtperf.models.result import (
    NO_DF,
    NO_NOISE,
    FitResult,
    FTest,
    f_test,
    t_interval,
    with_origin,
)

METHODS = ("profile", "delta")
PARAMETERS = ("alpha", "beta", "gamma")
PLACES: Mapping[str, tuple[int, ...]] = {"linear": (2,), "amdahl": (0, 2), "usl": (0, 1, 2)}
"""Indices of the parameters of each kind of curve."""
FREE_PARAMETERS: Mapping[str, tuple[bool, ...]] = {
    "usl": (True, True, True),
    "amdahl": (True, True, False),
    "linear": (True, False, False),
}
"""Mask of the coefficients d, s, k of each kind."""
MISFIT_LEVEL = 0.01
"""P-value of the lack-of-fit test below which a fit has a warning and no peak."""
MERGED_LOADS = 48
"""Number of load classes for the peak's limits, if more than twice as many loads are distinct."""
PEAKS, PEAK_ROUNDS = 33, 7
"""Grid size of peak loads per round, and maximum number of grid refinements."""
ASYMPTOTE_ROW = (0.0, 1.0, 0.0)


def design_columns(x: Array) -> Array:
    """Return the design in (d, s, k) at the loads x, shape (n, 3): ``1/N, 1, N - 1``."""
    return np.column_stack((1 / x, np.ones(len(x)), x - 1))


def coefficients(b: Array) -> Array:
    """Return (alpha, beta, gamma) of (d, s, k), both of shape (..., 3)."""
    d, s, k = np.moveaxis(b, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack((s, k, np.ones_like(s)), axis=-1) / (d + s)[..., None]


def least_cost(b: Array) -> Array:
    """Return the minimum of ``1/X(N)`` over loads N from 1 to 1e9, for each row of b."""
    d, s, k = b.T
    with np.errstate(divide="ignore", invalid="ignore"):
        n = np.clip(np.where(k > 0, np.sqrt(np.maximum(d, 0.0) / k), 1e9), 1.0, 1e9)
    return np.where(k > 0, d / n + s + k * (n - 1), s)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class USLResult(FitResult):
    """A fitted scalability curve with parameters alpha, beta, gamma; see `FitResult` for inherited
    members.

    ``results`` is the statsmodels GLM of ``1/X = b0/N + b1 (N - 1)/N + b2 (N - 1)``: ``gamma =
    1/b0``, ``alpha = b1/b0``, ``beta = b2/b0``. With alpha on its bound 1 the first two columns
    coincide: ``1/X = b0 + b2 (N - 1)``.

    Quantities take ``alpha`` (one minus the confidence level); those with ``method`` offer
    "profile" (the default) and "delta".

    Parameters
    ----------
    kind : {"usl", "amdahl", "linear"}
    b : ndarray, shape (3,)
        The coefficients d, s, k, including zeros.
    cov_b : ndarray, shape (3, 3)
        Covariance of b; zero on a bound.
    at_bound : tuple of bool
        Whether the parameter's estimate is on its bound: it then has no standard error and a
        one-sided interval.
    comparisons : mapping of str to FTest
        For a selected curve: the tests of each kind against the next smaller one.
    """

    positive_x: ClassVar[bool] = True

    kind: str
    bounded: bool
    b: Array
    cov_b: Array
    at_bound: tuple[bool, ...]
    comparisons: Mapping[str, FTest] = field(default_factory=dict)

    def free(self) -> NDArray[np.bool_]:
        """Mask of the coefficients d, s, k of this kind, shape (3,)."""
        return np.array(FREE_PARAMETERS[self.kind])

    def constraint(self, name: str) -> ProfileConstraint:
        """Profile constraint of a parameter."""
        alpha, beta, gamma = (float(v) for v in coefficients(self.b))
        if name == "gamma":
            return ProfileConstraint.linear((1, 1, 0), 1 / gamma, inverse_of)
        least = 0.0 if self.bounded else -math.inf
        if name == "alpha":
            most = 1.0 if self.bounded else math.inf
            return ProfileConstraint.quotient((0, 1, 0), (1, 1, 0), alpha, (least, most))
        return ProfileConstraint.quotient((0, 0, 1), (1, 1, 0), beta, (least, math.inf))

    def throughput_constraint(self, load: float) -> ProfileConstraint:
        """Profile constraint of the reciprocal throughput at a load."""
        row = design_columns(np.array([load]))[0]
        return ProfileConstraint.linear(row, float(row @ self.b), inverse_of)

    @property
    def rss(self) -> float:
        """Pearson's statistic: the weighted sum of squared residuals, each divided by its variance
        function of the mean.
        """
        size = self.fittedvalues ** (power_of(self.noise) / 2)
        return float(np.sum(self.weights * (self.resid / size) ** 2))

    @property
    def deviance(self) -> float:
        """Objective function at the optimum."""
        eta = design_columns(self.x) @ self.b
        return float(
            self.family().deviance(self.y[:, None], self.weights[:, None], eta[:, None])[0]
        )

    def deviance_of(self, means: Array) -> float:
        """Deviance of the rows from given means."""
        eta = 1 / np.maximum(means, np.finfo(float).tiny)
        return float(
            self.family().deviance(self.y[:, None], self.weights[:, None], eta[:, None])[0]
        )

    @property
    def exact(self) -> bool:
        """Whether the curve interpolates all points up to rounding error."""
        size = self.family().size(self.y[:, None], self.weights[:, None])
        return bool(self.deviance <= 100 * ROUNDING_SHARE * size[0])

    def family(self) -> Family:
        """GLM family of the noise model."""
        return Family(power_of(self.noise))

    @property
    def pvalues(self) -> pd.Series:
        """P-values of alpha and of beta being zero, by the F tests that their profile intervals
        invert; NaN for gamma, for which zero is no curve.
        """
        pvalues = pd.Series(math.nan, index=list(self.param_names))
        if self.df_resid <= 0 or self.exact:
            return pvalues
        shape = self.y[None, :], self.weights[None, :]
        for place, name in ((1, "alpha"), (2, "beta")):
            if name not in self.param_names:
                continue
            without = np.where(np.arange(3) == place, False, self.free())
            least = solve(
                self.family(), design_columns(self.x), *shape, free=without, bounded=self.bounded
            ).deviance[0]
            rest = self.scale * self.df_resid
            pvalues[name] = f_test(
                float(least) - self.deviance, 1, rest, self.df_resid, f"{name} is 0"
            ).pvalue
        return pvalues

    @cached_property
    def misfit(self) -> float:
        """P-value of the lack-of-fit test; NaN where not applicable."""
        if self.df_resid <= 0 or self.exact:
            return math.nan
        test = self.tests().get("lack of fit")
        return math.nan if test is None else test.pvalue

    @with_origin
    def estimate(self, name: str, alpha: float = 0.05, method: str = "profile") -> Estimate:
        """Return one parameter with its interval.

        Parameters
        ----------
        alpha : float
            One minus the confidence level.
        method : {"profile", "t"}
            Profile likelihood, ``{c : D(c) <= D + scale F(1 - alpha; 1, df)}`` with the deviance D
            and the other coefficients refitted inside their bounds (Bates and Watts 1988, section
            6.1), or ``c +- t(1 - alpha/2, df) se``.
        """
        checks.require_one_of(method, ("profile", "t"), "interval method")
        if method == "t":
            return super().estimate(name, alpha)
        self.index(name)
        return self.profile(self.constraint(name), alpha, name)

    def profile(
        self,
        constraint: ProfileConstraint,
        alpha: float,
        name: str,
        method: str = "profile",
        profiled: Callable[[Array], Array] | None = None,
    ) -> Estimate:
        """Return the interval of a quantity, by profile likelihood or by the delta method.

        `profiled` overrides the minimal deviance at given c, if the constraint does not define it.
        """
        checks.require_one_of(method, METHODS, "interval method")
        if method == "delta":
            return self._delta(constraint, alpha)

        def deviance(c: Array, which: Array) -> Array:
            with np.errstate(all="ignore"):
                if profiled is not None:
                    return profiled(c)
                return self.deviance_at(constraint.row(c), constraint.target(c))

        domain = np.array(constraint.domain[:1]), np.array(constraint.domain[1:])
        low, high, better = self.limits(
            np.array([constraint.value]), np.array([self._se(constraint)]), domain, alpha, deviance
        )
        notes = []
        if constraint.value in constraint.domain:
            bound = (
                constraint.value if name in PARAMETERS else constraint.transform(constraint.value)
            )
            notes.append(f"{name} is on its bound {bound:g}: the interval is one-sided")
        if self.df_resid <= 0:
            notes.append(NO_DF)
        elif self.exact:
            notes.append(NO_NOISE)
        if better:
            notes.append("the profile found a better fit than the reported optimum")
        ends = sorted((constraint.transform(float(low[0])), constraint.transform(float(high[0]))))
        return Estimate(
            constraint.transform(constraint.value),
            ends[0],
            ends[1],
            1 - alpha,
            "profile likelihood",
            tuple(notes),
        )

    def _delta(self, constraint: ProfileConstraint, alpha: float) -> Estimate:
        if any(self.at_bound):
            fixed = ", ".join(n for n, b in zip(self.param_names, self.at_bound, strict=True) if b)
            raise ModelError(
                f"the delta method has no standard error for {fixed}, which is on a bound",
                remedy="use the profile interval",
            )
        h = 1e-5 * abs(constraint.value)
        slope = abs(
            constraint.transform(constraint.value + h) - constraint.transform(constraint.value - h)
        ) / (2 * h)
        return t_interval(
            constraint.transform(constraint.value),
            slope * self._se(constraint),
            self.df_resid,
            alpha,
            "delta",
        )

    def _se(self, constraint: ProfileConstraint) -> float:
        """Standard error of c by implicit differentiation of its equation."""
        c = np.array([constraint.value])
        h = 1e-5 * max(abs(constraint.value), 1e-12)
        with np.errstate(all="ignore"):
            above, below = (
                (constraint.row(c + s) @ self.b - constraint.target(c + s))[0] for s in (h, -h)
            )
            row = constraint.row(c)[0]
            variance = float(row @ self.cov_b @ row)
            return (
                math.sqrt(max(variance, 0.0)) / abs((above - below) / (2 * h))
                if above != below
                else math.nan
            )

    def deviance_at(
        self, rows: Array, targets: Array, free: NDArray[np.bool_] | None = None
    ) -> Array:
        """Deviance of the best curves with ``rows @ b == targets``; shapes (m, p) and (m,) to (m,)."""
        load, mean, weight, spread = self._replicate_means
        shape = (len(targets), len(load))
        deviance = solve(
            self.family(),
            design_columns(load),
            np.broadcast_to(mean, shape),
            np.broadcast_to(weight, shape),
            free=self.free() if free is None else free,
            bounded=self.bounded,
            row=rows,
            target=targets,
            tolerance=1e-6,
        ).deviance
        return deviance + spread

    @cached_property
    def _replicate_means(self) -> tuple[Array, Array, Array, float]:
        """Distinct loads, the mean and the summed weight at each, and the pure-error deviance.

        In an exponential family the deviance of any curve is the sum of that of the means from the
        curve and that of the rows from the means, so replicates can be aggregated.
        """
        load, group = np.unique(self.x, return_inverse=True)
        if len(load) == self.nobs:
            return self.x, self.y, self.weights, 0.0
        weight = np.bincount(group, self.weights).astype(np.float64)
        mean = np.bincount(group, self.weights * self.y) / weight
        return load, mean, weight, self.deviance_of(mean[group])

    @cached_property
    def _merged_means(self) -> tuple[Array, Array, Array, float]:
        """`_replicate_means`, aggregated for many distinct loads to two loads in each of
        `MERGED_LOADS` classes, which keep the class's mean and spread of loads, mean throughput and
        slope.
        """
        load, mean, weight, spread = self._replicate_means
        if len(load) <= 2 * MERGED_LOADS:
            return load, mean, weight, spread
        edges = np.geomspace(load.min(), load.max(), MERGED_LOADS + 1)[1:-1]
        group = np.unique(np.digitize(load, edges), return_inverse=True)[1]
        total = np.bincount(group, weight).astype(np.float64)
        centre = np.bincount(group, weight * load) / total
        level = np.bincount(group, weight * mean) / total
        apart = load - centre[group]
        width = np.sqrt(np.bincount(group, weight * apart**2) / total)
        tilt = np.bincount(group, weight * mean * apart) / total / np.where(width > 0, width, 1)
        tilt = np.clip(tilt, -0.99 * level, 0.99 * level)
        load, mean = (
            np.append(centre - width, centre + width),
            np.append(level - tilt, level + tilt),
        )
        weight = np.tile(total / 2, 2)
        eta = design_columns(load) @ self.b
        there = self.family().deviance(mean[:, None], weight[:, None], eta[:, None])[0]
        return load, mean, weight, self.deviance - float(there)

    def limits(
        self,
        value: Array,
        se: Array,
        domain: tuple[Array, Array],
        alpha: float,
        deviance: Callable[[Array, Array], Array],
        tolerance: float = 1e-11,
    ) -> tuple[Array, Array, bool]:
        """Profile limits of several quantities, and whether a better fit than the optimum was
        found.
        """
        quantile = self.t_quantile(alpha)
        if math.isinf(quantile) or math.isnan(self.scale):
            return domain[0], domain[1], False
        if self.exact or self.scale <= 0:
            return value, value, False
        best, scale = self.deviance, self.scale
        least = best

        def excess(c: Array, which: Array) -> Array:
            nonlocal least
            deviances = deviance(c, which)
            least = min(least, float(deviances.min()))
            return np.sqrt(np.maximum(deviances - best, 0.0) / scale)

        low, high = limits(excess, value, se, domain, quantile, tolerance)
        return low, high, least < (1 - 1e-6) * best

    def _band(self, x: Array, value: Array, se: Array, alpha: float) -> tuple[Array, Array]:
        """Profile limits: valid in extrapolation, and with a coefficient on its bound."""
        rows = design_columns(x)
        costs, errors = rows @ self.b, self._curve_error(rows)
        domain = np.zeros(len(x)), np.full(len(x), math.inf)
        low, high, _ = self.limits(
            costs, errors, domain, alpha, lambda c, which: self.deviance_at(rows[which], c)
        )
        with np.errstate(divide="ignore"):
            return 1 / high, 1 / low

    def _curve_error(self, rows: Array) -> Array:
        """Standard errors of ``rows @ b``."""
        return np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", rows, self.cov_b, rows), 0.0))

    @property
    def _log_limits(self) -> bool:
        return self.noise == "proportional"

    def extrapolation(self, load: float) -> tuple[str, ...]:
        """Return a warning if a load is outside the tested range."""
        first, last = float(self.x.min()), float(self.x.max())
        if first <= load <= last or math.isinf(load):  # infinite: not an extrapolation
            return ()
        return (
            f"extrapolated: the tested loads are {first:g} to {last:g}; the law is assumed to hold beyond",
        )

    def row_deviation(self) -> Array:
        """See `FitResult.row_deviation`."""
        size: Array = self.fittedvalues ** (power_of(self.noise) / 2) / np.sqrt(self.weights)
        return size

    def tangent(self) -> tuple[Array, Array]:
        """See `FitResult.tangent`; excludes coefficients on their bound 0."""
        residual, gradient = super().tangent()
        return residual, gradient[:, self.free() & (self.b != 0)]

    def deviances_without(self, rows: NDArray[np.intp]) -> Array:
        """See `FitResult.deviances_without`; by refitting, since the first or last load has high
        leverage.
        """
        weights = np.tile(self.weights, (len(rows), 1))
        weights[np.arange(len(rows)), rows] = 0.0
        deviances = solve(
            self.family(),
            design_columns(self.x),
            np.tile(self.y, (len(rows), 1)),
            weights,
            free=self.free(),
            bounded=self.bounded,
            tolerance=1e-6,
        )
        return np.where(
            deviances.converged & np.isfinite(deviances.deviance), deviances.deviance, math.nan
        )

    def headline(self) -> tuple[str, float]:
        """The peak load if the curve has one, else gamma."""
        d, _, k = (float(v) for v in self.b)
        if d > 0 and k > 0:
            return "peak_load", math.sqrt(d / k)
        return "gamma", float(self.theta[-1])

    def _curve(self, new: Array) -> tuple[Array, Array]:
        """Return values and their gradient in b."""
        design = design_columns(new)
        eta = design @ self.b
        with np.errstate(divide="ignore"):
            return 1 / eta, -design / eta[:, None] ** 2

    @with_origin
    def peak_load(self, alpha: float = 0.05, method: str = "profile") -> Estimate:
        """Return the load of greatest throughput, ``N* = sqrt((1 - alpha) / beta)``.

        The upper limit is infinite if Amdahl's law (no peak) is not rejected.

        Raises
        ------
        ModelError
            The curve has no peak, or a significant lack of fit to the means of the replicates (see
            `means`): the interval would not be that of the peak.
        """
        self._require_peak()
        d, _, k = (float(v) for v in self.b)
        if d <= 0:  # alpha is 1: profile N*^2
            constraint = ProfileConstraint.quotient((1, 0, 0), (0, 0, 1), 0.0, transform=math.sqrt)
            return self._with_extrapolation(self.profile(constraint, alpha, "peak load"))
        constraint = ProfileConstraint.quotient(
            (0, 0, 1), (1, 0, 0), k / d, transform=lambda c: math.sqrt(inverse_of(c))
        )
        peak = self.profile(constraint, alpha, "beta", method)
        return self._with_extrapolation(_note_unbounded(peak, "Amdahl's law, which has no peak"))

    @with_origin
    def peak_throughput(self, alpha: float = 0.05, method: str = "profile") -> Estimate:
        """Return the maximal throughput ``X(max(N*, 1))``; raises as `peak_load`.

        A fit with beta on its bound 0 approaches an `asymptote`, which no load reaches.
        """
        checks.require_one_of(method, METHODS, "interval method")
        self._require_peak()
        d, _, k = (float(v) for v in self.b)
        if k <= 0:
            raise ModelError(
                "the fitted curve has no peak: beta is on its bound 0",
                remedy="use its asymptote, which no load reaches",
            )
        constraint = self.throughput_constraint(max(math.sqrt(d / k), 1.0))
        peak = self.profile(constraint, alpha, "peak throughput", method, self._peak_deviance)
        return _note_unbounded(peak, "linear scaling, which has no peak")

    def _peak_deviance(self, cost: Array) -> Array:
        """Minimal deviance of curves with maximal throughput one over each `cost`, shape (m,).

        A curve with its peak at N* is ``cost + a g(N)`` with ``g(N) = (N - N*)^2 / N``: for each N*
        one coefficient remains, in which the deviance is convex for the Gamma family. N* is
        optimized by grid search with refinement around the best grid point.
        """
        load, mean, weight, spread = self._merged_means
        scale = self.scale  # a sum over all rows
        middle = math.sqrt(float(load.min() * load.max()))
        first, last = np.zeros(len(cost)), np.full(len(cost), math.pi / 2)
        every = np.arange(len(cost))
        for _ in range(PEAK_ROUNDS):
            angle = first + (last - first) * np.linspace(0, 1, PEAKS)[:, None]
            d, k = np.cos(angle).ravel() ** 2, (np.sin(angle).ravel() / middle) ** 2
            height = least_cost(np.column_stack((d, np.zeros_like(d), k)))
            shape = d / load[:, None] + k * (load[:, None] - 1) - height
            costs = np.tile(cost, PEAKS)
            most = np.where((height > 0) & self.bounded, costs / height, math.inf)
            solution = along(
                self.family(),
                mean[:, None],
                weight[:, None],
                costs,
                shape,
                most,
                1e-10 * scale,
            ).reshape(angle.shape)
            best = solution.argmin(axis=0)
            before, after = np.maximum(best - 1, 0), np.minimum(best + 1, PEAKS - 1)
            least, first, last = solution[best, every], angle[before, every], angle[after, every]
            beside = np.maximum(solution[before, every], solution[after, every])
            if np.all(~(beside > least + 1e-7 * scale)):
                break
        return least + spread

    @with_origin
    def asymptote(self, alpha: float = 0.05, method: str = "profile") -> Estimate:
        """Return ``gamma / alpha``: the limit of throughput by contention alone, reached at no
        finite load.
        """
        if self.kind == "linear":
            raise ModelError(
                "linear scaling has no asymptote", remedy="fit Amdahl's law or the USL"
            )
        constraint = ProfileConstraint.linear(ASYMPTOTE_ROW, float(self.b[1]), inverse_of)
        return _note_unbounded(self.profile(constraint, alpha, "alpha", method), "no contention")

    @with_origin
    def efficiency(self, load: float, alpha: float = 0.05, method: str = "profile") -> Estimate:
        """Return ``X(N) / (gamma N)``: the share of linear scaling achieved at a load of 1 or more."""
        checks.require_one_of(method, METHODS, "interval method")
        if not (math.isfinite(load) and load >= 1):
            raise ModelError(
                "the load is out of range",
                expected="a finite number of at least 1",
                found=repr(load),
            )
        n = float(load)
        if n == 1 or self.kind == "linear":
            note = (
                ()
                if n == 1
                else ("linear scaling assumes an efficiency of 1: it is not estimated",)
            )
            return Estimate(
                1.0,
                1.0,
                1.0,
                1 - alpha,
                "delta" if method == "delta" else "profile likelihood",
                note,
            )
        cost = np.array([1.0, n, n * (n - 1)])
        domain = (
            1.0 if self.bounded else 0.0,
            n if self.bounded and self.kind == "amdahl" else math.inf,
        )
        value = float(cost @ self.b / (self.b[0] + self.b[1]))
        return self.profile(
            ProfileConstraint.quotient(cost, (1, 1, 0), value, domain, inverse_of),
            alpha,
            "efficiency",
            method,
        )

    @with_origin
    def throughput_at(self, load: float, alpha: float = 0.05) -> Estimate:
        """Return ``X(N)`` with its profile interval, valid outside the tested loads if the law is."""
        if not (math.isfinite(load) and load > 0):
            raise ModelError(
                "the load is out of range", expected="a positive finite number", found=repr(load)
            )
        estimate = self.profile(self.throughput_constraint(float(load)), alpha, "throughput")
        return replace(estimate, warnings=(*estimate.warnings, *self.extrapolation(load)))

    @with_origin
    def quantities(self, alpha: float = 0.05) -> dict[str, Estimate | Missing]:
        """Peak, asymptote, and the efficiency at the largest load, or the reasons why missing."""
        last = float(self.x.max())
        computations: dict[str, Callable[[], Estimate]] = {}
        if self.kind == "usl":
            computations = {
                "peak_load": lambda: self.peak_load(alpha),
                "peak_throughput": lambda: self.peak_throughput(alpha),
            }
        if self.kind != "linear":
            computations |= {
                "asymptote": lambda: self.asymptote(alpha),
                f"efficiency({last:g})": lambda: self.efficiency(last, alpha),
            }
        estimates: dict[str, Estimate | Missing] = {}
        for name, make in computations.items():
            try:
                estimates[name] = make()
            except ModelError as err:
                estimates[name] = Missing(str(err))
        return estimates

    @with_origin
    def tests(self) -> dict[str, FTest]:
        """Lack of fit, and for a selected curve the tests of its selection."""
        return super().tests() | {
            f"{kind} against the next smaller": test for kind, test in self.comparisons.items()
        }

    def _with_extrapolation(self, estimate: Estimate) -> Estimate:
        """Warn if a load, or an end of its interval, is outside the tested loads."""
        first, last = float(self.x.min()), float(self.x.max())
        notes = self.extrapolation(estimate.value)
        if not notes and (estimate.high > last or estimate.low < first):
            notes = (f"the interval reaches beyond the tested loads, {first:g} to {last:g}",)
        return replace(estimate, warnings=(*estimate.warnings, *notes))

    def _require_peak(self) -> None:
        if self.kind != "usl":
            raise ModelError(
                f"{self.kind} scaling has no peak", remedy="fit the Universal Scalability Law"
            )
        d, _, k = (float(v) for v in self.b)
        if d <= 0 and k == 0 and self.exact:
            raise ModelError(
                "the fitted curve has no peak: throughput is the same at every load",
                remedy="use its asymptote, which is that throughput",
            )
        if k < 0 or d < 0:
            raise ModelError(
                "the fitted curve has no peak",
                expected="alpha at most 1 and beta of 0 or more",
                found=", ".join(
                    f"{name} {value:g}"
                    for name, value in zip(self.param_names, self.theta, strict=True)
                ),
            )
        if self.misfit < MISFIT_LEVEL:
            table = self.means()
            worst = table.iloc[int((table["fitted"] / table["mean"] - 1).abs().argmax())]
            p = "below 0.0001" if self.misfit < 1e-4 else f"= {self.misfit:.2g}"
            raise ModelError(
                "lack of fit: the curve deviates from the means by more than the spread of the runs "
                f"explains (p {p}), so its peak has no interval",
                found=f"fitted {worst['fitted']:.4g}, mean {worst['mean']:.4g} at load {worst['x']:g}",
                remedy="use the measured means",
            )


def _note_unbounded(estimate: Estimate, alternative: str) -> Estimate:
    """Add a warning that names the curve that leaves the interval unbounded."""
    if estimate.high < math.inf:
        return estimate
    note = f"no finite upper limit: the data are also compatible with {alternative}"
    return replace(estimate, warnings=(*estimate.warnings, note))
