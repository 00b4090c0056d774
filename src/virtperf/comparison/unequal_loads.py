"""Check that both sides of a comparison have equal loads. In tables, loads are ordinary columns
among the results, recognizable only by their levels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from virtperf.comparison.ratio_rows import Pair
from virtperf.comparison.sides import Side
from virtperf.core.numbers import join_names

MAX_LEVELS = 50
"""Maximum number of levels of a load."""
MAX_SHOWN, MAX_SHOWN_LEVELS = 4, 12
"""Maximum numbers of quantities, or lists of levels, and of levels that a note names."""


def unequal_load_notes(a: Side, b: Side, pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield a note on each column with different levels on the two sides or in the runs of a side,
    and on each quantity whose variation between the runs of a side is explained by another column.

    Runs in blocks are skipped: they are compared within blocks.
    """
    columns = _lacking_metadata(a) & _lacking_metadata(b)
    unequal = [name for name in sorted(columns) if _has_unequal_levels(a, b, name)]
    for name in unequal:
        shown = [_levels_text(_levels(side, name)) for side in (a, b)]
        yield (
            f"{name} is {shown[0]} in the runs of A and {shown[1]} in those of B: if it is a "
            f"setting, the sides are compared at different levels of {name}"
        )
    if any(run.block for side in (a, b) for run in side.runs):
        return
    mixed = [name for name in sorted(columns.difference(unequal)) if _has_mixed_lists(a, b, name)]
    for name in mixed:
        yield from _mixed_lists_notes(a, b, name)
    first, second = _frame(a), _frame(b)
    loads = [
        name
        for name in columns.difference(unequal, mixed)
        if all(name in frame and _is_integer(frame[name]) for frame in (first, second))
    ]
    explained: dict[str, list[str]] = {}
    for pair in pairs:
        others = sorted({*loads} - {pair.quantity})
        known = pair.quantity in first and pair.quantity in second
        if pair.condition or pair.quantity in unequal or not others or not known:
            continue
        from virtperf.models.replication import explaining_column

        names = [pair.quantity, *others]
        column = explaining_column((first[names], second[names]), pair.quantity, others, log=True)
        if column:
            explained.setdefault(column.name, []).append(pair.quantity)
    for name, quantities in explained.items():
        yield (
            f"{name} explains most of the variation between the runs of a side "
            f"({', '.join(quantities[:MAX_SHOWN])}): these runs are not replicates; compare runs with "
            f"equal {name}"
        )


def _lacking_metadata(side: Side) -> set[str]:
    """Quantities without metadata, known by a column's name only: loads are among them."""
    return {
        name
        for name, kind in side.quantities.items()
        if not (kind.unit or kind.better) and any(name in run.columns for run in side.runs)
    }


def _levels(side: Side, name: str) -> tuple[float, ...] | None:
    """Levels of a column common to all runs of a side, row by row or as a single value; None if
    the runs differ.
    """
    levels = {run.columns.get(name, ()) for run in side.runs}
    return levels.pop() or None if len(levels) == 1 else None


def _has_unequal_levels(a: Side, b: Side, name: str) -> bool:
    """Whether a column has integer levels that are constant within but different between sides."""
    levels = _levels(a, name), _levels(b, name)
    if None in levels or min(len(a.runs), len(b.runs)) < 2:
        return False
    sets = [set(each) for each in levels if each is not None]
    few = all(len(each) <= MAX_LEVELS for each in sets)
    return few and sets[0] != sets[1] and all(_is_integer(pd.Series([*each])) for each in sets)


def _has_mixed_lists(a: Side, b: Side, name: str) -> bool:
    """Whether a column is a list of integer levels in every run, but not the same list.

    Lists are repeated in other runs, and have several levels: lists of counts rarely do.
    """
    lists = [run.columns.get(name, ()) for side in (a, b) for run in side.runs]
    distinct = set(lists)
    return 2 <= len(distinct) <= len(lists) / 2 and all(
        2 <= len({*each}) <= MAX_LEVELS and _is_integer(pd.Series(each)) for each in distinct
    )


def _mixed_lists_notes(a: Side, b: Side, name: str) -> Iterator[str]:
    for label, side in (("A", a), ("B", b)):
        runs = Counter(run.columns[name] for run in side.runs)
        (first, count), *others = runs.items()
        if others:
            more = [f"and {_levels_text(levels)} in {n}" for levels, n in others[:MAX_SHOWN]]
            yield (
                f"{name} is {_levels_text(first)} in {count} of {len(side.runs)} runs of {label}, "
                f"{', '.join(more)}: these runs are not replicates; compare runs with equal {name}"
            )


def _is_integer(values: pd.Series) -> bool:
    numbers = values.to_numpy(dtype=float)
    return bool(np.all(np.isfinite(numbers)) and np.all(numbers == np.round(numbers)))


def _levels_text(levels: tuple[float, ...] | None) -> str:
    distinct = [f"{level:g}" for level in dict.fromkeys(levels or ())]
    return join_names(distinct, most=MAX_SHOWN_LEVELS)


def _frame(side: Side) -> pd.DataFrame:
    """Values of the runs with one row, by column; NaN where a run has no such column."""
    return pd.DataFrame(
        [
            {name: values[0] for name, values in run.columns.items() if len(values) == 1}
            for run in side.runs
        ]
    ).dropna(axis="columns")
