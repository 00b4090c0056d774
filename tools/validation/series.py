"""Cases of `coverage` for time series: steady-state mean, end of warm-up, both combined; quantiles
of independent samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from scipy import signal, special

from tools.validation.coverage import COVERAGE, LEVELS, Case, Cell, Outcome
from virtperf.core.estimate import Estimate
from virtperf.core.order_statistics import quantile
from virtperf.runs.summarize.series import STATISTICS, SampleSeries, evaluate
from virtperf.runs.summarize.steady import (
    Warmup,
    ar1_mean,
    cosine_mean,
    mser,
    warmup,
)

CUT = ("late", "late squared", "bias", "bias squared", "not steady")
"""Measures of a truncation: samples too late, and the remaining error of the mean in standard
deviations.
"""

SETTLING = 500
"""Burn-in samples discarded from an AR(2) process, so that it is stationary."""


def correlated(rng: np.random.Generator, n: int, r: float, second: float = 0.0) -> np.ndarray:
    """Stationary noise with variance 1 and lag-1 correlation r, shape (n,).

    With `second` it is filtered again with that coefficient: an AR(2) process whose variance is
    not rescaled.
    """
    if second:
        once = correlated(rng, n + SETTLING, r)
        return np.asarray(signal.lfilter([1.0], [1.0, -second], once)[SETTLING:])
    shocks = rng.standard_normal(n)
    x = np.empty(n)
    x[0] = shocks[0]
    fresh = math.sqrt(1 - r * r)
    for i in range(1, n):
        x[i] = r * x[i - 1] + fresh * shocks[i]
    return x


class SteadyMean:
    """Mean of an autocorrelated series."""

    measures = COVERAGE
    ways: Mapping[str, Callable[[np.ndarray, float], Estimate]] = {
        "cosines": cosine_mean,
        "AR(1)": ar1_mean,
    }

    def __init__(self, cell: Cell) -> None:
        self.n, self.r = int(cell.settings["samples"]), float(cell.settings["correlation"])
        self.white = float(
            cell.settings.get("slow", 0.0)
        )  # variance of white noise relative to the slow component
        self.second = float(cell.settings.get("second_correlation", 0.0))
        self.defaults = {
            "mean": STATISTICS["mean"](np.arange(self.n, dtype=float), LEVELS[0]).method
        }
        self.boundary = ""

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        x = correlated(rng, self.n, self.r, self.second) + math.sqrt(
            self.white
        ) * rng.standard_normal(self.n)
        out = []
        for name, way in self.ways.items():
            means = [way(x, level) for level in LEVELS]
            out.append(Outcome("mean", name, tuple(m.low <= 0 <= m.high for m in means)))
        return out


def warmup_shape(cell: Cell) -> np.ndarray:
    """Negative distance of a series from its level in standard deviations of the noise."""
    s = cell.settings
    depth, length = float(s.get("depth", 0.0)), float(s.get("length", 0.0))
    t = np.arange(1, int(s["samples"]) + 1)
    shape = {
        "none": np.zeros(len(t)),
        "step": np.where(t <= length, 1.0, 0.0),
        "ramp": np.maximum(1 - t / max(length, 1.0), 0.0),
        "exponential": np.exp(-t / max(length, 1.0)),
    }[s["shape"]]
    return np.asarray(-depth * shape)


class WarmupEnd:
    """End of a warm-up of known length, by truncation rules."""

    measures = CUT

    def __init__(self, cell: Cell) -> None:
        s = cell.settings
        self.r, self.mean = float(s["correlation"]), warmup_shape(cell)
        # An asymptotic warm-up ends when half a standard deviation is missing.
        over = (
            np.flatnonzero(np.abs(self.mean) > 0.5)
            if s["shape"] == "exponential"
            else np.flatnonzero(self.mean)
        )
        self.truth = int(over[-1]) + 1 if len(over) else 0
        self.defaults = {f"end at {self.truth}": "MSER-5, confirmed"}
        self.boundary = ""

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        x = self.mean + correlated(rng, len(self.mean), self.r)
        found: dict[str, Warmup] = {"MSER-5, confirmed": warmup(x), "MSER-5": mser(x)}
        out = []
        for method, end in found.items():
            late, bias = end.cut - self.truth, float(x[end.cut :].mean())
            values = (late, late * late, bias, bias * bias, end.status != "steady")
            out.append(Outcome(f"end at {self.truth}", method, values))
        return out


FLAGS = ("no steady state", "longer than declared")
"""Words of the flags of `evaluate` that a page prints with a mean."""


class RunMean:
    """Mean of a run as in a study: the warm-up is searched in the whole run, whose declared
    warm-up is the first tenth, and truncated if longer. Also its coverage given each flag.
    """

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        self.r, self.mean = float(cell.settings["correlation"]), warmup_shape(cell)
        self.defaults = {"mean": "window and cut", "mean: no flag": "window and cut"}
        self.boundary = ""

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        n = len(self.mean)
        series = SampleSeries(np.arange(1.0, n + 1), self.mean + correlated(rng, n, self.r))
        found = [evaluate(series, (n // 10, n), level) for level in LEVELS]
        hits: tuple[bool, ...] | None = tuple(
            each.mean.low <= 0 <= each.mean.high for each in found
        )
        flag = next((name for name in FLAGS if any(name in f for f in found[0].flags)), "no flag")
        if np.isnan(found[0].mean.se):
            hits = None
        given = [
            Outcome(f"mean: {name}", "window and cut", hits if name == flag else None)
            for name in ("no flag", *FLAGS)
        ]
        return [Outcome("mean", "window and cut", hits), *given]


class Quantile:
    """Quantile of independent log-normal samples, between order statistics."""

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        self.n, self.share = int(cell.settings["samples"]), float(cell.settings["share"])
        self.noise = cell.noise
        self.truth = math.exp(self.noise * float(special.ndtri(self.share)))
        self.defaults = {"quantile": "order statistics"}
        self.boundary = ""

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        x = np.exp(self.noise * rng.standard_normal(self.n))
        ordered = np.sort(x)
        hits: dict[str, list[bool]] = {"order statistics": [], "one rank narrower": []}
        for level in LEVELS:
            found = quantile(x, self.share, level)
            low, high = np.searchsorted(ordered, [found.low, found.high])
            inner = ordered[low + 1], ordered[min(high, self.n - 1)]
            hits["order statistics"].append(found.low <= self.truth <= found.high)
            hits["one rank narrower"].append(inner[0] <= self.truth <= inner[1])
        return [Outcome("quantile", name, tuple(values)) for name, values in hits.items()]


CASES: dict[str, Callable[[Cell], Case]] = {
    "steady mean": SteadyMean,
    "warm-up": WarmupEnd,
    "run's mean": RunMean,
    "quantile": Quantile,
}
