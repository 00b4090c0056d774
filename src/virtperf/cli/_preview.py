"""What a preview shows of a file that is read part by part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

FIRST_RECORDS = 5


@dataclass
class Field:
    """The numbers of one field, in the unit of its metric where it has one.

    Attributes
    ----------
    samples, count : int
        Records, and those of them that have a value.
    """

    metric: str
    unit: str
    samples: int = 0
    count: int = 0
    total: float = 0.0
    low: float = np.nan
    high: float = np.nan

    def add(self, values: pd.Series) -> None:
        """Take the numbers of one part."""
        known = values.dropna().to_numpy(dtype=float)
        self.samples += len(values)
        if len(known):
            self.count += len(known)
            self.total += float(known.sum())
            self.low, self.high = float(np.fmin(self.low, known.min())), float(np.fmax(self.high, known.max()))

    @property
    def mean(self) -> float:
        """NaN where there is no value."""
        return self.total / self.count if self.count else np.nan


class Seen:
    """What has been seen of a file.

    Parameters
    ----------
    most : int
        How many fields are kept.

    Attributes
    ----------
    fields : dict
        By report, entity kind and name, in the order in which they are met; `more` are left out.
    first : DataFrame
        The first records.
    low, high : float
        The first and last time; infinite where there is none.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._others: set[tuple[str, str, str]] = set()
        self.records = 0
        self.entities: set[tuple[str, str]] = set()
        self.fields: dict[tuple[str, str, str], Field] = {}
        self.first = pd.DataFrame()
        self.low, self.high = np.inf, -np.inf

    @property
    def more(self) -> int:
        """How many fields there are beyond those that are kept."""
        return len(self._others)

    def add(self, table: pd.DataFrame) -> None:
        """Take a part: columns as `virtperf.ingest.tidy.COLUMNS`."""
        if self.records < FIRST_RECORDS:
            self.first = pd.concat([self.first, table.head(FIRST_RECORDS - self.records)], ignore_index=True)
        self.records += len(table)
        self.entities |= set(table[["entity_kind", "entity"]].drop_duplicates().itertuples(index=False, name=None))
        t = table["t"].dropna().to_numpy(dtype=float)
        if len(t):
            self.low, self.high = min(self.low, float(t.min())), max(self.high, float(t.max()))
        for (report, kind, name), rows in table.groupby(["report", "entity_kind", "field"], sort=False):
            key = str(report), str(kind), str(name)
            if key not in self.fields:
                if len(self.fields) == self._most:
                    self._others.add(key)
                    continue
                self.fields[key] = Field(rows["metric"].iloc[0], rows["metric_unit"].iloc[0])
            field = self.fields[key]
            field.add(rows["metric_value" if field.metric else "value"])
