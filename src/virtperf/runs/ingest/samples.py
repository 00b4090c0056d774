"""Samples of one run: raw files parsed, aligned to one clock, named by the metric dictionary, with
counters converted to rates.

Samples are sorted by series and time externally, in bounded memory. Overlapping files of the same
series are an error.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from rawperf import Format, ParsedFile, read_blocks, rechunk_by_sample
from rawperf.core.errors import FormatError, RawperfError
from rawperf.core.files import replace_file
from rawperf.core.metrics import MetricDictionary, Translation
from rawperf.core.number_text import MAX_NUMBER
from rawperf.core.sample_rows import (
    HOST,
    ROW,
    CounterRates,
    DuplicateFilter,
    SampleRows,
    SeriesKey,
    build_samples,
    concat_rows,
    select_rows,
    sort_samples,
)
from rawperf.core.table_columns import concat_tables, encode_categories, factorize_rows
from rawperf.declared.read import DeclaredFormat
from rawperf.registry import choose_format
from rawperf.text import CHUNK_BYTES
from virtperf.core.schema import ROW_GROUP
from virtperf.core.stage_tables import SAMPLES
from virtperf.runs.ingest.clocks import FileClock
from virtperf.runs.ingest.runs import RawFile, Run


class Overlaps:
    """Check for overlapping files of one series: the owner of each value would be ambiguous, and a
    sum over entities would miss some.

    Consecutive files are one series, and so are copies: a value repeated in another file at the
    same time is not a separate sample.
    """

    def __init__(
        self, run_id: str, paths: Sequence[str], named: Callable[[int], SeriesKey]
    ) -> None:
        self._run_id, self._paths, self._named = run_id, paths, named
        self._files: dict[int, list[int]] = {}
        self._last = np.zeros(0, ROW)

    def check(self, rows: SampleRows) -> None:
        """Check the next samples, sorted by series, time and order, counters before conversion.

        Raises `FormatError` for overlapping files.
        """
        rows = concat_rows([self._last, rows])
        self._last = rows[-1:]
        if not _other_file(rows).any():
            return
        at_once = _other_file(rows) & _equal(rows["t"])
        differs = at_once & (rows["value"][1:] != rows["value"][:-1])
        if differs.any():
            self._raise_overlap(rows, int(np.argmax(differs)))
        rows = select_rows(rows, np.append(True, ~at_once))
        for place in np.flatnonzero(_other_file(rows)).tolist():
            series, before, file = (
                int(rows["series"][place]),
                int(rows["file"][place]),
                int(rows["file"][place + 1]),
            )
            files = self._files.setdefault(series, [before])
            if file in files:
                self._raise_overlap(rows, place)
            files.append(file)

    def _raise_overlap(self, rows: SampleRows, place: int) -> None:
        source, kind, entity, metric = self._named(int(rows["series"][place]))
        one, other = sorted(self._paths[int(rows["file"][place + k])] for k in (0, 1))
        entity_name = entity or ("the host" if kind == HOST else f"an unnamed {kind}")
        raise FormatError(
            f"{metric} of {entity_name} overlaps in time with that in {one}; both files have format {source}",
            file=f"{self._run_id}/{other}",
            expected="files of one series that do not overlap in time",
            remedy="assign each file to its entity: by folder (drivers/NAME.log, guests/NAME/sar.txt), or by entity "
            "in run.yaml or in the declaration; exclude duplicate data with not_read",
        )


def _other_file(rows: SampleRows) -> np.ndarray:
    """Mask of samples followed by one of the same series from another file."""
    series, file = rows["series"], rows["file"]
    return (series[1:] == series[:-1]) & (file[1:] != file[:-1])


def _equal(t: np.ndarray) -> np.ndarray:
    return (t[1:] == t[:-1]) | (np.isnan(t[1:]) & np.isnan(t[:-1]))


SPILL_ROWS = 1 << 18
"""Maximum number of samples in memory, and batch size of the output."""
_EXTENT = np.dtype(
    [("series", "i4"), ("file", "i4"), ("begin", "i8"), ("end", "i8"), ("low", "f8")]
)


class Spill:
    """External sort of samples of many series; more than `SPILL_ROWS` are spilled to an anonymous
    temporary file in `folder`, by default that for temporary files, deleted at the end of the block.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._buffer: list[SampleRows] = []
        self._count = self._written = 0
        self._file: BinaryIO | None = None
        self._extents: list[NDArray[np.void]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, rows: SampleRows) -> None:
        """Add samples in any order; within a file and series, times need not increase."""
        self._buffer.append(rows)
        self._count += len(rows)
        if self._count >= SPILL_ROWS:
            self._write()

    def parts(self, rank: NDArray[np.int64], shift: NDArray[np.float64]) -> Iterator[SampleRows]:
        """Yield all samples, sorted by series, time and order; those of one series and time are in
        one part.

        `rank` maps series numbers to their sort positions, which become `series` of the output;
        `shift` is added to the times of each file, in seconds.
        """
        if self._file is None:
            yield sort_samples(
                _map_series_and_times(concat_rows(self._buffer), rank, shift), "series"
            )
            return
        self._write()
        extents = np.concatenate(self._extents)
        extents["series"] = rank[extents["series"]]
        extents["low"] += shift[extents["file"]]
        extents = extents[np.lexsort((extents["low"], extents["series"]))]
        batch: list[NDArray[np.void]] = []
        size = 0
        for series_extents in np.split(extents, np.flatnonzero(np.diff(extents["series"])) + 1):
            more = int((series_extents["end"] - series_extents["begin"]).sum())
            if batch and size + more > SPILL_ROWS:
                yield sort_samples(
                    _map_series_and_times(self._read(np.concatenate(batch)), rank, shift),
                    "series",
                )
                batch, size = [], 0
            if more > SPILL_ROWS:
                yield from self._long(series_extents, rank, shift)
            else:
                batch.append(series_extents)
                size += more
        if batch:
            yield sort_samples(
                _map_series_and_times(self._read(np.concatenate(batch)), rank, shift), "series"
            )

    def _long(
        self, extents: NDArray[np.void], rank: NDArray[np.int64], shift: NDArray[np.float64]
    ) -> Iterator[SampleRows]:
        """Yield the samples of one long series in time slices; extents are sorted by first time."""
        remaining = np.zeros(0, ROW)
        for place in range(len(extents)):
            more = _map_series_and_times(self._read(extents[place : place + 1]), rank, shift)
            remaining = sort_samples(concat_rows([remaining, more]), "series")
            ready = np.ones(len(remaining), dtype=bool)
            if place + 1 < len(extents):
                bound = extents["low"][place + 1]
                ready = ~np.isnan(remaining["t"]) if np.isnan(bound) else remaining["t"] < bound
            if ready.any():
                yield select_rows(remaining, ready)
            remaining = select_rows(remaining, ~ready)

    def _write(self) -> None:
        rows = sort_samples(concat_rows(self._buffer), "series", "file")
        self._buffer, self._count = [], 0
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - it lives as long as its owner
        self._file.seek(self._written * ROW.itemsize)
        self._file.write(rows.view(np.uint8).data)
        if len(rows):
            new = (np.diff(rows["series"]) != 0) | (np.diff(rows["file"]) != 0)
            begin = np.concatenate([[0], np.flatnonzero(new) + 1])
            extents = np.zeros(len(begin), _EXTENT)
            extents["series"], extents["file"] = rows["series"][begin], rows["file"][begin]
            extents["begin"], extents["end"] = begin, np.append(begin[1:], len(rows))
            extents["low"] = rows["t"][begin]
            extents["begin"] += self._written
            extents["end"] += self._written
            self._extents.append(extents)
        self._written += len(rows)

    def _read(self, extents: NDArray[np.void]) -> SampleRows:
        assert self._file is not None
        parts = []
        for begin, end in zip(extents["begin"].tolist(), extents["end"].tolist(), strict=True):
            self._file.seek(begin * ROW.itemsize)
            parts.append(np.frombuffer(self._file.read((end - begin) * ROW.itemsize), ROW))
        return concat_rows(parts)


def _map_series_and_times(
    rows: SampleRows, rank: NDArray[np.int64], shift: NDArray[np.float64]
) -> SampleRows:
    """Map series to ranks and times to the run's clock, in place."""
    rows["t"] += shift[rows["file"]]
    rows["series"] = rank[rows["series"]]
    return rows


_ENTITY_COLUMNS = ("entity_kind", "entity", "metric")
_DERIVED_ORDER = 1 << 62
"""Order of derived samples: after all samples read."""
_ORDER_BITS = 48
"""Bits of a sample's order within its format; the higher bits number formats by first file."""
BATCH_ROWS = 1 << 15
"""Minimum batch of records to translate, except at the end: a call costs as much as some thousand
records."""
# Entities with unique names within a run; others (cpu 0, eth0, sda) are qualified as "owner/name".
_UNIQUE_ENTITY_KINDS = ("domain", "driver", "guest", "processor")


@dataclass
class _PendingRecords:
    """Untranslated parts of files of one format: their records, times, lines and files.

    `snapshots` are files with a single snapshot of counters that omits zeros.
    """

    parts: list[tuple[pd.DataFrame, np.ndarray, np.ndarray, np.ndarray]] = field(
        default_factory=list
    )
    snapshots: set[int] = field(default_factory=set)
    records: int = 0


class SampleCollector:
    """Accumulator of a run's samples, fed with records file by file and part by part."""

    def __init__(self, run: Run, dictionary: MetricDictionary, spill: Spill) -> None:
        self._run, self._dictionary, self._spill = run, dictionary, spill
        self._pending: dict[str, _PendingRecords] = {}
        self._series: dict[SeriesKey, int] = {}
        files = len(run.files)
        self._days = np.zeros(files)
        self._partial: set[int] = set()  # files whose missing counters may be nonzero
        self._read = 0  # samples so far
        self._found, self._untimed = np.zeros(
            (2, files), dtype=np.int64
        )  # samples per file; those without a time
        self._incomplete: dict[
            str, tuple[int, int]
        ] = {}  # by metric: order of the first one, and their count
        self._snapshots: list[pd.DataFrame] = []
        self._keys: list[SeriesKey] = []
        self._rates, self._duplicates = (
            CounterRates(lambda number: self._keys[number]),
            DuplicateFilter(lambda number: self._keys[number]),
        )
        self._overlaps = Overlaps(
            run.run_id, [file.path for file in run.files], lambda number: self._keys[number]
        )
        # metrics and sample counts per file, complete after `frames`
        self.metrics: set[str] = set()
        self.counts = np.zeros(files, dtype=np.int64)

    def add(self, block: ParsedFile, seconds: np.ndarray, number: int, name: str) -> None:
        """Add a part of file `number`, of format `name`, with its times on the run's clock."""
        pending = self._pending.setdefault(name, _PendingRecords())
        lines = np.zeros(len(seconds), dtype=np.int64) if block.lines is None else block.lines
        pending.parts.append((block.records, seconds, lines, np.full(len(seconds), number)))
        if block.clock == "none":
            pending.snapshots.add(number)
        pending.records += len(seconds)
        if pending.records >= BATCH_ROWS:
            self._translate(name, pending)

    def end(self, days: Mapping[int, float], warnings: Sequence[list[str]]) -> None:
        """Finish the given files, whose times are shifted by `days`, in seconds.

        `warnings` receives the warnings of every file. A file with warnings may be incomplete, so a
        missing counter in it is not taken as zero.
        """
        for name, pending in self._pending.items():
            self._translate(name, pending)
        for file, seconds in days.items():
            self._days[file] = seconds
            if not self._found[file]:
                warnings[file].append("no value belongs to a metric of the dictionary")
            if self._untimed[file]:
                warnings[file].append(
                    "values without a time were skipped; set at_s in run.yaml for a snapshot"
                )
            if warnings[file]:
                self._partial.add(file)

    def _translate(self, name: str, pending: _PendingRecords) -> None:
        """Translate the pending records of a format, and store the samples."""
        if not pending.parts:
            return
        parts = [part[0] for part in pending.parts]
        records = concat_tables(parts)
        t, line, file = (np.concatenate([part[k] for part in pending.parts]) for k in (1, 2, 3))
        pending.parts, pending.records = [], 0
        named = self._dictionary.translate(records.assign(t=t, file=file), name)
        rows = named.rows(t=t, line=line, file=file)
        place, keys, kinds = self._series_by_file(name, named, rows)
        total, counter, untimed = (kinds == "total")[place], rows["counter"], np.isnan(rows["t"])
        if self._run.duration_s is None:
            total = ~counter & (total | untimed)
        untimed &= ~total
        rows["t"][total] = np.nan
        rows["order"] = np.arange(len(rows)) + self._read
        rows["order"] += list(self._pending).index(name) << _ORDER_BITS
        self._read += len(rows)
        self._check_range(rows, lambda row: f"the value of {keys[place[row]][-1]}")
        incomplete = ~np.isfinite(rows["value"])
        for where in np.flatnonzero(incomplete).tolist():
            metric = keys[place[where]][-1]
            earliest, count = self._incomplete.get(metric, (_DERIVED_ORDER, 0))
            self._incomplete[metric] = min(earliest, int(rows["order"][where])), count + 1
        self._found += np.bincount(rows["file"], minlength=len(self._found))
        self._untimed += np.bincount(rows["file"][untimed], minlength=len(self._untimed))
        keep = ~incomplete & ~untimed
        later = keep & counter & np.isin(rows["file"], list(pending.snapshots))
        if later.any():
            who = zip(*(keys[k] for k in place[later].tolist()), strict=True)
            self._snapshots.append(
                pd.DataFrame(select_rows(rows, later)).assign(
                    **dict(zip(("source", *_ENTITY_COLUMNS), who, strict=True))
                )
            )
        keep &= ~later
        kept = select_rows(rows, keep)
        kept["series"] = self._numbers(keys, place[keep])
        self._spill.add(kept)

    def _series_by_file(
        self, name: str, named: Translation, rows: SampleRows
    ) -> tuple[np.ndarray, list[SeriesKey], np.ndarray]:
        """Return the series of each row, with its entity named within the run: indices into the
        following keys and kinds.
        """
        file = rows["file"].astype(np.int64)
        place, different = pd.factorize(file * len(named.series) + named.code)
        keys, kinds = [], []
        for code in different.tolist():
            number, position = divmod(code, len(named.series))
            kind, entity, metric, metric_kind = named.series[position]
            keys.append((name, *self._owned(number, kind, entity), metric))
            kinds.append(metric_kind)
        return place, keys, np.array(kinds, dtype=object)

    def _check_range(self, rows: SampleRows, what: Callable[[int], str]) -> None:
        """Raise `FormatError` for the first value, in file order, that exceeds `MAX_NUMBER`.

        `what` describes the value of a row.
        """
        large = np.flatnonzero(np.abs(rows["value"]) > MAX_NUMBER)
        if not len(large):
            return
        first = int(large[np.lexsort((rows["line"][large], rows["file"][large]))[0]])
        row = rows[first]
        raise FormatError(
            f"{what(first)} is too large",
            file=f"{self._run.run_id}/{self._run.files[int(row['file'])].path}",
            line=int(row["line"]) or None,
            expected=f"numbers of at most {MAX_NUMBER:g} in the unit of the metric",
            found=f"{row['value']:g}",
            remedy="the file is damaged, or its declaration wrong: correct it, or remove the file",
        )

    def _owned(self, number: int, kind: str, entity: str) -> tuple[str, str]:
        """Return kind and name of an entity within the run: the file's owner replaces unnamed
        entities, and qualifies others.
        """
        file = self._run.files[number]
        owner, own_kind = str(file.entity), str(file.entity_kind)
        if not entity:
            return (own_kind if kind == HOST else kind), owner
        part = owner and own_kind != HOST and kind not in _UNIQUE_ENTITY_KINDS
        return kind, f"{owner}/{entity}" if part else entity

    def frames(self) -> Iterator[pd.DataFrame]:
        """Yield the table `SAMPLES` in parts, the row groups of its file.

        Raises `FormatError` for overlapping files of the same series.
        """
        if self._snapshots:
            self._add_snapshots(pd.concat(self._snapshots, ignore_index=True))
        keys = self._keys = sorted(self._series)
        rank = np.zeros(len(keys), dtype=np.int64)
        rank[[self._series[key] for key in keys]] = np.arange(len(keys))
        remaining: list[SampleRows] = []
        for part in self._spill.parts(rank, self._days):
            remaining.append(self._tidy(part))
            while sum(map(len, remaining)) > ROW_GROUP:
                rows = concat_rows(remaining)
                frame, remaining = self._frame(rows[:ROW_GROUP]), [concat_rows([rows[ROW_GROUP:]])]
                del rows  # free memory while the frame is written
                yield frame
        yield self._frame(concat_rows(remaining))

    def sentences(self) -> list[str]:
        """Warnings of the run, complete after all samples are given."""
        incomplete = sorted(self._incomplete.items(), key=lambda item: item[1][0])
        return [
            *(
                f"{m}: {n} value(s) skipped, since some of their parts are missing"
                for m, (_, n) in incomplete
            ),
            *self._rates.messages(),
            *self._duplicates.messages(),
        ]

    def _numbers(self, keys: Sequence[SeriesKey], place: np.ndarray) -> np.ndarray:
        """Return the series number of each row; `place` indexes `keys`."""
        used = pd.unique(place).tolist()
        number = np.zeros(len(keys), dtype=np.int32)
        number[used] = [self._series.setdefault(keys[k], len(self._series)) for k in used]
        return number[place]

    def _add_snapshots(self, counters: pd.DataFrame) -> None:
        """Fill in zero counters, which snapshots omit: every complete snapshot of an entity gets
        all counters of that entity.
        """
        whole = ~counters["file"].isin(self._partial)
        who = ["source", *_ENTITY_COLUMNS[:2]]
        rows = counters[whole]
        times = rows[[*who, "t", "file"]].drop_duplicates([*who, "t"])
        full = times.merge(rows[[*who, "metric"]].drop_duplicates(), on=who, sort=False)
        snapshots = rows[[*who, "metric", "t", "value", "line"]]
        filled = full.merge(snapshots, on=[*who, "metric", "t"], how="left", sort=False).fillna(
            {"value": 0.0, "line": 0}
        )
        filled["order"] = _DERIVED_ORDER + np.arange(len(filled))
        both = pd.concat([counters[~whole], filled], ignore_index=True)
        columns = {name: both[name].to_numpy() for name in ("t", "value", "line", "file", "order")}
        place, first = factorize_rows(both, ("source", *_ENTITY_COLUMNS))
        keys = list(
            both.iloc[first][["source", *_ENTITY_COLUMNS]].itertuples(index=False, name=None)
        )
        self._spill.add(
            build_samples(len(both), series=self._numbers(keys, place), counter=True, **columns)
        )

    def _tidy(self, rows: SampleRows) -> SampleRows:
        """Convert counters of a sorted part to rates and drop duplicate samples."""
        self._overlaps.check(rows)
        counter = rows["counter"]
        if counter.any():
            rates = self._rates.compute(select_rows(rows, counter))
            self._check_range(
                rates, lambda row: f"the rate of {self._keys[rates['series'][row]][3]}"
            )
            rates["order"] = _DERIVED_ORDER
            rows = sort_samples(concat_rows([select_rows(rows, ~counter), rates]), "series")
        rows = self._duplicates.drop_duplicates(rows)
        self.counts += np.bincount(rows["file"], minlength=len(self.counts))
        self.metrics |= {self._keys[number][3] for number in pd.unique(rows["series"]).tolist()}
        return rows

    def _frame(self, rows: SampleRows) -> pd.DataFrame:
        texts = {
            name: encode_categories(rows["series"], [key[place] for key in self._keys])
            for place, name in enumerate(("source", *_ENTITY_COLUMNS))
        }
        texts |= {"run_id": encode_categories(np.zeros(len(rows), int), [self._run.run_id])}
        texts["file"] = encode_categories(rows["file"], [file.path for file in self._run.files])
        numbers = {"t_s": rows["t"], "value": rows["value"], "line": rows["line"]}
        return pd.DataFrame(texts | numbers, columns=list(SAMPLES.columns))


@dataclass(frozen=True)
class RunSamples:
    """Result of reading one run.

    `files` has path, format, entity, clock, records, samples and warnings of each raw file;
    `warnings` are those of the run as a whole; `processors` are real ones, if a file reports them.
    """

    files: list[dict[str, Any]]
    warnings: list[str]
    processors: int | None = None
    metrics: list[str] = field(default_factory=list)
    samples: int = 0


def read_run(
    folder: Path,
    run: Run,
    dictionary: MetricDictionary,
    out: Path,
    inputs: Sequence[DeclaredFormat] = (),
    not_read: Mapping[str, str] | None = None,
) -> RunSamples:
    """Parse all raw files of a run in parts, and write the table `SAMPLES` to the file `out`.

    `inputs` are the formats declared by its study; `not_read` maps patterns of excluded files, if
    not listed in run.yaml, to reasons. Raises the `RawperfError` of the first file that can't be
    read, with file and line.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    with Spill(out.parent) as spill:
        collector = SampleCollector(run, dictionary, spill)
        files, processors = _collect(folder, run, collector, inputs, not_read or {})
        with replace_file(out) as stream:
            SAMPLES.write_parts(collector.frames(), stream)
    return _result(files, run.processors or processors, collector)


def sample_table(
    folder: Path,
    run: Run,
    dictionary: MetricDictionary,
    inputs: Sequence[DeclaredFormat] = (),
    not_read: Mapping[str, str] | None = None,
) -> tuple[RunSamples, pa.Table]:
    """Parse all raw files of a run to the table `SAMPLES` in memory; takes and raises as `read_run`
    does.
    """
    with Spill() as spill:
        collector = SampleCollector(run, dictionary, spill)
        files, processors = _collect(folder, run, collector, inputs, not_read or {})
        table = SAMPLES.arrow(collector.frames())
    return _result(files, run.processors or processors, collector), table


def _result(
    files: list[dict[str, Any]], processors: int | None, collector: SampleCollector
) -> RunSamples:
    """Complete the entries of the files when all samples are given."""
    if all(entry["format"] is None for entry in files):
        return RunSamples(files, ["no file of the run was read"])
    for entry, count in zip(files, collector.counts.tolist(), strict=True):
        entry["samples"] = count
    return RunSamples(
        files,
        collector.sentences(),
        processors,
        sorted(collector.metrics),
        int(collector.counts.sum()),
    )


def _collect(
    folder: Path,
    run: Run,
    collector: SampleCollector,
    inputs: Sequence[DeclaredFormat],
    not_read: Mapping[str, str],
) -> tuple[list[dict[str, Any]], int | None]:
    """Pass all files on to `collector`; returns their entries of `RunSamples`, and the processors."""
    files: list[dict[str, Any]] = []
    processors = None
    clocks: dict[int, FileClock] = {}
    for number, file in enumerate(run.files):
        entry: dict[str, Any] = {
            "path": file.path,
            "format": None,
            "entity": file.entity,
            "clock": None,
            "records": 0,
            "samples": 0,
            "warnings": [],
        }
        files.append(entry)
        if not file.listed and (why := _not_read_reason(file.path, not_read)):
            entry["not_read"] = why
            continue
        blocks = file_blocks(folder, file, run.run_id, inputs)
        if blocks is None:
            empty = not (folder / file.path).stat().st_size
            why = "no format recognises the file, and run.yaml does not list it"
            entry["warnings"].append(f"not read: {'the file is empty' if empty else why}")
            continue
        clocks[number], info = _read(number, file, run, *blocks, entry, collector)
        if info.get("cpus", "").isdecimal() and file.entity_kind == HOST:
            processors = int(info["cpus"])
    collector.end(
        {number: clock.days for number, clock in clocks.items()},
        [file["warnings"] for file in files],
    )
    return files, processors


def _not_read_reason(path: str, not_read: Mapping[str, str]) -> str:
    """Return the reason for skipping a file; "" if it is read."""
    return next((why for pattern, why in not_read.items() if fnmatchcase(path, pattern)), "")


def file_blocks(
    folder: Path, file: RawFile, run_id: str, inputs: Sequence[DeclaredFormat] = ()
) -> tuple[str, Iterator[ParsedFile]] | None:
    """Return format and content of one file; None for an unlisted file of unknown format."""
    place, path = f"{run_id}/{file.path}", folder / file.path
    with path.open("rb") as stream:
        head = stream.read(CHUNK_BYTES)
    try:
        format_ = choose_format(head, file.path, file.format, inputs, file=place)
    except FormatError:
        if file.listed or file.format is not None:
            raise
        return None
    return format_.name, _blocks(format_, path, place)


def _blocks(format_: Format, path: Path, place: str) -> Iterator[ParsedFile]:
    try:
        with path.open("rb") as stream:
            yield from read_blocks(format_, stream, file=place, categorical=True)
    except (RawperfError, OSError):
        raise
    except Exception as err:  # a bug in a reader must not stop the other runs
        raise FormatError(
            f"the reader of format {format_.name} failed",
            file=place,
            found=f"{type(err).__name__}: {err}",
            remedy="report a bug in that reader, and attach the file.",
        ) from err


def _read(
    number: int,
    file: RawFile,
    run: Run,
    name: str,
    blocks: Iterator[ParsedFile],
    entry: dict[str, Any],
    collector: SampleCollector,
) -> tuple[FileClock, dict[str, str]]:
    """Pass a file's records on and complete its entry; returns its clock, and the information in
    its header.
    """
    clock: FileClock | None = None
    info: dict[str, str] = {}
    last = 0
    for block in rechunk_by_sample(blocks):
        clock = clock or FileClock(block.clock, file, run)
        seconds = clock.seconds(block.records["t"].to_numpy(dtype=float))
        entry["records"] += len(seconds)
        entry["warnings"] += block.warnings
        info = block.info
        if block.lines is not None:
            last = max(last, int(block.lines.max(initial=0)))
        collector.add(block, seconds, number, name)
    if file.lines is not None and last != file.lines:
        raise FormatError(
            "the number of lines differs from run.yaml",
            file=f"{run.run_id}/{file.path}",
            line=last,
            expected=f"last line {file.lines}",
            found=f"last line {last}",
            remedy="the file is truncated or changed: copy it again from its source.",
        )
    assert clock is not None  # a reader gives one block at least
    entry |= {"format": name, "clock": clock.clock}
    entry["warnings"] += _clock_warnings(clock, info, run)
    return clock, info


def _clock_warnings(clock: FileClock, info: dict[str, str], run: Run) -> list[str]:
    warnings = []
    if clock.low <= clock.high and not clock.inside:
        low, high = clock.low + clock.days, clock.high + clock.days
        warnings.append(
            f"no sample is within the run: the samples are from {low:.0f} s to {high:.0f} s after its "
            "start; compare start in run.yaml with the file's clock"
        )
    elif shift := clock.displacement_s:
        low, high = clock.low + clock.days, clock.high + clock.days
        warnings.append(
            f"the samples are from {low:.0f} s to {high:.0f} s after the run's start: as long as it, but "
            f"{abs(shift):.0f} s {'later' if shift > 0 else 'earlier'}; compare start in run.yaml with "
            "the file's clock, or set clock_offset_s"
        )
    if run.duration_s is None:
        return warnings
    for restart in info.get("restarts", "").split():
        at = float(restart) - (
            run.start_epoch if clock.clock == "absolute" else run.start_epoch % 86400
        )
        if 0 <= at <= run.duration_s:
            warnings.append(f"the machine was restarted {at:.0f} s after the run's start")
    return warnings
