"""Outlying runs among the runs of two sides.

A run is named if its logarithm is outside what the other runs of its side predict: the externally
studentized residual of one sample, Student's t with ``n - 2`` degrees of freedom, with the Bonferroni
correction over the runs of both sides. Within blocks the log ratios of the blocks are examined, and
the block is named: which of its two runs is apart can't be told from the drift between blocks.
Without one such run, two or three of a side that mask each other are named, if each is outside what the
rest predicts.

References
----------
Cook, R. D., Weisberg, S. (1982). Residuals and Influence in Regression, section 2.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from virtperf.core.contrasts import Replicates
from virtperf.core.numbers import join_words
from virtperf.core.statistics import t_pvalue

MIN_RUNS = 4
"""Minimum number of runs of a side: with three, the other two have one degree of freedom."""
LEVEL = 0.005
"""Level at which a run is named, over all runs of a row."""
MAX_MASKED = 3
"""Largest number of runs that are named together."""
MIN_DEVIATION = 0.03
"""Smallest deviation that is named, as a share of the other runs: less changes no conclusion."""


@dataclass(frozen=True)
class OutlyingRuns:
    """Runs by their places in their side (or a block by its name, with `side` ""), with their value
    (or the ratio of the block's runs) relative to the mean of the others.
    """

    side: str
    name: str
    places: tuple[int, ...]
    deviation: float


def outlying_runs(a: Replicates, b: Replicates) -> OutlyingRuns | None:
    """Find the run or block that is farthest outside the spread of the others, or few such runs of a
    side, if there are any; all values are positive.
    """
    if blocks := _paired_blocks(a, b):
        ratios = np.array([math.log(b.by_block[block] / a.by_block[block]) for block in blocks])
        samples = [("", ratios, blocks)]
    else:
        samples = [
            (letter, np.log(side.values), _names(side)) for letter, side in (("A", a), ("B", b))
        ]
    tests = sum(len(logs) for _, logs, _ in samples)
    found: list[tuple[float, str, tuple[int, ...], np.ndarray, list[str]]] = [
        (worst[0], letter, (worst[1],), logs, names)
        for letter, logs, names in samples
        if (worst := _most_extreme(logs, tests)) is not None
    ]
    found += [
        (LEVEL, letter, several, logs, names)
        for letter, logs, names in samples
        if letter and (several := _masked(logs, tests))
    ]
    if not found:
        return None
    p, letter, places, logs, names = min(found, key=lambda each: each[0])
    others = np.delete(logs, places).mean()
    deviation = math.exp(float((logs[[*places]] - others).mean()))
    if p > LEVEL or abs(deviation - 1) < MIN_DEVIATION:
        return None
    return OutlyingRuns(letter, join_words(names[place] for place in places), places, deviation)


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


def _masked(values: np.ndarray, tests: int) -> tuple[int, ...]:
    """Places of two or three values that are each outside what all others without them predict."""
    apart = np.argsort(-np.abs(values - np.median(values)), kind="stable")
    for count in range(2, min(MAX_MASKED, len(values) // 4) + 1):
        places, rest = apart[:count], values[apart[count:]]
        se = max(float(rest.std(ddof=1)) * math.sqrt(1 + 1 / len(rest)), 1e-12)
        t = np.abs(values[places] - rest.mean()) / se
        if all(float(t_pvalue(each, len(rest) - 1)) * tests <= LEVEL for each in t):
            return tuple(sorted(map(int, places)))
    return ()


def without_runs(
    a: Replicates, b: Replicates, found: OutlyingRuns
) -> tuple[Replicates, Replicates]:
    """Return both sides without the outlying runs, or without their block."""
    sides = []
    for letter, side in (("A", a), ("B", b)):
        keep = [
            block != found.name if not found.side else letter != found.side or k not in found.places
            for k, block in enumerate(side.blocks)
        ]
        sides.append(side.at(np.flatnonzero(keep)))
    return sides[0], sides[1]
