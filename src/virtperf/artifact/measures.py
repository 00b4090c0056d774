"""Numbers of the planned runs: what a study can observe, and the samples of each run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rawperf.core.buckets import BUCKET
from rawperf.core.errors import RawperfError, visible
from rawperf.core.metrics import MetricDictionary
from rawperf.core.table_columns import concat_tables
from rawperf.declared.read import DeclaredFormat
from rawperf.tidy import RawTables
from virtperf.artifact.declarations import DeclaredTable
from virtperf.artifact.inspection import InspectedFile
from virtperf.artifact.path_layout import TEST, ProposedRun
from virtperf.artifact.undeclared_tables import is_number
from virtperf.core.grouping import grouped
from virtperf.core.order_statistics import percentile

MAX_PER_TEST, MAX_UNRATED = 10, 4
"""Most numbers of known formats that are proposed for a test, and most of them that do not tell how
good a result is; others can be added by hand."""
_FURTHER_PERCENTILE = re.compile(r"_p(?!50$|99$)\d[\d_]*$")
MAX_READ_BYTES = 64 * 1024**2
MAX_ENTITIES = 1_000


@dataclass
class Measure:
    """A number that runs have, with its samples by the index of the run: a quantity of the draft, by its
    `name`, with its `statistic` ("" for the mean).

    `entities` is the largest number of entities of one run; samples of several entities are their
    means. `is_unit_known` is false for a placeholder.
    """

    metric: str
    entity_kind: str
    unit: str
    label: str
    better: str = ""
    is_unit_known: bool = True
    entities: int = 1
    samples: dict[int, np.ndarray] = field(default_factory=dict)
    name: str = ""
    statistic: str = ""

    @property
    def combine(self) -> str:
        """How the numbers of several entities make one: rates and amounts add up."""
        adds = self.unit.endswith("/s") or self.unit in ("B", "count")
        return "sum" if self.entities == 1 or adds else "mean"

    def combined(self, run: int) -> np.ndarray:
        """Samples of one entity, else one number of all."""
        samples = self.samples[run]
        if self.entities == 1:
            return samples
        return np.array([samples.sum() if self.combine == "sum" else samples.mean()])

    def value(self, run: int) -> float:
        """Value of a run; a median is an order statistic, as in the stage `runs`."""
        samples = self.combined(run)
        return percentile(samples, 0.5) if self.statistic else float(samples.mean())

    @property
    def title(self) -> str:
        words = visible(self.label)
        return f"{words[:1].upper()}{words[1:]}"

    @property
    def entry(self) -> dict[str, Any]:
        """The entry of study.yaml."""
        observed: dict[str, Any] = {
            "from": [{"metric": self.metric, "entity_kind": self.entity_kind}],
            "combine": self.combine,
        }
        if self.statistic:
            observed["statistic"] = self.statistic
        low = min((float(s.min()) for s in self.samples.values()), default=0.0)
        return {
            "label": self.title,
            "unit": self.unit,
            "bounds": [0 if low >= 0 else None, None],
            "observed": observed,
        }


@dataclass(frozen=True)
class Measures:
    """All numbers, in order of the runs, and the errors of files that can't be read."""

    proposed: tuple[Measure, ...]
    others: Mapping[str, tuple[str, ...]]
    errors: Mapping[str, str]


def collect_measures(
    root: Path,
    runs: Sequence[ProposedRun],
    declared: Mapping[str, DeclaredTable],
    dictionary: MetricDictionary,
    inputs: Sequence[DeclaredFormat] = (),
) -> Measures:
    """Read the files of all runs; `others` has the metrics that are not proposed, by test."""
    found: dict[tuple[str, str], Measure] = {}
    errors: dict[str, str] = {}
    series: dict[str, dict[str, None]] = {}
    for number, run in enumerate(runs):
        for file in run.files:
            if file.table is not None and file.shape in declared:
                _add_cells(found, number, file, run.rows, declared[file.shape])
            elif file.kind == "format":
                try:
                    timed = _add_records(found, number, root / file.path, file, dictionary, inputs)
                    series.setdefault(str(run.factors.get(TEST, "")), {}).update(timed)
                except RawperfError as err:
                    errors[file.path] = visible(err.problem)
                except OSError as err:
                    errors[file.path] = visible(err.strerror or err)
    proposed, others = _selected(list(found.values()), runs)
    for test, timed in series.items():
        words = tuple(f"{metric} (times: its runs need a duration)" for metric in timed)
        if words:
            others[test] = others.get(test, ()) + words
    return Measures(tuple(proposed), others, errors)


def _add_cells(
    found: dict[tuple[str, str], Measure],
    run: int,
    file: InspectedFile,
    cells: Mapping[str, str],
    declared: DeclaredTable,
) -> None:
    table, roles = file.table, file.roles
    assert table is not None
    chosen = [
        dict(zip(table.names, row, strict=True))
        for row in table.rows
        if all(row[table.names.index(name)] == cell for name, cell in cells.items())
    ]
    for each in declared.fields:
        if roles.names:
            texts = [row[roles.numbers[-1]] for row in chosen if row[roles.names] == each.field]
        else:
            texts = [row[each.field] for row in chosen]
        values = np.array([float(text) for text in texts if is_number(text)])
        if len(values):
            measure = found.setdefault(
                (each.metric, "host"),
                Measure(
                    each.metric, "host", each.unit, each.label, is_unit_known=each.is_unit_known
                ),
            )
            measure.samples[run] = values


def _add_records(
    found: dict[tuple[str, str], Measure],
    run: int,
    path: Path,
    file: InspectedFile,
    dictionary: MetricDictionary,
    inputs: Sequence[DeclaredFormat],
) -> dict[str, None]:
    """Add the numbers of a file; returns the metrics that are series with times, which a run without
    a clock does not have.
    """
    timed: dict[str, None] = {}
    if path.stat().st_size > MAX_READ_BYTES:
        return timed
    with path.open("rb") as stream:
        raw = RawTables(stream, file=file.path, inputs=inputs, dictionary=dictionary)
        table = concat_tables(list(raw.tables()))
    table = table[(table["metric"] != "") & np.isfinite(table["metric_value"])]
    table = table[table["entity_kind"] != BUCKET]
    for (metric, kind), part in table.groupby(["metric", "entity_kind"], sort=False):
        by_entity = part.groupby("entity", sort=False)["metric_value"]
        count = by_entity.ngroups
        if count > MAX_ENTITIES:
            continue
        if raw.clock not in ("none", "sample") and part["t"].nunique() > 1:
            timed[str(metric)] = None
            continue
        known = dictionary[str(metric)]
        measure = found.setdefault(
            (str(metric), str(kind)),
            Measure(
                str(metric),
                str(kind),
                known.unit,
                str(metric).replace("_", " "),
                known.better,
            ),
        )
        measure.entities = max(measure.entities, count)
        values = part["metric_value"] if count == 1 else by_entity.mean()
        measure.samples[run] = pd.Series(values).to_numpy(dtype=float)
    return timed


def _selected(
    measures: Iterable[Measure], runs: Sequence[ProposedRun]
) -> tuple[list[Measure], dict[str, tuple[str, ...]]]:
    """Select all numbers of tables, and of known formats those that tell how good a result is."""
    kept: dict[int, Measure] = {}
    all_measures = list(measures)
    by_test = grouped(
        (test, measure)
        for measure in all_measures
        for test in dict.fromkeys(str(runs[run].factors.get(TEST, "")) for run in measure.samples)
    )
    others: dict[str, tuple[str, ...]] = {}
    for test, of_test in by_test.items():
        tables = [m for m in of_test if m.metric.startswith("published_")]
        formats = [m for m in of_test if not m.metric.startswith("published_")]
        ranked = sorted(formats, key=_rank)
        rated = [m for m in ranked if m.better][:MAX_PER_TEST]
        unrated = [m for m in ranked if not m.better][: 0 if rated else MAX_UNRATED]
        for measure in [*tables, *rated, *unrated]:
            kept[id(measure)] = measure
        rest = [m.metric for m in ranked if id(m) not in kept]
        if rest:
            others[test] = tuple(rest)
    return [m for m in all_measures if id(m) in kept], others


def _rank(measure: Measure) -> tuple[bool, int]:
    return bool(_FURTHER_PERCENTILE.search(measure.metric)), -len(measure.samples)
