"""Samples of every quantity over runs, and ratios and differences between them.

Verdicts, tables of ratios and derived numbers all use the same intervals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from virtperf.core.contrasts import (
    BLOCK,
    LinearRatio,
    LogRatio,
    PooledError,
    Replicates,
    SampledRatio,
    linear_ratio,
    log_ratio,
    pooled_error,
)
from virtperf.core.estimate import BUCKETED, Estimate, mean_over_bucketed, mean_over_runs
from virtperf.core.grouping import grouped
from virtperf.core.provenance import Provenance
from virtperf.study.conditions import rows_by_quantity, run_mean
from virtperf.study.definition import Study
from virtperf.study.parts import EVERY
from virtperf.study.quantities import Quantity

DEFAULT_LEVEL = 0.95  # initial level of means whose interval is later recomputed at another level

Terms = Mapping[Quantity, float]
"""A linear combination of quantities: coefficient by quantity."""


class StudySamples(Mapping[Quantity, Replicates]):
    """Replicates of each quantity, in the unit of the observations.

    `independent` holds quantities known from independent samples of a single run, or from histogram
    buckets, instead of replicates. Ratios of two conditions of a quantity use a pooled error over
    all its conditions with the same design (`core.contrasts.pooled_error`).
    """

    def __init__(
        self,
        runs: Mapping[Quantity, Replicates],
        independent: Mapping[Quantity, Estimate] | None = None,
    ) -> None:
        self._runs = dict(runs)
        self._independent = dict(independent or {})
        self._pools: dict[tuple[object, ...], PooledError | None] = {}

    def __getitem__(self, quantity: Quantity) -> Replicates:
        return self._runs[quantity]

    def __iter__(self) -> Iterator[Quantity]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def count(self, quantity: Quantity) -> int:
        """Number of runs, or of independent samples in their place."""
        sample = self._independent.get(quantity)
        return sample.n if sample else self[quantity].n

    def log_ratio(self, over: Terms, under: Terms) -> LogRatio | None:
        """``over / under`` on the log scale.

        None if a side has a non-positive value, is a sum of runs without common blocks, or has
        independent samples instead of runs. A condition against itself has standard error 0.
        """
        if self._independent.keys() & {*over, *under}:
            return None
        a, b = self._side(over), self._side(under)
        if a is None or b is None or min(a.values.min(), b.values.min()) <= 0:
            return None
        if over.keys() == under.keys() and len(over) == 1:
            (above,), (below,) = over.values(), under.values()
            return LogRatio(above / below, 0.0 if a.n > 1 else math.nan, max(a.n - 1.0, 1.0), a.n)
        return log_ratio(a, b, self._pooled(over, under))

    def linear_ratio(self, over: Terms, under: Terms) -> LinearRatio | SampledRatio:
        """``over / under``, or `over` if `under` is empty.

        Intervals are Student's t or Fieller's, or combine the intervals of independent samples.
        """
        quantities = list(dict.fromkeys((*over, *under)))
        above = np.array([*(over.get(q, 0.0) for q in quantities), 0.0])
        below = np.array([*(under.get(q, 0.0) for q in quantities), 0.0 if under else 1.0])
        if not self._independent.keys() & set(quantities):
            return linear_ratio([self[q] for q in quantities], above, below)
        return SampledRatio(above, below, tuple(map(self._mean, quantities)))

    def _mean(self, quantity: Quantity) -> Estimate:
        if quantity in self._independent:
            return self._independent[quantity]
        values = self[quantity].values.tolist()
        return mean_over_runs(values, level=DEFAULT_LEVEL)

    def _side(self, terms: Terms) -> Replicates | None:
        """One side of a ratio as replicates; sums are formed within blocks.

        Only the blocks common to all quantities of the sum are used.
        """
        samples = [self[q].scaled(c) for q, c in terms.items()]
        if len(samples) == 1:
            return samples[0]
        if not all(each.in_blocks for each in samples):
            return None
        common = [b for b in samples[0].by_block if all(b in each.by_block for each in samples)]
        if not common:
            return None
        sums = [sum(each.by_block[block] for each in samples) for block in common]
        return Replicates(np.array(sums), tuple(common))

    def _pooled(self, over: Terms, under: Terms) -> PooledError | None:
        if len(over) != 1 or len(under) != 1:
            return None
        of, to = next(iter(over)), next(iter(under))
        if of.name != to.name or self[of].design != self[to].design:
            return None
        key = (of.name, self[of].design)
        if key not in self._pools:
            design = self[of].design
            alike = {
                q: runs
                for q, runs in self._runs.items()
                if q.name == of.name and runs.design == design
            }
            self._pools[key] = pooled_error([alike[q] for q in sorted(alike)])
        return self._pools[key]


def samples_by_quantity(
    study: Study, observations: pd.DataFrame, provenance: Provenance, level: float = DEFAULT_LEVEL
) -> StudySamples:
    """Collect the replicates of each quantity, with their blocks and days, in the observed unit.

    Only the rows of `OBSERVATIONS` with this `provenance` are used; `level` is that of their
    intervals.
    """
    of_kind = observations["provenance"] == provenance.value
    table = observations[of_kind & np.isfinite(observations["value"])]
    columns = [table[name].tolist() for name in ("value", "block", "day", "run_id")]
    bucketed = (table["method"] == BUCKETED).to_numpy()
    places = grouped((quantity, place) for place, quantity in rows_by_quantity(study, table))
    independent: dict[Quantity, Estimate] = {}
    for quantity, rows in places.items():
        if bucketed[rows].all():
            means = [run_mean(table.iloc[place], level) for place in rows]
            independent[quantity] = mean_over_bucketed(means, level=level)
        elif len(rows) == 1 and (mean := run_mean(table.iloc[rows[0]], level)).of_samples:
            independent[quantity] = mean
    over = study.pooled_factor
    several = over is not None and len({*table[over.name]} - {EVERY}) > 1
    names = {
        quantity: over.label if over and several and quantity.level(over.name) == EVERY else BLOCK
        for quantity in places
    }
    return StudySamples(
        {
            quantity: Replicates(
                np.array([columns[0][place] for place in rows]),
                tuple(columns[1][place] for place in rows),
                tuple(columns[2][place] for place in rows),
                tuple(columns[3][place] for place in rows),
                names[quantity],
            )
            for quantity, rows in places.items()
        },
        independent,
    )
