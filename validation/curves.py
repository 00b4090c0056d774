"""Cases of `coverage` whose model is a scalability curve: USL, Amdahl's law, cost, crossing."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from validation.coverage import COVERAGE, LEVELS, Case, Cell, Outcome
from virtperf.core.errors import ModelError
from virtperf.models import usl_paths
from virtperf.models.checks import Array
from virtperf.models.crossover import usl_crossover
from virtperf.models.meeting import Pair, meetings
from virtperf.models.nls import NLSResult
from virtperf.models.profile import Path
from virtperf.models.result import Estimate, t_quantile
from virtperf.models.usl import USLResult, fit_usl
from virtperf.models.usl_cost import CostResult, fit_usl_cost
from virtperf.models.usl_law import PLACES, gradient, throughput
from virtperf.models.weights import relative_weights

NEAR = 3.0
"""A coefficient whose truth is so many standard errors or less from its bound is a boundary case."""


def noise_sd(cell: Cell, mean: Array) -> Array:
    """Standard deviation of each row: the same for all ("constant"), or a share of its own mean ("proportional")."""
    size = mean if cell.settings["spread"] == "proportional" else np.full(len(mean), mean.mean())
    return cell.noise * size


def rows_of(cell: Cell, x: list[float]) -> Array:
    """The design's x, each as often as it is replicated."""
    return np.repeat(np.array(x, dtype=float), cell.settings["replicates"])


def inside(fit: NLSResult, path: Path, truth: float) -> tuple[bool, ...]:
    """Whether the profile intervals of all levels contain the truth.

    They are the sets where the profiled sum of squares is at most ``RSS + s**2 F``; so the fit at the truth decides,
    and no limit has to be searched for.
    """
    excess = (fit.along(path, truth, path.phi).rss - fit.rss) / fit.scale
    return tuple(excess <= t_quantile(fit.df_resid, 1 - level) ** 2 for level in LEVELS)


def intervals(make: Callable[[float], Estimate], truth: float) -> tuple[bool, ...] | None:
    """Whether the intervals of all levels contain the truth; None where the method refuses."""
    try:
        return tuple(truth in make(1 - level) for level in LEVELS)
    except ModelError:
        return None


def coefficient_path(fit: NLSResult, k: int) -> Path:
    """The path along which parameter k itself is constant."""
    rest = np.arange(len(fit.params)) != k
    low, high = fit.curve.bounds
    tangent = np.eye(len(fit.params))[:, rest]

    def embed(c: float, phi: Array) -> tuple[Array, Array]:
        theta = np.empty(len(rest))
        theta[k], theta[rest] = c, phi
        return theta, tangent

    value = float(fit.params[k])
    return Path(embed, fit.params[rest], lambda c: (low[rest], high[rest]), value, math.nan, (low[k], high[k]))


def near_bound(jacobian: Array, sd: Array, truth: Array, names: tuple[str, ...]) -> str:
    """Say which coefficient's truth lies within `NEAR` expected standard errors of a bound."""
    scaled = jacobian / sd[:, None]
    se = np.sqrt(np.diag(np.linalg.inv(scaled.T @ scaled)))
    near = [
        name for name, value, s in zip(names, truth, se, strict=True)
        if name in ("alpha", "beta") and value < NEAR * s
    ]  # fmt: skip
    return f"{' and '.join(near)} within reach of zero" if near else ""


class Scalability:
    """USL or Amdahl's law: coefficients and derived quantities by profile likelihood and by the delta method."""

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        self.kind = "amdahl" if cell.model == "amdahl" else "usl"
        self.load = rows_of(cell, cell.settings["x"])
        truth = np.array([cell.settings["truth"].get(name, 0.0) for name in ("alpha", "beta", "gamma")])
        self.mean = throughput(self.load, truth)
        self.sd = noise_sd(cell, self.mean)
        self.weighted = cell.settings["spread"] == "proportional"
        a, b, g = (float(v) for v in truth)
        places = list(PLACES[self.kind])
        self.names = tuple(("alpha", "beta", "gamma")[i] for i in places)
        self.truth = {name: float(truth[i]) for name, i in zip(self.names, places, strict=True)}
        if self.kind == "usl":
            self.truth["peak load"] = math.sqrt((1 - a) / b) if b > 0 else math.inf
            below = a - b + 2 * math.sqrt(b * (1 - a))
            self.truth["peak throughput"] = g / below if below > 0 else math.inf
        else:
            self.truth["asymptote"] = g / a if a > 0 else math.inf
        usual = "profile, weighted" if self.weighted else "profile"
        self.defaults = dict.fromkeys(self.truth, usual)
        self.boundary = near_bound(gradient(self.load, truth)[:, places], self.sd, truth[places], self.names)

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        y = self.mean + self.sd * rng.standard_normal(len(self.load))
        out = self._of(fit_usl(self.load, y, kind=self.kind), "")
        if self.weighted:
            weights = relative_weights(self.load, y)
            out += self._of(fit_usl(self.load, y, kind=self.kind, weights=weights), ", weighted")
        return out

    def _of(self, fit: USLResult, suffix: str) -> list[Outcome]:
        out = []
        for name, truth in self.truth.items():
            out.append(Outcome(name, f"profile{suffix}", self._profile(fit, name, truth)))
            out.append(Outcome(name, f"delta{suffix}", intervals(partial(self._delta, fit, name), truth)))
        return out

    def _profile(self, fit: USLResult, name: str, truth: float) -> tuple[bool, ...]:
        if name in fit.param_names:
            return inside(fit, coefficient_path(fit, fit.index(name)), truth)
        if name == "peak load":
            return inside(fit, usl_paths.peak_load_path(fit), truth**-2 if math.isfinite(truth) else 0.0)
        if name == "asymptote":
            return inside(fit, usl_paths.asymptote_path(fit), 1 / truth)
        if math.isinf(truth) or not fit.coefficients[:2].any():  # linear scaling: no path goes through it
            return tuple(truth in fit.peak_throughput(1 - level) for level in LEVELS)
        return inside(fit, usl_paths.peak_throughput_path(fit), math.log(truth))

    def _delta(self, fit: USLResult, name: str, alpha: float) -> Estimate:
        if name in fit.param_names:
            if fit.at_bound[fit.index(name)]:
                raise ModelError("there is no standard error at a bound")
            return fit.estimate(name, alpha, "t")
        return getattr(fit, name.replace(" ", "_"))(alpha, "delta")


class Cost:
    """Cost of a transaction: coefficients by profile likelihood."""

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        self.load = rows_of(cell, cell.settings["x"])
        truth = cell.settings["truth"]
        a, b, d = truth["alpha"], truth["beta"], truth["demand"]
        self.truth = {"alpha": a, "beta": b, "demand": d}
        more = self.load - 1
        self.mean = d * (1 + more * (a + b * self.load))
        self.sd = noise_sd(cell, self.mean)
        self.weighted = cell.settings["spread"] == "proportional"
        self.defaults = dict.fromkeys(self.truth, "profile, weighted" if self.weighted else "profile")
        jacobian = np.column_stack((d * more, d * more * self.load, self.mean / d))
        self.boundary = near_bound(jacobian, self.sd, np.array([a, b, d]), ("alpha", "beta", "demand"))

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        y = self.mean + self.sd * rng.standard_normal(len(self.load))
        out = self._of(fit_usl_cost(self.load, y), "profile")
        if self.weighted:
            out += self._of(fit_usl_cost(self.load, y, weights=relative_weights(self.load, y)), "profile, weighted")
        return out

    def _of(self, fit: CostResult, method: str) -> list[Outcome]:
        return [
            Outcome(name, method, inside(fit, coefficient_path(fit, fit.index(name)), truth))
            for name, truth in self.truth.items()
        ]


class CurveCrossing:
    """Crossing of two scalability curves: joint profile, and percentiles of refitted pairs."""

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        s = cell.settings
        self.loads = [rows_of(cell, s["x"]), rows_of(cell, s.get("second_x", s["x"]))]
        first, second = (np.array([s[k][n] for n in ("alpha", "beta", "gamma")]) for k in ("truth", "second"))
        roots = meetings(first[None, :], second[None, :])[0]
        within = (roots >= np.min(self.loads[0])) & (roots <= np.max(self.loads[0]))
        if not within.any():
            raise ModelError(f"the true curves of a cell on {cell.design!r} do not cross among its loads")
        self.truth = float(roots[within][0])
        self.means = [throughput(x, t) for x, t in zip(self.loads, (first, second), strict=True)]
        self.sds = [np.full(len(x), cell.noise * np.mean(np.concatenate(self.means))) for x in self.loads]
        self.boot = int(s.get("bootstrap", 0))
        self.defaults = {"crossing": "profile"}
        near = [
            near_bound(gradient(x, t), sd, t, ("alpha", "beta", "gamma"))
            for x, t, sd in zip(self.loads, (first, second), self.sds, strict=True)
        ]
        self.boundary = near[0] or near[1]

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        fits = [
            fit_usl(x, mean + sd * rng.standard_normal(len(x)))
            for x, mean, sd in zip(self.loads, self.means, self.sds, strict=True)
        ]
        pair = Pair(*fits)
        out = [Outcome("crossing", "profile", inside(pair.fit, pair.path(self.truth), self.truth))]
        if self.boot:
            for pooled in (True, False):
                method = f"bootstrap{'' if pooled else ', two variances'}"
                out.append(Outcome("crossing", method, self._bootstrap(fits, pooled, rng)))
        return out

    def _bootstrap(self, fits: list[USLResult], pooled: bool, rng: np.random.Generator) -> tuple[bool, ...] | None:
        seed = int(rng.integers(2**31))
        found = [
            usl_crossover(*fits, method="bootstrap", pooled=pooled, alpha=1 - level, n_boot=self.boot, seed=seed)
            for level in LEVELS
        ]
        if any(f.estimate is None or f.status != "crossing" for f in found):
            return None
        return tuple(f.estimate is not None and self.truth in f.estimate for f in found)


CASES: dict[str, Callable[[Cell], Case]] = {
    "scalability": Scalability, "amdahl": Scalability, "cost": Cost, "curve crossing": CurveCrossing,
}  # fmt: skip
