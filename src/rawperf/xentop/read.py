"""xentop batch output and captures of its screen (also ``xm top`` and ``xl top``), Xen 3.0.2 and
later.

Source: ``xentop.c`` in the Xen source tree, tools/xenstat/xentop until 4.13 and tools/xentop since.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from rawperf.base import Reading, Streaming
from rawperf.core.errors import FormatError
from rawperf.pieces import Pieces, recoded
from rawperf.rows import Warnings
from rawperf.text import unwrap_midnight, utf8
from rawperf.words import WordOffsets
from rawperf.xentop.lines import ListingLines, XentopState, boundary, scan
from rawperf.xentop.samples import (
    behind,
    entities,
    listing_records,
    numbered,
    values_of,
    without_difference,
)

_HEADING = re.compile(rb"^ *NAME +STATE +CPU\(sec\)", re.M)


class XentopFormat(Streaming):
    """Reader of xentop listings."""

    name = "xentop"
    title = "xentop batch output (Xen)"

    def sniff(self, head: bytes) -> float:
        """1 when a column heading of xentop is in sight, 0.9 for its summary line."""
        if _HEADING.search(head):
            return 1.0
        return 0.9 if re.search(rb"^xentop - \d\d:\d\d:\d\d ", head, re.M) else 0.0

    def blocks(self, stream: BinaryIO, *, file: str = "<bytes>") -> Iterator[Reading]:
        """Read a listing; each part ends with a sample.

        Records have ``entity_kind`` ``domain`` (and ``vcpu``, ``net``, ``vbd`` with entity
        ``domain/device`` where the listing was made with -v, -n or -x) and the printed headings as
        fields. A CPU(%) of 0.0 has no record in a sample whose predecessor lacks the domain,
        because xentop prints it there for want of a difference.

        Raises `FormatError` at a line that xentop does not print, at a row with too many or too few
        values, and where nothing is left.
        """
        seen = XentopState(file, Warnings(file))
        pieces = Pieces(stream, lambda lines: boundary(lines, seen.timed, seen.plain), file)
        for piece in pieces:
            if not pieces.last:
                pieces.back = _open_end(piece, pieces.line, seen)
                piece = piece[: len(piece) - pieces.back]
                if not piece:
                    continue
            words = WordOffsets(recoded(piece, pieces.line, seen.said, file))
            found = scan(words, pieces.line, seen, pieces.last)
            if not seen.columns:
                raise FormatError(
                    "no xentop header in the file",
                    file=file,
                    line=1,
                    expected="a line with NAME STATE CPU(sec) ...",
                    found=words.data[:60].decode("utf-8", "replace"),
                    remedy="collect with `xentop -b`.",
                )
            yield _reading(found, pieces.last)


def _open_end(piece: bytes, line: int, seen: XentopState) -> int:
    """How many bytes at the end of a part of a file are of a sample that may go on behind it.

    Only the names of the domains part samples where each row has its own header.
    """
    if seen.plain or seen.timed:
        return 0
    own = copy.deepcopy(seen)
    found = scan(WordOffsets(utf8(piece)[0]), line, own, False)
    if not own.columns:
        return len(piece)
    if found.summaries:
        return 0
    samples, count = numbered(found)
    return 0 if own.plain else behind(found, int(np.argmax(samples == count - 1)))


def _reading(found: ListingLines, last: bool) -> Reading:
    """The reading of a part of a file."""
    seen = found.seen
    seen.timed = seen.timed or bool(found.summaries)
    values = values_of(found, last)
    samples, count = numbered(found)
    keep = samples >= 0
    if not keep.all():
        found.warn(int(found.rows[0]), "rows before the first whole sample were left out")
    if found.cut >= 0:
        keep &= samples < count
        found.warn(found.cut, "the file breaks off; its last sample was left out")
    if not keep.any() and not seen.samples:
        raise found.error(
            "no whole sample in the file", max(found.cut, 0), remedy="collect the run again."
        )
    names, ids = entities(found, samples, keep)
    columns = seen.columns[2:]
    if "CPU(%)" in columns and keep.any():
        cpu = values[:, columns.index("CPU(%)")]
        cpu[without_difference(samples, ids, keep, cpu, names, seen)] = np.nan
    clock, t = "sample", seen.samples + np.arange(count + 1, dtype=float)
    if seen.timed:
        clock, raw = "time-of-day", np.array(found.clock, dtype=float)
        t, set_back = unwrap_midnight(raw, seen.clock, seen.days)
        for i in set_back[set_back < count]:
            found.warn(found.summaries[i], "the clock was set back")
        if count > 0:
            seen.clock, seen.days = raw[count - 1], t[count - 1] - raw[count - 1]
    if keep.any():
        seen.before = {names[i] for i in np.unique(ids[keep & (samples == samples[keep].max())])}
    seen.samples += count
    table, at = listing_records(found, values, keep, names, ids, t[samples])
    info = {
        "columns": str(len(seen.columns)),
        "summary": "yes" if seen.timed else "no",
        **seen.info,
    }
    return Reading(table, clock, info, seen.said.new(last), at)


FORMAT = XentopFormat()
