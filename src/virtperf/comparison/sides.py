"""Readers for the runs of one side of a comparison: run folders with `run.yaml`, folders of raw
files, or single raw files, one per run.

A run folder is read like a study's runs: steady-state means within the declared window, and the
study's quantities where the repository has that study. Without `run.yaml` a run's values are the
means over all samples of its files.

For percentiles, the single values of all drivers and files of a run are merged: samples of single
requests, rows of a table, buckets of histograms. Percentiles printed by a tool are not merged: a
single one per run can be compared, several in a run have no valid mean.
"""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rawperf.core.errors import ParameterError, RawperfError, RunError, did_you_mean
from rawperf.core.metrics import MetricDictionary
from rawperf.declared.read import DeclaredFormat
from rawperf.hdrhistogram import BUCKET, COUNT, YEAR_S
from rawperf.hdrhistogram import FORMAT as HDRHISTOGRAM
from rawperf.pieces import peek_stream
from rawperf.registry import HEAD_BYTES, build_dictionary
from rawperf.tidy import open_input
from virtperf.comparison.places import resolve_place, side_names
from virtperf.comparison.ratio_rows import ComparedQuantity, Condition
from virtperf.core.contrasts import Replicates
from virtperf.core.levels import Level, parse_level
from virtperf.core.mean import MAX_NUMBER
from virtperf.core.order_statistics import is_percentile
from virtperf.core.paths import Layout
from virtperf.models.percentiles import Distribution, merge_distributions
from virtperf.runs.ingest import own
from virtperf.runs.ingest.cache import hash_file
from virtperf.runs.ingest.columns import (
    first_text,
    has_numbers,
    number_columns,
    row_place,
    to_numbers,
)
from virtperf.runs.ingest.folder import RUN_FILE, raw_files
from virtperf.runs.ingest.inputs import declared_inputs, study_inputs
from virtperf.runs.ingest.runs import load_run
from virtperf.runs.ingest.samples import read_run
from virtperf.runs.summarize.observations import observe
from virtperf.runs.summarize.series import RunSeries, load_series
from virtperf.runs.summarize.stage import series_rows
from virtperf.study.definition import Study, load_study

SINGLE_VALUES = frozenset({"response_time"})
"""Metrics with one sample per request."""
RECORDED_VALUE = "recorded value"
"""Name of histogram values, for which the log records no unit."""
SEVERAL_PERCENTILES = (
    "the run has several values of this percentile, and the mean of percentiles of several drivers "
    "or intervals is not a percentile"
)


def read_distributions(
    frame: pd.DataFrame, numbers: Mapping[str, pd.Series]
) -> dict[str, Distribution]:
    """Return the distributions of a file by name: single values and buckets merged over drivers and
    intervals; for a table, every column of `numbers`.
    """
    if "metric_value" not in frame.columns:
        return {name: Distribution.of(column.dropna()) for name, column in numbers.items()}
    distributions = {}
    for metric in sorted(SINGLE_VALUES & {*frame["metric"].unique()}):
        values = frame["metric_value"][frame["metric"] == metric]
        distributions[metric] = Distribution.of(values[np.isfinite(values)])
    if (recorded := merge_buckets(frame)) is not None:
        distributions[RECORDED_VALUE] = recorded
    return distributions


def merge_buckets(frame: pd.DataFrame) -> Distribution | None:
    """Merge the histogram buckets of a file over drivers and intervals; None without a histogram."""
    rows = frame[(frame["entity_kind"] == BUCKET) & (frame["field"] == COUNT)]
    if rows.empty:
        return None
    return Distribution.of(rows["entity"].astype(float), rows["value"])


def merge_over_files(of_files: Iterable[Mapping[str, Distribution]]) -> dict[str, Distribution]:
    """Merge the distributions of all files of a run by name."""
    gathered: dict[str, list[Distribution]] = {}
    for of_file in of_files:
        for name, value in of_file.items():
            gathered.setdefault(name, []).append(value)
    return {name: merge_distributions(parts) for name, parts in gathered.items()}


NO_RUNS = "a folder of run folders or of raw files, or a quoted pattern such as 'results/6.1-*'"
STUDY_FILES = frozenset({"study.yaml", "hypotheses.yaml", "measure.yaml", "claims.yaml"})
ITERATION = re.compile(r"iter-\d+")
STATISTICS_FILE = "stats.json"
MAX_JSON_BYTES = 64 * 1024**2
MAX_NAMED_FILES = 3
IGNORED_SUFFIXES = (".md", ".rst", ".dvc")

ComparedCell = tuple[str, Condition]
"""A quantity at a condition."""


@dataclass(frozen=True)
class RunValues:
    """One run: its value of every observed quantity, and its metadata.

    `distributions` are those of its single values, if percentiles are requested; `refused` maps
    rejected numbers of its files to reasons. `columns` are those of a table with several rows.
    """

    run_id: str
    values: Mapping[str, float]
    block: str = ""
    day: str = ""
    factors: Mapping[str, Level] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    disturbed: bool = False
    digest: str = ""
    place: str = ""
    distributions: Mapping[str, Distribution] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Side:
    """All runs of one side, with the metadata of its quantities."""

    name: str
    runs: tuple[RunValues, ...]
    quantities: Mapping[str, ComparedQuantity]
    warnings: tuple[str, ...] = ()

    @property
    def facts(self) -> dict[str, frozenset[str]]:
        """Distinct values of each fact about machine and tools over the runs."""
        values_by_fact: dict[str, set[str]] = {}
        for run in self.runs:
            for name, value in run.facts.items():
                values_by_fact.setdefault(name, set()).add(value)
        return {name: frozenset(values) for name, values in values_by_fact.items()}

    @property
    def disturbed(self) -> int:
        return sum(run.disturbed for run in self.runs)

    @cached_property
    def varied(self) -> frozenset[str]:
        """Factors with more than one level among the runs."""
        levels: dict[str, set[Level]] = {}
        for run in self.runs:
            for name, level in run.factors.items():
                levels.setdefault(name, set()).add(level)
        return frozenset(name for name, values in levels.items() if len(values) > 1)

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

    def cells(self, varied: frozenset[str]) -> dict[ComparedCell, Replicates]:
        """Group runs by quantity and condition, the levels of the factors in `varied`."""
        gathered: dict[ComparedCell, list[tuple[float, RunValues]]] = {}
        # in one order: run.yaml may list factors in any
        names = dict.fromkeys(name for run in self.runs for name in run.factors if name in varied)
        for run in self.runs:
            at = tuple((name, run.factors[name]) for name in names if name in run.factors)
            for quantity, value in run.values.items():
                gathered.setdefault((quantity, at), []).append((value, run))
        return {cell: _replicates(runs) for cell, runs in gathered.items()}


def _replicates(values_of_runs: Sequence[tuple[float, RunValues]]) -> Replicates:
    runs = [run for _, run in values_of_runs]
    days = tuple(run.day for run in runs)
    return Replicates(
        np.array([value for value, _ in values_of_runs]),
        tuple(run.block for run in runs),
        days if all(days) else (),
        tuple(run.place for run in runs),  # runs of both sides may have the same names
    )


def read_sides(
    places: Sequence[str | Path],
    layout: Layout,
    format_name: str | None = None,
    where: Mapping[str, Level] | None = None,
    *,
    distributions: bool = False,
) -> list[Side]:
    """Read all runs of each side.

    Parameters
    ----------
    places : sequence of str or Path
        For each side a folder, one run folder, one raw file, a glob pattern, or ``REVISION:``
        followed by one of these or by a study of the repository.
    layout : Layout
        The repository, for run folders of its studies.
    format_name : str, optional
        Format of raw files without `run.yaml`, or a YAML file that declares one.
    where : mapping, optional
        Restrict to run folders at these factor levels.
    distributions : bool
        Whether to keep the distributions of single values.

    Raises
    ------
    RawperfError
        A place has no runs, or a run can't be read; with file and line. Two runs have the same
        files.
    """
    reader = RunReader(layout, format_name, distributions)
    with tempfile.TemporaryDirectory() as scratch:
        resolved = [resolve_place(place, layout, Path(scratch)) for place in places]
        names = side_names(resolved)
        run_paths = [_run_paths(place.path) for place in resolved]
        paths_by_side = [
            [path for path in of_side if _at_levels(path, where or {})] for of_side, _ in run_paths
        ]
        notes = [no_runs for _, no_runs in run_paths]
        if len(resolved) > 1 and any(place.revision for place in resolved):
            paths_by_side, again = _drop_identical_runs(paths_by_side, names)
            notes[0] += again
        sides = []
        for place, name, paths, left_out in zip(resolved, names, paths_by_side, notes, strict=True):
            try:
                runs = list(_included_runs(reader, place.written, paths))
            except RawperfError as err:
                if place.revision and err.file and err.file.startswith(scratch):
                    file = _at_revision(err.file, place.revision, scratch)
                    raise err.copy_as(type(err), file=file) from err
                raise
            warnings = (*left_out, *reader.warnings_of(runs))
            if place.revision:
                runs = [_prefix_revision(run, place.revision, scratch) for run in runs]
            sides.append(Side(name, tuple(runs), reader.quantities, warnings))
        reader.require_format_used()
        reader.require_numeric([side.runs for side in sides])
    _refuse_duplicates([run for side in sides for run in side.runs])
    return _drop_settings(sides)


def _drop_settings(sides: Sequence[Side]) -> list[Side]:
    """Drop table columns of settings (loads, or times): those with equal values row by row in all
    runs.
    """
    runs = [run for side in sides for run in side.runs]
    first = runs[0].columns
    if len(runs) < 2 or not all(run.columns for run in runs):
        return list(sides)
    settings = {
        name
        for name, column in first.items()
        if len(set(column)) > 1 and all(run.columns.get(name) == column for run in runs)
    }
    rest = {name: kind for name, kind in sides[0].quantities.items() if name not in settings}
    if not settings or not rest:
        return list(sides)
    note = (
        f"not compared: {', '.join(sorted(settings))}, equal row by row in all runs. The other "
        "values are means over these rows; to compare at one level, keep only its rows in the tables"
    )
    return [
        replace(
            side,
            runs=tuple(
                replace(run, values={n: v for n, v in run.values.items() if n not in settings})
                for run in side.runs
            ),
            quantities=rest,
            warnings=(*side.warnings, note) if place == 0 else side.warnings,
        )
        for place, side in enumerate(sides)
    ]


def _included_runs(reader: RunReader, written: str, paths: Sequence[Path]) -> Iterator[RunValues]:
    """Yield the runs of a place that are not excluded by hand."""
    if not paths:
        raise RawperfError("no run has the requested factor levels", file=written)
    runs = [run for path in paths if (run := reader.run(path)) is not None]
    if not runs:
        raise RawperfError(
            "all runs are excluded by their run.yaml", file=written, expected=NO_RUNS
        )
    for run in runs:
        for name, value in run.values.items():
            if abs(value) > MAX_NUMBER:
                raise RunError(
                    f"{name} is too large",
                    file=run.place,
                    expected=f"numbers of at most {MAX_NUMBER:g}",
                    found=repr(value),
                    remedy="check the output of its tool",
                )
    yield from runs


def _at_levels(path: Path, where: Mapping[str, Level]) -> bool:
    if not where or not (path / RUN_FILE).is_file():
        return True
    factors = load_run(path, None, "measured", _raw_files(path)).factors
    return all(factors.get(name, level) == level for name, level in where.items())


def _drop_identical_runs(
    paths_by_side: Sequence[Sequence[Path]], names: Sequence[str]
) -> tuple[list[list[Path]], list[str]]:
    """Drop runs with the same files on both sides, which were not measured anew between revisions;
    returns the rest and a note.
    """
    digests = [{path: _digest(*_files_of(path)) for path in paths} for paths in paths_by_side]
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


def _prefix_revision(run: RunValues, revision: str, scratch: str) -> RunValues:
    """Prefix a run's block with the revision: rounds of the same name were run at another time."""
    block = f"{revision}: {run.block}" if run.block else ""
    return replace(run, block=block, place=_at_revision(run.place, revision, scratch))


def _at_revision(path: str, revision: str, scratch: str) -> str:
    """Translate a path below `scratch` back to ``v1.0:results/6.1``."""
    return f"{revision}:{Path(path).relative_to(scratch).as_posix().partition('/')[2]}"


def _run_paths(text: str) -> tuple[list[Path], list[str]]:
    """List the folders and files that are runs, by name, with a note on skipped folders."""
    place = Path(text)
    notes: list[str] = []
    if place.exists():
        paths, notes = _runs_in_folder(place) if place.is_dir() else ([place], [])
    else:
        base = Path(place.anchor) if place.is_absolute() else Path()
        pattern = str(place.relative_to(place.anchor)) if place.is_absolute() else text
        matched = sorted(base.glob(pattern)) if any(c in text for c in "*?[") else []
        paths = [path for path in matched if not _is_ignored(path)]
    if not paths:
        raise RawperfError("there are no runs", file=text, expected=NO_RUNS)
    return paths, notes


def _runs_in_folder(folder: Path) -> tuple[list[Path], list[str]]:
    if (folder / RUN_FILE).is_file():
        return [folder], []
    entries = sorted(path for path in folder.iterdir() if not _is_ignored(path))
    if with_file := [path for path in entries if (path / RUN_FILE).is_file()]:
        without = [path.name for path in entries if path.is_dir() and path not in with_file]
        return with_file, [_skipped_note(without)] if without else []
    return [path for path in entries if _is_suite_run(path)] or entries, []


def _skipped_note(names: Sequence[str]) -> str:
    return f"left out: {_join_runs(names)} (no {RUN_FILE})"


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


@dataclass(frozen=True)
class _TextColumn:
    """A column of a table that is not numeric: its first text, and whether it has numbers too."""

    first_text: pd.Series
    file: str
    has_numbers: bool


def _has_number(run: RunValues, name: str) -> bool:
    return name in run.values or name in run.refused


def _empty_cells(numbers: Mapping[str, pd.Series], file: str) -> Iterator[str]:
    """Name the cells without a number: ``lat line 3``; of several the first, and their count."""
    for name, column in numbers.items():
        empty = column.index[column.isna()]
        if len(empty):
            line, row = row_place(empty[0], file)
            place = row.removeprefix(" in ") if line is None else f"line {line}"
            more = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
            yield f"{name} {place}{more}"


class RunReader:
    """Reader of runs that collects the metadata of their quantities."""

    def __init__(self, layout: Layout, format_name: str | None, distributions: bool) -> None:
        self._layout, self._format = layout, format_name
        self._distributions = distributions
        self.format_used = False
        self._studies: dict[str, tuple[Study | None, MetricDictionary]] = {}
        self.quantities: dict[str, ComparedQuantity] = {}
        self._warnings: dict[str, list[str]] = {}
        self._columns: dict[str, tuple[float, ...]] = {}  # of the last table read
        self._text_columns: dict[str, list[_TextColumn]] = {}  # text columns of tables
        self._empty: list[str] = []  # cells without a number, of the last run read
        self._empty_cells: dict[str, str] = {}  # by run

    @cached_property
    def _dictionary(self) -> MetricDictionary:
        return build_dictionary(self._layout.metrics)

    @cached_property
    def _declared(self) -> DeclaredFormat | None:
        inputs, _ = declared_inputs(None, None, self._format)
        return inputs[0] if inputs and inputs[0].declaration.match else None

    def _format_of(self, path: Path) -> str | None:
        """Return the requested format if it applies to a file; a declaration selects files by
        `match`.
        """
        if self._declared is None:
            return self._format
        with open_input(path) as stream:
            head, _ = peek_stream(stream)
        fits = self._declared.matches_file(path.name, head)
        self.format_used |= fits
        return self._format if fits else None

    def require_format_used(self) -> None:
        """Raise `RawperfError` if the requested declaration matched no file."""
        if self._declared is not None and not self.format_used:
            raise RawperfError(
                f"no file matches the declared format {self._declared.name!r}",
                file=str(self._format),
                expected="a file selected by `match` of the declaration",
                remedy="remove `match` to read every file in this format",
            )

    def require_numeric(self, sides: Sequence[Sequence[RunValues]]) -> None:
        """Raise `RawperfError` for a text column that is numeric in other runs, which the comparison
        would silently skip: in most runs, or in all runs of a side if the text column has numbers
        too.
        """
        numeric = [
            {name for name in self._text_columns if all(_has_number(run, name) for run in runs)}
            for runs in sides
        ]
        runs = [run for of_side in sides for run in of_side]
        for name, columns in self._text_columns.items():
            most = sum(_has_number(run, name) for run in runs) > len(columns)
            partly = next((column for column in columns if column.has_numbers), None)
            if most or (partly and any(name in of_side for of_side in numeric)):
                column = columns[0] if most or partly is None else partly
                to_numbers(column.first_text, name, column.file)

    def warnings_of(self, runs: Sequence[RunValues]) -> tuple[str, ...]:
        about: dict[str, list[str]] = {}
        for run in runs:
            for sentence in self._warnings.get(run.place, ()):
                about.setdefault(sentence, []).append(run.run_id)
        warnings = [f"{_join_runs(names)}: {sentence}" for sentence, names in about.items()]
        empty = [self._empty_cells[run.place] for run in runs if run.place in self._empty_cells]
        if empty:
            more = len(empty) - MAX_NAMED_FILES
            others = f"; and {more} more run{'s' if more > 1 else ''}" if more > 0 else ""
            shown = "; ".join(empty[:MAX_NAMED_FILES])
            warnings.append(f"cells without a number are left out: {shown}{others}")
        return tuple(warnings)

    def run(self, path: Path) -> RunValues | None:
        """Read a run; None if its run.yaml excludes it."""
        if path.is_dir() and (path / RUN_FILE).is_file():
            return self._run_folder(path)
        folder, names = _files_of(path)
        if path.is_dir() and STATISTICS_FILE in names:
            names = [STATISTICS_FILE]
        of_files: dict[str, dict[str, float]] = {}
        self._empty = []
        single: list[dict[str, Distribution]] = []
        refused: dict[str, str] = {}
        unread: dict[str, RawperfError] = {}
        for name in names:
            try:
                of_files[name] = self._raw_file(folder / name, single, refused)
            except RawperfError as err:
                if path.is_file():
                    raise
                unread[name] = err
        values = self._merge_files(of_files)
        columns = self._columns if len(names) == 1 else {}
        if warnings := [*_unread_notes(unread), *_refused_notes(refused)]:
            self._warnings[str(path)] = warnings
        if self._empty:
            self._empty_cells[str(path)] = f"{path.name} ({', '.join(self._empty)})"
        if not values and not refused:
            if len(unread) == len(names) == 1:
                raise unread[names[0]]
            raise RunError(
                "no file of the run could be read",
                file=str(path),
                found=next(
                    (str(err.copy_as(type(err), file=n)) for n, err in unread.items()), None
                ),
                remedy=None if self._format else "set --input-format",
            )
        return RunValues(
            path.name,
            values,
            digest=_digest(folder, names),
            place=str(path),
            distributions=merge_over_files(single),
            refused=refused,
            columns=columns,
        )

    def _merge_files(self, of_files: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
        """Merge the values of a run's files; duplicate names are qualified by the file's name."""
        times = Counter(name for values in of_files.values() for name in values)
        merged = {}
        for file, values in of_files.items():
            for name, value in values.items():
                full = f"{name} in {file}" if times[name] > 1 else name
                self.quantities.setdefault(full, self.quantities[name])
                merged[full] = value
        return merged

    def _raw_file(
        self, path: Path, single: list[dict[str, Distribution]], refused: dict[str, str]
    ) -> dict[str, float]:
        """Read the values of a file; adds its distributions to `single`, and percentiles with
        several values to `refused`.
        """
        self._columns = {}
        if (statistics := _flat_numbers(path)) and self._format_of(path) is None:
            for name in statistics:
                self.quantities.setdefault(name, ComparedQuantity())
            return statistics
        frame = own.read(path, format=self._format_of(path))
        is_table = "metric_value" not in frame.columns
        numbers = number_columns(frame, str(path)) if is_table else {}
        if self._distributions:
            single.append(read_distributions(frame, numbers))
        if is_table:
            for of, column in frame.drop(columns=["provenance", "file"]).items():
                if str(of) not in numbers and len(text := first_text(column)):
                    self._text_columns.setdefault(str(of), []).append(
                        _TextColumn(text, str(path), has_numbers(column))
                    )
                    if not numbers:  # raise for the first non-numeric cell
                        to_numbers(text, str(of), str(path))
            self._empty += _empty_cells(numbers, str(path))
            if len(frame) > 1:
                self._columns = {name: tuple(column.tolist()) for name, column in numbers.items()}
                refused |= {name: SEVERAL_PERCENTILES for name in numbers if is_percentile(name)}
            for name in numbers:
                self.quantities.setdefault(name, ComparedQuantity())
            return {n: float(x.mean()) for n, x in numbers.items() if n not in refused}
        values = {}
        if (recorded := merge_buckets(frame)) is not None:
            self.quantities.setdefault(
                RECORDED_VALUE, ComparedQuantity("", "lower", RECORDED_VALUE)
            )
            return {RECORDED_VALUE: recorded.mean}
        named = frame["metric"] != ""
        for known, label, number in ((True, "metric", "metric_value"), (False, "field", "value")):
            part = frame[named == known]
            for (metric, entity), entity_values in part.groupby([label, "entity"], sort=False)[
                number
            ]:
                finite = entity_values[np.isfinite(entity_values)]
                if not len(finite):
                    continue
                unit = part.loc[entity_values.index[0], "metric_unit"] if known else ""
                name = self._register_quantity(str(metric), str(entity), unit)
                if len(finite) > 1 and is_percentile(str(metric)):
                    refused[name] = SEVERAL_PERCENTILES
                else:
                    values[name] = float(finite.mean())
        return values

    def _register_quantity(self, metric: str, entity: str, unit: str) -> str:
        """Name a metric of an entity, and register its metadata."""
        name = f"{metric} of {entity}" if entity else metric
        better = self._dictionary[metric].better if metric in self._dictionary else ""
        self.quantities.setdefault(name, ComparedQuantity(unit, better, metric))
        return name

    def _run_folder(self, path: Path) -> RunValues | None:
        names = _raw_files(path)
        study, dictionary = self._study_of(path)
        run = load_run(path, study, "measured", names)
        if run.excluded:
            return None
        metrics = {
            name: {"unit": metric.unit, "formats": list(metric.formats)}
            for name, metric in dictionary.metrics.items()
        }
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "samples.parquet"
            inputs, not_read = (study_inputs(study), study.not_read) if study else ((), {})
            read_run(path, run, dictionary, out, inputs, not_read)
            series = load_series(out, run.model_dump(mode="json"), metrics, 0.95)
        single = self._single_values(path, names, series) if self._distributions else {}
        values: dict[str, float] = {}
        if study is None:
            for row in series_rows(series):
                if np.isfinite(row["value"]):
                    name = self._register_quantity(row["metric"], row["entity"], row["unit"])
                    values[name] = row["value"]
        else:
            for row in observe(study, series)[0]:
                if np.isfinite(row["value"]):
                    values[row["quantity"]] = row["value"]
                    self.quantities.setdefault(
                        row["quantity"], quantity_metadata(study, row["quantity"], dictionary)
                    )
        host = {"host": run.protocol.host} if run.protocol and run.protocol.host else {}
        facts = {k: str(value) for k, value in {**host, **run.machine, **run.tools}.items()}
        block = run.block or (study.block(run.factors, run.replicate) if study else "")
        return RunValues(
            run.run_id,
            values,
            str(block),
            str(run.start or "")[:10],
            run.factors,
            facts,
            bool(run.disturbed),
            _digest(path, names),
            str(path),
            single,
        )

    def _single_values(
        self, path: Path, names: Sequence[str], run: RunSeries
    ) -> dict[str, Distribution]:
        """Distributions of a run folder's single values within its window, over all drivers."""
        begin, end = run.window
        distributions = []
        for (_, _, _, metric), series in run.series.items():
            inside = (series.t > begin) & (series.t <= end)
            if metric in SINGLE_VALUES and inside.any():
                self._register_quantity(metric, "", run.metrics[metric]["unit"])
                distributions.append({metric: Distribution.of(series.value[inside])})
        start = _seconds(run.info["start"])
        for name in names:
            with (path / name).open("rb") as stream:
                if not HDRHISTOGRAM.sniff(stream.read(HEAD_BYTES)):
                    continue
            frame = own.read(path / name)
            t = frame["t"] - (start if frame["t"].min() > YEAR_S else 0.0)
            recorded = merge_buckets(frame[(t > begin) & (t <= end)])
            if recorded is not None:
                self.quantities.setdefault(
                    RECORDED_VALUE, ComparedQuantity("", "lower", RECORDED_VALUE)
                )
                distributions.append({RECORDED_VALUE: recorded})
        return merge_over_files(distributions)

    def _study_of(self, path: Path) -> tuple[Study | None, MetricDictionary]:
        """Return the study named by a run, or None if not in the repository, and its dictionary."""
        name = load_run(path, None, "measured", _raw_files(path)).study
        if name not in self._studies:
            study, dictionary = None, self._dictionary
            if name in self._layout.studies():
                study = load_study(self._layout.known(name))
                dictionary = build_dictionary(self._layout.metrics, study_inputs(study))
            self._studies[name] = (study, dictionary)
        return self._studies[name]


def _seconds(start: str | None) -> float:
    """Unix timestamp of a run's start; times without a zone are taken as UTC, like raw files."""
    if not start:
        return 0.0
    at = datetime.fromisoformat(start)
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def _join_runs(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMED_FILES
    return ", ".join(names[:MAX_NAMED_FILES]) + (f" and {more} more" if more > 0 else "")


def _unread_notes(files: Mapping[str, RawperfError]) -> Iterator[str]:
    if len(files) <= MAX_NAMED_FILES:
        for name, err in files.items():
            yield f"not read: {err.copy_as(type(err), file=name)}"
        return
    first = ", ".join(list(files)[:MAX_NAMED_FILES])
    more = len(files) - MAX_NAMED_FILES
    yield f"{first} and {more} more files could not be read"


def _refused_notes(refused: Mapping[str, str]) -> Iterator[str]:
    for name, reason in refused.items():
        yield f"{name} is left out: {reason}"


def _flat_numbers(path: Path) -> dict[str, float] | None:
    """Parse a JSON file with a single flat object of numbers, such as lkp-tests' stats.json; None
    for any other file.
    """
    if path.suffix != ".json" or path.stat().st_size > MAX_JSON_BYTES:
        return None
    try:
        content = json.loads(path.read_bytes(), parse_int=float)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or not content:
        return None
    numbers = {
        name: value
        for name, value in content.items()
        if isinstance(value, float) and math.isfinite(value)
    }
    return numbers if len(numbers) == len(content) else None


def quantity_metadata(study: Study, name: str, dictionary: MetricDictionary) -> ComparedQuantity:
    """Metadata of a study's quantity; its direction is that of the observed metric."""
    kind = study.quantities[name]
    rule: Mapping[str, Any] = kind.observed
    metric = rule["from"][0]["metric"] if rule and "per" not in rule else ""
    better = dictionary[metric].better if metric in dictionary else ""
    return ComparedQuantity(kind.unit, better, name)


def _files_of(path: Path) -> tuple[Path, list[str]]:
    """Return the folder of a run's raw files and their names."""
    return (path, _raw_files(path)) if path.is_dir() else (path.parent, [path.name])


def _raw_files(folder: Path) -> list[str]:
    """List the raw files of a run as `raw_files`; errors name the folder's path, and `run.yaml` only
    if there is one.
    """
    try:
        return raw_files(folder)
    except RunError as err:
        if err.file != folder.name:
            raise
        remedy = err.remedy
        if remedy and not (folder / RUN_FILE).is_file():
            remedy = "copy the tools' output files to this folder, or remove it"
        raise err.copy_as(RunError, file=str(folder), remedy=remedy) from err


def _digest(folder: Path, names: Sequence[str]) -> str:
    return "".join(sorted(hash_file(folder / name)[0] for name in names))


def _refuse_duplicates(runs: Sequence[RunValues]) -> None:
    """Raise `RunError` if two runs have byte-identical files."""
    seen: dict[str, RunValues] = {}
    for run in runs:
        if run.digest and run.digest in seen:
            raise RunError(
                f"its raw files are byte-identical to those of {seen[run.digest].place}",
                file=run.place,
                remedy="compare distinct runs, each listed once",
            )
        seen[run.digest] = run


def quantities_to_compare(
    quantities: Mapping[str, ComparedQuantity],
    names: Sequence[str],
    higher: Sequence[str],
    lower: Sequence[str],
) -> dict[str, ComparedQuantity]:
    """Select the quantities to compare: those requested by `names` or a direction (patterns), else
    those with a direction, else all.

    Raises `RawperfError` for a pattern without a match, `ParameterError` for a quantity with both
    directions.
    """
    both = set(_matching(quantities, higher)) & set(_matching(quantities, lower))
    for name in sorted(both):
        raise ParameterError(
            f"{name} can't be both higher-is-better and lower-is-better",
            expected="one direction",
            found="--higher-is-better and --lower-is-better",
        )
    selected: dict[str, ComparedQuantity] = {}
    directed_quantities = dict(quantities)
    for better, patterns in (("higher", higher), ("lower", lower)):
        for name in _matching(quantities, patterns):
            kind = quantities[name]
            directed_quantities[name] = ComparedQuantity(kind.unit, better, kind.group)
            selected[name] = directed_quantities[name]
    if names:
        return selected | {name: directed_quantities[name] for name in _matching(quantities, names)}
    directed = {name: kind for name, kind in directed_quantities.items() if kind.better}
    return directed or directed_quantities


def _matching(quantities: Mapping[str, ComparedQuantity], patterns: Sequence[str]) -> list[str]:
    matching = []
    for pattern in patterns:
        names = [
            name
            for name, kind in quantities.items()
            if fnmatchcase(name, pattern) or kind.group == pattern
        ]
        if not names:
            raise RawperfError(
                f"no quantity of the runs matches {pattern!r}",
                expected=", ".join(quantities),
                remedy=did_you_mean(pattern, quantities),
            )
        matching += names
    return matching
