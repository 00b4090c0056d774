"""Reading of the sides of a comparison: from folders, files, patterns, git revisions, or as a study's
runs are stored.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rawperf.core.errors import ParameterError, RawperfError, require_known
from virtperf.comparison.places import Place, resolve_place, side_names
from virtperf.comparison.sides import Side, TableOptions
from virtperf.core.levels import Level
from virtperf.core.numbers import join_names
from virtperf.core.paths import Layout
from virtperf.runs.addresses import Addresses
from virtperf.runs.ingest.folder import NOT_RAW, RESERVED, RUN_FILE, RunFolder
from virtperf.runs.result_folders import is_criterion_folder, is_run_of_suite
from virtperf.runs.run_reader import (
    LoadedRun,
    RunReader,
    digest,
    files_of,
    raw_files_of,
    require_bounded,
)
from virtperf.runs.run_values import (
    choose_keys,
    choose_options,
    fill_failure_counts,
    settle_outcomes,
)

NO_RUNS = "a folder of run folders or of raw files, or a quoted pattern such as 'results/6.1-*'"
STUDY_FILES = frozenset({"study.yaml", "hypotheses.yaml", "measure.yaml", "claims.yaml"})
REPETITIONS = TableOptions()


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
    where: Mapping[str, Level] | Sequence[Mapping[str, Level]] | None = None,
    *,
    tables: TableOptions = REPETITIONS,
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
    where : mapping or sequence of mapping, optional
        Restrict to run folders at these factor levels, and to values with these levels of a key, which
        may be any column of a table; of several, each is for one side.
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
    levels = [where] * len(places) if isinstance(where, Mapping) else [*where]
    stored = [is_study(place, layout) for place in places]
    require_raw(format_name, stored)
    others = [
        (place, at)
        for place, at, of_study in zip(places, levels, stored, strict=True)
        if not of_study
    ]
    reader = RunReader(layout, format_name, singles=singles)
    read = iter(_read_runs(others, layout, reader, tables) if others else ())
    sides = []
    for place, at, of_study in zip(places, levels, stored, strict=True):
        if of_study:
            from virtperf.comparison.studies import measured_study

            sides.append(measured_study(layout, str(place), level, at).all_runs(at))
        else:
            sides.append(next(read))
    require_factors(sides, {name for at in levels for name in at})
    names = Counter(side.name for side in sides)
    own = [{n: x for n, x in at.items() if any(x != o.get(n) for o in levels)} for at in levels]
    return [
        replace(side, name=", ".join([str(place), *(f"{n}={x}" for n, x in at.items())]))
        if names[side.name] > 1
        else side
        for side, place, at in zip(sides, places, own, strict=True)
    ]


def require_factors(sides: Sequence[Side], where: Iterable[str]) -> None:
    """Raise `RawperfError` for a factor or key in `where` that no run has."""
    known = {name for side in sides for name in (*side.factor_levels, *side.key_levels)}
    for name in where:
        problem = f"no run has a factor {name!r}, and no table a column of keys of that name"
        require_known(name, known, problem, expected=", ".join(sorted(known)) or None)


def _read_runs(
    selected: Sequence[tuple[str | Path, Mapping[str, Level]]],
    layout: Layout,
    reader: RunReader,
    tables: TableOptions,
) -> list[Side]:
    """Read the runs of places other than studies, at these levels."""
    places, levels = zip(*selected, strict=True)
    with tempfile.TemporaryDirectory() as scratch:
        resolved = [resolve_place(place, layout, Path(scratch)) for place in places]
        names = side_names(resolved)
        addresses = Addresses(Path(scratch))

        def written(path: str, place: Place) -> str:
            path = addresses.address(path)
            if not place.revision:
                return path
            return (
                f"{place.revision}:{Path(path).relative_to(scratch).as_posix().partition('/')[2]}"
            )

        run_paths = [_run_paths(place.path, addresses) for place in resolved]
        paths_by_side = [
            [path for path in of_side if _at_levels(path, at)]
            for (of_side, _), at in zip(run_paths, levels, strict=True)
        ]
        notes = [
            [*no_runs, *_other_repository(place.path, layout)]
            for place, (_, no_runs) in zip(resolved, run_paths, strict=True)
        ]
        if len(resolved) > 1 and any(place.revision for place in resolved):
            paths_by_side, again = _drop_identical_runs(paths_by_side, names)
            notes[0] += again
        loaded: dict[tuple[Path, ...], list[LoadedRun]] = {}  # a place may be on several sides
        for place, paths in zip(resolved, paths_by_side, strict=True):
            try:
                if tuple(paths) not in loaded:
                    loaded[tuple(paths)] = _load_runs(reader, place.written, paths)
            except RawperfError as err:
                if err.file and err.file.startswith(scratch):
                    raise err.copy_as(type(err), file=written(err.file, place)) from err
                raise
        asked = {*tables.keys, *tables.over, *(name for at in levels for name in at)}
        settled = _settle_tables([*loaded.values()], reader, asked)
        loaded = dict(zip(loaded, settled, strict=True))
        every = [run for runs in loaded.values() for run in runs]
        _require_columns(every, (*tables.keys, *tables.over))
        keys = choose_keys(
            [[t for run in runs for t in run.tables.values()] for runs in loaded.values()],
            tables.keys,
            tables.over,
            {name for at in levels for name in at},
        )
        files = [[c for run in runs for c in run.cells.values()] for runs in loaded.values()]
        options = choose_options(files, tables.keys, tables.over)
        keys = replace(keys, options=options)
        of_all = (*keys.sentences(), *reader.notes)
        sides = []
        for place, name, paths, left_out, at in zip(
            resolved, names, paths_by_side, notes, levels, strict=True
        ):
            runs = []
            for run in loaded[tuple(paths)]:
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
                    # rounds of the same name at another revision were run at another time
                    block=": ".join(filter(None, (run.block and place.revision, run.block))),
                    place=written(run.place, place),
                )
                for run in runs
            ]
            side = Side(name, tuple(runs), reader.quantities.known, warnings, of_all)
            sides.append(side.at_keys(at))
        reader.require_format_used()
        reader.require_numeric([side.runs for side in sides])
    return sides


def _settle_tables(
    sides: Sequence[Sequence[LoadedRun]], reader: RunReader, kept: Collection[str]
) -> list[list[LoadedRun]]:
    """Read alike in the tables of all runs what one table alone leaves open: which rows failed, and
    whether texts such as ``512 B`` are results. Columns in `kept` are what the user says.
    """
    tables = [table for runs in sides for run in runs for table in run.tables.values()]
    tables, absent = fill_failure_counts(settle_outcomes(tables, reader.quantities, kept))
    if absent:
        reader.notes.append(f"{join_names(absent)}: taken as 0 where a file does not list it")
    settled = iter(reader.read_measured_texts(tables, kept))
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
        require_known(name, sorted(known), f"no table has a column {name!r}")


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


def _other_repository(place: str, layout: Layout) -> list[str]:
    """A note on runs of a repository other than `layout`, whose study defines their quantities."""
    path = Path(place).absolute()
    for root in path.parents:
        if path.is_relative_to(root / "data" / "measured") and Layout(root).studies():
            if root.resolve() != layout.root.resolve():
                found = os.path.relpath(root)
                return [f"quantities and blocks of its study are not used: give --root {found}"]
            break
    return []


def _runs_in_folder(folder: Path, addresses: Addresses) -> tuple[list[Path], list[str]]:
    if (folder / RUN_FILE).is_file():
        return [folder], []
    entries = sorted(path for path in folder.iterdir() if not _is_ignored(path))
    packed = addresses.runs_in(folder)
    if with_file := [*(path for path in entries if (path / RUN_FILE).is_file()), *packed]:
        skipped = {*with_file, *(folder / name for name in RESERVED)}
        without = [path.name for path in entries if path.is_dir() and path not in skipped]
        notes = [f"left out: {join_names(without)} (no {RUN_FILE})"] if without else []
        return sorted(with_file, key=lambda path: path.name), notes
    if is_criterion_folder(folder):
        return [folder], []
    return [path for path in entries if is_run_of_suite(path)] or entries, []


def _is_ignored(path: Path) -> bool:
    named = path.name.startswith(".") or path.name in STUDY_FILES
    return named or path.name.lower().endswith(NOT_RAW)
