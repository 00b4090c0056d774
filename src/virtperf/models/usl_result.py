"""A fitted scalability curve and what follows from it: peak, asymptote, efficiency, capacity for a
demand.

``X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))`` is one over ``b0/N + b1 (N - 1)/N + b2 (N
- 1)``, which is linear in ``b0 = 1/gamma``, ``b1 = alpha/gamma`` and ``b2 = beta/gamma``. Written
    as ``d/N + s + k (N - 1)`` with
``d = b0 - b1``, ``s = b1`` and ``k = b2``, the bounds ``0 <= alpha <= 1`` and ``beta >= 0`` are
``d, s, k >= 0``, and each quantity is one linear equation:

| quantity | equation, c being profiled | c |
|---|---|---|
| throughput at N | d/N + s + k (N - 1) = c | 1/X |
| peak load | k = c d | 1/N*^2 |
| asymptote | s = c | 1/X |
| efficiency at N | d + s N + k N (N - 1) = c (d + s) | 1/E |
| load at efficiency E | d + s c + k c (c - 1) = (d + s)/E | N |
| load within response r | d + s c + k c (c - 1) = r + think time | N |

The limits of the peak throughput are the highest limits of the throughput at any N.

References
----------
Gunther, N. J. (2007). Guerrilla Capacity Planning. Chapters 4 to 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rawperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.glm_curve import METHODS, GLMCurve
from virtperf.models.irls import solve
from virtperf.models.profile import Question, inverse_of
from virtperf.models.result import NO_DF, NO_NOISE, Estimate

ENDLESS = "no finite upper limit: the data are also compatible with {}"
FARTHEST, TURNS = (
    1e4,
    4,
)  # times the largest load, where a peak is sought; rounds in which its place is narrowed
ASYMPTOTE = (0.0, 1.0, 0.0)  # the row whose value is one over it


def columns(x: Array) -> Array:
    """Return the design in (d, s, k) at the loads x, shape (n, 3): ``1/N, 1, N - 1``."""
    return np.column_stack((1 / x, np.ones(len(x)), x - 1))


def coefficients(b: Array) -> Array:
    """Return (alpha, beta, gamma) of (d, s, k), both of shape (..., 3)."""
    d, s, k = np.moveaxis(b, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack((s, k, np.ones_like(s)), axis=-1) / (d + s)[..., None]


def least_cost(b: Array) -> Array:
    """Return the least ``1/X(N)`` at any load N from 1 (to 1e9), for each row of b."""
    d, s, k = b.T
    with np.errstate(divide="ignore", invalid="ignore"):
        n = np.clip(np.where(k > 0, np.sqrt(np.maximum(d, 0.0) / k), 1e9), 1.0, 1e9)
    return np.where(k > 0, d / n + s + k * (n - 1), s)


@dataclass(frozen=True, eq=False, kw_only=True)
class USLResult(GLMCurve):
    """A fitted scalability curve: parameters alpha, beta, gamma; see `GLMCurve`.

    ``results`` has the coefficients of ``1/X = b0/N + b1 (N - 1)/N + b2 (N - 1)``: ``gamma =
        1/b0``, ``alpha = b1/b0``,
    ``beta = b2/b0``. With alpha on its bound 1, the first two columns are one: ``1/X = b0 + b2 (N -
        1)``.

    Quantities take ``alpha`` (one minus the confidence level); those with ``method`` offer
    "profile" (the default) and "delta".
    """

    inverse: ClassVar[bool] = True
    formulas: ClassVar[dict[str, str]] = {
        "usl": "Universal Scalability Law: X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))",
        "amdahl": "Amdahl's law: X(N) = gamma N / (1 + alpha (N - 1))",
        "linear": "Linear scaling: X(N) = gamma N",
    }
    names: ClassVar[tuple[str, str, str]] = ("alpha", "beta", "gamma")
    columns = staticmethod(columns)

    @staticmethod
    def parameters(b: Array) -> tuple[Array, Array]:
        """(alpha, beta, gamma) and their derivatives in (d, s, k)."""
        d, s, k = b
        g = 1 / (d + s)
        slope = np.array(
            [[-s * g * g, d * g * g, 0.0], [-k * g * g, -k * g * g, g], [-g * g, -g * g, 0.0]]
        )
        return coefficients(b), slope

    @staticmethod
    def stated(used: NDArray[np.bool_]) -> tuple[Array, list[str]]:
        """The matrix from statsmodels' coefficients to (d, s, k), and the names of their
        columns.
        """
        if not used[0]:  # alpha is 1
            return np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])[:, [True, used[2]]], [
                "1",
                "N - 1",
            ][: 1 + used[2]]
        turn = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        return turn[:, used], [
            n for n, u in zip(("1/N", "(N - 1)/N", "N - 1"), used, strict=True) if u
        ]

    def question(self, name: str) -> Question:
        """The equation of a parameter."""
        alpha, beta, gamma = (float(v) for v in self.coefficients)
        if name == "gamma":
            return Question.level((1, 1, 0), 1 / gamma, inverse_of)
        least = 0.0 if self.bounded else -math.inf
        if name == "alpha":
            return Question.share(
                (0, 1, 0), (1, 1, 0), alpha, (least, 1.0 if self.bounded else math.inf)
            )
        return Question.share((0, 0, 1), (1, 1, 0), beta, (least, math.inf))

    def peak_load(self, alpha: float = 0.05, method: str = "profile") -> Estimate:
        """Return the load of greatest throughput, ``N* = sqrt((1 - alpha) / beta)``.

        The upper limit is infinite if Amdahl's law (no peak) fits as well as the level asks.
        """
        if self.kind != "usl":
            raise ModelError(
                f"{self.kind} scaling has no peak", remedy="fit the Universal Scalability Law"
            )
        d, _, k = (float(v) for v in self.b)
        self._needs_peak(d, k)
        if d <= 0:  # alpha is 1, and the equation is that of N*^2
            asked = Question.share((1, 0, 0), (0, 0, 1), 0.0, back=math.sqrt)
            return self._tested(self.profile(asked, alpha, "peak load"))
        asked = Question.share((0, 0, 1), (1, 0, 0), k / d, back=lambda c: math.sqrt(inverse_of(c)))
        found = self.profile(asked, alpha, "beta", method)
        return self._tested(_endless(found, "Amdahl's law, which has no peak"))

    def peak_throughput(self, alpha: float = 0.05, method: str = "profile") -> Estimate:
        """Return the greatest throughput ``X(max(N*, 1))``; for Amdahl's law the asymptote."""
        checks.one_of(method, METHODS, "interval method")
        if self.kind == "amdahl":
            return self.asymptote(alpha, method)
        if self.kind != "usl":
            raise ModelError(
                "linear scaling has no peak", remedy="fit the Universal Scalability Law"
            )
        d, s, k = (float(v) for v in self.b)
        self._needs_peak(d, k)
        least = float(least_cost(self.b[None, :])[0])
        if least <= 0:
            low = float(self.fittedvalues.max())  # was observed in any case
            found = Estimate(math.inf, low, math.inf, 1 - alpha, "profile likelihood")
        elif method == "delta":
            asked = (
                self.at(max(math.sqrt(d / k), 1.0))
                if k > 0
                else Question.level(ASYMPTOTE, s, inverse_of)
            )
            return self.profile(replace(asked, value=least), alpha, "peak throughput", method)
        else:
            low, high = self._highest(alpha)
            notes = (NO_DF,) if self.df_resid <= 0 else (NO_NOISE,) if self.exact else ()
            found = Estimate(inverse_of(least), low, high, 1 - alpha, "profile likelihood", notes)
        return _endless(found, "linear scaling, which has no peak")

    def _highest(self, alpha: float) -> tuple[float, float]:
        """The highest lower and upper limit of the curve at any load from 1.

        They are the limits of the peak throughput: a curve is accepted that reaches c somewhere if
        and only if the interval at some load contains c; and, the accepted coefficients being a
        convex set, there is one that stays below c everywhere if and only if no lower limit is
        above c.
        """
        if self.df_resid <= 0:
            return 0.0, math.inf
        if self.exact:
            return (float(1 / least_cost(self.b[None, :])[0]),) * 2
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
            log_load = loads[
                np.diff(loads, prepend=-step) > step / 4
            ]  # else a vertex would be that of rounding errors
        return tops[0], max(tops[1], asymptote)

    def _highest_asymptote(self, alpha: float) -> float:
        """The highest asymptote of Amdahl's laws that the data accept: the limit of peaks that move
        out of sight.
        """
        free = np.array([True, True, False])
        best = solve(
            self.mean(), self.columns(self.x), self.y[None, :], self.weights[None, :], free=free
        ).b[0, 1:2]

        def deviance(c: Array, which: Array) -> Array:
            return self.deviance_at(np.tile(ASYMPTOTE, (len(c), 1)), c, free)

        domain = np.zeros(1), np.full(1, math.inf)
        return inverse_of(float(self.limits(best, best / 4, domain, alpha, deviance)[0][0]))

    def asymptote(self, alpha: float = 0.05, method: str = "profile") -> Estimate:
        """Return ``gamma / alpha``: the throughput that contention alone would allow."""
        if self.kind == "linear":
            raise ModelError(
                "linear scaling has no asymptote", remedy="fit Amdahl's law or the USL"
            )
        asked = Question.level(ASYMPTOTE, float(self.b[1]), inverse_of)
        return _endless(self.profile(asked, alpha, "alpha", method), "no contention")

    def efficiency(self, load: float, alpha: float = 0.05, method: str = "profile") -> Estimate:
        """Return ``X(N) / (gamma N)``: the share of linear scaling that is reached at a load of 1
        or more.
        """
        checks.one_of(method, METHODS, "interval method")
        if not (math.isfinite(load) and load >= 1):
            raise ModelError(
                "efficiency needs a load",
                expected="a finite number of at least 1",
                found=repr(load),
            )
        n = float(load)
        if n == 1 or self.kind == "linear":
            note = (
                ()
                if n == 1
                else ("linear scaling assumes an efficiency of 1: this is no measurement",)
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
            Question.share(cost, (1, 1, 0), value, domain, inverse_of), alpha, "efficiency", method
        )

    def throughput_at(self, load: float, alpha: float = 0.05) -> Estimate:
        """Return ``X(N)`` with its profile interval, which holds outside the tested loads if the
        law does.
        """
        if not (math.isfinite(load) and load > 0):
            raise ModelError(
                "a throughput needs a load", expected="a positive number", found=repr(load)
            )
        found = self.profile(self.at(float(load)), alpha, "throughput")
        return replace(found, warnings=(*found.warnings, *self.beyond(load)))

    def load_at_efficiency(self, share: float, alpha: float = 0.05) -> Estimate:
        """Return the load at which the efficiency ``X(N) / (gamma N)`` has fallen to `share`,
        between 0 and 1.
        """
        if not 0 < share < 1:
            raise ModelError(
                "an efficiency is a share", expected="a number between 0 and 1", found=repr(share)
            )
        one = np.ones_like
        return self._load_where(
            lambda c: np.stack((one(c) - 1 / share, c - 1 / share, c * (c - 1)), 1),
            np.zeros_like,
            alpha,
        )

    def load_within_response(
        self, response: float, think: float = 0.0, alpha: float = 0.05
    ) -> Estimate:
        """Return the largest load whose mean response time is at most `response`.

        In a closed system ``R = N / X(N) - Z`` with the think time Z (Little's law). Both times are
        in the unit of time in which throughput is counted (transactions a second: seconds).

        Raises
        ------
        ModelError
            If a load of one responds more slowly already.

        References
        ----------
        Lazowska, E. D. et al. (1984). Quantitative System Performance. Chapter 3 (the interactive
        response-time law).
        """
        if not (math.isfinite(response) and response > 0 and math.isfinite(think) and think >= 0):
            raise ModelError(
                "a limit of the response time is needed",
                found=f"{response!r}, {think!r}",
                expected="a response time above 0, a think time of 0 or more",
            )
        total = response + think
        one = np.ones_like
        return self._load_where(
            lambda c: np.stack((one(c), c, c * (c - 1)), 1), lambda c: total * one(c), alpha
        )

    def _load_where(
        self, row: Callable[[Array], Array], target: Callable[[Array], Array], alpha: float
    ) -> Estimate:
        """The load c >= 1 that solves ``row(c) @ b = target(c)``, whose left side minus the right
        one rises with c.
        """
        places = np.array([1.0, 2.0, 3.0])
        one, two, three = (float(v) for v in row(places) @ self.b - target(places))
        if one > 0:
            raise ModelError("a load of one is beyond the limit already", remedy="allow more")
        square = (three - 2 * two + one) / 2  # the left side minus the right one is a parabola in c
        slope = two - one - 3 * square
        level = one - slope - square
        root = math.sqrt(max(slope * slope - 4 * square * level, 0.0))
        value = -2 * level / (slope + root) if slope + root > 0 else math.inf
        if math.isinf(value):
            note = "the fitted curve never reaches the limit"
            return Estimate(
                math.inf, float(self.x.max()), math.inf, 1 - alpha, "profile likelihood", (note,)
            )
        found = self.profile(Question(row, target, value, (1.0, math.inf)), alpha, "load")
        return self._tested(_endless(found, "a curve that never reaches the limit"))

    def _tested(self, found: Estimate) -> Estimate:
        """Warn where a load, or the ends of its interval, lie outside the tested loads."""
        first, last = float(self.x.min()), float(self.x.max())
        notes = self.beyond(found.value)
        if not notes and (found.high > last or found.low < first):
            notes = (f"the interval reaches beyond the tested loads, {first:g} to {last:g}",)
        return replace(found, warnings=(*found.warnings, *notes))

    def _needs_peak(self, d: float, k: float) -> None:
        if k < 0 or d < 0:
            raise ModelError(
                "the fitted curve has no peak",
                expected="alpha at most 1 and beta of 0 or more",
                found=", ".join(
                    f"{name} {value:g}"
                    for name, value in zip(self.param_names, self.params, strict=True)
                ),
            )


def _vertex(x: Array, y: Array, at: int) -> float:
    """The largest y, by a parabola through the point `at` and its neighbours."""
    if not 0 < at < len(x) - 1 or not np.all(np.isfinite(y[at - 1 : at + 2])):
        return float(y[at])
    before, after = x[at] - x[at - 1], x[at + 1] - x[at]
    down, up = (y[at] - y[at - 1]) / before, (y[at + 1] - y[at]) / after
    a, b = (up - down) / (before + after), (after * down + before * up) / (before + after)
    return float(y[at] - b * b / (4 * a)) if a < 0 else float(y[at])


def _endless(found: Estimate, why: str) -> Estimate:
    return (
        replace(found, warnings=(*found.warnings, ENDLESS.format(why)))
        if found.high == math.inf
        else found
    )
