"""Cases of `coverage` for verdicts of measured runs: how often a true claim is refuted and a false
one reproduced.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from validation.coverage import Case, Cell, Outcome
from virtperf.core.mean import Mean, over_runs
from virtperf.verdicts import regions
from virtperf.verdicts.regions import Comparison, decide

RATES = ("refuted", "reproduced")
LEVEL = 0.95
INSIDE, OUTSIDE, FAR = 0.9, 1.001, 0.2
"""Numbers of claims of the kind "at most 1": one that holds by far, one that just does not, and one
beyond doubt.
"""


class Verdict:
    """A claim that several numbers are at most 1: ratios of conditions of their own, steps of a
    chain, or levels.

    A chain's condition is compared with the one before, so that neighbouring comparisons share a
    condition.
    """

    measures = RATES
    boundary = ""

    def __init__(self, cell: Cell) -> None:
        s = cell.settings
        self.form, self.count, self.noise = s["form"], int(s["relations"]), cell.noise
        self.log_normal = s.get("shape") == "log-normal"
        self.runs = int(s["replicates"]), int(s.get("second_replicates", s["replicates"]))
        false = [OUTSIDE, *[FAR] * (self.count - 1)]
        self.truths = {
            "true, at the limit": [1.0] * self.count,
            "true, 10 % inside": [INSIDE] * self.count,
            "false, just outside": false,
        }
        self.defaults = dict.fromkeys(self.truths, "regions")

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        conditions = {"ratio": 2 * self.count, "chain": self.count + 1, "level": self.count}[
            self.form
        ]
        drawn = [self._runs(rng, self.runs[k % 2]) for k in range(conditions)]
        out = []
        for name, numbers in self.truths.items():
            found = decide(self._compared(drawn, numbers), LEVEL, whole=True)
            values = found is regions.Outcome.FAILS, found is regions.Outcome.HOLDS
            out.append(Outcome(name, "regions", values))
        return out

    def _runs(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Runs of a condition whose mean is 1."""
        if not self.log_normal:
            return 1 + self.noise * rng.standard_normal(n)
        s = math.sqrt(math.log1p(self.noise**2))
        return np.exp(s * rng.standard_normal(n) - s * s / 2)

    def _compared(self, drawn: Sequence[np.ndarray], numbers: Sequence[float]) -> list[Comparison]:
        if self.form == "chain":
            sizes = np.cumprod([1.0, *numbers])
            means = [_mean(size * x) for size, x in zip(sizes, drawn, strict=True)]
            step, one = np.array([-1.0, 1, 0]), np.array([0, 0, 1.0])
            return [Comparison(pair, step, one, -math.inf, 0) for pair in pairwise(means)]
        if self.form == "level":
            means = [_mean(v * x) for v, x in zip(numbers, drawn, strict=True)]
            return [
                Comparison((mean,), np.array([1.0, 0]), np.array([0, 1.0]), -math.inf, 1)
                for mean in means
            ]
        pairs = zip(numbers, drawn[::2], drawn[1::2], strict=True)
        of, to = np.array([1.0, 0, 0]), np.array([0, 1.0, 0])
        return [Comparison((_mean(v * a), _mean(b)), of, to, -math.inf, 1) for v, a, b in pairs]


def _mean(runs: np.ndarray) -> Mean:
    nothing = [math.nan] * len(runs)
    return over_runs(list(runs), nothing, nothing, level=LEVEL)


CASES: dict[str, Callable[[Cell], Case]] = {"verdict": Verdict}
