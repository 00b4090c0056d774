"""Record builders for formats with short files, and warnings."""

from __future__ import annotations

import math
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

    def to_frame(self) -> pd.DataFrame:
        """Build `Reading.records`."""
        columns = list(zip(*self._rows, strict=True)) or [()] * len(RECORD_COLUMNS)
        return build_records(
            *map(list, columns[:4]), *(np.array(column, dtype=float) for column in columns[4:])
        )

    def lines(self) -> NDArray[np.int64]:
        """Build `Reading.lines`."""
        return np.array(self._lines, dtype=np.int64)


class DictionaryEncoder(dict[str, int]):
    """Dictionary encoder: integer codes of strings in the order of first lookup."""

    def __missing__(self, key: str) -> int:
        self[key] = len(self)
        return self[key]


def build_records(*columns: Any) -> pd.DataFrame:
    """Build `Reading.records` from columns in the order of `RECORD_COLUMNS`.

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
    """Warnings with file and line; limited in number, for badly damaged files."""

    def __init__(self, file: str, initial: tuple[str, ...] = ()) -> None:
        self._file = file
        self._messages = list(initial)
        self._emitted = self._suppressed = 0
        self._kinds = set[str]()

    def add(self, line: int, message: str) -> None:
        """Add ``file line N: sentence``."""
        if len(self._messages) < MAX_WARNINGS:
            self._messages.append(f"{self._file} line {line}: {message}")
        else:
            self._suppressed += 1

    def add_located(self, message: str) -> None:
        """Add a sentence that includes its own location."""
        self._messages.append(message)

    def add_once(self, kind: str, message: str) -> None:
        """Add a sentence unless one of its kind was added."""
        if kind not in self._kinds:
            self._kinds.add(kind)
            self._messages.append(message)

    def drain(self, is_last: bool) -> tuple[str, ...]:
        """Warnings since the last call; after the last block also the number of suppressed ones."""
        messages = self.messages() if is_last else tuple(self._messages)
        messages = messages[self._emitted :]
        self._emitted += len(messages)
        return messages

    def messages(self) -> tuple[str, ...]:
        """All warnings, or the first ones and the number of suppressed ones."""
        summary = (
            [f"{self._file}: {self._suppressed} more warnings of this kind"]
            if self._suppressed
            else []
        )
        return (*self._messages, *summary)


def split_lines(text: str) -> tuple[list[str], bool]:
    """Split a text into lines; False if the last has no line end and may be truncated."""
    lines = text.split("\n")
    is_complete = lines[-1] == ""
    return (lines[:-1], True) if is_complete else (lines, False)
