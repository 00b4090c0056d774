"""Sides of a comparison by percentiles of their runs' single values in place of means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rawperf.core.errors import ModelError, RawperfError
from virtperf.comparison.sides import Side
from virtperf.core.order_statistics import is_percentile, percentile
from virtperf.runs.run_values import CellName, ComparedQuantity, RunValues

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
                x, counts = singles if isinstance(singles, tuple) else (singles, None)
                total = len(x) if counts is None else float(np.sum(counts))
                for percent in percents:
                    named = label(percent, name)
                    values[named, key] = percentile(x, percent / 100, counts)
                    # times and sizes are better low; of rates it is not known
                    better = kind.better or ("" if kind.unit.endswith("/s") else "lower")
                    kinds[named] = ComparedQuantity(kind.unit, better, named, kind.field)
                    n_above = (1 - percent / 100) * total
                    too_few[named] = too_few.get(named, 0) + (n_above < MIN_BEYOND)
            runs.append(replace(run, values=values))
        notes = [
            f"{named}: {count} of {len(runs)} runs have fewer than {MIN_BEYOND} values above it"
            for named, count in too_few.items()
            if count
        ]
        quantities.append(replace(side, runs=tuple(runs), warnings=(*side.warnings, *notes)))
    return [replace(side, quantities=kinds) for side in quantities]


def _distributions(run: RunValues) -> dict[CellName, Any]:
    """The single values of each cell; one value is none, nor are percentiles of several."""
    found = {
        (name, key): singles
        for (name, key), singles in run.singles.items()
        if not is_percentile(name) and (isinstance(singles, tuple) or len(singles) > 1)
    }
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
