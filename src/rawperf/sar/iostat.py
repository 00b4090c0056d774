"""Reader of the text output of iostat, sysstat 7 to 12.

Source: ``iostat.c`` of sysstat.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from rawperf.base import Reading, Streaming
from rawperf.core.errors import FormatError
from rawperf.pieces import PieceReader, cut_after_blank_line, recode_piece
from rawperf.recognition import Recognised
from rawperf.rows import Warnings
from rawperf.sar.table import (
    MAX_CLOCK_WARNINGS,
    SarRows,
    TableHeading,
    match_system_line,
    parse_date,
    parse_seconds,
    parse_system_line,
    table_records,
)
from rawperf.text import DAY, unwrap_midnight

CPU, DISK = "cpu", "disk"
"""Values of `report`: ``avg-cpu`` of the whole machine, and tables with a device as entity."""

_STAMP = re.compile(
    r"(?:Time: )?(?:(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})[ T])?(\d\d:\d\d:\d\d|\d{9,10})(?: ?([AaPp]\.?[Mm]\.?))?"
    r"(?:[+-]\d{4})?",
    re.ASCII,
)
_NUMBER = re.compile(r"[-+]?\d[\d.,]*[kMGTPE%]?", re.ASCII)


class IostatFormat(Recognised, Streaming):
    """Reader of iostat's text."""

    name = "iostat"
    title = "iostat text output (sysstat)"

    def blocks(self, stream: BinaryIO, *, file: str = "<bytes>") -> Iterator[Reading]:
        """Read a listing; each part ends with a table.

        The first report holds averages since boot, and is left out. Reports without a time (-t) are
        numbered from the second one on.

        Raises `FormatError` at a line that iostat does not print, a row that does not fit its
        heading, if only some reports have times, and in a file of one report.
        """
        encoding_warnings, messages = Warnings(file), list[str]()
        pieces = PieceReader(stream, cut_after_blank_line, file)
        reports: _ReportParser | None = None
        for piece in pieces:
            text = recode_piece(piece, pieces.lines_before, encoding_warnings, file).decode()
            start = 0
            if reports is None:
                if not text.strip() and not pieces.is_last:
                    continue
                start, day, info = parse_system_line(
                    [""] * pieces.lines_before + text.split("\n"), self.name, messages, file
                )
                reports, start = _ReportParser(file, day), start + 1 - pieces.lines_before
            table, report_indices = reports.parse_part(
                text, start, pieces.lines_before, pieces.is_last
            )
            times = reports.times(messages)
            records, lines = table_records(table, times[report_indices], messages, file)
            is_counted = reports.last_report + report_indices > 0
            is_kept = np.isin(
                lines, np.array(table.lines, dtype=int)[is_counted] + pieces.lines_before + 1
            )
            reports.rows += int(is_counted.sum())
            reports.end_part(times)
            if pieces.is_last and not reports.rows:
                raise FormatError(
                    "the file has one report only, and without the option -y that one contains "
                    "averages since boot",
                    file=file,
                    expected="iostat SECONDS COUNT, with a COUNT of at least two",
                    remedy="the file does not say whether -y was given: collect two reports or more, "
                    "or state the numbers of this one in a table of your own.",
                )
            if is_kept.any() or pieces.is_last:
                warnings = (*encoding_warnings.drain(pieces.is_last), *messages)
                messages.clear()
                yield Reading(
                    records[is_kept].reset_index(drop=True),
                    reports.clock,
                    info,
                    warnings,
                    lines[is_kept],
                )


class _ReportParser:
    """Reports of a listing, part by part.

    `last_report` is the number of the report that began before the part and may continue in it, -1
    for none; `rows` counts the rows after the first report.
    """

    def __init__(self, file: str, day: int | None) -> None:
        self.last_report, self.rows, self.clock = -1, 0, "sample"
        self._file, self._day = file, day
        # time of the report that may continue; whether reports have a time, a date
        self._time, self._has_time_and_date = -1.0, (False, False)
        self._since_midnight = False  # whether times count from midnight
        self._last, self._clock_warnings = (np.nan, 0.0), 0
        self._days: dict[str, int | None] = {}
        self._seen: set[str] = set()  # tables of the report
        self._first_number = -1  # position of the first number in a row, -1 outside of tables
        self._is_below_heading = False  # whether the line before is a heading
        self._table, self._report_indices, self._stamps = (
            SarRows(),
            list[int](),
            list[tuple[int, str]](),
        )

    def parse_part(
        self, text: str, start: int, lines_before: int, is_last: bool
    ) -> tuple[SarRows, NDArray[np.int64]]:
        """Rows of a part below line `lines_before`, and the number of each row's report after `last_report`."""
        self._lines, self._heading_indices = list[int](), list[int]()
        self._table = SarRows(
            text=text,
            lines=self._lines,
            times=self._lines,
            heading_indices=self._heading_indices,
            lines_before=lines_before,
            last=is_last,
        )
        self._report_indices, self._stamps, self._first_number = [], [], -1
        self._is_below_heading = False
        lines = text.split("\n")
        for i in range(start, len(lines) - 1):
            self._parse_line(lines[i], i)
        if lines[-1].strip():
            self._table.truncated_line, self._table.truncated_time = (
                len(lines) - 1,
                -1 if self._first_number >= 0 else -2,
            )
        return self._table, np.array(self._report_indices, dtype=np.int64)

    def times(self, messages: list[str]) -> NDArray[np.float64]:
        """Times of the continued report and of those that begin in the part."""
        matches = [_STAMP.fullmatch(text) for _, text in self._stamps]
        kinds = [(bool(match), bool(match and match[1])) for match in matches]
        if kinds and self.last_report < 0:
            self._has_time_and_date = kinds[0]
            first = matches[0]
            self._since_midnight = first is not None and not first[1] and ":" in first[2]
            timed = "time-of-day" if self._since_midnight and self._day is None else "absolute"
            self.clock = timed if first else "sample"
        if any(kind != self._has_time_and_date for kind in kinds):
            bare = (
                line for (line, _), kind in zip(self._stamps, kinds, strict=True) if not kind[1]
            )
            line = self._table.lines_before + next(bare, self._stamps[0][0]) + 1
            raise FormatError("only some reports have a time or a date", file=self._file, line=line)
        if not self._has_time_and_date[0]:
            return np.concatenate([[self._time], self.last_report + np.arange(len(kinds))])
        t = np.empty(len(matches))
        for index, ((number, _), match) in enumerate(zip(self._stamps, matches, strict=True)):
            assert match is not None
            t[index] = self._seconds(match, self._table.lines_before + number + 1)
        if self._since_midnight and len(t):
            seconds = t
            t, set_back = unwrap_midnight(seconds, *self._last)
            self._last = float(seconds[-1]), float(t[-1] - seconds[-1])
            lines = [
                self._table.lines_before + self._stamps[i][0] + 1
                for i in set_back[: MAX_CLOCK_WARNINGS - self._clock_warnings]
            ]
            messages.extend(f"{self._file} line {line}: the clock was set back" for line in lines)
            self._clock_warnings += len(lines)
            t = t + (self._day or 0) * DAY
        return np.concatenate([[self._time], t])

    def end_part(self, times: NDArray[np.float64]) -> None:
        """End a part; `times` are the times of its reports."""
        self.last_report += len(self._stamps)
        self._time = float(times[-1])

    def _seconds(self, match: re.Match[str], line: int) -> float:
        seconds = float(parse_seconds(match[2], match[3] or "", self._file, line))
        if not match[1]:
            return seconds
        if match[1] not in self._days:
            self._days[match[1]] = parse_date(match[1], [], "")
        day = self._days[match[1]]
        if day is None:
            raise FormatError("an invalid date", file=self._file, line=line, found=match[1])
        return seconds + day * DAY

    def _parse_line(self, line: str, number: int) -> None:
        words = line.split()
        if not words:
            self._first_number, self._is_below_heading = -1, False
        elif _STAMP.fullmatch(line.strip()):
            self._start_report(number, line.strip())
        elif self._first_number < 0 or words[0] == "avg-cpu:":
            self._heading(words, line, number)
        elif len(words) > self._first_number and _NUMBER.fullmatch(words[self._first_number]):
            self._lines.append(number)
            self._table.bodies.append(line)
            self._heading_indices.append(len(self._table.headings) - 1)
            self._report_indices.append(len(self._stamps))
            self._is_below_heading = False
        else:
            raise self._error(
                "not a line of iostat", line, number, "a row under avg-cpu: or Device"
            )

    def _heading(self, words: list[str], line: str, number: int) -> None:
        if match_system_line(line):
            raise self._error("a second system line", line, number, "one listing per file")
        if words[0] == "avg-cpu:":
            report, kind, entity, fields = CPU, "host", -2, tuple(words[1:])
        elif words[0] in ("Device", "Device:"):
            report, kind, entity, fields = DISK, "device", 0, tuple(words[1:])
        elif words[-1] == "Device":
            report, kind, entity, fields = DISK, "device", -1, tuple(words[:-1])
        else:
            raise self._error("not a heading of iostat", line, number, "avg-cpu: or Device")
        if self._is_below_heading:
            raise self._error("a heading below a heading", line, number, "a row")
        self._is_below_heading = True
        if len(set(fields)) < len(fields) or not fields:
            raise self._error(
                "a heading with a duplicate or missing column",
                line,
                number,
                "distinct column names",
            )
        if (self.last_report < 0 and not self._stamps) or report in self._seen:
            self._start_report(number, "")
        self._seen.add(report)
        self._first_number = 1 if entity == 0 else 0
        fixed = self._first_number + len(fields)
        numeric = tuple(range(self._first_number, fixed))
        self._table.headings.append(
            TableHeading(report, kind, entity, fixed, entity == -1, numeric, fields)
        )
        self._table.heading_lines.append(number)
        self._table.heading_times.append(-1)

    def _start_report(self, number: int, stamp: str) -> None:
        self._stamps.append((number, stamp))
        self._seen, self._first_number = set(), -1

    def _error(self, problem: str, line: str, number: int, expected: str) -> FormatError:
        remedy = (
            "it may come from another version or option, from a locale other than C, or be damaged."
        )
        return FormatError(
            problem,
            file=self._file,
            line=self._table.lines_before + number + 1,
            expected=expected,
            found=line,
            remedy=remedy,
        )


FORMAT = IostatFormat()
