"""The ratio of a percentile of two sides of runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rawperf.core.errors import VirtperfError
from virtperf.comparison.judged import ComparedQuantity, Pair, RunRatio, contrast
from virtperf.comparison.sides import RunValues, Side
from virtperf.core.contrasts import with_blocks
from virtperf.core.order_statistics import is_percentile
from virtperf.models.percentiles import Distribution, percentile_ratio

MIN_BEYOND = 10
"""Values of a run beyond a percentile, below which it is hardly more than the largest of them."""
MERGE = "keep single values or a histogram log, and compare by --percentile"


def label(percent: float, name: str) -> str:
    """``p99.9 of single_response_time``."""
    return f"p{percent:g} of {name}"


def with_percentiles(
    sides: Sequence[Side], percents: Sequence[float]
) -> tuple[list[Side], Callable[[Pair], RunRatio]]:
    """The sides with the percentiles of their runs as their only quantities, and what compares
    them.

    Raises
    ------
    VirtperfError
        A run has no single values and no histogram; nothing is left where all values are zero.
    """
    kinds: dict[str, ComparedQuantity] = {}
    of_run: dict[tuple[str, str], tuple[float, Distribution]] = {}
    made = []
    for side in sides:
        runs = []
        scarce: dict[str, int] = {}
        for run in side.runs:
            _require_distribution(run)
            values = {}
            for name, distribution in run.distributions.items():
                kind = side.quantities.get(name, ComparedQuantity())
                for percent in percents:
                    named = label(percent, name)
                    values[named] = distribution.percentile(percent)
                    of_run[run.place, named] = percent, distribution
                    kinds[named] = ComparedQuantity(kind.unit, kind.better or "lower", named)
                    beyond = (1 - percent / 100) * distribution.total
                    scarce[named] = scarce.get(named, 0) + (beyond < MIN_BEYOND)
            runs.append(replace(run, values=values))
        notes = [
            f"{named}: {count} of {len(runs)} runs have fewer than {MIN_BEYOND} values beyond it"
            for named, count in scarce.items()
            if count
        ]
        made.append(replace(side, runs=tuple(runs), warnings=(*side.warnings, *notes)))
    sides = [replace(side, quantities=kinds) for side in made]

    def contrasted(pair: Pair) -> RunRatio:
        if min(pair.a.values.min(), pair.b.values.min()) <= 0:
            return contrast(pair)
        b, a = with_blocks(pair.b, pair.a)
        percent = of_run[a.run_ids[0], pair.quantity][0]
        above, below = ([of_run[run, pair.quantity][1] for run in side.run_ids] for side in (b, a))
        return percentile_ratio(above, below, percent, blocks_a=b.blocks, blocks_b=a.blocks)

    return sides, contrasted


def _require_distribution(run: RunValues) -> None:
    if run.distributions:
        return
    printed = [name for name in (*run.values, *run.refused) if is_percentile(name)]
    only = f"only percentiles: {', '.join(printed[:3])}" if printed else ""
    raise VirtperfError(
        "the run has no single values and no histogram, so that it has no percentile"
        + (" but those that its tool printed, which can't be merged" if printed else ""),
        file=run.place,
        expected="a histogram log, samples of single requests, or a table with a row a value",
        found=only or None,
        remedy="a percentile that a tool printed once a run is compared by --quantity"
        if printed
        else None,
    )


def require_comparable(sides: Sequence[Side], patterns: Sequence[str]) -> None:
    """Raise `VirtperfError` where what is asked for are several percentiles of one run."""
    for side in sides:
        for run in side.runs:
            for name, reason in run.refused.items():
                if name in patterns:
                    raise VirtperfError(
                        f"{name} is not compared: {reason}", file=run.place, remedy=MERGE
                    )
