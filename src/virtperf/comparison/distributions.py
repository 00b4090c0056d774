"""Single values of a run: samples of one request each, rows of a table, buckets of histograms.

Those of all drivers and files of a run are merged. Percentiles that a tool printed stay what they are:
one of a run can be compared, several of a run have no mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from rawperf.hdrhistogram.read import BUCKET, COUNT
from virtperf.models.percentiles import Distribution, merged

SINGLE_VALUES = frozenset({"single_response_time"})
"""Metrics that have a sample a request."""
RECORDED_VALUE = "recorded value"
"""The values of a histogram, whose unit its log does not say."""
SEVERAL = (
    "it is a percentile, of which there are several in a run: the mean of percentiles of several drivers "
    "or intervals is no percentile"
)


def distributions_of(frame: pd.DataFrame) -> dict[str, Distribution]:
    """The distributions that a file holds, by what they are of: single values and buckets of all
    drivers and intervals, merged; of a table every column of numbers.
    """
    if "metric_value" not in frame.columns:
        numbers = frame.select_dtypes("number")
        finite = {str(name): column[np.isfinite(column)] for name, column in numbers.items()}
        return {name: Distribution.of(column) for name, column in finite.items() if len(column)}
    found = {}
    for metric in sorted(SINGLE_VALUES & {*frame["metric"].unique()}):
        values = frame["metric_value"][frame["metric"] == metric]
        found[metric] = Distribution.of(values[np.isfinite(values)])
    if (recorded := buckets_of(frame)) is not None:
        found[RECORDED_VALUE] = recorded
    return found


def buckets_of(frame: pd.DataFrame) -> Distribution | None:
    """The values that the histograms of a file hold, of all drivers and intervals; None without
    one.
    """
    rows = frame[(frame["entity_kind"] == BUCKET) & (frame["field"] == COUNT)]
    if rows.empty:
        return None
    return Distribution.of(rows["entity"].astype(float), rows["value"])


def merged_over_files(of_files: Iterable[Mapping[str, Distribution]]) -> dict[str, Distribution]:
    """The distributions of all files of a run: drivers' own are one."""
    gathered: dict[str, list[Distribution]] = {}
    for of_file in of_files:
        for name, found in of_file.items():
            gathered.setdefault(name, []).append(found)
    return {name: merged(parts) for name, parts in gathered.items()}
