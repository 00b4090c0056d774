"""Page headers, times and numbers of Performance Toolkit listings and screens.

Printed numbers look like ``8'192MB``, ``.3``, ``---``, ``1761K``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from rawperf.core.errors import FormatError
from rawperf.core.units import conversion_factor
from rawperf.recognition import PAGE_BEGINS
from rawperf.text import DAY, HALF_DAY, IndexArray, clock_seconds, unwrap_midnight

NUMBER = r"(?:[0-9]{1,3}(?:'[0-9]{3})+|[0-9]{1,15})"
_VALUE = re.compile(
    rf"({NUMBER}(?:\.[0-9]{{0,9}})?|\.[0-9]{{1,9}})[ ]?(kB|MB|GB|TB|B|K|M|G|%|/s|s)?"
)
_MISSING = re.compile(r"-+|\.{2,}")
_BYTES = {"B": "B", "kB": "KiB", "MB": "MiB", "GB": "GiB"}
_SIZES = ("B", "KiB", "MiB", "GiB")
_POWERS = {"K": 1024.0, "M": 1024.0**2, "G": 1024.0**3}
MAX_VALUE_LENGTH = 24
BLANK = ord(" ")
_GAP = np.uint8(0x10)
_PLAIN = str.maketrans("", "", "0123456789.")


def parse_number(text: str, unit: str) -> float | None:
    """Parse a value in `unit`: NaN if missing (blank, ``---``, ``....``), None if invalid.

    ``kB``, ``MB`` and ``GB`` are powers of 1024 bytes. ``K``, ``M`` and ``G`` are powers of 1024
    too: of bytes if `unit` is a size, else of counted items.
    """
    text = text.strip()
    if not text or _MISSING.fullmatch(text):
        return float("nan")
    match = _VALUE.fullmatch(text)
    if match is None:
        return None
    value, glued = float(match[1].replace("'", "")), match[2]
    if glued is None or glued == unit or (glued == "/s" and unit.endswith("/s")):
        return value
    if glued in _POWERS:
        return value * _POWERS[glued] * (conversion_factor("B", unit) if unit in _SIZES else 1.0)
    if glued in _BYTES and unit in (*_SIZES, "pages"):
        return value * conversion_factor(_BYTES[glued], unit)
    return None


_parse_cached = lru_cache(maxsize=1 << 15)(
    parse_number
)  # for cells, which are short and often repeat


def parse_column(texts: Sequence[str], unit: str) -> list[float | None]:
    """Parse the stripped texts of one column; if all are plain numbers, more digits are allowed."""
    if (
        "".join(texts).translate(_PLAIN) == ""
        and max(map(len, texts), default=0) <= MAX_VALUE_LENGTH
    ):
        try:
            return [float(text) if text else float("nan") for text in texts]
        except ValueError:  # "...", "1.2.3"
            pass
    return [_parse_cached(text, unit) for text in texts]


def encode_letters(text: str, width: int) -> NDArray[np.uint8]:
    """Encode the start of a text as Latin-1: white space as a blank (or 160), others as ``?``."""
    text = text[:width].ljust(width)
    if not (text.isascii() and text.isprintable()):
        text = re.sub(r"[\x01-\x1f]", "?", re.sub(r"[^\S ]", "\xa0", text))
    return np.frombuffer(text.encode("latin-1", "replace"), np.uint8)


def factorize_texts(letters: NDArray[np.uint8]) -> tuple[NDArray[np.int64], list[str]]:
    """Factorize rows of characters: code of each row, and the texts."""
    rows, width = letters.shape
    data = pa.py_buffer(np.ascontiguousarray(letters))
    encoded = pa.Array.from_buffers(pa.binary(width), rows, [None, data]).dictionary_encode()
    texts = [text.decode("latin-1") for text in encoded.dictionary.to_pylist()]
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), texts


def parse_plain_numbers(
    letters: NDArray[np.uint8], cells: Sequence[tuple[int, int]]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Vectorised parsing of cells with digits and a point only; also return a mask of other cells.

    `cells` are begin and end of each column. Both results have the shape (rows, cells); numbers are
    NaN if a cell is blank or holds something else. Numbers reach to the end of their cell.
    """
    gap = np.full((len(letters), 1), _GAP)  # separates the characters of adjacent cells
    block = np.hstack([part for begin, end in cells for part in (gap, letters[:, begin:end])])
    starts = np.cumsum([0, *(end - begin + 1 for begin, end in cells)])
    flat = block.ravel()
    ink = flat - np.uint8(BLANK + 1) < 256 - BLANK  # all but gaps and blanks; a zero byte is ink
    digit, point = flat - np.uint8(ord("0")) <= 9, flat == ord(".")
    is_odd = ink & ~(digit | point)
    is_odd[1:] |= (flat[1:] == BLANK) & ink[:-1]
    is_lone_point = point.copy()
    is_lone_point[1:] &= ~digit[:-1]
    is_lone_point[:-1] &= ~digit[1:]
    row, column = np.divmod(np.flatnonzero(is_odd | is_lone_point), block.shape[1])
    is_other = np.zeros((len(letters), len(cells)), dtype=bool)
    is_other[row, np.searchsorted(starts, column, side="right") - 1] = True
    for k, (begin, end) in enumerate(cells):
        if end - begin > MAX_VALUE_LENGTH:
            is_other[:, k] |= (letters[:, begin : end - MAX_VALUE_LENGTH] != BLANK).any(axis=1)
    try:
        values = _cast_cells(block, starts, is_other)
    except pa.ArrowInvalid:
        is_other |= (
            np.add.reduceat(point.reshape(block.shape), starts[:-1], axis=1, dtype=np.int64) > 1
        )
        values = _cast_cells(block, starts, is_other)
    last_letters = letters[:, [end - 1 for _, end in cells]]
    np.copyto(values, np.nan, where=is_other | (last_letters == BLANK))
    return values, is_other


def _cast_cells(
    block: NDArray[np.uint8], starts: NDArray[np.int64], is_other: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Parse the cells that begin at `starts`, 0 for the `is_other`; modifies `block`."""
    for k in np.flatnonzero(is_other.any(axis=0)).tolist():
        block[is_other[:, k], starts[k] : starts[k + 1]] = BLANK
    block |= (block <= BLANK) * np.uint8(ord("0"))  # gaps and blanks become zeros
    rows, width = block.shape
    offsets = np.append((np.arange(rows)[:, None] * width + starts[:-1]).ravel(), block.size)
    texts = pa.LargeStringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(block)
    )
    return np.asarray(pc.cast(texts, pa.float64())).reshape(rows, -1).copy()


NO_DATA = re.compile(r"[ ]{0,3}FCX[A-Z]{3}\d+[A-Z]\b|[ ]*(?:Select  |Command ===>|P?F\d+=)")
"""Message of the toolkit in the middle of a page, or a screen's prompts."""

_SCREEN = re.compile(
    r"\s+CPU\s+(?P<cpu>\S+)\s+SER\s+(?P<serial>\S+)\s+Interval\s+(?P<begin>\S+)\s*-\s*(?P<end>\S+)(?:\s+(?P<source>.*\S))?\s*"
)
_RUN = re.compile(
    r"\s+Run\b(?:\s+(?P<date>\d\d[\d/.-]{4,8}))?(?:\s+(?P<time>\d\d:\d\d:\d\d))?(?:\s+(?P<name>[A-Z]\S*))?.*"
)
_PERIOD = re.compile(r".?[ ]{0,3}(From|To|For)\b[ ]+(?:(\d{4}[/-]\d\d[/-]\d\d)[ ]+)?(\S+)(.*)")
_MACHINE = re.compile(r"\bCPU[ ]+(\S+)[ ]+(?:SN|SER)[ ]+(\S+)")
_MARGIN_FACTS = (  # facts to the right of From, To and For
    ("cpu", _MACHINE, 1),
    ("serial", _MACHINE, 2),
    ("result of", re.compile(r"Result of[ ]+(\S.*?)[ ]+Run\b"), 1),
    ("release", re.compile(r"\bz/VM[ ]+(?:V\.?)?(\d[\w.]*)"), 1),
)
HEADER_LINES = 12
MAX_LINE_LENGTH = 512
_PADDING = 1024  # at least the width of any row


class FilePart:
    """Line and page offsets of a part of a file, in UTF-8; `lines_before` lines precede it.

    Attributes
    ----------
    begin, end : ndarray of int, shape (lines,)
        Offsets of each line, without its line feed.
    reports : list of str
        Report of each page.
    pages, first : ndarray of int, shape (pages + 1,)
        Offset and first line, from 0, of each page; then the part's end, and the number of lines.
    last_unusual : ndarray of int, shape (pages,)
        Last offset in each page of characters that messages and prompts have and plain rows do not:
        none but printable ASCII, ``=``, ``FCX`` and ``Select``; -1 if there are none.
    number, continues_interval : ndarray, shape (pages,)
        Set by the reader: index among the pages that were read, and whether the page continues the
        interval of the page before, whose averages were read.
    """

    def __init__(self, data: bytes, lines_before: int) -> None:
        self.data, self.lines_before = data, lines_before
        self.bytes = np.frombuffer(data + b" " * _PADDING, np.uint8)
        text = self.bytes[: len(data)]
        unprintable = np.flatnonzero(text - np.uint8(BLANK) > ord("~") - BLANK)
        is_end = text[unprintable] == ord("\n")
        ends = unprintable[is_end]
        self.end: IndexArray = ends if data.endswith(b"\n") else np.append(ends, len(data))
        self.begin: IndexArray = np.concatenate([[0], self.end[:-1] + 1])
        begins: list[int] = []
        self.reports: list[str] = []
        unusual = [*_find_all(text, b"Select").tolist(), *_find_all(text, b"=").tolist()]
        for position in _find_all(text, b"FCX").tolist():
            begin = data.rfind(b"\n", max(position - 5, 0), position) + 1
            line = (
                data[begin : data.find(b"\n", position) + 1 or len(data)]
                if position - begin < 5
                else b""
            )
            if match := PAGE_BEGINS.match(line.decode()):
                begins.append(begin)
                self.reports.append(match[1])
            else:
                unusual.append(position)
        self.pages: IndexArray = np.array([*begins, len(data)])
        self.first: IndexArray = np.append(
            np.searchsorted(self.begin, self.pages[:-1]), len(self.begin)
        )
        offsets = np.append(unprintable[~is_end], np.array(unusual, dtype=np.int64))
        offsets = offsets[offsets >= self.pages[0]]
        self.last_unusual: IndexArray = np.full(len(begins), -1)
        np.maximum.at(
            self.last_unusual, np.searchsorted(self.pages, offsets, side="right") - 1, offsets
        )
        self.number: IndexArray = np.full(len(begins), -1)
        self.continues_interval = np.zeros(len(begins), dtype=bool)

    def line(self, number: int) -> str:
        """Text of a line, numbered from 0."""
        return self.data[self.begin[number] : self.end[number]].decode()

    def letters(self, lines: IndexArray, width: int) -> NDArray[np.uint8]:
        """First characters of some lines, shape (lines, width), padded with blanks."""
        if width > len(self.bytes) - len(self.data):
            self.bytes = np.append(
                self.bytes[: len(self.data)], np.full(width, BLANK, dtype=np.uint8)
            )
        letters = sliding_window_view(self.bytes, width)[self.begin[lines]]
        length = self.end[lines] - self.begin[lines]
        if len(length) and length.min() < width:
            np.copyto(letters, np.uint8(BLANK), where=np.arange(width) >= length[:, None])
        return letters


def _find_all(data: NDArray[np.uint8], text: bytes) -> IndexArray:
    """Offsets of a text, several times as fast as with `bytes.find`."""
    offsets = np.flatnonzero(data[: max(len(data) - len(text) + 1, 0)] == text[0])
    for k, byte in enumerate(text):
        offsets = offsets[data[offsets + k] == byte]
    return offsets


class PageHeader(NamedTuple):
    """Parsed header of a page."""

    report: str
    line: int  # first line in the file
    body: int  # number of header lines
    form: str  # "printed", "screen", or "titled" (a screen with a title and no interval)
    asa: bool = False  # lines begin with a carriage-control character
    begin: int = -1  # time of day in seconds; -1 in a titled page
    end: int = -1
    length: int = -1  # length of the interval in seconds from the header, -1 if missing
    day: date | None = None  # date of `begin`
    facts: dict[str, str] = {}  # machine, release and the like, for `ParsedFile.info`
    log: bool = False  # rows are intervals of the page's period
    # offsets in the page of `begin` and `end`, and of the first line's end or of what it has after
    # the last fact; none in a titled page
    offsets: tuple[int, ...] = ()

    @property
    def clock_duration(self) -> int:
        """Seconds between the two times of day."""
        return (self.end - self.begin) % DAY


def read_header(lines: list[str], line: int, file: str) -> PageHeader | None:
    """Parse the header of a page; None if the page ends within it.

    Raises `FormatError`: the header has neither an interval nor a title, or a time is invalid.
    """
    first = PAGE_BEGINS.match(lines[0])
    assert first is not None
    report, rest = first[1], first[2][:MAX_LINE_LENGTH]
    if len(lines) == 1:  # no line end
        return None
    error = partial(FormatError, file=file, line=line, found=lines[0])
    asa = lines[0].startswith("1")
    if screen := _SCREEN.fullmatch(rest):
        begin, end = (
            clock_seconds(screen[name], file=file, line=line) for name in ("begin", "end")
        )
        facts = {name: screen[name] for name in ("cpu", "serial", "source") if screen[name]}
        begin_offset, end_offset = (
            first.start(2) + screen.start(name) for name in ("begin", "end")
        )
        offsets = (begin_offset, end_offset, len(lines[0]))
        return PageHeader(report, line, 1, "screen", asa, begin, end, facts=facts, offsets=offsets)
    run = _RUN.fullmatch(rest)
    if run is None:
        if not re.match(r"[ ]{1,}[A-Z][a-z]", rest):
            expected = "'CPU nnnn SER nnnnn Interval HH:MM:SS - HH:MM:SS', or 'Run date time'"
            raise error(
                f"the header of {report} matches neither a screen nor a listing", expected=expected
            )
        return PageHeader(report, line, 1, "titled", asa)
    facts = {f"run {name}": run[name] for name in ("date", "time") if run[name]}
    period: dict[str, tuple[int, date | None, int]] = {}
    offset = 0  # of the line in the page
    for number, text in enumerate(lines[1:HEADER_LINES], start=1):
        offset += len(lines[number - 1]) + 1
        match = _PERIOD.fullmatch(text[:MAX_LINE_LENGTH])  # patterns may take quadratic time
        if match is None:
            continue
        if number == len(lines) - 1:
            return None
        keyword, day, value, margin = match.groups()
        if keyword == "From" and margin.strip():
            facts["system"] = margin.split()[-1]
        facts |= {
            name: fact[group]
            for name, pattern, group in _MARGIN_FACTS
            if (fact := pattern.search(margin))
        }
        if keyword != "For":
            clock = clock_seconds(value, file=file, line=line + number)
            period[keyword] = (
                clock,
                _parse_date(day, file, line + number),
                offset + match.start(3),
            )
            continue
        if not re.fullmatch(r"\d{1,7}", value) or not {"From", "To"} <= set(period):
            raise error(
                "a damaged period", line=line + number, expected="From, To, For n Secs", found=text
            )
        (begin, day_of_begin, begin_offset), (end, _, end_offset) = period["From"], period["To"]
        facts_end = first.start(2) + run.end("name") if run["name"] else len(lines[0])
        return PageHeader(
            report,
            line,
            number + 1,
            "printed",
            asa,
            begin,
            end,
            int(value),
            day_of_begin,
            facts,
            offsets=(begin_offset, end_offset, facts_end),
        )
    if len(lines) <= HEADER_LINES:
        return None
    raise error(f"the header of {report} lacks the period", expected="From, To and For lines")


def _parse_date(text: str | None, file: str, line: int) -> date | None:
    if text is None:
        return None
    try:
        return date(int(text[:4]), int(text[5:7]), int(text[8:10]))
    except ValueError as err:
        raise FormatError(
            "not a date", file=file, line=line, expected="YYYY/MM/DD", found=text
        ) from err


class PageIntervals:
    """Intervals of pages, and facts of their headers, carried from part to part of a file."""

    def __init__(self) -> None:
        self._first: PageHeader | None = None
        self._undated = False  # not all pages have a date
        # by report: last time of day, and seconds added to it
        self._last: dict[str, tuple[float, float]] = {}
        self._facts: dict[str, str] = {}
        self._last_facts: dict[str, str] = {}  # facts of the last page
        self._lengths: set[int] = set()

    def compute(self, pages: list[PageHeader]) -> tuple[np.ndarray, np.ndarray]:
        """Begin and end of each page's interval, in seconds since midnight before the first.

        Dates are used if every page has one. Otherwise the pages of one report are taken to be
        consecutive, and a step back of more than half a day is a midnight. Titled pages give NaN.
        """
        begins, ends = np.full((2, len(pages)), np.nan)
        for page in pages:
            if page.facts is not self._last_facts:
                self._facts, self._last_facts = page.facts | self._facts, page.facts
        timed_pages = [(index, page) for index, page in enumerate(pages) if page.begin >= 0]
        self._undated = self._undated or any(page.day is None for _, page in timed_pages)
        for index, page in timed_pages:
            self._first = self._first or page
            if self._undated or page.day is None or self._first.day is None:
                last, days = self._last.get(page.report, (self._first.begin, 0.0))
                days += DAY * (page.begin - last < -HALF_DAY)
            else:
                days = DAY * (page.day - self._first.day).days
            self._last[page.report] = page.begin, days
            # an interval may span days: the clock gives the remainder, the For line their number
            n_days = (
                max(round((page.length - page.clock_duration) / DAY), 0) if page.length >= 0 else 0
            )
            begins[index] = page.begin + days
            ends[index] = begins[index] + page.clock_duration + DAY * n_days
            if not page.log and len(self._lengths) < 2:
                self._lengths.add(page.clock_duration)
        return begins, ends

    def info(self) -> dict[str, str]:
        """Facts from the first page that states each, the first date, and a constant interval.

        Logs do not count for the interval: their pages' period is many intervals.
        """
        info = dict(self._facts)
        if self._first and self._first.day and not self._undated:
            info["from date"] = self._first.day.isoformat()
        if len(self._lengths) == 1:
            info["interval s"] = str(*self._lengths)
        return info


LogEnd = tuple[float, float, float, float]
"""Last row of a log: begin and end of its interval, time of day, and seconds added to it."""


def log_times(
    begins: np.ndarray, ends: np.ndarray, clocks: np.ndarray, previous: LogEnd | None = None
) -> tuple[np.ndarray, LogEnd | None]:
    """Times of a log's rows, on the scale of `PageIntervals`, and the end of the log.

    `begins` and `ends` are those of each row's page (pages with equal ones are consecutive),
    `clocks` the rows' times of day, which are returned if `begins` is NaN, and `previous` is the end
    of the log in the previous part of the file.
    """
    t = clocks.astype(float)
    starts = np.flatnonzero(
        (np.diff(begins, prepend=np.nan) != 0) | (np.diff(ends, prepend=np.nan) != 0)
    )
    for first, after in pairwise([*starts.tolist(), len(t)]):
        begin = begins[first]
        if np.isfinite(begin):
            continues = previous is not None and previous[:2] == (begin, ends[first])
            last, days = (
                previous[2:]
                if previous is not None and continues
                else (begin % DAY, begin // DAY * DAY)
            )
            t[first:after] = unwrap_midnight(t[first:after], last, days)[0]
            previous = (begin, ends[first], clocks[after - 1], t[after - 1] - clocks[after - 1])
    return t, previous
