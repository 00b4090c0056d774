"""The text that pidstat prints: processes and threads, sysstat 9 to 12.

Source: ``pidstat.c`` of sysstat.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from virtperf.core.errors import FormatError
from virtperf.formats.base import Reading
from virtperf.formats.sar.clock import Midnights, first_midnight, head, seconds_of, system_line
from virtperf.formats.sar.headings import Heading
from virtperf.formats.sar.table import Table, table_records
from virtperf.formats.sar.tools import tool_of
from virtperf.formats.text import DAY, decode, uncoloured

PROCESS, THREAD = "process", "thread"
"""Entity kinds; an entity is the command, a blank and the number of its process or thread."""

REPORTS = {
    "%CPU": "cpu", "RSS": "memory", "StkSize": "stack", "kB_rd/s": "disk", "cswch/s": "tasks", "fd-nr": "files",
    "usr-ms": "cpu time", "minflt-nr": "faults", "prio": "scheduling",
}  # fmt: skip
"""Report by a field that only its table has; a table of several (-h) has the first one's."""

_LINE = re.compile(
    r"^#?[ \t]*(?:(\d\d:\d\d:\d\d|\d{9,10}|Time)(?: ([AaPp]\.?[Mm]\.?))?[ \t]+(\S.*)|(.*))$", re.ASCII | re.MULTILINE
)
_IDS = {"PID": PROCESS, "TGID": PROCESS, "TID": THREAD}
_WORDS = {"UID", "USER", "CPU", "policy", *_IDS}
_AVERAGE = re.compile(r"[^\d\s:][^\d:]{0,20}:\s.*")


class PidstatFormat:
    """Reader of pidstat's text."""

    name = "pidstat"
    title = "pidstat text output (sysstat)"

    def sniff(self, head: bytes) -> float:
        """0.95 for the system line of sysstat with a heading of PID and Command below."""
        return 0.95 if tool_of(head) == self.name else 0.0

    def read(self, data: bytes, *, file: str = "<bytes>") -> Reading:
        """Read a listing.

        Each row gives one record a column of numbers, without the processor that the process was last on. Values below
        zero stand for what pidstat could not read, and give none. Average rows are left out.

        Raises
        ------
        FormatError
            At a line that pidstat does not print, a row that does not fit its heading, and a second system line.
        """
        text, warnings = decode(uncoloured(data), file)
        lines = _LINE.findall(text)
        said = list(warnings)
        first, day, info = head(["".join(parts) for parts in lines], self.name, said, file)
        table = _scan(lines, first + 1, text, file)
        if not table.lines:
            raise FormatError("no row of data in the file", file=file, line=len(lines), remedy="collect the run again.")
        t = Midnights().times(table, said, file)
        offset, clock = first_midnight(t, day), "absolute"
        if offset is None:
            offset, clock = -DAY * np.floor(t.min() / DAY), "time-of-day"
        records, at = table_records(table, t + offset, said, file)
        known = (records["value"] >= 0).to_numpy()
        return Reading(records[known].reset_index(drop=True), clock, info, tuple(said), at[known])


class _Columns:
    """Where the words of a heading's rows stand."""

    def __init__(self, body: str, file: str, line: int) -> None:
        *self.words, last = body.split()
        if last != "Command" or not _IDS.keys() & set(self.words) or len(set(self.words)) < len(self.words):
            raise FormatError(
                "not a heading of pidstat", file=file, line=line, expected="UID PID ... Command", found=body,
                remedy="restore the heading.",
            )  # fmt: skip
        fields = tuple(word for word in self.words if word not in _WORDS)
        report = next((REPORTS[word] for word in fields if word in REPORTS), "+".join(fields[:3]))
        self.ids = [(place, _IDS[word]) for place, word in enumerate(self.words) if word in _IDS]
        self.read = [place for place, word in enumerate(self.words) if word not in _WORDS]
        numeric = tuple(range(len(fields)))
        process = Heading(report, PROCESS, -1, len(fields), True, numeric, fields)
        self.headings = {PROCESS: process, THREAD: replace(process, kind=THREAD)}

    def row(self, body: str) -> tuple[str, str] | None:
        """Kind of the entity, and its row with the numbers first and the entity last; None for another line."""
        cells = body.split(None, len(self.words))
        if len(cells) <= len(self.words):
            return None
        own = [(cells[place], kind) for place, kind in self.ids if cells[place].isdecimal()]
        if not own:
            return None
        number, kind = own[-1]
        command = cells[-1].removeprefix("|__").rpartition(")__")[2] if kind == THREAD else cells[-1]
        return kind, f"{' '.join(cells[place] for place in self.read)} {command.strip()} {number}"


def _scan(lines: list[tuple[str, str, str, str]], start: int, text: str, file: str) -> Table:
    rows, times, under = list[int](), list[int](), list[int]()
    table = Table(text=text, lines=rows, times=times, under=under)
    columns: _Columns | None = None
    places: dict[str, int] = {}
    last = len(lines) - 1 if not text.endswith("\n") else -1
    for i in range(start, len(lines)):
        time, half, body, other = lines[i]
        if not body:
            stripped = other.strip()
            if i == last and stripped:
                table.cut, table.cut_time = i, -1
            elif system_line(other):
                raise FormatError("a second system line", file=file, line=i + 1, remedy="split the file there.")
            elif stripped and not _AVERAGE.fullmatch(stripped):
                raise _not_a_line(other, i, file)
            continue
        seconds = seconds_of(time, half, file, i + 1) if time != "Time" else -1
        if i == last:
            table.cut, table.cut_time = i, seconds
        elif body.endswith("Command"):
            columns = _Columns(body, file, i + 1)
            places = {}
            for kind in columns.headings:
                places[kind] = len(table.headings)
                table.headings.append(columns.headings[kind])
                table.heading_lines.append(i)
                table.heading_times.append(seconds)
        else:
            row = columns.row(body) if columns else None
            if row is None:
                raise _not_a_line("".join(lines[i]), i, file)
            rows.append(i)
            times.append(seconds)
            table.bodies.append(row[1])
            under.append(places[row[0]])
    for place, seconds in enumerate(table.heading_times):
        if seconds < 0 and table.times:  # -h prints no time in its headings: it was before the sample below
            below = int(np.searchsorted(table.lines, table.heading_lines[place]))
            table.heading_times[place] = table.times[min(below, len(table.times) - 1)] - 1
    return table


def _not_a_line(line: str, number: int, file: str) -> FormatError:
    return FormatError(
        "not a line of pidstat", file=file, line=number + 1, expected="a row under UID PID ... Command, or Average:",
        found=line, remedy="the file is damaged, or was made in another locale than C.",
    )  # fmt: skip


FORMAT = PidstatFormat()
