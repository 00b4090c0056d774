"""Records collected one by one, columns of records, and warnings with their lines."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from rawperf.base import RECORD_COLUMNS

MAX_WARNINGS = 20


class RecordBuilder:
    """Build records one by one, in order.

    `line` is the line of the file, from 1, of the records that are added next.
    """

    def __init__(self) -> None:
        self._rows: list[tuple[str, str, str, str, float, float]] = []
        self._lines: list[int] = []
        self.line = 0

    def __len__(self) -> int:
        return len(self._rows)

    def add(
        self,
        report: str,
        entity_kind: str,
        entity: str,
        field: str,
        value: float,
        t: float = math.nan,
    ) -> None:
        """Add one number; `t` is NaN if the file gives no time."""
        self._rows.append((report, entity_kind, entity, field, t, float(value)))
        self._lines.append(self.line)

    def set_time(self, start: int, t: float) -> None:
        """Set the time `t` of all records from index `start` on, if it follows them in the file."""
        self._rows[start:] = [(*row[:4], t, row[5]) for row in self._rows[start:]]

    def drop(self, start: int, stop: int) -> None:
        """Delete the records from index `start` to `stop`, the last one excluded."""
        del self._rows[start:stop]
        del self._lines[start:stop]

    def take(self, stop: int | None = None) -> tuple[pd.DataFrame, NDArray[np.int64]]:
        """Remove the records before index `stop`, by default all.

        Returns them as `ParsedFile.records` and `ParsedFile.lines`.
        """
        columns = list(zip(*self._rows[:stop], strict=True)) or [()] * len(RECORD_COLUMNS)
        lines = np.array(self._lines[:stop], dtype=np.int64)
        self.drop(0, len(lines))
        numbers = (np.array(column, dtype=float) for column in columns[4:])
        return build_records(*map(list, columns[:4]), *numbers), lines


class DictionaryEncoder(dict[str, int]):
    """Dictionary encoder: integer codes of strings in the order of first lookup."""

    def __missing__(self, key: str) -> int:
        self[key] = len(self)
        return self[key]


def build_records(*columns: Any) -> pd.DataFrame:
    """Build `ParsedFile.records` from columns in the order of `RECORD_COLUMNS`.

    A string is a constant column.
    """
    rows = len(columns[-1])
    arrays: dict[str, Any] = {}
    for name, column in zip(RECORD_COLUMNS, columns, strict=True):
        if isinstance(column, str):
            arrays[name] = pd.array(
                pa.repeat(pa.scalar(column, pa.large_string()), rows), dtype="str"
            )
        else:
            arrays[name] = pd.array(column, dtype="str") if isinstance(column, list) else column
    return pd.DataFrame(arrays, copy=False)


class Warnings:
    """Warnings of a file, each with its line; damage is limited in number, for bad files."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._messages: list[str] = []
        self._emitted = self._suppressed = 0
        self._kinds = set[str]()

    def add(self, line: int, sentence: str) -> None:
        """Add a sentence on a line, unless there are `MAX_WARNINGS` already."""
        if len(self._messages) < MAX_WARNINGS:
            self.add_always(line, sentence)
        else:
            self._suppressed += 1

    def add_always(self, line: int, sentence: str) -> None:
        """Add a sentence on a line, or on the whole file if it is 0, however many there are."""
        self._messages.append(f"{self.file}{f' line {line}' if line else ''}: {sentence}")

    def add_once(self, kind: str, line: int, sentence: str) -> None:
        """Add a sentence on a line unless one of its kind was added."""
        if kind not in self._kinds:
            self._kinds.add(kind)
            self.add_always(line, sentence)

    def extend(self, messages: Iterable[str]) -> None:
        """Add the warnings of another object."""
        self._messages.extend(messages)

    def drain(self, is_last: bool = True) -> tuple[str, ...]:
        """Warnings since the last call; after the last part also the number of suppressed ones."""
        if is_last and self._suppressed:
            self.add_always(0, f"{self._suppressed} more warnings of this kind")
        messages = tuple(self._messages[self._emitted :])
        self._emitted += len(messages)
        return messages
