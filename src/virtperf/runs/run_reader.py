"""Reader of runs: run folders with `run.yaml`, folders of raw files, and files.

A run folder is read like a study's runs: steady-state means within the declared window, and the
study's quantities where the repository has that study. Without `run.yaml` a run's values are the
means over all samples of its files. So are those of a run folder of a study that the repository
lacks, if no file of it has samples over time.

Files are read first, all of them; then the keys of tables are chosen, and `values` makes the runs.
For percentiles, the single values of all drivers and files of a run are merged: samples of single
requests, rows of a table, buckets of histograms. Percentiles printed by a tool are not merged.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rawperf.base import SETTING
from rawperf.core.errors import RawperfError, RunError
from rawperf.core.files import hash_file
from rawperf.core.number_text import MAX_NUMBER
from rawperf.results.names import split_unit
from rawperf.results.result_table import ResultTable
from rawperf.text import HEAD_BYTES, peek_stream
from rawperf.tidy import RawTables, open_input
from virtperf.core.grouping import grouped
from virtperf.core.numbers import join_names
from virtperf.core.paths import Layout
from virtperf.runs.ingest.columns import (
    BEGINS_NUMBER,
    first_text,
    has_numbers,
    has_unit,
    is_empty,
    number_columns,
    row_place,
    to_numbers,
)
from virtperf.runs.ingest.folder import RUN_FILE, RunFolder, raw_files
from virtperf.runs.outcomes import may_say_outcome
from virtperf.runs.result_folders import result_files
from virtperf.runs.run_values import (
    HTTP_ERRORS,
    CellName,
    Cells,
    ComparedQuantity,
    Condition,
    PlainTable,
    Quantities,
    RunValues,
    TableKeys,
    at_options,
    average_over,
    choose_keys,
    plain_table,
    read_measured_texts,
    result_cells,
    run_values,
    settle_outcomes,
    split_rows,
    table_cells,
)

if TYPE_CHECKING:
    from rawperf.core.metrics import MetricDictionary
    from rawperf.declared.read import DeclaredFormat
    from virtperf.runs.summarize.series import RunSeries
    from virtperf.study.definition import Study

RECORDED_VALUE = "recorded value"
"""Name of histogram values, for which the log records no unit."""
FORMAT_IGNORED = "--input-format is ignored for a folder with run.yaml, whose entries of files name their formats"
ERRORS_INCLUDED = "throughput and response time may include the answers with an error status"
MAX_NAMED_FILES = 3
HEADER_FACTS = ("kernel", "host", "machine", "cpus")
"""Facts of a raw file's header that say where it was collected (`rawperf.base.ParsedFile`)."""


@dataclass(frozen=True)
class LoadedRun:
    """The files of a run: tables whose keys are yet to be chosen, cells of all other files; or the
    values of a run folder. A run folder without a series has both: `folder` describes its files.
    """

    path: Path
    tables: Mapping[str, PlainTable] = field(default_factory=dict)
    cells: Mapping[str, Cells] = field(default_factory=dict)
    digest: str = ""
    folder: RunValues | None = None


@dataclass(frozen=True)
class _TextColumn:
    """A column of a table that is not numeric: its first text, and whether it has numbers too."""

    name: str
    first_text: pd.Series
    file: str
    has_numbers: bool

    @property
    def likelihood(self) -> tuple[bool, bool, bool]:
        """Order of columns by how likely they are results with a damaged cell."""
        begins = bool(BEGINS_NUMBER.match(str(self.first_text.iloc[0])))
        return self.has_numbers, begins, bool(split_unit(self.name)[1])


class RunReader:
    """Reader of runs that collects the metadata of their quantities.

    Parameters
    ----------
    layout : Layout
        The repository, for run folders of its studies.
    format_name : str, optional
        Format of raw files without `run.yaml`, or a YAML file that declares one.
    singles : bool
        Whether to keep single values for percentiles.
    """

    def __init__(
        self, layout: Layout, format_name: str | None = None, *, singles: bool = False
    ) -> None:
        self._layout, self._format, self._singles = layout, format_name, singles
        self._format_used = False
        self._studies: dict[str, tuple[Study | None, MetricDictionary]] = {}
        self.quantities = Quantities()
        self.notes: list[str] = []
        self._warnings: dict[str, list[str]] = {}  # by run
        self._texts: list[_TextColumn] = []
        self._empty_cells: dict[str, str] = {}  # by run

    @cached_property
    def _dictionary(self) -> MetricDictionary:
        from rawperf.registry import build_dictionary

        return build_dictionary(self._layout.metrics)

    @cached_property
    def _formats(self) -> tuple[tuple[DeclaredFormat, ...], str | None]:
        """The requested declaration, and the name of the format of all files; None if the declaration
        selects files by `match`.
        """
        if self._format is None:
            return (), None
        from virtperf.runs.ingest.inputs import declared_inputs

        inputs, name = declared_inputs(None, None, self._format)
        return inputs, None if inputs and inputs[0].declaration.match else name

    def _mark_format_used(self, path: Path) -> None:
        """Remember whether the requested declaration selects a file by `match`."""
        inputs, name = self._formats
        if inputs and name is None:
            with open_input(path) as stream:
                head, _ = peek_stream(stream)
            self._format_used |= inputs[0].matches_file(path.name, head)

    def require_format_used(self) -> None:
        """Raise `RawperfError` if the requested declaration matched no file."""
        inputs, name = self._formats
        if inputs and name is None and not self._format_used:
            raise RawperfError(
                f"no file matches the declared format {inputs[0].name!r}",
                file=str(self._format),
                expected="a file selected by `match` of the declaration",
                remedy="remove `match` to read every file in this format",
            )

    def run(self, path: Path) -> RunValues | None:
        """Read a single run; None if its run.yaml excludes it, or it has no values."""
        loaded = self.load(path)
        if loaded is None:
            return None
        tables = settle_outcomes([*loaded.tables.values()], self.quantities)
        loaded = replace(loaded, tables=dict(zip(loaded.tables, tables, strict=True)))
        keys = choose_keys([tables])
        return next(self.values(loaded, keys), None)

    def load(self, path: Path) -> LoadedRun | None:
        """Read the files of a run; None if its run.yaml excludes it."""
        about: RunValues | None = None
        if path.is_dir() and (path / RUN_FILE).is_file():
            try:
                about = self._run_folder(path)
            except RawperfError as err:
                if self._format is None:
                    raise
                remedy = "; ".join(filter(None, (FORMAT_IGNORED, err.remedy)))
                raise err.copy_as(type(err), remedy=remedy) from err
            if self._format is not None:
                self._warn(path, FORMAT_IGNORED)
            if about is None:
                return None
            known = self._study_of(path)[0] is not None
            if about.values or known or self._format is not None:
                return LoadedRun(path, folder=about, digest=about.digest)
        folder, names = files_of(path)
        if path.is_dir():
            names = result_files(names)
        tables: dict[str, PlainTable] = {}
        cells: dict[str, Cells] = {}
        unread: dict[str, RawperfError] = {}
        empty: list[str] = []
        for name in names:
            try:
                content = self._file(folder / name, empty, str(path))
            except RawperfError as err:
                if path.is_file():
                    raise
                unread[name] = err
                continue
            if isinstance(content, PlainTable):
                tables[name] = content
            else:
                cells[name] = content
        self._warn(path, *_unread_notes(unread))
        if empty:
            self._empty_cells[str(path)] = f"{path.name} ({', '.join(empty)})"
        if not tables and not cells:
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
        return LoadedRun(path, tables, cells, digest(folder, names), about)

    def _warn(self, path: Path | str, *sentences: str) -> None:
        if sentences:
            self._warnings.setdefault(str(path), []).extend(sentences)

    def values(
        self,
        loaded: LoadedRun,
        keys: TableKeys,
        over: Sequence[str] = (),
        *,
        rows_are_runs: bool = False,
    ) -> Iterator[RunValues]:
        """Yield the values of a run, or of each row of its tables as a run (`rows_are_runs`)."""
        if loaded.folder is not None and not (loaded.tables or loaded.cells):
            yield replace(loaded.folder, values=_average_values(loaded.folder.values, over))
            return
        cells = {
            name: table_cells(table, keys, singles=self._singles)
            for name, table in loaded.tables.items()
        }
        cells |= {name: at_options(of_file, keys.options) for name, of_file in loaded.cells.items()}
        cells = {name: average_over(of_file, over) for name, of_file in cells.items()}
        facts = {fact: text for of_file in cells.values() for fact, text in of_file.facts.items()}
        name, place = loaded.path.name, str(loaded.path)
        tables = [of_file for of_file in cells.values() if of_file.of_table]
        about: dict[str, Any] = {
            "facts": facts,
            "repetitions": max((of_file.repetitions for of_file in tables), default=0),
            "repeats": next((of_file.repeats for of_file in tables if of_file.repeats), ""),
        }
        if (run := loaded.folder) is not None:
            about |= {name: getattr(run, name) for name in ("block", "day", "factors", "disturbed")}
            about["facts"] = {**run.facts, **facts}
        if rows_are_runs and tables:
            for file, of_file in cells.items():
                if of_file.of_table:
                    prefix = f"{name}/{file}" if loaded.path.is_dir() else name
                    for row, row_values in split_rows(of_file):
                        run_id = f"{prefix} {row}"
                        place = f"{loaded.path.parent}/{run_id}"
                        yield RunValues(run_id, row_values, place=place, **about)
            return
        refused: dict[str, str] = {}
        values = run_values(cells, refused, self.quantities)
        self._warn(place, *(f"{of} is left out: {reason}" for of, reason in refused.items()))
        only = next(iter(loaded.tables.values())) if len(loaded.tables) == 1 else None
        yield RunValues(
            name,
            values,
            digest=loaded.digest,
            place=place,
            singles=_merge_singles([of_file.singles for of_file in cells.values()]),
            refused=refused,
            columns={n: tuple(x.tolist()) for n, x in only.numbers.items()} if only else {},
            counts={c: n for of_file in cells.values() for c, n in of_file.counts.items()},
            **about,
        )

    def _file(self, path: Path, empty: list[str], run: str) -> PlainTable | Cells:
        """Read a file: a table, or its numbers by cell. Cells without a number go to `empty`."""
        from virtperf.runs.ingest.documents import LEFT_OUT
        from virtperf.runs.ingest.own import read_content

        self._mark_format_used(path)
        content = read_content(path, path, *self._formats)
        if isinstance(content, ResultTable):
            return self._results(content, path, run)
        frame = content if isinstance(content, pd.DataFrame) else content.table
        if "metric_value" in frame.columns:  # a raw file, also as `virtperf read` writes it
            cells = self._samples(frame, path, run)
            if not isinstance(content, RawTables):
                return cells
            file = "" if run == str(path) else f"{path.name} "
            for each in content.warnings:
                self._warn(run, file + each.removeprefix(f"{path}").lstrip(": "))
            return replace(cells, settings=_settings_of(content))
        self._warn(run, *frame.attrs.get(LEFT_OUT, ()))
        return self._table(frame, path, empty)

    def _results(self, table: ResultTable, path: Path, run: str) -> Cells:
        for name, kind in table.quantities.items():
            known = ComparedQuantity(kind.unit, kind.better, name, kind.field)
            self.quantities.add(name, known, str(path))
        self._warn(run, *table.warnings)
        return result_cells(table, singles=self._singles)

    def _table(self, frame: pd.DataFrame, path: Path, empty: list[str]) -> PlainTable:
        outcomes = [name for name in frame.columns if _has_words_of_outcome(frame[name])]
        numbers = number_columns(frame.drop(columns=outcomes), str(path))
        texts = [
            _TextColumn(str(name), text, str(path), has_numbers(column))
            for name, column in frame.items()
            if str(name) not in numbers and name not in outcomes and len(text := first_text(column))
        ]
        self._texts += texts
        if not numbers and texts and not any(is_empty(frame[name]) for name in frame.columns):
            # a column without a cell is a result that this run lacks; else one has a damaged cell
            likely = max(texts, key=lambda text: text.likelihood)
            to_numbers(likely.first_text, likely.name, likely.file)
        empty += empty_cells(numbers, str(path))
        return plain_table(frame, numbers, str(path), self.quantities)

    def _samples(self, frame: pd.DataFrame, path: Path, run: str) -> Cells:
        """Group the samples of a raw file by metric and entity."""
        if recorded := self._recorded(frame, str(path)):
            means = {cell: np.array([v @ n / n.sum()]) for cell, (v, n) in recorded.items()}
            return Cells(means, singles=recorded)
        from virtperf.runs.requests import request_logs

        values: dict[CellName, np.ndarray] = {}
        singles: dict[CellName, np.ndarray] = {}
        counts: dict[CellName, tuple[int, int]] = {}
        for log in request_logs(frame, self._dictionary):
            time, share, *rates = (
                self._cell(metric.name, log.entity_kind, log.entity, metric.unit, str(path))
                for metric in (log.time, log.share, log.rate)
                if metric is not None
            )
            self._warn(run, *log.doubts)
            values[share] = np.array([log.failure_rate])
            counts[share] = len(log.failed_times), log.count
            for rate in rates if np.isfinite(log.throughput) else ():
                values[rate] = np.array([log.throughput])
                counts[rate] = 0, len(log.times)
            if len(log.times):
                values[time] = log.times
                of_all: CellName = (log.time.name, ())  # percentiles are of all drivers together
                singles[of_all] = np.concatenate([singles.get(of_all, np.empty(0)), log.times])
            frame = frame[~((frame["kind"] == "event") & frame["metric"].isin(log.share.among))]
        named = frame["metric"] != ""
        for known, label, number in ((True, "metric", "metric_value"), (False, "field", "value")):
            part = frame[named == known]
            for (metric, kind, entity), of_cell in part.groupby(
                [label, "entity_kind", "entity"], sort=False
            )[number]:
                finite = of_cell[np.isfinite(of_cell)]
                if not len(finite):
                    continue
                unit = str(part.loc[of_cell.index[0], "metric_unit"]) if known else ""
                numbers = finite.to_numpy(dtype=float)
                answers = _answers(part, kind, entity) if metric == HTTP_ERRORS else 0.0
                if answers:
                    errors = numbers.sum()
                    numbers, unit = np.array([errors / answers]), "1"
                cell = self._cell(str(metric), str(kind), str(entity), unit, str(path))
                values[cell] = numbers
                if answers:
                    counts[cell] = int(errors), int(answers)
                    if errors:
                        self._warn(run, ERRORS_INCLUDED)
        return Cells(values, singles=singles if self._singles else {}, counts=counts)

    def _recorded(
        self, frame: pd.DataFrame, file: str
    ) -> dict[CellName, tuple[np.ndarray, np.ndarray]]:
        """Values of a histogram log with their counts, merged over drivers and intervals; none for
        other files, also those whose buckets are ranges.
        """
        from rawperf.hdrhistogram import BUCKET, COUNT

        rows = frame[(frame["entity_kind"] == BUCKET) & (frame["field"] == COUNT)]
        recorded = pd.to_numeric(rows["entity"], errors="coerce")
        if rows.empty or recorded.isna().any():
            return {}
        counts = rows["value"].groupby(recorded).sum()
        counts = counts[counts > 0]
        if counts.empty:
            raise RunError("there are no values", expected="a histogram with at least one value")
        self.quantities.add(RECORDED_VALUE, ComparedQuantity("", "lower", RECORDED_VALUE), file)
        return {(RECORDED_VALUE, ()): (counts.index.to_numpy(dtype=float), counts.to_numpy(float))}

    def _cell(self, metric: str, kind: str, entity: str, unit: str, file: str) -> CellName:
        """Register a metric; returns its cell, with the entity as key."""
        better = self._dictionary[metric].better if metric in self._dictionary else ""
        self.quantities.add(metric, ComparedQuantity(unit, better, metric), file)
        key: Condition = ((kind or "entity", entity),) if entity else ()
        return metric, key

    def read_measured_texts(
        self, tables: Sequence[PlainTable], kept: Collection[str]
    ) -> list[PlainTable]:
        """Read texts such as ``512 B`` as numbers where they are results, see the function."""
        changed, names = read_measured_texts(tables, self.quantities, kept)
        self._texts = [column for column in self._texts if column.name not in names]
        return changed

    def require_numeric(self, sides: Sequence[Sequence[RunValues]]) -> None:
        """Raise `RawperfError` for a text column that is numeric in other runs, which the comparison
        would silently skip: in most runs, or in all runs of a side if the text column has numbers
        too.
        """
        columns = grouped((column.name, column) for column in self._texts)
        names = [[{*run.quantities(), *run.refused} for run in runs] for runs in sides]
        for name, of_name in columns.items():
            most = sum(name in of_run for side in names for of_run in side) > len(of_name)
            partly = next((column for column in of_name if column.has_numbers), None)
            if most or (partly and any(all(name in of_run for of_run in side) for side in names)):
                column = of_name[0] if most or partly is None else partly
                to_numbers(column.first_text, name, column.file)

    def warnings_of(self, runs: Sequence[RunValues]) -> tuple[str, ...]:
        """Warnings of the readers about these runs, equal ones joined."""
        about = grouped(
            (re.sub(r"\d+", "#", sentence), (sentence, run.run_id))
            for run in runs
            for sentence in dict.fromkeys(self._warnings.get(run.place, ()))
        )
        warnings = [_warning_of_runs(each) for each in about.values()]
        empty = [self._empty_cells[run.place] for run in runs if run.place in self._empty_cells]
        if empty:
            more = len(empty) - MAX_NAMED_FILES
            others = f"; and {more} more run{'s' if more > 1 else ''}" if more > 0 else ""
            shown = "; ".join(empty[:MAX_NAMED_FILES])
            warnings.append(f"cells without a number are left out: {shown}{others}")
        return tuple(warnings)

    def _run_folder(self, path: Path) -> RunValues | None:
        from virtperf.runs.ingest.runs import load_run
        from virtperf.runs.one_run import read_one_run
        from virtperf.runs.summarize.observations import observe
        from virtperf.runs.summarize.stage import series_rows

        names = raw_files_of(path)
        study, dictionary = self._study_of(path)
        run = load_run(RunFolder(path), study, "measured", names)
        if run.excluded:
            return None
        series, _ = read_one_run(path, run, dictionary, study, 0.95)
        singles = self._singles_of_folder(path, names, series) if self._singles else {}
        values: dict[CellName, float] = {}
        if study is None:
            for row in series_rows(series):
                if np.isfinite(row["value"]):
                    cell = self._cell(
                        row["metric"], row["entity_kind"], row["entity"], row["unit"], str(path)
                    )
                    values[cell] = row["value"]
        else:
            for row in observe(study, series)[0]:
                if np.isfinite(row["value"]):
                    values[row["quantity"], ()] = row["value"]
                    self.quantities.add(
                        row["quantity"],
                        quantity_metadata(study, row["quantity"], dictionary),
                        str(path),
                    )
        for (name, _), value in values.items():
            require_bounded(name, value, str(path))
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
            digest(path, names),
            str(path),
            singles,
        )

    def _singles_of_folder(
        self, path: Path, names: Sequence[str], run: RunSeries
    ) -> dict[CellName, Any]:
        """Single values of a run folder within its window, over all drivers."""
        from rawperf.hdrhistogram import FORMAT as HDRHISTOGRAM
        from rawperf.hdrhistogram import YEAR_S
        from rawperf.tidy import read

        begin, end = run.window
        found: list[dict[CellName, Any]] = []
        for key, series in run.series.items():
            inside = (series.t > begin) & (series.t <= end)
            metric = key[3]
            rated = metric in self._dictionary and self._dictionary[metric].better
            if run.is_events(key[0], metric) and key not in run.behind and rated and inside.any():
                cell = self._cell(metric, "", "", run.metrics[metric]["unit"], str(path))
                found.append({cell: series.value[inside]})
        start = _seconds(run.info["start"])
        for name in names:
            with (path / name).open("rb") as stream:
                if not HDRHISTOGRAM.sniff(stream.read(HEAD_BYTES)):
                    continue
            frame = read(path / name)
            t = frame["t"] - (start if frame["t"].min() > YEAR_S else 0.0)
            found.append(self._recorded(frame[(t > begin) & (t <= end)], str(path)))
        return _merge_singles(found)

    def _study_of(self, path: Path) -> tuple[Study | None, MetricDictionary]:
        """Return the study named by a run, or None if not in the repository, and its dictionary."""
        from rawperf.registry import build_dictionary
        from virtperf.runs.ingest.inputs import study_inputs
        from virtperf.runs.ingest.runs import load_run
        from virtperf.study.definition import load_study

        name = load_run(RunFolder(path), None, "measured", raw_files_of(path)).study
        if name not in self._studies:
            study, dictionary = None, self._dictionary
            if name in self._layout.studies():
                study = load_study(self._layout.known(name))
                dictionary = build_dictionary(self._layout.metrics, study_inputs(study))
            self._studies[name] = (study, dictionary)
        return self._studies[name]


def _has_words_of_outcome(column: pd.Series) -> bool:
    """Whether a column may say in words which rows failed, beside numbers such as status codes."""
    texts = first_text(column)
    return may_say_outcome(str(column.name)) and any(not has_unit(str(cell)) for cell in texts)


def _average_values(
    values: Mapping[CellName, float], over: Sequence[str]
) -> Mapping[CellName, float]:
    if not over:
        return values
    cells = average_over(Cells({cell: np.array([value]) for cell, value in values.items()}), over)
    return {cell: float(value[0]) for cell, value in cells.values.items()}


def _merge_singles(of_files: Sequence[Mapping[CellName, Any]]) -> dict[CellName, Any]:
    """Merge the single values of all files of a run: values, or values with their counts."""
    merged: dict[CellName, Any] = {}
    for cell, parts in grouped(item for of_file in of_files for item in of_file.items()).items():
        if len(parts) == 1:
            merged[cell] = parts[0]
        else:
            pairs = [p if isinstance(p, tuple) else (p, np.ones(len(p))) for p in parts]
            merged[cell] = tuple(np.concatenate(column) for column in zip(*pairs, strict=True))
    return merged


def require_bounded(name: str, value: float, place: str) -> None:
    """Raise `RunError` for a value whose square overflows."""
    if abs(value) > MAX_NUMBER:
        raise RunError(
            f"{name} is too large",
            file=place,
            expected=f"numbers of at most {MAX_NUMBER:g}",
            found=repr(value),
            remedy="check the output of its tool",
        )


def quantity_metadata(study: Study, name: str, dictionary: MetricDictionary) -> ComparedQuantity:
    """Metadata of a study's quantity; its direction is that of the observed metric."""
    kind = study.quantities[name]
    rule: Mapping[str, Any] = kind.observed
    metric = rule["from"][0]["metric"] if rule and "per" not in rule else ""
    better = dictionary[metric].better if metric in dictionary else ""
    return ComparedQuantity(kind.unit, better, name)


def files_of(path: Path) -> tuple[Path, list[str]]:
    """Return the folder of a run's raw files and their names."""
    return (path, raw_files_of(path)) if path.is_dir() else (path.parent, [path.name])


def raw_files_of(folder: Path) -> list[str]:
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


def digest(folder: Path, names: Sequence[str]) -> str:
    """Digest of the contents of files, in whatever order."""
    return "".join(sorted(hash_file(folder / name)[0] for name in names))


def empty_cells(numbers: Mapping[str, pd.Series], file: str) -> Iterator[str]:
    """Name the cells without a number: ``lat line 3``; of several the first, and their count."""
    for name, column in numbers.items():
        empty = column.index[np.isnan(column.to_numpy())]
        if len(empty):
            line, row = row_place(empty[0], file)
            place = row.removeprefix(" in ") if line is None else f"line {line}"
            more = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
            yield f"{name} {place}{more}"


def _warning_of_runs(about: Sequence[tuple[str, str]]) -> str:
    """Join warnings that differ in their numbers only: the first one, with the runs of all."""
    first = about[0][0]
    names = list(dict.fromkeys(run for _, run in about))
    if all(sentence == first for sentence, _ in about):
        return f"{join_names(names)}: {first}"
    others = names[1:]
    return f"{names[0]}: {first}" + (f" (likewise {join_names(others)})" if others else "")


def _answers(metrics: pd.DataFrame, kind: object, entity: object) -> float:
    """Number of answers of an entity, to share its HTTP errors by; 0 if they were not counted."""
    from virtperf.runs.summarize.audits import REQUEST_TOTALS

    rows = metrics[(metrics["entity_kind"] == kind) & (metrics["entity"] == entity)]
    totals = (rows.loc[rows["metric"] == name, "metric_value"].sum() for name in REQUEST_TOTALS)
    return float(next(filter(None, totals), 0.0))


def _settings_of(content: RawTables) -> dict[str, str]:
    """Options of the tool, and facts of the machine, that a raw file says."""
    info = content.info
    settings = {n.removeprefix(SETTING): x for n, x in info.items() if n.startswith(SETTING)}
    return {**settings, **{name: info[name] for name in HEADER_FACTS if name in info}}


def _unread_notes(files: Mapping[str, RawperfError]) -> Iterator[str]:
    if len(files) <= MAX_NAMED_FILES:
        for name, err in files.items():
            yield f"not read: {err.copy_as(type(err), file=name)}"
        return
    first = ", ".join(list(files)[:MAX_NAMED_FILES])
    more = len(files) - MAX_NAMED_FILES
    yield f"{first} and {more} more files could not be read"


def _seconds(start: str | None) -> float:
    """Unix timestamp of a run's start; times without a zone are taken as UTC, like raw files."""
    if not start:
        return 0.0
    at = datetime.fromisoformat(start)
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
