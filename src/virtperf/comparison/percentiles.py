"""Sides of a comparison by percentiles of their runs' single values in place of means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rawperf.core.errors import RawperfError
from virtperf.comparison.ratio_rows import Pair, RunRatio, contrast
from virtperf.comparison.sides import Side
from virtperf.core.contrasts import assign_blocks
from virtperf.core.order_statistics import is_percentile
from virtperf.runs.run_values import ComparedQuantity, Condition, RunValues

if TYPE_CHECKING:
    from virtperf.models.percentiles import Distribution

MIN_BEYOND = 10
"""Minimum number of values above a percentile; with fewer it is hardly more than the maximum."""


def replace_by_percentiles(
    sides: Sequence[Side], percents: Sequence[float]
) -> tuple[list[Side], Callable[[Pair], RunRatio]]:
    """Replace the quantities of all runs by their percentiles, ``p99.9 of response_time``, and return
    the matching contrast.

    Raises
    ------
    RawperfError
        A run has neither single values nor a histogram, or only zeros.
    """
    from virtperf.models.percentiles import Distribution, percentile_ratio

    kinds: dict[str, ComparedQuantity] = {}
    percent_of: dict[str, float] = {}
    of_run: dict[tuple[str, str], dict[Condition, Distribution]] = {}
    replaced = []
    for side in sides:
        runs = []
        too_few: Counter[str] = Counter()
        for run in side.runs:
            _require_singles(run)
            values = {
                cell: v for cell, v in run.values.items() if side.quantities[cell[0]].is_failure
            }
            kinds |= {name: side.quantities[name] for name, _ in values}
            for (name, key), singles in run.singles.items():
                kind = side.quantities.get(name, ComparedQuantity())
                columns = singles if isinstance(singles, tuple) else (singles,)
                distribution = Distribution.of(*columns)
                for percent in percents:
                    named = f"p{percent:g} of {name}"
                    percent_of[named] = percent
                    values[named, key] = distribution.percentile(percent)
                    of_run.setdefault((run.place, named), {})[key] = distribution
                    kinds[named] = replace(kind, better=kind.better or "lower", group=named)
                    too_few[named] += (1 - percent / 100) * distribution.total < MIN_BEYOND
            runs.append(replace(run, values=values))
        notes = [
            f"{named}: {count} of {len(runs)} runs have fewer than {MIN_BEYOND} values above it"
            for named, count in too_few.items()
            if count
        ]
        replaced.append(replace(side, runs=tuple(runs), warnings=(*side.warnings, *notes)))

    def contrast_function(pair: Pair) -> RunRatio:
        if min(pair.a.values.min(), pair.b.values.min()) <= 0:
            return contrast(pair)
        at, (b, a) = dict(pair.condition), assign_blocks(pair.b, pair.a)
        # the condition of a pair lacks keys with one level
        above, below = (
            [
                next(
                    distribution
                    for key, distribution in of_run[run, pair.quantity].items()
                    if all(at.get(name, level) == level for name, level in key)
                )
                for run in side.run_ids
            ]
            for side in (b, a)
        )
        percent = percent_of[pair.quantity]
        return percentile_ratio(above, below, percent, blocks_a=b.blocks, blocks_b=a.blocks)

    return [replace(side, quantities=kinds) for side in replaced], contrast_function


def _require_singles(run: RunValues) -> None:
    if run.singles:
        return
    printed = [name for name in (*run.quantities(), *run.refused) if is_percentile(name)]
    only = f"only percentiles: {', '.join(printed[:3])}" if printed else ""
    raise RawperfError(
        "the run has neither single values nor a histogram to compute a percentile from"
        + ("; percentiles printed by its tool can't be merged" if printed else ""),
        file=run.place,
        expected="a histogram log, samples of single requests, or a table with one row per value",
        found=only or None,
        remedy="compare a percentile that the tool printed once per run by --quantity"
        if printed
        else None,
    )
