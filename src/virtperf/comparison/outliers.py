"""One outlying run among the runs of two sides.

A run is named if its logarithm is outside what the other runs of its side predict: the externally
studentized residual of one sample, Student's t with ``n - 2`` degrees of freedom, with the Bonferroni
correction over the runs of both sides. Within blocks the log ratios of the blocks are examined, and
the block is named: which of its two runs is apart can't be told from the drift between blocks.

References
----------
Cook, R. D., Weisberg, S. (1982). Residuals and Influence in Regression, section 2.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from virtperf.core.contrasts import Replicates
from virtperf.core.statistics import t_pvalue

MIN_RUNS = 4
"""Minimum number of runs of a side: with three, the other two have one degree of freedom."""
LEVEL = 0.005
"""Level at which a run is named, over all runs of a row."""
MIN_DEVIATION = 0.03
"""Smallest deviation that is named, as a share of the other runs: less changes no conclusion."""


@dataclass(frozen=True)
class OutlyingRun:
    """A run by its place in its side (or a block by its name, with `side` ""), with its value (or
    the ratio of its runs) relative to the mean of the others.
    """

    side: str
    name: str
    place: int
    deviation: float


def outlying_run(a: Replicates, b: Replicates) -> OutlyingRun | None:
    """Find the run or block that is farthest outside the spread of the others, if any is; all
    values are positive.
    """
    if blocks := _paired_blocks(a, b):
        ratios = np.array([math.log(b.by_block[block] / a.by_block[block]) for block in blocks])
        samples = [("", ratios, blocks)]
    else:
        samples = [
            (letter, np.log(side.values), _names(side)) for letter, side in (("A", a), ("B", b))
        ]
    tests = sum(len(logs) for _, logs, _ in samples)
    found = [
        (worst[0], letter, worst[1], logs, names)
        for letter, logs, names in samples
        if (worst := _most_extreme(logs, tests)) is not None
    ]
    if not found:
        return None
    p, letter, place, logs, names = min(found, key=lambda each: each[0])
    deviation = math.exp(float(logs[place] - np.delete(logs, place).mean()))
    if p > LEVEL or abs(deviation - 1) < MIN_DEVIATION:
        return None
    return OutlyingRun(letter, names[place], place, deviation)


def _names(side: Replicates) -> list[str]:
    if side.run_ids:
        return [run.rpartition("/")[2] for run in side.run_ids]
    return [f"run {k + 1}" for k in range(side.n)]


def _paired_blocks(a: Replicates, b: Replicates) -> list[str]:
    """Common blocks with one run of each side each; [] for other designs."""
    if not (a.in_blocks and b.in_blocks):
        return []
    once = [
        block for block in a.by_block if a.blocks.count(block) == 1 and b.blocks.count(block) == 1
    ]
    return once if len(once) > 1 else []


def _most_extreme(values: np.ndarray, tests: int) -> tuple[float, int] | None:
    """Return the smallest p-value of a studentized residual, times `tests`, and its place."""
    n = len(values)
    if n < MIN_RUNS:
        return None
    totals, squares = values.sum(), ((values - values.mean()) ** 2).sum()
    others = (totals - values) / (n - 1)
    gaps = values - others
    remaining = np.maximum(squares - gaps**2 * (n - 1) / n, 0.0)
    se = np.sqrt(remaining / (n - 2) * (1 + 1 / (n - 1)))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(se > 1e-12, np.abs(gaps) / se, np.where(np.abs(gaps) > 1e-9, np.inf, 0.0))
    place = int(np.argmax(t))
    return float(t_pvalue(t[place], n - 2)) * tests, place


def without_run(a: Replicates, b: Replicates, found: OutlyingRun) -> tuple[Replicates, Replicates]:
    """Return both sides without the outlying run, or without its block."""
    sides = []
    for letter, side in (("A", a), ("B", b)):
        keep = [
            block != found.name if not found.side else (letter, k) != (found.side, found.place)
            for k, block in enumerate(side.blocks)
        ]
        sides.append(side.at(np.flatnonzero(keep)))
    return sides[0], sides[1]
