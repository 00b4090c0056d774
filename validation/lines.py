"""Cases of `calibrate` for straight and broken lines, ratios and equivalence."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from validation.coverage import COVERAGE, LEVELS, Case, Cell, Outcome
from validation.curves import intervals, noise_sd, rows_of
from virtperf.core.errors import ModelError
from virtperf.models.checks import Array
from virtperf.models.crossover import line_crossover
from virtperf.models.equivalence import tost_difference, tost_ratio
from virtperf.models.linear import LinearResult, fit_line, fit_linear
from virtperf.models.ratio import ratio_of_means, ratio_of_pairs
from virtperf.models.result import Estimate
from virtperf.models.segmented import fit_segmented
from virtperf.models.weights import relative_weights


class Line:
    """Straight line over one factor, or plane over two: t intervals of the coefficients and their joint F region."""

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        s = cell.settings
        grid = np.array(s["x"], dtype=float)
        points = np.repeat(grid if grid.ndim == 2 else grid[:, None], s["replicates"], axis=0)
        if s.get("scale") == "log2":
            points = np.log2(points)
        self.design = np.column_stack((np.ones(len(points)), points))
        self.names = ("intercept", "slope") if points.shape[1] == 1 else ("intercept", "slope 1", "slope 2")
        self.truth = {name: float(s["truth"][name]) for name in self.names}
        self.mean = self.design @ np.array(list(self.truth.values()))
        self.sd = noise_sd(cell, self.mean)
        self.proportional = s["spread"] == "proportional"
        usual = "weighted" if self.proportional else "t"
        self.defaults = {**dict.fromkeys(self.names, usual), "joint": usual if self.proportional else "F"}
        self.boundary = ""

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        y = self.mean + self.sd * rng.standard_normal(len(self.mean))
        out = self._of(self._fit(y), "t", "F")
        if self.proportional:
            weights = relative_weights(self.design, y)
            out += self._of(self._fit(y, weights=weights), "weighted", "weighted")
            out += self._of(self._fit(y, cov_type="HC3"), "HC3", "HC3")
        return out

    def _fit(self, y: Array, **options: object) -> LinearResult:
        return fit_linear(self.design, y, self.names, **options)  # type: ignore[arg-type]

    def _of(self, fit: LinearResult, method: str, joint: str) -> list[Outcome]:
        out = [
            Outcome(name, method, intervals(partial(fit.estimate, name), truth)) for name, truth in self.truth.items()
        ]
        p = fit.joint_test(**self.truth).pvalue
        out.append(Outcome("joint", joint, tuple(p > 1 - level for level in LEVELS)))
        return out


class Broken:
    """Two pieces: the breakpoint by likelihood, with a simulated threshold and with F, and by the delta method."""

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        s = cell.settings
        self.form = s["form"]
        self.x = rows_of(cell, s["x"])
        t = s["truth"]
        self.truth = float(t["breakpoint"])
        over = self.x - self.truth
        before = {"free": t.get("slope1", 0.0), "rise-plateau": t.get("slope1", 0.0), "plateau-decline": 0.0}[self.form]
        after = 0.0 if self.form == "rise-plateau" else t["slope2"]
        self.mean = t["level"] + before * np.minimum(over, 0) + after * np.maximum(over, 0)
        self.sd = noise_sd(cell, self.mean)
        self.defaults = {"breakpoint": "simulated"}
        self.boundary = ""

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        fit = fit_segmented(self.x, self.mean + self.sd * rng.standard_normal(len(self.x)), form=self.form)
        # A breakpoint belongs to the simulated interval of a level if its test does not reject it there.
        p = fit.place_test(self.truth, seed=int(rng.integers(2**31))).pvalue
        return [
            Outcome("breakpoint", "simulated", tuple(p > 1 - level for level in LEVELS)),
            Outcome("breakpoint", "profile", intervals(partial(fit.breakpoint, method="profile"), self.truth)),
            Outcome("breakpoint", "delta", intervals(partial(fit.breakpoint, method="t"), self.truth)),
        ]


class LineCrossing:
    """Crossing of two straight lines: Fieller and delta."""

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        s = cell.settings
        self.x = rows_of(cell, s["x"])
        (a1, b1), (a2, b2) = (tuple(s[k][n] for n in ("intercept", "slope")) for k in ("truth", "second"))
        self.truth = (a1 - a2) / (b2 - b1)
        self.means = (a1 + b1 * self.x, a2 + b2 * self.x)
        self.sd = cell.noise * float(np.mean(self.means))
        self.defaults = {"crossing": "Fieller"}
        self.boundary = ""

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        fits = [fit_line(self.x, mean + self.sd * rng.standard_normal(len(self.x))) for mean in self.means]

        def found(method: str, pooled: bool) -> tuple[bool, ...]:
            crossings = [
                line_crossover(*fits, method=method, pooled=pooled, alpha=1 - level).estimate for level in LEVELS
            ]
            return tuple(e is None or self.truth in e for e in crossings)

        return [
            Outcome("crossing", "Fieller", found("fieller", True)),
            Outcome("crossing", "Fieller, two variances", found("fieller", False)),
            Outcome("crossing", "delta", found("delta", True)),
        ]


class Ratio:
    """Ratio of two means from replicates, independent or in pairs."""

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        s = cell.settings
        self.n = s["replicates"]
        self.noise, self.ratio, self.shared = cell.noise, float(s["ratio"]), float(s.get("shared", 0.0))
        self.defaults = {"ratio": "Fieller, paired" if self.shared else "Fieller"}
        self.boundary = ""

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        together = self.shared * rng.standard_normal(self.n)
        a, b = (mean * (1 + together + self.noise * rng.standard_normal(self.n)) for mean in (100 * self.ratio, 100.0))
        ways: dict[str, Callable[[float], Estimate]] = {}
        if self.shared:
            ways["Fieller, paired"] = lambda alpha: ratio_of_means(a, b, paired=True, alpha=alpha)
            ways["log-ratio, paired"] = lambda alpha: ratio_of_means(a, b, method="log", paired=True, alpha=alpha)
            ways["log-ratio of pairs"] = lambda alpha: ratio_of_pairs(a, b, alpha=alpha)
        ways["Fieller"] = lambda alpha: ratio_of_means(a, b, alpha=alpha)
        ways["log-ratio"] = lambda alpha: ratio_of_means(a, b, method="log", alpha=alpha)
        ways["Fieller, pooled"] = lambda alpha: ratio_of_means(a, b, equal_var=True, alpha=alpha)
        ways["log-ratio, pooled"] = lambda alpha: ratio_of_means(a, b, method="log", equal_var=True, alpha=alpha)
        return [Outcome("ratio", name, intervals(way, self.ratio)) for name, way in ways.items()]


class Equivalent:
    """Equivalence tests at the margin itself, where none may be found: "inside" means that none was."""

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        s = cell.settings
        self.n, self.margin, self.noise = s["replicates"], float(s["margin"]), cell.noise
        self.defaults = {"difference": "Welch", "ratio": "Fieller"}
        self.boundary = ""

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        a, b = (mean * (1 + self.noise * rng.standard_normal(self.n)) for mean in (100 * (1 + self.margin), 100.0))
        difference, factor = 100 * self.margin, 1 + self.margin
        tests = {
            ("difference", "Welch"): lambda alpha: tost_difference(a, b, difference, alpha=alpha),
            ("difference", "pooled"): lambda alpha: tost_difference(a, b, difference, equal_var=True, alpha=alpha),
            ("ratio", "Fieller"): lambda alpha: tost_ratio(a, b, factor, alpha=alpha),
            ("ratio", "log"): lambda alpha: tost_ratio(a, b, factor, means="geometric", alpha=alpha),
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
    "line": Line, "plane": Line, "line crossing": LineCrossing, "breakpoint": Broken, "ratio": Ratio,
    "paired ratio": Ratio, "equivalence": Equivalent,
}  # fmt: skip
