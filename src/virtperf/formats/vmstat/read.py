"""The text that ``vmstat INTERVAL`` prints on Linux (procps), with or without ``-t``.

Source: ``vmstat.c`` of procps.
"""

from __future__ import annotations

import re
from datetime import datetime

import numpy as np

from virtperf.core.errors import FormatError
from virtperf.formats.base import Reading
from virtperf.formats.sar.headings import Heading
from virtperf.formats.sar.table import Table, table_records
from virtperf.formats.text import DAY, EPOCH, decode, uncoloured

_HEAD = re.compile(rb"^ *-*procs\b.*memory.*\r?\n\s*r\s+b\s+swpd\s+free\s", re.M)
_NAME = re.compile(r"[a-z]\w*", re.ASCII)
# Stands behind the numbers, in old versions with a tab and the zone's name.
_STAMP = re.compile(r"^(\d[\d \t]*)[ \t](\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?: +([A-Za-z+-][\w:+-]*))?$", re.ASCII)
_ROW = re.compile(r"\d[\d \t]*", re.ASCII)


class VmstatFormat:
    """Reader of vmstat listings."""

    name = "vmstat"
    title = "vmstat text output (procps)"

    def sniff(self, head: bytes) -> float:
        """0.95 for both heading lines."""
        return 0.95 if _HEAD.search(head) else 0.0

    def read(self, data: bytes, *, file: str = "<bytes>") -> Reading:
        """Read a listing.

        ``field`` is a name of the second heading, the entity is the host. The first row holds averages since the
        machine was started, and is left out. The clock is ``absolute`` with ``-t``, else rows are numbered from the
        second one on.

        Raises
        ------
        FormatError
            A row before a heading, another heading than before, a row that does not fit its heading, times in some rows
            only, and no row but the first.
        """
        text, warnings = decode(uncoloured(data), file)
        lines, said = text.split("\n"), list(warnings)
        rows, times, under = list[int](), list[int](), list[int]()
        table, stamps, info = Table(text=text, lines=rows, times=times, under=under), list[str](), dict[str, str]()
        for number, line in enumerate(lines[:-1]):
            words = line.split()
            if not words or words[0].strip("-") == "procs":
                continue
            stamp = _STAMP.fullmatch(line.strip())
            if not stamp and not _ROW.fullmatch(line.strip()):
                _heading(words, table, info, file, number)
                continue
            if not table.headings:
                raise FormatError("a row before any heading", file=file, line=number + 1, found=line,
                                  remedy="keep the heading lines.")  # fmt: skip
            if stamps and bool(stamps[0]) != bool(stamp):
                raise FormatError(
                    "times in some rows only", file=file, line=number + 1, remedy="keep one listing a file."
                )
            stamps.append(stamp[2] if stamp else "")
            info |= {"zone": stamp[3]} if stamp and stamp[3] else {}
            rows.append(number)
            times.append(1)
            table.bodies.append(stamp[1] if stamp else line)
            under.append(0)
        if lines[-1].strip():  # without a line end, digits may be missing
            said.append(f"{file} line {len(lines)}: the file breaks off; this line was left out")
        if len(stamps) < 2:
            raise FormatError(
                "no row but the first, which holds averages since the machine was started", file=file,
                expected="the two heading lines of vmstat, and rows", remedy="collect by vmstat -t SECONDS COUNT.",
            )  # fmt: skip
        t = np.arange(len(stamps)) - 1.0
        if stamps[0]:
            known = {stamp: _seconds(stamp, file, line + 1) for stamp, line in zip(stamps, table.lines, strict=True)}
            t = np.array([known[stamp] for stamp in stamps])
        records, at = table_records(table, t, said, file)
        late = at > table.lines[0] + 1
        clock = "absolute" if stamps[0] else "sample"
        return Reading(records[late].reset_index(drop=True), clock, info, tuple(said), at[late])


def _heading(words: list[str], table: Table, info: dict[str, str], file: str, line: int) -> None:
    """Note the names of the second heading, behind which -t prints the name of the zone."""
    names = tuple(word for word in words if _NAME.fullmatch(word))
    zone = words[len(names) :]
    heading = Heading("", "host", -2, len(names), False, tuple(range(len(names))), names)
    if names[:2] != ("r", "b") or len(set(names)) < len(names) or len(zone) > 1 or words[: len(names)] != list(names):
        raise FormatError("not a line of vmstat", file=file, line=line + 1, expected="r b swpd free ..., or numbers",
                          found=" ".join(words))  # fmt: skip
    if table.headings and table.headings[0] != heading:
        raise FormatError("another heading than before", file=file, line=line + 1, found=" ".join(names),
                          expected=" ".join(table.headings[0].fields), remedy="keep one listing a file.")  # fmt: skip
    info |= {"zone": zone[0]} if zone else {}
    if not table.headings:
        table.headings.append(heading)
        table.heading_lines.append(line)
        table.heading_times.append(0)


def _seconds(text: str, file: str, line: int) -> float:
    try:
        when = datetime.fromisoformat(text)
    except ValueError as err:
        raise FormatError("not a date and time", file=file, line=line, found=text) from err
    return float((when.toordinal() - EPOCH) * DAY + when.hour * 3600 + when.minute * 60 + when.second)


FORMAT = VmstatFormat()
