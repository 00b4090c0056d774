"""The samples of a run as they are found in its files, and as the table that is made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from virtperf.core.metrics import Named
from virtperf.core.schema import ROW_GROUP
from virtperf.core.stage_tables import SAMPLES
from virtperf.core.tables import coded, combinations
from virtperf.ingest.rates import Key, Once, Rates
from virtperf.ingest.spill import Rows, Spill, chosen, in_order, rows_of, together

Owned = Callable[[int, str, str], tuple[str, str]]

_WHO = ("entity_kind", "entity", "metric")
_LATER = 1 << 62
"""The order of what is made of samples: behind all that were read."""
_PER_FORMAT = 48
"""Bits of a sample's order that count within its format, whose formats are in the order of their first files."""


class Gathered:
    """The samples of a run, file by file and part by part.

    Parameters
    ----------
    run_id : str
    paths : sequence of str
        Of its raw files.
    spill : Spill
        Keeps them.

    Attributes
    ----------
    partial : set of int
        Files of which something is missing, so that a counter that is not there need not have been zero.
    counts : ndarray of int, shape (files,)
        Samples of each file, once all are given; `metrics` are those that they are of.
    """

    def __init__(self, run_id: str, paths: Sequence[str], spill: Spill) -> None:
        self._run_id, self._paths = run_id, paths
        self._spill = spill
        self._series: dict[Key, int] = {}
        self._days = np.zeros(len(paths))
        self._read = 0  # samples so far
        self._found, self._untimed = np.zeros((2, len(paths)), dtype=np.int64)  # of each file; those without a time
        self._incomplete: dict[str, tuple[int, int]] = {}  # by metric the order of the first, and how many
        self._snapshots: list[pd.DataFrame] = []
        named = self._key
        self._rates, self._once = Rates(named), Once(named)
        self._keys: list[Key] = []
        self.partial: set[int] = set()
        self.metrics: set[str] = set()
        self.counts = np.zeros(len(paths), dtype=np.int64)

    def add(self, found: Named, source: str, rank: int, snapshots: set[int], owned: Owned) -> None:
        """Take parts of files, as the metric dictionary translates them, with times on the run's clock.

        Parameters
        ----------
        found : Named
            Its rows have the columns t, value, line, and file: the number of each one's file.
        source : str
            The files' format.
        rank : int
            Its place among the formats, in the order of their first files.
        snapshots : set of int
            Files that are one, of counters that leave out those that are zero.
        owned : callable
            Kind and name within the run of a file's entity.
        """
        rows = found.rows
        order = (rank << _PER_FORMAT) + self._read + np.arange(len(rows))
        self._read += len(rows)
        file, t, line = (rows[name].to_numpy() for name in ("file", "t", "line"))
        place, different = pd.factorize(file * len(found.names) + found.which)
        of_file = [(int(code) // len(found.names), *found.names[code % len(found.names)]) for code in different]
        keys = [(source, *owned(number, kind, entity), metric) for number, kind, entity, metric, _ in of_file]
        kinds = np.array([each[-1] for each in of_file], dtype=object)
        total, counter = ((kinds == kind)[place] for kind in ("total", "counter"))
        t = np.where(total, np.nan, t)
        value = rows["value"].to_numpy(dtype=float)
        incomplete = ~np.isfinite(value)
        for where in np.flatnonzero(incomplete).tolist():
            metric = keys[place[where]][-1]
            earliest, count = self._incomplete.get(metric, (_LATER, 0))
            self._incomplete[metric] = min(earliest, int(order[where])), count + 1
        untimed = ~total & np.isnan(t)
        self._found += np.bincount(file, minlength=len(self._found))
        self._untimed += np.bincount(file[untimed], minlength=len(self._untimed))
        keep = ~incomplete & ~untimed
        later = keep & counter & np.isin(file, list(snapshots))
        if later.any():
            who = dict(zip(("source", *_WHO), zip(*(keys[k] for k in place[later].tolist()), strict=True), strict=True))
            numbers = {"t": t, "value": value, "line": line, "file": file, "order": order}
            self._snapshots.append(pd.DataFrame({**who, **{name: column[later] for name, column in numbers.items()}}))
        keep &= ~later
        series = self._numbers(keys, place[keep])
        columns = {"t": t, "value": value, "line": line, "file": file, "order": order, "counter": counter}
        self._spill.add(rows_of(len(series), series=series, **{name: c[keep] for name, c in columns.items()}))

    def close(self, file: int, days: float) -> list[str]:
        """End a file all of which is given, to whose times `days` seconds are to be added; what is to be said of it."""
        self._days[file] = days
        said = [] if self._found[file] else ["nothing in it belongs to a metric of the dictionary"]
        if self._untimed[file]:
            said.append("values without a time were left out; give at_s in run.yaml for a snapshot")
        return said

    def frames(self) -> Iterator[pd.DataFrame]:
        """The table `SAMPLES`, in parts that are the row groups of its file."""
        if self._snapshots:
            self._add_snapshots(pd.concat(self._snapshots, ignore_index=True))
        keys = self._keys = sorted(self._series)
        rank = np.zeros(len(keys), dtype=np.int64)
        rank[[self._series[key] for key in keys]] = np.arange(len(keys))
        left: list[Rows] = []
        for part in self._spill.parts(rank, self._days):
            left.append(self._tidy(part))
            while sum(map(len, left)) > ROW_GROUP:
                rows = together(left)
                frame, left = self._frame(rows[:ROW_GROUP]), [together([rows[ROW_GROUP:]])]
                del rows  # what is not needed while the frame is written
                yield frame
        yield self._frame(together(left))

    def sentences(self) -> list[str]:
        """What is to be said of the run, once all its samples are given."""
        incomplete = sorted(self._incomplete.items(), key=lambda item: item[1][0])
        return [
            *(f"{m}: {n} value(s) left out, since not all their parts are there" for m, (_, n) in incomplete),
            *self._rates.sentences(), *self._once.sentences(),
        ]  # fmt: skip

    def _key(self, number: int) -> Key:
        return self._keys[number]

    def _numbers(self, keys: Sequence[Key], place: np.ndarray) -> np.ndarray:
        """The number of each row's series; `place` says which of the keys it has."""
        used = pd.unique(place).tolist()
        number = np.zeros(len(keys), dtype=np.int32)
        number[used] = [self._series.setdefault(keys[k], len(self._series)) for k in used]
        return number[place]

    def _add_snapshots(self, counters: pd.DataFrame) -> None:
        """Snapshots leave out counters that are zero: what one of an entity has, every other whole one has too."""
        whole = ~counters["file"].isin(self.partial)
        who = ["source", *_WHO[:2]]
        rows = counters[whole]
        times = rows[[*who, "t", "file"]].drop_duplicates([*who, "t"])
        full = times.merge(rows[[*who, "metric"]].drop_duplicates(), on=who, sort=False)
        found = rows[[*who, "metric", "t", "value", "line"]]
        filled = full.merge(found, on=[*who, "metric", "t"], how="left", sort=False).fillna({"value": 0.0, "line": 0})
        filled["order"] = _LATER + np.arange(len(filled))
        both = pd.concat([counters[~whole], filled], ignore_index=True)
        columns = {name: both[name].to_numpy() for name in ("t", "value", "line", "file", "order")}
        place, first = combinations(both, ("source", *_WHO))
        keys = list(both.iloc[first][["source", *_WHO]].itertuples(index=False, name=None))
        self._spill.add(rows_of(len(both), series=self._numbers(keys, place), counter=True, **columns))

    def _tidy(self, rows: Rows) -> Rows:
        """Samples of a part, sorted by series and time: counters as rates, each once."""
        counter = rows["counter"]
        if counter.any():
            rates = self._rates.of(chosen(rows, counter))
            rates["order"] = _LATER
            rows = in_order(together([chosen(rows, ~counter), rates]), "series")
        rows = self._once.of(rows)
        self.counts += np.bincount(rows["file"], minlength=len(self.counts))
        self.metrics |= {self._keys[number][3] for number in pd.unique(rows["series"]).tolist()}
        return rows

    def _frame(self, rows: Rows) -> pd.DataFrame:
        texts = {
            name: coded(rows["series"], [key[place] for key in self._keys])
            for place, name in enumerate(("source", *_WHO))
        }
        texts |= {"run_id": coded(np.zeros(len(rows), int), [self._run_id]), "file": coded(rows["file"], self._paths)}
        numbers = {"t_s": rows["t"], "value": rows["value"], "line": rows["line"]}
        return pd.DataFrame(texts | numbers, columns=list(SAMPLES.columns))
