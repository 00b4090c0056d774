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

The limits of the peak throughput are the maxima over N of the limits of the throughput at N: one over
throughput is linear in the coefficients and quasiconvex in N, so the smallest accepted peak is the
largest of the smallest accepted throughputs (minimax theorem, Sion 1958, *Pacific J. Math.* 8).

References
----------
Gunther, N. J. (2007). Guerrilla Capacity Planning. Chapters 4 to 6.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rawperf.core.errors import ModelError
from virtperf.core.estimate import Estimate, Missing
from virtperf.models.checks import Array
from virtperf.models.irls import ROUNDING_SHARE, Family, Solution, solve
from virtperf.models.noise import power_of
from virtperf.models.profile import ProfileConstraint, inverse_of
from virtperf.models.result import (
    MISFIT_LEVEL,
    PROFILE,
    FitResult,
    FTest,
    call_with_origin,
    delta_errors,
)

PARAMETERS = ("alpha", "beta", "gamma")
PLACES: Mapping[str, tuple[int, ...]] = {"linear": (2,), "amdahl": (0, 2), "usl": (0, 1, 2)}
"""Indices of the parameters of each kind of curve."""
FREE_PARAMETERS: Mapping[str, tuple[bool, ...]] = {
    "usl": (True, True, True),
    "amdahl": (True, True, False),
    "linear": (True, False, False),
}
"""Mask of the coefficients d, s, k of each kind."""
PEAKS, MAX_PEAK, PEAK_TOLERANCE = 65, 1e8, 1e-3
"""Grid size of loads in the search for the limits of the peak throughput, their largest, and the
relative width of the grid at which it ends: the limits are then exact to 1e-6."""


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

    Quantities take ``alpha`` (one minus the confidence level).

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
            return ProfileConstraint((1, 1, 0), 1 / gamma, transform=inverse_of)
        if name == "alpha":
            return ProfileConstraint((0, 1, 0), alpha, (1, 1, 0), (0.0, 1.0))
        return ProfileConstraint((0, 0, 1), beta, (1, 1, 0))

    def throughput_constraint(self, load: float) -> ProfileConstraint:
        """Profile constraint of the reciprocal throughput at a load."""
        row = design_columns(np.array([load]))[0]
        return ProfileConstraint(tuple(row), float(row @ self.b), transform=inverse_of)

    @property
    def rss(self) -> float:
        """Pearson's statistic: the weighted sum of squared residuals, each divided by its variance
        function of the mean.
        """
        size = self.fittedvalues ** (power_of(self.noise) / 2)
        return float(np.sum(self.weights * (self.resid / size) ** 2))

    def deviance_of(self, means: Array) -> float:
        """Deviance of the rows from given means."""
        eta = 1 / np.maximum(means, np.finfo(float).tiny)
        shape = self.y[:, None], self.weights[:, None]
        return float(self.family().deviance(*shape, eta[:, None])[0])

    @property
    def exact(self) -> bool:
        """Whether the curve interpolates all points up to rounding error."""
        size = self.family().size(self.y[:, None], self.weights[:, None])
        return bool(self.deviance <= 100 * ROUNDING_SHARE * size[0])

    def family(self) -> Family:
        """GLM family of the noise model."""
        return Family(power_of(self.noise))

    @functools.cached_property
    def misfit(self) -> float:
        """P-value of the lack-of-fit test; NaN where not applicable."""
        if self.df_resid <= 0 or self.exact:
            return math.nan
        test = self.tests().get("lack of fit")
        return math.nan if test is None else test.pvalue

    def estimate(self, name: str, alpha: float = 0.05) -> Estimate:
        """Return one parameter with its profile likelihood interval, ``{c : D(c) <= D + scale F(1 -
        alpha; 1, df)}`` with the deviance D and the other coefficients refitted inside their bounds
        (Bates and Watts 1988, section 6.1).
        """
        self.index(name)
        return self.profile(self.constraint(name), alpha, name)

    def profile(self, constraint: ProfileConstraint, alpha: float, name: str) -> Estimate:
        """Return the profile likelihood interval of a quantity."""

        def deviance(c: Array, which: Array) -> Array:
            with np.errstate(all="ignore"):
                return self.deviance_at(constraint.row(c), constraint.target(c))

        c, transform = constraint.value, constraint.transform
        domain = np.array(constraint.domain[:1]), np.array(constraint.domain[1:])
        error = np.array([constraint.se(self.b, self.cov_b)])
        low, high, better = self.profile_limits(np.array([c]), error, domain, alpha, deviance)
        notes = []
        if c in constraint.domain:
            bound = c if name in PARAMETERS else transform(c)
            notes.append(f"{name} is on its bound {bound:g}: the interval is one-sided")
        ends = transform(float(low[0])), transform(float(high[0]))
        after = ("the profile found a better fit than the reported optimum",) if better else ()
        return self._estimate(transform(c), ends, alpha, *notes, *self.noise_notes, *after)

    def _estimate(
        self, value: float, ends: tuple[float, float], alpha: float, *notes: str
    ) -> Estimate:
        """Estimate from the ends of a profile."""
        low, high = sorted(ends)
        return Estimate(value, low, high, 1 - alpha, PROFILE, notes, self.origin)

    def refitted(self, free: NDArray[np.bool_], *, bounded: bool = True) -> Solution:
        """Fit the rows again with other `free` coefficients."""
        shape = self.y[None, :], self.weights[None, :]
        return solve(self.family(), design_columns(self.x), *shape, free=free, bounded=bounded)

    def deviance_at(self, rows: Array, targets: Array) -> Array:
        """Deviance of the best curves with ``rows @ b == targets``; shapes (m, p) and (m,) to (m,)."""
        load, mean, weight, spread = self._replicate_means
        shape = (len(targets), len(load))
        deviance = solve(
            self.family(),
            design_columns(load),
            np.broadcast_to(mean, shape),
            np.broadcast_to(weight, shape),
            free=self.free(),
            row=rows,
            target=targets,
            tolerance=1e-6,
        ).deviance
        return deviance + spread

    @functools.cached_property
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

    def _band(self, x: Array, value: Array, se: Array, alpha: float) -> tuple[Array, Array]:
        """Profile limits: valid in extrapolation, and with a coefficient on its bound."""
        return self._throughput_limits(x, alpha, (0, 1))

    def _throughput_limits(
        self, x: Array, alpha: float, sides: tuple[int, ...]
    ) -> tuple[Array, Array]:
        """Lower (0) and upper (1) limits of throughput; the estimate for a side not asked for."""
        rows = design_columns(x)
        costs, errors = rows @ self.b, self._curve_error(rows)
        domain = (
            np.zeros(len(x)) if 1 in sides else costs,
            np.full(len(x), math.inf) if 0 in sides else costs,
        )
        low, high, _ = self.profile_limits(
            costs, errors, domain, alpha, lambda c, which: self.deviance_at(rows[which], c)
        )
        with np.errstate(divide="ignore"):
            return 1 / high, 1 / low

    def _curve_error(self, gradient: Array) -> Array:
        """Standard errors of ``gradient @ b``."""
        return delta_errors(gradient, self.cov_b)

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

    def peak_load(self, alpha: float = 0.05) -> Estimate:
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
            constraint = ProfileConstraint((1, 0, 0), 0.0, (0, 0, 1), transform=math.sqrt)
            return self._with_extrapolation(self.profile(constraint, alpha, "peak load"))
        constraint = ProfileConstraint(
            (0, 0, 1), k / d, (1, 0, 0), transform=lambda c: math.sqrt(inverse_of(c))
        )
        peak = self.profile(constraint, alpha, "beta")
        return self._with_extrapolation(_note_unbounded(peak, "Amdahl's law, which has no peak"))

    def peak_throughput(self, alpha: float = 0.05) -> Estimate:
        """Return the maximal throughput ``X(max(N*, 1))``; raises as `peak_load`.

        A fit with beta on its bound 0 approaches an `asymptote`, which no load reaches.
        """
        self._require_peak()
        if self.b[2] <= 0:
            raise ModelError(
                "the fitted curve has no peak: beta is on its bound 0",
                remedy="use its asymptote, which no load reaches",
            )
        value = 1 / float(least_cost(self.b[None, :])[0])
        low = high = value
        if not self.exact:
            low, high = (self._largest_limit(side, alpha) for side in (0, 1))
        linear = self.refitted(np.array(FREE_PARAMETERS["linear"])).deviance[0]
        if linear <= self.deviance + self.t_quantile(alpha) ** 2 * self.scale:
            high = math.inf
        peak = self._estimate(value, (low, high), alpha, *self.noise_notes)
        return _note_unbounded(peak, "linear scaling, which has no peak")

    def _largest_limit(self, side: int, alpha: float) -> float:
        """Maximum over the loads of the lower (0) or upper (1) limit of throughput."""
        first, last = 0.0, math.log(MAX_PEAK)
        while last - first > PEAK_TOLERANCE:
            places = np.linspace(first, last, PEAKS)
            ends = self._throughput_limits(np.exp(places), alpha, (side,))[side]
            best = int(np.argmax(ends))
            first, last = places[max(best - 1, 0)], places[min(best + 1, PEAKS - 1)]
        return float(ends[best])

    def asymptote(self, alpha: float = 0.05) -> Estimate:
        """Return ``gamma / alpha``: the limit of throughput by contention alone, reached at no
        finite load.
        """
        if self.kind == "linear":
            raise ModelError(
                "linear scaling has no asymptote", remedy="fit Amdahl's law or the USL"
            )
        constraint = ProfileConstraint((0, 1, 0), float(self.b[1]), transform=inverse_of)
        return _note_unbounded(self.profile(constraint, alpha, "alpha"), "no contention")

    def efficiency(self, load: float, alpha: float = 0.05) -> Estimate:
        """Return ``X(N) / (gamma N)``: the share of linear scaling achieved at a load of 1 or more."""
        if not (math.isfinite(load) and load >= 1):
            expected = "a finite number of at least 1"
            raise ModelError("the load is out of range", expected=expected, found=repr(load))
        n = float(load)
        if n == 1 or self.kind == "linear":
            note = "linear scaling assumes an efficiency of 1: it is not estimated"
            notes = () if n == 1 else (note,)
            return Estimate(1.0, 1.0, 1.0, 1 - alpha, PROFILE, notes, self.origin)
        cost = np.array([1.0, n, n * (n - 1)])
        domain = (1.0, n if self.kind == "amdahl" else math.inf)
        value = float(cost @ self.b / (self.b[0] + self.b[1]))
        constraint = ProfileConstraint(tuple(cost), value, (1, 1, 0), domain, inverse_of)
        return self.profile(constraint, alpha, "efficiency")

    def throughput_at(self, load: float, alpha: float = 0.05) -> Estimate:
        """Return ``X(N)`` with its profile interval, valid outside the tested loads if the law is."""
        if not (math.isfinite(load) and load > 0):
            expected = "a positive finite number"
            raise ModelError("the load is out of range", expected=expected, found=repr(load))
        estimate = self.profile(self.throughput_constraint(float(load)), alpha, "throughput")
        return estimate.noted(*self.extrapolation(load))

    def quantities(self, alpha: float = 0.05) -> dict[str, Estimate | Missing]:
        """Peak, asymptote, and the efficiency at the largest load, or the reasons why missing."""
        last = float(self.x.max())
        computations: dict[str, Callable[..., Estimate]] = {}
        if self.kind == "usl":
            computations = {"peak_load": self.peak_load, "peak_throughput": self.peak_throughput}
        if self.kind != "linear":
            efficiency = functools.partial(self.efficiency, last)
            computations |= {"asymptote": self.asymptote, f"efficiency({last:g})": efficiency}
        return {
            name: call_with_origin(self.origin, compute, alpha=alpha)
            for name, compute in computations.items()
        }

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
        return estimate.noted(*notes)

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
    note = f"no finite upper limit: the data are also compatible with {alternative}"
    return estimate.noted(note) if estimate.high == math.inf else estimate
