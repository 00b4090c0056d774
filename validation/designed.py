"""Cases of `coverage` for contrasts of formulas, sequential stopping and closed networks."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

from rawperf.core.errors import ModelError
from validation.coverage import COVERAGE, LEVELS, Case, Cell, Outcome
from validation.curves import intervals, rows_of
from virtperf.models.formula import contrasts
from virtperf.models.planning import stop_when
from virtperf.models.queueing import closed_throughput, fit_closed
from virtperf.models.result import Estimate, Missing

CONDITIONS, STOPPED_HALF_WIDTH, MOST_BLOCKS = 3, 0.02, 20


class Contrast:
    """The ratio of two of three conditions in blocks, by a fixed and by a random effect of the
    block; in half of the data sets one run is lost.
    """

    measures = COVERAGE

    def __init__(self, cell: Cell) -> None:
        s = cell.settings
        self.noise, self.block_noise = cell.noise, float(s["block_noise"])
        self.blocks, self.ratio = int(s["blocks"]), float(s["ratio"])
        self.defaults = {"fixed blocks": "t", "random blocks": "t"}
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
        formula = "np.log(value) ~ C(condition)"
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # of small variances, which statsmodels takes for bounds
            fits = {
                "fixed blocks": smf.ols(f"{formula} + C(block)", frame).fit(),
                "random blocks": smf.mixedlm(formula, frame, groups="block").fit(),
            }

        def interval(alpha: float, name: str) -> Estimate:
            one, other = {"condition": 1}, {"condition": 0}
            found: Estimate | Missing = contrasts(fits[name], of=one, to=other, alpha=alpha)[
                "1 / 0"
            ]
            if isinstance(found, Missing):
                raise ModelError(found.reason)
            return found

        return [
            Outcome(name, "t", intervals(partial(interval, name=name), self.ratio)) for name in fits
        ]


class Stopped:
    """The mean of blocks that were measured until its half-width was 2 %, or twenty."""

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
    """The service demand of a closed network with think time."""

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


CASES: dict[str, Callable[[Cell], Case]] = {
    "contrast": Contrast,
    "stopping": Stopped,
    "closed network": ClosedNetwork,
}
