"""Reader of the text output of pidstat: processes and threads, sysstat 9 to 12.

Source: ``pidstat.c`` of sysstat.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from rawperf.base import Reading, Streaming
from rawperf.core.errors import FormatError
from rawperf.pieces import PieceReader, recode_piece
from rawperf.rows import Warnings
from rawperf.sar.read import cut_before_table
from rawperf.sar.table import (
    RowTimes,
    SarRows,
    TableHeading,
    detect_tool,
    match_system_line,
    parse_seconds,
    parse_system_line,
    table_records,
)

PROCESS, THREAD = "process", "thread"
"""Entity kinds; an entity is the command, a blank and the process or thread id."""

REPORTS = {
    "%CPU": "cpu",
    "RSS": "memory",
    "StkSize": "stack",
    "kB_rd/s": "disk",
    "cswch/s": "tasks",
    "fd-nr": "files",
    "usr-ms": "cpu time",
    "minflt-nr": "faults",
    "prio": "scheduling",
}
"""Report by a field that is unique to its table; a combined table (-h) has the first one's."""

_LINE = re.compile(
    r"^#?[ \t]*(?:(\d\d:\d\d:\d\d|\d{9,10}|Time)(?: ([AaPp]\.?[Mm]\.?))?[ \t]+(\S.*)|(.*))$",
    re.ASCII | re.MULTILINE,
)
_IDS = {"PID": PROCESS, "TGID": PROCESS, "TID": THREAD}
_WORDS = {"UID", "USER", "CPU", "policy", *_IDS}
_AVERAGE = re.compile(r"[^\d\s:][^\d:]{0,20}:\s.*")


class PidstatFormat(Streaming):
    """Reader of pidstat's text."""

    name = "pidstat"
    title = "pidstat text output (sysstat)"

    def sniff(self, head: bytes) -> float:
        """0.95 for sysstat's system line with a heading of PID and Command below."""
        return 0.95 if detect_tool(head) == self.name else 0.0

    def blocks(self, stream: BinaryIO, *, file: str = "<bytes>") -> Iterator[Reading]:
        """Read a listing; each part ends with a table, or with a sample of a long one.

        Each row gives one record per numeric column, except the processor that the process last ran
        on. Negative values mark what pidstat could not read, and give no record. Average rows are
        left out.

        Raises `FormatError` at a line that pidstat does not print, a row that does not fit its
        heading, and a second system line.
        """
        state, encoding_warnings = _ListingParser(file), Warnings(file)
        pieces = PieceReader(stream, cut_before_table, file)
        for piece in pieces:
            text = recode_piece(piece, pieces.lines_before, encoding_warnings, file).decode()
            if not state.has_begun and not text.strip() and not pieces.is_last:
                continue
            table, t = state.parse_part(text, pieces.lines_before, pieces.is_last)
            records, lines = table_records(table, t, state.messages, file)
            is_known = (records["value"] >= 0).to_numpy()
            if is_known.any() or pieces.is_last:
                warnings = (*encoding_warnings.drain(pieces.is_last), *state.messages)
                state.messages.clear()
                yield Reading(
                    records[is_known].reset_index(drop=True),
                    state.times.clock,
                    state.info,
                    warnings,
                    lines[is_known],
                )


class _ListingParser:
    """Parser state carried over from earlier parts of a listing."""

    def __init__(self, file: str) -> None:
        self.has_begun = False
        self.messages: list[str] = []
        self.times = RowTimes(file, self.messages)
        self.info: dict[str, str] = {}
        self._file = file
        self._rows = 0
        self._columns: _HeadingColumns | None = None
        self._heading, self._heading_time = "", -1

    def parse_part(
        self, text: str, lines_before: int, is_last: bool
    ) -> tuple[SarRows, NDArray[np.float64]]:
        """Rows of a part below line `lines_before`, and their times."""
        lines, start = _LINE.findall(text), 0
        if not self.has_begun:
            first = [""] * lines_before + ["".join(parts) for parts in lines]
            start, self.times.day, self.info = parse_system_line(
                first, PidstatFormat.name, self.messages, self._file
            )
            start, self.has_begun = start + 1 - lines_before, True
        table = self._parse_lines(
            lines, start, SarRows(text=text, lines_before=lines_before, last=is_last)
        )
        self._rows += len(table.lines)
        if is_last and not self._rows:
            raise FormatError(
                "no data row in the file",
                file=self._file,
                line=lines_before + len(lines),
                remedy="pidstat lists active processes only: perhaps none was active, or it was "
                "stopped before its first sample.",
            )
        return table, self.times.compute(table)

    def _parse_lines(
        self, lines: list[tuple[str, str, str, str]], start: int, table: SarRows
    ) -> SarRows:
        rows, times, heading_indices = list[int](), list[int](), list[int]()
        table.lines, table.times, table.heading_indices = rows, times, heading_indices
        columns, lines_before = self._columns, table.lines_before
        heading_index_by_kind: dict[str, int] = {}
        if columns:
            heading_index_by_kind = columns.add_headings(table, -1, self._heading_time)
            table.carried_heading = self._heading
        truncated_line = len(lines) - 1 if table.last and not table.text.endswith("\n") else -1
        for i in range(start, len(lines)):
            time, am_pm, body, other = lines[i]
            # a new table begins; truncation affects no table
            is_new_table = i == 0 or not "".join(lines[i - 1]).strip()
            if not body:
                stripped = other.strip()
                if i == truncated_line and stripped:
                    table.truncated_line, table.truncated_time = i, -2 if is_new_table else -1
                elif match_system_line(other):
                    problem, remedy = "a second system line", "split the file there."
                    raise FormatError(
                        problem, file=self._file, line=lines_before + i + 1, remedy=remedy
                    )
                elif stripped and not _AVERAGE.fullmatch(stripped):
                    raise _line_error(other, lines_before + i, self._file)
                continue
            seconds = (
                parse_seconds(time, am_pm, self._file, lines_before + i + 1)
                if time != "Time"
                else -1
            )
            if i == truncated_line:
                table.truncated_line, table.truncated_time = i, -2 if is_new_table else seconds
            elif body.endswith("Command"):
                columns = _HeadingColumns(body, self._file, lines_before + i + 1)
                heading_index_by_kind = columns.add_headings(table, i, seconds)
                self._columns, self._heading = columns, "".join(lines[i])
            else:
                row = columns.parse_row(body) if columns else None
                if row is None:
                    raise _line_error("".join(lines[i]), lines_before + i, self._file)
                rows.append(i)
                times.append(seconds)
                table.bodies.append(row[1])
                heading_indices.append(heading_index_by_kind[row[0]])
        for index, seconds in enumerate(table.heading_times):
            # headings of -h have no time: use the second before the sample below
            if seconds < 0 and table.times:
                below = int(np.searchsorted(table.lines, table.heading_lines[index]))
                table.heading_times[index] = table.times[min(below, len(table.times) - 1)] - 1
        self._heading_time = table.heading_times[-1] if table.heading_times else -1
        return table


class _HeadingColumns:
    """Positions of the columns below a heading."""

    def __init__(self, body: str, file: str, line: int) -> None:
        *self.words, last = body.split()
        fields = tuple(word for word in self.words if word not in _WORDS)
        has_duplicates = len(set(self.words)) < len(self.words)
        if last != "Command" or not _IDS.keys() & set(self.words) or has_duplicates or not fields:
            raise FormatError(
                "not a heading of pidstat",
                file=file,
                line=line,
                expected="UID PID, column names, Command",
                found=body,
                remedy="restore the heading.",
            )
        report = next((REPORTS[word] for word in fields if word in REPORTS), "+".join(fields[:3]))
        self.id_columns = [
            (index, _IDS[word]) for index, word in enumerate(self.words) if word in _IDS
        ]
        self.read_positions = [index for index, word in enumerate(self.words) if word not in _WORDS]
        numeric = tuple(range(len(fields)))
        process = TableHeading(report, PROCESS, -1, len(fields), True, numeric, fields)
        self.headings = {PROCESS: process, THREAD: replace(process, kind=THREAD)}

    def add_headings(self, table: SarRows, line: int, time: int) -> dict[str, int]:
        """Add the headings to a table; return their index by kind."""
        index_by_kind = {}
        for kind, heading in self.headings.items():
            index_by_kind[kind] = len(table.headings)
            table.headings.append(heading)
            table.heading_lines.append(line)
            table.heading_times.append(time)
        return index_by_kind

    def parse_row(self, body: str) -> tuple[str, str] | None:
        """Kind of the entity, and its row, numbers first and entity last; None for another line."""
        cells = body.split(None, len(self.words))
        if len(cells) <= len(self.words):
            return None
        id_cells = [
            (cells[index], kind) for index, kind in self.id_columns if cells[index].isdecimal()
        ]
        if not id_cells:
            return None
        number, kind = id_cells[-1]
        command = (
            cells[-1].removeprefix("|__").rpartition(")__")[2] if kind == THREAD else cells[-1]
        )
        return (
            kind,
            f"{' '.join(cells[index] for index in self.read_positions)} {command.strip()} {number}",
        )


def _line_error(line: str, number: int, file: str) -> FormatError:
    return FormatError(
        "not a line of pidstat",
        file=file,
        line=number + 1,
        expected="a row under UID PID ... Command, or Average:",
        found=line,
        remedy="it may come from another version or option, from a locale other than C, or be damaged.",
    )


FORMAT = PidstatFormat()
