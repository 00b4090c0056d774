"""The metric dictionary: every metric's name, unit, definition, and the raw fields that it is read
from.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from rawperf.core.errors import RawperfError, Report, StudyError, stop
from rawperf.core.model import Flag, Keyed, Model, Texts, load_model
from rawperf.core.tables import coded, combinations
from rawperf.core.units import conversion_factor, rate_unit
from rawperf.core.yamlio import Document

MetricKind = Literal["gauge", "counter", "total"]
WHOLE = "host"
"""Entity kind of records that describe the whole of whatever a file was written on."""


class Source(Model):
    """One raw field that a metric is read from, with the factor to the metric's unit (of a counter
    per second).

    Of a dictionary that is loaded there is one source a `format`. With `entity`, only its records
    count, which stand for the whole host or guest (``all`` of a table of processors). `minus`: a
    part of a sum that is taken away.
    """

    formats: Texts = Field(alias="format")
    format: str = Field("", alias="<format>")
    report: str = ""
    field: str
    entity_kind: str
    unit: str
    entity: Annotated[str, Field(min_length=1)] | None = None
    kind: MetricKind | None = None
    minus: Flag = False
    factor: float = Field(1.0, alias="<factor>")


class Metric(Model):
    """One metric of the dictionary.

    `kind`: ``gauge`` (true at its time, or the mean of the interval that ends there), ``counter``
        (cumulative in the raw file, a rate in samples), ``total`` (one number a run).
    `combine`: ``"sum"`` where the fields of one report are parts that add up; ``"present"`` where
        those add up that are there; ``"rest"`` where they are the parts of a whole of 1 that the
        metric is not: it is what they leave, and of them the first must be there; else ``""``: they
        are other spellings.
    `better`: ``"higher"`` (a throughput) or ``"lower"`` (a response time); ``""`` where neither is
        better by itself.
    """

    name: str = Field(alias="<name>", pattern=r"^[a-z][a-z0-9_]*$")
    unit: str
    definition: str = Field(min_length=10)
    kind: MetricKind = "gauge"
    combine: Literal["", "sum", "present", "rest"] = ""
    better: Literal["", "higher", "lower"] = ""
    sources: tuple[Source, ...] = ()

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats that it can be read from, the preferred one first."""
        return tuple(dict.fromkeys(source.format for source in self.sources))


class _File(Model):
    metrics: Annotated[dict[str, Metric], Keyed]


_NAMES = ["report", "entity_kind", "entity", "field"]
Name = tuple[str, str, str, str]
"""Entity kind, entity, metric and kind of a value."""


@dataclass(frozen=True)
class Named:
    """Values in the dictionary's units: `names[which[k]]` is what row k of `rows` is of."""

    rows: pd.DataFrame
    which: np.ndarray
    names: list[Name]


@dataclass(frozen=True)
class Gauges:
    """Values of records in the dictionary's units, NaN where there is no metric: value k is of
    `metrics[which[k]]`, which is "" for none.
    """

    values: np.ndarray
    which: np.ndarray
    metrics: list[str]


class MetricDictionary:
    """All metrics, and the translation of raw records into them."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self.metrics = {metric.name: metric for metric in metrics}
        # by format, report and entity kind: what names a field, and the fields of a metric in their
        # order
        self._meant: dict[tuple[str, str, str, str], list[tuple[Metric, Source]]] = {}
        self._parts: dict[tuple[str, str, str, str], list[str]] = {}
        for metric in self.metrics.values():
            for source in metric.sources:
                place = (source.format, source.report, source.entity_kind)
                self._meant.setdefault((*place, source.field), []).append((metric, source))
                self._parts.setdefault((*place, metric.name), []).append(source.field)

    def __getitem__(self, name: str) -> Metric:
        return self.metrics[name]

    def __contains__(self, name: str) -> bool:
        return name in self.metrics

    def translate(self, records: pd.DataFrame, format_name: str) -> pd.DataFrame:
        """What `named` finds, as one table, with the columns entity_kind, entity, metric and
        kind.
        """
        found = self.named(records, format_name)
        texts = zip(*found.names, strict=True) if found.names else [()] * 4
        columns = zip(("entity_kind", "entity", "metric", "kind"), texts, strict=True)
        return found.rows.assign(
            **{name: coded(found.which, list(column)) for name, column in columns}
        )

    def named(self, records: pd.DataFrame, format_name: str) -> Named:
        """Raw records (`Reading.records`, perhaps with further columns) as metrics in the
        dictionary's units.

        Rows have the columns that are no texts, in the same order, without fields that no metric
        names. A counter is still cumulative. A value is NaN where parts of a sum are incomplete, or
        the first part of a rest is missing.
        """
        place, many, names, sources = self._looked_up(records, format_name)
        row, which = _repeated(place, np.array(many, dtype=np.int64))
        rows = records.drop(columns=_NAMES).take(row).reset_index(drop=True)
        rows["value"] *= np.array([source.factor for _, source in sources], dtype=float)[which]
        return _with_sums(Named(rows, which, names), sources, self._parts)

    def gauges(self, records: pd.DataFrame, format_name: str) -> Gauges | None:
        """The same where every metric is one number times a factor, row for row; None for counters,
        sums, and fields of several metrics.
        """
        place, many, names, sources = self._looked_up(records, format_name)
        if max(many, default=0) > 1:
            return None
        if any(metric.combine for metric, _ in sources) or any(n[3] == "counter" for n in names):
            return None
        known = np.array(many, dtype=bool)
        factors = np.full(len(many), np.nan)
        factors[known] = [source.factor for _, source in sources]
        which = np.zeros(len(many), dtype=np.int64)
        which[known] = np.arange(1, len(sources) + 1)
        with np.errstate(over="ignore"):
            values = records["value"].to_numpy(dtype=float) * factors[place]
        return Gauges(values, which[place], ["", *(metric.name for metric, _ in sources)])

    def _looked_up(
        self, records: pd.DataFrame, format_name: str
    ) -> tuple[np.ndarray, list[int], list[Name], list[tuple[Metric, Source]]]:
        """Which combination of names each record has, how many sources mean that, and these."""
        place, first = combinations(records, _NAMES)
        many: list[int] = []
        names: list[Name] = []
        sources: list[tuple[Metric, Source]] = []
        for report, kind, entity, name in zip(
            *(records[n].iloc[first].tolist() for n in _NAMES), strict=True
        ):
            meant = self._meant.get((format_name, report, kind, name), ())
            found = [each for each in meant if each[1].entity in (None, "", entity)]
            many.append(len(found))
            sources += found
            names += [
                (*((WHOLE, "") if s.entity else (kind, entity)), metric.name, s.kind)
                for metric, s in found
            ]
        return place, many, names, sources


def _with_sums(
    found: Named,
    sources: list[tuple[Metric, Source]],
    parts: dict[tuple[str, str, str, str], list[str]],
) -> Named:
    """Combine the parts of metrics that have some; the first of their rows carries the result."""
    if not any(metric.combine for metric, _ in sources):
        return found
    numbers: dict[tuple[str, ...], int] = {}
    group, wanted = np.full((2, len(sources)), -1)
    first, rest = np.zeros((2, len(sources)), dtype=bool)
    for k, ((metric, source), name) in enumerate(zip(sources, found.names, strict=True)):
        if metric.combine:
            those = parts[source.format, source.report, source.entity_kind, metric.name]
            group[k] = numbers.setdefault((*name, source.report), len(numbers))
            wanted[k] = 1 if metric.combine == "present" else len(those)
            first[k], rest[k] = source.field == those[0], metric.combine == "rest"
    combined = group[found.which] >= 0
    which, rows = found.which[combined], found.rows[combined]
    same, _ = combinations(
        rows.assign(group=group[which]), ["group", *(c for c in rows if c not in ("value", "line"))]
    )
    columns = {"value": rows["value"], "first": first[which], "same": same}
    groups = pd.DataFrame(columns).groupby("same", sort=False)
    total, count = (groups["value"].transform(what).to_numpy() for what in ("sum", "count"))
    whole = np.where(rest[which], groups["first"].transform("sum") == 1, count >= wanted[which])
    value, keep = found.rows["value"].to_numpy(copy=True), np.ones(len(combined), dtype=bool)
    value[combined] = np.where(whole, np.where(rest[which], 1.0 - total, total), np.nan)
    keep[combined] = groups.cumcount() == 0
    return Named(
        found.rows.assign(value=value)[keep].reset_index(drop=True), found.which[keep], found.names
    )


def _repeated(place: np.ndarray, many: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each row as often as `many` says for its place, and which of all that the places stand for it
    is.
    """
    times = many[place]
    row = np.repeat(np.arange(len(place)), times)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(times) - times, times)
    return row, (np.cumsum(many) - many)[place[row]] + nth


def load_metrics(path: Path, report: Report = stop) -> MetricDictionary:
    """Load `src/rawperf/metrics.yaml`; raises `StudyError` with file and line for whatever is wrong in
    it.

    A dictionary without mistakes is built once for the same bytes, wherever they stand: each raw
    file that is read asks for it, and building it takes longer than reading most of them.
    """
    if path.is_file():
        try:
            return _loaded(_Content(path.read_bytes(), path))
        except StudyError:
            if report is stop:
                raise
    return _load(path, report)


@dataclass(frozen=True)
class _Content:
    """Files of the same bytes are equal."""

    data: bytes
    path: Path = field(compare=False)


@lru_cache(maxsize=4)
def _loaded(content: _Content) -> MetricDictionary:
    return _load(content.path, stop)


def _load(path: Path, report: Report) -> MetricDictionary:
    file, document = load_model(path, _File, report)
    return MetricDictionary(
        _converted(document, metric, report) for metric in file.metrics.values()
    )


def _converted(document: Document, metric: Metric, report: Report) -> Metric:
    """The metric with the factor of every source."""
    sources: list[Source] = []
    seen = set()
    for position, source in enumerate(metric.sources):
        kind = source.kind or metric.kind
        where = ("metrics", metric.name, "sources", position)
        if source.minus and metric.combine not in ("sum", "present"):
            report(
                document.error("minus is for the parts of a sum", *where, expected="combine: sum")
            )
        try:
            factor = conversion_factor(
                rate_unit(source.unit) if kind == "counter" else source.unit, metric.unit
            )
        except RawperfError as err:
            report(document.error(str(err), *where))
            continue
        for name in source.formats:
            place = (name, source.report, source.field, source.entity_kind, source.entity)
            if place in seen:
                report(document.error(f"{metric.name} names the same field twice", *where))
            seen.add(place)
            signed = -factor if source.minus else factor
            sources.append(
                source.model_copy(update={"format": name, "kind": kind, "factor": signed})
            )
    return metric.model_copy(update={"sources": tuple(sources)})
