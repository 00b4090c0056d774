"""Reader of the text output of iostat, sysstat 7 to 12.

Source: ``iostat.c`` of sysstat.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from rawperf.listing import ListingFormat, ListingPart, RecordsWithLines
from rawperf.sar.sysstat_table import (
    MAX_CLOCK_WARNINGS,
    REMEDY,
    SarRows,
    SysstatListing,
    TableHeading,
    match_system_line,
    parse_date,
    parse_seconds,
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


class IostatListing(SysstatListing):
    """Reports of iostat.

    The first report holds averages since boot, and is left out. Reports without a time (-t) are
    numbered from the second one on.

    Refused are a line that iostat does not print, a row that does not fit its heading, times of only
    some reports, and a file of one report.
    """

    name = "iostat"
    title = "iostat text output (sysstat)"
    clock = "sample"

    def __init__(self, file: str) -> None:
        super().__init__(file)
        # number of the report that began before the part and may continue in it, -1 for none
        self._last_report = -1
        self._has_counted_rows = False  # whether there are rows after the first report
        # time of the report that may continue; whether reports have a time, a date
        self._time, self._has_time_and_date = -1.0, (False, False)
        self._since_midnight = False  # whether times count from midnight
        self._last, self._clock_warnings = (np.nan, 0.0), 0
        self._days: dict[str, int | None] = {}
        self._seen: set[str] = set()  # tables of the report
        self._first_number = -1  # position of the first number in a row, -1 outside of tables
        self._is_below_heading = False  # whether the line before is a heading
        # of the part: by row the report after `_last_report`, by report its line and time
        self._report_indices: list[int] = []
        self._stamps: list[tuple[int, str]] = []

    def cut(self, lines: bytes, lines_before: int) -> int:
        """Cut after the last blank line, that is, after a table."""
        return lines.rfind(b"\n\n") + 2 if b"\n\n" in lines else 0

    def parse_tables(self, part: ListingPart, start: int) -> RecordsWithLines:
        rows, heading_indices = list[int](), list[int]()
        table = SarRows(self, part, lines=rows, times=rows, heading_indices=heading_indices)
        self._report_indices, self._stamps, self._first_number = [], [], -1
        self._is_below_heading = False
        *lines, rest = part.text.split("\n")
        for i in range(start, len(lines)):
            if self._parse_line(lines[i], table, i):
                rows.append(i)
                heading_indices.append(len(table.headings) - 1)
        if rest.strip():
            table.truncated_line = len(lines)
            table.truncated_time = -1 if self._first_number >= 0 else -2
        times = self._report_times(table)
        report_indices = np.array(self._report_indices, dtype=np.int64)
        records, numbers = table_records(table, times[report_indices])
        is_counted = self._last_report + report_indices > 0
        self._has_counted_rows |= bool(is_counted.any())
        self._last_report += len(self._stamps)
        self._time = float(times[-1])
        if part.is_last and not self._has_counted_rows:
            raise self.error(
                "the file has one report only, and without the option -y that one contains "
                "averages since boot",
                expected="iostat SECONDS COUNT, with a COUNT of at least two",
                remedy="the file does not say whether -y was given: collect two reports or more, "
                "or state the numbers of this one in a table of your own.",
            )
        counted_lines = np.array(rows, dtype=int)[is_counted] + part.lines_before + 1
        is_kept = np.isin(numbers, counted_lines)
        return records[is_kept].reset_index(drop=True), numbers[is_kept]

    def _report_times(self, table: SarRows) -> NDArray[np.float64]:
        """Times of the continued report and of those that begin in the part."""
        matches = [_STAMP.fullmatch(text) for _, text in self._stamps]
        kinds = [(bool(match), bool(match and match[1])) for match in matches]
        if kinds and self._last_report < 0:
            self._has_time_and_date = kinds[0]
            first = matches[0]
            self._since_midnight = first is not None and not first[1] and ":" in first[2]
            timed = "time-of-day" if self._since_midnight and self.day is None else "absolute"
            self.clock = timed if first else "sample"
        if any(kind != self._has_time_and_date for kind in kinds):
            bare = (
                line for (line, _), kind in zip(self._stamps, kinds, strict=True) if not kind[1]
            )
            number = table.line_number(next(bare, self._stamps[0][0]))
            raise self.error("only some reports have a time or a date", number)
        if not self._has_time_and_date[0]:
            return np.concatenate([[self._time], self._last_report + np.arange(len(kinds))])
        t = np.empty(len(matches))
        for index, ((line, _), match) in enumerate(zip(self._stamps, matches, strict=True)):
            assert match is not None
            t[index] = self._seconds(match, table.line_number(line))
        if self._since_midnight and len(t):
            seconds = t
            t, set_back = unwrap_midnight(seconds, *self._last)
            self._last = float(seconds[-1]), float(t[-1] - seconds[-1])
            for i in set_back[: MAX_CLOCK_WARNINGS - self._clock_warnings]:
                self._clock_warnings += 1
                number = table.line_number(self._stamps[i][0])
                self.warnings.add_always(number, "the clock was set back")
            t = t + (self.day or 0) * DAY
        return np.concatenate([[self._time], t])

    def _seconds(self, match: re.Match[str], number: int) -> float:
        seconds = float(parse_seconds(match[2], match[3] or "", self.file, number))
        if not match[1]:
            return seconds
        if match[1] not in self._days:
            self._days[match[1]], _ = parse_date(match[1])
        day = self._days[match[1]]
        if day is None:
            raise self.error("an invalid date", number, found=match[1])
        return seconds + day * DAY

    def _parse_line(self, line: str, table: SarRows, number: int) -> bool:
        """Parse line `number` of the part; whether it is a row, whose text is added to the table."""
        words = line.split()
        if not words:
            self._first_number, self._is_below_heading = -1, False
        elif _STAMP.fullmatch(line.strip()):
            self._start_report(number, line.strip())
        elif self._first_number < 0 or words[0] == "avg-cpu:":
            self._parse_heading(words, line, table, number)
        elif len(words) > self._first_number and _NUMBER.fullmatch(words[self._first_number]):
            table.bodies.append(line)
            self._report_indices.append(len(self._stamps))
            self._is_below_heading = False
            return True
        else:
            expected = "a row under avg-cpu: or Device"
            raise self.error(
                "not a line of iostat", table.line_number(number), expected, line, REMEDY
            )
        return False

    def _parse_heading(self, words: list[str], line: str, table: SarRows, number: int) -> None:
        line_number = table.line_number(number)
        if match_system_line(line):
            expected = "one listing per file"
            raise self.error("a second system line", line_number, expected, line, REMEDY)
        if words[0] == "avg-cpu:":
            report, kind, entity, fields = CPU, "host", -2, tuple(words[1:])
        elif words[0] in ("Device", "Device:"):
            report, kind, entity, fields = DISK, "device", 0, tuple(words[1:])
        elif words[-1] == "Device":
            report, kind, entity, fields = DISK, "device", -1, tuple(words[:-1])
        else:
            expected = "avg-cpu: or Device"
            raise self.error("not a heading of iostat", line_number, expected, line, REMEDY)
        if self._is_below_heading:
            raise self.error("a heading below a heading", line_number, "a row", line, REMEDY)
        self._is_below_heading = True
        if len(set(fields)) < len(fields) or not fields:
            problem, expected = (
                "a heading with a duplicate or missing column",
                "distinct column names",
            )
            raise self.error(problem, line_number, expected, line, REMEDY)
        if (self._last_report < 0 and not self._stamps) or report in self._seen:
            self._start_report(number, "")
        self._seen.add(report)
        self._first_number = 1 if entity == 0 else 0
        fixed = self._first_number + len(fields)
        numeric = tuple(range(self._first_number, fixed))
        table.headings.append(
            TableHeading(report, kind, entity, fixed, entity == -1, numeric, fields)
        )
        table.heading_lines.append(number)
        table.heading_times.append(-1)

    def _start_report(self, number: int, stamp: str) -> None:
        self._stamps.append((number, stamp))
        self._seen, self._first_number = set(), -1


FORMAT = ListingFormat(IostatListing)
