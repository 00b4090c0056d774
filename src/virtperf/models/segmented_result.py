"""A fitted two-piece line: intervals with the breakpoint free, tests of a break, losses, predictions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.breakpoint_search import Kinks
from virtperf.models.breakpoint_tests import Breaks
from virtperf.models.checks import Array
from virtperf.models.glm_predict import weights_of_new
from virtperf.models.profile import limits
from virtperf.models.question import NO_DF, NO_NOISE
from virtperf.models.result import Estimate, t_quantile
from virtperf.models.segmented_law import LABEL, N_SIM, ROUNDS, SEED, curve, design, normal_numbers, search
from virtperf.models.segmented_profile import Places


@dataclass(frozen=True, eq=False, kw_only=True)
class SegmentedResult(Breaks):
    """A fitted two-piece line; see `FitResult` for the common part. ``params[-1]`` is the breakpoint, in units of x.

    Parameters
    ----------
    form : str
    noise : {"constant", "proportional"}
    given : ndarray, shape (n,)
        The caller's weights; ``weights`` has the proportional noise too.
    results : statsmodels RegressionResults
        The linear model with the breakpoint taken as known, which makes its own intervals too narrow.
    """

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
        kinks, sign = search(self.x, self.y, self.weights, self.form)
        low, high, notes = kinks.limits(self.rss + quantile**2 * self.scale)
        if self._exact(kinks):
            notes = (*notes, NO_NOISE)
        elif method == "simulated":
            noise = normal_numbers(N_SIM, self.nobs, SEED)
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
        row = np.eye(len(self.params) - 1)[self.index(name)]
        if (self.form, name) == ("free", "slope2"):
            row = np.array([0.0, 1.0, 1.0])
        elif (self.form, name) == ("rise-plateau", "slope1"):
            row = -row
        low, high = places.interval(np.tile(row, (len(places.psi), 1, 1)), self.rss + quantile**2 * self.scale)
        return Estimate(value, float(min(low[0], value)), float(max(high[0], value)), 1 - alpha, label, notes)

    def _quantile(self, alpha: float) -> float:
        """Root of the threshold of a profile: that of F(1, df), or the one that the breakpoint's own place asks for.

        Where the noise is large, corners of the sum of squares make F too small a threshold for the breakpoint, and
        for slopes and values, which move with it.
        """
        quantile = t_quantile(self.df_resid, alpha)
        kinks, sign = search(self.x, self.y, self.weights, self.form)
        if math.isinf(quantile) or self._exact(kinks):
            return quantile
        drawn = kinks.excess(sign * float(self.params[-1]), self.df_resid, normal_numbers(N_SIM, self.nobs, SEED))
        return max(quantile, math.sqrt(float(np.quantile(drawn, 1 - alpha))))

    def _places(self, quantile: float) -> tuple[Places | None, tuple[str, ...]]:
        """Breakpoints that the data allow, and warnings; None for an exact fit."""
        kinks, sign = search(self.x, self.y, self.weights, self.form)
        if self._exact(kinks):
            return None, (NO_NOISE,)
        low, high, _ = kinks.limits(self.rss + quantile**2 * self.scale)
        inside = kinks.knots[kinks.first], kinks.knots[kinks.last]
        ends = sorted(sign * np.clip([low, high], *inside))
        also = np.append(sign * kinks.knots, self.params[-1])
        told: tuple[str, ...] = ()
        if math.isinf(low) or math.isinf(high):
            told = ("a curve without a break fits as well: the interval assumes a break among the x",)
        form = partial(design, self.form)
        return Places.of(form, self.x, self.y, self.weights, float(ends[0]), float(ends[1]), also), told

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
        top = float(curve(self.form, np.array([psi]), self.params)[0][0])
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
            rss = places.least(np.stack(np.broadcast_arrays(*rows), axis=-1), np.zeros(len(c)))
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
        self, new: ArrayLike, interval: str | None = None, alpha: float = 0.05, weights: ArrayLike | None = None
    ) -> Array | pd.DataFrame:
        """Evaluate the fitted curve, as `GLMCurve.predict` does; intervals are profiles with the breakpoint free.

        In the interval of one new observation the distances of both kinds of error are added in quadrature.
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
            rows = np.array([design(self.form, x, float(p)) for p in places.psi])
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

    def _curve(self, new: Array) -> tuple[Array, Array]:
        return curve(self.form, new, self.params)
