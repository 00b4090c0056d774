"""The text that sar and mpstat print, sysstat 7 to 12.

Source: ``pr_stats.c``, ``sar.c``, ``mpstat.c`` and ``common.c`` of sysstat.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from virtperf.core.errors import FormatError
from virtperf.formats.base import Reading, joined
from virtperf.formats.pieces import Pieces, recoded
from virtperf.formats.rows import Warnings
from virtperf.formats.sar.clock import EARLIEST, first_midnight, head, marked, noted
from virtperf.formats.sar.scan import Seen, boundary, scan
from virtperf.formats.sar.table import Table, table_records
from virtperf.formats.sar.tools import tool_of
from virtperf.formats.sar.write import write_sar
from virtperf.formats.text import DAY
from virtperf.formats.words import Words


class SarFormat:
    """Reader of sar's text, and of mpstat's, which has the same form."""

    def __init__(self, name: str, title: str) -> None:
        self.name, self.title = name, title

    def sniff(self, head: bytes) -> float:
        """0.95 for the system line of sysstat with a heading of this tool below; 0.2 for the system line alone."""
        tool = tool_of(head)
        return 0.95 if tool == self.name else 0.2 if tool == "sysstat" and self.name == "sar" else 0.0

    def read(self, data: bytes, *, file: str = "<bytes>") -> Reading:
        """Read a listing.

        Each row of a table gives one record a column; ``report`` is the activity (`ACTIVITIES`), ``entity_kind`` the
        entity's heading in lower case, ``field`` the column's heading. Rows that carry the time of their own heading
        are averages since boot: their report ends in `SINCE_BOOT`. Average rows are left out.

        Raises
        ------
        FormatError
            At a line that the tool does not print, a row that does not fit its heading, a negative percentage and a
            second system line.
        """
        return joined(self.blocks(io.BytesIO(data), file=file))

    def blocks(self, stream: BinaryIO, *, file: str = "<bytes>") -> Iterator[Reading]:
        """Read a listing part by part; each part ends with a table, or with a sample of a long one."""
        seen, strange = Seen(self.name, file), Warnings(file)
        pieces = Pieces(stream, boundary, file)
        begun = False
        for piece in pieces:
            words = Words(recoded(piece, pieces.line, strange, file))
            start = 0
            if not begun:
                start = next((i for i in range(len(words)) if words.first[i] < words.first[i + 1]), 0)
                if start == len(words) - 1 and not pieces.last and not piece.strip():
                    continue
                top = [""] * (pieces.line + start) + [words.line(start) if len(words) else ""]
                _, seen.day, seen.info = head(top, self.name, seen.said, file)
                start, begun = start + 1, True
            table = scan(words, start, pieces.line, seen, pieces.last)
            if pieces.last and not seen.rows and not len(table.lines) and not (table.marks or seen.marks):
                end = pieces.line + piece.count(b"\n") + 1
                raise FormatError("no row of data in the file", file=file, line=end, remedy="collect the run again.")
            t = seen.midnights.times(table, seen.said, file)
            if len(t) or table.marks or pieces.last:
                yield _reading(table, t, seen, strange, pieces.last)


def _reading(table: Table, t: NDArray[np.float64], seen: Seen, strange: Warnings, last: bool) -> Reading:
    """The reading of a part of a listing."""
    said, file = seen.said, seen.file
    if seen.offset is None:
        seen.offset = first_midnight(t, seen.day)
        if seen.offset is None:
            seen.offset, seen.clock = -DAY * np.floor(t.min() / DAY) if len(t) else 0.0, "time-of-day"
    epoch = t >= EARLIEST
    if epoch.any() and (seen.offset != 0 or not epoch.all()):
        line = table.line + int(table.lines[int(np.argmax(epoch if seen.offset else ~epoch))]) + 1
        raise FormatError("times of day beside seconds since 1970", file=file, line=line, remedy="split the file.")
    seen.marks |= marked(table, t, seen.last)
    records, at = table_records(table, t + seen.offset, said, file)
    seen.rows += len(t)
    seen.last = float(t[-1]) if len(t) else seen.last
    warnings = (*strange.new(last), *said)
    said.clear()
    return Reading(records, seen.clock, seen.info | noted(seen.marks, seen.offset), warnings, at)


class SarWriter(SarFormat):
    """Reader and writer of sar's text."""

    def write(self, reading: Reading) -> bytes:
        """Print a listing; see `virtperf.formats.sar.write.write_sar`."""
        return write_sar(reading)


FORMAT = SarWriter("sar", "sar text output (sysstat)")
MPSTAT = SarFormat("mpstat", "mpstat text output (sysstat)")
