"""A/A test: how often comparisons of equal runs are called different.

Runs of one condition are split at random into two sides and compared like any two sides. Every
difference found is a false alarm, since both sides have the same condition.

With one run per condition and block, no condition can be split within its blocks. Instead, the runs
of all conditions with the same blocks and similar variances are divided by their condition's mean,
and those of each block are split at random: the sides are compared within blocks, like two
conditions of the study.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from virtperf.comparison.ratio_rows import CALLED_DIFFERENT, Pair, ratio_rows
from virtperf.comparison.row import Row
from virtperf.core.contrasts import (
    MIN_POOLED_CONDITIONS,
    MIN_POOLED_UNITS,
    Replicates,
    pooled_error,
)
from virtperf.core.estimate import Estimate
from virtperf.core.grouping import grouped
from virtperf.runs.run_values import CellName, ComparedQuantity

MIN_RUNS = 4
"""Minimum number of runs of a condition for a split: a side of one run has no interval."""
MIN_BLOCK_SPLITS = 100
"""Minimum number of distinct splits of conditions within blocks: of the 27 that four conditions in
three blocks have, two are 7 %."""


@dataclass(frozen=True)
class EqualSplits(Row):
    """The share of random splits with at least one row called different, `estimate`.

    `condition`: description of the splitting. `possible`: number of distinct splits of the condition,
    or quantity, with the fewest. `rows`: mean rows per split; `outside`: rows of all splits with
    an unadjusted interval that excludes equal sides.
    """

    splits: int = 0
    possible: int = 0
    called: int = 0
    rows: int = 0
    outside: int = 0

    own_names = {"condition": "design", "estimate": ""}

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"share": self.called / self.splits}


def equal_splits(
    cells: Mapping[CellName, Replicates],
    quantities: Mapping[str, ComparedQuantity],
    *,
    margin: float,
    level: float,
    splits: int,
    seed: int,
) -> list[EqualSplits]:
    """Split the runs of conditions at random, `splits` times.

    Returns one result for halves of the runs of each condition with at least `MIN_RUNS`, and one
    for splits within blocks, if at least two blocks have two runs.
    """
    known = {cell: runs for cell, runs in cells.items() if cell[0] in quantities}
    halves = {cell: runs for cell, runs in known.items() if runs.n >= MIN_RUNS}
    within = _pooled_by_blocks(known)
    designs: list[tuple[str, int, Callable[[np.random.Generator], list[Pair]]]] = []
    if halves:
        design = "random halves of the runs of each condition"
        possible = min(_count_splits(runs.n) for runs in halves.values())
        designs.append((design, possible, lambda rng: _random_halves(halves, rng)))
    if within:
        design = "random halves of the runs of each block, relative to their condition"
        possible = min(_count_block_splits(runs) for runs in within.values())
        designs.append((design, possible, lambda rng: _random_block_halves(within, rng)))
    results = []
    for number, (design, possible, split) in enumerate(designs):
        rng = np.random.default_rng([seed, number])
        tables = [
            ratio_rows(split(rng), quantities, margin=margin, level=level, plan_runs=False)
            for _ in range(splits)
        ]
        called = sum(any(row.verdict in CALLED_DIFFERENT for row in rows) for rows in tables)
        outside = sum(row.excludes_no_change for rows in tables for row in rows)
        share = Estimate(called / splits, math.nan, math.nan, level, "share of splits", n=splits)
        results.append(
            EqualSplits(
                "splits with a row called different",
                design,
                "1",
                estimate=share,
                splits=splits,
                possible=possible,
                called=called,
                rows=round(sum(map(len, tables)) / splits),
                outside=outside,
            )
        )
    return results


def unequal_quantities(
    cells: Mapping[CellName, Replicates], quantities: Mapping[str, ComparedQuantity]
) -> list[str]:
    """Names of quantities with unequal variances among conditions of the same blocks; these are
    excluded from splits within blocks by `equal_splits`.
    """
    known = {cell: runs for cell, runs in cells.items() if cell[0] in quantities}
    gathered = _group_by_blocks(known)
    return sorted(
        {name for (name, _), samples in gathered.items() if not _equal_variances(samples)}
    )


def _count_splits(runs: int) -> int:
    """Number of distinct splits of runs into halves, with exchangeable sides."""
    return math.comb(runs, runs // 2) // (1 if runs % 2 else 2)


def _count_block_splits(runs: Replicates) -> int:
    """Number of distinct splits within blocks; 0 if a block has a single run."""
    counts = Counter(runs.blocks).values()
    return math.prod(_count_splits(n) for n in counts) if min(counts) > 1 else 0


def _random_halves(cells: Mapping[CellName, Replicates], rng: np.random.Generator) -> list[Pair]:
    pairs = []
    for (quantity, condition), runs in cells.items():
        order = rng.permutation(runs.n)
        first, second = order[: runs.n // 2], order[runs.n // 2 :]
        pairs.append(Pair(quantity, condition, runs.at(first), runs.at(second)))
    return pairs


def _pooled_by_blocks(cells: Mapping[CellName, Replicates]) -> dict[CellName, Replicates]:
    """Pool, for each quantity, the runs of all conditions with the same blocks, divided by their
    condition's mean, if each block has at least two.

    Conditions in other blocks may have another spread, which does not occur within one comparison.
    Conditions of the same blocks that fail the test of `pooled_error` are excluded: a single
    condition that varies alone would leave two differences per block, for which t has too many
    extreme values.
    """
    pooled_cells = {}
    for cell, conditions in _group_by_blocks(cells).items():
        if not _equal_variances(conditions):
            continue
        values = np.concatenate([runs.values for runs in conditions])
        pooled = Replicates(values, tuple(b for runs in conditions for b in runs.blocks))
        if _count_block_splits(pooled) >= MIN_BLOCK_SPLITS:
            pooled_cells[cell] = pooled
    return pooled_cells


def _group_by_blocks(
    cells: Mapping[CellName, Replicates],
) -> dict[CellName, list[Replicates]]:
    """Group the conditions of each quantity by equal sets of blocks, relative to their means."""
    return grouped(
        ((quantity, (("blocks", ", ".join(sorted({*runs.blocks}))),)), runs.scaled(1 / runs.mean))
        for (quantity, _), runs in cells.items()
        if runs.in_blocks and len(runs.by_block) > 1 and runs.values.min() > 0
    )


def _equal_variances(conditions: Sequence[Replicates]) -> bool:
    """Whether equal variances are not rejected for conditions of the same blocks; with too few to
    test, they are assumed.
    """
    testable = min(len(runs.by_block) for runs in conditions) >= MIN_POOLED_UNITS
    return not testable or len(conditions) < MIN_POOLED_CONDITIONS or bool(pooled_error(conditions))


def _random_block_halves(
    cells: Mapping[CellName, Replicates], rng: np.random.Generator
) -> list[Pair]:
    pairs = []
    for (quantity, condition), runs in cells.items():
        first: list[int] = []
        second: list[int] = []
        for block in runs.by_block:
            places = rng.permutation(np.flatnonzero([b == block for b in runs.blocks])).tolist()
            first += places[: len(places) // 2]
            second += places[len(places) // 2 :]
        a, b = (runs.at(np.array(side)) for side in (first, second))
        pairs.append(Pair(quantity, condition, a, b))
    return pairs
