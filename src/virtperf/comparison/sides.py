"""The sides of a comparison: their runs, from folders, files, patterns or git revisions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from rawperf.core.errors import ParameterError, RawperfError, RunError, did_you_mean
from virtperf.core.contrasts import Replicates
from virtperf.core.grouping import grouped
from virtperf.core.levels import Level, parse_level
from virtperf.core.numbers import join_names
from virtperf.core.order_statistics import is_percentile
from virtperf.runs.run_values import (
    CellName,
    ComparedQuantity,
    RunValues,
    match_quantities,
)

MAIN_PERCENTILE = re.compile(r"(?i)(^|[\W_])(p(50|95|99)|(50|95|99)th)($|\W)")
T = TypeVar("T")


@dataclass(frozen=True)
class TableOptions:
    """How rows of tables are taken.

    `keys` are columns that tell rows apart, `over` keys over whose levels values are averaged;
    `rows_are_runs` takes repeated rows as runs.
    """

    keys: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    rows_are_runs: bool = False


@dataclass(frozen=True)
class Side:
    """All runs of one side, with the metadata of its quantities.

    `notes` are those on all sides.
    """

    name: str
    runs: tuple[RunValues, ...]
    quantities: Mapping[str, ComparedQuantity]
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def facts(self) -> dict[str, set[str]]:
        """Distinct values of each fact about machine and tools over the runs."""
        return _levels(item for run in self.runs for item in run.facts.items())

    @property
    def repetitions(self) -> int:
        """Largest number of repeated rows of one key in a file."""
        return max((run.repetitions for run in self.runs), default=0)

    @property
    def repeats(self) -> str:
        """What repeated rows of a file are (`rawperf.results.result_table.Repeats`); "" if not known."""
        return next((run.repeats for run in self.runs if run.repeats), "")

    @property
    def disturbed(self) -> int:
        return sum(run.disturbed for run in self.runs)

    @property
    def quantity_names(self) -> list[str]:
        """Quantities of any run, in order of first occurrence."""
        return list(dict.fromkeys(name for run in self.runs for name in run.quantities()))

    @cached_property
    def factor_levels(self) -> dict[str, set[Level]]:
        """Levels of each factor of the runs."""
        return _levels(item for run in self.runs for item in run.factors.items())

    @cached_property
    def key_levels(self) -> dict[str, set[Level | None]]:
        """Levels of each key of the values; None where a quantity lacks a key that it has elsewhere."""
        cells = [(quantity, dict(key)) for run in self.runs for quantity, key in run.values]
        keys_of = _levels((quantity, name) for quantity, key in cells for name in key)
        return _levels(
            (name, key.get(name)) for quantity, key in cells for name in keys_of.get(quantity, ())
        )

    def levels_of(self, quantity: str) -> dict[str, set[Level | None]]:
        """Levels of each key of a quantity's values."""
        cells = (cell for run in self.runs for cell in run.values if cell[0] == quantity)
        return _levels((name, level) for _, key in cells for name, level in key)

    def split(self, name: str, text: str) -> Side:
        """Select the runs at a factor level, or with a fact about machine or tools (a pattern).

        Levels of a factor share blocks; machines do not, since rounds of the same name were run at
        another time there.
        """
        if any(name in run.factors for run in self.runs):
            level = parse_level(text)
            runs = [run for run in self.runs if run.factors.get(name) == level]
            values = dict.fromkeys(str(run.factors.get(name)) for run in self.runs)
        else:
            runs = [
                replace(run, block=f"{text}: {run.block}" if run.block else "")
                for run in self.runs
                if fnmatchcase(run.facts.get(name, ""), text)
            ]
            values = dict.fromkeys(run.facts[name] for run in self.runs if name in run.facts)
        if not runs:
            known = {*(self.runs[0].factors), *self.facts}
            raise RawperfError(
                f"no run of {self.name} has {name}={text}",
                expected=", ".join(f"{name}={value}" for value in list(values)[:10])
                or "a factor, or a fact about machine and tools in run.yaml",
                remedy=None if values else did_you_mean(name, known),
            )
        return replace(self, name=f"{name}={text}", runs=tuple(runs))

    def without_key(self, name: str, level: str) -> Side:
        """Remove a key that all values of the side share; runs get its level as part of their place."""

        def without(by_cell: Mapping[CellName, T]) -> dict[CellName, T]:
            return {
                (quantity, tuple(level for level in key if level[0] != name)): value
                for (quantity, key), value in by_cell.items()
            }

        runs = [
            replace(
                run,
                values=without(run.values),
                singles=without(run.singles),
                counts=without(run.counts),
                place=f"{run.place} ({name}={level})",
                digest="",
            )
            for run in self.runs
        ]
        return replace(self, runs=tuple(runs))

    def at_keys(self, where: Mapping[str, Level]) -> Side:
        """Select the values whose keys have these levels (patterns for texts)."""
        if not where:
            return self

        def fits(cell: CellName) -> bool:
            key = dict(cell[1])
            return all(
                fnmatchcase(str(key[name]), _lower_truth(level))
                for name, level in where.items()
                if name in key
            )

        named = {name for name in where if name in self.key_levels}
        runs = []
        for run in self.runs:
            kept = {cell: value for cell, value in run.values.items() if fits(cell)}
            of_run = {name for _, key in run.values for name, _ in key} & named
            if kept or not of_run:
                runs.append(
                    replace(
                        run, values=kept, singles={c: x for c, x in run.singles.items() if fits(c)}
                    )
                )
        if not runs:
            raise RawperfError(
                f"no row of {self.name} has {', '.join(f'{n}={v}' for n, v in where.items())}",
                expected="; ".join(
                    f"{name}: {join_names(sorted(map(str, self.key_levels[name] - {None})), most=10)}"
                    for name in named
                )
                or None,
            )
        return replace(self, runs=tuple(runs))

    def cells(self, varied: frozenset[str]) -> dict[CellName, Replicates]:
        """Group runs by quantity and condition, the levels of the factors and keys in `varied`."""
        gathered: dict[CellName, list[tuple[float, RunValues]]] = {}
        # in one order: run.yaml may list factors in any
        names = dict.fromkeys(name for run in self.runs for name in run.factors if name in varied)
        for run in self.runs:
            at = tuple((name, run.factors[name]) for name in names if name in run.factors)
            for (quantity, key), value in run.values.items():
                condition = (*at, *((name, level) for name, level in key if name in varied))
                gathered.setdefault((quantity, condition), []).append((value, run))
        return {cell: _replicates(runs) for cell, runs in gathered.items()}


def _levels(items: Iterable[tuple[str, T]]) -> dict[str, set[T]]:
    """Distinct levels by name."""
    return {name: set(levels) for name, levels in grouped(items).items()}


def _lower_truth(level: Level) -> str:
    """The text of a level; truth values as in tables, ``true`` and ``false``."""
    text = str(level)
    return text.lower() if text.lower() in ("true", "false") else text


def parse_factor(written: Sequence[str]) -> tuple[str, str, str]:
    """Parse ``("kernel=6.1", "kernel=6.6")``: a factor or fact, and the texts of two levels of it.

    Raises `RawperfError` for anything else.
    """
    split = [text.partition("=") for text in written]
    names = {name.strip() for name, _, _ in split}
    if len(split) != 2 or len(names) != 1 or not all(level for _, _, level in split):
        raise RawperfError(
            "two values of one factor or fact are needed",
            expected="--factor NAME=A --factor NAME=B",
            found=", ".join(written),
        )
    return names.pop(), split[0][2].strip(), split[1][2].strip()


def varied_names(sides: Sequence[Side]) -> frozenset[str]:
    """Factors with more than one level among the runs of a side, and keys with more than one level
    over all sides.
    """
    factors = {n for side in sides for n, levels in side.factor_levels.items() if len(levels) > 1}
    keys = _levels(
        (n, x) for side in sides for n, levels in side.key_levels.items() for x in levels
    )
    return frozenset(factors | {name for name, levels in keys.items() if len(levels) > 1})


def _replicates(values_of_runs: Sequence[tuple[float, RunValues]]) -> Replicates:
    runs = [run for _, run in values_of_runs]
    days = tuple(run.day for run in runs)
    return Replicates(
        np.array([value for value, _ in values_of_runs]),
        tuple(run.block for run in runs),
        days if all(days) else (),
        tuple(run.place for run in runs),  # runs of both sides may have the same names
    )


def rows_offer(sides: Sequence[Side], tables: TableOptions) -> str:
    """Offer to take repeated rows as runs, where a side has a single file with such rows; "" if none
    has.
    """
    most = min((side.repetitions for side in sides), default=0)
    if tables.rows_are_runs or most < 2 or all(len(side.runs) > 1 for side in sides):
        return ""
    process = any(side.repeats == "process" for side in sides)
    but = ", without the variation between processes" if process else ""
    return f"The files have up to {most} rows of one key: --rows runs compares them as runs{but}."


def equal_files_note(sides: Sequence[Side], quantity: str = "") -> list[str]:
    """Return a note on runs of different places with byte-identical files.

    Raises `RunError` if two runs of a side, or of both, are one file, one of its rows, or one run, with
    values of one key (of `quantity`, if given).
    """
    seen: set[str] = set()
    places: dict[str, set[CellName]] = {}
    equal = []
    resolved = cache(lambda folder: str(Path(folder).resolve()))
    for run in (run for side in sides for run in side.runs if run.place):
        folder, _, name = run.place.rpartition("/")
        place = str(Path(run.place).resolve()) if run.digest else f"{resolved(folder)}/{name}"
        cells = {cell for cell in run.values if not quantity or cell[0] == quantity}
        if place in places and (cells & places[place] or not run.values):
            raise RunError(
                "the same run is listed twice",
                file=run.place,
                remedy="compare distinct runs, each listed once",
            )
        if run.digest and run.digest in seen and place not in places:
            equal.append(run.run_id)
        seen.add(run.digest)
        places.setdefault(place, set()).update(cells)
    if not equal:
        return []
    return [
        f"{len(equal)} of {len(places)} runs have files that are byte-identical to those of another "
        f"run ({join_names(equal)}): results that are deterministic, or copies of one run"
    ]


def quantities_to_compare(
    quantities: Mapping[str, ComparedQuantity],
    names: Sequence[str],
    higher: Sequence[str],
    lower: Sequence[str],
) -> dict[str, ComparedQuantity]:
    """Select the quantities to compare: those requested by `names` or a direction (patterns), else
    those with a direction, else all. Failures are always among them; of printed percentiles the 50th,
    95th and 99th, since each row makes all verdicts more cautious.

    Raises `RawperfError` for a pattern without a match, `ParameterError` for a quantity with both
    directions.
    """

    def matching(patterns: Sequence[str]) -> list[str]:
        return match_quantities(quantities, patterns, fnmatchcase)

    both = set(matching(higher)) & set(matching(lower))
    for name in sorted(both):
        raise ParameterError(
            f"{name} can't be both higher-is-better and lower-is-better",
            expected="one direction",
            found="--higher-is-better and --lower-is-better",
        )
    directed_quantities = {
        name: replace(kind, better="lower") if kind.is_failure and not kind.better else kind
        for name, kind in quantities.items()
    }
    failures = {name: kind for name, kind in directed_quantities.items() if kind.is_failure}
    selected: dict[str, ComparedQuantity] = {}
    for better, patterns in (("higher", higher), ("lower", lower)):
        for name in matching(patterns):
            directed_quantities[name] = replace(quantities[name], better=better)
            selected[name] = directed_quantities[name]
    if names:
        named = {name: directed_quantities[name] for name in matching(names)}
        return failures | selected | named
    directed = {
        name: kind
        for name, kind in directed_quantities.items()
        if kind.better and (not is_percentile(name) or MAIN_PERCENTILE.search(name))
    }
    return directed if directed.keys() - failures.keys() else directed_quantities


def side_notes(sides: Sequence[Side], names: Sequence[str]) -> Iterator[str]:
    """Yield what was noted when the sides were read, those on one side with its name."""
    yield from dict.fromkeys(note for side in sides for note in side.notes)
    for name, side in zip(names, sides, strict=True):
        yield from (f"{name}: {warning}" for warning in side.warnings)
        if side.disturbed:
            yield f"{name}: {side.disturbed} of {len(side.runs)} runs were disturbed"
