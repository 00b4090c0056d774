"""Recorded values of histograms: buckets merged over drivers and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rawperf.core.errors import RunError
from rawperf.hdrhistogram import BUCKET, COUNT

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


def merge_buckets(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray] | None:
    """Merge the histogram buckets of a file over drivers and intervals: the values of the buckets
    and their counts; None without a histogram.
    """
    rows = frame[(frame["entity_kind"] == BUCKET) & (frame["field"] == COUNT)]
    if rows.empty:
        return None
    counts = rows["value"].groupby(rows["entity"].astype(float)).sum()
    counts = counts[counts > 0]
    if counts.empty:
        raise RunError("there are no values", expected="a histogram with at least one value")
    return counts.index.to_numpy(dtype=float), counts.to_numpy(dtype=float)
