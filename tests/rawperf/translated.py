"""Translated records as a frame."""

from __future__ import annotations

import pandas as pd

from rawperf.core.metrics import MetricDictionary


def translate(
    dictionary: MetricDictionary, records: pd.DataFrame, format_name: str
) -> pd.DataFrame:
    """Records with a metric, one row per value: their other columns, the value in the metric's
    unit, and the columns of its name.
    """
    found = dictionary.translate(records, format_name)
    rows = records.drop(columns=["report", "entity_kind", "entity", "field"]).iloc[found.order]
    names = pd.DataFrame(found.series, columns=["entity_kind", "entity", "metric", "kind"])
    columns = names.iloc[found.code].to_dict("list")
    return rows.reset_index(drop=True).assign(value=found.value, **columns)
