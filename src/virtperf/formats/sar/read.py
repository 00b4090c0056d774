"""The text that sar prints, sysstat 7 to 12.

Source: ``pr_stats.c``, ``sar.c`` and ``common.c`` of sysstat.
"""

from __future__ import annotations

import re
from datetime import date

import numpy as np
import pandas as pd

from virtperf.core.errors import FormatError
from virtperf.formats.base import Reading
from virtperf.formats.sar.headings import parse_heading
from virtperf.formats.sar.table import Table, table_records
from virtperf.formats.sar.write import write_sar
from virtperf.formats.text import DAY, EPOCH, HALF_DAY, clock_seconds, decode, unwrap_midnight

_HEADER = re.compile(r"(Linux) +(\S+) +\(([^()]*)\)\s*(\S+)?(?:\s+_(\S+)_)?(?:\s+\((\d+) CPU\))?\s*", re.ASCII)
_LONGEST_HEADER = 500
_LINE = re.compile(r"^(?:(\d\d:\d\d:\d\d)(?: ([AaPp]\.?[Mm]\.?))?[ \t]+(\S.*)|(.*))$", re.ASCII | re.MULTILINE)
_AVERAGE = re.compile(r"[^\d\s:][^\d:]{0,20}:(?:\s.*)?")  # Average:, Summary:, Moyenne :, Durchschn.:
_SNIFF = re.compile(rb"^\d\d:\d\d:\d\d(?: [AaPp]\.?[Mm]\.?)? +\S{0,12}[A-Za-z%/]", re.M)


class SarFormat:
    """Reader and writer of sar's text."""

    name = "sar"
    title = "sar text output (sysstat)"

    def sniff(self, head: bytes) -> float:
        """0.95 for the system line of sysstat with a timed heading below, 0.2 for the system line alone."""
        if not re.match(rb"\s*Linux \S+ +\(", head):
            return 0.0
        return 0.95 if _SNIFF.search(head) else 0.2

    def read(self, data: bytes, *, file: str = "<bytes>") -> Reading:
        """Read a listing.

        Each row of a table gives one record a column; ``report`` is the activity (`ACTIVITIES`), ``entity_kind`` the
        entity's heading in lower case, ``field`` the column's heading. Rows that carry the time of their own heading
        are averages since boot: their report ends in `SINCE_BOOT`. Average rows are left out.

        Raises
        ------
        FormatError
            At a line that sar does not print, a row that does not fit its heading, and a second system line.
        """
        text, warnings = decode(data, file)
        lines = _LINE.findall(text)
        first = next((i for i, parts in enumerate(lines) if "".join(parts).strip()), 0)
        match = _header(lines[first][3])
        if match is None:
            raise FormatError(
                "the system line of sar is missing",
                file=file,
                line=first + 1,
                expected="Linux RELEASE (HOST) DATE _ARCH_ (N CPU)",
                found=lines[first][3],
                remedy="keep the first line of sar's output.",
            )
        said = list(warnings)
        info = {key: found for key, found in zip(("kernel", "host"), match.group(2, 3), strict=True) if found}
        day = _read_date(match[4] or "", info, said, f"{file} line {first + 1}")
        info |= {key: found for key, found in zip(("machine", "cpus"), match.group(5, 6), strict=True) if found}
        table = _scan(lines, first + 1, text.endswith("\n"), file)
        if not table.lines and not table.marks:
            raise FormatError("no row of data in the file", file=file, line=len(lines), remedy="collect the run again.")
        t = _times(table, said, file)
        offset = 0.0 if day is None else float(day * DAY)
        if day is None and len(t):
            offset = -DAY * np.floor(t.min() / DAY)
        _note_marks(table, t, offset, info)
        records, at = table_records(table, t + offset, said, file)
        return Reading(records, "time-of-day" if day is None else "absolute", info, tuple(said), at)

    def write(self, reading: Reading) -> bytes:
        """Print a listing; see `virtperf.formats.sar.write.write_sar`."""
        return write_sar(reading)


def _header(line: str) -> re.Match[str] | None:
    return _HEADER.fullmatch(line) if len(line) < _LONGEST_HEADER else None


def _read_date(text: str, info: dict[str, str], said: list[str], place: str) -> int | None:
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


def _scan(lines: list[tuple[str, str, str, str]], start: int, finished: bool, file: str) -> Table:
    table = Table()
    clock: dict[tuple[str, str], int] = {}
    fresh = True  # a heading may come: the line before was blank, or there was no table yet
    current = -1
    last = len(lines) - 1 if not finished else -1
    for i in range(start, len(lines)):
        time, half, body, other = lines[i]
        if not body:
            stripped = other.strip()
            if not stripped:
                fresh = True
            elif i == last:
                table.cut, table.cut_time = i, -2 if fresh else -1
            elif _header(other):
                raise FormatError("a second system line", file=file, line=i + 1, remedy="split the file there.")
            elif not _AVERAGE.fullmatch(stripped):
                raise FormatError(
                    "not a line of sar", file=file, line=i + 1, expected="a time or Average:", found=other,
                    remedy="the file is damaged or was made in a locale that sar's reader does not know.",
                )  # fmt: skip
            continue
        seconds = clock.get((time, half))
        if seconds is None:
            seconds = clock[time, half] = _seconds(time, half, file, i + 1)
        if body.startswith(("LINUX RESTART", "COM ")):
            table.marks.append((i, seconds, body[4:].strip() if body[0] == "C" else ""))
            continue
        if i == last:  # without a line end, the last number may have lost digits
            table.cut, table.cut_time = i, -2 if fresh else seconds
            continue
        if fresh:
            heading = parse_heading(body)
            fresh = False
            if heading is not None:
                table.headings.append(heading)
                table.heading_lines.append(i)
                table.heading_times.append(seconds)
                current += 1
                continue
        if current < 0:
            raise FormatError(
                "a row before any heading", file=file, line=i + 1, found=body, remedy="restore the heading."
            )
        table.lines.append(i)
        table.times.append(seconds)
        table.bodies.append(body)
        table.under.append(current)
    return table


def _seconds(time: str, half: str, file: str, line: int) -> int:
    seconds = clock_seconds(time, file=file, line=line)
    if not half:
        return seconds
    hour = seconds // 3600
    if not 1 <= hour <= 12:
        raise FormatError("not a 12-hour time", file=file, line=line, expected="01 to 12", found=f"{time} {half}")
    return seconds - hour * 3600 + (hour % 12 + 12 * (half[0] in "Pp")) * 3600


def _times(table: Table, said: list[str], file: str) -> np.ndarray:
    """Seconds of each row since the midnight before the first heading.

    sar prints one activity after the other, each from the file's beginning, or all of them sample by sample. In both
    cases an activity's own headings and rows stand in the order of time, so midnights are counted per activity.
    """
    line = np.array(table.heading_lines + table.lines, dtype=int)
    seconds = np.array(table.heading_times + table.times, dtype=float)
    codes = pd.factorize(np.array([h.report for h in table.headings], dtype=object))[0]
    activity = np.concatenate([codes, codes[np.array(table.under, dtype=int)]])
    order = np.lexsort((line, activity))
    t = np.empty(len(line))
    for part in np.split(order, np.flatnonzero(np.diff(activity[order])) + 1):
        t[part], set_back = unwrap_midnight(seconds[part])
        said.extend(f"{file} line {line[part[i]] + 1}: the clock was set back" for i in set_back[:5])
    return t[len(table.headings) :]


def _note_marks(table: Table, t: np.ndarray, offset: float, info: dict[str, str]) -> None:
    """Put restarts and comments into `info`, each once although sar repeats them for each activity."""
    found: set[tuple[float, str]] = set()
    for line, seconds, comment in table.marks:
        before = int(np.searchsorted(table.lines, line)) - 1
        now = float(seconds)
        if before >= 0:
            now += DAY * (t[before] // DAY)
            now += DAY * (now < t[before] - HALF_DAY)
        found.add((now + offset, comment))
    restarts = [f"{now:.0f}" for now, comment in sorted(found) if not comment]
    comments = [f"{now:.0f} {comment}" for now, comment in sorted(found) if comment]
    info |= {"restarts": " ".join(restarts)} if restarts else {}
    info |= {"comments": "\n".join(comments)} if comments else {}


FORMAT = SarFormat()
