"""Lines of a xentop listing, told apart: domain rows, headers, summaries and detail rows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from rawperf.core.errors import FormatError
from rawperf.rows import Warnings
from rawperf.text import clock_seconds
from rawperf.words import WordOffsets

COLUMNS_19 = (
    "NAME",
    "STATE",
    "CPU(sec)",
    "CPU(%)",
    "MEM(k)",
    "MEM(%)",
    "MAXMEM(k)",
    "MAXMEM(%)",
    "VCPUS",
    "NETS",
    "NETTX(k)",
    "NETRX(k)",
    "VBDS",
    "VBD_OO",
    "VBD_RD",
    "VBD_WR",
    "VBD_RSECT",
    "VBD_WSECT",
    "SSID",
)

STATE_PATTERN = r"[d-][s-][b-][c-][p-][r-]"
_STATE_LETTERS = b"dsbcpr"
SUMMARY = "xentop - "
_SUMMARY = re.compile(r"xentop - (\S+) +Xen (.*)")
_MEMORY = re.compile(
    r"Mem: +0*(\d{1,20})k total,.* free +CPUs: 0*(\d{1,9}) @ 0*(\d{1,9})MHz", re.ASCII
)
_SKIPPED = re.compile(
    r"\d+ domains: .*shutdown"  # counts of states
    r"|[+|│┌├└].*|Physical CPU Usage:|No PCPU data available"  # the table of -p
    r"|Tmem:.*"
    r"|Delay  Networks .*Quit"  # the key menu of the screen
)
_VCPU = re.compile(r"(?:VCPUs\(sec\):)?((?: *\d{1,6}: +\d+s)*)", re.ASCII)
_VCPU_ITEM = re.compile(r"(\d{1,6}): +(\d+)s", re.ASCII)
_NET = re.compile(
    r"Net(\d{1,6}) RX: +(\d+)bytes +(\d+)pkts +(\d+)err +(\d+)drop +TX: +(\d+)bytes +(\d+)pkts +(\d+)err +(\d+)drop",
    re.ASCII,
)
_VBD = re.compile(
    r"VBD ((?:[A-Za-z]\w* +)?-?\d{1,10}) +(?:\[ *[0-9a-f]+: *[0-9a-f]+\] +)?"
    r"OO: +(\d+|-) +RD: +(\d+|-) +WR: +(\d+|-)(?: +RSECT: +(\d+|-) +WSECT: +(\d+|-))?",
    re.ASCII,
)
NET_FIELDS = tuple(
    f"{way} {what}" for way in ("RX", "TX") for what in ("bytes", "pkts", "err", "drop")
)
VBD_FIELDS = ("OO", "RD", "WR", "RSECT", "WSECT")


@dataclass
class XentopState:
    """What is known of a file from the parts of it before."""

    file: str
    said: Warnings
    columns: tuple[str, ...] = ()  # headings in order, NAME and STATE included
    headings: set[str] = field(default_factory=set)  # lines that print them
    info: dict[str, str] = field(default_factory=dict)
    timed: bool = False  # samples begin by lines "xentop - HH:MM:SS"
    plain: bool = False  # there was a header with several rows, so that -r was not given
    samples: int = 0  # how many there are
    before: set[str] = field(default_factory=set)  # domains of the last one
    clock: float = np.nan  # seconds since midnight of the last one
    days: float = 0.0  # those that midnights add to it


@dataclass
class ListingLines:
    """What stands where in a part of a file; line numbers count from 0 at the part's beginning."""

    words: WordOffsets
    line: int  # lines of the file before the part
    seen: XentopState
    # of each domain row: its line; the number of the word that is its state, so that its name
    # stands before and its values behind; which of `names` it is of
    rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    state: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    who: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    names: list[str] = field(default_factory=list)
    headers: list[int] = field(default_factory=list)  # lines of the column headings
    apart: set[int] = field(default_factory=set)  # those of them that stand below a blank line
    summaries: list[int] = field(default_factory=list)  # lines "xentop - HH:MM:SS"
    clock: list[int] = field(default_factory=list)  # the seconds since midnight that they print
    # of the rows that -v, -n and -x add: line, kind, device, field, digits
    details: list[tuple[int, str, str, str, str]] = field(default_factory=list)
    cut: int = -1  # line at which the file breaks off
    cut_opens: bool = (
        False  # that line is the first of another sample, so that the one before it is whole
    )

    def error(
        self,
        problem: str,
        line: int,
        expected: str | None = None,
        found: str | None = None,
        remedy: str = "the file is damaged; remove that sample.",
    ) -> FormatError:
        """The error of a line."""
        number = self.line + line + 1
        return FormatError(
            problem, file=self.seen.file, line=number, expected=expected, found=found, remedy=remedy
        )

    def warn(self, line: int, sentence: str) -> None:
        """Add a warning of a line."""
        self.seen.said.add(self.line + line + 1, sentence)

    def tail(self, row: int) -> str:
        """What stands behind the state in a domain row."""
        words = self.words
        return (
            words.data[words.end[self.state[row]] : words.line_end[self.rows[row]]].decode().strip()
        )


def boundary(lines: bytes, timed: bool, plain: bool) -> int:
    """Where the last sample, or the last header, begins in whole lines, 0 if unknown; the rest is
    as in `Seen`.
    """
    if timed or (not plain and SUMMARY.encode() in lines):
        return lines.rfind(b"\n" + SUMMARY.encode()) + 1
    if not plain and lines.count(b"STATE ") < 3:  # too few to tell whether each row has a header
        return 0
    end = len(lines)
    while (end := lines.rfind(b"STATE ", 0, end)) > 0:
        begin = lines.rfind(b"\n", 0, end) + 1
        if lines[begin:end].strip() == b"NAME":
            while lines[:begin].endswith(b"\n\n"):  # the blank line tells of the header
                begin -= 1
            return begin
    return 0


def scan(words: WordOffsets, line: int, seen: XentopState, last: bool) -> ListingLines:
    """Tell the lines of a part of a file apart; raises `FormatError` at a line that xentop does not
    print.
    """
    found = ListingLines(words, line, seen)
    _rows(found)
    is_row = np.zeros(len(words) + 1, dtype=bool)
    is_row[found.rows] = True
    end = len(words) - 1
    finished = not last or not words.data.rpartition(b"\n")[2].strip()
    strange = below = (
        vcpus
    ) = -2  # last line that was no line of xentop, a detail row, a row of vCPUs
    blank = set[int]()
    for i in np.flatnonzero(~is_row[:-1]).tolist():
        text = words.line(i)
        key = text.strip()
        if key in seen.headings:
            found.headers.append(i)
        elif not key:
            blank.add(i)
        elif _SKIPPED.fullmatch(key):
            continue
        elif i == end and not finished:
            found.cut = i
            timed = seen.timed or bool(found.summaries)
            found.cut_opens = key.startswith(SUMMARY if timed else "NAME")
        elif key.startswith("NAME ") and key.split()[1] == "STATE":
            _check_columns(tuple(key.split()), found, i)
            seen.headings.add(key)
            found.headers.append(i)
        elif i and (is_row[i - 1] or below == i - 1) and _is_detail(key, found, i, vcpus == i - 1):
            below = i
            vcpus = i if not key.startswith(("Net", "VBD")) else vcpus
        elif not _is_summary(key, found, i):
            if seen.columns or seen.timed or found.summaries:
                expected = "a domain's row, a header, a summary or a row of -v, -n or -x"
                raise found.error(
                    "not a line of xentop", i, expected, text, "remove the damaged sample."
                )
            strange = i
    found.apart = {header for header in found.headers if header - 1 in blank}
    if strange >= 0:
        found.warn(strange, "the text before the first header was skipped")
    if not finished and found.headers and len(found.rows) and found.rows[-1] == end:
        # a row of full length may have lost no more than its line end
        header = words.line(found.headers[-1])
        found.cut = end if len(words.line(end).rstrip()) < len(header.rstrip()) else -1
    return found


def _rows(found: ListingLines) -> None:
    """Find the domain rows.

    A name may hold blanks and may be longer than its column, so the state, with a digit behind, is
    the only firm mark.
    """
    words = found.words
    here = np.flatnonzero(words.end - words.begin == len(_STATE_LETTERS))
    for k, letter in enumerate(_STATE_LETTERS):
        byte = words.bytes[words.begin[here] + k]
        here = here[(byte == letter) | (byte == ord("-"))]
    here = here[here + 1 < len(words.begin)]
    on = np.searchsorted(words.line_begin, words.begin[here], side="right") - 1
    # there is a blank before a state, if only one; and the first state in a line is the one
    fits = (words.first[on + 1] > here + 1) & words.digit(words.begin[here + 1])
    fits &= words.begin[here] > words.line_begin[on]
    here, on = here[fits], on[fits]
    first = np.diff(on, prepend=-1) > 0
    found.state, found.rows = here[first], on[first]
    opening = words.first[found.rows]
    if (found.state - opening == 1).all():
        coded = words.array.take(pa.array(opening)).dictionary_encode()
        found.names, found.who = (
            coded.dictionary.to_pylist(),
            coded.indices.to_numpy().astype(np.int64),
        )
        return
    begins, ends = words.line_begin[found.rows].tolist(), words.begin[found.state].tolist()
    names = [
        words.data[begin:end].decode().strip() for begin, end in zip(begins, ends, strict=True)
    ]
    found.who, unique = pd.factorize(np.array(names, dtype=object))
    found.names = [str(name) for name in unique]


def _check_columns(columns: tuple[str, ...], found: ListingLines, line: int) -> None:
    printed = " ".join(columns)
    known = found.seen.columns
    if known and columns != known:
        remedy = "keep the listings of two versions in two files."
        problem, expected = "the header names other columns than the first one", " ".join(known)
        raise found.error(problem, line, expected, printed, remedy)
    unknown = [name for name in columns if name not in COLUMNS_19]
    if unknown or len(set(columns)) != len(columns) or len(columns) < 3:
        problem = (
            "a column that no version of xentop prints"
            if unknown
            else "a header with a doubled or missing column"
        )
        expected, remedy = (
            f"columns among {' '.join(COLUMNS_19)}",
            "the file is cut or comes from another tool.",
        )
        raise found.error(problem, line, expected, " ".join(unknown) or printed, remedy)
    found.seen.columns = columns


def _is_summary(key: str, found: ListingLines, line: int) -> bool:
    if match := _SUMMARY.fullmatch(key):
        found.summaries.append(line)
        found.clock.append(
            clock_seconds(match[1], file=found.seen.file, line=found.line + line + 1)
        )
        found.seen.info.setdefault("xen_version", match[2].strip())
        return True
    if match := _MEMORY.fullmatch(key):
        for name, digits in zip(("mem_total_k", "cpus", "cpu_mhz"), match.groups(), strict=True):
            if (found.summaries or found.seen.timed) and digits.strip("0"):
                found.seen.info.setdefault(name, digits)
        return True
    return False


def _is_detail(line: str, found: ListingLines, number: int, below_vcpus: bool) -> bool:
    if (match := _VCPU.fullmatch(line)) and (below_vcpus or line.startswith("VCPUs")):
        found.details += [
            (number, "vcpu", vcpu, "VCPUs(sec)", s) for vcpu, s in _VCPU_ITEM.findall(match[1])
        ]
        return True
    for kind, pattern, fields in (("net", _NET, NET_FIELDS), ("vbd", _VBD, VBD_FIELDS)):
        if match := pattern.fullmatch(line):
            device, *digits = match.groups()
            device = " ".join(device.split())
            found.details += [
                (number, kind, device, name, d)
                for name, d in zip(fields, digits, strict=True)
                if d is not None and d != "-"  # "-" stands for a device in error
            ]
            return True
    return False
