"""Reader of charbench's console output (``-v``): a line per second below a heading.

The options of charbench select the columns.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rawperf.base import Reading
from rawperf.core.errors import FormatError
from rawperf.recognition import Recognised
from rawperf.rows import Warnings, build_records, split_lines
from rawperf.text import (
    clock_seconds,
    decode,
    parse_numbers,
    split_blanks,
    take_strings,
    unwrap_midnight,
)

TIME, USERS, USERS_TOTAL = "Time", "Users", "Users total"
DRIVER = "driver"
MAX_COLUMNS = 200
MAX_LINE_LENGTH = 4096

_ESCAPE = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
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


class SwingbenchConsole(Recognised):
    """Reader of the console log; see docs/formats/swingbench-console.md."""

    name = "swingbench-console"
    title = "SwingBench console log (charbench -v)"

    def read(self, data: bytes, *, file: str = "<bytes>") -> Reading:
        """Read one sample per row, on the time-of-day clock, with the heading's own names.

        Raises `FormatError`: no heading, no row, two headings that differ, a damaged row.
        """
        text, decode_warnings = decode(data, file)
        log = _LogParser(file, Warnings(file, decode_warnings))
        lines, is_complete = split_lines(_ESCAPE.sub("", text))
        for number, line in enumerate(lines, start=1):
            log.parse_line(
                line.rpartition("\r")[2].strip(),
                number,
                is_truncated=number == len(lines) and not is_complete,
            )
        return log.reading()


class _LogParser:
    """Rows and facts of a log, added by line; numbers are converted in bulk."""

    def __init__(self, file: str, warnings: Warnings) -> None:
        self.file, self.warnings = file, warnings
        self.info: dict[str, str] = {}
        self.columns: list[str] = []
        self.rows: list[str] = []
        self.lines: list[int] = []

    def parse_line(self, line: str, number: int, is_truncated: bool) -> None:
        """Parse one stripped line; `is_truncated` for a last line without its line end."""
        if not self.columns or not line[:1].isdigit() or not _BEGINS_ROW.match(line):
            after = (
                _AFTER_TEXT.fullmatch(line)
                if ":" in line and len(line) <= MAX_LINE_LENGTH
                else None
            )
            if after and self.columns and len(after[2].split()) == len(self.columns) + 1:
                self._parse_facts(after[1])
                line = after[2]
            elif _HEADING.fullmatch(line):
                return self._parse_heading(line.split()[1:], number)
            else:
                if self.columns and _LIKE_ROW.search(line):
                    self.warnings.add(number, f"not a row, left out: {line[:60]!r}")
                return self._parse_facts(line)
        if is_truncated:  # the last digits may be missing
            return self.warnings.add(number, "the log ends within a row, which was dropped")
        if not _ROW.fullmatch(line):
            raise self._error(
                "a damaged row", number, f"HH:MM:SS and {len(self.columns)} numbers", line
            )
        self.rows.append(line)
        self.lines.append(number)
        return None

    def _parse_heading(self, columns: list[str], number: int) -> None:
        if self.columns and columns != self.columns:
            raise self._error(
                "a different heading", number, " ".join(self.columns), " ".join(columns)
            )
        if self.columns and self.rows:
            self.warnings.add(
                number, "the heading is repeated; does the log have more than one run?"
            )
        if (
            len(set(columns)) < len(columns)
            or len(columns) > MAX_COLUMNS
            or {TIME, USERS_TOTAL} & set(columns)
        ):
            expected = f"at most {MAX_COLUMNS} distinct names other than {TIME} and {USERS_TOTAL}"
            raise self._error(
                "invalid column names in the heading", number, expected, " ".join(columns)
            )
        self.columns = columns

    def _parse_facts(self, line: str) -> None:
        for name, pattern in _FACTS.items():
            if match := pattern.fullmatch(line.strip()):
                self.info[name] = match[1].strip()

    def reading(self) -> Reading:
        if not self.rows:
            raise FormatError(
                "no row of charbench",
                file=self.file,
                expected="Time Users TPM TPS ..., below it HH:MM:SS [n/n] ...",
                found=f"the heading {' '.join(self.columns)}" if self.columns else "no heading",
                remedy="run charbench with -v users,tpm,tps.",
            )
        tokens, offsets = split_blanks(self.rows)
        n_cells = len(self.columns) + 1
        mismatched = np.flatnonzero(np.diff(offsets) != n_cells)
        if len(mismatched):
            row = int(mismatched[0])
            raise self._error("a damaged row", self.lines[row], f"{n_cells} cells", self.rows[row])
        cells = [tokens.take(pa.array(np.arange(i, len(tokens), n_cells))) for i in range(n_cells)]
        clocks = zip(cells[0].to_pylist(), self.lines, strict=True)
        t, backward_steps = unwrap_midnight(
            np.array([clock_seconds(text, file=self.file, line=line) for text, line in clocks])
        )
        for row in backward_steps.tolist():
            self.warnings.add(
                self.lines[row],
                "the time decreases; does the log have more than one run, or was the clock set back?",
            )
        fields: list[str] = []
        values: list[np.ndarray] = []
        for name, column in zip(self.columns, cells[1:], strict=True):
            if name == USERS and pc.any(pc.starts_with(column, "[")).as_py():
                active, total = self._parse_pairs(column)
                fields += [name, USERS_TOTAL]
                values += [active, total]
            else:
                parsed, invalid = parse_numbers(column)
                if invalid >= 0:
                    raise self._error(
                        f"{name} is not a number",
                        self.lines[invalid],
                        "a number",
                        str(column[invalid]),
                    )
                fields.append(name)
                values.append(parsed)
        width = len(fields)
        field = take_strings(fields, np.tile(np.arange(width), len(t)))
        records = build_records(
            "", DRIVER, "", field, np.repeat(t, width), np.column_stack(values).ravel()
        )
        lines = np.repeat(np.array(self.lines, dtype=np.int64), width)
        return Reading(records, "time-of-day", self.info, self.warnings.messages(), lines)

    def _parse_pairs(self, column: pa.Array) -> tuple[np.ndarray, np.ndarray]:
        parts = pc.extract_regex(column, r"^\[(?P<a>[0-9]+)/(?P<b>[0-9]+)\]$")
        if parts.null_count:
            row = int(np.argmax(np.asarray(parts.is_null())))
            raise self._error(
                "Users is not a pair of numbers",
                self.lines[row],
                "[active/total]",
                str(column[row]),
            )
        (active, _), (total, _) = (
            parse_numbers(pc.struct_field(parts, part)) for part in ("a", "b")
        )
        return active, total

    def _error(self, problem: str, line: int, expected: str, found: str) -> FormatError:
        return FormatError(problem, file=self.file, line=line, expected=expected, found=found)


FORMAT = SwingbenchConsole()
