"""The samples of a run as they are found in its files, and as the table that is made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from rawperf import Reading
from rawperf.core.metrics import WHOLE, MetricDictionary
from rawperf.core.tables import coded, combinations, concat_tables
from rawperf.rates import DropDuplicates, Key, Rates
from rawperf.sample_rows import SampleRows, concat_rows, in_order, rows_of, select_rows
from virtperf.core.schema import ROW_GROUP
from virtperf.core.stage_tables import SAMPLES
from virtperf.runs.ingest.overlaps import Overlaps
from virtperf.runs.ingest.runs import Run
from virtperf.runs.ingest.spill import Spill

_ENTITY_COLUMNS = ("entity_kind", "entity", "metric")
_DERIVED_ORDER = 1 << 62
"""The order of what is made of samples: behind all that were read."""
_PER_FORMAT = 48
"""Bits of a sample's order that count within its format, whose formats are in the order of their
first files.
"""
BATCH_ROWS = 1 << 15
"""Records that are translated at once, unless one part of a file has more or there are no more: a
call takes as long as some thousand records do."""
# Entities with a name of their own in a run; others (cpu 0, eth0, sda) are called "owner/name".
_UNIQUE_ENTITY_KINDS = ("domain", "driver", "guest", "processor")


@dataclass
class _Held:
    """Parts of files of one format, not yet translated: their records, times, lines and files.

    `snapshots` are files that are one, of counters that leave out those that are zero.
    """

    parts: list[tuple[pd.DataFrame, np.ndarray, np.ndarray, np.ndarray]] = field(
        default_factory=list
    )
    snapshots: set[int] = field(default_factory=set)
    records: int = 0


class Gathered:
    """The samples of a run, whose records come file by file and part by part."""

    def __init__(self, run: Run, dictionary: MetricDictionary, spill: Spill) -> None:
        self._run, self._dictionary, self._spill = run, dictionary, spill
        self._held: dict[str, _Held] = {}
        self._series: dict[Key, int] = {}
        files = len(run.files)
        self._days = np.zeros(files)
        self._partial: set[int] = set()  # files whose missing counters need not have been zero
        self._read = 0  # samples so far
        self._found, self._untimed = np.zeros(
            (2, files), dtype=np.int64
        )  # of each file; those without a time
        self._incomplete: dict[
            str, tuple[int, int]
        ] = {}  # by metric the order of the first, and how many
        self._snapshots: list[pd.DataFrame] = []
        self._keys: list[Key] = []
        self._rates, self._once = (
            Rates(lambda number: self._keys[number]),
            DropDuplicates(lambda number: self._keys[number]),
        )
        self._overlaps = Overlaps(
            run.run_id, [file.path for file in run.files], lambda number: self._keys[number]
        )
        # what the samples are of, and how many each file has, once all are given
        self.metrics: set[str] = set()
        self.counts = np.zeros(files, dtype=np.int64)

    def add(self, block: Reading, seconds: np.ndarray, number: int, name: str) -> None:
        """Take a part of file `number`, of format `name`, with its times on the run's clock."""
        held = self._held.setdefault(name, _Held())
        lines = np.zeros(len(seconds), dtype=np.int64) if block.lines is None else block.lines
        held.parts.append((block.records, seconds, lines, np.full(len(seconds), number)))
        if block.clock == "none":
            held.snapshots.add(number)
        held.records += len(seconds)
        if held.records >= BATCH_ROWS:
            self._translate(name, held)

    def end(self, days: Mapping[int, float], said: Sequence[list[str]]) -> None:
        """End the files that were given, to whose times `days`, in seconds, are to be added.

        `said` gets, of every file, what is to be said of it. A file that something is said of may
        lack something, so that a counter that is not there need not have been zero.
        """
        for name, held in self._held.items():
            self._translate(name, held)
        for file, seconds in days.items():
            self._days[file] = seconds
            if not self._found[file]:
                said[file].append("nothing in it belongs to a metric of the dictionary")
            if self._untimed[file]:
                said[file].append(
                    "values without a time were left out; give at_s in run.yaml for a snapshot"
                )
            if said[file]:
                self._partial.add(file)

    def _translate(self, name: str, held: _Held) -> None:
        """Translate what is held of a format, and keep the samples."""
        if not held.parts:
            return
        parts = [part[0] for part in held.parts]
        records = parts[0] if len(parts) == 1 else concat_tables(parts)
        t, line, file = (np.concatenate([part[k] for part in held.parts]) for k in (1, 2, 3))
        held.parts, held.records = [], 0
        found = self._dictionary.named(records.assign(t=t, line=line, file=file), name)
        rows = found.rows
        order = (list(self._held).index(name) << _PER_FORMAT) + self._read + np.arange(len(rows))
        self._read += len(rows)
        file, t, line = (rows[column].to_numpy() for column in ("file", "t", "line"))
        place, different = pd.factorize(file * len(found.names) + found.which)
        of_file = [
            (int(code) // len(found.names), *found.names[code % len(found.names)])
            for code in different
        ]
        keys = [
            (name, *self._owned(number, kind, entity), metric)
            for number, kind, entity, metric, _ in of_file
        ]
        kinds = np.array([each[-1] for each in of_file], dtype=object)
        total, counter = ((kinds == kind)[place] for kind in ("total", "counter"))
        if self._run.duration_s is None:
            total = ~counter & (total | np.isnan(t))
        t = np.where(total, np.nan, t)
        value = rows["value"].to_numpy(dtype=float)
        incomplete = ~np.isfinite(value)
        for where in np.flatnonzero(incomplete).tolist():
            metric = keys[place[where]][-1]
            earliest, count = self._incomplete.get(metric, (_DERIVED_ORDER, 0))
            self._incomplete[metric] = min(earliest, int(order[where])), count + 1
        untimed = ~total & np.isnan(t)
        self._found += np.bincount(file, minlength=len(self._found))
        self._untimed += np.bincount(file[untimed], minlength=len(self._untimed))
        keep = ~incomplete & ~untimed
        later = keep & counter & np.isin(file, list(held.snapshots))
        columns = {"t": t, "value": value, "line": line, "file": file, "order": order}
        if later.any():
            who = dict(
                zip(
                    ("source", *_ENTITY_COLUMNS),
                    zip(*(keys[k] for k in place[later].tolist()), strict=True),
                    strict=True,
                )
            )
            self._snapshots.append(
                pd.DataFrame({**who, **{key: column[later] for key, column in columns.items()}})
            )
        keep &= ~later
        series = self._numbers(keys, place[keep])
        columns["counter"] = counter
        self._spill.add(
            rows_of(
                len(series), series=series, **{key: column[keep] for key, column in columns.items()}
            )
        )

    def _owned(self, number: int, kind: str, entity: str) -> tuple[str, str]:
        """Kind and name of an entity within the run: a file's owner stands for what the tool leaves
        unnamed.
        """
        file = self._run.files[number]
        owner, own_kind = str(file.entity), str(file.entity_kind)
        if not entity:
            return (own_kind if kind == WHOLE else kind), owner
        part = owner and own_kind != WHOLE and kind not in _UNIQUE_ENTITY_KINDS
        return kind, f"{owner}/{entity}" if part else entity

    def frames(self) -> Iterator[pd.DataFrame]:
        """The table `SAMPLES`, in parts that are the row groups of its file.

        Raises `FormatError`: files that give the same series over the same time.
        """
        if self._snapshots:
            self._add_snapshots(pd.concat(self._snapshots, ignore_index=True))
        keys = self._keys = sorted(self._series)
        rank = np.zeros(len(keys), dtype=np.int64)
        rank[[self._series[key] for key in keys]] = np.arange(len(keys))
        left: list[SampleRows] = []
        for part in self._spill.parts(rank, self._days):
            left.append(self._tidy(part))
            while sum(map(len, left)) > ROW_GROUP:
                rows = concat_rows(left)
                frame, left = self._frame(rows[:ROW_GROUP]), [concat_rows([rows[ROW_GROUP:]])]
                del rows  # what is not needed while the frame is written
                yield frame
        yield self._frame(concat_rows(left))

    def sentences(self) -> list[str]:
        """What is to be said of the run, once all its samples are given."""
        incomplete = sorted(self._incomplete.items(), key=lambda item: item[1][0])
        return [
            *(
                f"{m}: {n} value(s) left out, since not all their parts are there"
                for m, (_, n) in incomplete
            ),
            *self._rates.sentences(),
            *self._once.sentences(),
        ]

    def _numbers(self, keys: Sequence[Key], place: np.ndarray) -> np.ndarray:
        """The number of each row's series; `place` says which of the keys it has."""
        used = pd.unique(place).tolist()
        number = np.zeros(len(keys), dtype=np.int32)
        number[used] = [self._series.setdefault(keys[k], len(self._series)) for k in used]
        return number[place]

    def _add_snapshots(self, counters: pd.DataFrame) -> None:
        """Snapshots leave out counters that are zero: what one of an entity has, every other whole
        one has too.
        """
        whole = ~counters["file"].isin(self._partial)
        who = ["source", *_ENTITY_COLUMNS[:2]]
        rows = counters[whole]
        times = rows[[*who, "t", "file"]].drop_duplicates([*who, "t"])
        full = times.merge(rows[[*who, "metric"]].drop_duplicates(), on=who, sort=False)
        found = rows[[*who, "metric", "t", "value", "line"]]
        filled = full.merge(found, on=[*who, "metric", "t"], how="left", sort=False).fillna(
            {"value": 0.0, "line": 0}
        )
        filled["order"] = _DERIVED_ORDER + np.arange(len(filled))
        both = pd.concat([counters[~whole], filled], ignore_index=True)
        columns = {name: both[name].to_numpy() for name in ("t", "value", "line", "file", "order")}
        place, first = combinations(both, ("source", *_ENTITY_COLUMNS))
        keys = list(
            both.iloc[first][["source", *_ENTITY_COLUMNS]].itertuples(index=False, name=None)
        )
        self._spill.add(
            rows_of(len(both), series=self._numbers(keys, place), counter=True, **columns)
        )

    def _tidy(self, rows: SampleRows) -> SampleRows:
        """Samples of a part, sorted by series and time: counters as rates, each once."""
        self._overlaps.check(rows)
        counter = rows["counter"]
        if counter.any():
            rates = self._rates.of(select_rows(rows, counter))
            rates["order"] = _DERIVED_ORDER
            rows = in_order(concat_rows([select_rows(rows, ~counter), rates]), "series")
        rows = self._once.of(rows)
        self.counts += np.bincount(rows["file"], minlength=len(self.counts))
        self.metrics |= {self._keys[number][3] for number in pd.unique(rows["series"]).tolist()}
        return rows

    def _frame(self, rows: SampleRows) -> pd.DataFrame:
        texts = {
            name: coded(rows["series"], [key[place] for key in self._keys])
            for place, name in enumerate(("source", *_ENTITY_COLUMNS))
        }
        texts |= {"run_id": coded(np.zeros(len(rows), int), [self._run.run_id])}
        texts["file"] = coded(rows["file"], [file.path for file in self._run.files])
        numbers = {"t_s": rows["t"], "value": rows["value"], "line": rows["line"]}
        return pd.DataFrame(texts | numbers, columns=list(SAMPLES.columns))
