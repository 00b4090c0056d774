"""Curves that are generalized linear models in statsmodels, with bounds, profile intervals and
predictions.

The mean, or one over it, is ``columns(x) @ b`` with coefficients b of zero or more. Every quantity
is one linear equation in b (`Question`), so that its profile is a sequence of constrained fits.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from rawperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.irls import EXACT, Mean, solve
from virtperf.models.noise import NOISES, gamma_llf
from virtperf.models.prediction import prediction, weights_of_new
from virtperf.models.profile import Question, inverse_of, limits
from virtperf.models.result import NO_DF, NO_NOISE, Estimate, FitResult, t_interval, t_quantile

METHODS = ("profile", "delta")
PLACES = {"linear": (2,), "amdahl": (0, 2), "usl": (0, 1, 2)}
"""The kinds of curves: the places of their parameters among the three."""
FREE = {"usl": (True, True, True), "amdahl": (True, True, False), "linear": (True, False, False)}
"""Which coefficients of the linear form a kind has."""


@dataclass(frozen=True, eq=False, kw_only=True)
class GLMCurve(FitResult):
    """A fitted curve; see `FitResult` for the common part.

    `results` are those of a statsmodels GLM, of the Gamma family with proportional noise, else
    Gaussian. `formulas` has one for each kind, `names` those of all three parameters.

    Parameters
    ----------
    kind : str
        Which of the nested curves.
    b : ndarray, shape (p,)
        All coefficients of the linear form, zeros included.
    cov_b : ndarray, shape (p, p)
        Their covariance; zero on a bound.
    at_bound : tuple of bool
        True for a parameter whose best value is its bound: it has no standard error, its interval
        is one-sided.
    """

    kind: str
    bounded: bool
    b: Array
    cov_b: Array
    at_bound: tuple[bool, ...]

    inverse: ClassVar[bool]
    formulas: ClassVar[dict[str, str]]
    names: ClassVar[tuple[str, str, str]]

    @staticmethod
    @abstractmethod
    def columns(x: Array) -> Array:
        """The design of the linear form, shape (n, p)."""

    @staticmethod
    @abstractmethod
    def stated(used: NDArray[np.bool_]) -> tuple[Array, list[str]]:
        """The matrix from statsmodels' coefficients to b, where only some are used, and the names
        of their columns.
        """

    @staticmethod
    @abstractmethod
    def parameters(b: Array) -> tuple[Array, Array]:
        """All three parameters of b, zero where the kind has none, and their derivatives in b,
        shape (3, 3).
        """

    @abstractmethod
    def question(self, name: str) -> Question:
        """The equation of a parameter."""

    @property
    def coefficients(self) -> Array:
        """All three parameters, zero where the kind has no such coefficient."""
        return self.parameters(self.b)[0]

    def free(self) -> NDArray[np.bool_]:
        """Which of the coefficients the kind has, shape (p,)."""
        return np.array(FREE[self.kind])

    def at(self, x: float) -> Question:
        """The equation of the mean at x, in units of ``columns(x) @ b``."""
        row = self.columns(np.array([x]))[0]
        return Question.level(row, float(row @ self.b), inverse_of if self.inverse else float)

    @property
    def rss(self) -> float:
        """Weighted sum of squared residuals; with proportional noise, of relative ones (Pearson's
        statistic).
        """
        size = self.fittedvalues if self.noise == "proportional" else 1.0
        return float(np.sum(self.weights * (self.resid / size) ** 2))

    @property
    def deviance(self) -> float:
        """What the fit minimises: the sum of squares, or the Gamma deviance."""
        eta = self.columns(self.x) @ self.b
        return float(self.mean().deviance(self.y[:, None], self.weights[:, None], eta[:, None])[0])

    def deviance_of(self, means: Array) -> float:
        """The deviance of given means."""
        plain = Mean(False, NOISES[self.noise])
        return float(plain.deviance(self.y[:, None], self.weights[:, None], means[:, None])[0])

    @property
    def exact(self) -> bool:
        """Whether the curve goes through all points: what is left is rounding."""
        size = self.mean().size(self.y[:, None], self.weights[:, None])
        return bool(self.deviance <= 100 * EXACT * size[0])

    @property
    def llf(self) -> float:
        """Log-likelihood at the best scale (NaN if the fit is exact); comparable between both kinds
        of noise.
        """
        if self.exact:
            return math.nan
        return (
            gamma_llf(self.y, self.weights, self.fittedvalues)
            if self.noise == "proportional"
            else super().llf
        )

    def mean(self) -> Mean:
        """How mean and variance follow from the linear form."""
        return Mean(self.inverse, NOISES[self.noise])

    def estimate(self, name: str, alpha: float = 0.05, method: str = "profile") -> Estimate:
        """Return one parameter with its interval.

        Parameters
        ----------
        alpha : float
            One minus the confidence level.
        method : {"profile", "t"}
            Profile likelihood, ``{c : D(c) <= D + scale F(1 - alpha; 1, df)}`` with the deviance D
            and the other coefficients refitted inside their bounds (Bates and Watts 1988, section
            6.1), or
            ``c +- t(1 - alpha/2, df) se``.
        """
        checks.one_of(method, ("profile", "t"), "interval method")
        if method == "t":
            return super().estimate(name, alpha)
        self.index(name)
        return self.profile(self.question(name), alpha, name)

    def profile(
        self, asked: Question, alpha: float, name: str, method: str = "profile"
    ) -> Estimate:
        """Return the interval of a quantity, by profile likelihood or by the delta method."""
        checks.one_of(method, METHODS, "interval method")
        if method == "delta":
            return self._delta(asked, alpha)

        def deviance(c: Array, which: Array) -> Array:
            with np.errstate(all="ignore"):
                return self.deviance_at(asked.row(c), asked.target(c))

        domain = np.array(asked.domain[:1]), np.array(asked.domain[1:])
        low, high, better = self.limits(
            np.array([asked.value]), np.array([self._se(asked)]), domain, alpha, deviance
        )
        notes = []
        if asked.value in asked.domain:
            notes.append(f"{name} is on its bound {asked.value:g}: the interval is one-sided")
        if self.df_resid <= 0:
            notes.append(NO_DF)
        elif self.exact:
            notes.append(NO_NOISE)
        if better:
            notes.append("the profile found a better fit than the reported optimum")
        ends = sorted((asked.back(float(low[0])), asked.back(float(high[0]))))
        return Estimate(
            asked.back(asked.value), ends[0], ends[1], 1 - alpha, "profile likelihood", tuple(notes)
        )

    def _delta(self, asked: Question, alpha: float) -> Estimate:
        if any(self.at_bound):
            held = ", ".join(n for n, b in zip(self.param_names, self.at_bound, strict=True) if b)
            raise ModelError(
                f"the delta method has no standard error for {held}, which is on a bound",
                remedy="take the profile interval",
            )
        h = 1e-5 * abs(asked.value)
        slope = abs(asked.back(asked.value + h) - asked.back(asked.value - h)) / (2 * h)
        return t_interval(
            asked.back(asked.value), slope * self._se(asked), self.df_resid, alpha, "delta"
        )

    def _se(self, asked: Question) -> float:
        """Standard error of c by implicit differentiation of its equation."""
        c = np.array([asked.value])
        h = 1e-5 * max(abs(asked.value), 1e-12)
        with np.errstate(all="ignore"):
            above, below = ((asked.row(c + s) @ self.b - asked.target(c + s))[0] for s in (h, -h))
            row = asked.row(c)[0]
            variance = float(row @ self.cov_b @ row)
            return (
                math.sqrt(max(variance, 0.0)) / abs((above - below) / (2 * h))
                if above != below
                else math.nan
            )

    def deviance_at(
        self, rows: Array, targets: Array, free: NDArray[np.bool_] | None = None
    ) -> Array:
        """Deviance of the best curves with ``rows @ b == targets``; shapes (m, p) and (m,) to
        (m,).
        """
        shape = (len(targets), self.nobs)
        y, w = np.broadcast_to(self.y, shape), np.broadcast_to(self.weights, shape)
        return solve(
            self.mean(),
            self.columns(self.x),
            y,
            w,
            free=self.free() if free is None else free,
            bounded=self.bounded,
            row=rows,
            target=targets,
            tolerance=1e-6,
        ).deviance

    def limits(
        self,
        value: Array,
        se: Array,
        domain: tuple[Array, Array],
        alpha: float,
        deviance: Callable[[Array, Array], Array],
    ) -> tuple[Array, Array, bool]:
        """Limits of several quantities, and whether a better fit than the optimum was met on the
        way.
        """
        quantile = t_quantile(self.df_resid, alpha)
        if math.isinf(quantile) or math.isnan(self.scale):
            return domain[0], domain[1], False
        if self.exact or self.scale <= 0:
            return value, value, False
        best, scale = self.deviance, self.scale
        least = best

        def excess(c: Array, which: Array) -> Array:
            nonlocal least
            found = deviance(c, which)
            least = min(least, float(found.min()))
            return np.sqrt(np.maximum(found - best, 0.0) / scale)

        low, high = limits(excess, value, se, domain, quantile)
        return low, high, least < (1 - 1e-6) * best

    def band(self, x: Array, alpha: float) -> tuple[Array, Array]:
        """Profile limits of the mean at each x."""
        rows = self.columns(x)
        value, se = rows @ self.b, self._spread(rows)
        domain = np.zeros(len(x)), np.full(len(x), math.inf)
        low, high, _ = self.limits(
            value, se, domain, alpha, lambda c, which: self.deviance_at(rows[which], c)
        )
        with np.errstate(divide="ignore"):
            return (1 / high, 1 / low) if self.inverse else (low, high)

    def _spread(self, rows: Array) -> Array:
        """Standard errors of ``rows @ b``."""
        return np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", rows, self.cov_b, rows), 0.0))

    def predict(
        self,
        new: ArrayLike,
        interval: str | None = None,
        alpha: float = 0.05,
        weights: ArrayLike | None = None,
        method: str = "profile",
    ) -> Array | pd.DataFrame:
        """Evaluate the fitted curve, as `FitResult.predict` does, inside or outside the tested
        range.

        Parameters
        ----------
        weights : array_like, shape (m,), optional
            Of new observations. A fit with unequal weights asks for them, because it can't know the
            noise of new rows.
        method : {"profile", "delta"}
            The interval of the curve: its value profiled, which holds in extrapolation and with a
            coefficient on its bound, or first derivatives and t quantiles.

        Returns
        -------
        ndarray, shape (m,), or DataFrame
            With the column ``extrapolated``: whether x lies outside the tested range. ``se`` is the
            delta method's.
        """
        x = self._new(new)
        value, gradient = self._curve(x)
        if interval is None:
            return value
        checks.one_of(interval, ("mean", "observation"), "interval")
        profiled = checks.one_of(method, METHODS, "interval method") == "profile"
        se = self._spread(gradient)
        half = t_quantile(self.df_resid, alpha) * se
        ends = self.band(x, alpha) if profiled else (value - half, value + half)
        noise = weights_of_new(self.weights, weights, len(x)) if interval == "observation" else None
        logs = profiled and self.noise == "proportional"
        return prediction(self, x, value, se, ends, alpha, weights=noise, logs=logs)

    def beyond(self, load: float) -> tuple[str, ...]:
        """A warning where a load lies outside the tested ones."""
        first, last = float(self.x.min()), float(self.x.max())
        if first <= load <= last:
            return ()
        return (
            f"extrapolated: the tested loads are {first:g} to {last:g}; the law is assumed to hold beyond",
        )

    def _curve(self, new: Array) -> tuple[Array, Array]:
        """Values and their gradient in b."""
        design = self.columns(new)
        eta = design @ self.b
        with np.errstate(divide="ignore"):
            return (1 / eta, -design / eta[:, None] ** 2) if self.inverse else (eta, design)

    def summary(self, alpha: float = 0.05) -> str:
        """Return the parameters with their profile intervals, then statsmodels' table of the linear
        form.
        """
        table = self.results.summary(alpha=alpha).tables[1]
        form = "coefficients of the linear form (statsmodels GLM)"
        return f"{super().summary(alpha)}{self.noise} noise; {form}:\n{table}\n"
