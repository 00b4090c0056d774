"""Reader of the output of ``vmstat INTERVAL`` on Linux (procps), with or without ``-t``.

Source: ``vmstat.c`` of procps.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

import numpy as np

from rawperf.listing import TRUNCATED_LINE, Listing, ListingFormat, ListingPart, RecordsWithLines
from rawperf.sar.sysstat_table import SarRows, TableHeading, table_records

_NAME = re.compile(r"[a-z]\w*", re.ASCII)
# After the numbers; in old versions after a tab, and with the zone's name.
_STAMP = re.compile(
    r"^(\d[\d \t]*)[ \t](\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?: +([A-Za-z+-][\w:+-]*))?$", re.ASCII
)
_ROW = re.compile(r"\d[\d \t]*", re.ASCII)


class VmstatListing(Listing):
    """Rows of vmstat.

    ``field`` is a name of the second heading, the entity is the host. The first row holds averages
    since boot, and is left out. The clock is ``absolute`` with ``-t``, else rows are numbered from
    the second one on.

    Refused are a row before a heading, a heading that differs from the first, a row that does not
    fit its heading, times in only some rows, and no row but the first.
    """

    name = "vmstat"
    title = "vmstat text output (procps)"
    clock = "sample"

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self._n_rows = 0
        self._first_row_line = 0
        self._heading: TableHeading | None = None
        self._heading_text = ""

    def parse(self, part: ListingPart) -> RecordsWithLines:
        rows, times = list[int](), list[float]()
        table = SarRows(self, part, lines=rows, times=rows)
        for number, line, is_truncated in part.numbered_lines():
            words = line.split()
            if is_truncated:
                if words:
                    self.warnings.add(number, TRUNCATED_LINE)
            elif words and words[0].strip("-") != "procs":
                timestamp = _STAMP.fullmatch(line.strip())
                if timestamp or _ROW.fullmatch(line.strip()):
                    rows.append(number - part.lines_before - 1)
                    times.append(self._parse_time(timestamp, line, number))
                    table.bodies.append(timestamp[1] if timestamp else line)
                else:
                    self._parse_heading(words, line, number)
        table.heading_indices = [0] * len(rows)
        if self._heading is not None:  # placed before all rows, at the time of none
            table.headings, table.heading_lines, table.heading_times = [self._heading], [-1], [-1]
            table.carried_heading = self._heading_text
        if part.is_last and self._n_rows < 2:
            raise self.error(
                "the file has only the first row, which contains averages since boot",
                expected="the two heading lines of vmstat, and rows",
                remedy="collect with vmstat -t SECONDS COUNT.",
            )
        records, lines = table_records(table, np.array(times))
        is_kept = lines > self._first_row_line
        return records[is_kept].reset_index(drop=True), lines[is_kept]

    def _parse_time(self, timestamp: re.Match[str] | None, line: str, number: int) -> float:
        """Time of a row, or its number without -t."""
        if self._heading is None:
            remedy = "keep the heading lines."
            raise self.error("a row before the first heading", number, found=line, remedy=remedy)
        clock = "absolute" if timestamp else "sample"
        if self._n_rows and clock != self.clock:
            remedy = "keep one listing per file."
            raise self.error("only some rows have times", number, remedy=remedy)
        if not self._n_rows:
            self._first_row_line, self.clock = number, clock
        self._n_rows += 1
        if timestamp is None:
            return self._n_rows - 2.0
        self.info |= {"zone": timestamp[3]} if timestamp[3] else {}
        try:
            return datetime.fromisoformat(timestamp[2]).replace(tzinfo=UTC).timestamp()
        except ValueError as err:
            raise self.error("not a date and time", number, found=timestamp[2]) from err

    def _parse_heading(self, words: list[str], line: str, number: int) -> None:
        """Parse the second heading; with -t the name of the zone follows the names."""
        names = tuple(word for word in words if _NAME.fullmatch(word))
        zone, previous = words[len(names) :], self._heading
        heading = TableHeading("", "host", -2, len(names), False, tuple(range(len(names))), names)
        is_plain = list(names) == words[: len(names)] and len(zone) <= 1
        if names[:2] != ("r", "b") or len(set(names)) < len(names) or not is_plain:
            expected = "r b swpd free ..., or numbers"
            raise self.error("not a line of vmstat", number, expected, " ".join(words))
        if previous is not None and previous != heading:
            expected, remedy = " ".join(previous.fields), "keep one listing per file."
            problem = "a heading that differs from the first"
            raise self.error(problem, number, expected, " ".join(names), remedy)
        self.info |= {"zone": zone[0]} if zone else {}
        if previous is None:
            self._heading, self._heading_text = heading, line


FORMAT = ListingFormat(VmstatListing)
