"""Independent samples and histograms of a run: bucket counts within the window, statistics of them,
and figures of distributions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rawperf.core.buckets import BUCKET, Bucket, parse_bucket
from rawperf.core.errors import StudyError
from virtperf.core.estimate import BUCKETED, Estimate
from virtperf.core.order_statistics import BucketCounts
from virtperf.runs.summarize.series import (
    Combined,
    RunSeries,
    SampleSeries,
    Steady,
    checked_factor,
)
from virtperf.runs.summarize.steady import without_error
from virtperf.study.definition import Exhibit, Study

RATE = "1/s"
"""Unit of buckets from cumulative counts: their samples are rates of growth."""
INDEPENDENT_EVENTS = "the interval assumes independent events"


@dataclass(frozen=True)
class RunBuckets:
    """Buckets of a run, with bounds in the requested unit; `found` is their source."""

    counts: BucketCounts
    found: Combined


def run_buckets(
    run: RunSeries, source: Mapping[str, Any], name: str, unit: str
) -> RunBuckets | None:
    """Return the bucket counts of a metric within the run's window, with bounds in `unit`; None if
    the run has none.

    Equal buckets of several entities are added. Raises `StudyError` for an entity whose name has no
    bounds, and for a unit without a conversion.
    """
    metric, kind = source["metric"], source["entity_kind"]
    format_name, series = run.of(metric, kind, entity=source.get("entity", "*"))
    if not series:
        return None
    rate = run.metrics[metric]["unit"] == RATE
    sums: dict[Bucket, float] = {}
    for entity, samples in series.items():
        bucket = parse_bucket(entity)
        if bucket is None:
            raise StudyError(
                f"{name}: {entity!r} of {metric} is not a bucket",
                file="study.yaml",
                expected="a name such as 128 to 256 us",
                remedy="declare the bucket bounds in the declaration of the format (histogram: ...).",
            )
        factor = checked_factor(name, "quantity", bucket.unit, unit)
        converted_bucket = Bucket(bucket.lower * factor, bucket.upper * factor, unit)
        sums[converted_bucket] = sums.get(converted_bucket, 0.0) + _n_events(
            samples, run.window, rate
        )
    ordered = sorted(sums)
    columns = [(bucket.lower, bucket.upper, sums[bucket]) for bucket in ordered]
    lower, upper, count = (np.array(column, dtype=float) for column in zip(*columns, strict=True))
    steady = Steady(
        without_error(math.nan, 0, run.level, BUCKETED), math.nan, run.window[0], "", ()
    )
    combined = Combined(metric, format_name, kind, tuple(sorted(series)), steady)
    return RunBuckets(BucketCounts(lower, upper, count), combined)


def bucket_mean(
    buckets: BucketCounts, rule: Mapping[str, Any], limit: float, level: float
) -> Estimate:
    """Apply a quantity's rule to bucket counts; NaN without events, or if the quantile lies in an
    open-ended bucket.
    """
    if not buckets.n > 0:
        return without_error(math.nan, 0, level, BUCKETED)
    if rule["statistic"] == "above":
        return buckets.share_above(limit, level)
    if rule["statistic"] == "interquartile":
        return buckets.interquartile_range(level)
    found = buckets.quantile(
        rule.get("share", 0.5), level, interpolate=rule.get("interpolate", False)
    )
    return found if math.isfinite(found.value) else replace(found, value=math.nan)


def bucket_flags(buckets: BucketCounts, mean: Estimate) -> tuple[str, ...]:
    """Notes on a statistic of bucket counts."""
    if not buckets.n > 0:
        return ("no event in the window",)
    if math.isnan(mean.value):
        last = buckets.lower[~np.isfinite(buckets.upper)].max()
        return (f"the quantile is in the last bucket, which has no upper bound: above {last:g}",)
    return (INDEPENDENT_EVENTS,)


def _n_events(samples: SampleSeries, window: tuple[float, float], rate: bool) -> float:
    """Number of events counted by a bucket's samples in the window: the integral of a rate, or the
    sum of counts. A count of an interval that the window cuts is shared in proportion to time.
    """
    t, value = samples.t, samples.value
    if np.isnan(t).any():
        return float(value.sum())
    part = samples.overlap(window)
    if rate and len(t) == 1:  # a single rate covers the time since the window's begin
        seconds = t - (window[0] if math.isfinite(window[0]) else t - 1.0)
        return float((part.inside * seconds) @ value)
    if rate:
        return float(part.seconds @ value)
    lengths = t - samples.since
    shares = np.divide(part.seconds, lengths, out=part.weights.copy(), where=lengths > 0)
    return float(shares @ value)


KIND = "distribution"
"""Kind of exhibit in study.yaml."""


def distribution_rows(study: Study, exhibit: Exhibit, run: RunSeries) -> Iterator[dict[str, Any]]:
    """Yield all samples of a run for a figure of distributions, ascending, or all buckets of its
    histogram: rows of `DISTRIBUTIONS`.

    A series shows the metric observed for its quantity, from runs at its levels; a series over time
    has no independent samples, and gives no row. Raises as `checked_factor`.
    """
    for series, _, quantity in study.points(exhibit):
        if not _matches(run.info["factors"], dict(quantity.at)):
            continue
        kind = study.quantities[quantity.name]
        for source in kind.observed.get("from", ()):
            buckets = _bounds_and_counts(run, source, f"{exhibit.id}, {series.label}", kind.unit)
            if buckets is None:
                continue
            for lower, value, count in buckets:
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


def _bounds_and_counts(
    run: RunSeries, source: Mapping[str, Any], name: str, unit: str
) -> list[tuple[float, float, float]] | None:
    """Bounds and count of each sample or bucket, in `unit`; None if the run has none."""
    if source["entity_kind"] == BUCKET:
        buckets = run_buckets(run, source, name, unit)
        if buckets is None:
            return None
        columns = (buckets.counts.lower, buckets.counts.upper, buckets.counts.count)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [row for row in rows if row[2] > 0]
    if not run.independent:
        return None
    _, series = run.of(source["metric"], source["entity_kind"], entity=source.get("entity", "*"))
    if not series:
        return None
    factor = checked_factor(name, "quantity", run.metrics[source["metric"]]["unit"], unit)
    values = np.sort(np.concatenate([s.value for s in series.values()]))
    return [(value, value, 1.0) for value in (values * factor).tolist()]


def _matches(levels: Mapping[str, Any], at: Mapping[str, Any]) -> bool:
    return all(levels.get(name) == level for name, level in at.items())
