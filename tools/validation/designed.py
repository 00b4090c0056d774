"""Cases of `coverage` for contrasts of formulas, ratios over sessions, sequential stopping, closed
networks and ratios of percentiles.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

from rawperf.core.errors import ModelError
from tools.validation.coverage import COVERAGE, LEVELS, Case, Cell, Outcome
from tools.validation.curves import intervals, rows_of
from virtperf.core.contrasts import Replicates, log_ratio
from virtperf.core.estimate import Estimate, Missing
from virtperf.core.order_statistics import percentile
from virtperf.models.checks import Array
from virtperf.models.formula import contrasts
from virtperf.models.planning import stop_when
from virtperf.models.queueing import closed_throughput, fit_closed
from virtperf.models.two_means import ratio_of_pairs

CONDITIONS, STOPPED_HALF_WIDTH, MOST_BLOCKS = 3, 0.02, 20
SPREAD_OF_REQUESTS = 0.6
"""Standard deviation of log response times within a run."""


class Contrast:
    """Ratio of two of three conditions in blocks, with the block as a fixed effect; half of the data
    sets lack one run.
    """

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        s = cell.settings
        self.noise, self.block_noise = cell.noise, float(s["block_noise"])
        self.blocks, self.ratio = int(s["blocks"]), float(s["ratio"])
        self.defaults = {"fixed blocks": "t"}
        self.boundary = ""

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        block = np.repeat(np.arange(self.blocks), CONDITIONS)
        condition = np.tile(np.arange(CONDITIONS), self.blocks)
        value = np.exp(
            math.log(self.ratio) * (condition == 1)
            + self.block_noise * rng.standard_normal(self.blocks)[block]
            + self.noise * rng.standard_normal(len(block))
        )
        frame = pd.DataFrame({"block": block, "condition": condition, "value": value})
        if rng.random() < 0.5:
            frame = frame.drop(index=int(rng.integers(len(frame))))
        fit = smf.ols("np.log(value) ~ C(condition) + C(block)", frame).fit()

        def interval(alpha: float) -> Estimate:
            one, other = {"condition": 1}, {"condition": 0}
            found: Estimate | Missing = contrasts(fit, of=one, to=other, alpha=alpha)["1 / 0"]
            if isinstance(found, Missing):
                raise ModelError(found.reason)
            return found

        return [Outcome("fixed blocks", "t", intervals(interval, self.ratio))]


class Stopped:
    """Mean of blocks under sequential stopping at a half-width of 2 %, at most twenty blocks."""

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        self.noise = math.sqrt(math.log1p(cell.noise**2))
        self.defaults = {"mean": "t, sequential"}
        self.boundary = ""

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        values = 100 * np.exp(self.noise * rng.standard_normal(MOST_BLOCKS))

        def interval(alpha: float) -> Estimate:
            rule = partial(
                stop_when, half_width=STOPPED_HALF_WIDTH, at_most=MOST_BLOCKS, alpha=alpha
            )
            found = (rule(values[:n]) for n in range(2, MOST_BLOCKS + 1))
            return next(step.estimate for step in found if step.stop)

        hits = tuple(100.0 in interval(1 - level) for level in LEVELS)
        return [Outcome("mean", "t, sequential", hits)]


class ClosedNetwork:
    """Service demand of a closed network with think time."""

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        s = cell.settings
        self.clients, self.noise = rows_of(cell, s["x"]), cell.noise
        self.think = np.full(len(self.clients), float(s["truth"]["think"]))
        self.servers = np.full(len(self.clients), float(s["truth"]["servers"]))
        self.demand, self.cv2 = float(s["truth"]["demand"]), float(s["truth"]["cv2"])
        self.defaults = {"demand": "cv2 given"}
        self.boundary = ""

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        true = closed_throughput(self.demand, self.cv2, self.clients, self.think, self.servers)
        y = true * np.exp(self.noise * rng.standard_normal(len(true)))
        fit = fit_closed(self.clients, y, think=self.think, servers=self.servers, cv2=self.cv2)
        return [Outcome("demand", "cv2 given", intervals(fit.demand, self.demand))]


class PercentileRatio:
    """Ratio of a percentile of two conditions, from one percentile of each run, like any other
    number: log-normal response times with noise between runs, with or without blocks.
    """

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        s = cell.settings
        self.percent, self.samples = float(s["percent"]), int(s["samples"])
        self.n = (int(s["replicates"]), int(s.get("second_replicates", s["replicates"])))
        self.noise = (cell.noise, float(s.get("second_noise", cell.noise)))
        self.blocks, self.block_noise = int(s.get("blocks", 0)), float(s.get("block_noise", 0.0))
        self.scale, self.ratio = float(s["ratio"]), float(s["ratio"])
        # the ratio of the mean percentiles of runs
        self.ratio *= math.exp((self.noise[0] ** 2 - self.noise[1] ** 2) / 2)
        self.defaults = {"ratio": "runs"}
        self.boundary = ""

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        names = [str(k) for k in range(self.blocks) for _ in range(self.n[0])]
        shared = np.repeat(self.block_noise * rng.standard_normal(self.blocks), self.n[0])
        sides = []
        for scale, n, noise in zip((self.scale, 1.0), self.n, self.noise, strict=True):
            levels = shared if self.blocks else np.zeros(n)
            levels = levels + noise * rng.standard_normal(len(levels))
            times = SPREAD_OF_REQUESTS * rng.standard_normal((len(levels), self.samples))
            runs = scale * np.exp(levels[:, None] + times)
            values = np.array([percentile(run, self.percent / 100) for run in runs])
            sides.append(Replicates(values, tuple(names or [""] * n)))
        found = log_ratio(sides[0], sides[1])
        hits = tuple(self.ratio in found.estimate(level) for level in LEVELS)
        return [Outcome("ratio", "runs", hits)]


class SessionRatio:
    """Ratio of two conditions over sessions that differ in level and in the ratio."""

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        s = cell.settings
        self.sessions, self.runs = int(s["blocks"]), int(s["replicates"])
        self.between, self.interaction = float(s["block_noise"]), float(s["interaction"])
        self.noise, self.ratio = cell.noise, float(s["ratio"])
        self.defaults = {"ratio": "over sessions"}
        self.boundary = ""

    def __call__(self, rng: np.random.Generator) -> list[Outcome]:
        session = np.repeat(np.arange(self.sessions), self.runs)
        level = self.between * rng.standard_normal(self.sessions)[session]
        own = math.log(self.ratio) + self.interaction * rng.standard_normal(self.sessions)[session]
        sides = [
            np.exp(level + shift + self.noise * rng.standard_normal(len(session)))
            for shift in (own, 0.0)
        ]
        means = (side.reshape(self.sessions, self.runs).mean(axis=1) for side in sides)

        def interval(alpha: float, pair: tuple[Array, Array]) -> Estimate:
            return ratio_of_pairs(*pair, alpha=alpha)

        ways = {"over sessions": tuple(means), "pairs of runs": tuple(sides)}
        return [
            Outcome("ratio", name, intervals(partial(interval, pair=pair), self.ratio))
            for name, pair in ways.items()
        ]


CASES: dict[str, Callable[[Cell], Case]] = {
    "contrast": Contrast,
    "stopping": Stopped,
    "closed network": ClosedNetwork,
    "percentile ratio": PercentileRatio,
    "ratio over sessions": SessionRatio,
}
