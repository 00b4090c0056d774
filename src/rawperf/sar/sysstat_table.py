"""Tables of sysstat's tools: headings, times of rows, and conversion of rows to records.

A heading tells tool, activity, entity and numeric fields; times depend on the date, 12-hour clocks,
midnights and restarts.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rawperf.base import DictionaryEncoder, build_records
from rawperf.core.errors import FormatError
from rawperf.listing import Listing, ListingPart, RecordsWithLines
from rawperf.text import (
    DAY,
    EPOCH,
    clock_seconds,
    parse_numbers,
    split_blanks,
    take_strings,
    unwrap_midnight,
)

ACTIVITIES = {
    "%idle": "cpu",
    "proc/s": "tasks",
    "cswch/s": "tasks",
    "INTR": "interrupts",
    "intr/s": "interrupts",
    "TIMER/s": "softirqs",
    "pswpin/s": "swapping",
    "pgpgin/s": "paging",
    "rtps": "io",
    "kbmemfree": "memory",
    "frmpg/s": "memory-rates",
    "kbswpfree": "swap-space",
    "kbhugfree": "huge-pages",
    "dentunusd": "files",
    "runq-sz": "queue",
    "TTY": "tty",
    "DEV": "disk",
    "rxpck/s": "net-dev",
    "rxerr/s": "net-edev",
    "call/s": "nfs-client",
    "scall/s": "nfs-server",
    "totsck": "sockets",
    "irec/s": "ip",
    "ihdrerr/s": "ip-errors",
    "imsg/s": "icmp",
    "ierr/s": "icmp-errors",
    "active/s": "tcp",
    "atmptf/s": "tcp-errors",
    "idgm/s": "udp",
    "tcp6sck": "sockets6",
    "irec6/s": "ip6",
    "ihdrer6/s": "ip6-errors",
    "imsg6/s": "icmp6",
    "ierr6/s": "icmp6-errors",
    "idgm6/s": "udp6",
    "fch_rxf/s": "fibre-channel",
    "squeezd/s": "softnet",
    "MHz": "cpu-frequency",
    "wghMHz": "cpu-weighted-frequency",
    "FAN": "fan",
    "TEMP": "temperature",
    "IN": "voltage",
    "BAT": "battery",
    "BUS": "usb",
    "MBfsfree": "filesystems",
    "%scpu": "psi-cpu",
    "%sio": "psi-io",
    "%smem": "psi-memory",
}
"""Activity by a column name that is unique to its table.

RHEL 4 and 5 print proc/s and cswch/s in tables of their own.
"""

SINCE_BOOT = " since boot"
"""Suffix of the report of rows with the same time as their heading."""

# Columns of text or hexadecimal numbers, which are not read; the last ones may contain blanks.
_WORDS = {"idvendor", "idprod", "manufact", "product", "status", "DEVICE", "CORE", "SOCK"}
_INTERRUPT = re.compile(r"\d+/s")


@dataclass(frozen=True)
class TableHeading:
    """A heading without its time."""

    report: str  # key of the activity; in an unknown table the first three fields joined by "+"
    kind: str  # the entity's column in lower case, "host" if the table has none
    entity: int  # position of the entity: 0, -1 (right end, may contain blanks) or -2 (none)
    fixed: int  # number of columns with exactly one word in each row
    has_open_end: bool  # whether columns follow that may contain blanks or be missing
    numeric: tuple[int, ...]  # positions of the columns that are read
    fields: tuple[str, ...]  # their names
    # columns CORE, SOCK and NODE follow the processor, empty in rows of all processors
    topology: bool = False


@lru_cache(maxsize=1024)
def parse_heading(body: str) -> TableHeading | None:
    """Parse a line, without its time, as a heading; None if it has a number or no field is left."""
    words = body.split()
    numbers = (word[0] in "0123456789-+.," and not _INTERRUPT.fullmatch(word) for word in words)
    if any(numbers) or len(set(words)) != len(words):
        return None
    entity, kind, fixed = -2, "host", len(words)
    if words and words[0].isupper():
        entity, kind = 0, words[0].lower()
    # FCHOST, FILESYSTEM, MOUNTPOINT, and any device under --pretty
    elif words and words[-1].isupper():
        entity, kind, fixed = -1, words[-1].lower(), fixed - 1
    while fixed and words[fixed - 1] in _WORDS:
        fixed -= 1
    unread = _WORDS | ({"NODE"} if "CORE" in words else set())
    numeric = tuple(i for i in range(fixed) if i != entity and words[i] not in unread)
    if not numeric:
        return None
    fields = tuple(words[i] for i in numeric)
    other = "interrupts" if _INTERRUPT.fullmatch(fields[0]) else "+".join(fields[:3])
    report = next((ACTIVITIES[word] for word in words if word in ACTIVITIES), other)
    return TableHeading(
        report, kind, entity, fixed, fixed < len(words), numeric, fields, "CORE" in words
    )


_WORD = re.compile(r"\S+")
_NUMBER_FIRST = re.compile(r"-?[\d.,]+ ", re.ASCII)


@dataclass
class SarRows:
    """Rows of all tables in a part of a file; line numbers count from 0 at the part's beginning."""

    listing: Listing
    part: ListingPart
    headings: list[TableHeading] = field(default_factory=list)
    heading_lines: list[int] = field(default_factory=list)
    heading_times: list[int] = field(default_factory=list)
    lines: Sequence[int] | NDArray[np.int64] = field(default_factory=list)  # of each row
    times: Sequence[int] | NDArray[np.int64] = field(default_factory=list)  # times of day
    # index of each row's heading
    heading_indices: Sequence[int] | NDArray[np.int64] = field(default_factory=list)
    # text of each row after its time, unless `starts` is given
    bodies: list[str] = field(default_factory=list)
    starts: NDArray[np.int64] | None = None  # index of each row's first word
    counts: NDArray[np.int64] | None = None  # number of words in each row
    shifts: NDArray[np.int64] | None = None  # number of empty columns after each row's first one
    # line of the headings from an earlier part; their line numbers are negative
    carried_heading: str | None = None
    # line, time, comment; "" for restarts
    marks: list[tuple[int, int, str]] = field(default_factory=list)
    truncated_line: int = -1  # truncated line
    truncated_time: int = -2  # its time of day; -1 if truncated too, -2 if no table is affected

    def line_number(self, line: int) -> int:
        """Number of a line in the file, from 1."""
        return self.part.lines_before + int(line) + 1

    def body(self, row: int) -> str:
        """Text after the time in a row."""
        if self.starts is None:
            return self.bodies[row]
        begin, end = self.part.begin[self.starts[row]], self.part.line_end[self.lines[row]]
        return self.part.data[begin:end].decode()

    def line_text(self, number: int) -> str:
        """Text of a line, also of a heading in an earlier part."""
        if number < 0:
            return self.carried_heading or ""
        return self.part.line(number)

    def error(
        self,
        problem: str,
        row: int,
        expected: str | None = None,
        remedy: str = "the line is damaged; remove its sample.",
    ) -> FormatError:
        """Build the error of a row."""
        number = self.line_number(self.lines[row])
        return self.listing.error(problem, number, expected, self.body(row), remedy)

    def factorize_headings(self) -> tuple[list[TableHeading], NDArray[np.int64]]:
        """Factorize the headings: distinct ones, and their index for each in `headings`."""
        # few objects, so that comparisons are cheap
        by_id = {id(heading): heading for heading in self.headings}
        numbers: dict[TableHeading, int] = {}
        codes = {key: numbers.setdefault(heading, len(numbers)) for key, heading in by_id.items()}
        return list(numbers), np.array(
            [codes[id(heading)] for heading in self.headings], dtype=np.int64
        )

    def split_words(self) -> tuple[pa.Array, NDArray[np.int64], NDArray[np.int64]]:
        """All words, and the index of the first word and the number of words of each row."""
        if self.starts is not None and self.counts is not None:
            return self.part.words, self.starts, self.counts
        tokens, offsets = split_blanks(self.bodies)
        return tokens, offsets[:-1].astype(np.int64), np.diff(offsets).astype(np.int64)

    def has_decimal_comma(self) -> bool:
        """Whether numbers have a decimal comma, judged by the first rows."""
        if self.starts is None:
            return any("," in body for body in self.bodies[:1000])
        return b"," in self.part.data and any(
            "," in self.body(row) for row in range(min(1000, len(self.lines)))
        )


def table_records(table: SarRows, t: np.ndarray) -> RecordsWithLines:
    """Records of all rows at the times `t`, and the line of the file, from 1, of each.

    sysstat itself prints one value too few for a processor that is off: a row with its words
    exactly below the first columns that ends before the last is left out, since the missing value
    is unknown. The listing warns of such rows, and of a truncated file.

    Raises `FormatError` at a row that does not fit its heading, an invalid number, or a negative
    percentage.
    """
    tokens, starts, counts = table.split_words()
    heading_indices = np.array(table.heading_indices, dtype=int)
    distinct, heading_code = table.factorize_headings()
    code = heading_code[heading_indices]
    fixed = np.array([h.fixed for h in distinct] or [0])[code]
    open_end = np.array([h.has_open_end for h in distinct] or [False])[code]
    is_kept = _check_rows(table, t, counts, fixed, open_end)
    reports, kinds, names, fields = (
        DictionaryEncoder(),
        DictionaryEncoder(),
        DictionaryEncoder(),
        DictionaryEncoder(),
    )
    since_boot = np.array(table.heading_times, dtype=int)[heading_indices] == np.array(
        table.times, dtype=int
    )
    rows, positions, field_codes = [], [], []
    table_starts = starts if table.shifts is None else starts - table.shifts
    entity = np.full(len(counts), names[""])
    report_codes, since_boot_codes, kind = (np.zeros(len(distinct), dtype=int) for _ in range(3))
    for number, heading in enumerate(distinct):
        heading_rows = np.flatnonzero((code == number) & is_kept)
        report_codes[number], since_boot_codes[number] = (
            reports[heading.report],
            reports[heading.report + SINCE_BOOT],
        )
        kind[number] = kinds[heading.kind]
        rows.append(np.repeat(heading_rows, len(heading.numeric)))
        positions.append((table_starts[heading_rows][:, None] + np.array(heading.numeric)).ravel())
        field_codes.append(np.tile([fields[name] for name in heading.fields], len(heading_rows)))
        if heading.entity == 0:
            words = pc.dictionary_encode(tokens.take(pa.array(starts[heading_rows])))
            word_codes = np.array([names[word] for word in words.dictionary.to_pylist()], dtype=int)
            entity[heading_rows] = (
                word_codes[words.indices.to_numpy()] if len(heading_rows) else entity[heading_rows]
            )
        elif heading.entity == -1:
            ends = _join_words(
                tokens, starts[heading_rows] + heading.fixed, counts[heading_rows] - heading.fixed
            )
            surplus = heading.kind not in ("process", "thread") and [
                bool(_NUMBER_FIRST.match(end)) for end in ends
            ]
            if surplus and any(surplus):
                problem = (
                    f"a number before the name of a {heading.kind}, in a column without a heading"
                )
                raise table.error(problem, int(heading_rows[surplus.index(True)]))
            entity[heading_rows] = [names[end] for end in ends]
    of_processors = np.array([heading.kind in ("cpu", "node") for heading in distinct] or [False])
    numbered = np.flatnonzero(of_processors[code] & is_kept)
    twice = pd.DataFrame(
        {"heading": heading_indices[numbered], "t": t[numbered], "entity": entity[numbered]}
    ).duplicated()
    if twice.any():
        problem = "a second row of one processor or node at one time"
        remedy = "a heading between the two may be missing; correct or remove the sample."
        raise table.error(problem, int(numbered[int(np.argmax(twice))]), remedy=remedy)
    row = np.concatenate([*rows, np.zeros(0, dtype=int)])
    order = np.argsort(row, kind="stable") if len(distinct) > 1 else np.arange(len(row))
    row = row[order]
    digits = tokens.take(pa.array(np.concatenate([*positions, np.zeros(0, dtype=int)])[order]))
    if table.has_decimal_comma():
        digits = pc.replace_substring(digits, ",", ".")  # decimal comma
    values, invalid = parse_numbers(digits)
    if invalid >= 0:
        remedy = "collect without --human, or remove the damaged sample."
        raise table.error("a value is not a number", int(row[invalid]), remedy=remedy)
    field_code = np.concatenate([*field_codes, np.zeros(0, dtype=int)])[order]
    below = np.flatnonzero(
        (values < 0) & np.array([name.startswith("%") for name in fields] or [False])[field_code]
    )
    if len(below):
        raise table.error("a negative percentage", int(row[below[0]]))
    report = take_strings(
        list(reports), np.where(since_boot, since_boot_codes[code], report_codes[code])[row]
    )
    field_of = take_strings(list(fields), field_code)
    kind_of, entity_of = (
        take_strings(list(kinds), kind[code][row]),
        take_strings(list(names), entity[row]),
    )
    frame = build_records(report, kind_of, entity_of, field_of, t[row], values)
    return frame, np.array(table.lines, dtype=np.int64)[row] + table.part.lines_before + 1


def _join_words(tokens: pa.Array, first: NDArray[np.int64], counts: NDArray[np.int64]) -> list[str]:
    """Join `counts` words each, from the indices `first` on, with blanks."""
    stops = np.cumsum(counts)
    indices = np.arange(counts.sum()) + np.repeat(first - stops + counts, counts)
    words = tokens.take(pa.array(indices)).to_pylist()
    return [
        " ".join(words[stop - count : stop])
        for stop, count in zip(stops.tolist(), counts.tolist(), strict=True)
    ]


def _check_rows(
    table: SarRows, t: np.ndarray, counts: np.ndarray, fixed: np.ndarray, open_end: np.ndarray
) -> NDArray[np.bool_]:
    """Mask of the complete rows; raises as `table_records` for others that are not left out.

    By row, `counts` is its number of words, `fixed` that of its heading, and `open_end` whether
    more words may follow.
    """
    warnings, is_last = table.listing.warnings, table.part.is_last
    mismatched = np.flatnonzero((counts < fixed) | ((counts > fixed) & ~open_end))
    n_complete = len(counts) - is_last
    short_rows = _short_aligned_rows(
        table, mismatched[(counts < fixed)[mismatched] & (mismatched < n_complete)]
    )
    mismatched = np.setdiff1d(mismatched, short_rows)
    is_last_truncated = (
        is_last
        and len(mismatched) == 1
        and mismatched[0] == len(counts) - 1
        and counts[-1] < fixed[-1]
    )
    if len(mismatched) and not is_last_truncated:
        first = int(mismatched[0])
        words = table.headings[table.heading_indices[first]].fields
        expected = f"{fixed[first]} words under {' '.join(words)}"
        raise table.error("a row does not fit its heading", first, expected)
    is_kept = np.ones(len(counts), dtype=bool)
    if len(short_rows):
        suffix = f", and {len(short_rows) - 1} more such rows" if len(short_rows) > 1 else ""
        sentence = f"a value is missing in the row, which was left out{suffix}"
        warnings.add_always(table.line_number(table.lines[short_rows[0]]), sentence)
    if table.truncated_line >= 0 or is_last_truncated:
        if is_last_truncated:
            table.truncated_line, table.truncated_time = int(table.lines[-1]), int(table.times[-1])
        is_kept = _complete_sample_mask(table, t)
        sentence = "the file is truncated; the incomplete sample was left out"
        warnings.add_always(table.line_number(table.truncated_line), sentence)
    is_kept[short_rows] = False
    return is_kept


def _short_aligned_rows(table: SarRows, rows: np.ndarray) -> np.ndarray:
    """Select the rows with words aligned to their heading's words, from the first on."""

    def ends(number: int) -> list[int]:
        return [word.end() for word in _WORD.finditer(table.line_text(number))]

    def fits(row: int) -> bool:
        row_ends = ends(table.lines[row])
        return ends(table.heading_lines[table.heading_indices[row]])[: len(row_ends)] == row_ends

    return np.array([row for row in rows.tolist() if fits(row)], dtype=int)


def _complete_sample_mask(table: SarRows, t: np.ndarray) -> np.ndarray:
    """Mask of the rows without the incomplete sample of a truncated table."""
    is_kept = np.ones(len(t), dtype=bool)
    if not len(t) or table.truncated_time == -2:
        return is_kept
    is_last_sample = (np.array(table.heading_indices) == table.heading_indices[-1]) & (t == t[-1])
    # the truncated line may belong to the last sample or not: compare with the sample before
    if table.truncated_time == -1:
        earlier = t[np.array(table.heading_indices) == table.heading_indices[-1]]
        earlier = earlier[earlier < t[-1]]
        return (
            is_kept
            if len(earlier) and (earlier == earlier[-1]).sum() == is_last_sample.sum()
            else ~is_last_sample
        )
    return ~is_last_sample if table.truncated_time == table.times[-1] else is_kept


_SYSTEM_LINE = re.compile(
    r"Linux +(?P<kernel>\S+) +\((?P<host>(?:[^()]|\([^()]*\))*)\)\s*(?P<date>\S+)?(?:\s+_(?P<machine>\S+)_)?"
    r"(?:\s+\((?P<cpus>\d+) CPU\))?\s*",
    re.ASCII,
)
_MAX_SYSTEM_LINE_LENGTH = 500
EARLIEST = 10**8
"""Smallest number in place of a time of day that is taken as seconds since 1970."""
MAX_CLOCK_WARNINGS = 5
"""Largest number of warnings that a clock was set back."""
REMEDY = "it may come from another version or option, from a locale other than C, or be damaged."
SYSTEM_LINE = "Linux RELEASE (HOST) DATE _ARCH_ (N CPU)"


def match_system_line(line: str) -> re.Match[str] | None:
    """Match the first line of a listing; groups are named as in `ParsedFile.info`."""
    return _SYSTEM_LINE.fullmatch(line) if len(line) < _MAX_SYSTEM_LINE_LENGTH else None


class SysstatListing(Listing):
    """A listing of one of sysstat's tools: a system line, which has the date, then tables."""

    clock = "absolute"
    indent: ClassVar[str] = ""  # characters that may precede the system line

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.has_begun = False
        self.day: int | None = None  # the listing's date, in days since 1970

    def parse(self, part: ListingPart) -> RecordsWithLines | None:
        if self.has_begun:
            return self.parse_tables(part, 0)
        if not part.data.strip() and not part.is_last:
            return None
        return self.parse_tables(part, self._parse_system_line(part))

    @abstractmethod
    def parse_tables(self, part: ListingPart, start: int) -> RecordsWithLines | None:
        """Parse the tables of a part from its line `start` on; returns and raises as `parse`."""

    def _parse_system_line(self, part: ListingPart) -> int:
        """Parse the first line that is not blank; returns the number, in the part, of the next.

        Warns of a date that is ambiguous or invalid.
        """
        text = part.data.lstrip() or part.data
        begin = part.data.rfind(b"\n", 0, len(part.data) - len(text)) + 1
        line = part.data[begin:].partition(b"\n")[0].decode().lstrip(self.indent)
        first = part.data.count(b"\n", 0, begin)
        number = part.lines_before + first + 1
        match = match_system_line(line)
        if match is None:
            raise self.error(
                f"the system line of {self.name} is missing",
                number,
                SYSTEM_LINE,
                line,
                f"keep the first line of {self.name}'s output.",
            )
        self.day, doubt = parse_date(match["date"] or "")
        if doubt:
            self.warnings.add_always(number, doubt)
        printed = "" if self.day is None else date.fromordinal(self.day + EPOCH).isoformat()
        facts = match.groupdict() | {"date": printed}
        self.info = {key: value for key, value in facts.items() if value}
        self.has_begun = True
        return first + 1


def parse_date(text: str) -> tuple[int | None, str]:
    """Parse any date that sysstat prints as days since 1970, None if it can't be determined.

    Also returns a warning on an ambiguous or invalid date, "" for others.
    """
    parts = re.findall(r"\d+", text, re.ASCII)
    try:
        if len(parts) != 3 or any(len(n) > 4 for n in parts) or re.search("[A-Za-z]", text):
            raise ValueError
        a, b, c = map(int, parts)
        if len(parts[0]) == 4:
            return date(a, b, c).toordinal() - EPOCH, ""
        year = c if len(parts[2]) == 4 else c + (1900 if c >= 69 else 2000)
        month, day = (a, b) if "/" in text and a <= 12 else (b, a)
        is_ambiguous = "/" in text and a <= 12 and b <= 12 and a != b
        doubt = f"the date {text} was parsed as month/day/year" if is_ambiguous else ""
        return date(year, month, day).toordinal() - EPOCH, doubt
    except ValueError:
        return None, f"the date {text!r} can't be parsed; times count from midnight"


def parse_seconds(time: str, am_pm: str, file: str, line: int) -> int:
    """Seconds since midnight of ``HH:MM:SS``, with or without AM or PM, or since 1970.

    Raises `FormatError`.
    """
    if ":" not in time:
        return int(time)
    seconds = clock_seconds(time, file=file, line=line)
    if not am_pm:
        return seconds
    hour = seconds // 3600
    if not 1 <= hour <= 12:
        raise FormatError(
            "not a 12-hour time", file=file, line=line, expected="01 to 12", found=f"{time} {am_pm}"
        )
    return seconds - hour * 3600 + (hour % 12 + 12 * (am_pm[0] in "Pp")) * 3600


class RowTimes:
    """Times of the rows of a listing in seconds of its `clock`, carried from part to part.

    They count from 1970, or from the midnight before the first row if the listing's date can't be
    read. sysstat prints one table after the other, each from the file's beginning, or all of them
    sample by sample. In both cases a table's own headings and rows are in order of time, so
    midnights are counted for each table. An activity may have several tables (proc/s and cswch/s of
    old versions, interrupts in groups of columns), which share no field; and a table's heading may
    change within it, with the number of processors after a restart.
    """

    def __init__(self, listing: SysstatListing) -> None:
        self._listing = listing
        # seconds of whole days added to times of day, None before the first ones
        self.offset: float | None = None
        self._numbers: dict[TableHeading, int] = {}
        self._tables: list[tuple[tuple[str, str], set[str]]] = []
        self._last: dict[int, tuple[float, float]] = {}
        self._set_back: Counter[int] = Counter()

    def compute(self, table: SarRows) -> np.ndarray:
        """Times of a table's rows; raises `FormatError` at times of day beside epoch seconds."""
        t, day = self._since_midnight(table), self._listing.day
        if self.offset is None and not (len(t) or table.marks or table.part.is_last):
            return t
        if self.offset is None:
            is_epoch = len(t) > 0 and t.max() >= EARLIEST
            self.offset = 0.0 if is_epoch else None if day is None else float(day * DAY)
            if self.offset is None:
                self.offset = -DAY * np.floor(t.min() / DAY) if len(t) else 0.0
                self._listing.clock = "time-of-day"
        epoch = t >= EARLIEST
        if epoch.any() and (self.offset != 0 or not epoch.all()):
            row = int(np.argmax(epoch if self.offset else ~epoch))
            raise self._listing.error(
                "times of day mixed with seconds since 1970",
                table.line_number(table.lines[row]),
                remedy="split the file.",
            )
        return t + self.offset

    def _since_midnight(self, table: SarRows) -> np.ndarray:
        """Seconds of each row since the midnight before its table's first heading."""
        n_carried = sum(number < 0 for number in table.heading_lines)
        line = np.concatenate(
            [np.array(table.heading_lines[n_carried:], dtype=int), np.array(table.lines, dtype=int)]
        )
        seconds = np.concatenate(
            [
                np.array(table.heading_times[n_carried:], dtype=float),
                np.array(table.times, dtype=float),
            ]
        )
        distinct, heading_codes = table.factorize_headings()
        codes = np.array([self._table_number(heading) for heading in distinct], dtype=int)[
            heading_codes
        ]
        table_codes = np.concatenate(
            [codes[n_carried:], codes[np.array(table.heading_indices, dtype=int)]]
        )
        order = np.lexsort((line, table_codes))
        t = np.empty(len(line))
        for part in (
            np.split(order, np.flatnonzero(np.diff(table_codes[order])) + 1) if len(order) else ()
        ):
            code = int(table_codes[part[0]])
            t[part], set_back = unwrap_midnight(seconds[part], *self._last.get(code, (np.nan, 0.0)))
            self._last[code] = seconds[part[-1]], t[part[-1]] - seconds[part[-1]]
            for i in set_back[: MAX_CLOCK_WARNINGS - self._set_back[code]]:
                self._set_back[code] += 1
                number = table.line_number(line[part[i]])
                self._listing.warnings.add_always(number, "the clock was set back")
        return t[len(table.headings) - n_carried :]

    def _table_number(self, heading: TableHeading) -> int:
        """Table number of a heading."""
        if heading not in self._numbers:
            report, fields_of_table = (heading.report, heading.kind), set(heading.fields)
            shared = (
                n
                for n, (key, fields) in enumerate(self._tables)
                if key == report and fields_of_table & fields
            )
            number = self._numbers[heading] = next(shared, len(self._tables))
            if number == len(self._tables):
                self._tables.append((report, fields_of_table))
            self._tables[number][1].update(fields_of_table)
        return self._numbers[heading]
