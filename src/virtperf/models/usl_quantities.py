"""What follows from a scalability curve: peak, asymptote, efficiency, throughput at a load, capacity for a demand.

With ``1/X(N) = d/N + s + k (N - 1)`` (`usl_law`) each quantity is one linear equation in (d, s, k):

| quantity | equation, c being profiled | c |
|---|---|---|
| throughput at N | d/N + s + k (N - 1) = c | 1/X |
| peak load | k = c d | 1/N*^2 |
| asymptote | s = c | 1/X |
| efficiency at N | d + s N + k N (N - 1) = c (d + s) | 1/E |
| load at efficiency E | d + s c + k c (c - 1) = (d + s)/E | N |
| load within response r | d + s c + k c (c - 1) = r + think time | N |

The limits of the peak throughput are the highest limits of the throughput at any N.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.glm_curve import GLMCurve
from virtperf.models.glm_predict import METHODS
from virtperf.models.irls import solve
from virtperf.models.question import NO_DF, NO_NOISE, Question, inverse_of
from virtperf.models.result import Estimate
from virtperf.models.usl_law import fastest

ENDLESS = "no finite upper limit: the data are also compatible with {}"
FARTHEST, TURNS = 1e4, 4  # times the largest load, where a peak is sought; rounds in which its place is narrowed


class Quantities(GLMCurve):
    """Quantities of a scalability curve.

    They take ``alpha`` (one minus the confidence level); those with ``method`` offer "profile" (the default) and
    "delta".
    """

    def peak_load(self, alpha: float = 0.05, method: str = "profile") -> Estimate:
        """Return the load of greatest throughput, ``N* = sqrt((1 - alpha) / beta)``.

        The upper limit is infinite if Amdahl's law (no peak) fits as well as the level asks.
        """
        if self.kind != "usl":
            raise ModelError(f"{self.kind} scaling has no peak", remedy="fit the Universal Scalability Law")
        d, _, k = (float(v) for v in self.b)
        self._needs_peak(d, k)
        zero = np.zeros_like
        asked = Question(
            lambda c: np.stack((-c, zero(c), np.ones_like(c)), 1), zero, k / d if d > 0 else math.inf, (0.0, math.inf),
            lambda c: math.sqrt(inverse_of(c)),
        )  # fmt: skip
        if d <= 0:  # alpha is 1, and the equation is that of N*^2
            asked = Question(
                lambda c: np.stack((np.ones_like(c), zero(c), -c), 1), zero, 0.0, (0.0, math.inf), math.sqrt
            )
            return self._tested(self.profile(asked, alpha, "peak load"))
        found = self.profile(asked, alpha, "beta", method)
        return self._tested(_endless(found, "Amdahl's law, which has no peak"))

    def peak_throughput(self, alpha: float = 0.05, method: str = "profile") -> Estimate:
        """Return the greatest throughput ``X(max(N*, 1))``; for Amdahl's law the asymptote."""
        checks.one_of(method, METHODS, "interval method")
        if self.kind == "amdahl":
            return self.asymptote(alpha, method)
        if self.kind != "usl":
            raise ModelError("linear scaling has no peak", remedy="fit the Universal Scalability Law")
        d, s, k = (float(v) for v in self.b)
        self._needs_peak(d, k)
        least = float(fastest(self.b[None, :])[1][0])
        if least <= 0:
            low = float(self.fittedvalues.max())  # was observed in any case
            found = Estimate(math.inf, low, math.inf, 1 - alpha, "profile likelihood")
            return _endless(found, "linear scaling, which has no peak")
        asked = self.at(max(math.sqrt(d / k), 1.0)) if k > 0 else Question(
            lambda c: np.tile([0.0, 1.0, 0.0], (len(c), 1)), lambda c: c, s, (0.0, math.inf), inverse_of
        )  # fmt: skip
        asked = replace(asked, value=least)
        if method == "delta":
            return self.profile(asked, alpha, "peak throughput", method)
        low, high = self._highest(alpha)
        notes = (NO_DF,) if self.df_resid <= 0 else (NO_NOISE,) if self.exact else ()
        found = Estimate(inverse_of(least), low, high, 1 - alpha, "profile likelihood", notes)
        return _endless(found, "linear scaling, which has no peak")

    def _highest(self, alpha: float) -> tuple[float, float]:
        """The highest lower and upper limit of the curve at any load from 1.

        They are the limits of the peak throughput: a curve is accepted that reaches c somewhere if and only if the
        interval at some load contains c; and, the accepted coefficients being a convex set, there is one that stays
        below c everywhere if and only if no lower limit is above c.
        """
        if self.df_resid <= 0:
            return 0.0, math.inf
        if self.exact:
            return (float(1 / fastest(self.b[None, :])[1][0]),) * 2
        log_load = np.linspace(0.0, math.log(FARTHEST * max(float(self.x.max()), 2.0)), 14)
        step, tops, asymptote = log_load[1], [0.0, 0.0], 0.0
        for turn in range(TURNS):
            ends = self.band(np.exp(log_load), alpha)
            places = [int(np.argmax(end)) for end in ends]
            if turn == 0 and places[1] == len(log_load) - 1:
                asymptote = self._highest_asymptote(alpha)
            tops = [_vertex(log_load, end, place) for end, place in zip(ends, places, strict=True)]
            step /= 4
            around = np.concatenate([log_load[p] + step * np.arange(-3, 4) for p in places])
            loads = np.unique(np.maximum(around, 0.0))
            log_load = loads[np.diff(loads, prepend=-step) > step / 4]  # else a vertex would be that of rounding errors
        return tops[0], max(tops[1], asymptote)

    def _highest_asymptote(self, alpha: float) -> float:
        """The highest asymptote of Amdahl's laws that the data accept: the limit of peaks that move out of sight."""
        free = np.array([True, True, False])
        best = solve(
            self.mean(), self.columns(self.x), self.y[None, :], self.weights[None, :], free=free, bounded=True
        ).b[0, 1:2]  # fmt: skip

        def deviance(c: Array, which: Array) -> Array:
            return self.deviance_at(np.tile([0.0, 1.0, 0.0], (len(c), 1)), c, free)

        domain = np.zeros(1), np.full(1, math.inf)
        return inverse_of(float(self._limits(best, best / 4, domain, alpha, deviance)[0][0]))

    def asymptote(self, alpha: float = 0.05, method: str = "profile") -> Estimate:
        """Return ``gamma / alpha``: the throughput that contention alone would allow."""
        if self.kind == "linear":
            raise ModelError("linear scaling has no asymptote", remedy="fit Amdahl's law or the USL")
        row = np.array([0.0, 1.0, 0.0])
        asked = Question(
            lambda c: np.tile(row, (len(c), 1)), lambda c: c, float(self.b[1]), (0.0, math.inf), inverse_of
        )
        return _endless(self.profile(asked, alpha, "alpha", method), "no contention")

    def efficiency(self, load: float, alpha: float = 0.05, method: str = "profile") -> Estimate:
        """Return ``X(N) / (gamma N)``: the share of linear scaling that is reached at a load of 1 or more."""
        checks.one_of(method, METHODS, "interval method")
        n = _load(load, "efficiency")
        if n == 1 or self.kind == "linear":
            note = () if n == 1 else ("linear scaling assumes an efficiency of 1: this is no measurement",)
            return Estimate(1.0, 1.0, 1.0, 1 - alpha, "delta" if method == "delta" else "profile likelihood", note)
        cost = np.array([1.0, n, n * (n - 1)])
        top = n if self.bounded and self.kind == "amdahl" else math.inf
        asked = Question(
            lambda c: cost - np.stack((c, c, np.zeros_like(c)), 1), np.zeros_like,
            float(cost @ self.b / (self.b[0] + self.b[1])), (1.0 if self.bounded else 0.0, top), inverse_of,
        )  # fmt: skip
        return self.profile(asked, alpha, "efficiency", method)

    def throughput_at(self, load: float, alpha: float = 0.05) -> Estimate:
        """Return ``X(N)`` with its profile interval, which holds outside the tested loads if the law does."""
        if not (math.isfinite(load) and load > 0):
            raise ModelError("a throughput needs a load", expected="a positive number", found=repr(load))
        found = self.profile(self.at(float(load)), alpha, "throughput")
        return self._tested(found, float(load), float(load))

    def load_at_efficiency(self, share: float, alpha: float = 0.05) -> Estimate:
        """Return the load at which the efficiency ``X(N) / (gamma N)`` has fallen to `share`, between 0 and 1."""
        if not 0 < share < 1:
            raise ModelError("an efficiency is a share", expected="a number between 0 and 1", found=repr(share))
        one = np.ones_like
        return self._load_where(
            lambda c: np.stack((one(c) - 1 / share, c - 1 / share, c * (c - 1)), 1), np.zeros_like, alpha
        )

    def load_within_response(self, response: float, think: float = 0.0, alpha: float = 0.05) -> Estimate:
        """Return the largest load whose mean response time is at most `response`.

        In a closed system ``R = N / X(N) - Z`` with the think time Z (Little's law).

        Parameters
        ----------
        response, think : float
            In the unit of time in which throughput is counted (transactions a second: seconds).
        alpha : float

        Raises
        ------
        ModelError
            If a load of one responds more slowly already.

        References
        ----------
        Lazowska, E. D. et al. (1984). Quantitative System Performance. Chapter 3 (the interactive response-time law).
        """
        if not (math.isfinite(response) and response > 0 and math.isfinite(think) and think >= 0):
            raise ModelError(
                "a limit of the response time is needed", found=f"{response!r}, {think!r}",
                expected="a response time above 0, a think time of 0 or more",
            )  # fmt: skip
        total = response + think
        one = np.ones_like
        return self._load_where(lambda c: np.stack((one(c), c, c * (c - 1)), 1), lambda c: total * one(c), alpha)

    def _load_where(self, row: Callable[[Array], Array], target: Callable[[Array], Array], alpha: float) -> Estimate:
        """The load c >= 1 that solves ``row(c) @ b = target(c)``, whose left side minus the right one rises with c."""

        def gap(c: float) -> float:
            at = np.array([c])
            return float((row(at) @ self.b - target(at))[0])

        if gap(1.0) > 0:
            raise ModelError("a load of one is beyond the limit already", remedy="allow more")
        one, two, three = gap(1.0), gap(2.0), gap(3.0)
        square = (three - 2 * two + one) / 2  # the gap is a parabola in c
        slope = two - one - 3 * square
        level = one - slope - square
        root = math.sqrt(max(slope * slope - 4 * square * level, 0.0))
        value = -2 * level / (slope + root) if slope + root > 0 else math.inf
        if math.isinf(value):
            note = "the fitted curve never reaches the limit"
            return Estimate(math.inf, float(self.x.max()), math.inf, 1 - alpha, "profile likelihood", (note,))
        found = self.profile(Question(row, target, value, (1.0, math.inf)), alpha, "load")
        return self._tested(_endless(found, "a curve that never reaches the limit"))

    def _tested(self, found: Estimate, low: float | None = None, high: float | None = None) -> Estimate:
        """Warn where a load, or the ends of its interval, lie outside the tested loads."""
        first, last = float(self.x.min()), float(self.x.max())
        inner, outer = found.low if low is None else low, found.high if high is None else high
        value = found.value if low is None else low
        if value > last or value < first:
            note = f"extrapolated: the tested loads are {first:g} to {last:g}; the law is assumed to hold beyond"
        elif outer > last or inner < first:
            note = f"the interval reaches beyond the tested loads, {first:g} to {last:g}"
        else:
            return found
        return replace(found, warnings=(*found.warnings, note))

    def _needs_peak(self, d: float, k: float) -> None:
        if k < 0 or d < 0:
            raise ModelError(
                "the fitted curve has no peak", expected="alpha at most 1 and beta of 0 or more",
                found=", ".join(f"{name} {value:g}" for name, value in zip(self.param_names, self.params, strict=True)),
            )  # fmt: skip


def _vertex(x: Array, y: Array, at: int) -> float:
    """The largest y, by a parabola through the point `at` and its neighbours."""
    if not 0 < at < len(x) - 1 or not np.all(np.isfinite(y[at - 1 : at + 2])):
        return float(y[at])
    before, after = x[at] - x[at - 1], x[at + 1] - x[at]
    down, up = (y[at] - y[at - 1]) / before, (y[at + 1] - y[at]) / after
    a, b = (up - down) / (before + after), (after * down + before * up) / (before + after)
    return float(y[at] - b * b / (4 * a)) if a < 0 else float(y[at])


def _load(load: float, what: str) -> float:
    if not (math.isfinite(load) and load >= 1):
        raise ModelError(f"{what} needs a load", expected="a finite number of at least 1", found=repr(load))
    return float(load)


def _endless(found: Estimate, why: str) -> Estimate:
    return replace(found, warnings=(*found.warnings, ENDLESS.format(why))) if found.high == math.inf else found
