"""Cases of `calibrate` for straight and broken lines, ratios and equivalence."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from rawperf.core.errors import ModelError
from validation.coverage import COVERAGE, LEVELS, Case, Cell, Outcome
from validation.curves import intervals, noise_sd, rows_of, within
from virtperf.models.checks import Array
from virtperf.models.linear import LinearResult, fit_linear
from virtperf.models.ratio import ratio_of_means, ratio_of_pairs
from virtperf.models.result import Estimate
from virtperf.models.segmented import fit_segmented
from virtperf.models.tost import tost_difference, tost_ratio


class Line:
    """Straight line over one factor, or plane over two: t intervals of the coefficients and their
    joint F region.
    """

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        s = cell.settings
        grid = np.array(s["x"], dtype=float)
        points = np.repeat(grid if grid.ndim == 2 else grid[:, None], s["replicates"], axis=0)
        if s.get("scale") == "log2":
            points = np.log2(points)
        self.design = np.column_stack((np.ones(len(points)), points))
        self.names = (
            ("intercept", "slope") if points.shape[1] == 1 else ("intercept", "slope 1", "slope 2")
        )
        self.truth = {name: float(s["truth"][name]) for name in self.names}
        self.mean = self.design @ np.array(list(self.truth.values()))
        self.sd = noise_sd(cell, self.mean)
        self.spread = s["spread"]
        usual = self.spread
        ends = [
            f"{kind} at {end}"
            for end in ("smallest x", "largest x")
            for kind in ("mean", "observation")
        ]
        self.ends = points[[0, -1]] if points.shape[1] == 1 else None
        self.defaults = dict.fromkeys(
            (*self.names, "joint", *(ends if self.ends is not None else [])), usual
        )
        self.noise = cell.noise
        self.boundary = ""

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        y = self.mean + self.sd * rng.standard_normal(len(self.mean))
        out = self._of(self._fit(y, noise=self.spread), self.spread, rng)
        if self.spread == "proportional":
            out += self._of(self._fit(y), "constant", None) + self._of(
                self._fit(y, cov_type="HC3"), "HC3", None
            )
        return out

    def _fit(self, y: Array, **options: str) -> LinearResult:
        return fit_linear(self.design, y, self.names, **options)

    def _of(self, fit: LinearResult, method: str, rng: np.random.Generator | None) -> list[Outcome]:
        out = [
            Outcome(name, method, intervals(partial(fit.estimate, name), truth))
            for name, truth in self.truth.items()
        ]
        p = fit.joint_test(**self.truth).pvalue
        out.append(Outcome("joint", method, tuple(p > 1 - level for level in LEVELS)))
        if self.ends is None or rng is None:
            return out
        new = np.column_stack((np.ones(2), self.ends))
        truth = new @ np.array(list(self.truth.values()))
        sd = self.noise * truth if self.spread == "proportional" else np.full(2, self.sd[0])
        wanted = {"mean": truth, "observation": truth + sd * rng.standard_normal(2)}
        for kind, value in wanted.items():
            bands = [fit.predict(new, kind, 1 - level) for level in LEVELS]
            hits = [within(b, value) for b in bands]
            out += [
                Outcome(f"{kind} at {end}", method, tuple(bool(h[k]) for h in hits))
                for k, end in enumerate(("smallest x", "largest x"))
            ]
        return out


class Broken:
    """Two pieces: the breakpoint with a simulated threshold and with F, slopes, and the curve at
    the breakpoint.
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
        # A breakpoint belongs to the simulated interval of a level if its test does not reject it
        # there.
        p = fit.place_test(self.truth, seed=int(rng.integers(2**31))).pvalue
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
        self.log = s.get("shape") == "log-normal"
        self.noise, self.ratio, self.shared = (
            cell.noise,
            float(s["ratio"]),
            float(s.get("shared", 0.0)),
        )
        self.defaults = {"ratio": "Fieller, paired" if self.shared else "log link"}
        self.boundary = ""

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        if self.shared:
            together = self.shared * rng.standard_normal(self.n[0])
            a, b = (
                m * (1 + together + self.noise * rng.standard_normal(self.n[0]))
                for m in (100 * self.ratio, 100.0)
            )
            return self._of(
                {
                    "Fieller, paired": lambda alpha: ratio_of_means(a, b, paired=True, alpha=alpha),
                    "log-ratio, paired": lambda alpha: ratio_of_means(
                        a, b, method="log", paired=True, alpha=alpha
                    ),
                    "log-ratio of pairs": lambda alpha: ratio_of_pairs(a, b, alpha=alpha),
                }
            )
        a, b = (
            m * self._shares(rng, n) for m, n in zip((100 * self.ratio, 100.0), self.n, strict=True)
        )
        return self._of(
            {
                "log link": lambda alpha: ratio_of_means(a, b, alpha=alpha),
                "Fieller": lambda alpha: ratio_of_means(a, b, method="fieller", alpha=alpha),
                "log-ratio": lambda alpha: ratio_of_means(a, b, method="log", alpha=alpha),
            }
        )

    def _shares(self, rng: np.random.Generator, n: int) -> Array:
        if not self.log:
            return 1 + self.noise * rng.standard_normal(n)
        s2 = math.log1p(self.noise**2)
        return np.exp(math.sqrt(s2) * rng.standard_normal(n) - s2 / 2)

    def _of(self, ways: dict[str, Callable[[float], Estimate]]) -> list[Outcome]:
        return [Outcome("ratio", name, intervals(way, self.ratio)) for name, way in ways.items()]


class Equivalent:
    """Equivalence tests at the margin itself, where none may be found: "inside" means that none
    was.
    """

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        s = cell.settings
        self.n, self.margin, self.noise = s["replicates"], float(s["margin"]), cell.noise
        self.defaults = {"difference": "Welch", "ratio": "log link"}
        self.boundary = ""

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        a, b = (
            mean * (1 + self.noise * rng.standard_normal(self.n))
            for mean in (100 * (1 + self.margin), 100.0)
        )
        difference, factor = 100 * self.margin, 1 + self.margin
        tests = {
            ("difference", "Welch"): lambda alpha: tost_difference(a, b, difference, alpha=alpha),
            ("difference", "pooled"): lambda alpha: tost_difference(
                a, b, difference, equal_var=True, alpha=alpha
            ),
            ("ratio", "log link"): lambda alpha: tost_ratio(a, b, factor, alpha=alpha),
            ("ratio", "Fieller"): lambda alpha: tost_ratio(
                a, b, factor, method="fieller", alpha=alpha
            ),
            ("ratio", "log"): lambda alpha: tost_ratio(a, b, factor, method="log", alpha=alpha),
        }
        out = []
        for (estimate, method), test in tests.items():
            try:
                inside = tuple(test(1 - level).verdict != "equivalent" for level in LEVELS)
            except ModelError:
                inside = None
            out.append(Outcome(estimate, method, inside))
        return out


CASES: dict[str, Callable[[Cell], Case]] = {
    "line": Line,
    "plane": Line,
    "breakpoint": Broken,
    "ratio": Ratio,
    "paired ratio": Ratio,
    "equivalence": Equivalent,
}
