"""Sides of a comparison by percentiles of their runs' single values in place of means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rawperf.core.errors import ModelError, RawperfError
from virtperf.comparison.sides import Side
from virtperf.core.estimate import Estimate
from virtperf.core.order_statistics import BucketCounts, is_percentile
from virtperf.runs.run_values import CellName, ComparedQuantity, RunValues
from virtperf.runs.summarize.distributions import bucket_mean
from virtperf.runs.summarize.series import reduction

SingleValues = np.ndarray | tuple[np.ndarray, np.ndarray]
MIN_BEYOND = 10
"""Minimum number of values above a percentile; with fewer it is hardly more than the maximum."""


def label(percent: float, name: str) -> str:
    """Format the name of a percentile: ``p99.9 of response_time``."""
    return f"p{percent:g} of {name}"


def replace_by_percentiles(sides: Sequence[Side], percents: Sequence[float]) -> list[Side]:
    """Replace the quantities of all runs by their percentiles, one number a run.

    Raises
    ------
    RawperfError
        A run has neither single values nor a histogram, or a percentile is out of range.
    """
    for percent in percents:
        if not 0 < percent < 100:
            raise ModelError(
                "the percentile is out of range",
                expected="a number between 0 and 100, such as 99.9",
                found=f"{percent:g}",
            )
    kinds: dict[str, ComparedQuantity] = {}
    quantities = []
    for side in sides:
        runs = []
        too_few: dict[str, int] = {}
        for run in side.runs:
            distributions = _distributions(run)
            values = {
                cell: v for cell, v in run.values.items() if side.quantities[cell[0]].is_failure
            }
            kinds |= {name: side.quantities[name] for name, _ in values}
            for (name, key), singles in distributions.items():
                kind = side.quantities.get(name, ComparedQuantity())
                for percent in percents:
                    named = label(percent, name)
                    rule = {"statistic": "quantile", "share": percent / 100}
                    found = of_single_values(singles, rule)
                    values[named, key] = found.value
                    # times and sizes are better low; of rates it is not known
                    better = kind.better or ("" if kind.unit.endswith("/s") else "lower")
                    kinds[named] = ComparedQuantity(kind.unit, better, named, kind.field)
                    n_above = (1 - percent / 100) * found.n
                    too_few[named] = too_few.get(named, 0) + (n_above < MIN_BEYOND)
            runs.append(replace(run, values=values))
        notes = [
            f"{named}: {count} of {len(runs)} runs have fewer than {MIN_BEYOND} values above it"
            for named, count in too_few.items()
            if count
        ]
        quantities.append(replace(side, runs=tuple(runs), warnings=(*side.warnings, *notes)))
    return [replace(side, quantities=kinds) for side in quantities]


def of_single_values(
    singles: SingleValues, rule: Mapping[str, Any], *, limit: float = np.nan, level: float = 0.95
) -> Estimate:
    """The statistic of a quantity's `observed` rule, of single values or of a histogram: recorded values
    with their counts. `limit` is that of `above`; the interval, at `level`, is that of independent values.
    """
    if isinstance(singles, tuple):
        values, counts = singles
        return bucket_mean(BucketCounts(values, values, counts), rule, limit, level)
    return reduction(rule, independent=True, limit=limit)(singles, level)


def distribution(run: RunValues, cell: CellName) -> SingleValues | None:
    """The single values or the histogram of a cell; None for one value, and for printed percentiles."""
    singles = run.singles.get(cell)
    if singles is None or is_percentile(cell[0]):
        return None
    return singles if isinstance(singles, tuple) or len(singles) > 1 else None


def _distributions(run: RunValues) -> dict[CellName, SingleValues]:
    found = {c: singles for c in run.singles if (singles := distribution(run, c)) is not None}
    if found:
        return found
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
