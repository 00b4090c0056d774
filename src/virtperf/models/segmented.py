"""Two straight pieces that meet at a breakpoint."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.api as sm
from numpy.typing import ArrayLike
from scipy import special

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.breakpoint_search import Kinks
from virtperf.models.checks import Array
from virtperf.models.glm_curve import NO_DF, NO_NOISE, weights_of_new
from virtperf.models.noise import NOISES, check_noise
from virtperf.models.profile import limits
from virtperf.models.result import Estimate, FitResult, inverse_gram, t_quantile
from virtperf.models.segmented_profile import Places

NAMES = {
    "free": ("intercept", "slope1", "slope2", "breakpoint"),
    "plateau-decline": ("plateau", "slope2", "breakpoint"),
    "rise-plateau": ("plateau", "slope1", "breakpoint"),
}
LABEL = "likelihood, simulated"
REWEIGHTINGS = 3  # of proportional noise
N_SIM, SEED, ROUNDS = 1999, 20, 4
"""Of the simulated threshold of an interval; it is searched for in so many rounds at most."""
FORMULAS = {
    "free": "y = intercept + slope1 x + (slope2 - slope1) max(x - breakpoint, 0)",
    "plateau-decline": "y = plateau + slope2 max(x - breakpoint, 0)",
    "rise-plateau": "y = plateau - slope1 max(breakpoint - x, 0)",
}


@dataclass(frozen=True)
class BreakTest:
    """A test whose null distribution is simulated: of one straight line against two pieces, or of a breakpoint's place.

    Parameters
    ----------
    statistic : float
        Largest F statistic over all breakpoints; or how much worse the tested place is than the best.
    pvalue : float
        Share of data sets simulated under the null with a statistic at least as large, ``(1 + count) / (1 + n_sim)``.
    n_sim, seed : int
    """

    statistic: float
    pvalue: float
    n_sim: int
    seed: int


@dataclass(frozen=True, eq=False, kw_only=True)
class SegmentedResult(FitResult):
    """A fitted two-piece line; see `FitResult` for the common part. ``params[-1]`` is the breakpoint, in units of x.

    Parameters
    ----------
    form : str
    noise : {"constant", "proportional"}
    given : ndarray, shape (n,)
        The caller's weights; ``weights`` has the proportional noise too.
    results : statsmodels RegressionResults
        The linear model with the breakpoint taken as known: its intervals are too narrow, ours have the breakpoint free.
    """

    form: str
    noise: str
    given: Array
    results: Any

    def breakpoint(self, alpha: float = 0.05, method: str = "simulated") -> Estimate:
        """Return the breakpoint with its interval.

        Parameters
        ----------
        alpha : float
        method : {"simulated", "profile", "t"}
            "profile": the range of ``{psi : RSS(psi) <= RSS + s**2 F(1 - alpha; 1, df)}``; an end is infinite if a
            curve without a break inside the data fits as well. The sum of squares has corners where psi passes an x, so
            that F is too small a threshold where the noise is large. "simulated": the same with the threshold that
            `place_test` asks for at each end. "t": delta method.
        """
        return self.estimate("breakpoint", alpha, method)

    def estimate(self, name: str, alpha: float = 0.05, method: str | None = None) -> Estimate:
        """Return one parameter with its interval.

        Parameters
        ----------
        name : str
        alpha : float
        method : str, optional
            Of the breakpoint: see `breakpoint`. Of the others: "simulated" (the default), all values v for which some
            curve with any breakpoint has ``RSS(v) <= RSS + s**2 c``, c being the larger of F(1 - alpha; 1, df) and the
            simulated threshold of the fitted breakpoint's place; or "t", the delta method.
        """
        if name != "breakpoint":
            checks.one_of(method or "simulated", ("simulated", "t"), "interval method")
            return super().estimate(name, alpha) if method == "t" else self._profiled(name, alpha)
        method = checks.one_of(method or "simulated", ("simulated", "profile", "t"), "interval method")
        if method == "t":
            return super().estimate(name, alpha)
        label = "profile likelihood" if method == "profile" else LABEL
        quantile = t_quantile(self.df_resid, alpha)
        value = float(self.params[-1])
        if math.isinf(quantile):
            return Estimate(value, -math.inf, math.inf, 1 - alpha, label, (NO_DF,))
        kinks, sign = _kinks(self.x, self.y, self.weights, self.form)
        low, high, notes = kinks.limits(self.rss + quantile**2 * self.scale)
        if self._exact(kinks):
            notes = (*notes, NO_NOISE)
        elif method == "simulated":
            noise = _noise(N_SIM, self.nobs, SEED)
            low, first = self._end(kinks, 0, alpha, quantile**2, noise)
            high, second = self._end(kinks, 1, alpha, quantile**2, noise)
            notes = tuple(dict.fromkeys((*notes, *first, *second)))
        low, high = min(low, sign * value), max(high, sign * value)
        if sign < 0:
            low, high = -high, -low
        return Estimate(value, low, high, 1 - alpha, label, notes)

    def _profiled(self, name: str, alpha: float) -> Estimate:
        value, label = float(self.params[self.index(name)]), LABEL
        quantile = self._quantile(alpha)
        if math.isinf(quantile):
            return Estimate(value, -math.inf, math.inf, 1 - alpha, label, (NO_DF,))
        places, notes = self._places(quantile)
        if places is None:
            return Estimate(value, value, value, 1 - alpha, label, (NO_NOISE,))
        row = {"slope2": [0.0, 1.0, 1.0][-len(self.params) + 1 :]}.get(name, np.eye(len(self.params) - 1)[self.index(name)])
        if self.form == "rise-plateau" and name == "slope1":
            row = [0.0, -1.0]
        if self.form == "plateau-decline" and name == "slope2":
            row = [0.0, 1.0]
        low, high = places.interval(np.tile(row, (len(places.psi), 1, 1)), self.rss + quantile**2 * self.scale)
        return Estimate(value, float(min(low[0], value)), float(max(high[0], value)), 1 - alpha, label, notes)

    def _quantile(self, alpha: float) -> float:
        """Root of the threshold of a profile: that of F(1, df), or the one that the breakpoint's own place asks for.

        Where the noise is large, corners of the sum of squares make F too small a threshold for the breakpoint, and
        for slopes and values, which move with it.
        """
        quantile = t_quantile(self.df_resid, alpha)
        kinks, sign = _kinks(self.x, self.y, self.weights, self.form)
        if math.isinf(quantile) or self._exact(kinks):
            return quantile
        drawn = kinks.excess(sign * float(self.params[-1]), self.df_resid, _noise(N_SIM, self.nobs, SEED))
        return max(quantile, math.sqrt(float(np.quantile(drawn, 1 - alpha))))

    def _places(self, quantile: float) -> tuple[Places | None, tuple[str, ...]]:
        """Breakpoints that the data allow, and warnings; None for an exact fit."""
        kinks, sign = _kinks(self.x, self.y, self.weights, self.form)
        if self._exact(kinks):
            return None, (NO_NOISE,)
        low, high, notes = kinks.limits(self.rss + quantile**2 * self.scale)
        inside = kinks.knots[kinks.first], kinks.knots[kinks.last]
        ends = sorted(sign * np.clip([low, high], *inside))
        also = np.append(sign * kinks.knots, self.params[-1])
        design = partial(_design, self.form)
        told = ("a curve without a break fits as well: the interval assumes a break among the x",) if notes and (
            math.isinf(low) or math.isinf(high)) else ()
        return Places.of(design, self.x, self.y, self.weights, float(ends[0]), float(ends[1]), also), told

    def loss(self, share: float, alpha: float = 0.05) -> Estimate:
        """Return the x at which the second piece has lost a share of the value at the breakpoint.

        For example the memory overcommitment at which throughput has fallen by 5 %: ``loss(0.05)``. The interval is the
        profile of that x, with the breakpoint free.

        Parameters
        ----------
        share : float
            Between 0 and 1.
        alpha : float

        Raises
        ------
        ModelError
            If the fitted second piece does not fall, or has no slope.
        """
        if not 0 < share < 1:
            raise ModelError("a loss is a share", expected="a number between 0 and 1", found=repr(share))
        if self.form == "rise-plateau":
            raise ModelError("a plateau loses nothing", remedy="fit a decline after a plateau, or two free pieces")
        psi, slope = float(self.params[-1]), float(self.params[-2])
        top = float(self.predict([psi])[0])
        if not (slope < 0 < top):
            raise ModelError("the fitted second piece does not fall", found=f"slope {slope:g}")
        value, label = psi - share * top / slope, LABEL
        quantile = self._quantile(alpha)
        if math.isinf(quantile):
            return Estimate(value, -math.inf, math.inf, 1 - alpha, label, (NO_DF,))
        places, notes = self._places(quantile)
        if places is None:
            return Estimate(value, value, value, 1 - alpha, label, notes)

        def excess(c: Array, which: Array) -> Array:
            after = np.maximum(c - places.psi[:, None], 0.0)
            here = np.full_like(after, share)
            rows = [here, after] if self.form == "plateau-decline" else [
                here, share * places.psi[:, None] + after, after
            ]  # fmt: skip
            rows = np.stack(np.broadcast_arrays(*rows), axis=-1)
            rss = places.least(rows, np.zeros(len(c)))
            return np.sqrt(np.maximum(rss - self.rss, 0.0) / self.scale)

        least = float(self.x.min())
        low, high = limits(
            excess, np.array([value]), np.array([np.ptp(places.psi) / 4 + 1e-3 * abs(value)]),
            (np.array([least]), np.array([math.inf])), quantile,
        )  # fmt: skip
        last = float(self.x.max())
        if high[0] > last:
            notes = (*notes, f"the interval reaches beyond the tested range, which ends at {last:g}")
        return Estimate(value, float(low[0]), float(high[0]), 1 - alpha, label, notes)

    def predict(
        self, new: ArrayLike, interval: str | None = None, alpha: float = 0.05, *, weights: ArrayLike | None = None
    ) -> Array | pd.DataFrame:
        """Evaluate the fitted curve; intervals are profiles with the breakpoint free.

        Parameters
        ----------
        new : array_like, shape (m,)
        interval : {None, "mean", "observation"}
            For the curve, or for one new observation (the distances of both kinds of error added in quadrature).
        alpha : float
        weights : array_like, shape (m,), optional
            Of new observations; a fit with unequal weights asks for them.

        Returns
        -------
        ndarray, shape (m,)
            Without `interval`.
        DataFrame
            Columns ``value, se, low, high, extrapolated``; ``se`` is the delta method's.
        """
        x = self._new(new)
        value, gradient = self._curve(x)
        if interval is None:
            return value
        checks.one_of(interval, ("mean", "observation"), "interval")
        quantile = self._quantile(alpha)
        se = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", gradient, self.covariance, gradient), 0.0))
        low, high = value, value
        places = None if math.isinf(quantile) else self._places(quantile)[0]
        if math.isinf(quantile):
            low, high = np.full_like(value, -np.inf), np.full_like(value, np.inf)
        elif places is not None:
            rows = np.array([_design(self.form, x, float(p)) for p in places.psi])
            low, high = places.interval(rows, self.rss + quantile**2 * self.scale)
            low, high = np.minimum(low, value), np.maximum(high, value)
        if interval == "observation":
            size = np.abs(value) if self.noise == "proportional" else 1.0
            spread = size * np.sqrt(self.scale / weights_of_new(self.given, weights, len(x)))
            se, noise = np.hypot(se, spread), t_quantile(self.df_resid, alpha) * spread
            low, high = value - np.hypot(value - low, noise), value + np.hypot(high - value, noise)
        outside = (x < self.x.min()) | (x > self.x.max())
        return pd.DataFrame({"value": value, "se": se, "low": low, "high": high, "extrapolated": outside})

    def _end(
        self, kinks: Kinks, side: int, alpha: float, threshold: float, noise: Array
    ) -> tuple[float, tuple[str, ...]]:
        """Return the lower (0) or upper (1) limit, whose threshold is simulated with the kink at the limit itself."""
        least = threshold
        for _ in range(ROUNDS):
            *ends, notes = kinks.limits(self.rss + threshold * self.scale)
            at = float(ends[side])
            simulated = float(np.quantile(kinks.excess(at, self.df_resid, noise), 1 - alpha))
            if abs(max(simulated, least) - threshold) <= 0.01 * threshold:
                break
            threshold = max(simulated, least)
        return at, notes

    def _exact(self, kinks: Kinks) -> bool:
        return self.rss <= (1e-13 * float(np.linalg.norm(kinks.root * self.y))) ** 2

    def place_test(self, psi: float, n_sim: int = 1999, seed: int = 20) -> BreakTest:
        """Test whether the break is at `psi`.

        The statistic is ``(RSS(psi) - RSS) / s**2``. It is compared with F(1, df), and with data sets that are
        simulated around the best curve with its break at psi; the larger p-value counts.
        """
        if self.df_resid < 1:
            raise ModelError("no degrees of freedom are left for the test", remedy="measure more points or replicates")
        kinks, sign = _kinks(self.x, self.y, self.weights, self.form)
        observed = float(kinks.excess(sign * psi, self.df_resid)[0])
        by_f = float(special.fdtrc(1, self.df_resid, observed))
        drawn = kinks.excess(sign * psi, self.df_resid, _noise(n_sim, self.nobs, seed))
        simulated = (1 + int(np.sum(drawn >= observed))) / (1 + n_sim)
        return BreakTest(observed, max(by_f, simulated), n_sim, seed)

    def conf_int(self, alpha: float = 0.05, method: str | None = None) -> Array:
        """Return the limits of all parameters, shape (p, 2); see `estimate`."""
        found = [self.estimate(name, alpha, method) for name in self.param_names]
        return np.array([[e.low, e.high] for e in found])

    def break_test(self, n_sim: int = 1999, seed: int = 20) -> BreakTest:
        """Test whether there is a break at all: a straight line against the free form, whatever `form` is.

        The breakpoint does not exist under the null, so the F statistic has no F distribution (Davies 1987). With
        normal errors the distribution of its maximum depends only on x and the weights: it is simulated.

        Raises
        ------
        ModelError
            With fewer than five rows or four distinct x.
        """
        checks.enough(self.x, NAMES["free"], name="x")
        kinks, _ = _kinks(self.x, self.y, self.weights, "free")
        df = self.nobs - 4
        if df < 1:
            raise ModelError("a test for a break needs more rows", expected="at least 5", found=str(self.nobs))
        noise = _noise(n_sim, self.nobs, seed)
        observed = float(kinks.largest_f(self.y[None, :], df)[0])
        if np.linalg.norm(kinks.e) <= 1e-13 * np.linalg.norm(kinks.root * self.y):
            observed = 0.0  # an exact straight line: what is left is rounding
        count = int(np.sum(kinks.largest_f(noise, df, weighted=True) >= observed))
        return BreakTest(observed, (1 + count) / (1 + n_sim), n_sim, seed)

    def _default_estimate(self, name: str, alpha: float) -> Estimate:
        return self.estimate(name, alpha)

    def _curve(self, new: Array) -> tuple[Array, Array]:
        return _curve(self.form, new, self.params)


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
        psi = _best(xs, ys, w, form)[0]
        fitted = sm.WLS(ys, _design(form, xs, psi), weights=w).fit().fittedvalues
        w = given / np.maximum(fitted, ys.min() / 2) ** 2
    psi, warnings = _best(xs, ys, w, form)
    results = sm.WLS(ys, _design(form, xs, psi), weights=w).fit()
    params = np.append(np.asarray(results.params), psi)
    if form == "free":
        params[2] += params[1]
    elif form == "rise-plateau":
        params[1] = -params[1]
    fitted, gradient = _curve(form, xs, params)
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


def _best(x: Array, y: Array, w: Array, form: str) -> tuple[float, tuple[str, ...]]:
    kinks, sign = _kinks(x, y, w, form)
    psi, warnings = kinks.best()
    return sign * psi, warnings


@lru_cache(maxsize=8)
def _noise(n_sim: int, rows: int, seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal((n_sim, rows))


def _kinks(x: Array, y: Array, w: Array, form: str) -> tuple[Kinks, int]:
    """Return the search object and the sign of its axis: a rise to a plateau is a decline from it, seen in -x."""
    sign = -1 if form == "rise-plateau" else 1
    return Kinks.of(sign * x, y, w, sloped=form == "free"), sign


def _design(form: str, x: Array, psi: float) -> Array:
    """Return the linear part of the model given the breakpoint."""
    if form == "free":
        return np.column_stack((np.ones(len(x)), x, np.maximum(x - psi, 0)))
    return np.column_stack((np.ones(len(x)), np.maximum(x - psi if form == "plateau-decline" else psi - x, 0)))


def _curve(form: str, x: Array, params: Array) -> tuple[Array, Array]:
    psi = params[-1]
    one = np.ones(len(x))
    if form == "free":
        a, b, c, _ = params
        over = np.maximum(x - psi, 0)
        return a + b * x + (c - b) * over, np.column_stack((one, x - over, over, (b - c) * (x > psi)))
    a, b, _ = params
    if form == "plateau-decline":
        over = np.maximum(x - psi, 0)
        return a + b * over, np.column_stack((one, over, -b * (x > psi)))
    under = np.maximum(psi - x, 0)
    return a - b * under, np.column_stack((one, -under, -b * (x < psi)))
