"""The text that sar and mpstat print, sysstat 7 to 12.

Source: ``pr_stats.c``, ``sar.c``, ``mpstat.c`` and ``common.c`` of sysstat.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from rawperf.base import Reading, Streaming
from rawperf.core.errors import FormatError
from rawperf.pieces import Pieces, recoded
from rawperf.rows import Warnings
from rawperf.sar.clock import head
from rawperf.sar.headings import tool_of
from rawperf.sar.scan import ListingState, boundary, scan
from rawperf.sar.table import SarRows, table_records
from rawperf.text import DAY, HALF_DAY
from rawperf.words import WordOffsets

_STAMP = re.compile(rb"(?m)^time: \d+(?:\.\d+)?$")
"""A line that the monitors of MMTests put between tables, whose rows have a time of their own."""


class SarFormat(Streaming):
    """Reader of sar's text, and of mpstat's, which has the same form."""

    def __init__(self, name: str, title: str) -> None:
        self.name, self.title = name, title

    def sniff(self, head: bytes) -> float:
        """0.95 for the system line of sysstat with a heading of this tool below; 0.2 for the system
        line alone.
        """
        tool = tool_of(_STAMP.sub(b"", head).lstrip(b"\n"))
        return (
            0.95 if tool == self.name else 0.2 if tool == "sysstat" and self.name == "sar" else 0.0
        )

    def blocks(self, stream: BinaryIO, *, file: str = "<bytes>") -> Iterator[Reading]:
        """Read a listing; each part ends with a table, or with a sample of a long one.

        Each row of a table gives one record a column; ``report`` is the activity (`ACTIVITIES`),
        ``entity_kind`` the entity's heading in lower case, ``field`` the column's heading. Rows
        that carry the time of their own heading are averages since boot: their report ends in
        `SINCE_BOOT`. Average rows are left out.

        Raises `FormatError` at a line that the tool does not print, a row that does not fit its
        heading, a negative percentage and a second system line.
        """
        seen, strange = ListingState(self.name, file), Warnings(file)
        pieces = Pieces(stream, boundary, file)
        begun = False
        for piece in pieces:
            words = WordOffsets(recoded(_STAMP.sub(b"", piece), pieces.line, strange, file))
            start = 0
            if not begun:
                start = next(
                    (i for i in range(len(words)) if words.first[i] < words.first[i + 1]), 0
                )
                if start == len(words) - 1 and not pieces.last and not piece.strip():
                    continue
                top = [""] * (pieces.line + start) + [words.line(start) if len(words) else ""]
                _, seen.times.day, seen.info = head(top, self.name, seen.said, file)
                start, begun = start + 1, True
            table = scan(words, start, pieces.line, seen, pieces.last)
            if (
                pieces.last
                and not seen.rows
                and not len(table.lines)
                and not (table.marks or seen.marks)
            ):
                end = pieces.line + piece.count(b"\n") + 1
                raise FormatError(
                    "no row of data in the file",
                    file=file,
                    line=end,
                    remedy="collect the run again.",
                )
            t = seen.times.of(table)
            if len(t) or table.marks or pieces.last:
                records, at = table_records(table, t, seen.said, file)
                info = seen.info | _marks(table, t, seen)
                seen.rows, seen.last = seen.rows + len(t), t[-1] if len(t) else seen.last
                warnings = (*strange.new(pieces.last), *seen.said)
                seen.said.clear()
                yield Reading(records, seen.times.clock, info, warnings, at)


def _marks(table: SarRows, t: NDArray[np.float64], seen: ListingState) -> dict[str, str]:
    """What `Reading.info` says of restarts and comments so far; sar repeats them for each
    activity.
    """
    for line, seconds, comment in table.marks:
        place = int(np.searchsorted(table.lines, line)) - 1
        last = float(t[place]) if place >= 0 else seen.last
        now = seconds + (seen.times.offset or 0.0 if np.isnan(last) else DAY * (last // DAY))
        seen.marks.add((now + DAY * (now < last - HALF_DAY), comment))
    restarts = [f"{now:.0f}" for now, comment in sorted(seen.marks) if not comment]
    comments = [f"{now:.0f} {comment}" for now, comment in sorted(seen.marks) if comment]
    info = {"restarts": " ".join(restarts)} if restarts else {}
    return info | ({"comments": "\n".join(comments)} if comments else {})


FORMAT = SarFormat("sar", "sar text output (sysstat)")
MPSTAT = SarFormat("mpstat", "mpstat text output (sysstat)")
