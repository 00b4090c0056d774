"""The metric dictionary: every metric's name, unit, definition, and the raw fields that it is read from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from virtperf.core.errors import Report, VirtperfError, stop
from virtperf.core.model import Flag, Keyed, Model, Texts, load_model
from virtperf.core.units import conversion_factor, rate_unit
from virtperf.core.yamlio import Document

Kind = Literal["gauge", "counter", "total"]
WHOLE = "host"
"""Entity kind of records that describe the whole of whatever a file was written on."""


class Source(Model):
    """One raw field that a metric is read from, with the factor to the metric's unit.

    Attributes
    ----------
    format : str
        Of a dictionary that is loaded there is one source a format.
    entity : str or None
        Only records of this entity, which stand for the whole host or guest (``all`` of a table of processors).
    kind : str or None
        As the metric's, where it is another one for this field.
    minus : bool
        A part of a sum that is taken away.
    factor : float
        Of a counter: leads to the metric's unit after division by seconds.
    """

    formats: Texts = Field(alias="format")
    format: str = Field("", alias="<format>")
    report: str = ""
    field: str
    entity_kind: str
    unit: str
    entity: Annotated[str, Field(min_length=1)] | None = None
    kind: Kind | None = None
    minus: Flag = False
    factor: float = Field(1.0, alias="<factor>")


class Metric(Model):
    """One metric of the dictionary.

    Attributes
    ----------
    kind : str
        ``gauge`` (true at its time, or the mean of the interval that ends there), ``counter`` (cumulative in the raw
        file, a rate in samples), ``total`` (one number a run).
    combine : str
        ``"sum"`` where the fields of one report are parts that add up; ``"present"`` where those add up that are there;
        ``"rest"`` where they are the parts of a whole of 1 that the metric is not: it is what they leave, and of them
        the first must be there; else ``""``: they are other spellings.
    """

    name: str = Field(alias="<name>", pattern=r"^[a-z][a-z0-9_]*$")
    unit: str
    definition: str = Field(min_length=10)
    kind: Kind = "gauge"
    combine: Literal["", "sum", "present", "rest"] = ""
    sources: tuple[Source, ...] = ()

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats that it can be read from, the preferred one first."""
        return tuple(dict.fromkeys(source.format for source in self.sources))


class _File(Model):
    metrics: Annotated[dict[str, Metric], Keyed]


class MetricDictionary:
    """All metrics, and the translation of raw records into them."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self.metrics = {metric.name: metric for metric in metrics}
        self._by_format: dict[str, list[tuple[Metric, Source]]] = {}
        for metric in self.metrics.values():
            for source in metric.sources:
                self._by_format.setdefault(source.format, []).append((metric, source))
        self._keys: dict[str, pd.DataFrame] = {}

    def __getitem__(self, name: str) -> Metric:
        return self.metrics[name]

    def __contains__(self, name: str) -> bool:
        return name in self.metrics

    def translate(self, records: pd.DataFrame, format_name: str) -> pd.DataFrame:
        """Raw records as metrics in the dictionary's units.

        Parameters
        ----------
        records : DataFrame
            As in `Reading.records`; further columns are kept.
        format_name : str

        Returns
        -------
        DataFrame
            The columns of `records` without report and field, and with metric and kind, in the order of `records`;
            records of fields that no metric names are left out. A counter's value is still cumulative. Where the parts
            of a sum are incomplete, or the first part of a rest is missing, its value is NaN.
        """
        pairs, key = self._by_format.get(format_name, []), self._keys.get(format_name)
        if key is None:
            key = self._keys[format_name] = _key(pairs)
        found = records.merge(key, on=["report", "entity_kind", "field"], how="inner", sort=False)
        found["_kind"] = found["entity_kind"]
        filtered = (found["_only"] != "").to_numpy(dtype=bool)
        if filtered.any():
            keep = ~filtered | (found["entity"] == found["_only"]).to_numpy(dtype=bool)
            found.loc[filtered, ["entity_kind", "entity"]] = [WHOLE, ""]
            found = found[keep]
        found["value"] = found["value"] * found["_factor"]
        found = self._with_sums(found, pairs)
        return found.drop(columns=["field", "_only", "_factor", "_kind", "report"]).reset_index(drop=True)

    def _with_sums(self, found: pd.DataFrame, pairs: list[tuple[Metric, Source]]) -> pd.DataFrame:
        """Combine the parts of metrics that have some; the first part's row carries the result."""
        parts: dict[tuple[str, str, str], list[str]] = {}
        for metric, source in pairs:
            if metric.combine:
                parts.setdefault((metric.name, source.report, source.entity_kind), []).append(source.field)
        combined = found["metric"].isin({name for name, _, _ in parts}).to_numpy(dtype=bool)
        if not combined.any():
            return found
        rows = found[combined]
        same = [c for c in rows.columns if c not in ("value", "line", "field", "_kind", "_factor", "_only")]
        keys = list(zip(rows["metric"], rows["report"], rows["_kind"], strict=True))
        first = rows["field"].to_numpy() == np.array([parts[key][0] for key in keys], dtype=object)
        rest = np.array([self.metrics[name].combine == "rest" for name in rows["metric"]])
        groups = rows.assign(_first=first).groupby(same, sort=False, dropna=False)
        total, count = groups["value"].transform("sum").to_numpy(), groups["value"].transform("count").to_numpy()
        wanted = [1 if self.metrics[key[0]].combine == "present" else len(parts[key]) for key in keys]
        whole = np.where(rest, groups["_first"].transform("sum") == 1, count >= wanted)
        rows = rows.assign(value=np.where(whole, np.where(rest, 1.0 - total, total), np.nan))
        together = pd.concat([found[~combined], rows[~rows.duplicated(same)]])
        return together.sort_index()


def _key(pairs: list[tuple[Metric, Source]]) -> pd.DataFrame:
    """What tells which metric a record belongs to."""
    return pd.DataFrame(
        {
            "report": pd.array([s.report for _, s in pairs], dtype="str"),
            "entity_kind": pd.array([s.entity_kind for _, s in pairs], dtype="str"),
            "field": pd.array([s.field for _, s in pairs], dtype="str"),
            "_only": pd.array([s.entity or "" for _, s in pairs], dtype="str"),
            "_factor": np.array([s.factor for _, s in pairs], dtype=float),
            "metric": pd.array([m.name for m, _ in pairs], dtype="str"),
            "kind": pd.array([s.kind for _, s in pairs], dtype="str"),
        }
    )


def load_metrics(path: Path, report: Report = stop) -> MetricDictionary:
    """Load `data/metrics.yaml`.

    Parameters
    ----------
    path : Path
    report : callable, optional
        Told of every problem that leaves something to load, so that all can be listed.

    Raises
    ------
    StudyError
        With file and line, for a missing unit, an unknown kind, a conversion that does not exist, or a field that two
        sources of one metric name.
    """
    file, document = load_model(path, _File, report)
    return MetricDictionary(_converted(document, metric, report) for metric in file.metrics.values())


def _converted(document: Document, metric: Metric, report: Report) -> Metric:
    """The metric with the factor of every source."""
    sources: list[Source] = []
    seen = set()
    for position, source in enumerate(metric.sources):
        kind = source.kind or metric.kind
        where = ("metrics", metric.name, "sources", position)
        if source.minus and metric.combine not in ("sum", "present"):
            report(document.error("minus is for the parts of a sum", *where, expected="combine: sum"))
        try:
            factor = conversion_factor(rate_unit(source.unit) if kind == "counter" else source.unit, metric.unit)
        except VirtperfError as err:
            report(document.error(str(err), *where))
            continue
        for name in source.formats:
            place = (name, source.report, source.field, source.entity_kind, source.entity)
            if place in seen:
                report(document.error(f"{metric.name} names the same field twice", *where))
            seen.add(place)
            signed = -factor if source.minus else factor
            sources.append(source.model_copy(update={"format": name, "kind": kind, "factor": signed}))
    return metric.model_copy(update={"sources": tuple(sources)})
