"""Two straight pieces that meet at a breakpoint."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.kinks import Kinks
from virtperf.models.result import Estimate, FitResult, inverse_gram, t_quantile

NAMES = {
    "free": ("intercept", "slope1", "slope2", "breakpoint"),
    "plateau-decline": ("plateau", "slope2", "breakpoint"),
    "rise-plateau": ("plateau", "slope1", "breakpoint"),
}
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
    """A fitted two-piece line; see `FitResult` for the common part. ``params[-1]`` is the breakpoint, in units of x."""

    form: str

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

    def estimate(self, name: str, alpha: float = 0.05, method: str = "simulated") -> Estimate:
        """Return one parameter; the first two methods apply to the breakpoint, the others have t intervals."""
        checks.one_of(method, ("simulated", "profile", "t"), "interval method")
        if method == "t" or name != "breakpoint":
            return super().estimate(name, alpha)
        label = "profile likelihood" if method == "profile" else "likelihood, simulated"
        quantile = t_quantile(self.df_resid, alpha)
        value = float(self.params[-1])
        if math.isinf(quantile):
            why = "no degrees of freedom are left"
            return Estimate(value, -math.inf, math.inf, 1 - alpha, label, (why,))
        kinks, sign = _kinks(self.x, self.y, self.weights, self.form)
        low, high, notes = kinks.limits(self.rss + quantile**2 * self.scale)
        if method == "simulated" and not self._exact(kinks):
            noise = _noise(N_SIM, self.nobs, SEED)
            low, first = self._end(kinks, 0, alpha, quantile**2, noise)
            high, second = self._end(kinks, 1, alpha, quantile**2, noise)
            notes = tuple(dict.fromkeys((*notes, *first, *second)))
        low, high = min(low, sign * value), max(high, sign * value)
        if sign < 0:
            low, high = -high, -low
        return Estimate(value, low, high, 1 - alpha, label, notes)

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

    def conf_int(self, alpha: float = 0.05, method: str = "simulated") -> Array:
        """Return the limits of all parameters, shape (p, 2); see `estimate`."""
        return super().conf_int(alpha, method)

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
    x: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None, form: str = "free"
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

    Returns
    -------
    SegmentedResult

    Raises
    ------
    ModelError
        For rows that are not finite, or too few rows or distinct x.

    Notes
    -----
    The global optimum is found in closed form in each gap between neighbouring x: time and memory are O(n**2).
    """
    names = NAMES[checks.one_of(form, tuple(NAMES), "form")]
    xs, ys = checks.column(x, "x"), checks.column(y, "y")
    checks.same_length(("x", xs), ("y", ys))
    checks.enough(xs, names, name="x")
    w = checks.weights_or_ones(weights, len(xs))
    kinks, sign = _kinks(xs, ys, w, form)
    psi, warnings = kinks.best()
    psi *= sign
    root = np.sqrt(w)
    params = np.append(np.linalg.lstsq(root[:, None] * _design(form, xs, psi), root * ys, rcond=None)[0], psi)
    if form == "free":
        params[2] += params[1]
    elif form == "rise-plateau":
        params[1] = -params[1]
    fitted, gradient = _curve(form, xs, params)
    df = len(xs) - len(params)
    rss = float(np.sum(w * (ys - fitted) ** 2))
    inverse, known = inverse_gram(root[:, None] * gradient)
    if not known:
        warnings = (*warnings, "the pieces do not differ, or the breakpoint is an x: there are no standard errors")
    falls = {"plateau-decline": params[1] > 0, "rise-plateau": params[1] < 0, "free": False}[form]
    if falls:
        warnings = (
            *warnings,
            f"the sloping piece {'rises' if form == 'plateau-decline' else 'falls'}, against {form!r}",
        )
    return SegmentedResult(
        model=f"Two-piece line ({form}): {FORMULAS[form]}",
        param_names=names,
        params=params,
        covariance=inverse * (rss / df if df > 0 else math.nan),
        x=xs,
        y=ys,
        weights=w,
        fittedvalues=fitted,
        df_resid=df,
        warnings=warnings,
        form=form,
    )


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
