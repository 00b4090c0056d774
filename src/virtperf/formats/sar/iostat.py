"""The text that iostat prints, sysstat 7 to 12.

Source: ``iostat.c`` of sysstat.
"""

from __future__ import annotations

import re

import numpy as np

from virtperf.core.errors import FormatError
from virtperf.formats.base import Reading
from virtperf.formats.sar.clock import head, read_date, seconds_of, system_line
from virtperf.formats.sar.headings import Heading
from virtperf.formats.sar.table import Table, table_records
from virtperf.formats.sar.tools import tool_of
from virtperf.formats.text import DAY, decode, uncoloured, unwrap_midnight

CPU, DISK = "cpu", "disk"
"""Values of `report`: ``avg-cpu`` of the whole machine, and the tables of devices, of which an entity is one."""

_STAMP = re.compile(
    r"(?:Time: )?(?:(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})[ T])?(\d\d:\d\d:\d\d|\d{9,10})(?: ?([AaPp]\.?[Mm]\.?))?"
    r"(?:[+-]\d{4})?", re.ASCII,
)  # fmt: skip
_NUMBER = re.compile(r"[-+]?\d[\d.,]*[kMGTPE%]?", re.ASCII)


class IostatFormat:
    """Reader of iostat's text."""

    name = "iostat"
    title = "iostat text output (sysstat)"

    def sniff(self, head: bytes) -> float:
        """0.95 for the system line of sysstat with a heading of iostat below."""
        return 0.95 if tool_of(head) == self.name else 0.0

    def read(self, data: bytes, *, file: str = "<bytes>") -> Reading:
        """Read a listing.

        The first report holds averages since the machine was started, and is left out. Reports are numbered from the
        second one on where they carry no time (-t).

        Raises
        ------
        FormatError
            At a line that iostat does not print, a row that does not fit its heading, where some reports carry times
            and others not, and in a file of one report.
        """
        text, warnings = decode(uncoloured(data), file)
        lines, said = text.split("\n"), list(warnings)
        first, day, info = head(lines, self.name, said, file)
        found = _Reports(text, lines, first + 1, file)
        times, clock = _times(found.stamps, day, said, file)
        of = np.array(found.report_of, dtype=int)
        late = of > 0
        if not late.any():
            raise FormatError(
                "no report but the first, which holds averages since the machine was started", file=file,
                expected="iostat SECONDS COUNT, with a COUNT of two or more", remedy="collect the run again.",
            )  # fmt: skip
        records, at = table_records(found.table, times[of], said, file)
        late = np.isin(at, np.array(found.table.lines, dtype=int)[late] + 1)
        return Reading(records[late].reset_index(drop=True), clock, info, tuple(said), at[late])


class _Reports:
    """The reports of a listing: their rows in `table`, the report of each row, and the stamp of each report."""

    def __init__(self, text: str, lines: list[str], start: int, file: str) -> None:
        self._lines, self._times, self._under = list[int](), list[int](), list[int]()
        self.table = Table(text=text, lines=self._lines, times=self._times, under=self._under)
        self.report_of: list[int] = []
        self.stamps: list[tuple[int, str]] = []  # line, text; "" for a report without
        self.file = file
        self._seen: set[str] = set()  # tables of the report
        self._first = -1  # place of the first number in a row of the table, -1 outside of tables
        last = len(lines) - 1  # what stands behind the last line end
        for i in range(start, last):
            self._take(lines[i], i)
        if lines[last].strip():
            self.table.cut, self.table.cut_time = last, -1 if self._first >= 0 else -2

    def _take(self, line: str, number: int) -> None:
        words = line.split()
        if not words:
            self._first = -1
        elif _STAMP.fullmatch(line.strip()):
            self._begin(number, line.strip())
        elif self._first < 0 or words[0] == "avg-cpu:":
            self._heading(words, line, number)
        elif len(words) > self._first and _NUMBER.fullmatch(words[self._first]):
            self._lines.append(number)
            self._times.append(1)
            self.table.bodies.append(line)
            self._under.append(len(self.table.headings) - 1)
            self.report_of.append(len(self.stamps) - 1)
        else:
            raise self._error("not a line of iostat", line, number, "a row under avg-cpu: or Device")

    def _heading(self, words: list[str], line: str, number: int) -> None:
        if system_line(line):
            raise self._error("a second system line", line, number, "one listing a file")
        if words[0] == "avg-cpu:":
            fields = tuple(words[1:])
            heading = Heading(CPU, "host", -2, len(fields), False, tuple(range(len(fields))), fields)
        elif words[0] in ("Device", "Device:"):
            fields = tuple(words[1:])
            heading = Heading(DISK, "device", 0, len(words), False, tuple(range(1, len(words))), fields)
        elif words[-1] == "Device":
            fields = tuple(words[:-1])
            heading = Heading(DISK, "device", -1, len(fields), True, tuple(range(len(fields))), fields)
        else:
            raise self._error("not a heading of iostat", line, number, "avg-cpu: or Device")
        if len(set(fields)) < len(fields) or not fields:
            raise self._error("a heading with a doubled or missing column", line, number, "different names")
        if not self.stamps or heading.report in self._seen:
            self._begin(number, "")
        self._seen.add(heading.report)
        self._first = 1 if heading.entity == 0 else 0
        self.table.headings.append(heading)
        self.table.heading_lines.append(number)
        self.table.heading_times.append(0)

    def _begin(self, number: int, stamp: str) -> None:
        self.stamps.append((number, stamp))
        self._seen, self._first = set(), -1

    def _error(self, problem: str, line: str, number: int, expected: str) -> FormatError:
        remedy = "the file is damaged, or was made in another locale than C."
        return FormatError(problem, file=self.file, line=number + 1, expected=expected, found=line, remedy=remedy)


def _times(stamps: list[tuple[int, str]], day: int | None, said: list[str], file: str) -> tuple[np.ndarray, str]:
    """The time of each report, and the clock that it is by."""
    matches = [_STAMP.fullmatch(text) for _, text in stamps]
    kinds = {(bool(match), bool(match and match[1])) for match in matches}
    if len(kinds) > 1:
        bare = next(line for (line, _), match in zip(stamps, matches, strict=True) if not match or not match[1])
        raise FormatError("some reports have a time and others not, or no date", file=file, line=bare + 1)
    if not matches or matches[0] is None:
        return np.arange(len(stamps)) - 1.0, "sample"
    days: dict[str, int | None] = {}
    t = np.empty(len(stamps))
    for place, ((line, _), match) in enumerate(zip(stamps, matches, strict=True)):
        assert match is not None
        t[place] = seconds_of(match[2], match[3] or "", file, line + 1)
        if match[1]:
            if match[1] not in days:
                days[match[1]] = read_date(match[1], {}, [], "")
            own = days[match[1]]
            if own is None:
                raise FormatError("a date that can't be read", file=file, line=line + 1, found=match[1])
            t[place] += own * DAY
    if matches[0][1] or ":" not in matches[0][2]:
        return t, "absolute"
    t, set_back = unwrap_midnight(t)
    said.extend(f"{file} line {stamps[i][0] + 1}: the clock was set back" for i in set_back[:5])
    return (t, "time-of-day") if day is None else (t + day * DAY, "absolute")


FORMAT = IostatFormat()
