"""Interfaces of raw formats: recognition, reading, streaming; and what readers build: records, and
warnings with their lines.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, Protocol, runtime_checkable

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from rawperf.core.table_columns import concat_tables

RECORD_COLUMNS = ("report", "entity_kind", "entity", "field", "t", "value")
"""Columns of `ParsedFile.records`; `t` and `value` are float64, the others strings."""

MAX_SAMPLE_RECORDS = 1_000_000
"""Largest number of records of one time that are kept together."""

CLOCKS = ("absolute", "time-of-day", "elapsed", "sample", "none")
"""Clocks: meanings of `t`.

absolute
    Seconds since 1970-01-01 00:00 in the zone that the file prints (or UTC if it says so).
time-of-day
    Seconds since the midnight before the first sample; grows past 86400 when the file crosses
    midnight.
elapsed
    Seconds since the tool started.
sample
    Sample number from 0, in a file without times.
none
    A single snapshot; `t` is NaN.
"""


SETTING = "setting "
"""Beginning of the names of a tool's options in `ParsedFile.info`."""


@dataclass(frozen=True)
class ParsedFile:
    """Content of one raw file, or of one of its consecutive parts.

    Attributes
    ----------
    records : DataFrame
        Columns `RECORD_COLUMNS`, in file order, one number a row. `report` is the part of the file
        that the number comes from (a sar activity, an FCX report id, an element path; "" if the
        format has only one), `entity_kind` and `entity` name the entity
        (``domain``/``Domain-0``, ``cpu``/``all``, ``host``/``""``), `field` is the tool's own
        name, `value` is in the tool's own unit.
    clock : str
        One of `CLOCKS`.
    info : dict of str to str
        Header facts, such as host name, tool version, start date, interval; options of the tool as
        ``setting threads``, several values of one joined by a comma.
    warnings : tuple of str
        Damage up to which the file was read (a truncated last sample), one sentence each with its
        line.
    lines : ndarray of int, shape (records,), optional
        The line of the file, from 1, of each number, or of the start of its XML element; not
        compared.
    """

    records: pd.DataFrame
    clock: str
    info: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    lines: NDArray[np.int64] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Check the form; raises `ValueError`, a fault of the format's code."""
        if self.clock not in CLOCKS:
            raise ValueError(f"clock {self.clock!r}: expected one of {', '.join(CLOCKS)}")
        if missing := [name for name in RECORD_COLUMNS if name not in self.records]:
            raise ValueError(f"records have no column {', '.join(missing)}")
        if self.lines is not None and len(self.lines) != len(self.records):
            raise ValueError(f"{len(self.lines)} lines of {len(self.records)} records")

    def slice_rows(self, rows: slice) -> ParsedFile:
        """Select records by a slice."""
        return replace(
            self,
            records=self.records.iloc[rows],
            lines=None if self.lines is None else self.lines[rows],
        )


class Format(Protocol):
    """A raw format; implemented by a module-level object in each format module."""

    name: str
    title: str

    def sniff(self, head: bytes) -> float:
        """Certainty that the first 8 KiB are of this format, from 0 (not) to 1 (certainly)."""
        ...

    def read(self, data: bytes, *, file: str = "<bytes>") -> ParsedFile:
        """Read a whole file; raises `FormatError` naming `file` and line when it can't."""
        ...


@runtime_checkable
class Streaming(Format, Protocol):
    """A raw format that is read part by part, in memory that does not grow with the file."""

    def blocks(self, stream: BinaryIO, *, file: str = "<bytes>") -> Iterator[ParsedFile]:
        """Yield the content of consecutive parts of a file, at least one; see `concat_parts`.

        All have the same clock, and times, sample numbers and lines continue from block to block.
        `info` of a block covers the file up to its end, so that the last block's is the file's.
        Errors are raised as `FormatError` where they occur, after the blocks before them.
        """
        ...

    def read(self, data: bytes, *, file: str = "<bytes>") -> ParsedFile:
        """Read a whole file as `blocks` reads its parts."""
        return concat_parts(self.blocks(io.BytesIO(data), file=file))


def concat_parts(blocks: Iterable[ParsedFile]) -> ParsedFile:
    """Concatenate the parts of a file, of which there is at least one."""
    parts = list(blocks)
    if len(parts) == 1:
        return parts[0]
    records = concat_tables([part.records for part in parts])
    lines = [part.lines for part in parts if part.lines is not None]
    warnings = tuple(message for part in parts for message in part.warnings)
    line_numbers = np.concatenate(lines) if len(lines) == len(parts) else None
    return ParsedFile(records, parts[0].clock, parts[-1].info, warnings, line_numbers)


def rechunk_by_sample(blocks: Iterable[ParsedFile]) -> Iterator[ParsedFile]:
    """Re-split parts at sample boundaries, so that parts of a sum stay together.

    No two of them share consecutive records of one time, except in a sample of more than
    `MAX_SAMPLE_RECORDS` records. A single block stays one.
    """
    pending: ParsedFile | None = None
    for block in blocks:
        if pending is not None:
            pending_t, block_t = (
                part.records["t"].to_numpy(dtype=float) for part in (pending, block)
            )
            if len(pending_t) and len(block_t) and pending_t[-1] < block_t[0]:
                yield pending
                pending = block
                continue
            split_at = last_sample_start(pending_t)
            if split_at:
                yield pending.slice_rows(slice(split_at))
                pending = replace(pending.slice_rows(slice(split_at, None)), warnings=())
            block = concat_parts([pending, block])
        pending = block
    if pending is not None:
        yield pending


def last_sample_start(t: np.ndarray) -> int:
    """Number of times before the last sample; all if that is longer than `MAX_SAMPLE_RECORDS`."""
    earlier = np.flatnonzero((t != t[-1:]) & ~(np.isnan(t) & np.isnan(t[-1:])))
    start = int(earlier[-1]) + 1 if len(earlier) else 0
    return start if len(t) - start <= MAX_SAMPLE_RECORDS else len(t)


@runtime_checkable
class ExternalFormat(Format, Protocol):
    """A raw format that an external program reads."""

    def external_version(self) -> str:
        """Version of the external program, on which what is read depends; "" if it is not installed."""
        ...


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
