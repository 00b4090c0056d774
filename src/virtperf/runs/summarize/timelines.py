"""Samples that are shown as they are: figures over time, and a thumbnail a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from virtperf.core.provenance import Provenance
from virtperf.runs.summarize.observations import converted
from virtperf.runs.summarize.series import RunSeries, SampleSeries
from virtperf.study.definition import Exhibit, Study

ORDER = (Provenance.MEASURED, Provenance.EXAMPLE)
THUMBNAIL_STEPS = 80
"""Steps of a thumbnail; longer series are averaged down to them."""
MIN_SAMPLES = 3


def chosen_runs(study: Study, exhibit: Exhibit, runs: Iterable[Mapping[str, Any]]) -> list[str]:
    """Of each provenance the first run, by its id, at the condition of a figure over time; in the
    order of `ORDER`.
    """
    wanted = study.filled(exhibit.run.at if exhibit.run else {})
    found: dict[str, str] = {}
    for run in sorted(runs, key=lambda run: (ORDER.index(run["provenance"]), run["run_id"])):
        if all(run["factors"].get(name) == level for name, level in wanted.items()):
            found.setdefault(run["provenance"], run["run_id"])
    return list(found.values())


def timeline_rows(exhibit: Exhibit, run: RunSeries) -> Iterator[dict[str, Any]]:
    """Every sample of a run that a figure over time shows, summed over entities: rows of
    `TIMELINES`.
    """
    for spec in exhibit.spec["series"]:
        _, found = run.of(spec["metric"], spec["entity_kind"], entity=str(spec.get("entity", "*")))
        if not found:
            continue
        factor = series_factor(exhibit, spec, run.metrics[spec["metric"]]["unit"])
        total = _summed(found.values())
        for t, value in zip(total.t.tolist(), total.value.tolist(), strict=True):
            yield {
                "exhibit": exhibit.id,
                "series": spec["label"],
                "unit": spec["unit"],
                "provenance": run.info["provenance"],
                "run_id": run.info["run_id"],
                "t_s": t,
                "value": value * factor,
            }


def series_factor(exhibit: Exhibit, spec: Mapping[str, Any], unit: str) -> float:
    """What a metric in `unit` is multiplied by to be in a series' unit; raises `StudyError` naming
    both without one.
    """
    return converted(f"{exhibit.id}, {spec['label']}", "series", unit, spec["unit"])


def thumbnail(study: Study, run: RunSeries) -> Iterator[dict[str, Any]]:
    """The first metric of the study's quantities that a run has, in at most `THUMBNAIL_STEPS` steps over its
    whole length.
    """
    for kind in study.quantities.values():
        for source in kind.observed.get("from", ()):
            _, found = run.of(source["metric"], source["entity_kind"])
            total = _summed(found.values()).value if found else np.zeros(0)
            if len(total) < MIN_SAMPLES:
                continue
            step = np.arange(len(total)) * min(THUMBNAIL_STEPS, len(total)) // len(total)
            means = np.bincount(step, weights=total) / np.bincount(step)
            for position, value in enumerate(means.tolist()):
                yield {
                    "run_id": run.info["run_id"],
                    "metric": source["metric"],
                    "step": position,
                    "value": value,
                }
            return


def _summed(series: Iterable[SampleSeries]) -> SampleSeries:
    """The sum of what all have at each time, totals left out."""
    parts = list(series)
    t, value = (np.concatenate([getattr(s, name) for s in parts]) for name in ("t", "value"))
    timed = np.isfinite(t)
    times, place = np.unique(t[timed], return_inverse=True)
    return SampleSeries(times, np.bincount(place, weights=value[timed], minlength=len(times)))
