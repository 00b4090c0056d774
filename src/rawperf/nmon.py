"""Reader of the files of nmon (``nmon -f`` or ``-F``): processors and processes, by their headings.

Source: ``lnmon.c`` of nmon.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from rawperf.core.errors import FormatError
from rawperf.core.sample_rows import HOST
from rawperf.listing import TRUNCATED_LINE, LineListing, ListingFormat

CPU = "cpu"
NOT_AVAILABLE = -1.0
"""Printed for a number that the kernel does not provide."""

_REPORTS = {"CPU_ALL": "all processors", "PROC": "processes"}
_REQUIRED = {"CPU_ALL": ("user", "sys", "wait", "idle"), "PROC": ("runnable",)}
_PROCESSOR = re.compile(r"CPU(\d+)")
_SAMPLE = re.compile(r"T\d+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?", re.ASCII)
_TIME = "%H:%M:%S,%d-%b-%Y"


class NmonListing(LineListing):
    """CPU_ALL, the processors and PROC; the names of other sections stand in `info`.

    ``field`` is the column's heading in lower case, without ``%``. Empty cells and -1, which nmon
    prints for what it can't tell, give no record.

    Refused are a row without a heading above it, with another number of cells, or before the first
    time; a cell that is not a number; a time that is not one; a file without a row.
    """

    name = "nmon"
    title = "nmon"
    reads_whole = True
    clock = "absolute"

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self._unread = set[str]()
        self._headings: dict[str, tuple[str, ...]] = {}  # fields of a section
        self._samples: dict[str, float] = {}

    def parse_line(self, line: str, number: int, is_truncated: bool) -> None:
        if is_truncated:
            self.warnings.add(number, TRUNCATED_LINE)
            return
        section, *cells = line.rstrip().split(",")
        if section == "AAA" and len(cells) > 1 and cells[0] in ("version", "host", "interval"):
            self.info[cells[0]] = cells[1]
        elif section == "ZZZZ":
            self._parse_time(number, line, cells)
        elif section in _REPORTS or _PROCESSOR.fullmatch(section):
            if cells and _SAMPLE.fullmatch(cells[0]):
                self._parse_row(number, line, section, cells)
            else:
                self._parse_heading(number, line, section, cells)
        elif cells and _SAMPLE.fullmatch(cells[0]):
            self._unread.add(section)

    def finish(self) -> None:
        if not len(self.rows):
            raise self.error(
                "no row of CPU_ALL, a processor or PROC in the file",
                remedy="nmon was stopped before its first sample.",
            )
        if self._unread:
            self.info["sections not read"] = " ".join(sorted(self._unread))

    def _parse_time(self, number: int, line: str, cells: list[str]) -> None:
        try:
            sample, *time = cells[:3]
            moment = datetime.strptime(",".join(time), _TIME).replace(tzinfo=UTC)
        except ValueError as err:
            raise self._line_error(
                "not a time of nmon", number, "ZZZZ,T0001,HH:MM:SS,DD-MON-YYYY", line
            ) from err
        self._samples[sample] = moment.timestamp()

    def _parse_heading(self, number: int, line: str, section: str, cells: list[str]) -> None:
        fields = tuple(cell.strip().lower().removesuffix("%") for cell in cells[1:])
        required = _REQUIRED.get(section, _REQUIRED["CPU_ALL"])
        known = [field for field in fields if field]
        if not set(required) <= set(fields) or len(set(known)) < len(known):
            expected = f"{section}, a title, and the columns {', '.join(required)}"
            raise self._line_error("not a heading of nmon", number, expected, line)
        self._headings[section] = fields

    def _parse_row(self, number: int, line: str, section: str, cells: list[str]) -> None:
        sample, *values = cells
        fields = self._headings.get(section)
        if fields is None:
            expected = f"a heading of {section} above its rows"
            raise self._line_error("a row without a heading", number, expected, line)
        if len(values) != len(fields):
            expected = f"{len(fields)} numbers: {' '.join(fields)}"
            raise self._line_error("a row does not fit its heading", number, expected, line)
        if sample not in self._samples:
            expected = f"ZZZZ,{sample},... above the rows of the sample"
            raise self._line_error("a row without a time", number, expected, line)
        processor = _PROCESSOR.fullmatch(section)
        report, kind, entity = (
            ("processor", CPU, processor[1]) if processor else (_REPORTS[section], HOST, "")
        )
        for field, text in zip(fields, values, strict=True):
            if not text.strip():
                continue
            if not _NUMBER.fullmatch(text.strip()):
                raise self._line_error(f"{field} is not a number", number, "a number", line)
            if float(text) != NOT_AVAILABLE:
                self.rows.add(report, kind, entity, field, float(text), self._samples[sample])

    def _line_error(self, problem: str, number: int, expected: str, found: str) -> FormatError:
        remedy = "the line may be damaged, or from another version of nmon."
        return self.error(problem, number, expected, found, remedy)


FORMAT = ListingFormat(NmonListing)
