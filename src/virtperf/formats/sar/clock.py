"""The times of a listing of sysstat: its date, times of day with or without halves, midnights, restarts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date

import numpy as np

from virtperf.core.errors import FormatError
from virtperf.formats.sar.headings import Heading
from virtperf.formats.sar.table import Table
from virtperf.formats.text import DAY, EPOCH, HALF_DAY, clock_seconds, unwrap_midnight

_SYSTEM = re.compile(
    r"(Linux) +(\S+) +\(((?:[^()]|\([^()]*\))*)\)\s*(\S+)?(?:\s+_(\S+)_)?(?:\s+\((\d+) CPU\))?\s*", re.ASCII
)
_LONGEST_SYSTEM_LINE = 500
EARLIEST = 10**8
"""From here on a number in the place of a time of day is seconds since 1970."""
SYSTEM_LINE = "Linux RELEASE (HOST) DATE _ARCH_ (N CPU)"


def system_line(line: str) -> re.Match[str] | None:
    """The first line of a listing; its groups are system, kernel, host, date, machine, processors."""
    return _SYSTEM.fullmatch(line) if len(line) < _LONGEST_SYSTEM_LINE else None


def head(lines: Sequence[str], tool: str, said: list[str], file: str) -> tuple[int, int | None, dict[str, str]]:
    """What the system line says.

    Parameters
    ----------
    lines : sequence of str
        What is no row of a listing; rows may be "".
    tool : str
        For messages.
    said : list of str
        Gets what is doubtful about the date.
    file : str
        For messages.

    Returns
    -------
    place : int
        Where it stands, from 0.
    day : int or None
        Its date in days since 1970, None where that can't be told.
    info : dict of str to str

    Raises
    ------
    FormatError
        The first line is none.
    """
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    match = system_line(lines[first])
    if match is None:
        raise FormatError(
            f"the system line of {tool} is missing", file=file, line=first + 1, expected=SYSTEM_LINE,
            found=lines[first], remedy=f"keep the first line of {tool}'s output.",
        )  # fmt: skip
    info = {key: found for key, found in zip(("kernel", "host"), match.group(2, 3), strict=True) if found}
    day = read_date(match[4] or "", info, said, f"{file} line {first + 1}")
    info |= {key: found for key, found in zip(("machine", "cpus"), match.group(5, 6), strict=True) if found}
    return first, day, info


def read_date(text: str, info: dict[str, str], said: list[str], place: str) -> int | None:
    """Days since 1970 of any date that sysstat prints, None where it can't be told; `info` gets it in ISO form."""
    parts = re.findall(r"\d+", text, re.ASCII)
    if len(parts) != 3 or any(len(n) > 4 for n in parts):
        said.append(f"{place}: the date {text!r} can't be read, times count from midnight")
        return None
    a, b, c = map(int, parts)
    if len(parts[0]) == 4:
        year, month, day = a, b, c
    else:
        year = c if len(parts[2]) == 4 else c + (1900 if c >= 69 else 2000)
        month, day = (a, b) if "/" in text and a <= 12 else (b, a)
        if "/" in text and a <= 12 and b <= 12 and a != b:
            said.append(f"{place}: the date {text} was taken as month/day/year")
    try:
        found = date(year, month, day)
    except ValueError:
        said.append(f"{place}: the date {text!r} can't be read, times count from midnight")
        return None
    info["date"] = found.isoformat()
    return found.toordinal() - EPOCH


def seconds_of(time: str, half: str, file: str, line: int) -> int:
    """Seconds since midnight of ``HH:MM:SS``, with AM or PM or neither, or since 1970; raises `FormatError`."""
    if ":" not in time:
        return int(time)
    seconds = clock_seconds(time, file=file, line=line)
    if not half:
        return seconds
    hour = seconds // 3600
    if not 1 <= hour <= 12:
        raise FormatError("not a 12-hour time", file=file, line=line, expected="01 to 12", found=f"{time} {half}")
    return seconds - hour * 3600 + (hour % 12 + 12 * (half[0] in "Pp")) * 3600


class Midnights:
    """Times of rows that grow past midnight, from one part of a file to the next.

    sysstat prints one table after the other, each from the file's beginning, or all of them sample by sample. In both
    cases a table's own headings and rows stand in the order of time, so midnights are counted for each table.
    An activity may have several tables (proc/s and cswch/s of old versions, interrupts in groups of columns), which
    share no field; and a table's heading may change within it, with the number of processors after a restart.
    """

    def __init__(self) -> None:
        self._numbers: dict[Heading, int] = {}
        self._fields: list[tuple[str, str, set[str]]] = []
        self._last: dict[int, tuple[float, float]] = {}
        self._set_back: Counter[int] = Counter()

    def times(self, table: Table, said: list[str], file: str) -> np.ndarray:
        """Seconds of each row since the midnight before its table's first heading."""
        new = sum(number < 0 for number in table.heading_lines)
        line = np.concatenate([np.array(table.heading_lines[new:], dtype=int), np.array(table.lines, dtype=int)])
        seconds = np.concatenate([np.array(table.heading_times[new:], dtype=float), np.array(table.times, dtype=float)])
        distinct, which = table.distinct()
        codes = np.array([self._table(heading) for heading in distinct], dtype=int)[which]
        of = np.concatenate([codes[new:], codes[np.array(table.under, dtype=int)]])
        order = np.lexsort((line, of))
        t = np.empty(len(line))
        for part in np.split(order, np.flatnonzero(np.diff(of[order])) + 1) if len(order) else ():
            code = int(of[part[0]])
            t[part], set_back = unwrap_midnight(seconds[part], *self._last.get(code, (np.nan, 0.0)))
            self._last[code] = seconds[part[-1]], t[part[-1]] - seconds[part[-1]]
            for i in set_back[: 5 - self._set_back[code]]:
                self._set_back[code] += 1
                said.append(f"{file} line {table.line + line[part[i]] + 1}: the clock was set back")
        return t[len(table.headings) - new :]

    def _table(self, heading: Heading) -> int:
        """Which table a heading is of, by number."""
        if heading in self._numbers:
            return self._numbers[heading]
        own = set(heading.fields)
        number = len(self._fields)
        for place, (report, kind, known) in enumerate(self._fields):
            if (report, kind) == (heading.report, heading.kind) and own & known:
                known |= own
                number = place
                break
        else:
            self._fields.append((heading.report, heading.kind, own))
        self._numbers[heading] = number
        return number


def first_midnight(t: np.ndarray, day: int | None) -> float | None:
    """What is added to times that `row_times` gives; None where they count from a midnight of no known date."""
    if len(t) and t.max() >= EARLIEST:  # seconds since 1970 were printed
        return 0.0
    return None if day is None else float(day * DAY)


def marked(table: Table, t: np.ndarray, before: float) -> set[tuple[float, str]]:
    """Times and comments of a part of a file, "" for a restart; sar repeats them for each activity.

    Parameters
    ----------
    table : Table
    t : ndarray, shape (rows,)
    before : float
        Time of the last row of the part before, NaN where there is none.
    """
    found: set[tuple[float, str]] = set()
    for line, seconds, comment in table.marks:
        place = int(np.searchsorted(table.lines, line)) - 1
        last = float(t[place]) if place >= 0 else before
        now = float(seconds)
        if not np.isnan(last):
            now += DAY * (last // DAY)
            now += DAY * (now < last - HALF_DAY)
        found.add((now, comment))
    return found


def noted(marks: set[tuple[float, str]], offset: float) -> dict[str, str]:
    """What `Reading.info` says of restarts and comments."""
    restarts = [f"{now + offset:.0f}" for now, comment in sorted(marks) if not comment]
    comments = [f"{now + offset:.0f} {comment}" for now, comment in sorted(marks) if comment]
    info = {"restarts": " ".join(restarts)} if restarts else {}
    return info | ({"comments": "\n".join(comments)} if comments else {})
