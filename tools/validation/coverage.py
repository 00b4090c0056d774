"""Simulated coverage of intervals, cell by cell.

A cell is one model on one design (the loads or sizes at which a study measures, and its
replicates) at one noise level. A case simulates and fits the data sets of a cell; the designs are
data (`calibration.yaml`).
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd

from virtperf.core.parallel import workers

LEVELS = (0.90, 0.95)
COVERAGE = ("cover90", "cover95")
BAND = (0.935, 0.965)
"""Acceptance band for the coverage of a nominal 95 % interval."""
CHUNK = 250
"""Data sets per seed. Results depend on it, but not on the number of processes."""


class Outcome(NamedTuple):
    """Result of one method for one data set.

    For intervals, the values are whether they contain the truth at each of `LEVELS`; other cases
    have other measures. None if the method refuses.
    """

    estimate: str
    method: str
    values: tuple[float, ...] | None


@dataclass(frozen=True)
class Cell:
    """One model on one design at one level of noise."""

    model: str  # key of the case
    design: str
    noise: float  # standard deviation between replicates relative to the mean
    settings: Mapping[str, Any] = field(
        default_factory=dict
    )  # further input of the case: x, truth, replicates

    @property
    def id(self) -> str:
        """Name from which the cell's seeds are derived."""
        more = sorted((k, v) for k, v in self.settings.items() if k != "times")
        return f"{self.model}/{self.design}/{self.noise:g}/{more}"


class Case(Protocol):
    """A prepared cell: a call simulates one data set and returns the outcomes."""

    @property
    def measures(
        self,
    ) -> tuple[str, ...]: ...  # names of the outcome values; `COVERAGE` for intervals
    @property
    def defaults(self) -> Mapping[str, str]: ...  # the default method of each estimate
    @property
    def boundary(self) -> str: ...  # why nominal coverage is not expected, else ""

    def __call__(self, rng: np.random.Generator) -> Sequence[Outcome]: ...


Tally = dict[tuple[str, str], np.ndarray]
"""By estimate and method: data sets with a value, data sets without, sum of each value."""


def _simulate(given: tuple[Callable[[Cell], Case], Cell, int, int, int]) -> Tally:
    """The tally of one chunk of a cell's data sets; `given` is the factory of the case, the cell,
    chunk, size and seed.
    """
    make, cell, chunk, size, seed = given
    case = make(cell)
    rng = np.random.default_rng([seed, zlib.crc32(cell.id.encode()), chunk])
    tally: Tally = {}
    for _ in range(size):
        for estimate, method, values in case(rng):
            sums = tally.setdefault((estimate, method), np.zeros(2 + len(case.measures)))
            if values is None:
                sums[1] += 1
            else:
                sums[0] += 1
                sums[2:] += values
    return tally


def run(
    cells: Sequence[Cell],
    cases: Mapping[str, Callable[[Cell], Case]],
    *,
    replicates: int = 2000,
    seed: int = 20,
    jobs: int = 1,
    scheduler: str = "",
    step: Callable[[], None] = lambda: None,
) -> pd.DataFrame:
    """Simulate all cells, each with so many replicates; `jobs` and `scheduler` are those of
    `parallel.workers`.

    Parameters
    ----------
    cases : mapping of str to callable
        Makes the case of a cell, by its model.
    seed : int
        Each chunk of each cell has its own generator from the seed, the cell's name and the chunk's
        number: the result depends neither on the number of processes nor on the other cells.
    step : callable
        Called after each chunk.

    Returns
    -------
    DataFrame
        One row a cell (its place in `cells`), estimate and method: ``cell, model, design, noise,
        estimate, method, default, boundary, n, none`` and the case's measures. `n` counts the data
        sets with an interval, `none` those without, and a measure is a mean over `n`.
    """
    work = []
    for place, cell in enumerate(cells):
        size = replicates * cell.settings.get("times", 1)
        work += [
            (place, (cases[cell.model], cell, chunk, min(CHUNK, size - chunk * CHUNK), seed))
            for chunk in range(chunks(cell, replicates))
        ]
    totals: list[Tally] = [{} for _ in cells]
    with workers(jobs=jobs, scheduler=scheduler, preload=__name__) as submit:
        found = submit(_simulate, [given for _, given in work])
        for (place, _), tally in zip(work, found, strict=True):
            for key, sums in tally.items():
                totals[place][key] = totals[place].get(key, 0.0) + sums
            step()
    rows = []
    for place, (cell, total) in enumerate(zip(cells, totals, strict=True)):
        case = cases[cell.model](cell)
        for (estimate, method), (n, none, *values) in total.items():
            rows.append(
                facts(place, cell, case, estimate, method)
                | {"n": int(n), "none": int(none)}
                | {m: v / n if n else math.nan for m, v in zip(case.measures, values, strict=True)}
            )
    return pd.DataFrame(rows)


def facts(place: int, cell: Cell, case: Case, estimate: str, method: str) -> dict[str, Any]:
    """Return the columns of a result that follow from its cell."""
    return {
        "cell": place,
        "model": cell.model,
        "design": cell.design,
        "noise": cell.noise,
        "estimate": estimate,
        "method": method,
        "default": case.defaults.get(estimate) == method,
        "boundary": case.boundary,
    }


def chunks(cell: Cell, replicates: int) -> int:
    """Number of chunks of a cell; ``times`` in its settings multiplies the replicates of fast
    cases.
    """
    return -(-replicates * cell.settings.get("times", 1) // CHUNK)


def error(cover: float, n: int) -> float:
    """Monte Carlo standard error of a simulated coverage."""
    return math.sqrt(cover * (1 - cover) / n) if n else math.nan
