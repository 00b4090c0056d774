"""What a preview shows of a file that is read part by part."""

from __future__ import annotations

import numpy as np
import pandas as pd

FIRST_RECORDS = 5
_FIELD = ["report", "entity_kind", "field"]
_SUMMED = {"size": "sum", "count": "sum", "sum": "sum", "min": "min", "max": "max"}


class FilePreview:
    """What has been seen of a file: its first records, the first and last time, entities and
    fields.

    A field's numbers are in the unit of its metric where its first record has one.
    """

    def __init__(self) -> None:
        self.records = 0
        self.entities: set[tuple[str, str]] = set()
        self.first, self._named, self._numbers = pd.DataFrame(), pd.DataFrame(), pd.DataFrame()
        self.low, self.high = np.nan, np.nan

    def add(self, table: pd.DataFrame) -> None:
        """Take a part: columns as `rawperf.tidy.COLUMNS`."""
        self.first = pd.concat(
            [self.first, table.head(max(0, FIRST_RECORDS - self.records))], ignore_index=True
        )
        self.records += len(table)
        self.entities |= set(
            table[["entity_kind", "entity"]].drop_duplicates().itertuples(index=False, name=None)
        )
        self.low, self.high = (
            np.fmin(self.low, table["t"].min()),
            np.fmax(self.high, table["t"].max()),
        )
        self._named = pd.concat(
            [self._named, table[[*_FIELD, "metric", "metric_unit"]]]
        ).drop_duplicates(_FIELD)
        part = table.groupby(_FIELD, sort=False)[["value", "metric_value"]].agg(list(_SUMMED))
        both = pd.concat([self._numbers, part]).groupby(level=[0, 1, 2], sort=False)
        self._numbers = both.agg({column: _SUMMED[column[1]] for column in part.columns})

    def fields(self) -> pd.DataFrame:
        """One row a field, as they are met: its name, metric and unit, samples, mean, lowest,
        highest.
        """
        numbers = self._numbers.reindex(pd.MultiIndex.from_frame(self._named[_FIELD]))
        translated = self._named["metric"].to_numpy()[:, None] != ""
        chosen = np.where(translated, numbers["metric_value"], numbers["value"])
        size, count, total, low, high = chosen.T
        mean = total / np.where(count, count, np.nan)
        return self._named.assign(samples=size.astype(int), mean=mean, lowest=low, highest=high)
