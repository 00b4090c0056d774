"""The times of a listing of sysstat: its date, times of day with or without halves, midnights,
restarts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date

import numpy as np

from rawperf.core.errors import FormatError
from rawperf.sar.headings import TableHeading
from rawperf.sar.table import SarRows
from rawperf.text import DAY, EPOCH, clock_seconds, unwrap_midnight

_SYSTEM = re.compile(
    r"Linux +(?P<kernel>\S+) +\((?P<host>(?:[^()]|\([^()]*\))*)\)\s*(?P<date>\S+)?(?:\s+_(?P<machine>\S+)_)?"
    r"(?:\s+\((?P<cpus>\d+) CPU\))?\s*",
    re.ASCII,
)
_LONGEST_SYSTEM_LINE = 500
EARLIEST = 10**8
"""From here on a number in the place of a time of day is seconds since 1970."""
MAX_TOLD = 5
"""How often it is said that a clock was set back."""
SYSTEM_LINE = "Linux RELEASE (HOST) DATE _ARCH_ (N CPU)"


def system_line(line: str) -> re.Match[str] | None:
    """The first line of a listing, its groups named as in `Reading.info`."""
    return _SYSTEM.fullmatch(line) if len(line) < _LONGEST_SYSTEM_LINE else None


def head(
    lines: Sequence[str], tool: str, said: list[str], file: str
) -> tuple[int, int | None, dict[str, str]]:
    """The line, from 0, that is the system line; its date in days since 1970, None where that can't
    be told; its facts.

    `said` gets what is doubtful about the date.

    Raises `FormatError`: the first line that is not blank is none.
    """
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    match = system_line(lines[first])
    if match is None:
        raise FormatError(
            f"the system line of {tool} is missing",
            file=file,
            line=first + 1,
            expected=SYSTEM_LINE,
            found=lines[first],
            remedy=f"keep the first line of {tool}'s output.",
        )
    day = read_date(match["date"] or "", said, f"{file} line {first + 1}")
    facts = match.groupdict() | {
        "date": "" if day is None else date.fromordinal(day + EPOCH).isoformat()
    }
    return first, day, {key: found for key, found in facts.items() if found}


def read_date(text: str, said: list[str], place: str) -> int | None:
    """Days since 1970 of any date that sysstat prints, None where it can't be told."""
    parts = re.findall(r"\d+", text, re.ASCII)
    try:
        if len(parts) != 3 or any(len(n) > 4 for n in parts):
            raise ValueError
        a, b, c = map(int, parts)
        if len(parts[0]) == 4:
            return date(a, b, c).toordinal() - EPOCH
        year = c if len(parts[2]) == 4 else c + (1900 if c >= 69 else 2000)
        month, day = (a, b) if "/" in text and a <= 12 else (b, a)
        if "/" in text and a <= 12 and b <= 12 and a != b:
            said.append(f"{place}: the date {text} was taken as month/day/year")
        return date(year, month, day).toordinal() - EPOCH
    except ValueError:
        said.append(f"{place}: the date {text!r} can't be read, times count from midnight")
        return None


def seconds_of(time: str, half: str, file: str, line: int) -> int:
    """Seconds since midnight of ``HH:MM:SS``, with AM or PM or neither, or since 1970; raises
    `FormatError`.
    """
    if ":" not in time:
        return int(time)
    seconds = clock_seconds(time, file=file, line=line)
    if not half:
        return seconds
    hour = seconds // 3600
    if not 1 <= hour <= 12:
        raise FormatError(
            "not a 12-hour time", file=file, line=line, expected="01 to 12", found=f"{time} {half}"
        )
    return seconds - hour * 3600 + (hour % 12 + 12 * (half[0] in "Pp")) * 3600


class Times:
    """Seconds of the rows of a listing by `clock`, from one part of it to the next.

    They count from 1970, or from the midnight before the first row where the listing's date can't
    be read. sysstat prints one table after the other, each from the file's beginning, or all of
    them sample by sample. In both cases a table's own headings and rows stand in the order of time,
    so midnights are counted for each table. An activity may have several tables (proc/s and cswch/s
    of old versions, interrupts in groups of columns), which share no field; and a table's heading
    may change within it, with the number of processors after a restart.
    """

    def __init__(self, file: str, said: list[str]) -> None:
        self._file, self._said = file, said
        self.day: int | None = None  # the listing's date, in days since 1970
        self.offset: float | None = (
            None  # whole days that are added to times of day, None before the first ones
        )
        self.clock = "absolute"  # what the times count
        self._numbers: dict[TableHeading, int] = {}
        self._tables: list[tuple[tuple[str, str], set[str]]] = []
        self._last: dict[int, tuple[float, float]] = {}
        self._set_back: Counter[int] = Counter()

    def of(self, table: SarRows) -> np.ndarray:
        """The times of a table's rows; raises `FormatError` at a time of day beside seconds since
        1970.
        """
        t = self._since_midnight(table)
        if self.offset is None and not (len(t) or table.marks or table.last):
            return t
        if self.offset is None:
            printed = len(t) > 0 and t.max() >= EARLIEST
            self.offset = 0.0 if printed else None if self.day is None else float(self.day * DAY)
            if self.offset is None:
                self.offset, self.clock = (
                    -DAY * np.floor(t.min() / DAY) if len(t) else 0.0,
                    "time-of-day",
                )
        epoch = t >= EARLIEST
        if epoch.any() and (self.offset != 0 or not epoch.all()):
            line = (
                table.line + int(table.lines[int(np.argmax(epoch if self.offset else ~epoch))]) + 1
            )
            problem = "times of day beside seconds since 1970"
            raise FormatError(problem, file=self._file, line=line, remedy="split the file.")
        return t + self.offset

    def _since_midnight(self, table: SarRows) -> np.ndarray:
        """Seconds of each row since the midnight before its table's first heading."""
        new = sum(number < 0 for number in table.heading_lines)
        line = np.concatenate(
            [np.array(table.heading_lines[new:], dtype=int), np.array(table.lines, dtype=int)]
        )
        seconds = np.concatenate(
            [np.array(table.heading_times[new:], dtype=float), np.array(table.times, dtype=float)]
        )
        distinct, which = table.distinct()
        codes = np.array([self._table(heading) for heading in distinct], dtype=int)[which]
        of = np.concatenate([codes[new:], codes[np.array(table.under, dtype=int)]])
        order = np.lexsort((line, of))
        t = np.empty(len(line))
        for part in np.split(order, np.flatnonzero(np.diff(of[order])) + 1) if len(order) else ():
            code = int(of[part[0]])
            t[part], set_back = unwrap_midnight(seconds[part], *self._last.get(code, (np.nan, 0.0)))
            self._last[code] = seconds[part[-1]], t[part[-1]] - seconds[part[-1]]
            for i in set_back[: MAX_TOLD - self._set_back[code]]:
                self._set_back[code] += 1
                self._said.append(
                    f"{self._file} line {table.line + line[part[i]] + 1}: the clock was set back"
                )
        return t[len(table.headings) - new :]

    def _table(self, heading: TableHeading) -> int:
        """Which table a heading is of, by number."""
        if heading not in self._numbers:
            what, own = (heading.report, heading.kind), set(heading.fields)
            shared = (
                n
                for n, (known, fields) in enumerate(self._tables)
                if known == what and own & fields
            )
            number = self._numbers[heading] = next(shared, len(self._tables))
            if number == len(self._tables):
                self._tables.append((what, own))
            self._tables[number][1].update(own)
        return self._numbers[heading]
