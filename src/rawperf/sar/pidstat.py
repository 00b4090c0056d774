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
from rawperf.recognition import Recognised
from rawperf.rows import MAX_WARNINGS, Warnings
from rawperf.sar.read import cut_before_table
from rawperf.sar.table import (
    RowTimes,
    SarRows,
    TableHeading,
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
_TABLES = re.compile(
    r"(?:%use?r %system %guest (?:%wait )?%CPU CPU |minflt/s majflt/s VSZ RSS %MEM |StkSize StkRef "
    r"|kB_rd/s kB_wr/s kB_ccwr/s (?:iodelay )?|cswch/s nvcswch/s |threads fd-nr |prio policy "
    r"|usr-ms system-ms guest-ms |minflt-nr majflt-nr )+"
)
"""Columns of the tables of sysstat 9 to 12, which -h puts on one line."""
_CELLS = {"UID": r"(\d+)", "PID": r"(\d+)", "TGID": r"(\d+|-)", "TID": r"(\d+|-)"}
_CELLS |= {"CPU": r"(\d+|-)", "USER": r"(\S+)", "policy": r"(\S+)"}
_NUMBER = re.compile(r"-?\d+(?:[.,](\d+))?", re.ASCII)
_OF_A_THREAD = re.compile(r"\|__|\([^()]*\)__")
"""Marks before the command of a thread."""
_DIGITS = frozenset("-.,0123456789")
_NUMBER_AS_COMMAND = re.compile(r"[\d.,-]+ .*", re.ASCII)
_AVERAGE = re.compile(r"[^\d\s:][^\d:]{0,20}:\s.*")


class PidstatFormat(Recognised, Streaming):
    """Reader of pidstat's text."""

    name = "pidstat"
    title = "pidstat text output (sysstat)"

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
        self._decimals: int | None = None  # digits behind the point of percentages and rates
        self._warned: set[str] = set()

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
        # a new table begins there; truncation affects no table
        is_new_table = truncated_line == 0 or not "".join(lines[truncated_line - 1]).strip()
        last_time, seconds = ("Time", ""), -1
        for i in range(start, len(lines)):
            time, am_pm, body, other = lines[i]
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
            if (time, am_pm) != last_time:  # rows of a table have the same time
                last_time = (time, am_pm)
                seconds = (
                    parse_seconds(time, am_pm, self._file, lines_before + i + 1)
                    if time != "Time"
                    else -1
                )
            if i == truncated_line:
                table.truncated_line, table.truncated_time = i, -2 if is_new_table else seconds
            elif body.endswith("Command"):
                columns = _HeadingColumns(body, self._file, lines_before + i + 1)
                if not columns.are_known:
                    self._warn_once(
                        " ".join(columns.words),
                        lines_before + i + 1,
                        f"pidstat of sysstat 9 to 12 prints no table with the columns {body}",
                    )
                heading_index_by_kind = columns.add_headings(table, i, seconds)
                self._columns, self._heading = columns, "".join(lines[i])
            else:
                if self._decimals is None and columns:
                    self._decimals = columns.decimals(body)
                row = columns.parse_row(body, self._decimals or 0) if columns else None
                if row is None:
                    raise _row_error(columns, body, "".join(lines[i]), lines_before + i, self._file)
                if row[2]:
                    self._warn_once(
                        f"command {len(self._warned)}" if len(self._warned) < MAX_WARNINGS else "",
                        lines_before + i + 1,
                        "the command begins with a number, which may be a surplus cell",
                    )
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

    def _warn_once(self, kind: str, line: int, sentence: str) -> None:
        if kind not in self._warned:
            self._warned.add(kind)
            self.messages.append(f"{self._file} line {line}: {sentence}")


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
        self._last_id_first = [
            (index, _IDS[word]) for index, word in enumerate(self.words) if word in _IDS
        ][::-1]
        self.read_positions = [index for index, word in enumerate(self.words) if word not in _WORDS]
        self._rates = [
            index
            for index in self.read_positions
            if self.words[index].startswith("%") or self.words[index].endswith("/s")
        ]
        self._patterns: dict[int, re.Pattern[str]] = {}
        printed = "".join(f"{word} " for word in self.words if word not in ("UID", "USER", *_IDS))
        self.are_known = _TABLES.fullmatch(printed) is not None
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

    def decimals(self, body: str) -> int | None:
        """Digits behind the point in a row; None if it has neither a percentage nor a rate."""
        cells = body.split()
        if not self._rates or len(cells) <= len(self.words):
            return None
        number = _NUMBER.fullmatch(cells[self._rates[0]])
        return len(number[1] or "") if number else None

    def _pattern(self, decimals: int) -> re.Pattern[str]:
        """Pattern of a row: percentages and rates have equal digits, all other numbers none."""
        if decimals not in self._patterns:
            rate = rf"(-?\d+[.,]\d{{{decimals}}})" if decimals else r"(-?\d+)"
            cells = [
                _CELLS.get(word, rate if index in self._rates else r"(-?\d+)")
                for index, word in enumerate(self.words)
            ]
            row = r"[ \t]+".join([*cells, r"(\S.*)"])
            self._patterns[decimals] = re.compile(row, re.ASCII)
        return self._patterns[decimals]

    def parse_row(self, body: str, decimals: int) -> tuple[str, str, bool] | None:
        """Kind of the entity, its row (numbers first, entity last), and whether the command may
        hold a surplus cell; None for another line.
        """
        pattern = self._patterns.get(decimals) or self._pattern(decimals)
        match = pattern.fullmatch(body)
        if match is None:
            return None
        cells = match.groups()
        index, kind = self._last_id_first[0]
        if cells[index] == "-":
            others = [(index, kind) for index, kind in self._last_id_first if cells[index] != "-"]
            if not others:
                return None
            index, kind = others[0]
        command = cells[-1].rstrip()
        if kind == THREAD:
            command = command.removeprefix("|__").rpartition(")__")[2].strip()
        elif command[0] in "|(" and _OF_A_THREAD.match(command):
            return None
        return (
            kind,
            f"{' '.join([cells[k] for k in self.read_positions])} {command} {cells[index]}",
            command[:1] in _DIGITS and _NUMBER_AS_COMMAND.match(command) is not None,
        )


def _row_error(
    columns: _HeadingColumns | None, body: str, line: str, number: int, file: str
) -> FormatError:
    """Error of a line that is not a row below its heading."""
    cells = body.split()
    if columns is None or len(cells) <= len(columns.words):
        return _line_error(line, number, file)
    if not all(_NUMBER.fullmatch(cells[index]) for index in columns.read_positions):
        problem, expected = "a value is not a number", None
        remedy = "collect without --human, or remove the damaged sample."
    else:
        problem = "a row does not fit its heading"
        expected = "equal decimals of all percentages and rates, integers in the other columns"
        remedy = "a heading or a cell may be missing; correct or remove the sample."
    return FormatError(
        problem, file=file, line=number + 1, expected=expected, found=line, remedy=remedy
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
