"""Recorded values of histograms: buckets merged over drivers and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rawperf.hdrhistogram import BUCKET, COUNT

if TYPE_CHECKING:
    import pandas as pd

    from virtperf.models.percentiles import Distribution


def merge_buckets(frame: pd.DataFrame) -> Distribution | None:
    """Merge the histogram buckets of a file over drivers and intervals; None without a histogram."""
    rows = frame[(frame["entity_kind"] == BUCKET) & (frame["field"] == COUNT)]
    if rows.empty:
        return None
    from virtperf.models.percentiles import Distribution

    return Distribution.of(rows["entity"].astype(float), rows["value"])
