"""The sides of a comparison: their runs, from folders, files, patterns or git revisions."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from rawperf.core.errors import ParameterError, RawperfError, RunError, did_you_mean
from virtperf.comparison.places import Place, resolve_place, side_names
from virtperf.core.contrasts import Replicates
from virtperf.core.grouping import grouped
from virtperf.core.levels import Level, parse_level
from virtperf.core.order_statistics import is_percentile
from virtperf.core.paths import Layout
from virtperf.runs.addresses import Addresses
from virtperf.runs.ingest.folder import RESERVED, RUN_FILE, RunFolder
from virtperf.runs.run_reader import (
    STATISTICS_FILE,
    LoadedRun,
    RunReader,
    digest,
    files_of,
    raw_files_of,
    require_bounded,
)
from virtperf.runs.run_values import (
    CellName,
    ComparedQuantity,
    RunValues,
    choose_keys,
    choose_options,
    join_names,
    match_quantities,
    settle_counts,
)

NO_RUNS = "a folder of run folders or of raw files, or a quoted pattern such as 'results/6.1-*'"
STUDY_FILES = frozenset({"study.yaml", "hypotheses.yaml", "measure.yaml", "claims.yaml"})
ITERATION = re.compile(r"iter-\d+")
MAIN_PERCENTILE = re.compile(r"(?i)(^|[\W_])(p(50|95|99)|(50|95|99)th)($|\W)")
IGNORED_SUFFIXES = (".md", ".rst", ".dvc")
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
        """What repeated rows of a file are (`rawperf.results.table.Repeats`); "" if not known."""
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

    def at_keys(self, where: Mapping[str, Level]) -> Side:
        """Select the values whose keys have these levels (patterns for texts)."""
        if not where:
            return self

        def fits(cell: CellName) -> bool:
            key = dict(cell[1])
            return all(
                fnmatchcase(str(key[name]), str(level))
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


def is_study(place: str | Path, layout: Layout) -> bool:
    """Whether a place is the id of a study of the repository."""
    return not Path(place).exists() and str(place) in layout.studies()


def require_raw(format_name: str | None, stored: Sequence[bool]) -> None:
    """Raise `ParameterError` for a raw file format if no side has raw files."""
    if format_name is not None and all(stored):
        raise ParameterError(
            "--input-format does not apply to a study's stored values",
            remedy="leave it out, or give the folder of its runs",
        )


def read_sides(
    places: Sequence[str | Path],
    layout: Layout,
    format_name: str | None = None,
    where: Mapping[str, Level] | None = None,
    *,
    tables: TableOptions = TableOptions(),
    singles: bool = False,
    level: float = 0.95,
) -> list[Side]:
    """Read all runs of each side; those of studies as stored by the runs stage.

    Parameters
    ----------
    places : sequence of str or Path
        For each side a folder, one run folder, one raw file, a glob pattern, the id of a study of the
        repository, or ``REVISION:`` followed by one of these.
    layout : Layout
        The repository, for studies and for run folders of its studies.
    format_name : str, optional
        Format of raw files without `run.yaml`, or a YAML file that declares one.
    where : mapping, optional
        Restrict to run folders at these factor levels, and to values with these levels of a key.
    tables : TableOptions
        Keys and repeated rows of tables.
    singles : bool
        Whether to keep single values, for percentiles.
    level : float
        Confidence level of the stored values of studies.

    Raises
    ------
    RawperfError
        A place has no runs, or a run can't be read, with file and line; no run has a factor or key of
        `where`.
    """
    where = where or {}
    stored = [is_study(place, layout) for place in places]
    require_raw(format_name, stored)
    others = [place for place, of_study in zip(places, stored, strict=True) if not of_study]
    reader = RunReader(layout, format_name, singles=singles)
    read = iter(_read_runs(others, layout, reader, where, tables) if others else ())
    sides = []
    for place, of_study in zip(places, stored, strict=True):
        if of_study:
            from virtperf.comparison.studies import measured_study

            sides.append(measured_study(layout, str(place), level, where).all_runs(where))
        else:
            sides.append(next(read))
    require_factors(sides, where)
    names = Counter(side.name for side in sides)
    return [
        replace(side, name=str(place)) if names[side.name] > 1 else side
        for side, place in zip(sides, places, strict=True)
    ]


def require_factors(sides: Sequence[Side], where: Mapping[str, Level]) -> None:
    """Raise `RawperfError` for a factor or key in `where` that no run has."""
    known = {name for side in sides for name in (*side.factor_levels, *side.key_levels)}
    for name in where:
        if name not in known:
            raise RawperfError(
                f"no run has a factor {name!r}, and no table a column of keys of that name",
                expected=", ".join(sorted(known)) or None,
                remedy=did_you_mean(name, known),
            )


def _read_runs(
    places: Sequence[str | Path],
    layout: Layout,
    reader: RunReader,
    where: Mapping[str, Level],
    tables: TableOptions,
) -> list[Side]:
    """Read the runs of places other than studies."""
    with tempfile.TemporaryDirectory() as scratch:
        resolved = [resolve_place(place, layout, Path(scratch)) for place in places]
        names = side_names(resolved)
        addresses = Addresses(Path(scratch))

        def written(path: str, place: Place) -> str:
            path = addresses.address(path)
            return _at_revision(path, place.revision, scratch) if place.revision else path

        run_paths = [_run_paths(place.path, addresses) for place in resolved]
        paths_by_side = [
            [path for path in of_side if _at_levels(path, where)] for of_side, _ in run_paths
        ]
        notes = [[*no_runs] for _, no_runs in run_paths]
        if len(resolved) > 1 and any(place.revision for place in resolved):
            paths_by_side, again = _drop_identical_runs(paths_by_side, names)
            notes[0] += again
        loaded = []
        for place, paths in zip(resolved, paths_by_side, strict=True):
            try:
                loaded.append(_load_runs(reader, place.written, paths))
            except RawperfError as err:
                if err.file and err.file.startswith(scratch):
                    raise err.copy_as(type(err), file=written(err.file, place)) from err
                raise
        loaded = _settle_counts(loaded, reader)
        _require_columns([run for runs in loaded for run in runs], (*tables.keys, *tables.over))
        keys = choose_keys(
            [[t for run in runs for t in run.tables.values()] for runs in loaded],
            tables.keys,
            tables.over,
        )
        files = [[c for run in runs for c in run.cells.values()] for runs in loaded]
        options = choose_options(files, tables.keys, tables.over)
        keys = replace(keys, options=options)
        of_all = tuple(keys.sentences())
        sides = []
        for place, name, of_side, left_out in zip(resolved, names, loaded, notes, strict=True):
            runs = []
            for run in of_side:
                for values in reader.values(
                    run, keys, tables.over, rows_are_runs=tables.rows_are_runs
                ):
                    for (quantity, _), value in values.values.items():
                        require_bounded(quantity, value, values.place)
                    runs.append(values)
            warnings = (*left_out, *reader.warnings_of(runs))
            runs = [
                replace(
                    run,
                    block=_block_at(run.block, place.revision),
                    place=written(run.place, place),
                )
                for run in runs
            ]
            side = Side(name, tuple(runs), reader.quantities.known, warnings, of_all)
            sides.append(side.at_keys(where))
        reader.require_format_used()
        reader.require_numeric([side.runs for side in sides])
    return sides


def _settle_counts(
    sides: Sequence[Sequence[LoadedRun]], reader: RunReader
) -> list[list[LoadedRun]]:
    """Read columns of 0 and 1 alike in the tables of all runs, see `settle_counts`."""
    tables = [table for runs in sides for run in runs for table in run.tables.values()]
    settled = iter(settle_counts(tables, reader.quantities))
    return [
        [replace(run, tables={name: next(settled) for name in run.tables}) for run in runs]
        for runs in sides
    ]


def _require_columns(runs: Sequence[LoadedRun], names: Sequence[str]) -> None:
    """Raise `RawperfError` for a column of `--key` or `--over` that no table has."""
    known = {
        name
        for run in runs
        for table in run.tables.values()
        for name in (*table.texts, *table.numbers)
    }
    for run in runs:
        cells = [cell for of_file in run.cells.values() for cell in of_file.values]
        cells += run.folder.values if run.folder else []
        known.update(name for _, key in cells for name, _ in key)
        known.update(name for of_file in run.cells.values() for name in of_file.settings)
    for name in names:
        if name not in known:
            raise RawperfError(
                f"no table has a column {name!r}", remedy=did_you_mean(name, sorted(known))
            )


def _load_runs(reader: RunReader, written: str, paths: Sequence[Path]) -> list[LoadedRun]:
    """Read the files of the runs of a place that are not excluded by hand."""
    if not paths:
        raise RawperfError("no run has the requested factor levels", file=written)
    runs = [run for path in paths if (run := reader.load(path)) is not None]
    if not runs:
        raise RawperfError(
            "all runs are excluded by their run.yaml", file=written, expected=NO_RUNS
        )
    return runs


def _at_levels(path: Path, where: Mapping[str, Level]) -> bool:
    if not where or not (path / RUN_FILE).is_file():
        return True
    from virtperf.runs.ingest.runs import load_run

    factors = load_run(RunFolder(path), None, "measured", raw_files_of(path)).factors
    return all(factors.get(name, level) == level for name, level in where.items())


def _drop_identical_runs(
    paths_by_side: Sequence[Sequence[Path]], names: Sequence[str]
) -> tuple[list[list[Path]], list[str]]:
    """Drop runs with the same files on all sides, which were not measured anew between revisions;
    returns the rest and a note.
    """
    digests = [{path: digest(*files_of(path)) for path in paths} for paths in paths_by_side]
    common = set.intersection(*(set(of_side.values()) for of_side in digests))
    remaining = [[path for path in of_side if of_side[path] not in common] for of_side in digests]
    if len(common) and not all(remaining):
        raise RawperfError(
            f"no run was measured again between {names[0]} and {names[-1]}",
            found=f"{len(common)} runs with identical files on both sides",
            remedy="`git log --oneline -- FOLDER` lists the revisions that changed them",
        )
    note = f"{len(common)} runs have identical files on both sides and are left out"
    return remaining, [note] if common else []


def _block_at(block: str, revision: str) -> str:
    """Prefix a run's block with the revision: rounds of the same name were run at another time."""
    return f"{revision}: {block}" if block and revision else block


def _at_revision(path: str, revision: str, scratch: str) -> str:
    """Translate a path below `scratch` back to ``v1.0:results/6.1``."""
    return f"{revision}:{Path(path).relative_to(scratch).as_posix().partition('/')[2]}"


def _run_paths(text: str, addresses: Addresses) -> tuple[list[Path], list[str]]:
    """List the folders and files that are runs, by name, with a note on skipped folders."""
    place = Path(text)
    notes: list[str] = []
    if place.is_dir():
        paths, notes = _runs_in_folder(place, addresses)
    else:
        paths = [path for path in addresses.find(text) if path == place or not _is_ignored(path)]
    if not paths:
        raise RawperfError("there are no runs", file=text, expected=NO_RUNS)
    return paths, notes


def _runs_in_folder(folder: Path, addresses: Addresses) -> tuple[list[Path], list[str]]:
    if (folder / RUN_FILE).is_file():
        return [folder], []
    entries = sorted(path for path in folder.iterdir() if not _is_ignored(path))
    packed = addresses.runs_in(folder)
    if with_file := [*(path for path in entries if (path / RUN_FILE).is_file()), *packed]:
        skipped = {*with_file, *(folder / name for name in RESERVED)}
        without = [path.name for path in entries if path.is_dir() and path not in skipped]
        notes = [_skipped_note(without)] if without else []
        return sorted(with_file, key=lambda path: path.name), notes
    return [path for path in entries if _is_suite_run(path)] or entries, []


def _skipped_note(names: Sequence[str]) -> str:
    return f"left out: {join_names(names)} (no {RUN_FILE})"


def _is_suite_run(path: Path) -> bool:
    """Whether a path is a run of a test suite that keeps other files beside its runs: an iteration
    of MMTests, or a folder with the statistics of lkp-tests.
    """
    return path.is_dir() and bool(
        ITERATION.fullmatch(path.name) or (path / STATISTICS_FILE).is_file()
    )


def _is_ignored(path: Path) -> bool:
    named = path.name.startswith(".") or path.name in STUDY_FILES
    return named or path.name.lower().endswith(IGNORED_SUFFIXES)


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


def equal_files_note(sides: Sequence[Side]) -> list[str]:
    """Return a note on runs of different places with byte-identical files.

    Raises `RunError` if two runs of a side, or of both, are one file, one of its rows, or one run.
    """
    seen: set[str] = set()
    places: set[str] = set()
    equal = []
    resolved = cache(lambda folder: str(Path(folder).resolve()))
    for run in (run for side in sides for run in side.runs if run.place):
        folder, _, name = run.place.rpartition("/")
        place = str(Path(run.place).resolve()) if run.digest else f"{resolved(folder)}/{name}"
        if place in places:
            raise RunError(
                "the same run is listed twice",
                file=run.place,
                remedy="compare distinct runs, each listed once",
            )
        places.add(place)
        if run.digest and run.digest in seen:
            equal.append(run.run_id)
        seen.add(run.digest)
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
