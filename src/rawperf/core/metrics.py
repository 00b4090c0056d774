"""Metric dictionary: name, unit and definition of every metric, and the raw fields it is read from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from rawperf.core.errors import RawperfError, Report, StudyError, did_you_mean, raise_problem
from rawperf.core.model import Flag, InsertKeyAsName, Model, Texts, load_model
from rawperf.core.sample_rows import HOST, SampleRows, build_samples
from rawperf.core.table_columns import factorize_rows, texts_at
from rawperf.core.units import conversion_factor, rate_unit
from rawperf.core.yamlio import Document

MetricKind = Literal["gauge", "counter", "total", "event"]


class Source(Model):
    """Raw field that a metric is read from, and its factor to the metric's unit.

    The factor of a counter is per second. A loaded dictionary has one source per `format`.
    `entity`: use only the records of this entity, which stand for the whole host or guest (``all``
    of a table of processors). `minus`: subtract the field in a sum. `declared`: the field of a
    declared format, which measures the metric itself, or one that is added, also under ``"rest"``.
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
    declared: Flag = Field(False, alias="<declared>")
    factor: float = Field(1.0, alias="<factor>")


class Metric(Model):
    """One metric of the dictionary.

    `kind`: ``gauge`` (instantaneous, or the mean of the interval that ends then), ``counter``
        (cumulative in the raw file, a rate in samples), ``total`` (one number a run), ``event``
        (one sample an event, such as a request, with the event's own number, at its end).
    `combine`: ``"sum"``: sum of all fields of one report; ``"present"``: sum of those that are
        present; ``"rest"``: 1 minus the sum of those that are present, the first of which is
        required; ``""``: fields are alternative spellings.
    `better`: ``"higher"`` (a throughput), ``"lower"`` (a response time), or ``""`` for neither.
    `counts`: metric whose events this one counts, per second or as a share of the events of all
        metrics in `among`.
    """

    name: str = Field(alias="<name>", pattern=r"^[a-z][a-z0-9_]*$")
    unit: str
    definition: str = Field(min_length=10)
    kind: MetricKind = "gauge"
    combine: Literal["", "sum", "present", "rest"] = ""
    better: Literal["", "higher", "lower"] = ""
    counts: str = ""
    among: Texts = ()
    sources: tuple[Source, ...] = ()

    @property
    def formats(self) -> tuple[str, ...]:
        """Formats that the metric can be read from, in order of preference: events come first."""
        return tuple(dict.fromkeys((*self.event_formats, *(s.format for s in self.sources))))

    @property
    def event_formats(self) -> tuple[str, ...]:
        """Formats with one sample an event."""
        return tuple(dict.fromkeys(s.format for s in self.sources if s.kind == "event"))

    @property
    def kinds(self) -> dict[str, MetricKind]:
        """Kind of the samples by format, which may differ: a mean of an interval, or single values."""
        return {source.format: source.kind or self.kind for source in self.sources}


class _File(Model):
    metrics: Annotated[dict[str, Metric], InsertKeyAsName]
    renamed: dict[str, str] = {}


_NAMES = ["report", "entity_kind", "entity", "field"]
SeriesName = tuple[str, str, str, str]
"""Entity kind, entity, metric and kind of a value."""


@dataclass(frozen=True)
class Translation:
    """Values in the dictionary's units, in the order of their records.

    `order` is the position of a value's record, of the first part for a combined metric; `code` is an
    index into `series`. A record has no value, or one for each metric of its field.
    """

    order: np.ndarray
    code: np.ndarray
    value: np.ndarray
    series: list[SeriesName]

    def has_kind(self, kind: MetricKind) -> np.ndarray:
        """Mask of the values of a kind."""
        return np.array([own == kind for *_, own in self.series], dtype=bool)[self.code]

    def rows(self, **columns: np.ndarray) -> SampleRows:
        """Build samples; `columns` of `ROW` have a number for each record, `order` is set."""
        return build_samples(
            len(self.code),
            series=self.code,
            counter=self.has_kind("counter"),
            event=self.has_kind("event"),
            value=self.value,
            order=self.order,
            **{name: column[self.order] for name, column in columns.items()},
        )


class MetricDictionary:
    """All metrics, and the translation of raw records into them.

    `renamed` maps names of earlier versions to those that replace them.
    """

    def __init__(
        self, metrics: Iterable[Metric], renamed: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self.metrics = {metric.name: metric for metric in metrics}
        self.renamed = dict(renamed)
        # keyed by format, report, entity kind and field, or metric
        self._sources_by_field: dict[tuple[str, str, str, str], list[tuple[Metric, Source]]] = {}
        self._fields_by_metric: dict[tuple[str, str, str, str], list[str]] = {}
        for metric in self.metrics.values():
            for source in metric.sources:
                key_prefix = (source.format, source.report, source.entity_kind)
                self._sources_by_field.setdefault((*key_prefix, source.field), []).append(
                    (metric, source)
                )
                self._fields_by_metric.setdefault((*key_prefix, metric.name), []).append(
                    source.field
                )

    def __getitem__(self, name: str) -> Metric:
        return self.metrics[name]

    def __contains__(self, name: str) -> bool:
        return name in self.metrics

    def counted(self, metric: Metric) -> tuple[Metric, ...]:
        """Metrics of the events among which a metric counts: where these have samples, it has a
        value, be it 0.
        """
        groups = [m.among for m in self.metrics.values() if metric.counts in m.among]
        names = dict.fromkeys((metric.counts, *(name for group in groups for name in group)))
        return tuple(self.metrics[name] for name in names if name in self.metrics)

    def suggest(self, name: str) -> str:
        """Remedy for a name that is not in the dictionary: its new name, or similar names."""
        if name in self.renamed:
            return f"write {self.renamed[name]!r}, its name since this version."
        return did_you_mean(name, self.metrics)

    def translate(self, records: pd.DataFrame, format_name: str) -> Translation:
        """Translate raw records into metrics.

        Counters stay cumulative. A value is NaN if parts of a sum, or the first part of a rest, are
        missing. `records` has the columns of `ParsedFile.records`; the parts of a combined metric have
        equal times, and are equal in all further columns.
        """
        combination, source_counts, series, sources = self._lookup_sources(records, format_name)
        order, code = _expand_rows(combination, np.array(source_counts, dtype=np.int64))
        factors = np.array([source.factor for _, source in sources], dtype=float)
        with np.errstate(over="ignore"):
            value = records["value"].to_numpy(dtype=float)[order] * factors[code]
        found = Translation(order, code, value, series)
        if any(metric.combine for metric, _ in sources):
            return _combine_parts(found, records, sources, self._fields_by_metric)
        return found

    def _lookup_sources(
        self, records: pd.DataFrame, format_name: str
    ) -> tuple[np.ndarray, list[int], list[SeriesName], list[tuple[Metric, Source]]]:
        """Look up sources by distinct names: index per record, source counts, names, sources."""
        combination, first_rows = factorize_rows(records, _NAMES)
        source_counts: list[int] = []
        series: list[SeriesName] = []
        sources: list[tuple[Metric, Source]] = []
        for report, kind, entity, name in zip(
            *(texts_at(records[n], first_rows) for n in _NAMES), strict=True
        ):
            candidates = self._sources_by_field.get((format_name, report, kind, name), ())
            applicable = [
                candidate for candidate in candidates if candidate[1].entity in (None, "", entity)
            ]
            source_counts.append(len(applicable))
            sources += applicable
            series += [
                (*((HOST, "") if s.entity else (kind, entity)), metric.name, s.kind)
                for metric, s in applicable
            ]
        return combination, source_counts, series, sources


def _combine_parts(
    found: Translation,
    records: pd.DataFrame,
    sources: list[tuple[Metric, Source]],
    fields_by_metric: dict[tuple[str, str, str, str], list[str]],
) -> Translation:
    """Combine the parts of combined metrics into one value, at the first part."""
    group_numbers: dict[tuple[str, ...], int] = {}
    group, n_required = np.full((2, len(sources)), -1)
    is_first, is_rest = np.zeros((2, len(sources)), dtype=bool)
    for k, ((metric, source), name) in enumerate(zip(sources, found.series, strict=True)):
        if metric.combine:
            fields = fields_by_metric[source.format, source.report, source.entity_kind, metric.name]
            group[k] = group_numbers.setdefault((*name, source.report), len(group_numbers))
            n_required[k] = 1 if metric.combine == "present" else len(fields)
            is_first[k] = source.field == fields[0]
            is_rest[k] = metric.combine == "rest" and not source.declared
    combined = group[found.code] >= 0
    codes, part_values = found.code[combined], found.value[combined]
    same = records.drop(columns=[*_NAMES, "value"]).take(found.order[combined])
    same["group"] = group[codes]
    combination, first = factorize_rows(same, list(same.columns))
    total = pd.Series(part_values).groupby(combination, sort=False).transform("sum").to_numpy()
    count, n_first = (
        np.bincount(combination, weights=mask)[combination]
        for mask in (~np.isnan(part_values), is_first[codes])
    )
    is_complete = np.where(is_rest[codes], n_first == 1, count >= n_required[codes])
    value = found.value.copy()
    value[combined] = np.where(is_complete, np.where(is_rest[codes], 1.0 - total, total), np.nan)
    is_first_of_group = np.zeros(len(codes), dtype=bool)
    is_first_of_group[first] = True
    is_kept = np.ones(len(value), dtype=bool)
    is_kept[combined] = is_first_of_group
    return Translation(found.order[is_kept], found.code[is_kept], value[is_kept], found.series)


def _expand_rows(
    combination: np.ndarray, source_counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Repeat each row `source_counts[combination]` times; return row numbers and source indices."""
    first = np.cumsum(source_counts) - source_counts
    if source_counts.max(initial=0) <= 1:
        row = np.flatnonzero(source_counts.astype(bool)[combination])
        return row, first[combination[row]]
    repeats = source_counts[combination]
    row = np.repeat(np.arange(len(combination)), repeats)
    source_rank = np.arange(len(row)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    return row, first[combination[row]] + source_rank


def load_metrics(path: Path, report: Report = raise_problem) -> MetricDictionary:
    """Load `src/rawperf/metrics.yaml`; raises `StudyError` with file and line of any mistake.

    A valid dictionary is cached by the file's bytes, whatever its path: every raw file that is read
    needs it, and building it takes longer than reading most of them.
    """
    if path.is_file():
        try:
            return _load_cached(_ContentKey(path.read_bytes(), path))
        except StudyError:
            if report is raise_problem:
                raise
    return _load(path, report)


@dataclass(frozen=True)
class _ContentKey:
    """Cache key: equal if the bytes are equal."""

    data: bytes
    path: Path = field(compare=False)


@lru_cache(maxsize=4)
def _load_cached(content: _ContentKey) -> MetricDictionary:
    return _load(content.path, raise_problem)


def _load(path: Path, report: Report) -> MetricDictionary:
    file, document = load_model(path, _File, report)
    for old, new in file.renamed.items():
        if new not in file.metrics:
            report(document.error(f"{new!r} is not a metric", "renamed", old))
    for name, metric in file.metrics.items():
        for counted in filter(None, (metric.counts, *metric.among)):
            if counted not in file.metrics:
                report(document.error(f"{counted!r} is not a metric", "metrics", name))
    metrics = (_with_factors(document, metric, report) for metric in file.metrics.values())
    return MetricDictionary(metrics, file.renamed)


def _with_factors(document: Document, metric: Metric, report: Report) -> Metric:
    """Copy a metric with the conversion factor of every source."""
    sources: list[Source] = []
    seen = set()
    for position, source in enumerate(metric.sources):
        kind = source.kind or metric.kind
        path = ("metrics", metric.name, "sources", position)
        if source.minus and metric.combine not in ("sum", "present"):
            report(
                document.error(
                    "minus is only valid for parts of a sum",
                    *path,
                    expected="combine: sum or present",
                )
            )
        try:
            factor = conversion_factor(
                rate_unit(source.unit) if kind == "counter" else source.unit, metric.unit
            )
        except RawperfError as err:
            report(document.error(str(err), *path))
            continue
        for name in source.formats:
            key = (name, source.report, source.field, source.entity_kind, source.entity)
            if key in seen:
                report(document.error(f"{metric.name} has the same source field twice", *path))
            seen.add(key)
            signed = -factor if source.minus else factor
            sources.append(
                source.model_copy(update={"format": name, "kind": kind, "factor": signed})
            )
    return metric.model_copy(update={"sources": tuple(sources)})
