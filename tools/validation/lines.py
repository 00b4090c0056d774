"""Cases of `calibrate` for straight and broken lines and for ratios."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from scipy import special

from tools.validation.coverage import COVERAGE, LEVELS, Case, Cell, Outcome
from tools.validation.curves import intervals, log_normal, noise_sd, rows_of, within
from virtperf.core.contrasts import independent_log_ratio
from virtperf.core.estimate import Estimate
from virtperf.core.statistics import satterthwaite
from virtperf.models.breakpoint_search import FORMS, search
from virtperf.models.checks import Array
from virtperf.models.segmented import SIMULATIONS, SegmentedResult, fit_segmented
from virtperf.models.straight_line import LineResult, fit_line
from virtperf.models.two_means import ratio_of_means, ratio_of_pairs

BEYOND = 1.5
"""Factor beyond the largest x at which predictions of a line are judged."""


class Line:
    """Straight line: t intervals of coefficients, line and a new run."""

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        s = cell.settings
        self.x = rows_of(cell, s["x"])
        self.truth = {name: float(s["truth"][name]) for name in ("intercept", "slope")}
        self.mean = self._line(self.x)
        self.sd = noise_sd(cell, self.mean)
        self.noise, self.spread = cell.noise, s["spread"]
        self.ends = {"smallest x": self.x.min(), "largest x": self.x.max()}
        if s.get("predict"):
            self.ends[f"{BEYOND} x the largest"] = BEYOND * self.x.max()
        more = [f"{kind} at {end}" for end in self.ends for kind in ("mean", "observation")]
        self.defaults = dict.fromkeys((*self.truth, *more), self.spread)
        self.boundary = ""

    def _line(self, x: Array) -> Array:
        return self.truth["intercept"] + self.truth["slope"] * x

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        y = self.mean + self.sd * rng.standard_normal(len(self.mean))
        if self.spread == "counts":
            y = np.maximum(y, 0.0)  # counts are not negative
        fit = fit_line(self.x, y, noise=self.spread)
        out = self._coefficients(fit, self.spread)
        at = np.array(list(self.ends.values()))
        truth = self._line(at)
        sd = np.full(len(truth), self.sd[0])
        if self.spread != "constant":
            power = 1.0 if self.spread == "proportional" else 0.5
            sd = self.sd[0] * (truth / self.mean[0]) ** power
        wanted = {"mean": truth, "observation": truth + sd * rng.standard_normal(len(truth))}
        for kind, value in wanted.items():
            hits = [within(fit.predict(at, kind, 1 - level), value) for level in LEVELS]
            out += [
                Outcome(f"{kind} at {end}", self.spread, tuple(bool(h[k]) for h in hits))
                for k, end in enumerate(self.ends)
            ]
        if self.spread != "constant":
            out += self._coefficients(fit_line(self.x, y), "constant")
        return out

    def _coefficients(self, fit: LineResult, method: str) -> list[Outcome]:
        return [
            Outcome(name, method, intervals(partial(fit.estimate, name), truth))
            for name, truth in self.truth.items()
        ]


def place_pvalue(fit: SegmentedResult, psi: float, *, seed: int) -> float:
    """P-value of a breakpoint at `psi`, which is in the simulated interval of a level unless
    rejected there.

    The statistic ``(RSS(psi) - RSS) / s**2`` is compared with F(1, df) and with data sets
    simulated around the best curve with a break at psi; the larger p-value counts.
    """
    kinks = search(fit.x, fit.y, fit.weights, fit.form)
    at = FORMS[fit.form].sign * psi
    observed = float(kinks.excess(at, fit.df_resid)[0])
    noise = np.random.default_rng(seed).standard_normal((SIMULATIONS, fit.nobs))
    drawn = kinks.excess(at, fit.df_resid, noise)
    share = (1 + int(np.sum(drawn >= observed))) / (1 + len(drawn))
    return max(float(special.fdtrc(1, fit.df_resid, observed)), share)


class Broken:
    """Segmented line: breakpoint with a simulated and an F threshold, slopes, and the curve at the
    breakpoint.
    """

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        s = cell.settings
        self.form, self.spread = s["form"], s["spread"]
        self.x = rows_of(cell, s["x"])
        t = s["truth"]
        self.truth, self.level = float(t["breakpoint"]), float(t["level"])
        over = self.x - self.truth
        before = {
            "free": t.get("slope1", 0.0),
            "rise-plateau": t.get("slope1", 0.0),
            "plateau-decline": 0.0,
        }[self.form]
        after = 0.0 if self.form == "rise-plateau" else t["slope2"]
        slopes = {"slope1": before, "slope2": after}
        self.slopes = (
            {name: v for name, v in slopes.items() if name in t} if s.get("slopes") else {}
        )
        self.mean = self.level + before * np.minimum(over, 0) + after * np.maximum(over, 0)
        self.sd = noise_sd(cell, self.mean)
        self.defaults = {"breakpoint": "simulated", **dict.fromkeys(self.slopes, "simulated")}
        if self.slopes:
            self.defaults["curve at the breakpoint"] = "simulated"
        self.boundary = ""

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        y = self.mean + self.sd * rng.standard_normal(len(self.x))
        fit = fit_segmented(self.x, y, form=self.form, noise=self.spread)
        p = place_pvalue(fit, self.truth, seed=int(rng.integers(2**31)))
        out = [
            Outcome("breakpoint", "simulated", tuple(p > 1 - level for level in LEVELS)),
            Outcome(
                "breakpoint",
                "profile",
                intervals(partial(fit.breakpoint, method="profile"), self.truth),
            ),
        ]
        for name, truth in self.slopes.items():
            out.append(Outcome(name, "simulated", intervals(partial(fit.estimate, name), truth)))
        if self.slopes:
            bands = [fit.predict([self.truth], "mean", 1 - level) for level in LEVELS]
            hits = tuple(bool(within(b, np.array([self.level]))[0]) for b in bands)
            out.append(Outcome("curve at the breakpoint", "simulated", hits))
        return out


class Ratio:
    """Ratio of two means from replicates, independent or in pairs."""

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        s = cell.settings
        self.n = (s["replicates"], s.get("second_replicates", s["replicates"]))
        self.shape = s.get("shape", "normal")
        self.noise = (cell.noise, float(s.get("second_noise", cell.noise)))
        self.ratio, self.shared = float(s["ratio"]), float(s.get("shared", 0.0))
        self.defaults = {"ratio": "log-ratio of pairs" if self.shared else "log-ratio"}
        self.boundary = ""

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        means = (100 * self.ratio, 100.0)
        if self.shared:
            in_common = self.shared * rng.standard_normal(self.n[0])
            a, b = (
                m * (1 + in_common + noise * rng.standard_normal(self.n[0]))
                for m, noise in zip(means, self.noise, strict=True)
            )
            return self._of({"log-ratio of pairs": partial(ratio_of_pairs, a, b)})
        a, b = (
            m * self._shares(rng, n, noise)
            for m, n, noise in zip(means, self.n, self.noise, strict=True)
        )
        return [
            *self._of(
                {
                    "log-ratio": partial(ratio_of_means, a, b),
                    "Fieller": partial(ratio_of_means, a, b, method="fieller"),
                }
            ),
            self._welch(a, b),
        ]

    def _welch(self, a: Array, b: Array) -> Outcome:
        """The default with Welch's degrees of freedom for any numbers of runs."""
        spreads = [float(x.var(ddof=1)) / len(x) / float(x.mean()) ** 2 for x in (a, b)]
        df = satterthwaite(spreads, [len(x) - 1.0 for x in (a, b)])
        ratio = replace(independent_log_ratio(a, b), df=df)
        hits = tuple(self.ratio in ratio.estimate(level) for level in LEVELS)
        return Outcome("ratio", "Welch", hits)

    def _shares(self, rng: np.random.Generator, n: int, noise: float) -> Array:
        if self.shape == "log-normal":
            return log_normal(rng, noise, n)
        if self.shape == "counts":
            return noise**2 * rng.poisson(1 / noise**2, n).astype(np.float64)
        return 1 + noise * rng.standard_normal(n)

    def _of(self, ways: dict[str, Callable[..., Estimate]]) -> list[Outcome]:
        def interval(alpha: float, way: Callable[..., Estimate]) -> Estimate:
            return way(alpha=alpha)

        return [
            Outcome("ratio", name, intervals(partial(interval, way=way), self.ratio))
            for name, way in ways.items()
        ]


CASES: dict[str, Callable[[Cell], Case]] = {
    "line": Line,
    "breakpoint": Broken,
    "ratio": Ratio,
    "paired ratio": Ratio,
}
