"""Cases of `coverage` whose model is a scalability curve: USL, Amdahl's law."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rawperf.core.errors import ModelError
from tools.validation.coverage import COVERAGE, LEVELS, Case, Cell, Outcome
from virtperf.core.estimate import Estimate
from virtperf.core.statistics import t_quantile
from virtperf.models.checks import Array
from virtperf.models.profile import ProfileConstraint
from virtperf.models.usl import fit_usl
from virtperf.models.usl_result import USLResult

NEAR = 3.0
"""A true coefficient within this many standard errors of its bound is a boundary case."""
PLACES: Mapping[str, tuple[int, ...]] = {"usl": (0, 1, 2), "amdahl": (0, 2), "linear": (2,)}
BEYOND = (2, 4)
"""Factor beyond the tested loads at which predictions are judged."""


def throughput(load: Array, theta: Array) -> Array:
    """X(N) of the Universal Scalability Law for ``theta = (alpha, beta, gamma)``."""
    alpha, beta, gamma = theta
    return np.asarray(gamma * load / (1 + (load - 1) * (alpha + beta * load)))


def gradient(load: Array, theta: Array) -> Array:
    """The derivatives of X(N) with respect to (alpha, beta, gamma), shape (n, 3)."""
    alpha, beta, gamma = theta
    more = load - 1
    share = load / (1 + more * (alpha + beta * load))
    by_alpha = -gamma * share * share * more / load
    return np.column_stack((by_alpha, by_alpha * load, share))


def noise_sd(cell: Cell, mean: Array) -> Array:
    """Standard deviation of each row: the same for all ("constant"), a share of its own mean
    ("proportional"), or in proportion to the root of its mean ("counts").
    """
    power = {"constant": 0.0, "counts": 0.5, "proportional": 1.0}[cell.settings["spread"]]
    return np.asarray(cell.noise * mean.mean() ** (1 - power) * mean**power)


def log_normal(rng: np.random.Generator, noise: float, n: int) -> Array:
    """Log-normal numbers with mean 1 and coefficient of variation `noise`."""
    s2 = math.log1p(noise**2)
    return np.exp(math.sqrt(s2) * rng.standard_normal(n) - s2 / 2)


def rows_of(cell: Cell, x: list[float]) -> Array:
    """The design's x, each repeated by its replicates."""
    return np.repeat(np.array(x, dtype=float), cell.settings["replicates"])


def inside(
    fit: USLResult, asked: Mapping[str, tuple[ProfileConstraint, float]]
) -> dict[str, tuple[bool, ...]]:
    """Whether the profile intervals of several quantities contain their true values, at all
    levels.

    An interval is the set where the profiled deviance is at most ``deviance + scale t**2``; so the
    fit at the truth decides, without searching a limit. One batch of fits serves all quantities.
    """
    truths = [(constraint, np.array([c])) for constraint, c in asked.values()]
    rows, targets = (
        np.vstack([q.row(c) for q, c in truths]),
        np.concatenate([q.target(c) for q, c in truths]),
    )
    worse = fit.deviance_at(rows, targets) - fit.deviance
    limits = [t_quantile(fit.df_resid, level) ** 2 * fit.scale for level in LEVELS]
    return {
        name: tuple(bool(w <= limit) for limit in limits)
        for name, w in zip(asked, worse, strict=True)
    }


def intervals(make: Callable[[float], Estimate], truth: float) -> tuple[bool, ...] | None:
    """Whether the intervals of all levels contain the truth; None if the method refuses."""
    try:
        return tuple(truth in make(1 - level) for level in LEVELS)
    except ModelError:
        return None


def within(band: Any, values: Array) -> Array:
    """Whether each value is within its prediction interval."""
    return (band["low"].to_numpy() <= values) & (values <= band["high"].to_numpy())


def near_bound(jacobian: Array, sd: Array, truth: Array, names: tuple[str, ...]) -> str:
    """Names coefficients whose true value is within `NEAR` expected standard errors of a bound."""
    scaled = jacobian / sd[:, None]
    se = np.sqrt(np.diag(np.linalg.inv(scaled.T @ scaled)))
    near = [
        name
        for name, value, s in zip(names, truth, se, strict=True)
        if name in ("alpha", "beta") and value < NEAR * s
    ]
    return f"{' and '.join(near)} within reach of zero" if near else ""


class Scalability:
    """USL or Amdahl's law: coefficients, peak and predictions, by profile likelihood.

    The default fit assumes the true noise model; for proportional noise, the fit with constant
    noise is added. "robust scalability" uses Huber's estimator.
    """

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        self.kind = "amdahl" if cell.model == "amdahl" else "usl"
        self.load = rows_of(cell, cell.settings["x"])
        self.theta = np.array(
            [cell.settings["truth"].get(name, 0.0) for name in ("alpha", "beta", "gamma")]
        )
        self.mean = throughput(self.load, self.theta)
        self.sd = noise_sd(cell, self.mean)
        self.noise, self.spread = cell.noise, cell.settings["spread"]
        self.log = cell.settings.get("shape") == "log-normal"
        places = list(PLACES[self.kind])
        self.names = tuple(("alpha", "beta", "gamma")[i] for i in places)
        self.truth = {
            name: float(self.theta[i]) for name, i in zip(self.names, places, strict=True)
        }
        top = float(self.load.max())
        self.at = (
            (float(np.median(self.load)), *(k * top for k in BEYOND))
            if cell.settings.get("predict")
            else ()
        )
        words = ("middle load", *(f"{k} x the largest" for k in BEYOND))
        self.words = dict(zip(self.at, words, strict=False))
        peak = ["peak load"] if self.kind == "usl" and self.theta[1] > 0 else []
        means = [f"mean at {w}" for w in self.words.values()]
        ones = [f"observation at {w}" for w in self.words.values()]
        self.robust = cell.model == "robust scalability"
        way = "Huber" if self.robust else self.spread
        self.defaults = dict.fromkeys((*self.names, *peak, *means, *ones), way)
        self.boundary = near_bound(
            gradient(self.load, self.theta)[:, places], self.sd, self.theta[places], self.names
        )

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        y = self._drawn(self.mean, self.sd, rng)
        if self.robust:
            return self._of(y, self.spread, rng)
        noises = dict.fromkeys((self.spread, "constant"))
        return [outcome for noise in noises for outcome in self._of(y, noise, rng)]

    def _drawn(self, mean: Array, sd: Array, rng: np.random.Generator) -> Array:
        if self.log:
            return mean * log_normal(rng, self.noise, len(mean))
        return mean + sd * rng.standard_normal(len(mean))

    def _of(self, y: Array, noise: str, rng: np.random.Generator) -> list[Outcome]:
        fit = fit_usl(self.load, y, kind=self.kind, noise=noise, robust=self.robust)
        way = "Huber" if self.robust else noise
        # The equation for gamma is in terms of 1 / gamma.
        asked = {
            name: (fit.constraint(name), c if name != "gamma" else 1 / c)
            for name, c in self.truth.items()
        }
        if "peak load" in self.defaults:
            # beta / (1 - alpha) is the inverse of the squared peak
            peak = ProfileConstraint((0, 0, 1), math.nan, (1, 0, 0))
            asked["peak load"] = peak, float(self.theta[1] / (1 - self.theta[0]))
        for x, words in self.words.items():
            asked[f"mean at {words}"] = (
                fit.throughput_constraint(x),
                1 / float(throughput(np.array([x]), self.theta)[0]),
            )
        out = [Outcome(name, way, found) for name, found in inside(fit, asked).items()]
        if self.at and noise == self.spread:
            out += self._observations(fit, noise, rng)
        return out

    def _observations(self, fit: USLResult, noise: str, rng: np.random.Generator) -> list[Outcome]:
        mean = throughput(np.array(self.at), self.theta)
        sd = self.noise * mean if self.spread == "proportional" else np.full(len(mean), self.sd[0])
        new = self._drawn(mean, sd, rng)
        bands = [
            fit.predict(list(self.at), interval="observation", alpha=1 - level) for level in LEVELS
        ]
        hits = [within(b, new) for b in bands]
        return [
            Outcome(f"observation at {words}", noise, tuple(bool(h[k]) for h in hits))
            for k, words in enumerate(self.words.values())
        ]


CASES: dict[str, Callable[[Cell], Case]] = {
    "scalability": Scalability,
    "amdahl": Scalability,
    "robust scalability": Scalability,
}
