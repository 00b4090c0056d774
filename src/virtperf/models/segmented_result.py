"""A fitted two-piece line: intervals with the breakpoint free, tests of a break, losses,
predictions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from rawperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.breakpoint_search import Kinks
from virtperf.models.checks import Array
from virtperf.models.pieces import FORMS, Places, curve, design, search
from virtperf.models.prediction import prediction, weights_of_new
from virtperf.models.profile import limits
from virtperf.models.result import NO_DF, NO_NOISE, Estimate, FitResult, t_quantile

LABEL = "likelihood, simulated"
N_SIM, SEED, ROUNDS = 1999, 20, 4
"""Of the simulated threshold of an interval; it is searched for in so many rounds at most."""


@lru_cache(maxsize=8)
def _normal_numbers(n_sim: int, rows: int, seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal((n_sim, rows))


def _share(drawn: Array, observed: float) -> float:
    return (1 + int(np.sum(drawn >= observed))) / (1 + len(drawn))


@dataclass(frozen=True)
class BreakTest:
    """A test whose null distribution is simulated: of one straight line against two pieces, or of a
    breakpoint's place.

    Parameters
    ----------
    statistic : float
        Largest F statistic over all breakpoints; or how much worse the tested place is than the
        best.
    pvalue : float
        Share of data sets simulated under the null with a statistic at least as large, ``(1 +
        count) / (1 + n_sim)``.
    """

    statistic: float
    pvalue: float
    n_sim: int
    seed: int


@dataclass(frozen=True, eq=False, kw_only=True)
class SegmentedResult(FitResult):
    """A fitted two-piece line; see `FitResult` for the common part. ``params[-1]`` is the
    breakpoint, in units of x.

    `results` is the linear model with the breakpoint taken as known, which makes its own intervals
        too narrow.

    Parameters
    ----------
    given : ndarray, shape (n,)
        The caller's weights; ``weights`` has the proportional noise too.
    """

    form: str
    given: Array

    @cached_property
    def _kinks(self) -> Kinks:
        return search(self.x, self.y, self.weights, self.form)

    @property
    def _sign(self) -> int:
        return FORMS[self.form].sign

    @property
    def _exact(self) -> bool:
        return self.rss <= (1e-13 * float(np.linalg.norm(self._kinks.root * self.y))) ** 2

    def breakpoint(self, alpha: float = 0.05, method: str = "simulated") -> Estimate:
        """Return the breakpoint with its interval.

        Parameters
        ----------
        method : {"simulated", "profile", "t"}
            "profile": the range of ``{psi : RSS(psi) <= RSS + s**2 F(1 - alpha; 1, df)}``; an end
            is infinite if a curve without a break inside the data fits as well. The sum of squares
            has corners where psi passes an x, so that F is too small a threshold where the noise is
            large. "simulated": the same with the threshold that
            `place_test` asks for at each end. "t": delta method.
        """
        return self.estimate("breakpoint", alpha, method)

    def estimate(self, name: str, alpha: float = 0.05, method: str | None = None) -> Estimate:
        """Return one parameter with its interval.

        Parameters
        ----------
        method : str, optional
            "simulated" where none is given. Of the breakpoint: see `breakpoint`. Of the others:
            "simulated", all values v for which some curve with any breakpoint has ``RSS(v) <= RSS +
            s**2 c``, c being the larger of F(1 - alpha; 1, df) and the simulated threshold of the
            fitted breakpoint's place; or "t", the delta method.
        """
        methods = ("simulated", "profile", "t") if name == "breakpoint" else ("simulated", "t")
        method = checks.one_of(method or "simulated", methods, "interval method")
        if method == "t":
            return super().estimate(name, alpha)
        place = self.index(name)
        value = float(self.params[place])
        if name == "breakpoint":
            return self._break(value, alpha, method)
        row = np.array(FORMS[self.form].turn[place], dtype=float)
        low, high, notes = self._profile(
            np.array([value]), alpha, lambda psi: np.tile(row, (len(psi), 1, 1))
        )
        return Estimate(value, float(low[0]), float(high[0]), 1 - alpha, LABEL, notes)

    def _break(self, value: float, alpha: float, method: str) -> Estimate:
        label = "profile likelihood" if method == "profile" else LABEL
        quantile = t_quantile(self.df_resid, alpha)
        if math.isinf(quantile):
            return Estimate(value, -math.inf, math.inf, 1 - alpha, label, (NO_DF,))
        low, high, notes = self._kinks.limits(self.rss + quantile**2 * self.scale)
        if self._exact:
            notes = (*notes, NO_NOISE)
        elif method == "simulated":
            low, first = self._end(0, alpha, quantile**2)
            high, second = self._end(1, alpha, quantile**2)
            notes = tuple(dict.fromkeys((*notes, *first, *second)))
        low, high = min(low, self._sign * value), max(high, self._sign * value)
        if self._sign < 0:
            low, high = -high, -low
        return Estimate(value, low, high, 1 - alpha, label, notes)

    def _end(self, side: int, alpha: float, least: float) -> tuple[float, tuple[str, ...]]:
        """Return the lower (0) or upper (1) limit, whose threshold is simulated with the kink at
        the limit itself.
        """
        threshold = least
        for _ in range(ROUNDS):
            *ends, notes = self._kinks.limits(self.rss + threshold * self.scale)
            at = float(ends[side])
            wanted = max(self._simulated(at, alpha), least)
            if abs(wanted - threshold) <= 0.01 * threshold:
                break
            threshold = wanted
        return at, notes

    def _simulated(self, at: float, alpha: float) -> float:
        """Threshold of the sum of squares that data sets with the kink at `at` ask for."""
        drawn = self._kinks.excess(at, self.df_resid, _normal_numbers(N_SIM, self.nobs, SEED))
        return float(np.quantile(drawn, 1 - alpha))

    def _quantile(self, alpha: float) -> float:
        """Root of the threshold of a profile: that of F(1, df), or the one that the breakpoint's
        own place asks for.

        Where the noise is large, corners of the sum of squares make F too small a threshold for the
        breakpoint, and for slopes and values, which move with it.
        """
        quantile = t_quantile(self.df_resid, alpha)
        if math.isinf(quantile) or self._exact:
            return quantile
        return max(quantile, math.sqrt(self._simulated(self._sign * float(self.params[-1]), alpha)))

    def _profile(
        self, value: Array, alpha: float, rows: Callable[[Array], Array]
    ) -> tuple[Array, Array, tuple[str, ...]]:
        """Limits of m values, whose `rows` at given breakpoints have the shape (G, m, p), and
        warnings.
        """
        quantile = self._quantile(alpha)
        if math.isinf(quantile):
            return np.full_like(value, -math.inf), np.full_like(value, math.inf), (NO_DF,)
        if self._exact:
            return value, value, (NO_NOISE,)
        places, notes = self._places(quantile)
        low, high = places.interval(rows(places.psi), self.rss + quantile**2 * self.scale)
        return np.minimum(low, value), np.maximum(high, value), notes

    def _places(self, quantile: float) -> tuple[Places, tuple[str, ...]]:
        """Breakpoints that the data allow, and warnings."""
        kinks = self._kinks
        low, high, _ = kinks.limits(self.rss + quantile**2 * self.scale)
        inside = kinks.knots[kinks.first], kinks.knots[kinks.last]
        ends = sorted(self._sign * np.clip([low, high], *inside))
        also = np.append(self._sign * kinks.knots, self.params[-1])
        endless = math.isinf(low) or math.isinf(high)
        notes = (
            ("a curve without a break fits as well: the interval assumes a break among the x",)
            if endless
            else ()
        )
        return Places.of(
            self.form, self.x, self.y, self.weights, float(ends[0]), float(ends[1]), also
        ), notes

    def loss(self, share: float, alpha: float = 0.05) -> Estimate:
        """Return the x at which the second piece has lost a share of the value at the breakpoint.

        For example the memory overcommitment at which throughput has fallen by 5 %: ``loss(0.05)``.
        The interval is the profile of that x, with the breakpoint free.

        Raises
        ------
        ModelError
            If the share is not between 0 and 1, or the fitted second piece does not fall, or has no
            slope.
        """
        if not 0 < share < 1:
            raise ModelError(
                "a loss is a share", expected="a number between 0 and 1", found=repr(share)
            )
        if self.form == "rise-plateau":
            raise ModelError(
                "a plateau loses nothing",
                remedy="fit a decline after a plateau, or two free pieces",
            )
        psi, slope = float(self.params[-1]), float(self.params[-2])
        top = float(self._curve(np.array([psi]))[0][0])
        if not (slope < 0 < top):
            raise ModelError("the fitted second piece does not fall", found=f"slope {slope:g}")
        value = psi - share * top / slope
        quantile = self._quantile(alpha)
        if math.isinf(quantile):
            return Estimate(value, -math.inf, math.inf, 1 - alpha, LABEL, (NO_DF,))
        if self._exact:
            return Estimate(value, value, value, 1 - alpha, LABEL, (NO_NOISE,))
        places, notes = self._places(quantile)
        tops, falls = design(self.form, places.psi, places.psi), np.array(FORMS[self.form].turn[-1])

        def excess(c: Array, which: Array) -> Array:
            after = np.maximum(c - places.psi[:, None], 0.0)
            rss = places.least(share * tops[:, None, :] + after[:, :, None] * falls)
            return np.sqrt(np.maximum(rss - self.rss, 0.0) / self.scale)

        low, high = limits(
            excess,
            np.array([value]),
            np.array([np.ptp(places.psi) / 4 + 1e-3 * abs(value)]),
            (np.array([float(self.x.min())]), np.array([math.inf])),
            quantile,
        )
        last = float(self.x.max())
        if high[0] > last:
            notes = (
                *notes,
                f"the interval reaches beyond the tested range, which ends at {last:g}",
            )
        return Estimate(value, float(low[0]), float(high[0]), 1 - alpha, LABEL, notes)

    def place_test(self, psi: float, n_sim: int = N_SIM, seed: int = SEED) -> BreakTest:
        """Test whether the break is at `psi`.

        The statistic is ``(RSS(psi) - RSS) / s**2``. It is compared with F(1, df), and with data
        sets that are simulated around the best curve with its break at psi; the larger p-value
        counts.
        """
        if self.df_resid < 1:
            raise ModelError(
                "no degrees of freedom are left for the test",
                remedy="measure more points or replicates",
            )
        observed = float(self._kinks.excess(self._sign * psi, self.df_resid)[0])
        by_f = float(special.fdtrc(1, self.df_resid, observed))
        drawn = self._kinks.excess(
            self._sign * psi, self.df_resid, _normal_numbers(n_sim, self.nobs, seed)
        )
        return BreakTest(observed, max(by_f, _share(drawn, observed)), n_sim, seed)

    def break_test(self, n_sim: int = N_SIM, seed: int = SEED) -> BreakTest:
        """Test whether there is a break at all: a straight line against the free form, whatever
        `form` is.

        The breakpoint does not exist under the null, so the F statistic has no F distribution
        (Davies 1987). With normal errors the distribution of its maximum depends only on x and the
        weights: it is simulated.

        Raises
        ------
        ModelError
            With fewer than five rows or four distinct x.
        """
        checks.enough(self.x, FORMS["free"].names, name="x")
        kinks = search(self.x, self.y, self.weights, "free")
        df = self.nobs - 4
        if df < 1:
            raise ModelError(
                "a test for a break needs more rows", expected="at least 5", found=str(self.nobs)
            )
        observed = float(kinks.largest_f(self.y[None, :] * kinks.root, df)[0])
        if np.linalg.norm(kinks.e) <= 1e-13 * np.linalg.norm(kinks.root * self.y):
            observed = 0.0  # an exact straight line: what is left is rounding
        drawn = kinks.largest_f(_normal_numbers(n_sim, self.nobs, seed), df)
        return BreakTest(observed, _share(drawn, observed), n_sim, seed)

    def predict(
        self,
        new: ArrayLike,
        interval: str | None = None,
        alpha: float = 0.05,
        weights: ArrayLike | None = None,
    ) -> Array | pd.DataFrame:
        """Evaluate the fitted curve, as `GLMCurve.predict` does; intervals are profiles with the
        breakpoint free.
        """
        x = self._new(new)
        value, gradient = self._curve(x)
        if interval is None:
            return value
        checks.one_of(interval, ("mean", "observation"), "interval")
        se = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", gradient, self.covariance, gradient), 0.0))
        ends = self._profile(
            value, alpha, lambda psi: np.array([design(self.form, x, float(p)) for p in psi])
        )[:2]
        noise = weights_of_new(self.given, weights, len(x)) if interval == "observation" else None
        return prediction(self, x, value, se, ends, alpha, weights=noise)

    def _curve(self, new: Array) -> tuple[Array, Array]:
        return curve(self.form, new, self.params)
