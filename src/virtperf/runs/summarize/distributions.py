"""Independent samples and histograms that are shown as they are: figures of distributions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from rawperf.core.buckets import BUCKET
from virtperf.runs.summarize.buckets import run_buckets
from virtperf.runs.summarize.series import RunSeries, converted
from virtperf.study.definition import Exhibit, Study

KIND = "distribution"
"""The kind of exhibit in study.yaml."""


def distribution_rows(study: Study, exhibit: Exhibit, run: RunSeries) -> Iterator[dict[str, Any]]:
    """Every sample of a run that a figure of distributions shows, ascending, or every bucket of its
    histogram: rows of `DISTRIBUTIONS`.

    A series shows the metric that its quantity is observed by, of the runs at its levels; a series
    over time has no independent samples, and gives no row. Raises as `converted`.
    """
    for series, _, quantity in study.points(exhibit):
        if not _at(run.info["factors"], dict(quantity.at)):
            continue
        kind = study.quantities[quantity.name]
        for source in kind.observed.get("from", ()):
            found = _shown(run, source, f"{exhibit.id}, {series.label}", kind.unit)
            if found is None:
                continue
            for lower, value, count in found:
                yield {
                    "exhibit": exhibit.id,
                    "series": series.label,
                    "unit": kind.unit,
                    "provenance": run.info["provenance"],
                    "run_id": run.info["run_id"],
                    "lower": lower,
                    "value": value,
                    "count": count,
                }
            break


def _shown(
    run: RunSeries, source: Mapping[str, Any], name: str, unit: str
) -> list[tuple[float, float, float]] | None:
    """Both bounds and the count of each sample or bucket, in `unit`; None where the run has none."""
    if source["entity_kind"] == BUCKET:
        buckets = run_buckets(run, source, name, unit)
        if buckets is None:
            return None
        columns = (buckets.counts.lower, buckets.counts.upper, buckets.counts.count)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [row for row in rows if row[2] > 0]
    if not run.independent:
        return None
    _, found = run.of(source["metric"], source["entity_kind"], entity=source.get("entity", "*"))
    if not found:
        return None
    factor = converted(name, "quantity", run.metrics[source["metric"]]["unit"], unit)
    values = np.sort(np.concatenate([s.value for s in found.values()]))
    return [(value, value, 1.0) for value in (values * factor).tolist()]


def _at(levels: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(levels.get(name) == level for name, level in wanted.items())
