"""Independent samples that are shown as they are: figures of distributions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from virtperf.runs.summarize.observations import converted
from virtperf.runs.summarize.series import RunSeries
from virtperf.study.definition import Exhibit, Study

KIND = "distribution"
"""The kind of exhibit in study.yaml."""


def distribution(study: Study, exhibit: Exhibit, run: RunSeries) -> Iterator[dict[str, Any]]:
    """Every sample of a run that a figure of distributions shows, ascending: rows of
    `DISTRIBUTIONS`.

    A series shows the metric that its quantity is observed by, of the runs at its levels; a series
    over time has no independent samples, and gives no row. Raises as `converted`.
    """
    if not run.independent:
        return
    for series, _, quantity in study.points(exhibit):
        if not _at(run.info["factors"], dict(quantity.at)):
            continue
        kind = study.quantities[quantity.name]
        for source in kind.observed.get("from", ()):
            _, found = run.of(
                source["metric"], source["entity_kind"], entity=source.get("entity", "*")
            )
            if not found:
                continue
            unit = run.metrics[source["metric"]]["unit"]
            factor = converted(f"{exhibit.id}, {series.label}", "quantity", unit, kind.unit)
            for value in np.sort(np.concatenate([s.value for s in found.values()])).tolist():
                yield {
                    "exhibit": exhibit.id,
                    "series": series.label,
                    "unit": kind.unit,
                    "provenance": run.info["provenance"],
                    "run_id": run.info["run_id"],
                    "value": value * factor,
                }
            break


def _at(levels: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(levels.get(name) == level for name, level in wanted.items())
