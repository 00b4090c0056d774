"""The text that sar and mpstat print, sysstat 7 to 12.

Source: ``pr_stats.c``, ``sar.c``, ``mpstat.c`` and ``common.c`` of sysstat.
"""

from __future__ import annotations

import re

import numpy as np

from virtperf.core.errors import FormatError
from virtperf.formats.base import Reading
from virtperf.formats.sar.clock import first_midnight, head, note_marks, row_times, seconds_of, system_line
from virtperf.formats.sar.headings import parse_heading
from virtperf.formats.sar.table import Table, table_records
from virtperf.formats.sar.tools import tool_of
from virtperf.formats.sar.write import write_sar
from virtperf.formats.text import DAY, decode, uncoloured

_LINE = re.compile(r"^(?:(\d\d:\d\d:\d\d|\d{9,10})(?: ([AaPp]\.?[Mm]\.?))?[ \t]+(\S.*)|(.*))$", re.ASCII | re.MULTILINE)
_AVERAGE = re.compile(r"[^\d\s:][^\d:]{0,20}:(?:\s.*)?")  # Average:, Summary:, Moyenne :, Durchschn.:
_NO_TOPOLOGY = re.compile(r"all {10,}")  # under CPU CORE SOCK NODE, of which only the first has a word


class SarFormat:
    """Reader of sar's text, and of mpstat's, which has the same form."""

    def __init__(self, name: str, title: str) -> None:
        self.name, self.title = name, title

    def sniff(self, head: bytes) -> float:
        """0.95 for the system line of sysstat with a heading of this tool below; 0.2 for the system line alone."""
        tool = tool_of(head)
        return 0.95 if tool == self.name else 0.2 if tool == "sysstat" and self.name == "sar" else 0.0

    def read(self, data: bytes, *, file: str = "<bytes>") -> Reading:
        """Read a listing.

        Each row of a table gives one record a column; ``report`` is the activity (`ACTIVITIES`), ``entity_kind`` the
        entity's heading in lower case, ``field`` the column's heading. Rows that carry the time of their own heading
        are averages since boot: their report ends in `SINCE_BOOT`. Average rows are left out.

        Raises
        ------
        FormatError
            At a line that the tool does not print, a row that does not fit its heading, a negative percentage and a
            second system line.
        """
        text, warnings = decode(uncoloured(data), file)
        lines = _LINE.findall(text)
        said = list(warnings)
        first, day, info = head(["".join(parts) for parts in lines], self.name, said, file)
        table = self._scan(lines, first + 1, text, file)
        if not table.lines and not table.marks:
            raise FormatError("no row of data in the file", file=file, line=len(lines), remedy="collect the run again.")
        t = row_times(table, said, file)
        offset, clock = first_midnight(t, day), "absolute"
        if offset is None:
            offset, clock = -DAY * np.floor(t.min() / DAY) if len(t) else 0.0, "time-of-day"
        note_marks(table, t, offset, info)
        records, at = table_records(table, t + offset, said, file)
        return Reading(records, clock, info, tuple(said), at)

    def _scan(self, lines: list[tuple[str, str, str, str]], start: int, text: str, file: str) -> Table:
        table = Table(text=text)
        clock: dict[tuple[str, str], int] = {}
        fresh = True  # a heading may come: the line before was blank, or there was no table yet
        topology = False  # of mpstat -T
        current = -1
        last = len(lines) - 1 if not text.endswith("\n") else -1
        for i in range(start, len(lines)):
            time, half, body, other = lines[i]
            if not body:
                stripped = other.strip()
                if not stripped:
                    fresh = True
                elif i == last:
                    table.cut, table.cut_time = i, -2 if fresh else -1
                elif system_line(other):
                    raise FormatError("a second system line", file=file, line=i + 1, remedy="split the file there.")
                elif not _AVERAGE.fullmatch(stripped):
                    raise self._strange(other, i, file)
                continue
            seconds = clock.get((time, half))
            if seconds is None:
                seconds = clock[time, half] = seconds_of(time, half, file, i + 1)
            if body.startswith(("LINUX RESTART", "COM ")):
                table.marks.append((i, seconds, body[4:].strip() if body[0] == "C" else ""))
                continue
            if i == last:  # without a line end, the last number may have lost digits
                table.cut, table.cut_time = i, -2 if fresh else seconds
                continue
            if fresh:
                heading = parse_heading(body)
                fresh = False
                if heading is not None:
                    table.headings.append(heading)
                    table.heading_lines.append(i)
                    table.heading_times.append(seconds)
                    topology = "CORE" in body
                    current += 1
                    continue
            if current < 0:
                raise FormatError(
                    "a row before any heading", file=file, line=i + 1, found=body, remedy="restore the heading."
                )
            table.lines.append(i)
            table.times.append(seconds)
            table.bodies.append(_NO_TOPOLOGY.sub("all - - - ", body) if topology else body)
            table.under.append(current)
        return table

    def _strange(self, line: str, number: int, file: str) -> FormatError:
        problem, remedy = f"not a line of {self.name}", "the file is damaged: remove the sample, or collect it again."
        if not line.isascii():
            problem, remedy = "a line of another locale", f"print it again in the C locale: LC_ALL=C {self.name} ..."
        expected = "HH:MM:SS or Average:"
        return FormatError(problem, file=file, line=number + 1, expected=expected, found=line, remedy=remedy)


class SarWriter(SarFormat):
    """Reader and writer of sar's text."""

    def write(self, reading: Reading) -> bytes:
        """Print a listing; see `virtperf.formats.sar.write.write_sar`."""
        return write_sar(reading)


FORMAT = SarWriter("sar", "sar text output (sysstat)")
MPSTAT = SarFormat("mpstat", "mpstat text output (sysstat)")
