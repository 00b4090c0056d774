"""Two-piece lines with an unknown breakpoint: a linear model by statsmodels at the best breakpoint,
and intervals that profile the breakpoint.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rawperf.core.errors import ModelError
from virtperf.core.estimate import Estimate
from virtperf.models import checks
from virtperf.models.breakpoint_search import (
    FORMS,
    BreakpointGrid,
    BreakpointSearch,
    curve,
    design,
    search,
)
from virtperf.models.checks import Array
from virtperf.models.diagnostics import fit_with_notes
from virtperf.models.noise import check_noise, power_of, resolve_noise
from virtperf.models.result import NO_DF, NO_NOISE, FitResult
from virtperf.models.robust import robust_fit

MAX_ROWS = 1000
"""Maximum number of rows: the search compares every row with every gap, and simulates."""
MAX_CONDITION = 1e13
"""Condition number of the scaled derivatives above which the parameters are not determined."""
REWEIGHTINGS = 3
"""Number of reweighting rounds for noise that depends on the mean."""
SIMULATED = "likelihood, simulated"
SIMULATIONS, SEED, THRESHOLD_ROUNDS = 1999, 20, 4
"""Settings of the simulated threshold of an interval, with the maximum number of iterations."""


def fit_segmented(
    x: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    form: str = "free",
    noise: str | None = None,
    robust: bool = False,
) -> SegmentedResult:
    """Fit two line segments that meet at a breakpoint, by exact least squares.

    Parameters
    ----------
    x, y : array_like, shape (n,)
    weights : array_like, shape (n,), optional
        Proportional to one over the variance of each row; excludes `noise`.
    form : {"free", "plateau-decline", "rise-plateau"}
        Two free slopes; no slope before the break; no slope after it. The sign of a slope is not
        constrained, but a warning is given if it contradicts the name. The breakpoint is searched
        where each sloping piece has two distinct x.
    noise : {"constant", "counts", "proportional"}
        As in `virtperf.models.fit_usl`, but constant by default. Noise that depends on the mean
        (positive y) gives weights of one over a power of the fitted values, by iterative
        reweighting.
    robust : bool
        Whether to limit the influence of single outliers; see `virtperf.models.fit_usl`.

    Raises
    ------
    ModelError
        Rows are not finite, or there are too few rows or distinct x.

    Notes
    -----
    The global optimum is found in closed form in each gap between adjacent x: time and memory are
    O(n**2). Given the breakpoint, the model is linear and fitted by statsmodels.

    References
    ----------
    Hudson, D. J. (1966). Fitting segmented curves whose join points have to be estimated. J. Am.
    Stat. Assoc. 61.
    """
    kind = FORMS[checks.require_one_of(form, tuple(FORMS), "form")]
    noise = resolve_noise(noise, weights, "constant")
    positive = power_of(noise) > 0
    xs = checks.column(x, "x")
    ys = checks.column(y, "y", positive=positive, remedy="use constant noise")
    checks.same_length(("x", xs), ("y", ys))
    if len(xs) > MAX_ROWS:
        raise ModelError(
            f"{len(xs)} rows are too many for the breakpoint search",
            expected=f"at most {MAX_ROWS}",
            remedy="average rows of equal or neighbouring x first, for example by pandas.cut",
        )
    w = checks.weights_or_ones(weights, len(xs))
    if robust:
        return robust_fit(lambda of: _fit(xs, of, w, form, noise), ys, len(kind.names))
    return fit_with_notes(partial(_fit, form=form, noise=noise), xs, ys, w)


def _fit(xs: Array, ys: Array, row_weights: Array, form: str, noise: str) -> SegmentedResult:
    """Fit validated columns."""
    from statsmodels.regression.linear_model import WLS

    kind, power, w = FORMS[form], power_of(noise), row_weights
    checks.enough(xs, kind.names, name="x")
    for _ in range(REWEIGHTINGS if power else 0):
        psi, _ = _best_breakpoint(xs, ys, w, form)
        fitted = WLS(ys, design(form, xs, psi), weights=w).fit().fittedvalues
        w = row_weights / np.maximum(fitted, ys.min() / 2) ** power
    psi, notes = _best_breakpoint(xs, ys, w, form)
    model = WLS(ys, design(form, xs, psi), weights=w)
    hinge = f"max(x - {psi:.6g}, 0)" if kind.sign > 0 else f"max({psi:.6g} - x, 0)"
    model.data.xnames = ["1", "x", hinge] if form == "free" else ["1", hinge]
    results = model.fit()
    params = np.append(np.array(kind.turn) @ np.asarray(results.params), psi)
    fitted, gradient = curve(form, xs, params)
    df = len(xs) - len(params)
    rss = float(np.sum(w * (ys - fitted) ** 2))
    tangent = np.sqrt(w)[:, None] * gradient
    size = np.maximum(np.linalg.norm(tangent, axis=0), np.finfo(float).tiny)
    half = np.linalg.pinv(tangent / size) / size[:, None]
    inverse = half @ half.T
    if np.linalg.cond(tangent / size) > MAX_CONDITION:
        inverse = np.full_like(inverse, math.nan)
        notes.append(
            "the pieces have equal slopes, or the breakpoint is one of the x: there are no standard errors"
        )
    if form == "plateau-decline" and params[1] > 0:
        notes.append(f"the slope is positive, contrary to {form!r}")
    if form == "rise-plateau" and params[1] < 0:
        notes.append(f"the slope is negative, contrary to {form!r}")
    if df <= 0:
        notes.append(f"{NO_DF}: the curve interpolates all points, and the intervals are unbounded")
    if ys.min() > 0:
        notes.extend(check_noise(xs, ys, row_weights, noise))
    return SegmentedResult(
        model=f"Two-piece line ({form}): {kind.formula}",
        param_names=kind.names,
        theta=params,
        covariance=inverse * (rss / df if df > 0 else math.nan),
        x=xs,
        y=ys,
        weights=w,
        fittedvalues=fitted,
        df_resid=df,
        warnings=tuple(notes),
        form=form,
        noise=noise,
        results=results,
    )


def _best_breakpoint(x: Array, y: Array, weights: Array, form: str) -> tuple[float, list[str]]:
    psi, notes = search(x, y, weights, form).best()
    return FORMS[form].sign * psi, list(notes)


@lru_cache(maxsize=8)
def _normal_numbers(rows: int) -> Array:
    return np.random.default_rng(SEED).standard_normal((SIMULATIONS, rows))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SegmentedResult(FitResult):
    """A fitted two-piece line; see `FitResult` for inherited members. ``params[-1]`` is the
    breakpoint, in units of x.

    `results` is the linear model with the breakpoint taken as known, so that its own intervals are
    too narrow.
    """

    form: str

    @cached_property
    def _search(self) -> BreakpointSearch:
        return search(self.x, self.y, self.weights, self.form)

    def deviances_without(self, rows: NDArray[np.intp]) -> Array:
        """See `FitResult.deviances_without`; the breakpoint is refitted for each row, since a row
        at an end attracts it.
        """
        return np.array([self._deviance_without(int(row)) for row in rows])

    def _deviance_without(self, row: int) -> float:
        kept = np.arange(self.nobs) != row
        x, y, w = self.x[kept], self.y[kept], self.weights[kept]
        if len(np.unique(x)) < len(self.param_names):
            return math.nan
        searched = search(x, y, w, self.form)
        return float(searched.e @ searched.e - searched.peaks(searched.e[None, :])[1].max())

    @property
    def _sign(self) -> int:
        return FORMS[self.form].sign

    @property
    def exact(self) -> bool:
        """Whether the curve interpolates all points up to rounding error."""
        return self.rss <= (1e-13 * float(np.linalg.norm(self._search.root * self.y))) ** 2

    def breakpoint(self, alpha: float = 0.05, method: str = "simulated") -> Estimate:
        """Return the breakpoint with its interval.

        Parameters
        ----------
        method : {"simulated", "profile"}
            "profile": the range of ``{psi : RSS(psi) <= RSS + s**2 F(1 - alpha; 1, df)}``; an end
            is infinite if a curve without a break inside the data fits as well. The sum of squares
            has corners where psi passes an x, so that the F threshold is too small for large noise.
            "simulated": the same with thresholds from data sets simulated with the breakpoint at
            each end.
        """
        checks.require_one_of(method, ("simulated", "profile"), "interval method")
        return self._breakpoint_interval(float(self.theta[-1]), alpha, method)

    def estimate(self, name: str, alpha: float = 0.05) -> Estimate:
        """Return one parameter with its simulated interval; see `breakpoint` for that parameter.

        Of the others: all values v for which some curve with any breakpoint has
        ``RSS(v) <= RSS + s**2 c``, where c is the larger of F(1 - alpha; 1, df) and the simulated
        threshold at the fitted breakpoint.
        """
        place = self.index(name)
        value = float(self.theta[place])
        if name == "breakpoint":
            return self._breakpoint_interval(value, alpha, "simulated")
        row = np.array(FORMS[self.form].turn[place], dtype=float)
        low, high, notes = self._profile(
            np.array([value]), alpha, lambda psi: np.tile(row, (len(psi), 1, 1))
        )
        return Estimate(
            value, float(low[0]), float(high[0]), 1 - alpha, SIMULATED, notes, self.origin
        )

    def _breakpoint_interval(self, value: float, alpha: float, method: str) -> Estimate:
        label = "profile likelihood" if method == "profile" else SIMULATED
        quantile = self.t_quantile(alpha)
        if math.isinf(quantile):
            return Estimate(value, -math.inf, math.inf, 1 - alpha, label, (NO_DF,), self.origin)
        low, high, notes = self._search.limits(self.rss + quantile**2 * self.scale)
        if self.exact:
            notes = (*notes, NO_NOISE)
        elif method == "simulated":
            low, first = self._simulated_limit(0, alpha, quantile**2)
            high, second = self._simulated_limit(1, alpha, quantile**2)
            notes = tuple(dict.fromkeys((*notes, *first, *second)))
        low, high = min(low, self._sign * value), max(high, self._sign * value)
        if self._sign < 0:
            low, high = -high, -low
        return Estimate(value, low, high, 1 - alpha, label, notes, self.origin)

    def _simulated_limit(
        self, side: int, alpha: float, least: float
    ) -> tuple[float, tuple[str, ...]]:
        """Return the lower (0) or upper (1) limit by fixed-point iteration: the threshold is
        simulated with the kink at the limit itself.
        """
        threshold = least
        for _ in range(THRESHOLD_ROUNDS):
            *ends, notes = self._search.limits(self.rss + threshold * self.scale)
            at = float(ends[side])
            simulated = max(self._simulated(at, alpha), least)
            if abs(simulated - threshold) <= 0.01 * threshold:
                break
            threshold = simulated
        return at, notes

    def _simulated(self, at: float, alpha: float) -> float:
        """Simulated threshold of the scaled excess sum of squares for a true kink at `at`."""
        drawn = self._search.excess(at, self.df_resid, _normal_numbers(self.nobs))
        return float(np.quantile(drawn, 1 - alpha))

    def _quantile(self, alpha: float) -> float:
        """Square root of the profile threshold: the larger of the F(1, df) quantile and the
        simulated threshold at the fitted breakpoint.

        For large noise, corners of the sum of squares make the F threshold too small for the
        breakpoint, and for slopes and values, which are correlated with it.
        """
        quantile = self.t_quantile(alpha)
        if math.isinf(quantile) or self.exact:
            return quantile
        return max(quantile, math.sqrt(self._simulated(self._sign * float(self.theta[-1]), alpha)))

    def _profile(
        self, value: Array, alpha: float, rows: Callable[[Array], Array]
    ) -> tuple[Array, Array, tuple[str, ...]]:
        """Profile limits of m values, with `rows` of shape (G, m, p) at given breakpoints, and
        warnings.
        """
        quantile = self._quantile(alpha)
        if math.isinf(quantile):
            return np.full_like(value, -math.inf), np.full_like(value, math.inf), (NO_DF,)
        if self.exact:
            return value, value, (NO_NOISE,)
        places, notes = self._grid(quantile)
        low, high = places.interval(rows(places.psi), self.rss + quantile**2 * self.scale)
        return np.minimum(low, value), np.maximum(high, value), notes

    def _grid(self, quantile: float) -> tuple[BreakpointGrid, tuple[str, ...]]:
        """Return the grid of accepted breakpoints, and warnings."""
        kinks = self._search
        low, high, _ = kinks.limits(self.rss + quantile**2 * self.scale)
        inside = kinks.knots[kinks.first], kinks.knots[kinks.last]
        ends = sorted(self._sign * np.clip([low, high], *inside))
        also = np.append(self._sign * kinks.knots, self.theta[-1])
        endless = math.isinf(low) or math.isinf(high)
        notes = (
            (
                "a curve without a break fits as well: the interval assumes a break within the range of x",
            )
            if endless
            else ()
        )
        return BreakpointGrid.of(
            self.form, self.x, self.y, self.weights, float(ends[0]), float(ends[1]), also
        ), notes

    def _band(self, x: Array, value: Array, se: Array, alpha: float) -> tuple[Array, Array]:
        """Limits of the curve, profiled over the breakpoint."""
        low, high, _ = self._profile(
            value, alpha, lambda psi: np.array([design(self.form, x, float(p)) for p in psi])
        )
        return low, high

    def _curve(self, new: Array) -> tuple[Array, Array]:
        return curve(self.form, new, self.theta)
