"""Cases of `coverage` for verdicts of measured runs: rates of refuted true claims and reproduced
false claims.

Claims of every kind are in `verdict_study/`; simulated runs are judged by the function that judges
a study's runs.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

from tools.validation.coverage import Case, Cell, Outcome
from virtperf.core.contrasts import Replicates
from virtperf.study.claims import Claims, load_claims
from virtperf.study.definition import Study, load_study
from virtperf.study.study_samples import StudySamples
from virtperf.verdicts.judgement import comparisons
from virtperf.verdicts.regions import Decision, decide

HERE = Path(__file__).parent
RATES = ("refuted", "reproduced")
LEVEL = 0.95
AT_LIMIT, OUTSIDE, FAR = "true, at the limit", "false, just outside", "false, far outside"

TRUTHS: dict[str, tuple[list[float], list[float], list[float]]] = {
    "ratio": ([100, 120.87], [100, 120.99], [100, 130]),
    "about": ([100, 126.3], [100, 126.5], [100, 150]),
    "percent": ([100, 169.83], [100, 170.0], [100, 190]),
    "level": ([102.51], [102.61], [130]),
    "difference": ([100, 120.91], [100, 121.03], [100, 140]),
    "order": ([100, 100.1], [100, 99.9], [100, 90]),
    "rises": ([100, 100.1, 100.2, 100.3], [100, 150, 149.85, 200], [100, 150, 100, 200]),
    "does-not-fall": ([100.0] * 6, [100, 120, 140, 160, 180, 179.8], [100.0] * 5 + [60.0]),
    "no-degradation": ([100] + [98.04] * 5, [100] + [150] * 4 + [97.9], [100.0] * 5 + [60.0]),
    "peak": ([100, 100, 100.1, 100, 100], [50, 50, 100, 100.1, 50], [50, 50, 100, 130, 50]),
    "equal": ([100, 105], [100, 105.1], [100, 130]),
    "sum": ([100, 100, 204.04], [100, 100, 204.3], [100, 100, 300]),
    "bends": ([100, 200, 300, 400], [100, 200, 290, 380.5], [100, 200, 220, 400]),
    "line": ([100, 200, 310], [100, 200, 310.2], [100, 200, 500]),
    "significantly": ([100, 100], [100, 99.9], [100, 90]),
    "slightly": ([100, 100.1], [100, 100], [100, 90]),
    "less": ([100, 99.9], [100, 100], [100, 110]),
    "most": ([50.1], [50], [40]),
}
"""True means of loads 1, 2, ... of each claim: barely true, barely false, clearly false. Limits of
printed numbers include their tolerance.
"""


@lru_cache
def verdict_study() -> tuple[Study, Claims]:
    """The study of `verdict_study/`, with the word readings of `data/readings.yaml`."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "data" / "published" / "verdicts"
        shutil.copytree(HERE / "verdict_study", folder)
        shutil.copy(HERE.parents[1] / "data" / "readings.yaml", folder.parent.parent)
        study = load_study(folder)
        return study, load_claims(study)


class Verdict:
    """One claim judged by simulated runs.

    A cell's `form` is the plan: "independent" (`replicates` runs per condition), "blocks" (one run
    of every condition in each of `blocks` blocks) or "separate blocks" (each condition has its own
    `blocks` blocks with `replicates` runs each). Blocks differ by `block_noise`, runs within them
    by `noise`; `second_noise` is that of every second condition, and `second_replicates` its
    number of runs.
    """

    measures = RATES
    boundary = ""

    def __init__(self, cell: Cell) -> None:
        s = cell.settings
        self.study, claims = verdict_study()
        self.claim = claims[s["claim"]]
        self.plan = s["form"]
        self.blocks, self.block_noise = int(s.get("blocks", 1)), float(s.get("block_noise", 0.0))
        self.noises = cell.noise, float(s.get("second_noise", cell.noise))
        self.runs = int(s["replicates"]), int(s.get("second_replicates", s["replicates"]))
        self.log_normal = s.get("shape") == "log-normal"
        given = s.get("means")
        names = AT_LIMIT, OUTSIDE, FAR
        self.truths = dict(zip(names, TRUTHS[s["claim"]], strict=True))
        if given is not None:
            self.truths = {s["says"]: list(given)}
        self.defaults = dict.fromkeys(self.truths, "regions")
        quantities = [q for i in self.claim.instances for part in i.parts for _, q in part.terms]
        self.conditions = sorted(set(quantities))

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        drawn = self._drawn(rng)
        out = []
        for name, means in self.truths.items():
            samples = StudySamples(
                {
                    q: runs.scaled(means[int(q.level("load")) - 1])
                    for q, runs in zip(self.conditions, drawn, strict=True)
                }
            )
            compared, total = comparisons(self.study, self.claim, samples)
            found = decide(compared, LEVEL, whole=len(compared) == total)
            values = float(found is Decision.FAILS), float(found is Decision.HOLDS)
            out.append(Outcome(name, "regions", values))
        return out

    def _drawn(self, rng: np.random.Generator) -> list[Replicates]:
        """Runs of every condition with mean 1."""
        shared = self._factors(rng, self.block_noise, self.blocks)
        found = []
        for k, _ in enumerate(self.conditions):
            noise, runs = self.noises[k % 2], self.runs[k % 2]
            if self.plan == "independent":
                found.append(Replicates(self._factors(rng, noise, runs), ("",) * runs))
            elif self.plan == "blocks":
                values = shared * self._factors(rng, noise, self.blocks)
                found.append(Replicates(values, tuple(map(str, range(self.blocks)))))
            else:
                own = np.repeat(self._factors(rng, self.block_noise, self.blocks), runs)
                names = np.repeat([f"{k}-{block}" for block in range(self.blocks)], runs)
                values = own * self._factors(rng, noise, self.blocks * runs)
                found.append(Replicates(values, tuple(names.tolist())))
        return found

    def _factors(self, rng: np.random.Generator, cv: float, n: int) -> np.ndarray:
        if not self.log_normal:
            return 1 + cv * rng.standard_normal(n)
        s = math.sqrt(math.log1p(cv**2))
        return np.exp(s * rng.standard_normal(n) - s * s / 2)


def rates(
    claim: str, means: list[float], data_sets: int, seed: int = 1, **settings: object
) -> tuple[float, float]:
    """Shares of simulated data sets with these true means in which a claim is refuted, and
    reproduced.
    """
    noise = float(settings.pop("noise"))  # type: ignore[arg-type]
    given = {"replicates": 1, **settings, "claim": claim, "means": means, "says": "given"}
    case = Verdict(Cell("verdict", "given", noise, given))
    rng = np.random.default_rng(seed)
    found = np.array([case(rng)[0].values for _ in range(data_sets)])
    return float(found[:, 0].mean()), float(found[:, 1].mean())


CASES: dict[str, Callable[[Cell], Case]] = {"verdict": Verdict}
