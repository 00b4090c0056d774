"""Reader of charbench's console output (``-v``): a line per second below a heading.

The options of charbench select the columns.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rawperf.base import build_records
from rawperf.listing import Listing, ListingFormat, ListingPart, RecordsWithLines
from rawperf.text import clock_seconds, parse_numbers, split_blanks, take_strings, unwrap_midnight

TIME, USERS, USERS_TOTAL = "Time", "Users", "Users total"
DRIVER = "driver"
MAX_COLUMNS = 200
MAX_LINE_LENGTH = 4096

_HEADING = re.compile(r"Time(?:[ \t]+\S+)+")
_CELL = r"(?:\[\d{1,9}/\d{1,9}\]|-?\d{1,18}(?:\.\d{1,9})?)"
_ROW = re.compile(rf"\d\d:\d\d:\d\d(?:[ \t]+{_CELL})+", re.ASCII)
# a row after text that another thread printed
_AFTER_TEXT = re.compile(rf"(.*[^\d:. \t])[ \t]*({_ROW.pattern})", re.ASCII)
_BEGINS_ROW = re.compile(r"\d\d:\d\d:\d\d(?:[ \t]+(?=\[?-?\d)|\Z)", re.ASCII)
_LIKE_ROW = re.compile(r"\[\S{1,9}/\S{1,9}\]|\d\d:\d\d:\d\d\s|(?:\s-?\d[\d.]*){3}", re.ASCII)
"""What a damaged row still has: a pair of users, a time, or numbers in a row."""
_FACTS = {
    "version": re.compile(r"Version *:\s*(\d[\w.]{0,30})"),
    "results file": re.compile(r"Results will be written to (\S.{0,200})"),
    "runtime": re.compile(r"Expected Benchmark Runtime is set to (\S.{0,60}?)\.?"),
    "completed": re.compile(r"(Completed Run)\."),
}


class SwingbenchConsoleListing(Listing):
    """Rows of a log, on the time-of-day clock, with the heading's own names.

    See docs/formats/swingbench-console.md. Refused are a log without a heading or a row, two headings
    that differ, and a damaged row.
    """

    name = "swingbench-console"
    title = "SwingBench console log (charbench -v)"
    reads_whole = True
    clock = "time-of-day"

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self._columns: list[str] = []
        self._rows: list[str] = []
        self._lines: list[int] = []

    def parse(self, part: ListingPart) -> RecordsWithLines:
        for number, line, is_truncated in part.numbered_lines():
            self._parse_line(line.rpartition("\r")[2].strip(), number, is_truncated)
        if not self._rows:
            heading = f"the heading {' '.join(self._columns)}" if self._columns else "no heading"
            raise self.error(
                "no row of charbench",
                expected="Time Users TPM TPS ..., below it HH:MM:SS [n/n] ...",
                found=heading,
                remedy="run charbench with -v users,tpm,tps.",
            )
        return self._records()

    def _parse_line(self, line: str, number: int, is_truncated: bool) -> None:
        """Parse one stripped line; numbers are converted later, in bulk."""
        if not self._columns or not line[:1].isdigit() or not _BEGINS_ROW.match(line):
            after = (
                _AFTER_TEXT.fullmatch(line)
                if ":" in line and len(line) <= MAX_LINE_LENGTH
                else None
            )
            if after and self._columns and len(after[2].split()) == len(self._columns) + 1:
                self._parse_facts(after[1])
                line = after[2]
            elif _HEADING.fullmatch(line):
                return self._parse_heading(line.split()[1:], number)
            else:
                if self._columns and _LIKE_ROW.search(line):
                    self.warnings.add(number, f"not a row, left out: {line[:60]!r}")
                return self._parse_facts(line)
        if is_truncated:  # the last digits may be missing
            return self.warnings.add(number, "the log ends within a row, which was dropped")
        if not _ROW.fullmatch(line):
            expected = f"HH:MM:SS and {len(self._columns)} numbers"
            raise self.error("a damaged row", number, expected, line)
        self._rows.append(line)
        self._lines.append(number)
        return None

    def _parse_heading(self, columns: list[str], number: int) -> None:
        names = " ".join(columns)
        if self._columns and columns != self._columns:
            raise self.error("a different heading", number, " ".join(self._columns), names)
        if self._columns and self._rows:
            self.warnings.add(
                number, "the heading is repeated; does the log have more than one run?"
            )
        if (
            len(set(columns)) < len(columns)
            or len(columns) > MAX_COLUMNS
            or {TIME, USERS_TOTAL} & set(columns)
        ):
            expected = f"at most {MAX_COLUMNS} distinct names other than {TIME} and {USERS_TOTAL}"
            raise self.error("invalid column names in the heading", number, expected, names)
        self._columns = columns

    def _parse_facts(self, line: str) -> None:
        for name, pattern in _FACTS.items():
            if match := pattern.fullmatch(line.strip()):
                self.info[name] = match[1].strip()

    def _records(self) -> RecordsWithLines:
        tokens, offsets = split_blanks(self._rows)
        n_cells = len(self._columns) + 1
        mismatched = np.flatnonzero(np.diff(offsets) != n_cells)
        if len(mismatched):
            row = int(mismatched[0])
            expected = f"{n_cells} cells"
            raise self.error("a damaged row", self._lines[row], expected, self._rows[row])
        cells = [tokens.take(pa.array(np.arange(i, len(tokens), n_cells))) for i in range(n_cells)]
        clocks = zip(cells[0].to_pylist(), self._lines, strict=True)
        t, backward_steps = unwrap_midnight(
            np.array([clock_seconds(text, file=self.file, line=line) for text, line in clocks])
        )
        for row in backward_steps.tolist():
            self.warnings.add(
                self._lines[row],
                "the time decreases; does the log have more than one run, or was the clock set back?",
            )
        fields: list[str] = []
        values: list[np.ndarray] = []
        for name, column in zip(self._columns, cells[1:], strict=True):
            if name == USERS and pc.any(pc.starts_with(column, "[")).as_py():
                active, total = self._parse_pairs(column)
                fields += [name, USERS_TOTAL]
                values += [active, total]
            else:
                parsed, invalid = parse_numbers(column)
                if invalid >= 0:
                    number, found = self._lines[invalid], str(column[invalid])
                    raise self.error(f"{name} is not a number", number, "a number", found)
                fields.append(name)
                values.append(parsed)
        width = len(fields)
        field = take_strings(fields, np.tile(np.arange(width), len(t)))
        records = build_records(
            "", DRIVER, "", field, np.repeat(t, width), np.column_stack(values).ravel()
        )
        return records, np.repeat(np.array(self._lines, dtype=np.int64), width)

    def _parse_pairs(self, column: pa.Array) -> tuple[np.ndarray, np.ndarray]:
        parts = pc.extract_regex(column, r"^\[(?P<a>[0-9]+)/(?P<b>[0-9]+)\]$")
        if parts.null_count:
            row = int(np.argmax(np.asarray(parts.is_null())))
            number, found = self._lines[row], str(column[row])
            raise self.error("Users is not a pair of numbers", number, "[active/total]", found)
        (active, _), (total, _) = (
            parse_numbers(pc.struct_field(parts, part)) for part in ("a", "b")
        )
        return active, total


FORMAT = ListingFormat(SwingbenchConsoleListing)
