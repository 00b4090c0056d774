"""The metric dictionary: every metric's name, unit, definition, and the raw fields that it is read from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from virtperf.units import conversion_factor
from virtperf.yamlio import load_yaml

KINDS = ("gauge", "counter", "total")


@dataclass(frozen=True)
class Source:
    """One raw field that a metric is read from, with the factor to the metric's unit."""

    format: str
    report: str
    field: str
    entity_kind: str
    unit: str
    factor: float


@dataclass(frozen=True)
class Metric:
    """One metric of the dictionary; `kind` is one of `KINDS`."""

    name: str
    unit: str
    definition: str
    kind: str
    sources: tuple[Source, ...]


class MetricDictionary:
    """All metrics, and the translation of raw records into them."""

    def __init__(self, metrics: tuple[Metric, ...]) -> None:
        self.metrics = {metric.name: metric for metric in metrics}
        self._by_format: dict[str, dict[tuple[str, str, str], tuple[str, float]]] = {}
        for metric in metrics:
            for source in metric.sources:
                table = self._by_format.setdefault(source.format, {})
                table[source.report, source.entity_kind, source.field] = (metric.name, source.factor)

    def __getitem__(self, name: str) -> Metric:
        return self.metrics[name]

    def __contains__(self, name: str) -> bool:
        return name in self.metrics

    def translate(self, records: pd.DataFrame, format_name: str) -> pd.DataFrame:
        """Raw records as metrics in the dictionary's units.

        Parameters
        ----------
        records : DataFrame
            As in `Reading.records`.
        format_name : str

        Returns
        -------
        DataFrame
            Columns entity_kind, entity, metric, t, value; records of fields that no metric names are left out.
        """
        table = self._by_format.get(format_name, {})
        key = pd.DataFrame(list(table), columns=["report", "entity_kind", "field"]).astype("str")
        key["metric"] = [name for name, _ in table.values()]
        key["factor"] = [factor for _, factor in table.values()]
        found = records.merge(key, on=["report", "entity_kind", "field"], how="inner", sort=False)
        found["value"] = found["value"] * found["factor"]
        return found[["entity_kind", "entity", "metric", "t", "value"]]


def load_metrics(path: Path) -> MetricDictionary:
    """Load `data/metrics.yaml`.

    Raises
    ------
    StudyError
        With file and line, for a missing unit, an unknown kind or a conversion that does not exist.
    """
    document = load_yaml(path, "metrics")
    metrics = []
    for name, entry in document.data["metrics"].items():
        sources = []
        for position, source in enumerate(entry.get("sources", ())):
            try:
                factor = conversion_factor(source["unit"], entry["unit"])
            except Exception as err:
                raise document.error(str(err), "metrics", name, "sources", position) from err
            sources.append(
                Source(
                    source["format"], source.get("report", ""), source["field"], source["entity_kind"],
                    source["unit"], factor,
                )
            )  # fmt: skip
        metrics.append(Metric(name, entry["unit"], entry["definition"], entry.get("kind", "gauge"), tuple(sources)))
    return MetricDictionary(tuple(metrics))
