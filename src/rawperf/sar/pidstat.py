"""Reader of the text output of pidstat: processes and threads, sysstat 9 to 12.

Source: ``pidstat.c`` of sysstat.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from rawperf.core.errors import FormatError
from rawperf.listing import ListingFormat, ListingPart, RecordsWithLines
from rawperf.sar.read import cut_before_table
from rawperf.sar.sysstat_table import (
    REMEDY,
    RowTimes,
    SarRows,
    SysstatListing,
    TableHeading,
    match_system_line,
    parse_seconds,
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


class PidstatListing(SysstatListing):
    """Tables of pidstat.

    Each row gives one record per numeric column, except the processor that the process last ran on.
    Negative values mark what pidstat could not read, and give no record. Average rows are left out.

    Refused are a line that pidstat does not print, a row that does not fit its heading, and a second
    system line.
    """

    name = "pidstat"
    title = "pidstat text output (sysstat)"
    indent = "# \t"

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self._times = RowTimes(self)
        self._n_rows = 0
        self._columns: _HeadingColumns | None = None
        self._heading, self._heading_time = "", -1
        self._decimals: int | None = None  # digits behind the point of percentages and rates

    def cut(self, lines: bytes, lines_before: int) -> int:
        return cut_before_table(lines)

    def parse_tables(self, part: ListingPart, start: int) -> RecordsWithLines:
        lines = _LINE.findall(part.text)
        table = self._parse_lines(lines, start, SarRows(self, part))
        self._n_rows += len(table.lines)
        if part.is_last and not self._n_rows:
            raise self.error(
                "no data row in the file",
                part.lines_before + len(lines),
                remedy="pidstat lists active processes only: perhaps none was active, or it was "
                "stopped before its first sample.",
            )
        records, numbers = table_records(table, self._times.compute(table))
        is_known = (records["value"] >= 0).to_numpy()
        return records[is_known].reset_index(drop=True), numbers[is_known]

    def _parse_lines(
        self, lines: list[tuple[str, str, str, str]], start: int, table: SarRows
    ) -> SarRows:
        rows, times, heading_indices = list[int](), list[int](), list[int]()
        table.lines, table.times, table.heading_indices = rows, times, heading_indices
        columns, part = self._columns, table.part
        heading_index_by_kind: dict[str, int] = {}
        if columns:
            heading_index_by_kind = columns.add_headings(table, -1, self._heading_time)
            table.carried_heading = self._heading
        truncated_line = len(lines) - 1 if part.is_last and not part.text.endswith("\n") else -1
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
                    remedy = "split the file there."
                    raise self.error("a second system line", table.line_number(i), remedy=remedy)
                elif stripped and not _AVERAGE.fullmatch(stripped):
                    raise self._line_error(other, table.line_number(i))
                continue
            if (time, am_pm) != last_time:  # rows of a table have the same time
                last_time, seconds = (time, am_pm), -1
                if time != "Time":
                    seconds = parse_seconds(time, am_pm, self.file, table.line_number(i))
            if i == truncated_line:
                table.truncated_line, table.truncated_time = i, -2 if is_new_table else seconds
            elif body.endswith("Command"):
                columns = self._parse_heading(body, table.line_number(i))
                heading_index_by_kind = columns.add_headings(table, i, seconds)
                self._columns, self._heading = columns, "".join(lines[i])
            else:
                if self._decimals is None and columns:
                    self._decimals = columns.decimals(body)
                row = columns.parse_row(body, self._decimals or 0) if columns else None
                if row is None:
                    raise self._row_error(body, "".join(lines[i]), table.line_number(i))
                if row[2]:
                    sentence = "the command begins with a number, which may be a surplus cell"
                    self.warnings.add(table.line_number(i), sentence)
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

    def _parse_heading(self, body: str, number: int) -> _HeadingColumns:
        *words, last = body.split()
        fields = tuple(word for word in words if word not in _WORDS)
        has_duplicates = len(set(words)) < len(words)
        if last != "Command" or not _IDS.keys() & set(words) or has_duplicates or not fields:
            expected, remedy = "UID PID, column names, Command", "restore the heading."
            raise self.error("not a heading of pidstat", number, expected, body, remedy)
        columns = _HeadingColumns(words, fields)
        if not columns.are_known:
            sentence = f"pidstat of sysstat 9 to 12 prints no table with the columns {body}"
            self.warnings.add_once(" ".join(words), number, sentence)
        return columns

    def _row_error(self, body: str, line: str, number: int) -> FormatError:
        """Error of a line that is not a row below its heading."""
        columns, cells = self._columns, body.split()
        if columns is None or len(cells) <= len(columns.words):
            return self._line_error(line, number)
        if not all(_NUMBER.fullmatch(cells[index]) for index in columns.read_positions):
            remedy = "collect without --human, or remove the damaged sample."
            return self.error("a value is not a number", number, found=line, remedy=remedy)
        return self.error(
            "a row does not fit its heading",
            number,
            "equal decimals of all percentages and rates, integers in the other columns",
            line,
            "a heading or a cell may be missing; correct or remove the sample.",
        )

    def _line_error(self, line: str, number: int) -> FormatError:
        return self.error(
            "not a line of pidstat",
            number,
            "a row under UID PID ... Command, or Average:",
            line,
            REMEDY,
        )


class _HeadingColumns:
    """Positions of the columns below a heading; `fields` are those of its `words` that are read."""

    def __init__(self, words: list[str], fields: tuple[str, ...]) -> None:
        self.words = words
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


FORMAT = ListingFormat(PidstatListing)
